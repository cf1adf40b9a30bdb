# SPDX-License-Identifier: MIT
"""
The commands of README.md, of the tutorials and of some pages work as written, each of them, in order.

Each document of FOLLOWED is followed in a clean copy of the tree by a user with two terminals, with the
results of BUILD at hand. Code blocks of the language sh are run, those marked as the guest's at
the prompt of `make shell`. The lines of a block without a language (none) that follows
immediately are compared with the output, except those with "…" or a time. A block with the caption
"This fails" is run too: its commands end with an error, and of their output only times and
addresses may differ.

With DOCS_TESTS=quick (make check) only the documents of QUICK are followed.

Commands that are not run, those of all other documents included, are listed in ELSEWHERE with the
reason. A document's block of any other kind, and a line of ELSEWHERE that no document has, is an
error.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import blocks
import session

TOP = session.TOP
KINDS = {"sh", "guest", "fails", "gdb", "none", "diff"}
SOURCES = {"c", "toml", "xml"}      # languages of other blocks in documents that are not followed
# A line that is a command, after variables and a prompt.
COMMAND = re.compile(r"(?:[$#] )?(?:[A-Z_]+=\S+ )*(?:(?:make|meson|ninja|python3|cc|gcc|git|apt(?:-get)?|sudo|"
                     r"insmod|modprobe|cat|echo|qemu-system-\w+) |(?:scripts|build|tests|\w+/build|\.)/"
                     r"|pumice-[\w-]+ (?! |[\d.]+$))")
# {name of a case: a document that is followed}
FOLLOWED = {
    "readme": "README.md",
    "first_kernel": "Documentation/first-kernel.rst",
    "first_frame": "Documentation/first-frame.rst",
    "first_driver_change": "Documentation/first-driver-change.rst",
    "hierarchy": "Documentation/hierarchy.rst",
    "strict": "Documentation/strict.rst",
    "observing": "Documentation/observing.rst",
    "developing": "Documentation/driver/developing.rst",
    "debugging": "Documentation/driver/debugging.rst",
    "fault_injection": "Documentation/faults.rst",
    "installation": "Documentation/installation.rst",
    "examples": "examples/README.md",
    "guest_run_manually": "scripts/README.md",
    "generator": "hw/README.md",
    "fuzz_targets": "tests/fuzz/README.md",
}
# First steps of a user: of the whole path, of programs, and of the tools of a developer. Those of the
# driver build it and its guests in the copy: minutes.
QUICK = ("readme", "first_kernel", "examples", "generator")
DEVELOPING, DEBUGGING, FAULTS = (FOLLOWED[name] for name in ("developing", "debugging",
                                                            "fault_injection"))
TESTING, LIBRARY = "Documentation/testing.rst", "Documentation/libpumice.rst"
CONTRIBUTING, MUTATIONS = "CONTRIBUTING.md", "tests/mutations/README.md"
HW_TESTS, IGT, USC = "tests/hw/README.md", "tests/igt/README.md", "tests/unit/usc/README.md"
FW_GDB = "tests/gdb does so with GDB's commands for the firmware"
DEBUG_KERNEL = "make check-debug runs tests/guest/t_vm in such a guest"
INJECTION = "tests/igt/pumice_faults does so in a guest of make check-igt, with such a device"
LAYOUT = "tests/install/test_layout.py runs scripts/install.sh and what it installs"
PART_OF_CHECK = "a part of make check"
BY_CHECK_UNIT = "make check-unit runs the same tests"
SELECTION = "runs for minutes; tests/scripts/test_selection.py selects by such words"
IGT_TREE = "needs IGT's sources; tests/igt/test_in_tree.py does so with a tree like them"
HOURS = "runs for hours; tests/scripts/test_mutations.py selects by such words"
# (document, command): why it is not run here, and what runs it.
ELSEWHERE = {
    ("README.md", "make check"): "runs this test",
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
    (DEBUGGING, "pumice-dump /sys/class/devcoredump/devcd1/data"):
        "needs a job that failed; tests/guest/t_dump runs it on dumps of such jobs",
    (FAULTS, "echo unit-hang,where=cdm >/sys/kernel/debug/dri/0/inject"): INJECTION,
    (FAULTS, "cat /sys/kernel/debug/dri/0/inject"): INJECTION,
    (FAULTS, "make qemu images-fast"): "make check-igt builds the same",
    (FAULTS, "scripts/run-guest.py try --shell --kernel build/kernel/fast --image "
     "build/guest/fast.cpio --image build/guest/igt.cpio --own-time "
     "--device pumice,cores=4,threads=0,fault-injection=on,id=gpu "
     '--qemu-option "-qmp unix:/tmp/qmp,server=on,wait=off"'): INJECTION,
    (CONTRIBUTING, "make run"): "README.md's first command",
    (CONTRIBUTING, "make check"): "runs this test",
    (CONTRIBUTING, "make lint"): PART_OF_CHECK,
    (CONTRIBUTING, "make coverage"):
        "compiles all again; tests/scripts/test_coverage.py has its evaluation",
    (TESTING, 'make check-unit TESTS="pds_dispatch compiler-macros"'): SELECTION,
    (TESTING, 'make check-guest TESTS="t_submit t_sync:CASE t_fault_*"'): SELECTION,
    (TESTING, 'make check-igt TESTS="pumice_fence pumice_gem@*"'): SELECTION,
    (TESTING, "insmod /lib/kunit/pumice.ko"): "scripts/guest-tests.py runs KUnit so",
    (TESTING, "cat /sys/kernel/debug/kunit/pumice_*/results"): "the same",
    (TESTING, "rmmod pumice"): "the same",
    (TESTING, "make igt-in-tree IGT_SRC=DIR"): IGT_TREE,
    ("Documentation/device.rst", "qemu-system-x86_64 -M q35 … -device pcie-root-port,id=rp0,slot=1 "
     "-device pumice,bus=rp0,cores=4,threads=2"): "tests/qemu/machine.py starts such machines",
    ("Documentation/device.rst",
     "-device pumice,id=gpu0,virtual-gpus=2 -device pumice-vgpu,parent-gpu=gpu0,number=1"):
        "tests/qemu/test_vgpu.py starts QEMU with such devices",
    ("Documentation/strict.rst", "echo strict >/sys/kernel/debug/dri/0/mode"):
        "tests/guest/t_debugfs does so",
    ("Documentation/strict.rst", "PUMICE_DEVICE=drm pumice-strict pumice-run race.pasm --groups 1"):
        "tests/guest/t_source does so",
    ("Documentation/strict.rst", "cat /sys/kernel/debug/dri/0/findings"): "tests/guest/t_findings does so",
    ("Documentation/hierarchy.rst", "qemu-system-x86_64 … -device pumice,mode=counted"):
        "tests/qemu/test_mode.py starts QEMU so",
    ("Documentation/hierarchy.rst", "echo counted >/sys/kernel/debug/dri/0/mode"):
        "tests/guest/t_debugfs does so",
    ("Documentation/hierarchy.rst", "PUMICE_MODE=counted pumice-run …"):
        "tests/unit/libpumice/test_objects.c sets it",
    ("Documentation/memory-traffic.rst", "examples/traffic"):
        "tests/install/test_install.py runs it",
    ("Documentation/memory-traffic.rst",
     "examples/traffic inproc:threads=0,mode=counted,preset=sgx543mp4"):
        "tests/install/test_install.py runs it with the default preset",
    (LIBRARY, "make install PREFIX=/usr/local"): LAYOUT,
    (LIBRARY, "cc program.c $(pkg-config --cflags --libs pumice)"):
        "tests/install/test_install.py compiles so with an installed library",
    (LIBRARY, "pumice-run --native --groups 64,64 --arg buf:f32:a.npy --arg buf:f32:random:512x512 "
     "--arg out:f32:512x512:c.npy --arg u32:512 --arg u32:64 matmul.pasm"):
        "tests/unit/tools/run.py does so with smaller matrices",
    ("hw/README.md", "python3 -m unittest discover -s tests/hw"): BY_CHECK_UNIT,
    (HW_TESTS, "python3 -m unittest discover -s tests/hw"): BY_CHECK_UNIT,
    (HW_TESTS, "python3 tests/hw/test_gen_refusals.py Registers"): BY_CHECK_UNIT,
    (HW_TESTS, "PUMICE_SEED=1234 python3 tests/hw/test_gen_roundtrip.py"): BY_CHECK_UNIT,
    (IGT, "make igt-in-tree IGT_SRC=DIR"): IGT_TREE,
    (IGT, "DIR/build/runner/igt_runner -o -s -t '^igt@pumice/' DIR/build/tests results"): IGT_TREE,
    (IGT, "make qemu images-fast"): "make check-igt builds the same",
    (IGT, "echo 'modprobe pumice; cd /usr/libexec/igt-gpu-tools; ./pumice_mmu_fault "
     "--run-subtest hole-64k' > /tmp/job"): "scripts/README.md runs a job so",
    (IGT, "scripts/run-guest.py try --kernel build/kernel/fast --image build/guest/fast.cpio --image "
     "build/guest/igt.cpio --job /tmp/job --show"): "the same",
    ("tests/guest/README.md", "t_vm_gpu"): "make check-guest runs the same program",
    ("tests/guest/README.md", "t_vm_gpu map_replaces_earlier_mappings"):
        "the same; TESTS=t_vm_gpu:CASE runs a case so",
    (MUTATIONS, "make mutations"): HOURS,
    (MUTATIONS, 'make mutations ONLY="cdm-* qemu-device/gpu/usc firmware/sched.c"'): HOURS,
    (MUTATIONS, "make mutations SHARD=2/4"): HOURS,
    (MUTATIONS, "scripts/mutations.py --check"): "tests/scripts/test_mutations.py checks the same",
    (MUTATIONS, "scripts/mutations.py --find NAME"): "needs a row without a case",
    (USC, "PUMICE_TEST_SEED=20261234 PUMICE_TEST_PROGRAMS=1 build/native/tests/unit/usc/test_usc_random"):
        "make check-unit runs the program with other seeds",
    (USC, "meson test -C build/native --benchmark usc-random-long"): "runs for minutes",
    # The first commands of sessions, for all of each.
    (DEVELOPING, "gdb-multiarch build/firmware/pumice_fw.elf"): FW_GDB,
    (DEVELOPING, "(gdb) backtrace"): FW_GDB,
}
# Places outside of the tree that the documents name: each test has its own.
PLACES = ("/tmp/pumice", "/tmp/job", "/tmp/module.gdb", "/tmp/gen")
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
        self.assertEqual({b.kind for b in blocks.read(TOP / name)} - KINDS - SOURCES, set(),
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

    def test_skipped_commands_are_in_the_documents(self):
        found = {(name, command) for name, _ in ELSEWHERE
                 for block in blocks.read(TOP / name) for command in block.commands}
        self.assertEqual(set(ELSEWHERE) - found, set())


for case in QUICK if os.environ.get("DOCS_TESTS") == "quick" else FOLLOWED:
    setattr(Commands, f"test_{case}", lambda self, name=FOLLOWED[case]: self.follow(name))


class Others(unittest.TestCase):
    """Documents that are not followed: their commands are in ELSEWHERE, too."""

    NAMES = session.documents(TOP)

    def test_notes_that_are_not_in_git_are_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
            for name in ("a.md", "notes.md"):
                pathlib.Path(folder, name).touch()
            subprocess.run(["git", "add", "a.md"], cwd=folder, check=True)
            self.assertEqual(session.documents(folder), ["a.md"])

    def test_every_block_has_a_language(self):
        for name in self.NAMES:
            for block in blocks.read(TOP / name):
                with self.subTest(document=name, line=block.line):
                    self.assertIn(block.kind, KINDS | SOURCES)

    def test_every_command_is_run_or_listed(self):
        count = 0
        self.assertLessEqual(set(FOLLOWED.values()), set(self.NAMES))
        for name in set(self.NAMES) - set(FOLLOWED.values()):
            for block in blocks.read(TOP / name):
                for command in block.commands:
                    count += 1
                    with self.subTest(document=name, line=block.line):
                        self.assertIn((name, command), ELSEWHERE)
        self.assertGreater(count, 20)

    def test_blocks_of_other_languages_have_no_commands(self):
        for name in self.NAMES:
            for block in blocks.read(TOP / name):
                with self.subTest(document=name, line=block.line):
                    self.assertEqual([] if block.commands or block.kind == "gdb" else
                                     [line for line in block.lines if COMMAND.match(line)], [])

    def test_commands_are_recognised(self):
        for line in ("make run", "A=1 B=2 build/native/x y", "python3 hw/gen.py", "$ scripts/x.sh",
                     "cc a.c", "pumice-run -d drm", "qemu-system-x86_64 -M q35", "DIR/build/a b"):
            self.assertTrue(COMMAND.match(line), line)
        for line in ("pumice-run: error", "makes run", "mov r0, r1", "pumice-info 0.5.0",
                     "pumice-demo-sca-196    [000] ....."):
            self.assertFalse(COMMAND.match(line), line)

    def test_the_page_about_tests_lists_the_documents_that_are_followed(self):
        page = (TOP / TESTING).read_text(encoding="utf-8")
        item = re.search(r"^``make check-docs``\n(.*?)as written and in order", page, re.M | re.S)[1]
        listed = {f"Documentation/{name}.rst" for name in re.findall(r":doc:`([\w/-]+)`", item)}
        listed |= set(re.findall(r"``(\S+\.md)``", item))
        self.assertEqual(listed, set(FOLLOWED.values()))

    def test_documents_that_run_tests_name_their_packages(self):
        found = []
        for name in self.NAMES:
            text = (TOP / name).read_text(encoding="utf-8")
            if re.search(r"tap-unittest\.py tests/|unittest discover", text):
                found.append(name)
                self.assertRegex(text, r"scripts/host-packages\.sh check|packages of make check", name)
        self.assertGreater(len(found), 4)


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
