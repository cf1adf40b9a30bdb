# SPDX-License-Identifier: MIT
"""
Every installed program has the same --help, --version and -d, refuses unknown words, and agrees
with its manual page.
"""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from prefix import TOP, VERSION, prefix

# Words that are one too many: by default the first. pumice-trace runs any word.
TOO_MANY = {"as": 2, "dis": 2, "dump": 2, "frame": 2, "run": 2, "strict": 0, "trace": 0}
# Words that a program needs before it opens its device.
NEEDED = {"frame": ["nothing.cap"], "run": ["--list-perf"], "trace": ["true"]}
# Arguments that a program refuses beyond unknown options and words, and a part of its message.
REFUSED = [
    ("top", ["-i"], "option '-i' needs a value, SECONDS"),
    ("top", ["--batch=1"], "option '--batch' has no value, but '--batch=1' gives one"),
    ("top", ["-i", "0"], "-i 0: SECONDS is a number from 0.01 to 3600"),
    ("top", ["--samples", "1.5"], "--samples 1.5: N is a whole number from 1 to 1000000000"),
    ("top", ["-bW"], "there is no option '-W'"),
    ("trace", ["-t", "1", "true"], "--time: a trace with a COMMAND ends with it"),
    ("trace", ["--time", "0"], "--time 0: SECONDS is a whole number from 1 to 3600"),
    ("frame", [], "FILE is missing; usage: pumice-frame [OPTION]… FILE"),
    ("trace", ["-W", "true"], "there is no option '-W'"),
    ("decode", ["reg", "4"], "reg is followed by an offset of 32 bits and a value of 32 bits"),
    ("decode", ["teapot", "1"], "unknown word 'teapot'"),
    ("decode", ["usc", "teapot"], "unexpected word 'teapot': WORD is a number of 32 bits"),
    ("dump", ["-s", "teapot", "-"], "there is no section 'teapot'; accepted: info, reason"),
    ("frame", ["-d", "drm", "-"], "-d drm: a frame is replayed on a GPU in this process"),
    ("shares", ["-d", "inproc", "cdm=1"], "'inproc' is not a GPU of the kernel driver"),
    ("strict", [], "COMMAND is missing; usage: pumice-strict [OPTION]… COMMAND [ARGUMENT]…"),
    ("as", ["--c-array", "9x", "-"], "--c-array 9x: NAME is a C identifier"),
    ("as", ["--c-array=a-b", "-"], "--c-array a-b: NAME is a C identifier"),
    ("run", ["--groups", "1,", "-"], "--groups 1,: one to three numbers"),
    ("demo-matmul", ["-n", "0"], "-n 0: N is a whole number from 1 to 4096"),
    ("demo-matmul", ["-n", "-1"], "-n -1: N is a whole number from 1 to 4096"),
    ("demo-mandelbrot", ["-s", "480"], "-s 480: a size is two numbers from 1 to 16384"),
]

# Examples of manual pages that need a guest: the test that runs them, by these very words unless
# the value gives a reason.
IN_GUEST = TOP / "tests/guest/examples.sh"
GUEST_EXAMPLES = {
    "pumice-info -d drm": "", "pumice-demo-triangle -d drm": "",
    "pumice-shares": "", "pumice-shares cdm=64 pdm=none": "",
    "pumice-shares policy=cdm-vdm-pdm": "",
    "pumice-shares cdm=default vdm=default pdm=default rdm=default policy=graphics": "",
    "pumice-top -b -n 2 -i 0.1 -d drm": "",
    "pumice-trace -d drm -o matmul.json pumice-demo-matmul -d drm -n 64": "",
    "pumice-dump /sys/class/devcoredump/devcd1/data": "t_dump runs it on dumps of the driver",
    "pumice-dump -s reason -s places /sys/class/devcoredump/devcd1/data": "the same",
}


# The tools wait for 5 s until a process has opened its device, which is short on a busy machine.
UNTIL_OBSERVABLE = """
while kill -0 $! && [ ! -S "$XDG_RUNTIME_DIR/pumice-$!.0" ]; do sleep 0.1; done"""


def examples(page):
    """Return the commands in the EXAMPLES of a page, continued lines joined."""
    section = re.search(r"^\.SH EXAMPLES\n(.*?)^\.SH", page, re.M | re.S)
    if not section:
        return []
    found = "".join(re.findall(r"^\.nf\n(.*?)^\.fi", section[1], re.M | re.S))
    found = found.replace("\\-", "-").replace("\\e\n", " ")
    return [" ".join(line.split()) for line in found.splitlines()]


def option_forms(text):
    """Return the forms of options at the start of a line of --help: {'-d', '--device', …}."""
    found = set()
    for line in text.splitlines():
        head = re.match(r"  (-\w)?(?:, |    )?(--[\w-]+)?(?: |$)", line)
        if head:
            found |= {form for form in head.groups() if form}
    return found


def page_forms(text):
    """Return the forms in the headings of a manual page's paragraphs."""
    text = text.replace("\\-", "-")
    found = set()
    for line in re.findall(r"^\.TP\n(\.B.*)", text, re.M):
        found |= set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", line))
    return found


