"""`python -m extremal.cli` is the `extremal` command."""

import sys

from extremal.cli import main

sys.exit(main())
