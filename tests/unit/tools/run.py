#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
pumice-run against computations of this test: run.py PUMICE-RUN MATMUL.pasm

Files are written and read with struct only, so that numpy's format is
checked against its specification and not against another reader. Output: TAP.
"""
import json
import os
import re
import struct
import subprocess
import sys

from tap import main, test

# Absolute, because the tests run in a folder of their own.
RUN, MATMUL = map(os.path.abspath, sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))
SAXPY = os.path.join(HERE, "saxpy.pasm")
WORDS = os.path.join(HERE, "words.pasm")
DEVICE = ["--device", "inproc:cores=2,threads=0,ram=64"]
MASK = (1 << 64) - 1


def run(*args, status=0):
    """Run the tool; (standard output, standard error)."""
    done = subprocess.run([RUN, *DEVICE, *args], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == status, f"status {done.returncode}: {done.stderr}"
    return done.stdout, done.stderr


def refused(words, *args):
    """Check that the tool refuses with these words and nothing on standard output."""
    out, err = run(*args, status=1)
    assert words in err, f"'{words}' is not in: {err}"
    assert not out, out


def unaccepted(words, *args):
    """Check that the command line is refused with these words and nothing on standard output."""
    out, err = run(*args, status=2)
    assert words in err, f"'{words}' is not in: {err}"
    assert not out, out


def npy(path, code, values, shape, version=1, order="False"):
    """Write a .npy file by the format's description."""
    head = f"{{'descr': '{code}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(head))
    form = {"<f4": "f", "<u4": "I", "<i2": "h", "|u1": "B", ">f4": "f"}[code]
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY" + bytes([version, 0]) + length + head +
                  struct.pack(f"<{len(values)}{form}", *values))


def read_npy(path, form):
    """Return (header text, elements) of a version 1 file."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    length, = struct.unpack("<H", data[8:10])
    assert (10 + length) % 64 == 0 and data[9 + length:10 + length] == b"\n"
    body = data[10 + length:]
    return data[10:10 + length].decode(), struct.unpack(f"<{len(body) // 4}{form}", body)


def f32(x):
    """Round to binary32."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def splitmix(seed):
    """Yield the sequence that the manual names."""
    while True:
        seed = (seed + 0x9e3779b97f4a7c15) & MASK
        z = seed
        z = ((z ^ z >> 30) * 0xbf58476d1ce4e5b9) & MASK
        z = ((z ^ z >> 27) * 0x94d049bb133111eb) & MASK
        yield z ^ z >> 31


def random_f32(count, seed):
    """Return the values of random:COUNT:SEED for f32."""
    numbers = splitmix(seed)
    return [(next(numbers) >> 40) / (1 << 24) for _ in range(count)]


@test
def saxpy_of_npy_files_equals_the_cpu():
    x = [f32(i * 0.37 - 9) for i in range(1000)]
    y = [f32(i * i * 0.01) for i in range(1000)]
    npy("x.npy", "<f4", x, "(1000,)")
    npy("y.npy", "<f4", y, "(10, 100)", version=2)
    run("--groups", "16", "--arg", "buf:f32:x.npy", "--arg", "inout:f32:y.npy:z.npy",
        "--arg", "u32:1000", "--arg", "f32:2.5", SAXPY)
    head, z = read_npy("z.npy", "f")
    assert "'shape': (10, 100,)" in head and "'<f4'" in head, head
    assert list(z) == [f32(f32(a * 2.5) + b) for a, b in zip(x, y)]


@test
def matmul_of_random_matrices_equals_the_cpu():
    n = 21  # not a multiple of 8: groups at the edges have work-items outside of the matrices
    run("--groups", "3,3", "--arg", f"buf:f32:random:{n}x{n}:7",
        "--arg", f"buf:f32:random:{n}x{n}", "--arg", f"out:f32:{n}x{n}:c.bin",
        "--arg", f"u32:{n}", "--arg", "u32:3", MATMUL)
    a, b = random_f32(n * n, 7), random_f32(n * n, 1)
    c = struct.unpack(f"<{n * n}f", open("c.bin", "rb").read())
    for row in range(n):
        for col in range(n):
            want = sum(a[row * n + k] * b[k * n + col] for k in range(n))
            assert abs(c[row * n + col] - want) < 1e-5 * n


