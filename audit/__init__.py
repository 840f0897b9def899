"""The slow checks by sampling: `python -m audit.<room>.<script>` in the folder of the project, or `make audit`.

They share with the tests what stands in tests/support.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
