# SPDX-License-Identifier: MIT
"""
The installed files are sufficient: every header alone, every symbol and its page, every example.

Only the prefix of prefix.py is used, through pkg-config.
"""

import pathlib
import re
import shutil
import tempfile
import unittest

import torus_reference
from prefix import TOP, VERSION, WARNINGS, prefix

# Compiler, language, what its file names end in; the oldest standards that are supported, and
# each compiler's own.
COMPILERS = [("gcc", "-std=c11", "c"), ("gcc", None, "c"), ("clang", "-std=c11", "c"),
             ("clang", None, "c"), ("g++", "-std=c++11", "cc"), ("g++", None, "cc"),
             ("clang++", "-std=c++11", "cc"), ("clang++", None, "cc")]
HEADERS = {"pumice.h", "pumice_capture.h", "pumice_debug.h", "pumice_fault.h", "pumice_formats.h",
           "pumice_gfx.h", "pumice_isa_enums.h", "pumice_limits.h", "pumice_perf.h",
           "pumice_present.h", "pumice_rays.h", "pumice_regs.h", "pumice_shader.h", "pumice_tasks.h",
           "pumice_types.h", "pumice_virtual.h"}

MAP = TOP / "userspace/libpumice/libpumice.map"

# Calls present functions, and the former ones as programs linked with 0.4 do. Ends with the
# number of the line that fails.
FORMER_PROGRAM = r"""#include <pumice/pumice.h>
#include <errno.h>
#include <string.h>
const char *former_error(struct pumice_device *dev);
int former_dispatch(struct pumice_stream *stream, const struct pumice_dispatch *dispatch);
__asm__(".symver former_error, pumice_device_error@LIBPUMICE_0.1");
__asm__(".symver former_dispatch, pumice_stream_dispatch@LIBPUMICE_0.1");
#define CHECK(x) do { if (!(x)) return __LINE__; } while (0)
int main(void)
{
	static const char fault[] = "mov r1, [one], 16\nmov sh0, 0\nmov sh1, 0\n"
				    "global_store32 sig0, [one], sh0 + r1, r1\nend\n";
	struct pumice_dispatch grid;
	struct pumice_device *dev;
	struct pumice_context *context;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	struct pumice_vm *vm;
	char text[256];
	uint64_t start;
	size_t length;

	CHECK(!pumice_device_open("inproc:threads=0,ram=64", &dev, NULL, 0));
	CHECK(!strcmp(former_error(dev), "no error"));
	CHECK(!pumice_vm_create(dev, &vm));
	CHECK(!pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context));
	CHECK(!pumice_stream_create(vm, 65536, &stream));
	CHECK(!pumice_kernel_assemble(vm, "shader", fault, &kernel));
	memset(&grid, 0, sizeof(grid));
	grid.kernel = kernel;
	CHECK(pumice_stream_dispatch(stream, &grid) == -EINVAL);
	CHECK(!strcmp(former_error(dev), pumice_device_error(dev)));
	CHECK(!former_dispatch(stream, &grid));
	CHECK(!pumice_stream_end(stream, &start));
	CHECK(!pumice_context_run(context, start, PUMICE_FOREVER, NULL));
	pumice_stream_reset(stream);
	pumice_dispatch_init(&grid, kernel);
	CHECK(!former_dispatch(stream, &grid));
	CHECK(!pumice_stream_end(stream, &start));
	CHECK(pumice_context_run(context, start, PUMICE_FOREVER, NULL) == -EIO);
	/* Cut at the end of a line. */
	CHECK(strlen(pumice_device_error(dev)) >= sizeof(text));
	length = strlen(former_error(dev));
	CHECK(length > 20 && length < sizeof(text));
	strcpy(text, former_error(dev));
	CHECK(!strncmp(text, pumice_device_error(dev), length));
	CHECK(pumice_device_error(dev)[length] == '\n');
	pumice_context_destroy(context);
	pumice_stream_destroy(stream);
	pumice_kernel_destroy(kernel);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	return 0;
}
"""


def flags(*words):
    """Return the output of pkg-config."""
    done = prefix().run(["pkg-config", *words, "pumice"])
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


