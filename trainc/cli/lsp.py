"""`trainc lsp`: a language server for editors, over standard input and output."""

import os
import sys

from trainc.cli.cache import opened
from trainc.cli.options import Options
from trainc.text.trouble import Trouble


def run(options: Options) -> int:
    """Serve one editor until it ends."""
    if options.arguments:
        raise Trouble("usage: trainc lsp; editors start it and open files through it")
    try:
        from trainc.integrations.lsp.server import serve  # noqa: PLC0415 (most installations lack the extra)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol", "cattrs", "attrs", "attr"):
            raise
        raise Trouble("trainc lsp needs the extra: pip install 'trainc[lsp]'") from error
    with (
        os.fdopen(os.dup(sys.stdin.fileno()), "rb") as requests,
        os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answered,
    ):
        return 0 if serve(requests, answered, opened) else 1
