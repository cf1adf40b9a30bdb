# SPDX-License-Identifier: MIT
"""Import scripts whose names are not identifiers."""

import importlib.util
import pathlib

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


def load(name):
    """Return scripts/NAME as a module; that folder has to be in sys.path, for its imports."""
    spec = importlib.util.spec_from_file_location(name.removesuffix(".py").replace("-", "_"),
                                                  SCRIPTS / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
