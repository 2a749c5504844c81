"""Adds a built site to the published ones, each version in a folder of its own: `python docs/publish.py build/site pages`.

`pages/` is what a web server shows: `0.1/`, `0.2/` and so on, one for each minor version; `versions.json`, which the menu of every page
reads; and an `index.html` that leads to the newest. A patch release replaces the pages of its minor version; the others stay.
"""

import json
import re
import shutil
import sys
from pathlib import Path

from trainc import __version__

REDIRECT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>trainc</title><meta http-equiv="refresh" content="0; url={0}/">
<link rel="canonical" href="{0}/"></head><body><a href="{0}/">trainc {0}</a></body></html>
"""


def publish(site: Path, pages: Path, version: str = __version__) -> list[str]:
    """Put the site of a version beside the others; all versions, newest first."""
    own = ".".join(version.split(".")[:2])
    shutil.rmtree(pages / own, ignore_errors=True)
    shutil.copytree(site, pages / own)
    versions = sorted(
        (folder.name for folder in pages.iterdir() if re.fullmatch(r"\d+\.\d+", folder.name)),
        key=lambda name: [int(part) for part in name.split(".")],
        reverse=True,
    )
    (pages / "versions.json").write_text(json.dumps(versions) + "\n", "utf-8")
    (pages / "index.html").write_text(REDIRECT.format(versions[0]), "utf-8")
    (pages / ".nojekyll").touch()  # GitHub Pages leaves out folders such as _static without it
    return versions


if __name__ == "__main__":
    sys.stdout.write("\n".join(publish(Path(sys.argv[1]), Path(sys.argv[2]))) + "\n")
