#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Both commands of the README in fresh Debian roots; each is a case.

DISTROS selects the releases, DISTRO_COMMANDS the commands. See distro-root.sh.
Takes hours with all of them. Logs: out/logs/distro-SUITE-COMMAND.log.
"""

import os
import pathlib
import subprocess

from results import Tally

TOP = pathlib.Path(__file__).resolve().parent.parent
# Debian 12, 13 and testing.
DISTROS = os.environ.get("DISTROS", "bookworm trixie forky").split()
COMMANDS = os.environ.get("DISTRO_COMMANDS", "run check").split()


def distro_root(*arguments):
    """Run distro-root.sh; return its success."""
    return subprocess.run(["scripts/distro-root.sh", *arguments], cwd=TOP,
                          check=False).returncode == 0


def main():
    """Run all releases, then print the count."""
    tally = Tally("distros")
    for suite in DISTROS:
        if not distro_root("make", suite):
            tally.add(f"{suite}: a fresh root", False, f"see out/logs/distro-{suite}.log")
            continue
        for command in COMMANDS:
            tally.add(f"{suite}: make {command}", distro_root("run", suite, command),
                      f"see out/logs/distro-{suite}-{command}.log")
    raise SystemExit(tally.close())


if __name__ == "__main__":
    main()
