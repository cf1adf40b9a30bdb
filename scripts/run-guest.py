#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boot a guest with the GPU, run a job in it, collect what it leaves.

    run-guest.py NAME --kernel DIR --image CPIO… (--job SCRIPT | --shell) [options]

The job is a shell script; it runs in /host, which is out/guest/NAME on this
machine and holds, after the guest has ended: job.log (its output), dmesg, status,
what a debug kernel found (kmemleak, lockdep_stats), and what the job wrote itself.
The guest's console is in out/logs/NAME-console.log. With --shell it is this terminal, and
reload.py reaches the guest through out/guest/NAME.control.

The exit status is the job's; 124 after a timeout, 125 when the guest died or
its kernel reported a fault of its own (unless --kernel-faults=allow): see
kernel_faults.py.
"""

import argparse
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import kernel_faults

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
OUT = pathlib.Path(os.environ.get("OUT", TOP / "out"))
CACHE = pathlib.Path(os.environ.get("PUMICE_CACHE")
                     or pathlib.Path(os.environ.get("XDG_CACHE_HOME")
                                     or pathlib.Path.home() / ".cache") / "pumice")
FIRMWARE_FOLDERS = ["/usr/share/seabios", "/usr/share/qemu"]
TIMED_OUT, DIED = 124, 125
# The release of a debug kernel has this suffix (scripts/kernel/debug.config).
# It needs more memory, and must report every fault rather than only the first.
DEBUG_RELEASE = "-debug"
DEBUG_WORDS = ["kasan_multi_shot"]
# No kernel may mistake a busy machine for a stuck processor. The test mode of system sleep
# waits in steps of one millisecond without yielding: where the guest's processor does not
# run, each step is longer, and 4 s were 26 s on a busy machine. Limits in seconds; a soft
# lockup is reported after twice watchdog_thresh.
BUSY_WORDS = ["workqueue.watchdog_thresh=120", "watchdog_thresh=60",
              "rcupdate.rcu_cpu_stall_timeout=120"]
MEMORY, DEBUG_MEMORY = "1G", "2G"
# The panic of a kernel that executes a breakpoint which it has already removed from its own
# code. Without KVM, processors are threads of QEMU. When one of them modifies code, QEMU
# drops the translation of the page and then stores: another one that translates the page in
# between keeps the old code, here the breakpoint with which Linux patches code. Most patching
# happens while Linux boots. No code of ours runs by then, so such a guest is booted again.
STALE_BREAKPOINT = re.compile(r"\bint3: 0000 \[#")
ACCELERATORS = {"kvm": "kvm", "tcg": "tcg,thread=multi", "counted": "tcg,thread=single"}
# Linux clears the features of the boot processor for a moment while it boots. A timer interrupt
# in that moment makes KASAN believe that page tables have four levels: with five, every access
# is reported, and the guest never finishes its boot. Emulated processors have four levels.
CPUS = {"kvm": "host", "tcg": "max,la57=off", "counted": "max,la57=off"}
# A debug kernel boots in about one minute on two busy processors.
BOOT_SECONDS = 300


def fail(what, way_out):
    """Exit with one line for the failure and one for the remedy."""
    sys.exit(f"error: {what}\n       {way_out}")


class Guest:
    """One guest: its folders, its QEMU, its end."""

    def __init__(self, options):
        self.options = options
        self.share = OUT / "guest" / options.name
        self.console = OUT / "logs" / f"{options.name}-console.log"
        # Control port of a guest with a shell: see reload.py.
        self.control = OUT / "guest" / f"{options.name}.control"
        self.initrd = BUILD / "guest" / f"{options.name}.initrd"
        self.lock = None
        self.process = None
        self.shown = 0
        self.limit = options.timeout
        release = pathlib.Path(options.kernel) / "release"
        self.debug = release.exists() and release.read_text().strip().endswith(DEBUG_RELEASE)

    def prepare(self):
        """Acquire the name's lock, create the share, join the images."""
        for folder in (self.share.parent, self.console.parent, self.initrd.parent):
            folder.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.share.parent / f"{self.options.name}.lock", "w", encoding="ascii")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.fill_share()
        with open(self.initrd, "wb") as joined:
            for image in self.options.image:
                with open(image, "rb") as part:
                    shutil.copyfileobj(part, joined)

    def fill_share(self):
        """Create a share that contains only the job."""
        shutil.rmtree(self.share, ignore_errors=True)
        self.share.mkdir()
        for path in self.options.put:
            shutil.copy(path, self.share)
        if self.options.job:
            shutil.copy(self.options.job, self.share / "job")

    def command(self, accelerator):
        """Return QEMU's command line."""
        options = self.options
        words = ["console=ttyS0", "panic=-1", "loglevel=5", "oops=panic", "no_timer_check",
                 "random.trust_cpu=1", "pumice.shell" if options.shell else "",
                 *BUSY_WORDS, *options.append]
        words += DEBUG_WORDS if self.debug else []
        # So that a test can compare what the GPU reports: tests/guest/properties.h.
        words += [f"pumice_device={options.device}"] if options.device else []
        memory = options.memory or (DEBUG_MEMORY if self.debug else MEMORY)
        command = [str(options.qemu), "-nodefaults", "-no-user-config", "-no-reboot",
                   "-M", "q35", "-cpu", CPUS[accelerator],
                   "-accel", ACCELERATORS[accelerator],
                   "-smp", str(1 if options.own_time else options.smp), "-m", memory,
                   "-display", "none", "-vga", "none",
                   "-kernel", f"{options.kernel}/bzImage", "-initrd", str(self.initrd),
                   "-append", " ".join(word for word in words if word),
                   "-fsdev", f"local,id=host,path={self.share},security_model=none",
                   "-device", "pcie-root-port,id=port0,chassis=1,slot=1",
                   # The share keeps its state when the guest sleeps.
                   "-device", "pcie-root-port,id=port1,chassis=2,slot=2",
                   "-device", "virtio-9p-pci,fsdev=host,mount_tag=host,bus=port1,"
                              "x-pcie-pm-no-soft-reset=on"]
        for folder in FIRMWARE_FOLDERS:
            command += ["-L", folder]
        if options.shell:
            command += ["-serial", "mon:stdio",
                        "-serial", f"unix:{self.control},server=on,wait=off"]
        else:
            command += ["-serial", f"file:{self.console}"]
        if options.own_time:
            command += ["-icount", "shift=0,sleep=off"]
        if options.device:
            command += ["-device", f"{options.device},bus=port0"]
        for word in options.qemu_option:
            command += word.split()
        return command

    def show_new_output(self):
        """Copy what the job has printed since the last call."""
        log = self.share / "job.log"
        if not self.options.show or not log.exists():
            return
        with open(log, "rb") as stream:
            stream.seek(self.shown)
            data = stream.read()
        self.shown += len(data)
        sys.stdout.buffer.write(data)
        sys.stdout.flush()

    def stop(self):
        """End QEMU, by its own process id."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def run(self, accelerator):
        """Boot and wait. Returns the job's status, TIMED_OUT or DIED."""
        errors = OUT / "logs" / f"{self.options.name}-qemu.log"
        started = time.monotonic()
        with open(errors, "wb") as stderr:
            own = self.options.shell
            self.process = subprocess.Popen(self.command(accelerator),
                                            stdin=None if own else subprocess.DEVNULL,
                                            stdout=None if own else stderr,
                                            stderr=stderr)
        if self.options.shell:
            return self.process.wait()
        try:
            while self.process.poll() is None:
                self.show_new_output()
                self.limit = min(self.options.timeout, self.options.timeout if self.job_began()
                                 else self.options.boot_timeout)
                if time.monotonic() > started + self.limit:
                    return TIMED_OUT
                time.sleep(0.02)
        finally:
            self.stop()
        self.show_new_output()
        if self.process.returncode != 0 or not (self.share / "status").exists():
            return DIED
        return int((self.share / "status").read_text())

    def job_began(self):
        """Return whether the guest has booted: its init creates the job's log."""
        return (self.share / "job.log").exists()

    def died_at_boot(self):
        """Return whether a stale breakpoint ended the guest before its job began."""
        return (self.console.exists() and not self.job_began() and
                STALE_BREAKPOINT.search(self.console.read_text(errors="replace")))

    def run_or_boot_again(self, accelerator):
        """Run the guest as run(); once more if QEMU's translation of patched code was stale."""
        status = self.run(accelerator)
        if status != DIED or accelerator == "kvm" or not self.died_at_boot():
            return status
        kept = self.console.with_name(f"{self.options.name}-console-stale.log")
        os.replace(self.console, kept)
        print(f"note: guest {self.options.name} met a breakpoint that its kernel had removed "
              f"(QEMU without KVM); it boots again\n      see {kept}", file=sys.stderr)
        self.fill_share()
        return self.run(accelerator)

    def kernel_faults(self):
        """Return the faults that the guest's kernel reports."""
        lines = []
        for log in (self.console, self.share / "dmesg"):
            if log.exists():
                lines += kernel_faults.in_log(log.read_text(errors="replace"))
        return lines

    def evaluate(self, status):
        """Report the failure and the logs to read; return the exit status."""
        name, logs = self.options.name, f"{self.console} and {self.share}/"
        if status == TIMED_OUT:
            late = "end" if self.job_began() else "boot"
            print(f"error: guest {name} did not {late} within {self.limit} s; it was stopped\n"
                  f"       see {logs}", file=sys.stderr)
        elif status == DIED:
            print(f"error: guest {name} ended without a result "
                  f"(QEMU's status {self.process.returncode})\n"
                  f"       see {logs} and {OUT}/logs/{name}-qemu.log", file=sys.stderr)
        faults = self.kernel_faults()
        if self.debug and status not in (TIMED_OUT, DIED):
            faults += kernel_faults.in_verdict(self.share)
        if faults and self.options.kernel_faults == "fail":
            print(f"error: the kernel in guest {name} reports:", file=sys.stderr)
            for line in faults[:10]:
                print(f"       {line}", file=sys.stderr)
            print(f"       see {logs}", file=sys.stderr)
            return status if status == TIMED_OUT else DIED
        return status


