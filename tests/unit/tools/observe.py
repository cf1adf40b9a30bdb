# SPDX-License-Identifier: MIT
"""
A process with a GPU that can be observed (observed.c), the packets of its socket, and tools:
for programs whose arguments are PUMICE-TRACE PUMICE-TOP OBSERVED PUMICE-RUN.
"""
import contextlib
import glob
import os
import signal
import socket
import struct
import subprocess
import sys
import time

TRACE, TOP, OBSERVED, RUN = map(os.path.abspath, sys.argv[1:5])
LIMIT = 300
SOON = 60       # seconds, for an event that never happens if it does not happen at once
GROUPS = 3      # of a dispatch of observed.c
MAGIC, HELLO, STATS, TIMESTAMP, OPEN, READ, CLOSE, HIERARCHY = 0x50756d41, 1, 2, 3, 4, 5, 6, 7
RECORD, RECORDS, PEERS, STATS_BYTES = 32, 256, 4, 136
EBADF, EBUSY, EINVAL, EOPNOTSUPP = 9, 16, 22, 95


class Observed:
    """A process with a GPU."""

    def __init__(self, options="attach=1,cores=2,threads=1,ram=64", devices=1, files=None):
        env = dict(os.environ, PUMICE_DEVICE="inproc:" + options, XDG_RUNTIME_DIR=os.getcwd())
        limit = ["prlimit", f"--nofile={files}:64"] if files else []
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([*limit, OBSERVED, str(devices)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
                                        text=True)
        self.pid = self.process.pid
        self.paths = [os.path.abspath(f"pumice-{self.pid}.{n}") for n in range(devices)]
        self.path = self.paths[0]
        self.said = self.process.stdout.readline()
        self.reported = []

    def send(self, line):
        """Send a command: see observed.c."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def command(self, line):
        """Send a command, and wait until it is done."""
        self.send(line)
        assert self.process.stdout.readline() == "done\n"

    def dispatch(self, times=1):
        """Run work."""
        for _ in range(times):
            self.command("")

    def end(self, status=0):
        """Let it end."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        ended = self.process.wait(LIMIT)
        error = self.process.stderr.read()
        assert ended == status, error
        self.reported = [line for line in error.splitlines()
                         if line.startswith("libpumice: attach=1: ")]
        self.process.stdout.close()
        self.process.stderr.close()


def start(tool, *args):
    """Start a tool."""
    # pylint: disable-next=consider-using-with
    return subprocess.Popen([tool, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env=dict(os.environ, XDG_RUNTIME_DIR=os.getcwd()))


def run(tool, *args):
    """Run a tool: (status, standard output, standard error)."""
    with start(tool, *args) as process:
        out, err = process.communicate(timeout=LIMIT)
        return process.returncode, out, err


def connect(path):
    """Connect a peer to the socket; wait while others are in its queue."""
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    peer.connect(path)
    peer.settimeout(LIMIT)
    return peer


def request(peer, op, value=0):
    """Send a request: (error, lost, data)."""
    peer.send(struct.pack("<4I", MAGIC, op, value, 0))
    reply = peer.recv(1 << 16)
    magic, error, lost = struct.unpack("<IiQ", reply[:16])
    assert magic == MAGIC
    return error, lost, reply[16:]


def first_reply(path):
    """Return the error of the reply to a new peer."""
    with connect(path) as peer:
        return request(peer, HELLO)[0]


def wait_until(condition, limit=LIMIT):
    """Wait until a condition is true, which it becomes."""
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@contextlib.contextmanager
def stopped(observed):
    """Stop a process, and let it continue at the end."""
    os.kill(observed.pid, signal.SIGSTOP)
    try:
        # All of its threads have stopped when the parent is notified.
        assert os.WIFSTOPPED(os.waitpid(observed.pid, os.WUNTRACED)[1])
        yield
    finally:
        os.kill(observed.pid, signal.SIGCONT)


def process_status(pid, key):
    """Return a line of /proc/PID/status."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return file.read().split(f"\n{key}:\t")[1].split("\n")[0]


def pending(pid):
    """Return whether a signal has not been delivered yet."""
    return int(process_status(pid, "ShdPnd"), 16) or int(process_status(pid, "SigPnd"), 16)


def is_sleeping(pid):
    """Return whether a process waits."""
    return process_status(pid, "State").startswith("S")


def is_awaiting_process(pid):
    """Return whether a tool waits for the end of a process: it has its descriptor, and sleeps. One
    that only sleeps may still be starting.
    """
    for fd in glob.glob(f"/proc/{pid}/fd/*"):
        with contextlib.suppress(FileNotFoundError):
            if "pidfd" in os.readlink(fd):
                return is_sleeping(pid)
    return False
