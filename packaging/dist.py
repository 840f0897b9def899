"""Wheel and sdist, built twice from nothing: one hash, or none is kept. Run as `make dist`.

The time in the files is that of the last commit. Beside them: an SBOM of what the wheel needs (CycloneDX), and the
hashes of all of them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"


def built(target: Path) -> dict[str, str]:
    """Build into a folder from a clean copy of what is committed; name → SHA-256."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "extremal"
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(copy)], check=True)
        when = subprocess.run(
            ["git", "log", "-1", "--format=%ct"], cwd=copy, capture_output=True, text=True, check=True
        )
        environment = {**os.environ, "SOURCE_DATE_EPOCH": when.stdout.strip()}
        subprocess.run(
            [sys.executable, "-m", "build", "--outdir", str(target)],
            cwd=copy,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(target.iterdir())}


def sbom(wheel: Path, target: Path) -> None:
    """What an installation of the wheel holds, as a CycloneDX file."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        python = Path(place) / "bin" / "python"
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(wheel)], check=True)
        command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "-o", str(target)]
        subprocess.run([*command, str(python)], check=True)


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        first, second = Path(place) / "first", Path(place) / "second"
        one, other = built(first), built(second)
        if one != other:
            print(f"two builds differ: {one} and {other}", file=sys.stderr)
            return 1
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(first, DIST)
    sbom(next(DIST.glob("*.whl")), DIST / "sbom.cdx.json")
    names = sorted(path for path in DIST.iterdir())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in names]
    (DIST / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
