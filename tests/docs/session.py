# SPDX-License-Identifier: MIT
"""A copy of the work tree, a shell in it, and the guest that `make shell` starts there."""

import fcntl
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import sources  # noqa: E402  # pylint: disable=wrong-import-position

BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
# Variables of make and of the checks; a user's shell has none of them.
NOT_USERS = ("BUILD", "OUT", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "TESTS", "WERROR",
             "CORES", "THREADS", "GDB", "TOOLS", "PUMICE_QEMU", "PUMICE_FIRMWARE", "PUMICE_DEVICE",
             "KERNELS", "QEMU_SRC", "QEMU_VERSION", "DESTDIR", "PREFIX")
COMMAND_LIMIT = 900     # seconds, for a machine that is busy with other work
PROMPT = re.compile(rb"guest:[^\r\n]*# ")
GDB_PROMPT = re.compile(rb"\(gdb\) ")
STATUS = re.compile(rb"@@(\d+)\r*\n")      # the console adds another CR


def documents(folder):
    """Return the names of a tree's documents, without a developer's notes that are not in git."""
    return [name for name in sources.tracked(folder) if name.endswith((".md", ".rst"))
            and not name.startswith("Documentation/reference/")]


def copy_tree(folder):
    """
    Copy the sources, without results, and link the results of BUILD into it.

    Times are kept, so that make takes the results as up to date. Files that the commands write
    or build anew are not linked: the module, and the folders in which guests leave their files.
    """
    for name in sources.files(TOP):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TOP / name, target, follow_symlinks=False)
    build = folder / "build"
    build.mkdir()
    for entry in BUILD.iterdir():
        if entry.name in ("module", "guest"):
            (build / entry.name).mkdir()
            for item in entry.iterdir():
                if item.name in ("stock.ko", "stock.cpio", "programs.cpio"):
                    shutil.copy2(item, build / entry.name / item.name)
        elif entry.name.startswith((".set-", ".new-")):
            shutil.copy2(entry, build / entry.name)
        else:
            (build / entry.name).symlink_to(entry)


def environment(folder):
    """Return the environment of a user's shell, which has XDG_RUNTIME_DIR at least in folder."""
    kept = {name: value for name, value in os.environ.items() if name not in NOT_USERS}
    return {"XDG_RUNTIME_DIR": str(folder), **kept}


class Program:
    """A process with which one talks line by line; ended with everything that it started."""

    def __init__(self, command, folder, variables):
        self.master, slave = pty.openpty()
        # Nothing is shown page by page.
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 10000, 0, 0, 0))
        self.log = b""
        self.process = subprocess.Popen(command, cwd=folder, env=variables, stdin=slave,
                                        stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)

    def wait_for(self, pattern, limit):
        """Read until the pattern; return (text before it, match)."""
        deadline, seen = time.monotonic() + limit, b""
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self.master], [], [], 0.2)
            if ready:
                try:
                    data = os.read(self.master, 65536)
                except OSError:
                    data = b""
                if not data:
                    raise AssertionError(f"ended after: {seen.decode(errors='replace')[-3000:]}")
                seen += data
                self.log += data
            match = pattern.search(seen)
            if match:
                return seen[:match.start()], match
        raise AssertionError(f"no {pattern.pattern} within {limit} s after: "
                             f"{seen.decode(errors='replace')[-3000:]}")

    def send(self, text):
        """Type a line."""
        os.write(self.master, text.encode() + b"\n")

    def run(self, command):
        """Type a command; return (output, status)."""
        self.start(command)
        return self.run_on()

    def start(self, command):
        """Type a command whose output and status run_on() awaits."""
        self.send(f"{command}\necho @@$?")

    def run_on(self):
        """Wait for the end of the command that start() typed; return (output, status)."""
        output, match = self.wait_for(STATUS, COMMAND_LIMIT)
        return output.decode(errors="replace").replace("\r", ""), int(match[1])

    def close(self):
        """End the process group."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGHUP)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        os.close(self.master)


class Session:
    """
    A user with three terminals: a shell in the tree, the guest once it was started, and GDB.

    While GDB has let the guest continue, a command of the guest is started only: it may reach a
    breakpoint. GDB's next command waits for that, and the end of GDB for the guest's command.
    """

    def __init__(self, folder, variables):
        self.folder = folder
        self.variables = variables
        self.shell = Program(["bash", "--norc", "--noprofile"], folder,
                             {**variables, "PS1": "", "TERM": "dumb"})
        self.shell.run("stty -echo; bind 'set enable-bracketed-paste off' 2>/dev/null")
        self.guest = self.gdb = None
        self.gdb_runs = self.guest_runs = False

    def run(self, command):
        """Run a command in the tree; make shell starts the guest."""
        if command.split()[:2] == ["make", "shell"]:
            self.guest = Program(shlex.split(command), self.folder, self.variables)
            output, _ = self.guest.wait_for(PROMPT, COMMAND_LIMIT)
            return output.decode(errors="replace"), 0
        return self.shell.run(command)

    def run_in_guest(self, command):
        """Type a command at the guest's prompt."""
        if not self.gdb_runs:
            return self.guest.run(command)
        self.guest.start(command)
        self.guest_runs = True
        return "", 0

    def wait_for_gdb(self):
        """Wait for GDB's prompt; return the output before it."""
        return self.gdb.wait_for(GDB_PROMPT, COMMAND_LIMIT)[0].decode(errors="replace")

    def start_gdb(self, command):
        """Start GDB in the tree; return its output."""
        self.gdb = Program(["bash", "-c", f"exec {command}"], self.folder,
                           {**self.variables, "TERM": "dumb", "DEBUGINFOD_URLS": ""})
        output = self.wait_for_gdb()
        for setting in ("set pagination off", "set confirm off", "set width 0"):
            self.gdb.send(setting)
            self.wait_for_gdb()
        return output

    def end_gdb(self):
        """Wait for its end, and for that of the guest's command; return (output, status)."""
        status = self.gdb.process.wait(COMMAND_LIMIT)
        self.gdb.close()
        self.gdb = None
        if not self.guest_runs:
            return "", status
        self.guest_runs = False
        output, guest_status = self.guest.run_on()
        return output, status or guest_status

    def run_in_gdb(self, command):
        """Start GDB, or type a command at its prompt; return (output, status)."""
        if not command.startswith("(gdb) "):
            return self.start_gdb(command), 0
        command = command.removeprefix("(gdb) ")
        output = self.wait_for_gdb() if self.gdb_runs else ""
        self.gdb_runs = command == "continue"
        self.gdb.send(command)
        if self.gdb_runs:
            return output, 0
        if command == "quit":
            return self.end_gdb()
        return output + self.wait_for_gdb(), 0

    def close(self):
        """Leave the guest as a user does; end all."""
        if self.gdb:
            self.gdb.close()
        if self.guest:
            self.guest.send("exit")
            try:
                self.guest.process.wait(60)
            except subprocess.TimeoutExpired:
                pass
            self.guest.close()
        self.shell.close()
