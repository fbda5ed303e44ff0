"""`python -m bglang` is the command `bglang`."""

import sys

from bglang.cli import main

sys.exit(main())
