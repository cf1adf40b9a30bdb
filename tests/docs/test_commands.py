# SPDX-License-Identifier: MIT
"""
The commands of README.md, of the tutorials and of some pages work as written, each of them, in order.

Each document is followed in a clean copy of the tree by a user with two terminals, with the
results of BUILD at hand. Code blocks of the language sh are run, those marked as the guest's at
the prompt of `make shell`. The lines of a block without a language (none) that follows
immediately are compared with the output, except those with "…" or a time. A block with the caption
"This fails" is run too: its commands end with an error, and of their output only times and
addresses may differ.

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
KINDS = {"sh", "guest", "fails", "gdb", "none", "diff"}
DEVELOPING = "Documentation/driver/developing.rst"
DEBUGGING = "Documentation/driver/debugging.rst"
FAULTS = "Documentation/faults.rst"
FW_GDB = "tests/gdb does so with GDB's commands for the firmware"
DEBUG_KERNEL = "make check-debug runs tests/guest/t_vm in such a guest"
INJECTION = "tests/igt/pumice_faults does so in a guest of make check-igt, with such a device"
LAYOUT = "tests/install/test_layout.py runs scripts/install.sh and what it installs"
# (document, command): why it is not run here, and what runs it.
ELSEWHERE = {
    ("README.md", "make check"): "is what runs this test",
    ("Documentation/installation.rst", "make install PREFIX=/usr/local"): LAYOUT,
    ("Documentation/installation.rst", "make install-qemu PREFIX=/usr/local"): LAYOUT,
    ("Documentation/installation.rst", "dkms install pumice/VERSION"):
        "needs a guest with other software; " + LAYOUT + " with dkms build",
    ("Documentation/installation.rst", "modprobe pumice"):
        "the same; every guest of the tests loads the driver by it",
    ("Documentation/installation.rst",
     "pumice-qemu -M q35 -m 2G -nographic -nic none -drive file=guest.qcow2 "
     "-device pumice,cores=4,threads=2"):
        "needs a guest with other software; " + LAYOUT + " with an empty disk",
    ("Documentation/installation.rst", "podman build -t pumice ."): "needs a network",
    ("Documentation/installation.rst",
     'podman run --rm -it -v "$PWD":/pumice -v pumice-cache:/root/.cache/pumice pumice make run'):
        "needs a network; make check-distros runs the same in fresh roots",
    (DEVELOPING, "make reload"): "first-driver-change.rst does so",
    (DEVELOPING, 'make reload PARAMETERS="job_timeout_ms=3600000 fw_timeout_ms=3600000"'):
        "tests/guest/reload.sh does so in a guest",
    (DEBUGGING, "make qemu images-debug"): "make check-debug builds the same",
    (DEBUGGING, "echo 'modprobe pumice && t_vm; s=$?; rmmod pumice; exit $s' >/tmp/job"):
        DEBUG_KERNEL,
    (DEBUGGING, "scripts/run-guest.py try --kernel build/kernel/debug --job /tmp/job --show --image "
     "build/guest/debug.cpio --image build/guest/programs.cpio --timeout 600"): DEBUG_KERNEL,
    (FAULTS, "echo unit-hang,where=cdm >/sys/kernel/debug/dri/0/inject"): INJECTION,
    (FAULTS, "cat /sys/kernel/debug/dri/0/inject"): INJECTION,
    (FAULTS, "make qemu images-fast"): "make check-igt builds the same",
    (FAULTS, "scripts/run-guest.py try --shell --kernel build/kernel/fast --image "
     "build/guest/fast.cpio --image build/guest/igt.cpio --own-time "
     "--device pumice,cores=4,threads=0,fault-injection=on,id=gpu "
     '--qemu-option "-qmp unix:/tmp/qmp,server=on,wait=off"'): INJECTION,
    # The first commands of sessions, for all of each.
    (DEVELOPING, "gdb-multiarch build/firmware/pumice_fw.elf"): FW_GDB,
    (DEVELOPING, "(gdb) backtrace"): FW_GDB,
}
# Places outside of the tree that the documents name: each test has its own.
PLACES = ("/tmp/pumice", "/tmp/job", "/tmp/module.gdb")
SAVE = re.compile(r"Save this as ``(\S+)``:\s*$")
TIMES = re.compile(r"…|\d (ms|s|MB/s|GFLOP/s)\b")
MASKED = re.compile(r"0x[0-9a-f]+|[\d.]+ (?=s\b)")


def comparable(line, kind):
    """Return a line of output without its spacing; of a failure without times and addresses."""
    return " ".join((MASKED.sub("N ", line) if kind == "fails" else line).split())


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
        user = session.Session(tree, session.environment(self.place))
        self.addCleanup(user.close)
        last = None
        for block in blocks.read(TOP / name):
            saved = SAVE.search(block.before)
            if saved and block.kind == "none":
                (tree / saved[1]).write_text("\n".join(block.lines) + "\n", encoding="utf-8")
            elif block.kind == "none" and last is not None and not block.before.strip():
                self.compare(f"{name}:{block.line}", block.lines, *last)
            last = (self.run_block(name, block, user), block.kind) if block.commands else None

    def run_block(self, name, block, user):
        """Run the commands of a block; return their output."""
        outputs = ""
        if block.kind == "gdb" and (name, block.commands[0]) in ELSEWHERE:
            return outputs
        for command in block.commands:
            if (name, command) in ELSEWHERE:
                continue
            line = command
            for place in PLACES:
                line = line.replace(place, str(self.place / pathlib.Path(place).name))
            run = {"guest": user.run_in_guest, "gdb": user.run_in_gdb}.get(block.kind, user.run)
            output, status = run(line)
            self.assertEqual(status != 0, block.kind == "fails",
                             f"{name}:{block.line}: {command}\n{output[-3000:]}")
            outputs += output
        return outputs

    def compare(self, where, lines, output, kind):
        """Check that the output has every line that does not depend on time."""
        skipped = {"fails": re.compile("…"), "gdb": re.compile("$.")}.get(kind, TIMES)
        printed = {comparable(line, kind) for line in output.splitlines()}
        for line in lines:
            if not line.strip() or skipped.search(line):
                continue
            wanted = comparable(line, kind)
            if kind == "gdb":   # where "…" matches anything
                pattern = ".*".join(map(re.escape, wanted.split("…")))
                self.assertTrue(any(re.fullmatch(pattern, line) for line in printed),
                                f"{where}: {wanted} is not in {output}")
            else:
                self.assertIn(wanted, printed, f"{where}: output has changed")

    def test_readme(self):
        self.follow("README.md")

    def test_first_kernel(self):
        self.follow("Documentation/first-kernel.rst")

    def test_first_frame(self):
        self.follow("Documentation/first-frame.rst")

    def test_first_driver_change(self):
        self.follow("Documentation/first-driver-change.rst")

    def test_observing(self):
        self.follow("Documentation/observing.rst")

    def test_developing(self):
        self.follow(DEVELOPING)

    def test_debugging(self):
        self.follow(DEBUGGING)

    def test_fault_injection(self):
        self.follow(FAULTS)

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
        self.assertEqual(blocks.commands(["a \\", "   b \\", "   c"]), ["a b c"])

    def test_output_of_failures(self):
        line = "late by 2.010 s at 0x6000, argument 3"
        self.assertEqual(comparable(line, "fails"), "late by N s at N , argument 3")
        self.assertEqual(comparable(line, "sh"), line)
        found = blocks.restructured(".. code-block:: sh\n   :caption: This fails\n\n   x\n")
        self.assertEqual(found[0].kind, "fails")

    def test_restructured_text(self):
        found = blocks.restructured("a::\n\n    x\n\n.. code-block:: sh\n   :caption: In the guest\n"
                                    "\n   y\n   z\n\nb\n\n.. code-block:: sh\n\n   w\n")
        self.assertEqual([(b.kind, [x for x in b.lines if x]) for b in found],
                         [("", ["x"]), ("guest", ["y", "z"]), ("sh", ["w"])])


if __name__ == "__main__":
    unittest.main()