@test
def scalars_become_words_in_their_order():
    out, _ = run("--arg", "out:u32:6", "--arg", "i32:-2", "--arg", "f32:1.5", "--arg",
                 "u64:0x123456789abcdef0", "--arg", "f64:-0.5", WORDS)
    words = [0xfffffffe, 0x3fc00000, 0x9abcdef0, 0x12345678, 0, 0xbfe00000]
    assert out == "argument 0:\n" + " ".join(map(str, words)) + "\n", out


@test
def generators_fill_buffers_of_every_type():
    # The kernel copies nothing: inout returns the generated values.
    for kind, source, shown in [
            ("u8", "iota:4:254", "254 255 0 1"), ("i8", "const:2:-128", "-128 -128"),
            ("u16", "iota:3:65535:2", "65535 1 3"), ("i16", "iota:3:-1:-1", "-1 -2 -3"),
            ("i32", "iota:2x2:-5:3", "-5 -2\n1 4"), ("u32", "zero:3", "0 0 0"),
            ("i64", "const:1:-9223372036854775808", "-9223372036854775808"),
            ("u64", "const:1:18446744073709551615", "18446744073709551615"),
            ("f16", "iota:3:0.1:1000", "0.099976 1000 2000"),
            ("f64", "const:1:0.1", "0.10000000000000001"),
            ("f32", "const:2:nan", "nan nan")]:
        out, _ = run("--repeat", "0", "--arg", f"inout:{kind}:{source}",
                     *[a for _ in range(6) for a in ("--arg", "u32:0")], WORDS)
        assert out == f"argument 0:\n{shown}\n", f"{kind}:{source} gave {out}"


@test
def random_integers_are_the_named_sequence():
    numbers = splitmix(99)
    want = " ".join(str(next(numbers) & 0xffffffff) for _ in range(5))
    out, _ = run("--repeat", "0", "--arg", "inout:u32:random:5:99",
                 *[a for _ in range(6) for a in ("--arg", "u32:0")], WORDS)
    assert out == f"argument 0:\n{want}\n", out


@test
def text_and_raw_files_contain_the_elements():
    args = [a for _ in range(6) for a in ("--arg", "u32:7")]
    run("--arg", "out:u32:2x3:t.txt", *args, WORDS)
    assert open("t.txt").read() == "7 7 7\n7 7 7\n"
    run("--arg", "out:u32:6:t.raw", *args, WORDS)
    assert open("t.raw", "rb").read() == struct.pack("<6I", *[7] * 6)
    out, _ = run("--repeat", "0", "--arg", "inout:u32:t.raw", *args, WORDS)
    assert out == "argument 0:\n7 7 7 7 7 7\n"


@test
def check_reports_where_results_differ():
    args = [a for n in range(6) for a in ("--arg", f"u32:{n}")]
    npy("right.npy", "<u4", range(6), "(6,)")
    npy("wrong.npy", "<u4", [0, 1, 2, 9, 4, 5], "(6,)")
    run("--arg", "out:u32:6", "--check", "0=right.npy", *args, WORDS)
    _, err = run("--arg", "out:u32:6", "--check", "0=wrong.npy", *args, WORDS, status=3)
    assert "1 of 6 elements differ from wrong.npy, the first at 3: 3 instead of 9" in err, err
    run("--arg", "out:u32:6", "--check", "0=wrong.npy", "--tolerance", "6", *args, WORDS)
    npy("two.npy", "<u4", [0, 7, 2, 3, 8, 5], "(6,)")
    _, err = run("--arg", "out:u32:6", "--check", "0=two.npy", *args, WORDS, status=3)
    assert "2 of 6 elements differ from two.npy, the first at 1: 1 instead of 7" in err, err


