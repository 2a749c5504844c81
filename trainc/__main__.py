"""`python -m trainc`."""

import sys

from trainc.cli import main

sys.exit(main())
