"""`python -m trainc`."""

import sys

from trainc.cli import program

sys.exit(program())