class Folder(unittest.TestCase):
    """A test with a folder of its own, outside of the tree."""

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name)

    def call(self, command):
        """Run a command there that must succeed; its output."""
        done = prefix().run(command, cwd=self.dir)
        self.assertEqual(done.returncode, 0, f"{' '.join(map(str, command))}\n"
                                             f"{done.stdout}{done.stderr}")
        return done.stdout

    def compile(self, compiler, text, *more):
        """Compile a program with pkg-config's flags and all warnings as errors."""
        name, standard, ending = compiler
        (self.dir / f"p.{ending}").write_text(text)
        self.call([name, *([standard] if standard else []), *WARNINGS, f"p.{ending}",
                   *flags("--cflags"), *more])


class Headers(Folder):
    """The installed headers."""

    def test_these_headers_are_installed(self):
        found = {path.name for path in (prefix().path / "include/pumice").iterdir()}
        self.assertEqual(found, HEADERS)

    def test_every_header_compiles_alone_in_c_and_in_cxx(self):
        for compiler in COMPILERS:
            for header in sorted(HEADERS):
                line = f"#include <pumice/{header}>\n"
                with self.subTest(compiler=compiler, header=header):
                    self.compile(compiler, line + line + "int main(void) { return 0; }\n",
                                 "-fsyntax-only")

    def test_every_function_links_from_cxx(self):
        names = [line.strip(" \t;\n") for line in
                 MAP.read_text(encoding="utf-8").splitlines()
                 if line.strip().startswith("pumice_")]
        self.assertGreater(len(names), 100)
        includes = "".join(f"#include <pumice/{header}>\n" for header in sorted(HEADERS))
        lines = "".join(f"\tcount += (std::uintptr_t)&{name} != 0;\n" for name in names)
        self.compile(("g++", "-std=c++11", "cc"), f"{includes}#include <cstdint>\nint main()\n"
                     f"{{\n\tunsigned count = 0;\n{lines}\treturn count != {len(names)};\n}}\n",
                     "-Wno-address", "-o", "p", *flags("--libs"))
        self.call(["./p"])

    def test_every_structure_that_callers_fill_has_an_initialiser(self):
        text = "".join(path.read_text(encoding="utf-8")
                       for path in sorted((prefix().path / "include/pumice").iterdir()))
        bodies = dict(re.findall(r"^struct (pumice_\w+) \{\n(.*?)^\};", text, re.M | re.S))
        # Arguments, by pointer and by value, and then the members of these.
        filled = set(re.findall(r"const struct (pumice_\w+) \*\w+[,)]", text)) | \
            set(re.findall(r"[(,]\s*struct (pumice_\w+) \w+[,)]", text))
        filled = list(filled & bodies.keys())
        for name in filled:     # which grows
            filled += (set(re.findall(r"\bstruct (pumice_\w+)", bodies[name])) &
                       bodies.keys()) - set(filled)
        self.assertGreater(len(filled), 60)
        for name in filled:
            initialiser = rf"\b{name}_(init|defaults)\(|^struct {name} {name}_\w+\("
            if "constant fields only" in bodies[name]:
                continue
            with self.subTest(structure=name):
                self.assertRegex(text, re.compile(initialiser, re.M))

    def test_numbers_in_records_are_floats(self):
        text = """#include <pumice/pumice_gfx.h>
#include <string.h>
int main(void)
{
	struct pumice_pdm_render render;
	struct pumice_sampler sampler;
	struct pumice_tdm_clear clear;
	struct pumice_render_desc desc;
	uint32_t words[64];
	float value;

	memset(&render, 0, sizeof(render));
	memset(&sampler, 0, sizeof(sampler));
	memset(&clear, 0, sizeof(clear));
	render.clear_depth = 1;
	sampler.max_lod = 14;
	clear.value[2].f = 0.5;
	pumice_pdm_render_pack(words, &render);
	memcpy(&value, &words[9], sizeof(value));
	if (!(value >= 1 && value <= 1))
		return 1;
	pumice_sampler_pack(words, &sampler);
	memcpy(&value, &words[3], sizeof(value));
	if (!(value >= 14 && value <= 14))
		return 2;
	pumice_tdm_clear_pack(words, &clear);
	if (words[8] != 0x3f000000)
		return 3;
	pumice_render_desc_init(&desc, NULL);
	pumice_pdm_render_pack(words, &desc.pdm);
	return words[9] == 0x3f800000 && words[8] == (4u | 3u << 12) ? 0 : 4;
}
"""
        for compiler in (COMPILERS[0], COMPILERS[4]):
            with self.subTest(compiler=compiler):
                self.compile(compiler, text, "-o", "p", *flags("--libs"))
                self.call(["./p"])


