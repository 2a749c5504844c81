"""The kinds that trainc reads and writes, as classes to write specs with in Python; docs/python.md shows them."""

from trainc.apiserver.models import *  # noqa: F403 (the one list of names stands there)
