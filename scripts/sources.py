# SPDX-License-Identifier: MIT
"""The files of a work tree, with git or without (a release archive, a copy)."""

import fnmatch
import os
import subprocess

# Not sources; needed if there is no git to ignore them.
RESULTS = ("build", "out", ".cache", ".git", "__pycache__")
# The site in a release archive, and what is generated for it.
RENDERED = ("Documentation/html", "Documentation/reference")


def git(arguments, folder):
    """Return the output of git, None if git or its repository is missing."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, check=False, capture_output=True)
    except FileNotFoundError:
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def patterns(folder):
    """Return the lines of .gitignore, or of a Debian source package, which has no such file, those
    of the files that it leaves out.
    """
    for name, before in ((".gitignore", ""), ("debian/source/options", "tar-ignore=")):
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as stream:
                lines = stream.read().splitlines()
        except FileNotFoundError:
            continue
        return [line.removeprefix(before) for line in lines
                if line.startswith(before) and line and not line.startswith("#")]
    return []


def ignored(folder):
    """Return a function (name, is a folder) that says whether patterns() name it, without git. Of
    git's patterns it supports those that the file has: no "!" and no "**".
    """
    lines = patterns(folder)

    def matches(name, is_folder):
        return any(fnmatch.fnmatchcase(name if "/" in line.rstrip("/") else os.path.basename(name),
                                       line.strip("/"))
                   for line in lines if is_folder or not line.endswith("/"))
    return matches


def files(folder):
    """Return the names of all files, relative to the folder, without ignored ones."""
    listed = git(["ls-files", "-zco", "--exclude-standard"], folder)
    if listed is not None:
        return [name for name in listed.split("\0")
                if name and os.path.lexists(os.path.join(folder, name))]
    names = []
    is_ignored = ignored(folder)
    for place, folders, found in os.walk(folder):
        paths = {name: os.path.relpath(os.path.join(place, name), folder) for name in folders + found}
        folders[:] = sorted(name for name in folders if name not in RESULTS and
                            paths[name] not in RENDERED and not is_ignored(paths[name], True))
        names += [paths[name] for name in sorted(found) if not is_ignored(paths[name], False)]
    return names


def tracked(folder):
    """Return the names of the files in git that exist; without git those of all files."""
    listed = git(["ls-files", "-z"], folder)
    if listed is None:
        return files(folder)
    return [name for name in listed.split("\0")
            if name and os.path.lexists(os.path.join(folder, name))]


def commit(folder):
    """Return a name of the commit, "?" if there is none."""
    described = git(["describe", "--always", "--dirty", "--exclude=*"], folder)
    return described.strip() if described else "?"


def text(path):
    """Return the content of a file; lint-files.py reports bytes that are not UTF-8."""
    return path.read_text(encoding="utf-8", errors="replace")
