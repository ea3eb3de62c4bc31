"""Sphinx: how the pages of this folder become the site (`make docs` writes out/site/index.html)."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))
sys.path.insert(0, str(HERE.parent / "src"))

import sarrus  # noqa: E402

project = "sarrus"
author = copyright = "sarrus developers"
version = release = sarrus.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "site_index",
    "executed_pages",
    "api_reference",
    "machine_wall",
    "example_pages",
    "search_results",
]
root_doc = "README"  # site_index.py makes the tables of contents from its links
exclude_patterns = ["extensions"]
executed_pages = ["start", "tutorials/*"]

myst_heading_anchors = 3
suppress_warnings = ["myst.header"]

autodoc_typehints = "none"  # docstrings say kinds, shapes and units
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 90
add_module_names = False
toc_object_entries = False  # pages list their names themselves; half of the time went into these entries

wall_machines: list[str] = []  # all of the library

html_theme = "furo"
html_title = f"sarrus {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "static" / "search_scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "native"
