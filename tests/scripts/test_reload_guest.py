# SPDX-License-Identifier: MIT
"""
reload.py with the guest's side of the control port: scripts/guest/control, on a terminal as in the
guest of `make shell`.
"""

import os
import pathlib
import pty
import secrets
import select
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import reload  # noqa: E402

PATIENCE = 60
SILENCE = 20    # seconds without output after which a command has failed
ECHO_FLAGS = 3  # in the list of tcgetattr()


class Guest(unittest.TestCase):
    """Commands, their output and their status."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (pathlib.Path(folder.name) / "guest").mkdir()
        self.wire, terminal = pty.openpty()
        self.addCleanup(os.close, self.wire)
        # As scripts/guest/shell-start begins it, with the log of errors discarded.
        control = subprocess.Popen(["sh", TOP / "scripts/guest/control"], stdin=terminal,
                                   stdout=terminal, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        self.addCleanup(control.wait)
        self.addCleanup(control.kill)
        deadline = time.monotonic() + PATIENCE
        while termios.tcgetattr(terminal)[ECHO_FLAGS] & termios.ECHO:
            self.assertLess(time.monotonic(), deadline, "the terminal still echoes")
            time.sleep(0.01)
        os.close(terminal)
        port = socket.socket(socket.AF_UNIX)
        self.addCleanup(port.close)
        port.bind(f"{folder.name}/guest/shell.control")
        port.listen(1)
        for name, value in (("OUT", pathlib.Path(folder.name)), ("PATIENCE", SILENCE)):
            patch = mock.patch.object(reload, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.port = reload.connect("shell")
        peer, _ = port.accept()
        serial = threading.Thread(target=self.transfer, args=(peer,))
        serial.start()
        self.addCleanup(serial.join, PATIENCE)
        self.addCleanup(self.port.close)

    def transfer(self, peer):
        """Transfer bytes between the socket and the terminal, as QEMU's serial port does."""
        ends = {peer.fileno(): self.wire, self.wire: peer.fileno()}
        with peer:
            while True:
                for end in select.select(list(ends), [], [])[0]:
                    data = os.read(end, 4096)
                    if not data:
                        return
                    os.write(ends[end], data)

    def run_command(self, command):
        """Run a command in the guest; return its status and lines."""
        with mock.patch("builtins.print") as printed:
            status = reload.run(self.port, command)
        return status, [call.args[0] for call in printed.call_args_list]

    def test_output_and_status_are_those_of_the_command(self):
        self.assertEqual(self.run_command("echo one; echo two >&2; exit 3"), (3, ["one", "two"]))
        self.assertEqual(self.run_command("true"), (0, []))
        self.assertEqual(self.run_command("false"), (1, []))

    def test_output_without_an_end_of_line_is_complete(self):
        self.assertEqual(self.run_command("printf 'one\\ntwo'; exit 4"), (4, ["one", "two"]))

    def test_output_like_a_status_is_output(self):
        self.assertEqual(self.run_command("echo status 0; printf 'status 1 0'; exit 5"),
                         (5, ["status 0", "status 1 0"]))

    def test_the_command_is_not_changed(self):
        self.assertEqual(self.run_command(r"printf '%s\n' 'a\tb' 'c   d' \"e\" $((1 + 1)) "),
                         (0, [r"a\tb", "c   d", '"e"', "2"]))

    def test_a_command_cannot_read_the_port_or_the_token(self):
        token = "0123456789abcdef" * 2
        with mock.patch.object(secrets, "token_hex", return_value=token):
            status, lines = self.run_command("cat; env; tr '\\0' ' ' </proc/$$/cmdline")
        self.assertEqual(status, 0)
        self.assertIn("/proc/$$/cmdline", lines[-1])
        self.assertNotIn(token, "\n".join(lines))
        self.assertEqual(self.run_command("echo next"), (0, ["next"]))


if __name__ == "__main__":
    unittest.main()
