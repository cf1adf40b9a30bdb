# SPDX-License-Identifier: MIT
"""A temporary folder for all tests of a class."""

import pathlib
import shutil
import tempfile
import unittest


def mounts_in(folder):
    """Return the mounts of this process on a folder and below."""
    places = [pathlib.Path(line.split()[4]) for line in
              pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()]
    return [place for place in places if place.is_relative_to(folder)]


def remove(folder):
    """Remove a folder, unless there are mounts in it, whose files would be removed, too."""
    mounts = mounts_in(folder)
    if mounts:
        raise AssertionError(f"{folder} is not removed: mounts {', '.join(map(str, mounts))}")
    shutil.rmtree(folder)


class Folder(unittest.TestCase):
    """Tests that share a folder."""

    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp()).resolve()
        cls.addClassCleanup(remove, cls.root)
