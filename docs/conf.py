"""Sphinx, for the pages of this folder: `python docs/site.py build/site` makes the generated ones and calls it."""

from __future__ import annotations

from trainc import __version__

project = "trainc"
version = release = __version__
extensions = ["myst_parser"]
myst_heading_anchors = 3
root_doc = "index"
html_theme = "alabaster"
html_theme_options = {
    "description": "Training specs in, plain manifests out",
    "fixed_sidebar": True,
    "page_width": "1100px",
}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
html_show_sourcelink = False
exclude_patterns = ["_*"]
highlight_language = "text"
nitpicky = True
