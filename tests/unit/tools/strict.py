#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
pumice-strict: its output, exit status and messages: strict.py PUMICE-STRICT PUMICE-RUN LEAVER

Output: TAP.
"""
import json
import os
import re
import signal
import subprocess
import sys

from tap import main, test

# Absolute, because the tests run in a folder of their own.
STRICT, RUN, LEAVER = map(os.path.abspath, sys.argv[1:4])
DEVICE = "inproc:cores=1,ram=64,threads=0"

# Each wave loads what the other one stores, without a barrier in between.
RACE = """.group 64, 1, 1
.local 512
.input v0, local_x
        shl.u32 r1, v0, 2
        local_store32 [one], r1, r1
        barrier

        local_store32 [one], r1, r1
        xor.u32 r3, r1, 128
        local_load32 r4, [one], r3
        end
"""


def strict(*args, status=0, device=DEVICE):
    """Run the tool; (standard output, standard error)."""
    done = subprocess.run([STRICT, *args], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "PUMICE_DEVICE": device})
    assert done.returncode == status, f"status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout, done.stderr


def write(name, text):
    """Write a file."""
    with open(name, "w", encoding="ascii") as out:
        out.write(text)


def run_kernel(text, *options, status):
    """Run a kernel in one work-group under the tool; its standard output."""
    write("race.pasm", text)
    return strict(*options, RUN, "race.pasm", "--groups", "1", status=status)[0]


@test
def a_race_is_printed_with_its_place_and_the_other_side():
    out = run_kernel(RACE, status=3)
    expected = (r"1\. local-race, write of local memory, byte 0\n"
                r"   at  race\.pasm:8 instruction 3 of the program at 0x[0-9a-f]+, wave 0, lane 0, "
                r"USC 0, context [0-9]+\n"
                r"   in  job 1 of queue [0-9]+, data master cdm\n"
                r"   other side: read at race\.pasm:10 instruction 5, wave 1, lane 0\n"
                r"   no barrier between the other access and this one\n"
                r"(   detected [0-9]+ times\n)?")
    assert re.match(expected, out), out
    assert out.endswith("\n2 findings\n"), out


@test
def json_has_an_object_in_each_line():
    out = run_kernel(RACE, "--json", status=3)
    finding, second = [json.loads(line) for line in out.splitlines()]
    assert finding["finding"] == "local-race" and finding["source"] == "race.pasm:8", finding
    assert finding["other"]["instruction"] == 5, finding
    assert finding["other_source"] == "race.pasm:10", finding
    assert second["access"] == "read" and second["other"]["access"] == "write", second


@test
def a_name_of_a_file_with_quotes_is_printed():
    name = 'a "b" \\c.pasm'
    write(name, RACE)
    out = strict(RUN, name, "--groups", "1", status=3)[0]
    assert f"   at  {name}:8 instruction 3 of" in out, out
    out = strict("--json", RUN, name, "--groups", "1", status=3)[0]
    assert json.loads(out.splitlines()[0])["source"] == f"{name}:8", out


@test
def a_kernel_without_errors_has_no_finding():
    out = run_kernel(RACE.replace("\n\n", "\n").replace("        xor", "        barrier\n        xor"),
                     status=0)
    assert out.endswith("0 findings\n"), out
    assert run_kernel(".group 64\nend\n", "--json", status=0).count("{") == 0


@test
def the_status_of_a_command_that_fails_is_kept():
    # The job faults, so pumice-run fails; the fault is a finding, too.
    out = run_kernel(".group 64, 1, 1\n.local 64\nmov r1, 64\nlocal_load32 r2, [one], r1\nend\n",
                     status=1)
    assert "1. local-bounds of local memory, byte 64\n" in out, out
    assert "race.pasm:4 instruction 1 " in out and "other side" not in out, out
    out, error = strict("sh", "-c", "exit 7", status=7)
    assert "the command has opened no GPU" in error and not out, out + error


@test
def a_command_that_does_not_close_its_device_has_its_findings():
    out, _ = strict(LEAVER, "exit", status=3)
    assert "leaver.pasm:4" in out and out.endswith("1 finding\n"), out


@test
def findings_of_a_command_that_ends_by_a_signal_are_printed():
    for how, number in (("kill", signal.SIGKILL), ("crash", signal.SIGSEGV)):
        out, error = strict(LEAVER, how, status=128 + number)
        assert "1. local-race, write" in out and out.endswith("1 finding\n"), out
        text = f"ended by signal {int(number)}: {signal.strsignal(number)}"
        assert error == f"pumice-strict: {LEAVER}: {text}\n", error


def end_by(number, how):
    """Send a signal to the tool while its command waits: its status, and the printed findings."""
    def default():
        signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen([STRICT, LEAVER, how], stdout=subprocess.PIPE, text=True,
                          env={**os.environ, "PUMICE_DEVICE": DEVICE}, preexec_fn=default) as tool:
        path = tool.stdout.readline().strip()
        assert os.path.exists(path), path
        tool.send_signal(number)
        out = tool.stdout.read()
    assert not os.path.exists(path), path
    return tool.returncode, out


@test
def findings_are_printed_if_a_signal_ends_the_tool_with_its_command():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        status, out = end_by(number, "wait")
        assert status == -number, status
        assert "1. local-race, write" in out and out.endswith("1 finding\n"), out


@test
def a_command_that_handles_a_signal_keeps_its_status():
    status, out = end_by(signal.SIGTERM, "ignore")
    assert status == 3 and out.endswith("1 finding\n"), (status, out)


@test
def a_signal_after_the_command_ends_the_tool():
    # More findings than a pipe has room for: the tool waits for the reader, which sends the signal
    # when it has read one.
    write("many.json", 1000 * ('{"finding":"' + 1000 * "x" + '"}\n'))
    for number in (signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen([STRICT, "sh", "-c",
                               'echo "$PUMICE_FINDINGS"; cat many.json >>"$PUMICE_FINDINGS"'],
                              stdout=subprocess.PIPE, bufsize=0,
                              preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL)
                              ) as tool:
            path = tool.stdout.readline().decode().strip()
            assert tool.stdout.read(1) == b"1", path
            tool.send_signal(number)
            tool.stdout.read()
        assert tool.returncode == -number, tool.returncode
        assert path.startswith("/tmp/pumice-strict-") and not os.path.exists(path), path


def ignore_ended_processes():
    """Ignore SIGCHLD, but not the signals that a caller such as nohup ignores."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def run_with_ended_processes_ignored(*args):
    """Run the tool as the child of a process that ignores SIGCHLD."""
    return subprocess.run([STRICT, *args], capture_output=True, text=True, timeout=120, check=False,
                          preexec_fn=ignore_ended_processes)


