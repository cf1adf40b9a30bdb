# SPDX-License-Identifier: MIT
"""reload.py, with a thread that takes the guest's place at the control port."""

import contextlib
import io
import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import reload  # noqa: E402

PATIENCE = 60
# Text and numbers around entries of its section .modinfo.
MODULE = (b"\x7fELF\0\xff\0parm=slice_us:Time slice, us\0parmtype=slice_us:uint\0"
          b"parmtype=split_prims:uint\0\n\xfe text of parmtype=no_parameter:uint\0")


class Reload(unittest.TestCase):
    """Files, command, output and status."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        (self.out / "guest").mkdir()
        self.module, self.firmware = self.out / "m.ko", self.out / "f.bin"
        self.module.write_bytes(MODULE)
        self.firmware.write_bytes(b"firmware")
        self.commands, self.tokens = [], []

    def guest(self, *replies):
        """Serve one command: replies are sent with its token; None: silence until the test ends."""
        silence = threading.Event()
        port = socket.socket(socket.AF_UNIX)
        port.bind(str(self.out / "guest/shell.control"))
        port.listen(1)

        def serve():
            peer, _ = port.accept()
            with peer, peer.makefile("r") as lines:
                token, *command = shlex.split(lines.readline())
                self.tokens.append(token)
                self.commands.append(command)
                for reply in replies:
                    if reply is None:
                        silence.wait(PATIENCE)
                    else:
                        peer.sendall(reply.replace(b"TOKEN", token.encode()))

        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(port.close)
        self.addCleanup(thread.join, PATIENCE)
        self.addCleanup(silence.set)

    def reload(self, *arguments):
        """Run the script."""
        return subprocess.run([sys.executable, "-B", str(TOP / "scripts/reload.py"), *arguments],
                              env={**os.environ, "OUT": str(self.out)}, capture_output=True,
                              text=True, check=False, timeout=PATIENCE, cwd=self.out)

    def load(self, *more):
        """Run it as make does."""
        return self.reload("--module", str(self.module), "--firmware", str(self.firmware), *more)

    def test_without_a_guest_it_names_the_command(self):
        done = self.load()
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: no guest named shell runs\n       start it in another terminal: "
                      "make shell", done.stderr)
        self.assertFalse((self.out / "guest/shell").exists())

    def test_a_socket_without_a_guest_is_not_a_guest(self):
        port = socket.socket(socket.AF_UNIX)
        port.bind(str(self.out / "guest/shell.control"))
        port.close()
        self.assertEqual(self.load().returncode, 2)

    def test_the_files_are_in_the_share_and_the_guest_loads_them(self):
        self.guest(b"some lines\r\nstat", b"us TOKEN 0\n")
        done = self.load("--parameters", "slice_us=500 split_prims=3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "some lines\nthe guest runs this tree's driver and firmware\n")
        self.assertEqual(self.commands,
                         [["sh", "-c", "sh /etc/reload slice_us=500 split_prims=3"]])
        folder = self.out / "guest/shell/reload"
        self.assertEqual((folder / "pumice.ko").read_bytes(), MODULE)
        self.assertEqual((folder / "firmware/pumice/pumice_fw.bin").read_bytes(), b"firmware")
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["firmware", "pumice.ko"])

    def test_parameters_that_the_module_does_not_have_are_refused(self):
        for words, name in (("slice=500", "slice"), ("slice_us=500 split_prim=3", "split_prim"),
                            ("slice_uss", "slice_uss"), ("no_parameter=1", "no_parameter"),
                            (".*=1", ".*"), ("slice_us = 500", "")):
            done = self.load("--parameters", words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertEqual(done.stderr, f"error: the driver has no parameter {name}\n"
                                          "       there are: slice_us, split_prims\n")
        self.assertFalse((self.out / "guest/shell").exists())

    def test_parameters_that_are_not_words_are_refused(self):
        for words in ("dyndbg='file pumice_vm.c +p", 'dyndbg="file', "slice_us=500\\"):
            done = self.load("--parameters", words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertEqual(done.stderr, f"error: --parameters {words} ends in a quotation or after a "
                                          "backslash\n       close it: --parameters "
                                          "\"dyndbg='file pumice_vm.c +p'\"\n")
        self.assertFalse((self.out / "guest/shell").exists())

    def load_parameters(self, words):
        """Load with parameters; return the arguments of the guest's /etc/reload."""
        self.guest(b"status TOKEN 0\n")
        self.assertEqual(self.load("--parameters", words).returncode, 0)
        (self.out / "guest/shell.control").unlink()
        shell, option, command = self.commands[-1]
        self.assertEqual((shell, option), ("sh", "-c"))
        split = subprocess.run(["sh", "-c", f"sh() {{ printf '%s\\0' \"$@\"; }}; {command}"],
                               capture_output=True, text=True, check=True)
        script, *arguments = split.stdout.split("\0")[:-1]
        self.assertEqual(script, "/etc/reload")
        return arguments

    def test_parameters_of_the_module_and_of_every_module_are_accepted(self):
        for words, arguments in (("", []), ("slice-us=500", ["slice-us=500"]),
                                 ("async_probe dyndbg=+p", ["async_probe", "dyndbg=+p"]),
                                 ("slice_us=", ["slice_us="])):
            self.assertEqual(self.load_parameters(words), arguments)

    def test_a_value_with_blanks_is_one_word_in_the_kernel_s_quotation_marks(self):
        for words in ("dyndbg='file a.c +p'", 'dyndbg="file a.c +p"', r"dyndbg=file\ a.c\ +p",
                      """dyndbg='"file a.c +p"'""", "'dyndbg=file a.c +p'"):
            self.assertEqual(self.load_parameters(f"{words} slice_us=5"),
                             ['dyndbg="file a.c +p"', "slice_us=5"], words)
        # Bytes of the second are blanks of the kernel, too: it reads ISO 8859-1.
        for value in ("a\tb", "d\N{LATIN SMALL LETTER A WITH GRAVE}"):
            self.assertEqual(self.load_parameters(f"dyndbg='{value}'"), [f'dyndbg="{value}"'])

    def test_a_value_is_not_a_command_of_the_guest_s_shell(self):
        self.assertEqual(self.load_parameters("slice_us=5;id split_prims=$(id) dyndbg='$HOME it'"),
                         ["slice_us=5;id", "split_prims=$(id)", 'dyndbg="$HOME it"'])

    def test_insmod_passes_the_words_to_the_kernel_as_they_are(self):
        """The guest's insmod is BusyBox's; strace prevents its calls and prints their arguments.

        BusyBox calls init_module() if finit_module() fails.
        """
        words = self.load_parameters("dyndbg='file a.c +p' slice_us=5")
        calls = "finit_module,init_module"
        done = subprocess.run(["strace", "-e", f"trace={calls}",
                               "-e", f"inject={calls}:error=EEXIST",
                               "busybox", "insmod", str(self.module), *words],
                              capture_output=True, text=True, check=False, timeout=PATIENCE)
        made = re.findall(r"^f?init_module\(.*", done.stderr, re.M)
        self.assertTrue(made, done.stderr)
        for call in made:
            self.assertRegex(call, r', "dyndbg=\\"file a.c \+p\\" slice_us=5 "[,)].*\(INJECTED\)$')
        self.assertRegex(done.stderr, "insmod: can't insert .*: File exists")

    def test_values_that_the_kernel_cannot_read_are_refused(self):
        for words in ("""dyndbg='format "job" +p'""", "dyndbg='\"'", """dyndbg='a"b"'"""):
            done = self.load("--parameters", words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertEqual(done.stderr,
                             "error: the value of dyndbg has a double quotation mark, which the "
                             "kernel cannot read\n"
                             "       dyndbg accepts single ones: format 'job' +p\n")
        self.assertFalse((self.out / "guest/shell").exists())

    def test_the_guest_s_status_is_the_status(self):
        self.guest(b"the driver is in use\nstatus TOKEN 1\n")
        done = self.load()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "the driver is in use\n")

    def test_a_command_of_several_lines_is_refused_and_not_sent(self):
        self.guest(b"status TOKEN 0\n")
        for option in (["--run", "true\nuname"], ["--parameters", "slice_us=1\ntrue"]):
            done = self.load(*option)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"error: {option[0]} has more than one line", done.stderr)
        # The next line is the first one that the guest receives.
        self.assertEqual(self.reload("--run", "true").returncode, 0)
        self.assertEqual(self.commands, [["sh", "-c", "true"]])

    def test_a_guest_of_an_older_tree_is_reported_at_once(self):
        """Guests without tokens run the whole line, whose first word is the token."""
        self.guest(b"sh: TOKEN: not found\nstatus 127\n", None)
        done = self.reload("--run", "uname -a")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("error: the guest is of an older tree\n       start it again: make shell",
                      done.stderr)

    def test_a_guest_of_an_older_tree_runs_no_part_of_a_command(self):
        sent = io.BytesIO()
        port = mock.Mock(sendall=sent.write, makefile=lambda *args, **more: io.StringIO(""))
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            reload.run(port, f"true; touch '{self.out}/file'")
        done = subprocess.run(["sh", "-c", sent.getvalue().decode()], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 127)
        self.assertFalse((self.out / "file").exists())

    def test_a_guest_that_ends_is_an_error(self):
        self.guest(b"some")
        done = self.load()
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: the guest ended", done.stderr)

    def test_a_guest_that_does_not_reply_is_an_error(self):
        self.guest(b"some line\n", None)
        errors = io.StringIO()
        with mock.patch.object(reload, "OUT", self.out), mock.patch.object(reload, "PATIENCE", 0.2), \
                mock.patch("sys.argv", ["reload.py", "--run", "true"]), \
                contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors), \
                self.assertRaises(SystemExit) as ended:
            reload.main()
        self.assertEqual(ended.exception.code, 2)
        self.assertIn("error: the guest does not reply for 0.2 s", errors.getvalue())

    def test_an_interrupted_copy_is_not_loaded(self):
        folder = self.out / "guest/shell/reload"
        folder.mkdir(parents=True)
        (folder / "pumice.ko").write_bytes(b"before")

        def interrupted(_, target):
            pathlib.Path(target).write_bytes(b"mod")
            raise KeyboardInterrupt

        options = mock.Mock(module=self.module, firmware=self.firmware)
        with mock.patch.object(reload, "OUT", self.out), \
                mock.patch("shutil.copyfile", interrupted), self.assertRaises(KeyboardInterrupt):
            reload.place("shell", options)
        self.assertEqual((folder / "pumice.ko").read_bytes(), b"before")

    def test_a_command_is_run(self):
        self.guest(b"a line\nstatus TOKEN 3\n")
        done = self.reload("--run", "uname -a")
        self.assertEqual((done.returncode, done.stdout), (3, "a line\n"))
        self.assertEqual(self.commands, [["sh", "-c", "uname -a"]])

    def test_the_output_of_a_command_is_not_its_status(self):
        self.guest(b"status 0\nstatus of it\n\nno end of line", b"status TOKEN 3\n")
        done = self.reload("--run", "program")
        self.assertEqual((done.returncode, done.stdout),
                         (3, "status 0\nstatus of it\n\nno end of line\n"))

    def test_each_command_has_another_token(self):
        for _ in range(2):
            self.guest(b"status TOKEN 0\n")
            self.assertEqual(self.reload("--run", "true").returncode, 0)
            (self.out / "guest/shell.control").unlink()
        self.assertEqual([len(token) for token in self.tokens], [32, 32])
        self.assertNotEqual(*self.tokens)


if __name__ == "__main__":
    unittest.main()
