# SPDX-License-Identifier: MIT
"""Mode strict: the findings of tests in guests, and the lists of those that tests have on purpose.

A list has the name of a test and the kinds of its findings in each line, of which each occurs, those with
"?" before them perhaps; "-": the test has no verdict in mode strict. Other tests have none.
"""

import json

import selection

GPU = "pumice,cores=4,threads=2,late=poison,mode=strict"
FACTOR = 3      # for times of tests in guests
# Functions of a shell in a guest, for tests with a GPU in mode strict. end NAME, after a test: moves the
# findings to $findings/NAME.findings. begin NAME, before it: selects the mode, which a test may have changed.
# Tests mount and unmount the usual folder of debugfs.
STRICT = """\
mkdir -p /tmp/strict
mount -t debugfs none /tmp/strict
# The folder of the GPU, whose number is another one after each time that the driver is loaded.
gpu() {
	set -- /tmp/strict/dri/[0-9]*/mode
	echo "${1%/mode}"
}
begin() {
	echo strict >"$(gpu)/mode"
	! grep -qx strict "$(gpu)/mode" || : >$findings/$1.findings
}
end() {
	# One that leaves the GPU in another mode may have run in it.
	grep -qx strict "$(gpu)/mode" || rm -f $findings/$1.findings
	[ ! -e $findings/$1.findings ] || cat "$(gpu)/findings" >$findings/$1.findings || rm $findings/$1.findings
	echo >"$(gpu)/findings"
}
"""
# The same in other modes.
FAST = """\
begin() { :; }
end() { :; }
"""


def expected(path):
    """Return {test: kinds of its findings} of a list, in the order of the last rows."""
    kinds = {}
    for name, *words in selection.lines(path):
        kinds.pop(name, None)
        kinds[name] = set(words)
    return kinds


def has_verdict(kinds):
    """Return whether findings of a test with these kinds in its list, if any, are examined."""
    return kinds != {"-"}


def add(tally, test, path, kinds, some=False):
    """Count the findings of a test, which the guest has left in a file; some: only a part of its cases has run."""
    # Each kind may be that of another case.
    if some:
        kinds = {f"?{kind.lstrip('?')}" for kind in kinds}
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    try:
        found = {json.loads(line).get("finding", "lost") for line in lines}
    except ValueError:
        found = {"unreadable"}
    tally.add(f"findings of {test}", path.exists() and selection.has_findings(found, kinds),
              f"{' '.join(sorted(found)) or 'none'}, see {path}")
