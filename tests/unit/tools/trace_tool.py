#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
pumice-trace and pumice-top on the GPU in a running process:
trace_tool.py PUMICE-TRACE PUMICE-TOP OBSERVED PUMICE-RUN

Files are checked by trace_check.py. The socket's packets are written here a second time, so
that requests and replies that neither side would send are tested. Output: TAP.
"""
import contextlib
import json
import os
import pty
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import time

from observe import (CLOSE, EBADF, EBUSY, EINVAL, EOPNOTSUPP, GROUPS, HELLO, HIERARCHY, LIMIT, MAGIC,
                     OBSERVED, OPEN, PEERS, READ, RECORD, RECORDS, RUN, SOON, STATS, STATS_BYTES, TOP,
                     TRACE, Observed, connect, first_reply, is_awaiting_process, is_sleeping,
                     pending, process_status, request, run, start, stopped, wait_until)
from tap import main, test
from trace_check import TraceError, load

HERE = os.path.dirname(os.path.abspath(__file__))
def slices(events, process):
    """Return the begins of slices in a process."""
    return [e for e in events if e["ph"] == "B" and e["pid"] == process]


@test
def a_running_process_is_traced_until_it_ends():
    observed = Observed()
    with start(TRACE, "-d", f"pid:{observed.pid}", "-o", "t.json") as tool:
        assert "recording" in tool.stderr.readline()
        observed.dispatch(4)
        observed.end()
        _, err = tool.communicate(timeout=LIMIT)
        assert tool.returncode == 0, err
    events, processes, tracks = load("t.json")
    jobs = slices(events, 3)
    assert len(jobs) == 4, jobs
    assert all(e["name"].startswith(f"observed ({observed.pid}), context ") for e in jobs), jobs
    assert [e["args"]["job"] for e in jobs] == [1, 2, 3, 4], jobs
    groups = [e for e in events if e["ph"] == "B" and e["name"].startswith("group ")]
    assert len(groups) == 4 * GROUPS, len(groups)
    assert {e["args"]["job"] for e in groups} == {1, 2, 3, 4}
    assert all(processes[e["pid"]].startswith("USC ") for e in groups)
    starts = [e for e in events if e["pid"] == 2 and e["name"] == "job start"]
    assert len(starts) == 4 and tracks[2, starts[0]["tid"]] == "scheduling", starts
    assert starts[0]["args"]["process"] == f"observed ({observed.pid})"


@test
def statistics_of_a_running_process_are_shown():
    observed = Observed()
    observed.dispatch(5)
    status, out, err = run(TOP, "-d", f"pid:{observed.pid}", "-b", "-n", "2", "-i", "0.05")
    assert status == 0 and len(out.splitlines()) == 2 and "compute" in out, (out, err)
    with connect(observed.path) as peer:
        error, _, data = request(peer, STATS)
        assert error == 0 and len(data) >= 100 and any(data), (error, data)
    observed.end()
    assert not os.path.exists(observed.path)


COUNTED = "attach=1,cores=1,threads=1,ram=64,mode=counted"


@test
def rows_of_counts_are_those_of_the_registers():
    observed = Observed(COUNTED)
    observed.dispatch()
    with connect(observed.path) as peer:
        rows = [request(peer, HIERARCHY, row) for row in (0, 0x100, 0xff, 0xffffffff)]
    assert all((error, len(data)) == (0, 16 * 8) for error, _, data in rows), rows
    assert [any(data) for _, _, data in rows[1:]] == [True, False, False], rows
    observed.end()


@test
def top_shows_hit_rates_of_clients_and_bytes_of_levels():
    observed = Observed(COUNTED)
    with start(TOP, "-d", f"pid:{observed.pid}", "-b", "-n", "2", "-i", "0.5", "-c") as tool:
        while tool.poll() is None:
            observed.dispatch()
        out, err = tool.communicate(timeout=LIMIT)
    assert tool.returncode == 0, err
    lines = [line.split() for line in out.splitlines()]
    rows = {line[0]: line for line in lines if line}
    assert [line[0] for line in lines if line].count("client") == 2, out
    assert int(rows["cdm-stream"][1]) > 0 and rows["cdm-stream"][5] == "-", out
    assert rows["slc"][3].endswith("%") and int(rows["slc"][4]) > 0, out
    observed.end()


@test
def top_reports_that_nothing_is_counted():
    observed = Observed()
    observed.dispatch()
    status, out, err = run(TOP, "-d", f"pid:{observed.pid}", "-n", "1", "-i", "0.05", "--counted")
    assert status == 0 and "no requests to the memory hierarchy" in out, (out, err)
    observed.end()


@test
def counts_of_a_running_process_are_traced():
    observed = Observed(COUNTED)
    with start(TRACE, "-d", f"pid:{observed.pid}", "-o", "c.json", "-t", "1", "-c") as tool:
        assert "recording" in tool.stderr.readline()
        while tool.poll() is None:
            observed.dispatch()
        _, err = tool.communicate(timeout=LIMIT)
    assert tool.returncode == 0 and "--counted" not in err, err
    events, processes, _ = load("c.json")
    samples = [e for e in events if processes[e["pid"]] == "memory hierarchy" and e["ph"] == "C"]
    names = {e["name"] for e in samples}
    assert {"slc read, bytes/s", "slc hits, %", "fw-read hits of the SLC, %"} & names, names
    assert all(e["args"]["value"] <= 100 for e in samples if e["name"].endswith("%")), samples
    times = [e["ts"] for e in samples if e["name"] == "slc read, bytes/s"]
    jobs = [e["ts"] for e in slices(events, 3)]
    assert len(times) > 2 and times == sorted(times) and len(set(times)) == len(times), times
    assert jobs[0] <= times[0] <= jobs[-1] + 1e6, (jobs[0], times[0], jobs[-1])
    observed.end()


@test
def a_trace_without_counts_is_reported():
    observed = Observed()
    observed.dispatch()
    status, _, err = run(TRACE, "-d", f"pid:{observed.pid}", "-o", "c.json", "-t", "1", "-c")
    assert status == 0 and "--counted: no requests to the memory hierarchy" in err, err
    observed.end()


@test
def top_refuses_a_gpu_of_its_own():
    status, out, err = run(TOP, "-d", "inproc:cores=1,threads=0,ram=64", "-n", "1")
    assert (status, out) == (1, "") and err.endswith(
        "a GPU inside pumice-top has no other users: observe that of a process (-d pid:PID) or of "
        "the kernel driver (-d drm)\n"), err


@test
def a_device_without_the_key_has_no_socket():
    observed = Observed("cores=1,threads=0,ram=64")
    assert observed.said == "ready\n"
    assert not [name for name in os.listdir(".") if name.startswith(f"pumice-{observed.pid}")]
    for tool in (TRACE, TOP):
        status, _, err = run(tool, "-d", f"pid:{observed.pid}")
        assert status == 1 and "attach=1" in err, err
    observed.end()


@test
def a_device_without_threads_is_observed():
    observed = Observed("attach=1,cores=1,threads=0,ram=64")
    with connect(observed.path) as peer:
        assert request(peer, OPEN, 4096)[0] == 0
        observed.dispatch()
        error, lost, data = request(peer, READ, RECORDS)
        assert error == 0 and lost == 0 and data and len(data) % RECORD == 0
        kinds = [data[at + 8] for at in range(0, len(data), RECORD)]
        assert kinds.count(4) == GROUPS and kinds.count(5) == GROUPS, kinds
    observed.end()


@test
def names_that_are_not_processes_are_refused():
    for name in ("pid", "pid:", "pid:0", "pid:x", "pid:1x", "pid:1/", "pid:1/16", "pid:-1",
                 "pid:99999999999", "pid:1/4294967296", "pid:1/18446744073709551616"):
        status, _, err = run(TOP, "-d", name, "-n", "1")
        assert status == 1 and "pid:PID" in err, (name, err)
    status, _, err = run(TRACE, "-d", "inproc")
    assert status == 1 and "pid:PID" in err, err


@test
def wrong_requests_are_refused():
    observed = Observed()
    with connect(observed.path) as peer:
        assert request(peer, READ, 1)[0] == -EBADF
        for op in (0, 8, 0xffffffff):
            assert request(peer, op)[0] == -EOPNOTSUPP
        for entries in (0, 1, 3, 1 << 21, 0xffffffff):
            assert request(peer, OPEN, entries)[0] == -EINVAL, entries
        assert request(peer, OPEN, 2)[0] == 0
        assert request(peer, OPEN, 2)[0] == -EBUSY
        for count in (RECORDS + 1, 0xffffffff):
            assert request(peer, READ, count)[0] == -EINVAL, count
        assert len(request(peer, HELLO)[2]) == 192
    for packet in (b"x", b"\0" * 16, struct.pack("<4I", MAGIC, STATS, 0, 1),
                   struct.pack("<4I", MAGIC ^ 1, STATS, 0, 0),
                   struct.pack("<4I", MAGIC, STATS, 0, 0)[:15],
                   struct.pack("<4I", MAGIC, STATS, 0, 0) + b"\0", b"\xff" * 60000):
        with connect(observed.path) as peer:
            peer.send(packet)
            try:
                assert peer.recv(64) == b"", packet[:20]
            except ConnectionError:
                pass
    # The traces of the peers above are closed: another one opens.
    with connect(observed.path) as peer:
        assert request(peer, OPEN, 64)[0] == 0
    observed.dispatch()
    observed.end()


@test
def an_overwritten_ring_counts_lost_records():
    observed = Observed()
    with connect(observed.path) as peer:
        assert request(peer, OPEN, 2)[0] == 0
        observed.dispatch(3)
        error, lost, data = request(peer, READ, RECORDS)
        assert error == 0 and lost >= 3 * 2 * GROUPS and len(data) <= 2 * RECORD, (lost, data)
    observed.end()


@test
def the_rest_of_a_trace_is_read_when_the_device_is_closed():
    observed = Observed()
    with connect(observed.path) as peer:
        assert request(peer, OPEN, 4096)[0] == 0
        observed.dispatch(4)
        observed.process.stdin.close()
        # The socket's name is removed first; the device is being closed from then on.
        while os.path.exists(observed.path):
            assert observed.process.poll() is None
        kinds = []
        while True:
            error, lost, data = request(peer, READ, 1)
            assert error == 0 and lost == 0
            if not data:
                break
            kinds.append(data[8])
        assert kinds.count(2) == 4 and kinds.count(5) == 4 * GROUPS, kinds
    observed.end()


def hello(pid, clock=1000000000, version=2):
    """Return the data of a reply to HELLO."""
    info = b"inproc".ljust(16, b"\0") + bytes(8) + b"f" * 32 + bytes(56) + \
        struct.pack("<Q", clock)
    return struct.pack("<2I", version, pid) + b"n" * 64 + info


@contextlib.contextmanager
def pretend(pid=os.getpid()):
    """Pretend to be a process with a GPU: the socket on which its peers connect."""
    path = f"pumice-{pid}.0"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        try:
            listener.listen(1)
            listener.settimeout(LIMIT)
            yield listener
        finally:
            os.unlink(path)


def serve(replies, pid=os.getpid(), before=None, limits=None, tool=None):
    """
    Pretend to be a process with a GPU, with these replies; return the tool's result. before is
    called with the tool between a request and its reply.
    """
    with pretend(pid) as listener:
        command = tool or [TRACE, "-o", "fake.json"]
        with start(*(limits or []), *command, "-d", f"pid:{pid}") as tool:
            peer, _ = listener.accept()
            with peer:
                for reply in replies:
                    if not peer.recv(64):
                        break
                    if before:
                        before(tool)
                    peer.send(reply)
            _, err = tool.communicate(timeout=LIMIT)
    return tool.returncode, err


def good(data=b"", lost=0, error=0):
    """Return a reply."""
    return struct.pack("<IiQ", MAGIC, error, lost) + data


@test
def wrong_replies_are_refused():
    pid = os.getpid()
    for reply in (b"x", good()[:15], good(hello(pid)[:-1]), good(hello(pid) + b"\0"),
                  good(hello(pid + 1)), good(hello(pid, clock=0)), good(hello(pid, version=1)),
                  good(hello(pid), error=7), good(error=-5000), b"\0" * 160, b"\xff" * 60000):
        status, err = serve([reply])
        assert status == 1 and "Protocol error" in err, (reply[:40], err)
    for reply in (good(bytes(RECORD - 1)), good(bytes(RECORD * (RECORDS + 1)))):
        status, err = serve([good(hello(pid)), good(), reply])
        assert status == 1 and "Protocol error" in err, err
        load("fake.json")
    # An error that is the size of the statistics is not their size.
    for reply in (good(), good(bytes(STATS_BYTES - 1)), good(bytes(STATS_BYTES + 1)),
                  good(error=STATS_BYTES)):
        status, err = serve([good(hello(pid)), reply], tool=[TOP, "-n", "1"])
        assert status == 1 and "Protocol error" in err, (reply, err)


def record(time, kind, arg0=0, arg1=0, usc=0, phase=0, dm=0):
    """Return a record of the trace."""
    return struct.pack("<QIIQQ", time, kind | usc << 16 | phase << 24 | dm << 26, 7, arg0, arg1)


@test
def a_process_with_a_former_library_has_no_counts():
    # It has the same version of the interface, but not the request.
    for tool, replies in ((TRACE, [good()]), (TOP, [good(bytes(STATS_BYTES))])):
        former = [good(hello(os.getpid())), *replies, good(error=-EOPNOTSUPP)]
        options = ["-o", "fake.json"] if tool == TRACE else ["-n", "1"]
        status, err = serve(former, tool=[tool, "-c", *options])
        assert status == 1 and "a libpumice without them; it needs version 0.5" in err, err


@test
def events_before_the_end_of_the_process_are_kept():
    # More than one read of the tool's: the second request of a read has no reply.
    records = [record(1000 * n, 8, n) for n in range(300)]
    status, err = serve([good(hello(os.getpid())), good(), good(b"".join(records[:RECORDS])),
                         good(b"".join(records[RECORDS:]))])
    assert status == 0 and "300 events of the GPU, 0 lost" in err, err
    events, _, _ = load("fake.json")
    assert [e["args"]["value"] for e in events if e["ph"] == "C"] == list(range(1, 301))


@test
def a_signal_during_a_request_loses_no_event():
    replies = [good(hello(os.getpid())), good(), good(record(1000, 8) * 10)]
    state = {"replies": 0}

    def interrupt(tool):
        state["replies"] += 1
        if state["replies"] == 3:
            wait_until(lambda: is_sleeping(tool.pid))
            tool.send_signal(signal.SIGINT)
            # It has been delivered, and the tool waits for the reply again.
            wait_until(lambda: not pending(tool.pid) and is_sleeping(tool.pid))

    status, err = serve(replies, before=interrupt)
    assert status == 0 and "10 events of the GPU, 0 lost" in err, err


@test
def a_process_that_does_not_reply_is_a_failure():
    pid = os.getpid()
    with pretend() as listener:
        with start(TRACE, "-d", f"pid:{pid}", "-o", "silent.json") as tool:
            peer, _ = listener.accept()
            with peer:
                for reply in (good(hello(pid)), good(), good(record(1000, 8))):
                    peer.recv(64)
                    peer.send(reply)
                _, err = tool.communicate(timeout=LIMIT)
    assert tool.returncode == 1 and "does not reply" in err and "1 events of the GPU" in err, err
    load("silent.json")


@test
def slices_end_where_events_were_lost():
    first = record(1000, 1) + record(2000, 8) * 5
    second = record(5000, 8) + record(6000, 1) + record(7000, 2)
    status, err = serve([good(hello(os.getpid())), good(), good(first), good(second, lost=9)])
    assert status == 0 and "9 events of the GPU" in err and " 9 lost" in err, err
    events, _, _ = load("fake.json")
    ends = [(e["ts"], e["args"]["detail"]) for e in events if e["ph"] == "E"]
    assert ends == [(5.0, "lost events"), (7.0, "done")], ends
    marks = [e["ts"] for e in events if e["ph"] == "i" and e["name"] == "lost events"]
    assert marks == [5.0], marks


def limit_memory(tool, mib):
    """Return the command before a tool that limits its memory."""
    with open(tool, "rb") as file:
        if b"__asan_init" not in file.read():
            return ["prlimit", f"--as={mib << 20}"]
    # ASan reserves more than any limit of the address space.
    options = f"max_allocation_size_mb={mib // 3}:allocator_may_return_null=1"
    return ["env", f"ASAN_OPTIONS={options}"]


@test
def events_without_memory_are_reported_as_lost():
    parts = [good(record(1000 * n, 31) * RECORDS) for n in range(2500)]
    status, err = serve([good(hello(os.getpid())), good()] + parts,
                        limits=limit_memory(TRACE, 48))
    assert status == 0 and "were not stored" in err and "640000 events of the GPU" in err, err
    events, _, _ = load("fake.json")
    dropped = int(err.split(" events at the end were not stored")[0].split()[-1])
    lost = [e["args"]["events"] for e in events if e["name"] == "lost events"]
    assert lost == [dropped] and 0 < dropped < 640000, (lost, dropped)


@test
def an_existing_trace_is_kept_if_none_is_recorded():
    with open("kept.json", "w", encoding="ascii") as file:
        file.write("{}")
    for device in ("inproc", f"pid:{os.getpid()}", "pid:x"):
        status, _, err = run(TRACE, "-d", device, "-o", "kept.json")
        assert status == 1, err
        with open("kept.json", encoding="ascii") as file:
            assert file.read() == "{}", device


@test
def a_device_is_opened_while_observers_are_idle():
    observed = Observed()
    peers = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(20)]
    for peer in peers:
        peer.setblocking(False)
        try:
            peer.connect(observed.path)
        except BlockingIOError:
            pass
    observed.command("open")
    observed.dispatch()
    for peer in peers:
        peer.close()
    # It notices that the others have left.
    wait_until(lambda: first_reply(observed.path) == 0)
    observed.end()


@test
def devices_opened_at_once_have_sockets_of_their_own():
    for _ in range(5):
        observed = Observed("attach=1,cores=1,threads=0,ram=64", devices=6)
        for path in observed.paths:
            with connect(path) as peer:
                assert request(peer, HELLO)[0] == 0
        status, out, err = run(TOP, "-d", f"pid:{observed.pid}/5", "-n", "1", "-i", "0.01")
        assert status == 0 and "compute" in out, err
        observed.end()
        assert not any(os.path.exists(path) for path in observed.paths)


@test
def observers_are_served_together_and_further_ones_refused():
    observed = Observed()
    peers = [connect(observed.path) for _ in range(PEERS)]
    assert [request(peer, STATS)[0] for peer in peers] == [0] * PEERS
    assert request(peers[1], OPEN, 64)[0] == 0
    for peer in (peers[0], peers[2]):
        assert request(peer, OPEN, 64)[0] == -EBUSY
        assert request(peer, READ, 1)[0] == -EBADF
        assert request(peer, CLOSE)[0] == 0
    assert request(peers[1], READ, 1)[0] == 0
    # The process waits 100 ms for the request of a further one, which is there when it accepts
    # that.
    with stopped(observed):
        further = connect(observed.path)
        further.send(struct.pack("<4I", MAGIC, HELLO, 0, 0))
    with further as peer:
        assert struct.unpack("<IiQ", peer.recv(64)) == (MAGIC, -EBUSY, 0)
    status, err = serve([good(error=-EBUSY)], tool=[TOP, "-n", "1"])
    assert status == 1 and "as many observers" in err, err
    peers[1].close()
    wait_until(lambda: request(peers[0], OPEN, 64)[0] == 0)
    status, _, err = run(TRACE, "-d", f"pid:{observed.pid}", "-t", "1")
    assert status == 1 and "has another trace" in err, err
    for peer in peers:
        peer.close()
    observed.end()


@test
def signals_are_left_to_the_program():
    observed = Observed("attach=1,cores=1,threads=1,ram=64,fw-gdb=" + os.path.abspath("gdb"))
    threads = os.listdir(f"/proc/{observed.pid}/task")
    assert len(threads) >= 4, threads
    for thread in threads:
        with open(f"/proc/{observed.pid}/task/{thread}/status", encoding="ascii") as file:
            blocked = int(file.read().split("SigBlk:")[1].split()[0], 16)
        wanted = 0 if int(thread) == observed.pid else 1 << signal.SIGTERM - 1
        assert blocked & 1 << signal.SIGTERM - 1 == wanted, thread
    observed.end()


@test
def only_the_process_itself_is_trusted():
    # This process listens in the name of another one.
    observed = Observed("cores=1,threads=0,ram=64")
    status, err = serve([good(hello(observed.pid))], pid=observed.pid)
    assert status == 1 and "to another process" in err, err
    observed.end()


@test
def a_folder_that_others_can_write_to_is_refused():
    observed = Observed()
    os.chmod(".", 0o777)
    status, _, err = run(TOP, "-d", f"pid:{observed.pid}", "-n", "1")
    assert status == 1 and "only this user can write" in err, err
    refused = Observed()
    assert refused.said == "" and "only this user can write" in refused.process.stderr.read()
    os.chmod(".", 0o700)
    refused.end(1)
    observed.end()


@test
def sockets_belong_to_the_user():
    former = os.umask(0)
    observed = Observed("attach=1,cores=1,threads=1,ram=64,fw-gdb=" + os.path.abspath("gdb"))
    os.umask(former)
    for path in (observed.path, "gdb"):
        assert os.stat(path).st_mode & 0o777 == 0o600, path
    observed.end()


@test
def peers_of_other_users_are_refused():
    if os.geteuid():
        print("# as root only: another user is needed")
        return
    observed = Observed()
    os.chmod(".", 0o755)
    os.chmod(observed.path, 0o666)
    child = os.fork()
    if not child:
        # A process of another user: its status is 0 if it has no reply.
        os.setuid(65534)
        served = 9
        try:
            with connect(observed.path) as peer:
                served = 0
                served = request(peer, HELLO)[0] == 0
        except (ConnectionError, struct.error):
            pass
        finally:
            os._exit(int(served))
    assert os.waitpid(child, 0)[1] == 0
    os.chmod(".", 0o700)
    observed.end()


@test
def sockets_of_processes_that_were_killed_are_removed():
    killed = Observed()
    killed.process.kill()
    killed.process.wait(LIMIT)
    assert os.path.exists(killed.path)
    with open(killed.path + "x", "w", encoding="ascii"):
        pass
    observed = Observed()
    assert not os.path.exists(killed.path) and os.path.exists(killed.path + "x")
    observed.end()
    killed.end(-signal.SIGKILL)


@contextlib.contextmanager
def child_of(observed):
    """Start a child that outlives its parent."""
    observed.command("fork")
    with open(f"/proc/{observed.pid}/task/{observed.pid}/children", encoding="ascii") as file:
        child = int(file.read())
    try:
        yield child
    finally:
        os.kill(child, signal.SIGKILL)


@test
def children_leave_the_socket_to_their_parent():
    for line in ("child exits", "child closes"):
        observed = Observed("attach=1,cores=1,threads=0,ram=64")
        with connect(observed.path) as peer:
            assert request(peer, OPEN, 64)[0] == 0
            observed.command(line)
            assert os.path.exists(observed.path), line
            observed.dispatch()
            assert request(peer, READ, 1)[2], line
        assert first_reply(observed.path) == 0, line
        observed.end()


@test
def peers_notice_the_end_of_a_process_whose_child_lives():
    for line, status in (("exit", 0), (None, -signal.SIGKILL)):
        observed = Observed()
        with connect(observed.path) as peer, child_of(observed):
            assert request(peer, HELLO)[0] == 0
            if line:
                observed.send(line)
            else:
                observed.process.kill()
            observed.process.wait(LIMIT)
            assert peer.recv(64) == b"", status
            # A name without a process that listens is recognised as one of a dead process.
            assert os.path.exists(observed.path) == bool(status), status
            _, _, err = run(TOP, "-d", f"pid:{observed.pid}", "-n", "1")
            assert "does not exist" in err, err
            another = Observed()
            assert not os.path.exists(observed.path), status
            another.end()
        observed.end(status)


@test
def peers_notice_the_end_of_a_device_that_a_child_saw_being_closed():
    observed = Observed(devices=2)
    with connect(observed.paths[0]) as first, connect(observed.paths[1]) as second:
        for peer in (first, second):
            assert request(peer, OPEN, 64)[0] == 0
        observed.command("close")
        # The name of one of them is removed, and its thread waits for the peer.
        wait_until(lambda: not all(map(os.path.exists, observed.paths)))
        peer = second if os.path.exists(observed.path) else first
        with child_of(observed):
            assert request(peer, CLOSE)[0] == 0
            peer.settimeout(SOON)
            assert peer.recv(64) == b""
    observed.end()


@test
def a_process_that_exits_removes_its_sockets():
    observed = Observed(devices=3)
    assert all(map(os.path.exists, observed.paths))
    observed.send("exit")
    assert observed.process.wait(LIMIT) == 0, observed.process.stderr.read()
    assert not any(map(os.path.exists, observed.paths))
    observed.end()


@test
def a_device_works_without_a_file_descriptor_for_the_socket():
    works = []
    for files in range(4, 8):
        observed = Observed("attach=1,cores=1,threads=0,ram=64", files=files)
        if observed.said == "ready\n":
            observed.dispatch()
            observed.end()
            works.append(len(observed.reported))
        else:
            observed.end(observed.process.wait(LIMIT))
    # With the fewest that the rest of the device needs there is no socket; with more there is one.
    assert works and works[0] == 1 and works[-1] == 0 and max(works) == 1, works


def sleeps(pid):
    """Return how often the threads of a process have slept."""
    count = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/status", encoding="ascii") as file:
            count += int(file.read().split("voluntary_ctxt_switches:\t")[1].split("\n")[0])
    return count


@test
def an_observer_waits_for_a_free_file_descriptor():
    observed = Observed("attach=1,cores=1,threads=0,ram=64")
    limits = resource.prlimit(observed.pid, resource.RLIMIT_NOFILE)
    used = set(map(int, os.listdir(f"/proc/{observed.pid}/fd")))
    free = min(set(range(len(used) + 1)) - used)
    resource.prlimit(observed.pid, resource.RLIMIT_NOFILE, (free, limits[1]))
    with connect(observed.path) as peer:
        # The thread does not accept, and sleeps between its attempts.
        before = sleeps(observed.pid)
        wait_until(lambda: sleeps(observed.pid) >= before + 4, SOON)
        observed.dispatch()
        resource.prlimit(observed.pid, resource.RLIMIT_NOFILE, limits)
        assert request(peer, HELLO)[0] == 0
    observed.end()
    assert len(observed.reported) == 1 and "Too many open files" in observed.reported[0], \
        observed.reported


@test
def a_device_is_closed_although_an_observer_does_not_read_its_trace():
    silent, busy = Observed(), Observed()
    with connect(silent.path) as one, connect(busy.path) as other:
        for peer in (one, other):
            assert request(peer, OPEN, 4096)[0] == 0
        for observed in (silent, busy):
            observed.dispatch()
            observed.process.stdin.close()
        # One peer requests nothing, the other all but its trace.
        end = time.monotonic() + SOON
        try:
            while time.monotonic() < end:
                assert request(other, STATS)[0] == 0
        except (ConnectionError, struct.error):
            pass
        assert busy.process.wait(SOON) == 0 and silent.process.wait(SOON) == 0
    silent.end()
    busy.end()


@test
def a_peer_that_does_not_read_its_replies_is_disconnected():
    observed = Observed("attach=1,cores=1,threads=0,ram=64")
    with connect(observed.path) as greedy:
        greedy.settimeout(SOON)
        # Replies fill its queue, then requests that of the process.
        try:
            while True:
                greedy.send(struct.pack("<4I", MAGIC, STATS, 0, 0))
        except ConnectionError:
            pass
        assert first_reply(observed.path) == 0
    observed.end()


@test
def texts_of_the_process_control_no_terminal():
    evil = hello(os.getpid()).replace(b"f" * 32, b"\x1b[31m" + b"\x9b" * 27)
    master, terminal = pty.openpty()
    with pretend() as listener:
        with subprocess.Popen([TOP, "-d", f"pid:{os.getpid()}", "-n", "1", "-i", "0.01"],
                              stdout=terminal,
                              env=dict(os.environ, XDG_RUNTIME_DIR=os.getcwd())) as tool:
            peer, _ = listener.accept()
            with peer:
                for data in (evil, bytes(STATS_BYTES), struct.pack("<Q", 1000000) +
                             bytes(STATS_BYTES - 8)):
                    peer.recv(64)
                    peer.send(good(data))
                assert tool.wait(LIMIT) == 0
    os.close(terminal)
    out = os.read(master, 65536)
    os.close(master)
    assert b"firmware ?[31m????" in out and b"\x9b" not in out, out


BEGIN, END = 1, 2
PLACE = 3 | 5 << 32     # column and row of a tile
# Pairs of records (kind, usc, arg0, arg1 of the begin and of the end) of slot 1: process, track,
# name, and the values of the begin and of the end.
SLICES = [
    ((10, 2, 7, 0, 99), "core 2", "VDM chunks", "chunk 7", {}, {"primitives": 99}),
    ((11, 2, 0, 40, 41), "core 2", "TA", "bin", {"primitives": 40}, {"primitives": 41}),
    ((11, 2, 1, 42, 43), "core 2", "TA", "cull", {"primitives": 42}, {"primitives": 43}),
    ((11, 2, 2, 0, 0), "core 2", "TA", "headers", {}, {}),
    ((13, 2, PLACE, 0, 800), "core 2", "tile, slot 1", "tile 3,5", {}, {"pixels": 800}),
    ((14, 2, PLACE, 0, 17), "core 2", "ISP, slot 1", "ISP 3,5", {}, {"primitives": 17}),
    ((15, 2, 0, 31, 31), "core 2", "spans, slot 1", "objects", {"spans": 31}, {"spans": 31}),
    ((15, 2, 1, 32, 32), "core 2", "spans, slot 1", "background", {"spans": 32}, {"spans": 32}),
    ((15, 2, 2, 1, 1), "core 2", "spans, slot 1", "end-of-tile", {"spans": 1}, {"spans": 1}),
    ((18, 2, PLACE, 0, 1), "core 2", "PBE, slot 1", "PBE 3,5", {}, {}),
    ((19, 0, 0x1000, 5, 5), "data masters", "commands (PTLA)", "downscale", {}, {}),
    ((16, 6, 4, 2, 0), "USC 6", "USC 6 / 0", "fragments", {"waves": 2}, {}),
]
# Records (kind, usc, arg0, arg1) of events without an end: process, track or None of a counter, name,
# value.
INSTANTS = [
    ((12, 0, 0, 9), "PM", None, "pages in use", {"value": 1}),
    ((12, 0, 0, 9), "PM", None, "pages in use", {"value": 2}),
    ((12, 0, 3, 1 | 9 << 32), "PM", None, "pages in use", {"value": 1}),
    ((12, 0, 3, 0 | 9 << 32), "PM", "PM", "free", {"detail": "macro tile 9"}),
    ((12, 0, 1, 9), "PM", "PM", "empty", {"of": 9}),
    ((12, 0, 2, 0x5000), "PM", "PM", "low", {"of": 0x5000}),
    ((12, 0, 4, 64), "PM", "PM", "grow", {"of": 64}),
    ((17, 6, 1234, 0), "USC 6", None, "TAG reads, pdm", {"value": 1234}),
    ((17, 6, 1235, 1), "USC 6", None, "TAG reads, pdm, iterators", {"value": 1235}),
    ((9, 6, 5, 0), "data masters", None, "tasks when full", {"value": 5}),
    ((8, 0, 0, 0), "MMU", None, "table walks", {"value": 1}),
    ((6, 0, 0x5000, 4 | 5 << 8), "MMU", "faults and invalidations", "fault mmu-pd-invalid",
     {"detail": "0x5000 by usc-data, MMU context 0"}),
]


@test
def each_kind_of_event_is_on_its_track():
    records, now = b"", 0
    for kind, unit, arg0, *args in [row[0] for row in SLICES + INSTANTS]:
        for phase, arg1 in zip((BEGIN, END) if len(args) == 2 else (0,), args):
            now += 1000
            # Slot 1, data master 2: bits 31:28 and 27:26 of the word.
            records += struct.pack("<QIIQQ", now, kind | unit << 16 | phase << 24 | 2 << 26 |
                                   1 << 28, 7, arg0, arg1)
    status, err = serve([good(hello(os.getpid())), good(), good(records)])
    assert status == 0, err
    events, processes, tracks = load("fake.json")
    now = 0
    for _, process, track, name, begin, end in SLICES:
        for phase, values in (("B", begin), ("E", end)):
            now += 1
            found = [e for e in events if e["ph"] == phase and e["ts"] == now]
            assert len(found) == 1, (track, name, phase, found)
            where = processes[found[0]["pid"]], tracks[found[0]["pid"], found[0]["tid"]]
            assert where == (process, track), (where, name)
            assert phase == "E" or found[0]["name"] == name, (found, name)
            rest = {k: v for k, v in found[0]["args"].items()
                    if v and k not in ("detail", "context", "process")}
            assert rest == values, (rest, name)
    for _, process, track, name, values in INSTANTS:
        now += 1
        found = [e for e in events if e.get("ts") == now and e["name"] == name and
                 e["ph"] == ("i" if track else "C")]
        assert len(found) == 1 and processes[found[0]["pid"]] == process, (name, found)
        assert not track or tracks[found[0]["pid"], found[0]["tid"]] == track, (name, found)
        assert values.items() <= found[0]["args"].items(), (name, found)


@test
def an_observer_waits_for_a_process_that_starts():
    pid = os.getpid()
    for observer in (TRACE, TOP):
        with start(observer, "-d", f"pid:{pid}") as tool:
            # It has found no socket.
            wait_until(lambda tool=tool: tool.poll() is not None or is_awaiting_process(tool.pid))
            assert tool.poll() is None, tool.stderr.read()
            with pretend() as listener:
                peer, _ = listener.accept()
                with peer:
                    assert peer.recv(64)
                    peer.send(good(hello(pid)))
                _, err = tool.communicate(timeout=LIMIT)
            # The connection ends after that.
            assert tool.returncode == 1 and "has ended" in err, err


@test
def an_observer_does_not_wait_for_a_process_that_has_ended():
    with subprocess.Popen(["sleep", "1000"]) as process:
        with start(TOP, "-d", f"pid:{process.pid}") as tool:
            wait_until(lambda: tool.poll() is not None or is_awaiting_process(tool.pid))
            process.kill()
            # A zombie from now on. A tool that sleeps is in poll(), and must not return to connect.
            wait_until(lambda: process_status(process.pid, "State").startswith("Z"))
            wait_until(lambda: tool.poll() is not None or is_sleeping(tool.pid))
            with pretend(process.pid) as listener:
                _, err = tool.communicate(timeout=LIMIT)
                assert not select.select([listener], [], [], 0)[0], "it has connected"
            assert tool.returncode == 1 and f"process {process.pid} " in err, err


def trace_command(*command, text="\n\n", **env):
    """Trace a command that runs two jobs: (status, standard error)."""
    done = subprocess.run([TRACE, "-o", "c.json", *command], input=text, capture_output=True,
                          text=True, timeout=LIMIT, check=False,
                          env=dict(os.environ, XDG_RUNTIME_DIR=os.getcwd(), **env))
    return done.returncode, done.stderr


@test
def a_command_is_traced_from_its_first_job_on():
    device = "inproc:cores=1,threads=0,ram=64"
    for command, env in ((["-d", device, OBSERVED], {}), ([OBSERVED], {"PUMICE_DEVICE": device}),
                         (["-d", device, "sh", "-c", f"exec {OBSERVED}"], {})):
        status, err = trace_command(*command, **env)
        assert status == 0 and " 0 lost" in err, err
        events, _, _ = load("c.json")
        jobs = slices(events, 3)
        assert [e["args"]["job"] for e in jobs] == [1, 2], jobs
        assert all(e["name"].startswith("observed (") for e in jobs), jobs
        groups = [e for e in events if e["ph"] == "B" and e["name"].startswith("group ")]
        assert len(groups) == 2 * GROUPS, len(groups)
        created = [e for e in events if e["ph"] == "i" and e["name"] == "context new"]
        assert len(created) == 1, created


@test
def a_command_without_a_gpu_of_its_own_is_reported():
    device = "inproc:cores=1,threads=0,ram=64"
    for command, expected in (("true", 1), ("exit 3", 3), (f"{OBSERVED}; exit 4", 4)):
        status, err = trace_command("-d", device, "-o", "nothing.json", "sh", "-c", command)
        assert status == expected and "sh: it opened no GPU in its own process" in err, err
        assert "nothing was recorded; nothing.json was not written" in err, err
        assert not os.path.exists("nothing.json")
        with open("earlier.json", "w", encoding="ascii") as file:
            file.write("{}")
        assert trace_command("-d", device, "-o", "earlier.json", "sh", "-c", command)[0] == expected
        with open("earlier.json", encoding="ascii") as file:
            assert file.read() == "{}"


@test
def a_command_is_traced_without_a_folder_of_the_session():
    env = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
    for command in (f"exec {OBSERVED}", f"exec {OBSERVED} & wait; kill -9 $$"):
        done = subprocess.run([TRACE, "-o", "s.json", "-d", "inproc:cores=1,threads=0,ram=64", "sh",
                               "-c", f"echo \"$XDG_RUNTIME_DIR\"; {command}"], input="\n\n",
                              capture_output=True, text=True, timeout=LIMIT, check=False, env=env)
        if "kill" not in command:
            assert done.returncode == 0 and " 0 lost" in done.stderr, done.stderr
            assert len(slices(load("s.json")[0], 3)) == 2
        # Others in /tmp may be of another program.
        folder = done.stdout.splitlines()[0]
        assert folder.startswith("/tmp/pumice-trace-") and not os.path.exists(folder), folder
    done = subprocess.run([TRACE, "-d", "pid:1"], capture_output=True, text=True, timeout=LIMIT,
                          check=False, env=env)
    assert "write to: it is not set; set it as in process 1, in both to the same folder of mode " \
        "0700" in done.stderr, done
    env["PUMICE_DEVICE"] = "inproc:threads=0,ram=64,attach=1"
    done = subprocess.run([OBSERVED], input="\n\n", capture_output=True, text=True, timeout=LIMIT,
                          check=False, env=env)
    assert done.returncode and "write to: it is not set; set it to a folder of mode 0700" in \
        done.stderr, done


@test
def a_long_name_of_a_process_is_whole():
    name = "a-program-whose-name-is-longer-than-a-thread's"
    shutil.copy(OBSERVED, name)
    status, err = trace_command("-d", "inproc:cores=1,threads=0,ram=64", "./" + name)
    assert status == 0, err
    assert all(e["name"].startswith(name + " (") for e in slices(load("c.json")[0], 3))


@test
def a_trace_of_some_seconds_reports_its_duration():
    observed = Observed()
    status, _, err = run(TRACE, "-d", f"pid:{observed.pid}", "-t", "1", "-o", "t.json")
    assert status == 0 and "recording for 1 s\n" in err and "interrupted" not in err, err
    observed.end()


@test
def a_command_that_does_not_exist_is_reported_once():
    for words in (("-d", "inproc:cores=1,ram=64", "nosuchcmd"), ("-d", "inproc", "./nosuchcmd")):
        done = subprocess.run([TRACE, "-o", "none.json", *words], capture_output=True, text=True,
                              timeout=LIMIT, check=False,
                              env=dict(os.environ, XDG_RUNTIME_DIR=os.getcwd()))
        assert done.stderr == f"pumice-trace: {words[-1]}: no such program\n", done.stderr
        assert done.returncode == 127 and not os.path.exists("none.json"), done


@test
def a_process_is_not_delayed_forever():
    done = subprocess.run(["sh", "-c", f"PUMICE_ATTACH_WAIT=$$ exec {OBSERVED}"], input="\n",
                          capture_output=True, text=True, timeout=LIMIT, check=False,
                          env=dict(os.environ, XDG_RUNTIME_DIR=os.getcwd(),
                                   PUMICE_DEVICE="inproc:cores=1,threads=0,ram=64"))
    assert done.returncode == 0 and done.stdout == "ready\ndone\n", done
    assert "no trace was opened within" in done.stderr, done.stderr


@test
def damaged_records_select_no_track():
    records = b""
    # Every kind, with the largest units, slots, phases and arguments, and with none.
    for kind in range(256):
        for low, arg in ((0, 0), (0xffffff, (1 << 64) - 1), (0xf1ffff, 5), (0x010000, 1 << 32)):
            records += struct.pack("<QIIQQ", kind * 1000, kind | low << 8, 7, arg,
                                   (1 << 48) - 1 if arg else 0)
    parts = [records[at:at + RECORD * RECORDS] for at in range(0, len(records),
                                                               RECORD * RECORDS)]
    status, err = serve([good(hello(os.getpid())), good()] +
                        [good(part, lost=n) for n, part in enumerate(parts)])
    assert status == 0, err
    events, _, _ = load("fake.json")
    assert all(e["args"].get("process", "").startswith("n" * 63 + " (")
               for e in slices(events, 3)), slices(events, 3)
    assert max(e["pid"] for e in events) < 10 + 16 + 64


@test
def a_run_traces_its_own_gpu():
    with open("run.json", "w") as file:
        file.write("{" * (1 << 22))     # longer than the trace, which replaces it
    status, _, err = run(RUN, "--device", "inproc:cores=2,threads=0,ram=64", "--groups", "4",
                         "--repeat", "2", "--trace", "run.json", "--arg", "buf:f32:zero:256",
                         "--arg", "inout:f32:zero:256", "--arg", "u32:256", "--arg", "f32:1",
                         os.path.join(HERE, "saxpy.pasm"))
    assert status == 0, err
    events, _, _ = load("run.json")
    assert len([e for e in events if e["ph"] == "B" and e["name"].startswith("group ")]) == 8
    assert all(e["name"].startswith("pumice-run (") for e in slices(events, 3))


@test
def the_check_reports_each_broken_rule():
    name = {"ph": "M", "pid": 1, "tid": 0, "args": {"name": "n"}}
    names = [dict(name, name="process_name"), dict(name, name="thread_name")]
    begin = {"ph": "B", "pid": 1, "tid": 0, "ts": 2.0, "name": "b"}
    end = {"ph": "E", "pid": 1, "tid": 0, "ts": 3.0}
    job = {"ph": "b", "pid": 1, "tid": 0, "ts": 2.0, "name": "j", "cat": "c", "id": "1"}

    def broken(events):
        with open("broken.json", "w", encoding="ascii") as file:
            json.dump({"traceEvents": events}, file)
        try:
            load("broken.json")
        except TraceError:
            return True
        return False

    assert not broken(names + [begin, end, job, dict(job, ph="e")])
    for events in ([begin], [end], [begin, begin, end], [begin, dict(end, ts=1.0)],
                   [begin, dict(end, ph="X")], [dict(begin, tid=1), dict(end, tid=1)],
                   [dict(begin, pid=2), dict(end, pid=2)], [dict(begin, ts=-1), end],
                   [job], [job, job], [job, dict(job, ph="e", ts=1.0)], [names[0]],
                   [dict(begin, args={"process": "without id"}), end]):
        assert broken(names + events), events


if __name__ == "__main__":
    main()
