"""`python -m tests.fuzz --inputs 1000000 --seed 1 --workers 2`: what fuzzing found, place by place.

With `--systematic` the inputs are not drawn: each field of every project and schema gets one odd value after another.
With `--strangers` they have scripts, words and scalars as strangers write them, in manifests of the board, the cases and
the corpus, or `--from` a folder, whose own files come first.
"""

import argparse
import sys
from functools import partial
from pathlib import Path

from tests.fuzz.campaign import Campaign, Source
from tests.fuzz.generate import generate
from tests.fuzz.strangers import strangers
from tests.fuzz.systematic import how_many, systematic


def main() -> int:
    """Run the inputs that the options ask for; 1 where a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, help="how many inputs to run")
    parser.add_argument("--first", type=int, default=0, help="index of the first input")
    parser.add_argument(
        "--systematic", action="store_true", help="inputs in order instead of by chance, `--inputs 0` for all"
    )
    parser.add_argument("--strangers", action="store_true", help="scripts, words and scalars as strangers write them")
    parser.add_argument("--from", dest="folder", default="", help="folder of the YAML files that `--strangers` changes")
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same inputs")
    parser.add_argument("--workers", type=int, default=2, help="processes that run them")
    parser.add_argument(
        "--keep", type=Path, default=Path("fuzz-found"), help="folder for the inputs that broke something"
    )
    options = parser.parse_args()
    if options.systematic:
        source, most = Source("systematic", systematic), how_many()
    elif options.strangers:
        source, most = (
            Source(f"strangers {options.seed}", partial(strangers, options.seed, options.folder)),
            options.inputs,
        )
    else:
        source, most = Source(f"seed {options.seed}", partial(generate, options.seed)), options.inputs
    last = min(most, options.first + options.inputs) if options.inputs else most
    campaign = Campaign(source, range(options.first, last), options.workers, options.keep)
    campaign.run()
    sys.stdout.write(campaign.summary())
    return 1 if campaign.found else 0


sys.exit(main())