class Library(Folder):
    """The shared library, its firmware and its pages."""

    def symbols(self):
        """Return {function: version} of the library's exports."""
        lines = self.call(["nm", "-D", "--defined-only", "--with-symbol-versions",
                           prefix().library / "libpumice.so"]).splitlines()
        names = [line.split()[2] for line in lines]
        return dict(name.split("@@") for name in names if "@@" in name), names

    def test_pkg_config_has_the_version(self):
        self.assertEqual(flags("--modversion"), [VERSION])

    def test_every_symbol_has_a_version_of_the_map(self):
        text = MAP.read_text(encoding="utf-8")
        wanted, former = {}, set()
        for version, body in re.findall(r"(LIBPUMICE_[\d.]+) \{(.*?)\}", text, re.S):
            for name in re.findall(r"\b(pumice_\w+);", body):
                if name in wanted:
                    former.add(f"{name}@{wanted[name]}")
                wanted[name] = version
        found, names = self.symbols()
        self.assertEqual(found, wanted)
        self.assertEqual({name for name in names if "@@" not in name and
                          not name.startswith("LIBPUMICE_")}, former)
        self.assertEqual(former, {"pumice_device_error@LIBPUMICE_0.1",
                                  "pumice_stream_dispatch@LIBPUMICE_0.1"})
        self.assertEqual(found["pumice_submit"], "LIBPUMICE_0.1")
        self.assertEqual(found["pumice_vm_bind_async"], "LIBPUMICE_0.2")

    def test_a_program_linked_with_an_earlier_version_gets_the_former_functions(self):
        for compiler in (COMPILERS[0], COMPILERS[2]):
            with self.subTest(compiler=compiler):
                self.compile(compiler, FORMER_PROGRAM, "-o", "p", *flags("--libs"))
                self.call(["./p"])

    def test_the_static_library_has_no_versions(self):
        names = self.call(["nm", "--defined-only", prefix().library / "libpumice.a"])
        self.assertNotIn("@", names)
        self.assertRegex(names, r" T pumice_device_error\n")

    def test_every_function_is_exported_and_has_a_page(self):
        functions = set()
        for header in ("pumice.h", "pumice_capture.h", "pumice_debug.h", "pumice_fault.h",
                       "pumice_gfx.h", "pumice_limits.h", "pumice_perf.h", "pumice_present.h",
                       "pumice_rays.h", "pumice_tasks.h", "pumice_virtual.h"):
            text = (prefix().path / "include/pumice" / header).read_text(encoding="utf-8")
            functions |= set(re.findall(r"^[a-z][\w *]*[ *](pumice_\w+)\(", text, re.M))
        self.assertEqual(set(self.symbols()[0]), functions)
        pages = {path.stem for path in (prefix().path / "share/man/man3").iterdir()}
        self.assertEqual(functions - pages, set())

    def test_the_overview_lists_functions_and_macros_separately(self):
        text = (prefix().path / "share/man/man7/libpumice.7").read_text(encoding="utf-8")
        functions, macros = text.split(".SH FUNCTIONS")[1].split(".SH MACROS")
        self.assertEqual(re.findall(r"^\.BR (PUMICE_\w+)", functions, re.M), [])
        self.assertEqual(re.findall(r"^\.BR (pumice_\w+)", macros, re.M), [])
        self.assertIn("PUMICE_MAX_HEAPS", macros)

    def test_pages_have_no_mark_up_of_comments(self):
        for page in (prefix().path / "share/man/man3").iterdir():
            text = page.read_text(encoding="utf-8")
            with self.subTest(page=page.name):
                self.assertNotRegex(text, r"@[a-z]|/\*\*")

    def test_every_inline_function_has_a_page(self):
        functions = set()
        for header in (prefix().path / "include/pumice").iterdir():
            text = header.read_text(encoding="utf-8")
            functions |= set(re.findall(r"^(?:static inline [\w *]*)?\b(pumice_\w+)\([^;{]*\)\n\{",
                                        text, re.M))
        self.assertGreater(len(functions), 250)
        pages = {path.stem for path in (prefix().path / "share/man/man3").iterdir()}
        self.assertEqual(functions - pages, set())

    def test_the_firmware_is_installed(self):
        self.assertGreater((prefix().path / "share/pumice/pumice_fw.bin").stat().st_size, 10000)


