# SPDX-License-Identifier: MIT
"""The files of the kernel module for checks of its functions; used by lint_names.py and others."""

import pathlib
import sys

import sources

DRIVER = pathlib.Path(__file__).resolve().parent.parent / "drivers/gpu/drm/pumice"


def main(pattern, functions, problems):
    """Print the problems of the module's files and exit with 1 if there are any.

    functions(content) returns the functions that the check examines: none in any file is an error
    of the check. problems({name: content}) returns lines without the folder.
    """
    files = {path.name: sources.text(path) for path in DRIVER.glob(pattern)}
    if not any(functions(content) for content in files.values()):
        sys.exit(f"error: no function found in {DRIVER}")
    found = problems(files)
    for problem in found:
        print(f"drivers/gpu/drm/pumice/{problem}")
    sys.exit(bool(found))
