# SPDX-License-Identifier: MIT
"""
A fresh prefix outside of the tree, with build/native installed and the examples built.

scripts/build-examples.sh does both, as for the guest image. It is made once for all test modules
and removed at the end.
"""

import atexit
import functools
import os
import pathlib
import re
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
VERSION = re.search(r"version: '(.*?)'", (TOP / "meson.build").read_text(encoding="utf-8"))[1]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


class Prefix:
    """An installation: its folders, and the environment of its users."""

    def __init__(self, holder):
        holder = pathlib.Path(holder)
        script = TOP / "scripts/build-examples.sh"
        subprocess.run([script, holder], check=True, capture_output=True,
                       env={**os.environ, "CFLAGS": " ".join(["-O2", *WARNINGS])})
        packages = list((holder / "root").rglob("pumice.pc"))
        assert len(packages) == 1, packages
        self.path = holder / "root/usr/local"
        self.examples = holder / "src"
        self.library = packages[0].parent.parent
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(holder), "LC_ALL": "C.UTF-8",
            "PKG_CONFIG_PATH": str(packages[0].parent),
            "LD_LIBRARY_PATH": str(self.library),
            "PUMICE_FIRMWARE": str(self.path / "share/pumice/pumice_fw.bin"),
            "PUMICE_LATE": "poison",  # programs that do not wait for their data fail
        }

    def run(self, command, cwd=None):
        """Run a command as a user; the completed process, with text."""
        return subprocess.run(command, cwd=cwd, env=self.environment, text=True, check=False,
                              capture_output=True, timeout=600)


@functools.lru_cache(maxsize=None)
def prefix():
    """Return the prefix of all tests."""
    holder = tempfile.TemporaryDirectory(prefix="pumice-install-")
    atexit.register(holder.cleanup)
    return Prefix(holder.name)
