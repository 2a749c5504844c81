"""`python -m trainc`."""

from trainc.cli import program

program()