def kvm_works(options):
    """Return whether KVM works here; tested once per boot of this machine."""
    if os.environ.get("PUMICE_ACCEL"):
        return os.environ["PUMICE_ACCEL"] == "kvm"
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    result = CACHE / f"kvm-{boot}"
    if not result.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        job = BUILD / "guest" / "kvm-probe.job"
        job.parent.mkdir(parents=True, exist_ok=True)
        job.write_text("exit 0\n")
        probe = argparse.Namespace(**vars(options))
        probe.name, probe.job, probe.put = "kvm-probe", str(job), []
        probe.timeout, probe.show, probe.device, probe.shell = 30, False, None, False
        guest = Guest(probe)
        guest.prepare()
        # Another guest may start now: it must not read an incomplete file.
        new = result.with_name(f"{result.name}.{os.getpid()}")
        new.write_text("yes" if guest.run("kvm") == 0 else "no", encoding="ascii")
        os.replace(new, result)
    return result.read_text() == "yes"


def parse():
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--kernel", default=str(BUILD / "kernel/stock"))
    parser.add_argument("--image", action="append", required=True)
    parser.add_argument("--job")
    parser.add_argument("--shell", action="store_true")
    parser.add_argument("--put", action="append", default=[], help="copy a file into the share")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--boot-timeout", type=float, default=BOOT_SECONDS,
                        help="limit until the job begins, part of --timeout")
    parser.add_argument("--show", action="store_true", help="print the job's output as it comes")
    parser.add_argument("--own-time", action="store_true",
                        help="one processor whose clock counts instructions and skips idle time: "
                             "tests of time do not see how busy this machine is, unless they "
                             "wait for it (the share, the GPU)")
    parser.add_argument("--smp", type=int, default=2)
    parser.add_argument("--memory", help=f"default {MEMORY}, with a debug kernel {DEBUG_MEMORY}")
    parser.add_argument("--device", default="pumice,cores=4,threads=2,late=poison",
                        help="default %(default)s, so that programs which do not wait for their "
                             "data fault; '' for a guest without the GPU")
    parser.add_argument("--qemu", default=os.environ.get("PUMICE_QEMU")
                        or str(BUILD / "qemu/qemu-system-x86_64"))
    parser.add_argument("--qemu-option", action="append", default=[])
    parser.add_argument("--append", action="append", default=[], help="kernel command line")
    parser.add_argument("--kernel-faults", choices=["fail", "allow"], default="fail")
    options = parser.parse_args()
    if bool(options.job) == options.shell:
        parser.error("give either --job or --shell")
    return options


def main():
    """Run one guest."""
    options = parse()
    if not os.path.exists(options.qemu):
        fail(f"no {options.qemu}", "make qemu")
    accelerator = "counted" if options.own_time else "kvm" if kvm_works(options) else "tcg"
    guest = Guest(options)
    guest.prepare()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        status = guest.run_or_boot_again(accelerator)
    finally:
        guest.stop()
    sys.exit(status if options.shell else guest.evaluate(status))


if __name__ == "__main__":
    main()
