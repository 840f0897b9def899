"""A study of the bundled survey on this machine: its form, its analyst's page, and simulated respondents who arrive.

Run with `make demo`. It serves until Ctrl-C; `--once` ends it when everybody has reported.
"""

import argparse
import json
import random
import re
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

import extremal as ex
from extremal.collect.study import new_study
from extremal.data import LEVELS, survey

TEXTS = {
    "vote": "Whom did you vote for in 1996?",
    "party": "With which party do you identify?",
    "ideology": "Where do you stand politically?",
}


def questionnaire() -> ex.Questionnaire:
    """Three sensitive questions, ε = 4 per person for all of them together."""
    asked = {name: list(LEVELS[name]) for name in TEXTS}
    return ex.Questionnaire.within(4, asked, texts=TEXTS, title="How did you vote? A private survey")


def one_report(asked: ex.Questionnaire, answers: dict[str, list[str]]) -> dict[str, Any]:
    """What the device of a random respondent sends."""
    import pandas

    person = random.randrange(len(answers["vote"]))
    record = pandas.DataFrame({name: [answers[name][person]] for name in asked.questions})
    reports = json.loads(asked.privatize(record).to_json(orient="records"))[0]
    return {"id": secrets.token_hex(16), "questionnaire": asked.hash, "reports": reports}


def send(address: str, upload: dict[str, Any]) -> None:
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{address}/api/reports", json.dumps(upload).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        answer.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30.0, help="over which they arrive")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--once", action="store_true", help="end when everybody has reported")
    options = parser.parse_args()
    asked, answers = questionnaire(), survey()
    with tempfile.TemporaryDirectory() as folder:
        made = new_study(Path(folder) / "study", asked)
        command = [sys.executable, "-m", "extremal", "collect", "serve", f"{folder}/study", "--port", str(options.port)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            found = re.search(r"http://\S+:\d+", server.stdout.readline() if server.stdout else "")
            if found is None:
                sys.exit("The server did not start; is the port taken? Try --port 0.")
            print(f"respondents: {found[0]}/\nanalyst:     {found[0]}/analyst/{made.token}", flush=True)
            pauses = np.random.default_rng().exponential(options.seconds / options.people, options.people)
            for number, pause in enumerate(pauses):
                time.sleep(pause)
                send(found[0], one_report(asked, answers))
                if (number + 1) % 25 == 0:
                    print(f"{number + 1} simulated people have reported", flush=True)
            if not options.once:
                print("Reload the analyst's page. Ctrl-C ends the demonstration.", flush=True)
                server.wait()
        except KeyboardInterrupt:
            pass
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