@test
def a_nan_equals_a_nan_only():
    args = ["--arg", f"u32:{0x7fc00000}", *(a for n in range(1, 6) for a in ("--arg", f"f32:{n}"))]
    nan = float("nan")
    npy("nan.npy", "<f4", [nan, 1, 2, 3, 4, 5], "(6,)")
    npy("other.npy", "<f4", [nan, 1, 2, nan, 4, 5], "(6,)")
    npy("none.npy", "<f4", [0, 1, 2, 3, 4, 5], "(6,)")
    run("--arg", "out:f32:6", "--check", "0=nan.npy", *args, WORDS)
    for name, at in ("other.npy", 3), ("none.npy", 0):
        _, err = run("--arg", "out:f32:6", "--check", f"0={name}", "--tolerance", "9", *args, WORDS,
                     status=3)
        assert f"1 of 6 elements differ from {name}, the first at {at}: " in err, err


@test
def time_repeat_and_counters_are_printed():
    out, _ = run("--groups", "4", "--repeat", "3", "--time", "--perf", "cdm_groups,PDS_TASKS",
                 "--print", "0", "--arg", "buf:f32:zero:256", "--arg", "inout:f32:zero:256",
                 "--arg", "u32:256", "--arg", "f32:1", SAXPY)
    lines = out.splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == ["run 0", "run 1", "run 2"], out
    assert lines[3:] == ["CDM_GROUPS: 12 work-groups", "PDS_TASKS: 12 tasks"], out


def rows_of(lines):
    return {words[0]: words[1:] for words in map(str.split, lines.splitlines()) if words}


def counts_of(out):
    """Return {name: words after it} of the rows of clients and levels that --counted prints."""
    return rows_of(out[:out.index("\non buses ")])


def buses_of(out):
    """Return {name: words after it} of the rows of clients on buses."""
    return rows_of(out[out.index("\non buses "):])


SAXPY_1024 = ["--counted", "--print", "0", "--groups", "16", "--arg", "buf:f32:zero:1024", "--arg",
              "inout:f32:zero:1024", "--arg", "u32:1024", "--arg", "f32:1", SAXPY]


@test
def counted_prints_hit_rates_of_clients_and_bytes_of_levels():
    out, _ = run(*SAXPY_1024)
    rows = counts_of(out)
    # The first of the loads of each line misses: 1 of 32, or of 8 with the lines of document 004.
    loads = (32 if os.environ.get("PUMICE_PRESET") == "sgx543mp4" else 128) // 4
    rate = f"{100 - 100 / loads:.1f}%"
    assert rows["usc-load"] == ["2048", "8192", rate, "0.0%", "0.0%", "0", "8192", "0"], out
    assert rows["usc-store"][:2] == ["1024", "4096"], out
    assert rows["cdm-stream"][2:5] == ["-", "-", "-"] and rows["cdm-stream"][5] != "0", out
    assert rows["texture-l1"] == ["0", "0", "-", "0", "0"], out
    assert "texture" not in rows, out
    clients = [words for words in rows.values() if len(words) == 8]
    for column, level in ((6, 3), (7, 4)):
        assert sum(int(words[column]) for words in clients if words[0].isdigit()) == \
            int(rows["slc"][level]), out


@test
def counted_prints_bytes_on_buses_by_client():
    out, _ = run(*SAXPY_1024)
    rows, buses = counts_of(out), buses_of(out)
    # Caches of the core read whole lines, and write the bytes that were stored.
    assert buses["usc-load"][1:] == ["8192", "0"] and buses["usc-store"][2] == "4096", out
    assert sum(int(words[1]) + int(words[2]) for name, words in buses.items() if name != "on") == \
        int(rows["slc"][1]), out
    assert "texture" not in buses, out


@test
def counts_are_those_of_the_runs_and_the_same_each_time():
    once, again = run(*SAXPY_1024)[0], run(*SAXPY_1024)[0]
    assert once == again, once + again
    none, twice = (counts_of(run("--repeat", n, *SAXPY_1024)[0]) for n in "02")
    assert "usc-load" not in none and none["slc"] == ["0", "0", "-", "0", "0"], none
    assert twice["usc-load"][:2] == ["4096", "16384"], twice


