# SPDX-License-Identifier: MIT
"""Sphinx settings. `make docs` builds the site; the reference pages are generated from hw/."""
import pathlib
import shutil

project = "Pumice"
author = "The Pumice maintainers"
copyright = "The Pumice maintainers"
extensions = []
html_theme = "alabaster"
html_theme_options = {"description": "A virtual tile-based GPU", "fixed_sidebar": True,
                      "page_width": "1100px"}
exclude_patterns = ["_build"]
highlight_language = "none"

here = pathlib.Path(__file__).resolve().parent
generated = here.parent / "build" / "gen" / "docs"
if not generated.is_dir():
    raise SystemExit(f"{generated} is missing: run `make gen` first")
shutil.copytree(generated, here / "reference", dirs_exist_ok=True)