@test
def a_command_of_a_caller_that_ignores_ended_processes_keeps_its_status():
    done = run_with_ended_processes_ignored("sh", "-c", "exit 7")
    assert done.returncode == 7, done


@test
def a_command_has_the_signals_that_its_caller_ignores():
    done = run_with_ended_processes_ignored("grep", "SigIgn", "/proc/self/status")
    ignored = int(done.stdout.split()[1], 16)
    assert ignored >> signal.SIGCHLD - 1 & 1, done
    for number in (signal.SIGHUP, signal.SIGTERM):
        assert not ignored >> number - 1 & 1, done


@test
def the_other_side_of_a_barrier_is_printed():
    out = run_kernel(".group 64, 1, 1\n.local 4\nmov r1, [one], instance\nbrnz more, r1[0]\n"
                     "barrier\nend\nmore:\nbarrier\nend\n", status=3)
    assert re.search(r"1\. unpaired-barrier\n   at  race\.pasm:[58] instruction [24] .*, wave [01],.*\n"
                     r"   in  job 1 of .*\n"
                     r"   other side: at race\.pasm:[58] instruction [24], wave [01]\n", out), out


@test
def the_effect_of_a_register_without_a_value_is_printed():
    out = run_kernel(".group 1, 1, 1\n.local 4\nmov r3, [one], 0\nadd.u32 r1, r2, 0\n\n"
                     "local_store32 [one], r3, r1\nend\n", status=3)
    assert "1. uninitialised, read of r2\n   at  race.pasm:4 instruction 1 " in out, out
    assert "\n   effect: read at race.pasm:6 instruction 2, wave 0, lane 0\n" in out, out


# One finding for each load of a byte without a value, more than the device keeps.
MANY = ".group 1, 1, 1\n.local 4\nmov r1, [one], 0\n" + 300 * "local_load32 r2, [one], r1\n" + "end\n"


@test
def findings_without_room_are_counted():
    out = run_kernel(MANY, status=3)
    assert out.endswith("\n256 findings, and no room for others, detected 44 times\n"), out[-300:]
    out = run_kernel(MANY, "--json", status=3).splitlines()
    assert len(out) == 257 and json.loads(out[256]) == {"lost": 44}, out[-1]
    write("race.pasm", MANY)
    out, _ = strict("sh", "-c", f"for n in 1 2; do '{RUN}' race.pasm --groups 1; done", status=3)
    assert out.endswith("\n512 findings, and no room for others, detected 88 times\n"), out[-300:]