@test
def counted_selects_the_mode_of_a_gpu_in_process():
    want = run(*SAXPY_1024)[0]
    for keys in "mode=fast", "mode=counted":
        assert run(DEVICE[0], f"{DEVICE[1]},{keys}", *SAXPY_1024)[0] == want
    for device in "inproc", "inproc:":
        rows = counts_of(run("--device", device, *SAXPY_1024)[0])
        assert rows["usc-load"][0] == "2048", (device, rows)
    for device in "drm", "tea", "inproctea", "pid:1", "inproc:fw-gdb=" + "x" * 500:
        unaccepted("--counted: only a GPU in this process is accepted; add --native", "--device", device,
                   *SAXPY_1024)


@test
def a_trace_has_the_jobs_work_groups():
    run("--groups", "4", "--repeat", "2", "--trace", "t.json", "--print", "0", "--arg",
        "buf:f32:zero:256", "--arg", "inout:f32:zero:256", "--arg", "u32:256", "--arg", "f32:1",
        SAXPY)
    text = open("t.json", encoding="utf-8").read()
    trace = json.loads(text)
    events = trace if isinstance(trace, list) else trace["traceEvents"]
    assert len([e for e in events if "group" in e.get("name", "")]) >= 8, text[:2000]
    refused("missing/t.json: No such file", "--trace", "missing/t.json", "--repeat", "0", "--arg",
            "u64:0", "--arg", "u64:0", "--arg", "u32:0", "--arg", "u32:0", SAXPY)


@test
def a_trace_of_a_job_that_fails_has_its_events():
    with open("bad.pasm", "w") as out:
        out.write(".group 1\n.uniforms sh0, 2\nmov r1, 4096\n"
                  "global_store32 sig0, [one], sh0 + r1, r1\nend\n")
    with open("endless.pasm", "w") as out:
        out.write(".group 1\n.uniforms sh0, 2\nagain:\nbr_any again, [one]\nend\n")
    for name, *options in (("bad.pasm",), ("endless.pasm", "--timeout", "0.2", "--no-warnings")):
        run(*options, "--groups", "1", "--trace", "f.json", "--arg", "out:u32:3", name, status=1)
        trace = json.load(open("f.json", encoding="utf-8"))
        events = trace if isinstance(trace, list) else trace["traceEvents"]
        assert [e for e in events if "group" in e.get("name", "")], (name, events)


@test
def a_faulting_job_is_reported():
    refused("the job faulted: mmu-pc-invalid at 0x1000", "--groups", "1", "--arg", "u64:0x1000",
            "--arg", "u64:0x1000", "--arg", "u32:1", "--arg", "f32:1", SAXPY)


@test
def files_that_are_not_shaders_are_refused():
    with open("binary", "wb") as out:
        out.write(b"\x7fELF\0\0\0\0")
    with open("empty", "wb"):
        pass
    with open("bad.pasm", "w") as out:
        out.write("flyto r1\n")
    with open("cut", "wb") as out:
        out.write(b"PPRM" + bytes(60))
    refused("none.pasm: No such file", "none.pasm")
    refused("neither a program file nor assembly", "binary")
    refused("neither a program file nor assembly", "empty")
    refused("bad.pasm:1:1: error: no such operation", "bad.pasm")
    refused("cut: program: version 0 is not 1", "cut")


