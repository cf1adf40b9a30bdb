# SPDX-License-Identifier: MIT
"""
The commands of README.md and of the tutorials work as written, each of them, in order.

Each document is followed in a clean copy of the tree by a user with two terminals, with the
results of BUILD at hand. Code blocks of the language sh are run, those marked as the guest's at
the prompt of `make shell`. The lines of a block without a language (none) that follows
immediately are compared with the output, except those with "…" or a time.

Commands that are not run are listed in ELSEWHERE with the reason. A document's block of any other
kind, and a line of ELSEWHERE that no document has, is an error.
"""

import pathlib
import re
import tempfile
import unittest

import blocks
import session

TOP = session.TOP
KINDS = {"sh", "guest", "none", "diff"}
LAYOUT = "tests/install/test_layout.py runs scripts/install.sh and what it installs"
# (document, command): why it is not run here, and what runs it.
ELSEWHERE = {
    ("README.md", "make check"): "is what runs this test",
    ("Documentation/installation.rst", "make install PREFIX=/usr/local"): LAYOUT,
    ("Documentation/installation.rst", "make install-qemu PREFIX=/usr/local"): LAYOUT,
    ("Documentation/installation.rst", "dkms install pumice/VERSION"):
        "needs a guest of one's own; " + LAYOUT + " with dkms build",
    ("Documentation/installation.rst", "modprobe pumice"):
        "the same; every guest of the tests loads the driver by it",
    ("Documentation/installation.rst",
     "pumice-qemu -M q35 -m 2G -drive file=guest.qcow2 -device pumice,cores=4,threads=2"):
        "needs a guest of one's own; " + LAYOUT + " with the device",
    ("Documentation/installation.rst", "podman build -t pumice ."): "needs a network",
    ("Documentation/installation.rst",
     'podman run --rm -it -v "$PWD":/pumice -v pumice-cache:/root/.cache/pumice pumice make run'):
        "needs a network; make check-distros runs the same in fresh roots",
}
# Places outside of the tree that the documents name: each test has its own.
PLACES = ("/tmp/pumice", "/tmp/job")
SAVE = re.compile(r"Save this as ``(\S+)``:\s*$")
TIMES = re.compile(r"…|\d (ms|s|MB/s|GFLOP/s)\b")


class Commands(unittest.TestCase):
    """A case for each document."""

    def follow(self, name):
        """Run a document's commands in a clean copy."""
        self.assertEqual({b.kind for b in blocks.read(TOP / name)} - KINDS, set(),
                         f"{name}: a code block without a known language is not run")
        if all((name, c) in ELSEWHERE for b in blocks.read(TOP / name) for c in b.commands):
            return
        holder = tempfile.TemporaryDirectory(prefix="pumice-docs-")
        self.addCleanup(holder.cleanup)
        self.place = pathlib.Path(holder.name)
        tree = self.place / "tree"
        tree.mkdir()
        session.copy_tree(tree)
        user = session.Session(tree, session.environment())
        self.addCleanup(user.close)
        last = None
        for block in blocks.read(TOP / name):
            saved = SAVE.search(block.before)
            if saved and block.kind == "none":
                (tree / saved[1]).write_text("\n".join(block.lines) + "\n", encoding="utf-8")
            elif block.kind == "none" and last is not None and not block.before.strip():
                self.compare(f"{name}:{block.line}", block.lines, last)
            last = self.run_block(name, block, user) if block.commands else None

    def run_block(self, name, block, user):
        """Run the commands of a block; return their output."""
        outputs = ""
        for command in block.commands:
            if (name, command) in ELSEWHERE:
                continue
            line = command
            for place in PLACES:
                line = line.replace(place, str(self.place / pathlib.Path(place).name))
            run = user.run_in_guest if block.kind == "guest" else user.run
            output, status = run(line)
            self.assertEqual(status, 0, f"{name}:{block.line}: {command}\n{output[-3000:]}")
            outputs += output
        return outputs

    def compare(self, where, lines, output):
        """Every line that does not depend on time is in the output."""
        printed = {" ".join(line.split()) for line in output.splitlines()}
        for line in lines:
            if line.strip() and not TIMES.search(line):
                self.assertIn(" ".join(line.split()), printed, f"{where}: output has changed")

    def test_readme(self):
        self.follow("README.md")

    def test_first_kernel(self):
        self.follow("Documentation/first-kernel.rst")

    def test_first_frame(self):
        self.follow("Documentation/first-frame.rst")

    def test_first_driver_change(self):
        self.follow("Documentation/first-driver-change.rst")

    def test_installation(self):
        self.follow("Documentation/installation.rst")

    def test_examples(self):
        self.follow("examples/README.md")

    def test_guest_run_manually(self):
        self.follow("scripts/README.md")

    def test_skipped_commands_are_in_the_documents(self):
        found = {(name, command) for name, _ in ELSEWHERE
                 for block in blocks.read(TOP / name) for command in block.commands}
        self.assertEqual(set(ELSEWHERE) - found, set())


class Blocks(unittest.TestCase):
    """Reading of documents: nothing that looks like a command may be passed over."""

    def test_markdown(self):
        found = blocks.markdown("a\n```sh\nmake a\nmake b \\\n  c # why\n```\n```\nx\n```\n"
                                "\n    indented\n```sh guest\ny\n```\n")
        self.assertEqual([b.kind for b in found], ["sh", "", "", "guest"])
        self.assertEqual(blocks.commands(found[0].lines), ["make a", "make b c"])

    def test_restructured_text(self):
        found = blocks.restructured("a::\n\n    x\n\n.. code-block:: sh\n   :caption: In the guest\n"
                                    "\n   y\n   z\n\nb\n\n.. code-block:: sh\n\n   w\n")
        self.assertEqual([(b.kind, [x for x in b.lines if x]) for b in found],
                         [("", ["x"]), ("guest", ["y", "z"]), ("sh", ["w"])])


if __name__ == "__main__":
    unittest.main()