def version_of(path, *names):
    """Return 'MAJOR.MINOR' from the definitions in a header."""
    text = (TOP / path).read_text(encoding="utf-8")
    return ".".join(re.search(rf"#define {name}\s+(\d+)", text)[1] for name in names)


class Installed(unittest.TestCase):
    """All of bin/."""

    @classmethod
    def setUpClass(cls):
        cls.prefix = prefix()
        cls.programs = {path.name.removeprefix("pumice-"): path
                        for path in (cls.prefix.path / "bin").iterdir()}
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = holder.name

    def call(self, name, *arguments):
        """Run a program; (status, standard output, standard error)."""
        done = self.prefix.run([self.programs[name], *arguments], cwd=self.folder)
        return done.returncode, done.stdout, done.stderr

    def options(self, name):
        """Return the forms of a program's options."""
        return option_forms(self.call(name, "--help")[1])


class Programs(Installed):
    """Command lines."""

    def refuses(self, words, name, *arguments):
        """Check that the program ends with status 2 and one line that has the words."""
        status, output, error = self.call(name, *arguments)
        self.assertEqual((status, output), (2, ""), error)
        self.assertTrue(error.startswith(f"pumice-{name}: {words}"), error)
        self.assertTrue(error.endswith(f" (see pumice-{name} --help)\n"), error)
        self.assertEqual(error.count("\n"), 1, error)

    def test_tools_and_demos_are_installed(self):
        self.assertEqual(len([name for name in self.programs if name.startswith("demo-")]), 17)
        self.assertEqual({name for name in self.programs if not name.startswith("demo-")},
                         {"as", "decode", "dis", "dump", "frame", "info", "run", "shares", "strict",
                          "top", "trace"})

    def test_help_is_printed_to_standard_output(self):
        for name in sorted(self.programs):
            with self.subTest(program=name):
                status, output, error = self.call(name, "--help")
                self.assertEqual((status, error), (0, ""))
                self.assertTrue(output.startswith(f"usage: pumice-{name} [OPTION]…"), output)
                self.assertLessEqual({"-h", "--help", "-V", "--version"}, option_forms(output))
                self.assertEqual(self.call(name, "-h"), (0, output, ""))
                self.assertLess(max(map(len, output.splitlines())), 90)

    def test_version_has_the_package_and_the_interfaces(self):
        uapi = version_of("uapi/drm/pumice_drm.h", "DRM_PUMICE_VERSION_MAJOR",
                          "DRM_PUMICE_VERSION_MINOR")
        firmware = version_of("hw/fwif.h", "FWIF_VERSION_MAJOR", "FWIF_VERSION_MINOR")
        for name in sorted(self.programs):
            with self.subTest(program=name):
                status, output, error = self.call(name, "--version")
                self.assertEqual((status, error), (0, ""))
                self.assertEqual(output.splitlines()[0], f"pumice-{name} {VERSION}")
                self.assertEqual(self.call(name, "-V"), (0, output, ""))
                if "--device" in self.options(name):
                    self.assertIn(f"\nuapi {uapi}\nfirmware interface {firmware}\n", output)

    def test_device_has_one_description(self):
        texts = set()
        for name in sorted(self.programs):
            with self.subTest(program=name):
                output = self.call(name, "--help")[1]
                found = re.search(r"^  -d.*\n(?: {26}.*\n)*", output, re.M)
                self.assertEqual(bool(found), name not in ("as", "decode", "dis", "dump", "strict"))
                if found and name != "frame":
                    texts.add(found[0])
        self.assertEqual(len(texts), 1, texts)

    def test_unknown_options_are_refused(self):
        for name in sorted(self.programs):
            with self.subTest(program=name):
                self.refuses("there is no option '--wheel'; accepted: -", name, "--wheel")
                self.refuses("there is no option '-W'; accepted: -", name, "-W")

    def test_abbreviated_options_are_refused(self):
        """getopt_long() accepts any unambiguous beginning of a name."""
        for name in sorted(self.programs):
            forms = self.options(name)
            for form in sorted(forms):
                short = form[:-1]
                if not form.startswith("--") or short in forms:
                    continue
                for words in ([short], [f"{short}=1"], [short, "1"]):
                    with self.subTest(program=name, words=words):
                        self.refuses(f"there is no option '{words[0]}'; accepted: -", name, *words)

    def test_unknown_words_are_refused(self):
        for name in sorted(self.programs):
            with self.subTest(program=name):
                words = TOO_MANY.get(name, 1)
                if name != "decode" and words:
                    self.refuses("unexpected word 'teapot'; ", name, *["-"] * (words - 1), "teapot")

    def test_other_mistakes_are_refused(self):
        for name, arguments, words in REFUSED:
            with self.subTest(program=name, arguments=arguments):
                self.refuses(words, name, *arguments)

    def test_a_device_that_does_not_exist_is_reported(self):
        for name in sorted(self.programs):
            with self.subTest(program=name):
                if "--device" not in self.options(name):
                    continue
                devices = [("tea", "no device is named 'tea'"), ("inproc:tea=1", "inproc: ")]
                if name != "frame":
                    devices.append(("drm:/nonexistent", "/nonexistent: No such file"))
                for device, words in devices:
                    for option in ([f"-d{device}"], ["--device", device]):
                        status, output, error = self.call(name, *option, *NEEDED.get(name, []))
                        self.assertEqual((status, output), (1, ""), error)
                        self.assertTrue(error.startswith(f"pumice-{name}: {words}"), error)

    def test_the_lost_output_of_help_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([self.programs["top"], "--help"], stdout=full, text=True,
                                  stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "pumice-top: standard output: No space left on device\n"))