@test
def bad_arguments_have_their_own_errors():
    for words, arg in [
            ("'f31' is not a type", "buf:f31:zero:1"), ("the type is missing", "buf"),
            ("'x' is not a number", "f32:x"), ("u32 cannot represent -1", "u32:-1"),
            ("u32 cannot represent 1.5", "u32:1.5"), ("i32 cannot represent 2147483648",
                                                   "i32:2147483648"),
            ("the value is missing", "u32"), ("too many parts", "u32:1:2"),
            ("u8 is not a type of a scalar, which has 32 or 64 bits", "u8:1"),
            ("number of elements is missing", "out:f32"),
            ("a name has 1 to ", "x" * 200 + "=u32:1"), ("a name has 1 to ", "=u32:1"),
            ("more than 4294967296 bytes", "out:u32:18446744073709551617"),   # 2^64 + 1
            ("'12y' is not a number of elements", "out:f32:12y"),
            ("'2x' is not a number of elements", "out:f32:2x"),
            ("the number of elements is 0", "out:f32:0"), ("more than 4294967296 bytes", "out:f32:65536x65536"),
            ("more than 4294967296 bytes", "out:u8:99999999999999999999999"),
            ("a file or a generator is missing", "buf:f32:"),
            ("the value is missing", "buf:f32:const:4"),
            ("too many parts after the source", "buf:f32:zero:4:9"),
            ("name of the file is missing", "out:f32:4:"),
            ("u64 cannot represent -1", "buf:u8:random:4:-1"),
            ("iotta is not a generator, and nothing follows a file; the generators are: zero, ",
             "buf:f32:iotta:1000")]:
        unaccepted(words, "--arg", arg, SAXPY)
    for file in ("missing.npy", "iotta"):
        refused(f"{file}: No such file or directory, and no generator; the generators are: zero, ",
                "--arg", f"buf:f32:{file}", SAXPY)
    # The command line is checked before files are read.
    unaccepted("'f31' is not a type", "--arg", "buf:f32:missing.npy", "--arg", "buf:f31:x", SAXPY)
    unaccepted("at most 64 arguments", *["--arg", "u32:1"] * 65, SAXPY)
    refused("takes 6 uniform words, but the arguments make 5 (a buffer two, a scalar of 32 bits one); "
            "write an --arg for each argument, in their order", "--arg", "buf:f32:zero:4", "--arg",
            "buf:f32:zero:4", "--arg", "u32:4", SAXPY)


@test
def bad_npy_files_have_their_own_errors():
    def spoil(offset, data, source="good.npy"):
        blob = bytearray(open(source, "rb").read())
        blob[offset:offset + len(data)] = data
        with open("bad.npy", "wb") as out:
            out.write(blob)

    def check(words):
        refused(words, "--arg", "buf:f32:bad.npy", SAXPY)

    npy("good.npy", "<f4", [1, 2, 3], "(3,)")
    spoil(0, b"X")
    check("not a .npy file")
    spoil(6, b"\4")
    check(".npy version 4.0")
    spoil(8, b"\xff\xff")
    check("header is truncated")
    spoil(13, b"d")
    spoil(11, b"x")
    check("no plain type")
    npy("bad.npy", "<f4", [1, 2, 3], "(4,)")
    check("12 bytes of elements, but its shape requires 16")
    npy("bad.npy", "<f4", [1, 2, 3], "(-3,)")
    check("header's shape is not 1 to 8 numbers")
    npy("bad.npy", "<f4", [1, 2, 3], "3")
    check("has no shape")
    npy("bad.npy", "<f4", [1, 2, 3], "(1,1,1,1,1,1,1,1,3)")
    check("header's shape is not 1 to 8 numbers")
    npy("bad.npy", "<f4", [1, 2, 3], "(99999999999999999999,)")
    check("more than 4294967296 bytes")
    npy("bad.npy", "<u4", [1, 2, 3], "(3,)")
    check("its type is u4, but the argument's is f32 (f4)")
    npy("bad.npy", ">f4", [1, 2, 3], "(3,)")
    check("big endian")
    npy("bad.npy", "<f4", [1, 2, 3, 4], "(2, 2)", order="True")
    check("Fortran order")
    with open("odd.bin", "wb") as out:
        out.write(b"12345")
    refused("5 bytes are not a whole number of f32", "--arg", "buf:f32:odd.bin", SAXPY)


