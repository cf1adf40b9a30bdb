#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the messages of commits: the rule of Documentation/style.rst, "Commits".

lint_commits.py [--file FILE]: the commits after BASE that are in this clone, or one message in a
file or "-" (a hook "commit-msg" passes .git/COMMIT_EDITMSG). LINT_BASE= replaces BASE.

The base is fixed here, since a clone for CI has no upstream branch to compare with. A shallow
clone without the base is checked as far as it goes: the commits whose author date is later than
that of the base. History before the base is not checked. If messages that break the rule have been
published, advance BASE and BASE_DATE: history is not rewritten for them.

Limits: whether the first word is a verb is looked up in VERBS. A verb that is missing there is
added by the commit that uses it.
"""

import os
import pathlib
import re
import sys

import lint_words
import sources

TOP = pathlib.Path(__file__).resolve().parent.parent
BASE = "e8158a337e234b566c19bb12bb0855782233d6e2"
BASE_DATE = 1795439100    # seconds, of the author
LONGEST = 75
FEWEST_WORDS = 4
PART = r"\.?\w[\w./+*{}-]*"
SUBJECT = re.compile(rf"({PART}(?:, {PART})*): (\S.*)")
REVERT = re.compile(r'Revert ".+"')
TRAILER = re.compile(r"[A-Z][a-z]+(?:-[A-Za-z]+)*: \S")
FIXES = re.compile(r'Fixes: (?:([0-9a-f]{12}) \("(.+)"\)|none \(.+\))')
# A message that needs a line "Fixes:", from an author's date on.
FIX_VERBS = {"fix", "correct", "repair"}
FIX_BODY = re.compile(r"\b(regress\w*|crash\w*|leak\w*|hang|hangs|hung|failed since)\b", re.IGNORECASE)
FIXES_SINCE = 1795467600    # seconds
# A line "Fixes:" names a commit of the history, from a committer's date on: a rebase creates commits
# anew, and some that are published name those from before one.
NAMED_SINCE = 1795726800    # seconds
# The words to avoid, from an author's date on; not in the summaries of others and other citations.
WORDS_SINCE = 1795705800    # seconds
CITED = re.compile(r'"[^"]*"')
# After the first word: it is the subject of a statement, or a noun.
STATEMENT = {"is", "are", "was", "were", "has", "have", "had", "can", "cannot", "could", "may",
             "must", "shall", "should", "will", "would", "does", "do", "did", "of", "that",
             "which"}
VERBS = set("""
abort accept account acquire activate adapt add adjust adopt advance align allocate allow analyse
announce answer append apply arm assemble assert assign attach average avoid back bail balance batch begin
bind bisect block boot borrow bound branch break bring build bump bypass cache calculate call
cancel carry cast catch centralise chain change charge check choose cite claim clamp clarify classify
clean clear clip clone close coalesce collapse collect combine commit compare compile complete
compress compute configure confine confirm connect consolidate constrain construct consume continue
control convert copy correct count cover create cross-check cull cut decode decouple decrease
deduplicate defer define degrade delay delegate delete deliver demote deny deprecate derive
describe destroy detach detect determine disable disallow disassemble discard disconnect dispatch
display distinguish distribute divide do document don't double downgrade drain draw drive drop dump
duplicate edit eliminate embed emit empty emulate enable encode end enforce ensure enter enumerate
erase escape estimate evaluate evict examine exchange exclude execute exempt exercise exit expand
expect explain export expose express extend extract factor fail fall fault feed fence fetch fill find
filter finalise finish fit fix flag flatten flip flush fold follow force format forward free freeze
fuse gather generate get give group grow guarantee guard halt handle hash hide hoist hold honour
hook identify ignore implement import improve include increase indent index indicate infer inform
inherit initialise inject inline insert inspect install instrument integrate interpret interrupt introduce
invalidate invert invoke isolate iterate join judge jump keep kill label launch leave lengthen let
lift limit link lint list load lock log look lower maintain make map mark mask match measure
mention merge migrate mirror mock model modernise modify monitor mount move multiply name narrow
negotiate nest normalise note notify number obey observe obtain offer omit open optimise order
organise override pack pad page pair park parse pass patch pause perform permit pin pipe place plan
plug poison poll populate port postpone power precompute predecode predict prefer prefix prepare
present preserve pretend prevent prime print probe process produce profile program prohibit promote
propagate propose protect prove provide publish pull purge push put qualify query queue quiesce
quote raise randomise re-enable reach read realign reassign rebuild recognise recompute record
recover recycle redirect reduce refactor refer reference refill refine reformat refresh refuse
regenerate register reinstate reject relax release reload relocate rely remap remember remove
rename render reorder repair repeat replace replay reply report represent reproduce repurpose
request require rerun rescan reschedule resend reserve reset reshape resize resolve respect restart
restore restrict resubmit resume retain retire retrieve retry return reuse revert review revise
rewind reword rework rewrite ring roll rotate round route run sample sanitise satisfy save say
scale scan schedule scissor seal search secure see seed select send separate serialise serve set
settle shade share shift ship shorten show shrink shuffle shut signal silence simplify simulate
size sketch skip sleep snapshot sort spawn specify speed spell spill split spread stabilise stage
stall standardise start state steal step stop store stream streamline strengthen stress strip stub
submit substitute subtract suggest sum supply support suppress survive suspend swap sweep switch
synchronise tag take teach tear terminate test throttle tidy tie tighten time toggle tolerate touch
trace track transfer transform translate transpose trap traverse treat trigger trim truncate try
tune turn tweak type unbind unblock undo unify unlock unmap unpack unpin unregister unroll unshare
untangle unwind update upgrade use validate vary verify visit wait wake walk warn watch weaken
widen wire withdraw wrap write yield zero
""".split())


def subject_problems(subject):
    """Return the problems of a first line."""
    if len(subject) > LONGEST:
        yield f"the first line has {len(subject)} characters, at most {LONGEST}"
    if REVERT.fullmatch(subject):
        return
    found = SUBJECT.fullmatch(subject)
    if not found:
        yield "the first line is not 'part: imperative summary'"
        return
    words = found[2].replace(",", "").split()
    if found[2].endswith("."):
        yield "the first line ends with a full stop"
    if words[0] not in VERBS:
        yield f"the summary does not begin with a verb in the imperative: '{words[0]}' " \
              "(if it is one, add it to VERBS of scripts/lint_commits.py)"
    elif len(words) > 1 and words[1] in STATEMENT:
        yield f"the summary is not a request: '{words[0]} {words[1]} …'"


def body_problems(lines):
    """Return the problems of the lines after the first."""
    if lines and lines[0].strip():
        yield "the second line is not empty"
    for line in lines:
        if line.startswith("Fixes:") and not FIXES.fullmatch(line.rstrip()):
            yield f"'{line}': write Fixes: <12 digits> (\"summary\"), or Fixes: none (reason)"
    text = " ".join(line for line in lines if not TRAILER.match(line))
    if len(text.split()) < FEWEST_WORDS or not re.search(r"[^\W\d_]\S*[.!?:](\s|$)", text):
        yield "the body has no sentence that gives the reason"


def fix_problems(subject, lines):
    """Return the problem of a fix that does not name the commit that it fixes."""
    found = SUBJECT.fullmatch(subject)
    verb = found[2].split()[0] if found else ""
    word = FIX_BODY.search(" ".join(lines))
    reason = verb if verb in FIX_VERBS else word and word[0]
    if reason and not any(line.startswith("Fixes:") for line in lines):
        yield f"'{reason}' without Fixes: <12 digits> (\"summary\"), or Fixes: none (reason)"


def named_problems(name, message, top=TOP):
    """Return the lines "Fixes:" of a commit that do not name one of its ancestors, by its summary."""
    for line in message.splitlines():
        found = FIXES.fullmatch(line.rstrip())
        if not found or not found[1]:
            continue
        summary = sources.git(["log", "-1", "--format=%s", found[1], "--"], top)
        if summary is None or sources.git(["merge-base", "--is-ancestor", found[1], name], top) is None:
            yield f"'{line}': {found[1]} is not a commit in the history of this one"
        elif summary.strip() != found[2]:
            yield f"'{line}': the summary of {found[1]} is \"{summary.strip()}\""


def word_problems(lines):
    """Return the words and clauses of a message that the style replaces."""
    text = CITED.sub("", " ".join(line for line in lines if not TRAILER.match(line)))
    for pattern, write in lint_words.of_prose():
        for match in pattern.finditer(text):
            yield f"\"{match.group()}\": write {write}"


def problems(message, date=None):
    """Return the problems of a message; lines that git comments out are not part of it.

    date: of the author, seconds; a message to be committed has none.
    """
    date = WORDS_SINCE if date is None else date
    lines = [line for line in message.rstrip().splitlines() if not line.startswith("#")]
    if not lines:
        return ["the message is empty"]
    return [*subject_problems(lines[0]), *body_problems(lines[1:]),
            *(fix_problems(lines[0], lines[1:]) if date >= FIXES_SINCE else ()),
            *(word_problems(lines) if date >= WORDS_SINCE else ())]


def commits(base, top=TOP):
    """Return [(hash, author's date, committer's date, message)] of the commits after a base; None
    without git.
    """
    bounds = ["HEAD", f"^{base}"]
    if sources.git(["cat-file", "-e", f"{base}^{{commit}}"], top) is None:
        bounds = ["HEAD"]
    listed = sources.git(["log", "-z", "--no-merges", "--format=%h %at %ct %B", *bounds], top)
    if listed is None:
        return None
    found = []
    for entry in filter(str.strip, listed.split("\0")):
        name, date, committed, message = entry.split(" ", 3)
        if len(bounds) > 1 or int(date) > BASE_DATE:
            found.append((name, int(date), int(committed), message))
    return found


def all_problems(listed, top=TOP):
    """Return (hash, message, problem) of commits; a shallow clone may lack those that they name."""
    complete = (sources.git(["rev-parse", "--is-shallow-repository"], top) or "").strip() == "false"
    for name, date, committed, message in listed:
        found = problems(message, date)
        if complete and committed >= NAMED_SINCE:
            found += named_problems(name, message, top)
        yield from ((name, message, problem) for problem in found)


def main(arguments, environment):
    """Check, print the problems."""
    if arguments[:1] == ["--file"]:
        name = arguments[1]
        text = sys.stdin.read() if name == "-" else pathlib.Path(name).read_text(encoding="utf-8")
        listed = [(name, None, 0, text)]
    else:
        listed = commits(environment.get("LINT_BASE") or BASE)
    if listed is None:
        print("no commit is checked: this is not a clone")
        return 0
    found = [f"{name} {message.splitlines()[0] if message.strip() else ''}\n    {problem}"
             for name, message, problem in all_problems(listed)]
    print("\n".join([*found, f"{len(listed)} commits"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
