"""How the pages are built: ``make docs``, or ``sphinx-build -W docs docs/_build``.

``ICVI_DOCS_ORDERS=5`` measures fewer orders of presentation and builds faster.
"""

from __future__ import annotations

import sys
from pathlib import Path

import icvi

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "icvi"
author = "The icvi developers"
project_copyright = author
version = release = icvi.__version__

extensions = [
    "docstrings",
    "generating",
    "mathml",
    "myst_parser",
    "printed",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build", "_generated", "extensions"]
default_role = "py:obj"
# A list of references need not be referred to; a word of a type may be the name of several members.
suppress_warnings = ["ref.footnote", "ref.python"]
language = "en"
smartquotes_action = "D"  # dashes between words, and quotes as they are

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # docstrings say what arguments are in words
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_param = False  # or words of a type become links
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"icvi {release}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["icvi.css"]
html_js_files = ["copy.js"]
html_extra_path = ["_generated/extra"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