@test
def bad_options_have_their_own_errors():
    unaccepted("--groups 1,2,3,4: one to three numbers", "--groups", "1,2,3,4", SAXPY)
    unaccepted("--groups 1,: one to three numbers", "--groups", "1,", SAXPY)
    unaccepted("--groups 0: one to three numbers from 1 to 4294967295", "--groups", "0", SAXPY)
    unaccepted("--groups 4,0: one to three numbers from 1", "--groups", "4,0", SAXPY)
    unaccepted("--groups -1: one to three numbers", "--groups", "-1", SAXPY)
    unaccepted("--repeat 1x: N is a whole number from 0", "--repeat", "1x", SAXPY)
    unaccepted("--timeout -1: S is a number of at least 0", "--timeout", "-1", SAXPY)
    unaccepted("--tolerance nan: R is a number from 0", "--tolerance", "nan", SAXPY)
    unaccepted("--check 0: an argument's number below 64 and a file", "--check", "0", SAXPY)
    unaccepted("--check 1: argument 1 is not an output", "--check", "1=x.npy", "--arg", "u32:1", SAXPY)
    for words in ([SAXPY], ["--arg", "u32:1"], ["--groups", "1,2"], ["--repeat", "2"], ["--time"],
                  ["--perf", "CDM_GROUPS"], ["--counted"], ["--trace", "x.json"], ["--print", "1"],
                  ["--check", "0=x.npy"], ["--tolerance", "0.5"], ["--no-warnings"],
                  ["--timeout", "1"],
                  # Written with their defaults
                  ["--groups", "1,1,1"], ["--repeat", "1"], ["--print", "64"], ["--tolerance", "0"],
                  ["--timeout", "60"]):
        unaccepted("--list-perf runs no kernel: only --device and --native", "--list-perf", *words)
    assert run("--list-perf", "--native")[0] == run("--list-perf")[0]
    refused("no device is named 'tea'", "--device", "tea", SAXPY)
    unaccepted("SHADER is missing; usage: pumice-run [OPTION]… SHADER")
    args = ["--arg", "buf:f32:zero:4", "--arg", "inout:f32:zero:4", "--arg", "u32:4",
            "--arg", "f32:1", SAXPY]
    refused("unknown counter 'tea'", "--perf", "tea", *args)
    refused(": more than 32 counters", "--perf", ",".join(["CDM_GROUPS"] * 33), *args)
    refused("missing/z.npy: No such file", "--arg", "out:f32:4:missing/z.npy", "--arg", "u64:0",
            "--repeat", "0", "--arg", "u32:4", "--arg", "f32:1", SAXPY)
    unaccepted("there is no option '--list'; accepted: --arg", "--list")
    unaccepted("there is no option '--tole=1'; accepted: --arg", "--tole=1", SAXPY)
    unaccepted("there is no option '--repea'; accepted: --arg", "--repea", "2", SAXPY)
    unaccepted("there is no option '--trac'; accepted: --arg", SAXPY, "--trac")


@test
def an_endless_job_times_out_and_the_tool_ends():
    with open("endless.pasm", "w") as out:
        out.write("loop: jump loop\n")
    refused("the job did not complete within 0.200 s: the job was killed: usc-code was busy with it, "
            "1 wave in flight\n  1 at instruction 0 of the program at 0x", "--timeout", "0.2",
            "endless.pasm")
    refused(", endless.pasm:1: jump 0\n", "--timeout", "0.2", "endless.pasm")


@test
def a_wrong_firmware_names_its_variable():
    former = os.environ["PUMICE_FIRMWARE"]
    os.environ["PUMICE_FIRMWARE"] = "/dev/null/none.bin"
    try:
        refused("none.bin: Not a directory; PUMICE_FIRMWARE names this file: correct or unset it",
                SAXPY)
    finally:
        os.environ["PUMICE_FIRMWARE"] = former


FAULT = """.macro put value
        global_store32  sig0, [one], sh0 + r1, \\value
.endm
.group    16, 4
.uniforms sh0, 2
.input    v0, local_x
.input    v1, local_y
        shr.u32 r2, v1, 1
        and.u32 r2, r2, v1
        mul.u32 r3, r2, LAST
        mul.u32 r1, v0, 4
        add.u32 r1, r1, r3
        put     v0
        end
"""


def place_of_a_fault(last, words):
    with open("fault.pasm", "w") as out:
        out.write(f".equ LAST, {last}\n" + FAULT)
    for text in words:
        refused(text, "--groups", "1", "--arg", "x=out:f32:16", "fault.pasm")


