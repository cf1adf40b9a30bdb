# SPDX-License-Identifier: MIT
"""The files of a work tree, with git or without (a release archive, a copy)."""

import os
import subprocess

# Not sources, where there is no git to ignore them.
RESULTS = ("build", "out", ".git", "__pycache__")


def git(arguments, folder):
    """The output of git, None where git or its repository is missing."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, check=False, capture_output=True)
    except FileNotFoundError:
        return None
    return done.stdout.decode() if done.returncode == 0 else None


def files(folder):
    """The names of all files, relative to the folder; ignored ones are left out."""
    listed = git(["ls-files", "-zco", "--exclude-standard"], folder)
    if listed is not None:
        return [name for name in listed.split("\0")
                if name and os.path.lexists(os.path.join(folder, name))]
    names = []
    for place, folders, found in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in RESULTS)
        names += [os.path.relpath(os.path.join(place, name), folder) for name in sorted(found)]
    return names


def commit(folder):
    """A name of the commit, "?" where there is none."""
    described = git(["describe", "--always", "--dirty", "--exclude=*"], folder)
    return described.strip() if described else "?"