@test
def an_access_after_a_buffer_is_printed_with_its_name():
    out, _ = strict(LEAVER, "past", status=3)
    expected = (r"1\. past-end, read of address (0x[0-9a-f]+), buffer weights, which ends at \1\n"
                r"   at  leaver\.pasm:6 instruction 3 .*\n"
                r"   in  job 1 of queue [0-9]+, data master cdm\n"
                r"   no byte of the buffer at this address: .*\n1 finding\n")
    assert re.fullmatch(expected, out), out


@test
def an_access_of_the_page_after_a_buffer_is_printed_with_its_name():
    out, _ = strict(LEAVER, "page", status=3)
    expected = (r"1\. unmapped, read of address 0x[0-9a-f]+, after buffer weights, which ends at 0x[0-9a-f]+\n"
                r"   at  leaver\.pasm:6 instruction 3 .*\n")
    assert re.match(expected, out), out


@test
def the_removal_of_a_mapping_is_printed_with_its_time():
    out, _ = strict(LEAVER, "freed", status=3)
    expected = (r"1\. unmapped, read of address 0x[0-9a-f]+, buffer weights\n"
                r"   at  leaver\.pasm:6 instruction 3 .*\n"
                r"   in  job 1 of queue [0-9]+, data master cdm\n"
                r"   unmapped by operation [0-9]+, the buffer is freed\n"
                r"   removed at GPU clock [1-9][0-9]*\n")
    assert re.match(expected, out), out


@test
def the_process_that_removed_a_mapping_is_printed():
    # Only findings of the kernel driver have it.
    write("removed.json", '{"finding":"unmapped","access":"read","va":"0x1000","label":"weights",'
                          '"unmapped_by":3,"freed":false,"unmapped_at":5,"process":99}\n')
    out, _ = strict("sh", "-c", f"'{LEAVER}' exit; cat removed.json >>\"$PUMICE_FINDINGS\"",
                    status=3)
    assert "\n   unmapped by operation 3 of process 99\n   removed at GPU clock 5\n" in out, out


@test
def findings_of_all_processes_are_printed():
    out, _ = strict("sh", "-c", f"'{LEAVER}' exit; '{LEAVER}' exit", status=3)
    assert out.count("at  leaver.pasm:4") == 2 and out.endswith("2 findings\n"), out


@test
def threads_of_the_gpu_have_the_same_findings():
    out, _ = strict(LEAVER, "exit", status=3, device="inproc:cores=1,ram=64,threads=2")
    assert "leaver.pasm:4" in out and out.endswith("1 finding\n"), out


@test
def a_command_that_cannot_be_run_is_named():
    out, error = strict("./missing", status=127)
    assert error == "pumice-strict: ./missing: No such file or directory\n", error
    assert not out, out


@test
def a_command_that_was_not_checked_does_not_pass():
    write("race.pasm", RACE)
    kernel = [RUN, "race.pasm", "--groups", "1"]
    fast = "inproc:cores=1,ram=64,threads=0,mode=fast"
    for args, device, words in ((["true"], DEVICE, "nothing was checked"),
                                (kernel, fast, "a GPU in mode fast"),
                                ([*kernel, "-d", fast], DEVICE, "a GPU in mode fast"),
                                ([*kernel, "--counted"], DEVICE, "a GPU in mode counted")):
        for options in ([], ["--json"]):
            out, error = strict(*options, *args, status=1, device=device)
            assert words in error and "finding" not in out, out + error


@test
def a_part_that_was_not_checked_is_reported_with_the_findings():
    other = f"'{RUN}' race.pasm --groups 1 -d inproc:ram=64,mode=fast"
    write("race.pasm", RACE)
    out, error = strict("sh", "-c", f"'{LEAVER}' exit; {other}", status=3)
    assert "1 finding\n" in out and "not checked: a GPU in mode fast" in error, out + error
    write("race.pasm", ".group 64\nend\n")
    out, error = strict("sh", "-c", f"'{RUN}' race.pasm --groups 1; {other}", status=1)
    assert "0 findings\n" in out and "not checked: a GPU in mode fast" in error, out + error


@test
def invalid_options_are_refused():
    for words, option in (("there is no option '--jso'", ["--jso"]), ("COMMAND", [])):
        out, error = strict(*option, status=2)
        assert words in error and not out, error


if __name__ == "__main__":
    main()
