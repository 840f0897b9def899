"""Cases that Schemathesis makes of the API's own description, against a running server.

    python -m audit.collect.interface [--cases 5000]

Every answer must be one that the description lists, of the form that it says, and never a 5xx.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.servers import serving
from support.studies import asked, study_in

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        made, _, store = study_in(Path(place) / "study", asked())
        store.engine.dispose()
        with serving(Path(place) / "study") as (_, address):
            command = [
                *(
                    sys.executable,
                    "-c",
                    "from schemathesis.cli import schemathesis; schemathesis()",
                    "run",
                    f"{address}/openapi.json",
                ),
                *(
                    "--checks",
                    CHECKS,
                    "--max-examples",
                    str(options.cases // 2),
                    "--phases",
                    "examples,coverage,fuzzing",
                ),
                *("--header", f"Authorization: Bearer {made.token}", "--mode", "all", "--no-color"),
            ]
            done = subprocess.run(command, capture_output=True, text=True, cwd=place, check=False)
    print(done.stdout[-1500:])
    found = re.search(r"(\d+) generated", done.stdout)
    print(f"{found[1] if found else '?'} cases, exit code {done.returncode}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
