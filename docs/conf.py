"""Sphinx, for the pages of this folder: `python docs/site.py build/site` makes the generated ones and calls it."""

from trainc import __version__

project = "trainc"
release = __version__
version = ".".join(release.split(".")[:2])
extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
root_doc = "index"
html_theme = "furo"
html_title = "trainc"
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/scroll-start.html",
        "sidebar/brand.html",
        "sidebar/search.html",
        "versions.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_theme_options = {"sidebar_hide_name": False, "top_of_page_buttons": []}
copybutton_prompt_text = r"\$ |> "
copybutton_prompt_is_regexp = True
html_copy_source = False
html_show_copyright = False
html_show_sourcelink = False
exclude_patterns = ["_*"]
highlight_language = "text"
nitpicky = True