@test
def a_fault_names_line_lane_instance_group_and_buffer():
    # Instances of y 3, and no others, store to x[i] + 96: the first, lane 16 of wave 1, 32 bytes past 64.
    place_of_a_fault("96", [
        "the job faulted: mmu-", ": write, 32 bytes past the end of 'x', argument 0\n",
        "  instruction 5 of the program at 0x", ", fault.pasm:3 < fault.pasm:14\n",
        "  lane 16, instance 48 (0, 3, 0), work-group (0, 0, 0), wave 1, slot ",
        "  =>     5  global_store32 sig0, [one], sh0 + r1, v0    ; fault.pasm:3 < fault.pasm:14\n",
        "         4  add.u32 r1, r1, r3    ; fault.pasm:13\n",
    ])


@test
def an_instance_has_a_place_in_three_dimensions():
    # Instance 1 + 4 * (2 + 4 * 3) is lane 25 of the second wave.
    with open("cube.pasm", "w") as out:
        out.write(".group 4, 4, 4\n.uniforms sh0, 2\n.input v0, local_x\n.input v1, local_y\n"
                  ".input v2, local_z\nmov r2, [one], 4096\nmov r3, [one], 0\neq.u32 r0, v0, 1\n"
                  "eq.u32 r1, v1, 2\neq.u32 r4, v2, 3\nmov r3, [r0 & r1], r2\n"
                  "global_store32 sig0, [r4], sh0 + r3, v0\nend\n")
    refused("lane 25, instance 57 (1, 2, 3), work-group (0, 0, 0), wave 1,", "--groups", "1",
            "--arg", "x=out:f32:16", "cube.pasm")


@test
def a_fault_shows_four_instructions_before_it_and_after_it():
    for fault, shown in ((0, range(5)), (6, range(2, 11)), (12, range(8, 15))):
        with open("around.pasm", "w") as out:
            out.write(".group 1\n.uniforms sh0, 2\n")
            for i in range(14):
                out.write("global_store32 sig0, [one], sh0 + r1, r1\n" if i == fault else
                          "mov r1, [one], 0x100000\n")
            out.write("end\n")
        # Registers are 0 at the start.
        size = "x=out:f32:16" if fault else "u64:0"
        _, error = run("--no-warnings", "--groups", "1", "--arg", size, "around.pasm", status=1)
        numbers = re.findall(r"^  (=>|  ) +(\d+)  \S", error, re.M)
        assert numbers == [("=>" if i == fault else "  ", str(i)) for i in shown], error


@test
def a_fault_far_from_all_buffers_names_none():
    place_of_a_fault("0x40000000 * 3", [": write, not near any buffer\n",
                                        "  the uniform words are: 0 x, argument 0"])


@test
def a_fault_near_no_buffer_lists_the_uniform_words():
    # The second word of the first buffer and the first word of the second one are not an address.
    with open("layout.pasm", "w") as out:
        out.write(".uniforms sh0, 5\nmov r1, [one], 0\nglobal_load32 sig0, r0, [one], sh1 + r1\n"
                  "sig_wait r0[0], sig0\nend\n")
    refused("  the uniform words are: 0 in, argument 0; 2 argument 1; 4 argument 2\n", "--arg",
            "in=buf:f32:zero:4", "--arg", "out:f32:4", "--arg", "u32:7", "layout.pasm")


@test
def a_negative_offset_is_recognised():
    with open("negative.pasm", "w") as out:
        out.write(".group 1\n.uniforms sh0, 2\nmov r1, 0xfffffff8\n"
                  "global_load32 sig0, r2, [one], sh0 + r1\nend\n")
    refused(": read, 8 bytes before the start of 'x', argument 0, if the offset was meant to be "
            "negative\n", "--groups", "1", "--arg", "x=out:f32:16", "negative.pasm")