class Examples(Folder):
    """The examples, built by their own Makefile (scripts/build-examples.sh)."""

    def setUp(self):
        self.dir = prefix().examples

    def run_edited(self, program, old, new):
        """Build an example in which a text is replaced, in a folder of its own; run it."""
        holder = tempfile.TemporaryDirectory(dir=prefix().examples.parent)
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name) / "examples"
        shutil.copytree(prefix().examples, self.dir)
        source = self.dir / f"{program}.c"
        text = source.read_text(encoding="utf-8")
        self.assertEqual(text.count(old), 1)
        source.write_text(text.replace(old, new))
        self.call(["make", program])
        return prefix().run([f"./{program}"], cwd=self.dir)

    def test_each_reports_that_it_is_right(self):
        said = {"vector-add": "100000 sums are right\n",
                "timeline": "8 rounds kept their order\n"}
        for program, line in said.items():
            with self.subTest(program=program):
                self.assertEqual(self.call([f"./{program}"]), line)

    def test_a_mistake_in_a_shader_is_printed(self):
        for program in ("vector-add", "collatz", "timeline", "triangle", "torus", "traffic"):
            with self.subTest(program=program):
                done = prefix().run([f"./{program}"], cwd=self.dir)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
        after = "\tPUMICE_LINE(.input v0, global_x)\n"
        done = self.run_edited("vector-add", after, f"{after}\tPUMICE_LINE(mov r8, [one], r9)\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "100000 sums are right\n", "shader:4: warning: r9 is read, but "
                          "nothing has written it: it is 0\n"))

    def test_mistakes_of_the_tutorial_are_printed_as_it_quotes_them(self):
        page = " ".join((TOP / "Documentation/first-frame.rst").read_text(encoding="utf-8").split())
        position, varying = re.findall(r"``(shader:\d+: warning: [^`]+)``", page)
        for words, old, new, wanted in (
                ("the line ``uvsw vo3, v3``", "\tPUMICE_LINE(uvsw vo3, v3)\n", "", [position]),
                ("``NULL, 0`` in place of ``&varying, 1``", "&varying, 1", "NULL, 0",
                 [varying.replace("1: warning: v0", f"{n + 1}: warning: v{n}") for n in range(3)])):
            with self.subTest(words):
                self.assertIn(words, page)
                done = self.run_edited("triangle", old, new)
                self.assertEqual((done.returncode, done.stderr.splitlines()), (0, wanted))

    def test_options_print_the_usage(self):
        for program, words in (("torus", "[DEVICE [PICTURE.ppm]]"), ("vector-add", "[DEVICE]")):
            usage = f"usage: ./{program} {words}; DEVICE: inproc (default), "
            self.assertTrue(self.call([f"./{program}", "--help"]).startswith(usage))
            for arguments in (["-x"], ["inproc", "a.ppm", "b.ppm"]):
                done = prefix().run([f"./{program}", *arguments], cwd=self.dir)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertTrue(done.stderr.startswith(usage))

    def test_traffic_counts_as_the_documentation_shows(self):
        kept = TOP / "Documentation/pictures/traffic/traffic.csv"
        counted, shown = ([line.rsplit(",", 1) for line in text.splitlines()[1:]] for text in (
            self.call(["./traffic"]), kept.read_text(encoding="utf-8").partition("\n")[2]))
        self.assertEqual([point for point, _ in counted], [point for point, _ in shown])
        # The places of code and tables in memory decide which lines share a set.
        for (point, value), (_, wanted) in zip(counted, shown):
            self.assertLess(abs(float(value) - float(wanted)), 0.02 + 0.02 * float(wanted), point)

    def test_traffic_refuses_a_device_that_does_not_count(self):
        done = prefix().run(["./traffic", "inproc:threads=0"], cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "the device does not count: use mode=counted\n"))

    def test_collatz_finds_the_longest_sequence(self):
        number, steps = longest_sequence(100000)
        self.assertEqual(self.call(["./collatz"]).splitlines()[0],
                         f"{number} takes {steps} steps")

    def test_each_leaks_nothing_under_sanitizers(self):
        self.dir = prefix().examples.parent / "sanitized"
        shutil.copytree(prefix().examples, self.dir)
        self.call(["make", "clean", "all", "CFLAGS=-O1 -g -fsanitize=address,undefined "
                                           "-fno-sanitize-recover=all"])
        for program in ("vector-add", "collatz", "timeline", "triangle", "torus", "traffic"):
            with self.subTest(program=program):
                self.call([f"./{program}"])

    def picture(self, program):
        """Return the bytes of the picture that an example draws, row by row."""
        self.call([f"./{program}", "inproc:threads=1", "picture.ppm"])
        header, data = (self.dir / "picture.ppm").read_bytes().split(b"\n", 1)
        size = torus_reference.SIZE
        self.assertEqual(header, f"P6 {size} {size} 255".encode())
        self.assertEqual(len(data), size * size * 3)
        return data

    def test_triangle_has_the_colours_of_its_corners(self):
        data = self.picture("triangle")
        size, inside = torus_reference.SIZE, 0
        for n in range(size * size):
            x, y = (n % size + 0.5) / size * 2 - 1, 1 - (n // size + 0.5) / size * 2
            blue = (y + 0.7) / 1.5
            green = (x + 0.8 * (1 - blue)) / 1.6
            weights = [1 - green - blue, green, blue]
            got = data[3 * n:3 * n + 3]
            inside += min(weights) > 0
            if min(weights) > 0.01:
                for value, light in zip(got, weights):
                    self.assertLess(abs(value - torus_reference.encode(light)), 1.5,
                                    f"pixel {n % size}, {n // size}")
            elif min(weights) < -0.01:
                self.assertEqual(got, bytes(3), f"pixel {n % size}, {n // size}")
        drawn = sum(data[3 * n:3 * n + 3] != bytes(3) for n in range(size * size))
        self.assertLess(abs(drawn - inside), 3)

    def test_torus_is_that_of_a_ray_tracer(self):
        data = self.picture("torus")
        reference = torus_reference.Reference()
        self.check_inner(data, reference)
        self.check_coverage(data, reference)
        self.check_edges(data, reference)

    def check_inner(self, data, reference):
        """Check light, texture and blend, where neither an outline nor a border is near."""
        count = 0
        for x, y, colour in reference.inner():
            at = (y * torus_reference.SIZE + x) * 3
            for got, light in zip(data[at:at + 3], colour):
                self.assertLess(abs(got - torus_reference.encode(light)), 3, f"pixel {x}, {y}")
            count += 1
        self.assertGreater(count, 4000)

    def check_coverage(self, data, reference):
        """Check that nothing but the torus is drawn, and that its area is right."""
        sky = bytes(round(torus_reference.encode(light)) for light in torus_reference.SKY)
        size = torus_reference.SIZE
        outside = [data[n * 3:n * 3 + 3] == sky for n in range(size * size)]
        for n in range(size * size):
            corners = len(reference.corners(n % size, n // size))
            self.assertFalse(corners == 4 and outside[n], f"pixel {n % size}, {n // size}")
        touched = size * size - sum(outside)
        edge = sum(1 for _ in reference.edges())
        self.assertLess(reference.covered(), touched)
        self.assertLess(touched, reference.covered() + edge)

    def check_edges(self, data, reference):
        """Check four samples a pixel: outlines are nearer to 64 rays a pixel than one could be."""
        drawn = one = 0
        for x, y, colour, middle in reference.edges():
            at = (y * torus_reference.SIZE + x) * 3
            for got, light, single in zip(data[at:at + 3], colour, middle):
                drawn += (torus_reference.decode(got) - light) ** 2
                one += (single - light) ** 2
        self.assertLess(drawn, one / 2)


def longest_sequence(limit):
    """Return (number below limit, steps) of the longest Collatz sequence; the largest of equals."""
    best = (0, 0)
    known = {1: 0}
    for start in range(1, limit):
        n, path = start, []
        while n not in known:
            path.append(n)
            n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps = known[n]
        for value in reversed(path):
            steps += 1
            known[value] = steps
        best = max(best, (known[start], start))
    return best[1], best[0]


if __name__ == "__main__":
    unittest.main()
