"""One measurement, in this process; prints its rows as JSON."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from measurements import MEASURED_BY

kind, *arguments = json.loads(sys.argv[1])
print(json.dumps(MEASURED_BY[kind](*arguments)))