class Pages(Installed):
    """Manual pages."""

    def page(self, name):
        """Return the text of a program's page; of a demo its part, and the part about all demos."""
        path = self.prefix.path / f"share/man/man1/pumice-{name}.1"
        text = path.read_text(encoding="utf-8")
        if not name.startswith("demo-"):
            return text
        own = re.search(rf"^\.SS pumice-{name}\n(.*?)^\.S", text.replace("\\-", "-"), re.M | re.S)
        return text.partition(".SH DEMOS")[0] + own[1]

    def test_pages_have_the_options_of_help(self):
        for name in sorted(self.programs):
            with self.subTest(program=name):
                self.assertEqual(page_forms(self.page(name)), self.options(name))

    def test_examples_work(self):
        """All in a folder with matmul.pasm, and for each page in their order."""
        ran = set()
        pages = {path.resolve() for path in (self.prefix.path / "share/man/man1").iterdir()}
        self.assertGreater(len(pages), 9)
        for path in sorted(pages):
            with self.subTest(page=path.name):
                commands = examples(path.read_text(encoding="utf-8"))
                self.assertTrue(commands, "no EXAMPLES")
                ran |= set(commands)
                self.run_examples([c for c in commands if c not in GUEST_EXAMPLES])
        self.assertEqual(set(GUEST_EXAMPLES) - ran, set())
        guest = IN_GUEST.read_text(encoding="utf-8")
        for command, reason in GUEST_EXAMPLES.items():
            self.assertTrue(reason or f"example {command}\n" in guest, command)

    def run_examples(self, commands):
        """Run them in one shell; each that is not started in the background succeeds."""
        with tempfile.TemporaryDirectory(prefix="pumice-page-") as folder:
            shutil.copy(TOP / "userspace/demos/matmul.pasm", folder)
            environment = {**self.prefix.environment, "XDG_RUNTIME_DIR": folder,
                           "PATH": f"{self.prefix.path}/bin:{self.prefix.environment['PATH']}"}
            # Background jobs that remain at the end are killed.
            script = "\n".join(["set -e", "trap 'kill $(jobs -p) 2>/dev/null || :' EXIT", *[
                line + UNTIL_OBSERVABLE * line.endswith("&") for line in commands]])
            done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, text=True,
                                  check=False, capture_output=True, timeout=600)
            self.assertEqual(done.returncode, 0, f"{commands}\n{done.stdout}\n{done.stderr}")

    def test_numbered_disassembly(self):
        """pumice-dis --numbered names each instruction's number, address and line, and assembles.
        """
        shutil.copy(TOP / "userspace/demos/matmul.pasm", self.folder)
        self.assertEqual(self.call("as", "matmul.pasm")[0], 0)
        status, numbered, error = self.call("dis", "--numbered", "matmul.pbin")
        self.assertEqual((status, error), (0, ""))
        self.assertEqual(self.call("dis", "-n", "matmul.pbin"), (0, numbered, ""))
        plain = self.call("dis", "matmul.pbin")[1]
        code = [line.split(";")[0].rstrip() for line in numbered.splitlines() if " ; " in line]
        notes = re.findall(r" ; +(\d+) +(?:0x)?([0-9a-f]+) +(\S+):(\d+)", numbered)
        self.assertGreater(len(notes), 20, numbered)
        self.assertEqual(len(notes), len(code))
        source = (TOP / "userspace/demos/matmul.pasm").read_text(encoding="utf-8").splitlines()
        for text, (number, address, name, line) in zip(code, notes):
            self.assertEqual((int(address, 16), name), (16 * int(number), "matmul.pasm"))
            # The operation of the line; a directive's instructions have other names.
            words = source[int(line) - 1].split(";")[0].split()
            if not words[0].startswith("."):
                self.assertEqual(text.split()[0].split(".")[0], words[0].split(".")[0])
        (pathlib.Path(self.folder) / "again.pasm").write_text(numbered, encoding="utf-8")
        self.assertEqual(self.call("as", "again.pasm")[0], 0)
        self.assertEqual(self.call("dis", "again.pbin"), (0, plain, ""))

    def test_groff_has_no_warnings(self):
        folder = self.prefix.path / "share/man"
        pages = sorted(page.relative_to(folder) for page in folder.glob("man*/*"))
        self.assertGreater(len(pages), 100)
        # Requests .so are relative to the folder of man1 to man7. Option -I would name it, but
        # groff 1.23 then runs grn, which Debian's groff-base does not have.
        done = self.prefix.run(["groff", "-man", "-ww", "-z", "-Tutf8", "-k", *pages],
                               cwd=folder)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
