"""What a run of `build` or `validate` over folders leaves to the next one.

An entry of the user's cache (`cli/cache.py`) belongs to one command line in one folder: its key is the hash of the
options, the paths, the place, and this very trainc and Python. It holds, in this order:

* every file that the run may have read, with mtime, ctime, size and inode (`listing`), and the exit code and output of
  the run. Where a listing of today is equal, that output is printed again: a hit, for which nothing is compiled.
* the hash of each file, and what became of each clean file of jobs (`manifest`, `outcomes`): its number of jobs, the
  rendered files, the names that it takes and the objects that it needs. Where only files of jobs changed, these alone
  are compiled, and the checks across jobs see the others by what is kept of them.

Everything else is a miss: a changed runtime, trainc.yaml or dump, a link, a policy, more than a quarter of the files.
A file that is too young to be told from its next version by its numbers is kept by its hash, or not at all. A damaged
entry is a miss. The entry is written after the run, and only if no file can have changed unseen while it lasted.
"""

import os

from trainc.cli.options import Options


def is_cacheable(name: str, options: Options) -> bool:
    """Whether a run uses the cache: it reads folders, writes nothing to standard output, and has no `--no-cache`."""
    if name == "build" and not any(options.has(word) for word in ("check", "output", "write")):
        return False
    folders = options.has("whole_project") or any(os.path.isdir(path) for path in options.arguments or ["."])
    return folders and not options.has("no_cache")
