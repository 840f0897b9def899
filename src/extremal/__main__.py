"""`python -m extremal` is the `extremal` command."""

import sys

from extremal.cli import main

sys.exit(main())