@test
def a_misaligned_access_names_the_buffer_and_the_rule():
    cases = {
        "global_load32 sig0, r2, [one], sh0 + v0": ("read", 33, "A 32-bit access needs a multiple "
                                                    "of 4: shift the index left by 2."),
        "global_store16 sig0, [one], sh0 + v0, v0": ("write", 33, "A 16-bit access needs a "
                                                     "multiple of 2: shift the index left by 1."),
        "burst_load sig0, r2, [one], sh0 + v0, 4": ("read", 33, "The address must be a multiple "
                                                    "of 4."),
    }
    for line, (access, byte, rule) in cases.items():
        with open("odd.pasm", "w") as out:
            out.write(".group 8\n.uniforms sh0, 2\n.input v0, local_x\nadd.u32 v0, v0, 32\n"
                      f"{line}\nend\n")
        refused("the job faulted: usc-", "--groups", "1", "--arg", "x=out:f32:16", "odd.pasm")
        refused(f"in usc-data, pc 1: {access}, byte {byte} of 'x', argument 0\n  A misaligned "
                if "burst" in line else
                f"in usc-data, pc 1: {access}, byte {byte} of 'x', argument 0\n  Misaligned global "
                f"memory access. {rule}\n", "--groups", "1", "--arg", "x=out:f32:16", "odd.pasm")
        refused(rule, "--groups", "1", "--arg", "x=out:f32:16", "odd.pasm")


@test
def stores_next_to_a_buffer_in_its_page_are_reported():
    with open("neighbour.pasm", "w") as out:
        out.write(".group 1\n.uniforms sh0, 2\nmov r1, OFFSET\nstart:\n"
                  "global_store8 sig0, [one], sh0 + r1, r1\nend\n")
    text = open("neighbour.pasm").read()
    for kind, offset, words in [
            ("u8:3", 3, "wrote 1 byte past its end (element 3)"),
            ("u16:3", 7, "wrote 2 bytes past its end (element 3)"),
            ("u32:3", 0xfffffffe, "wrote 4 bytes before its beginning (element -1)"),
            ("u32:3", 0xfffffff8, "wrote 8 bytes before its beginning (element -2)")]:
        with open("neighbour.pasm", "w") as out:
            # The offset of an address is not negative: 2^32 is in its base.
            base = "sub.u32 sh1, sh1, 1\n" if offset > 16 else ""
            out.write(text.replace("OFFSET", f"{offset:#x}").replace("start:\n", base))
        refused(f"argument 0, x: the kernel {words}", "--groups", "1", "--arg", f"x=out:{kind}",
                "neighbour.pasm")


@test
def several_elements_next_to_a_buffer_are_reported_as_a_range():
    with open("range.pasm", "w") as out:
        out.write(".group 4\n.uniforms sh0, 2\n.input v0, local_x\nsub.u32 sh1, sh1, 1\n"
                  "shl.u32 r1, v0, 2\nadd.u32 r1, r1, 0xffffffe0\n"
                  "global_store32 sig0, [one], sh0 + r1, v0\nend\n")
    refused("argument 0: the kernel wrote 32 bytes before its beginning (elements -8 to -5)",
            "--groups", "1", "--arg", "out:u32:3", "range.pasm")


@test
def an_element_next_to_a_buffer_is_whole_if_a_part_is_unchanged():
    # The second byte is that of the pattern around buffers.
    with open("part.pasm", "w") as out:
        out.write(".group 1\n.uniforms sh0, 2\nmov r1, 6\nmov r2, 0xa501\n"
                  "global_store16 sig0, [one], sh0 + r1, r2\nend\n")
    refused("argument 0: the kernel wrote 2 bytes past its end (element 3)", "--groups", "1",
            "--arg", "out:u16:3", "part.pasm")


@test
def a_load_of_the_bytes_after_a_buffer_faults():
    with open("after.pasm", "w") as out:
        out.write(".group 1\n.uniforms sh0, 2\nmov r1, 12\nglobal_load32 sig0, r2, [one], sh0 + r1\n"
                  "end\n")
    refused(": read, at the first byte past the end of 'x', argument 0\n", "--groups", "1", "--arg",
            "x=out:u32:3", "after.pasm")


@test
def lost_output_is_an_error():
    kernel = ["--arg", "buf:f32:iota:64", "--arg", "inout:f32:iota:64", "--arg", "u32:64",
              "--arg", "f32:1", SAXPY]
    for words in (["--list-perf"], kernel):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([RUN, *DEVICE, *words], stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (
            1, "pumice-run: standard output: No space left on device\n"), done.stderr


if __name__ == "__main__":
    main()
