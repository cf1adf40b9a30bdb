// SPDX-License-Identifier: MIT
/* Error texts of failed and of late jobs, of compute and of render contexts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pumice/pumice.h"
#include "pumice/pumice_gfx.h"

#define MS	1000000ull

/* A device with one context and one stream, or a canvas. */
struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
};

static const char pass_vertex[] = "uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\nend\n";
static const char pass_fragment[] = "mov o0, [one], 1.0\nend\n";
static const char endless[] = "mov r0, [one], 0\nloop: jump loop\n";

static void set_up(struct fixture *f, const char *options)
{
	char name[96], error[PUMICE_ERROR_BYTES] = "";

	*f = (struct fixture){ 0 };
	snprintf(name, sizeof(name), "inproc:cores=1,ram=64,%s", options);
	if (pumice_device_open(name, &f->dev, error, sizeof(error)))
		fail_msg("%s: %s", name, error);
	assert_int_equal(pumice_vm_create(f->dev, &f->vm), 0);
	assert_int_equal(pumice_context_create(f->vm, PUMICE_PRIORITY_NORMAL, &f->context), 0);
	assert_int_equal(pumice_stream_create(f->vm, 65536, &f->stream), 0);
}

static void tear_down(struct fixture *f)
{
	pumice_context_destroy(f->context);
	pumice_stream_destroy(f->stream);
	pumice_kernel_destroy(f->kernel);
	pumice_vm_destroy(f->vm);
	pumice_device_close(f->dev);
}

static void assert_text(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' is not in: %s", words, text);
}

static void assert_error(const struct fixture *f, const char *words)
{
	assert_text(pumice_device_error(f->dev), words);
}

/* Make the fixture's stream one work-group of a program. Return: its address */
static uint64_t record(struct fixture *f, const char *name, const char *text)
{
	struct pumice_dispatch dispatch;
	uint64_t start;

	pumice_kernel_destroy(f->kernel);
	f->kernel = NULL;
	if (pumice_kernel_assemble(f->vm, name, text, &f->kernel))
		fail_msg("%s", pumice_device_error(f->dev));
	pumice_dispatch_init(&dispatch, f->kernel);
	pumice_stream_reset(f->stream);
	assert_int_equal(pumice_stream_dispatch(f->stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(f->stream, &start), 0);
	return start;
}

/* Run one work-group of a program. */
static int compute(struct fixture *f, const char *name, const char *text, uint64_t timeout_ns)
{
	return pumice_context_run(f->context, record(f, name, text), timeout_ns, NULL);
}

/* Draw a triangle over a canvas of 32 x 32; returns what pumice_canvas_end() does. */
static int draw(struct fixture *f, struct pumice_canvas *canvas, struct pumice_kernel *vertex,
		struct pumice_kernel *fragment)
{
	static const float corners[3][4] = { { -1, -1, 0, 1 }, { 3, -1, 0, 1 }, { -1, 3, 0, 1 } };
	static const float black[4];
	struct pumice_input input;
	const struct pumice_stage_desc stages[2] = { { vertex, &input, 1 }, { fragment, NULL, 0 } };
	struct pumice_draw_state state;
	struct pumice_stream *stream = pumice_canvas_begin(canvas);
	struct pumice_vdm_draw triangle;
	struct pumice_buffer buffer;
	int err;

	assert_int_equal(pumice_buffer_create(f->vm, sizeof(corners), &buffer), 0);
	memcpy(buffer.cpu, corners, sizeof(corners));
	input = pumice_input_attribute(0, 4, buffer.va, 16, 3);
	pumice_draw_state_init(&state, 32, 32);
	pumice_vdm_draw_defaults(&triangle);
	triangle.count = 3;
	if (pumice_stream_stages(stream, &state, &stages[0], &stages[1]) ||
	    pumice_stream_draw(stream, &triangle))
		fail_msg("%s", pumice_device_error(f->dev));
	err = pumice_canvas_end(canvas, black, PUMICE_FOREVER);
	pumice_buffer_destroy(&buffer);
	return err;
}

/* The last error text is the description of this job without the end of its last line. */
static void assert_describes(const struct fixture *f, struct pumice_context *context, uint64_t job)
{
	char text[PUMICE_ERROR_BYTES];

	assert_int_equal(pumice_context_describe_job(context, job, text, sizeof(text)), 0);
	assert_text(text, "job ");
	assert_int_equal(text[strlen(text) - 1], '\n');
	text[strlen(text) - 1] = '\0';
	assert_string_equal(text, pumice_device_error(f->dev));
}

/*
 * Draw with programs of these texts, and check the error text, which is of job @failed: 1 is the
 * geometry job, 2 the fragment job.
 */
static void assert_draw_fails(const char *options, const char *vertex_text,
			      const char *fragment_text, uint64_t failed,
			      const char *const words[3])
{
	struct pumice_kernel *vertex, *fragment;
	struct pumice_canvas_desc desc;
	struct pumice_canvas *canvas;
	struct fixture f;
	int i;

	set_up(&f, options);
	if (pumice_kernel_assemble(f.vm, "vertex", vertex_text, &vertex) ||
	    pumice_kernel_assemble(f.vm, "fragment", fragment_text, &fragment))
		fail_msg("%s", pumice_device_error(f.dev));
	pumice_canvas_desc_init(&desc, 32, 32);
	assert_int_equal(pumice_canvas_create(f.vm, &desc, &canvas), 0);
	assert_int_equal(draw(&f, canvas, vertex, fragment), -EIO);
	print_message("%s\n", pumice_device_error(f.dev));
	for (i = 0; i < 3; i++)
		assert_error(&f, words[i]);
	assert_int_equal(pumice_context_jobs(pumice_canvas_context(canvas)), 2);
	assert_describes(&f, pumice_canvas_context(canvas), failed);
	pumice_canvas_destroy(canvas);
	pumice_kernel_destroy(vertex);
	pumice_kernel_destroy(fragment);
	tear_down(&f);
}

/* The fragment job of a scene that was not finished faults too, and ends last. */
static void the_first_fault_of_a_frame_is_reported(void **state)
{
	(void)state;
	assert_draw_fails("threads=0", "mov sh0, 0\nmov sh1, 0\nmov r1, [one], 16\n"
			  "global_store32 sig0, [one], sh0 + r1, r1\nend\n", pass_fragment, 1,
			  (const char *const[3]){ "job faulted: mmu-", ": write, ", "vertex:4" });
}

static void the_error_text_has_all_lines(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, "threads=0");
	assert_int_equal(compute(&f, "shader", "mov sh0, 0\nmov sh1, 0\nmov r1, [one], 16\n"
				 "global_store32 sig0, [one], sh0 + r1, r1\nmov r2, [one], 5\n"
				 "end\n", PUMICE_FOREVER), -EIO);
	assert_error(&f, "=>     3  global_store32 sig0, [one], sh0 + r1, r1    ; shader:4\n");
	assert_error(&f, "      5  end    ; shader:6");
	assert_int_equal(pumice_device_error(f.dev)[strlen(pumice_device_error(f.dev)) - 1], '6');
	tear_down(&f);
}

static void a_text_that_does_not_fit_ends_with_a_line(void **state)
{
	char name[600], text[PUMICE_ERROR_BYTES], *end;
	struct fixture f;
	size_t bytes;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	set_up(&f, "threads=0");
	assert_int_equal(compute(&f, name, "mov r0, [one], 1\nmov r0, [one], 1\nmov r0, [one], 1\n"
				 "mov sh0, 0\nmov sh1, 0\nglobal_store32 sig0, [one], sh0 + r0, r0\n"
				 "mov r0, [one], 1\nmov r0, [one], 1\nend\n", PUMICE_FOREVER),
			 -EIO);
	assert_error(&f, "\n  (truncated: pumice_context_describe_job() returns all of it)");
	for (bytes = 700; bytes < sizeof(text); bytes += 100) {
		assert_int_equal(pumice_context_describe_job(f.context, 0, text, bytes), 0);
		end = text + strlen(text);
		assert_true(end > text && end[-1] == '\n' && (size_t)(end - text) < bytes);
	}
	tear_down(&f);
}

/* Run a program, which fails, and check the error text. */
static void assert_fails(const char *text, const char *const words[4])
{
	struct fixture f;
	int i;

	set_up(&f, "threads=0");
	assert_int_equal(compute(&f, "shader", text, PUMICE_FOREVER), -EIO);
	print_message("%s\n", pumice_device_error(f.dev));
	for (i = 0; i < 4 && words[i]; i++)
		assert_error(&f, words[i]);
	tear_down(&f);
}

/* The number of slot registers is a property of the device, of which the assembler has none. */
static void a_program_that_is_refused_names_the_instruction(void **state)
{
	(void)state;
	assert_fails("mov r0, [one], 0\nmov sl4, [one], r0\nend\n", (const char *const[4]){
		"job faulted: usc-register at 0x",
		"\n  A register number beyond the allocation. For sl, use numbers below the "
		"device's property slot-registers, for i below 8 minus it; ",
		"\n  instruction 1 of the program at 0x",
		", shader:2, which was not run\n" });
	/* mov o0, [one], r0, which the assembler refuses in a program that is none of fragments. */
	assert_fails(".temps 1\n.word 0x410001, 0x100007, 0, 0\nend\n", (const char *const[4]){
		"job faulted: usc-bank at 0x",
		"\n  A register bank that this data master does not have. Use each program in its "
		"own stage: o are of fragments and tiles, vo of vertices and generated rays, SH and V of all.\n" });
}

static void a_missing_end_is_named(void **state)
{
	(void)state;
	assert_fails("mov r0, [one], 0\nmov r1, [one], r0\n", (const char *const[4]){
		"job faulted: usc-end at 0x",
		", shader:2\n  work-group (0, 0, 0), wave 0",
		"         1  mov r1, [one], r0    ; shader:2\n",
		"  =>     2  (the program has no further instruction: end is missing)" });
}

/* The second wave ends before the barrier of the first. */
static void a_barrier_names_its_wave_and_group(void **state)
{
	(void)state;
	assert_fails(".group 64\n.input v0, local_x\nlt.u32 r0, v0, 32\n"
		     "br_any skip, [r0]\nbarrier\nskip: end\n", (const char *const[4]){
		"job faulted: usc-barrier at 0x", "\n  work-group (0, 0, 0), wave ",
		", shader:5\n", "barrier    ; shader:5" });
}

/* The same for a copy, which is one instruction for all waves. */
static void a_work_group_copy_that_a_wave_misses_is_explained(void **state)
{
	(void)state;
	assert_fails(".group 64\n.local 16\n.input v0, local_x\nlt.u32 r0, v0, 32\n"
		     "br_any skip, [r0]\ngroup_load sig0, sc0, 0, 4\nskip: end\n",
		     (const char *const[4]){
		"job faulted: usc-barrier at 0x",
		"Move the barrier or work-group copy out of the branch, so that every wave reaches it",
		", shader:6\n", "group_load sig0, sc0, 0, 4    ; shader:6" });
}

static void local_bounds_name_offset_and_size(void **state)
{
	(void)state;
	assert_fails(".local 64\nmov r0, [one], 4096\nlocal_store32 [one], r0, r0\nend\n",
		     (const char *const[4]){ "job faulted: usc-local-bounds at 0x1000 in usc-data, pc 1: "
		     "offset 4096 of local memory, 4032 bytes past the end of its 64 bytes\n",
		     "shader:3" });
	assert_fails(".local 64\nmov r0, [one], 16\nlocal_atomicw.u32 or, r1, [one], r0, r0\nend\n",
		     (const char *const[4]){ "job faulted: usc-local-bounds at 0x40 in usc-data, pc 1: "
		     "offset 64 of local memory, the first byte past the end of its 64 bytes\n" });
	assert_fails(".local 64\nmov r0, [one], 60\nlocal_store64 [one], r0, r0\nend\n",
		     (const char *const[4]){
		     ": offset 60 of local memory: the access crosses the end of its 64 bytes\n" });
	assert_fails(".local 64\nmov r0, [one], -8\nlocal_store32 [one], r0, r0\nend\n",
		     (const char *const[4]){ ": offset 4294967288 of local memory, "
		     "-8 if it was meant to be negative: offsets are unsigned\n" });
	assert_fails(".local 64\nmov r0, [one], -8\nlocal_store32 [one], r0 + 12, r0\nend\n",
		     (const char *const[4]){ ": offset 4294967300 of local memory, "
		     "the sum of a negative register and a displacement: offsets are unsigned\n" });
}

static void local_alignment_names_offset_and_rule(void **state)
{
	(void)state;
	assert_fails(".local 64\nmov r0, [one], 5\nlocal_store32 [one], r0, r0\nend\n",
		     (const char *const[4]){ "job faulted: usc-local-align at 0x5 in usc-data, pc 1: "
		     "offset 5 of local memory\n  Misaligned local memory access. A 32-bit access "
		     "needs a multiple of 4: shift the index left by 2.\n", "shader:3" });
}

static void local_memory_that_is_not_declared_is_named(void **state)
{
	(void)state;
	assert_fails("mov r0, [one], 0\nlocal_store32 [one], r0, r0\nend\n",
		     (const char *const[4]){ "job faulted: usc-local-bounds",
		     ": offset 0 of local memory, but the work-group has none: declare it: "
		     ".local BYTES\n" });
}

/* The words after the dispatch are zeroes. */
static void a_stream_without_an_end_is_explained(void **state)
{
	struct pumice_dispatch dispatch;
	struct fixture f;
	uint64_t start;

	(void)state;
	set_up(&f, "threads=0");
	start = pumice_stream_va(f.stream);
	assert_int_equal(pumice_kernel_assemble(f.vm, "shader", "end\n", &f.kernel), 0);
	pumice_dispatch_init(&dispatch, f.kernel);
	assert_int_equal(pumice_stream_dispatch(f.stream, &dispatch), 0);
	assert_int_equal(pumice_context_run(f.context, start, PUMICE_FOREVER, NULL), -EIO);
	assert_error(&f, "job faulted: cdm-command at 0x");
	assert_error(&f, "  Unknown command in the control stream. End the stream with "
			 "pumice_stream_end(), and submit draws and transfers to contexts of their "
			 "type.");
	tear_down(&f);
}

/* A draw without pumice_stream_stages(). */
static void a_draw_without_state_is_explained(void **state)
{
	static const float black[4];
	struct pumice_vdm_draw triangle;
	struct pumice_canvas_desc desc;
	struct pumice_canvas *canvas;
	struct fixture f;

	(void)state;
	set_up(&f, "threads=0");
	pumice_canvas_desc_init(&desc, 32, 32);
	assert_int_equal(pumice_canvas_create(f.vm, &desc, &canvas), 0);
	pumice_vdm_draw_defaults(&triangle);
	triangle.count = 3;
	assert_int_equal(pumice_stream_draw(pumice_canvas_begin(canvas), &triangle), 0);
	assert_int_equal(pumice_canvas_end(canvas, black, PUMICE_FOREVER), -EIO);
	assert_error(&f, "job faulted: vdm-state at 0x");
	assert_error(&f, " Begin with pumice_draw_state_init(), and record pumice_stream_stages() "
			 "before the draw.");
	pumice_canvas_destroy(canvas);
	tear_down(&f);
}

static void a_texture_that_is_not_bound_is_explained(void **state)
{
	(void)state;
	assert_draw_fails("threads=0", pass_vertex, "mov r0, [one], 0\nmov r1, [one], 0\n"
			  "sample.f32 r4, 2d, r0, sh0\nmov o0, [one], r4\nend\n", 2,
			  (const char *const[3]){ "job faulted: tag-state at 0",
						  " Bind the texture with pumice_input_texture(), at "
						  "the register that the instruction names",
						  "in tag" });
}

static void a_uniform_stream_that_is_not_set_is_explained(void **state)
{
	(void)state;
	assert_draw_fails("threads=0", pass_vertex, "mov o0, [one], uniform\nend\n", 2,
			  (const char *const[3]){ "job faulted: usc-uniform at 0x",
						  "uniform_words of the state or launch.\n  "
						  "instruction 0 of", "fragment:1" });
}

static void an_output_that_a_canvas_does_not_have_is_explained(void **state)
{
	(void)state;
	assert_draw_fails("threads=0", pass_vertex, "mov o4, [one], 1.0\nend\n", 2,
			  (const char *const[3]){ "job faulted: usc-register at 0x",
						  "pdm.outputs, of which a canvas has 4.\n  "
						  "instruction 0 of the program at 0x",
						  "fragment:1, which was not run\n" });
}

/* Only buffers of the library are bound: the stream of 64 KiB, and after it the program. */
static void a_wild_address_blames_no_buffer_of_the_library(void **state)
{
	static const uint64_t offsets[] = { 104u << 10, 1u << 20 };
	char text[256];
	struct fixture f;
	uint64_t va;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		set_up(&f, "threads=0");
		va = pumice_stream_va(f.stream) + offsets[i];
		snprintf(text, sizeof(text), "mov sh0, %#x\nmov sh1, %#x\nmov r1, [one], 0\n"
			 "global_store32 sig0, [one], sh0 + r1, r1\nend\n", (unsigned int)va,
			 (unsigned int)(va >> 32));
		assert_int_equal(compute(&f, "shader", text, PUMICE_FOREVER), -EIO);
		print_message("%s\n", pumice_device_error(f.dev));
		assert_error(&f, ": write, not near any buffer\n");
		tear_down(&f);
	}
	set_up(&f, "threads=0");
	va = pumice_stream_va(f.stream) + offsets[1];
	assert_int_equal(pumice_context_run(f.context, va, PUMICE_FOREVER, NULL), -EIO);
	assert_error(&f, ": read, not near any buffer\n");
	tear_down(&f);
}

/* A store past a buffer, and one past its last page. */
static void an_overrun_names_the_users_buffer(void **state)
{
	static const char text[] = ".uniforms sh0, 2\nmov r1, [one], 0\n"
				   "global_store32 sig0, [one], sh0 + r1, r1\nend\n";
	static const struct {
		uint64_t offset;
		const char *words;
	} cases[] = {
		{ 4096, ": write, at the first byte past the end of 'mine'" },
		{ 4096 + 32, ": write, 32 bytes past the end of 'mine'" },
	};
	struct pumice_dispatch dispatch;
	struct pumice_buffer buffer, next;
	uint32_t uniforms[2];
	struct fixture f;
	uint64_t start;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up(&f, "threads=0");
		assert_int_equal(pumice_buffer_create(f.vm, 4096, &buffer), 0);
		assert_int_equal(pumice_buffer_create(f.vm, 4096, &next), 0);
		pumice_bo_set_label(buffer.bo, "mine");
		assert_int_equal(pumice_kernel_assemble(f.vm, "shader", text, &f.kernel), 0);
		pumice_dispatch_init(&dispatch, f.kernel);
		uniforms[0] = (uint32_t)(buffer.va + cases[i].offset);
		uniforms[1] = (uint32_t)(buffer.va >> 32);
		dispatch.uniforms = uniforms;
		dispatch.uniform_words = 2;
		assert_int_equal(pumice_stream_dispatch(f.stream, &dispatch), 0);
		assert_int_equal(pumice_stream_end(f.stream, &start), 0);
		assert_int_equal(pumice_context_run(f.context, start, PUMICE_FOREVER, NULL), -EIO);
		print_message("%s\n", pumice_device_error(f.dev));
		assert_error(&f, cases[i].words);
		pumice_buffer_destroy(&next);
		pumice_buffer_destroy(&buffer);
		tear_down(&f);
	}
}

/* Run a store through the two words of an address, which fails. */
static void store_at(struct fixture *f, uint64_t va)
{
	const uint32_t uniforms[2] = { (uint32_t)va, (uint32_t)(va >> 32) };
	struct pumice_dispatch dispatch;
	uint64_t start;

	pumice_kernel_destroy(f->kernel);
	f->kernel = NULL;
	assert_int_equal(pumice_kernel_assemble(f->vm, "shader", ".uniforms sh0, 2\n"
						"mov r1, [one], 0\n"
						"global_store32 sig0, [one], sh0 + r1, r1\nend\n",
						&f->kernel), 0);
	pumice_dispatch_init(&dispatch, f->kernel);
	dispatch.uniforms = uniforms;
	dispatch.uniform_words = 2;
	pumice_stream_reset(f->stream);
	assert_int_equal(pumice_stream_dispatch(f->stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(f->stream, &start), 0);
	assert_int_equal(pumice_context_run(f->context, start, PUMICE_FOREVER, NULL), -EIO);
	print_message("%s\n", pumice_device_error(f->dev));
}

static void an_address_that_is_near_nothing_is_explained(void **state)
{
	static const struct {
		uint64_t va;
		const char *words;
	} cases[] = {
		{ 0x800, ": write, not near any buffer\n  Nothing is bound at this address. A base "
			 "address is 0, or its register was not loaded.\n" },
		{ 0x7f2a00001000, ": write, not near any buffer\n  Nothing is bound at this address. "
				  "It is not a GPU address: pass pumice_buffer.va, not .cpu, in two "
				  "words, the lower first.\n" },
		{ 0x1000000000, ": write, not near any buffer\n  Nothing is bound at this address.\n" },
	};
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_up(&f, "threads=0");
		store_at(&f, cases[i].va);
		assert_error(&f, cases[i].words);
		tear_down(&f);
	}
}

/* Bind a buffer of a page, read only. */
static struct pumice_bo *bind_page(struct fixture *f, uint64_t va, const char *label)
{
	struct pumice_bind op = { .va = va, .size = 4096, .flags = PUMICE_BIND_READONLY };
	struct pumice_bo *bo;

	assert_int_equal(pumice_bo_create(f->dev, 4096, f->vm, &bo), 0);
	assert_int_equal(pumice_bo_set_label(bo, label), 0);
	op.bo = bo;
	assert_int_equal(pumice_vm_bind(f->vm, &op, 1, NULL), 0);
	return bo;
}

static void unbind_page(struct fixture *f, uint64_t va, struct pumice_bo *bo)
{
	const struct pumice_bind op = { .va = va, .size = 4096 };

	assert_int_equal(pumice_vm_bind(f->vm, &op, 1, NULL), 0);
	pumice_bo_destroy(bo);
}

/* Its place is remembered until 16 others are unbound, or something else is bound there. */
static void an_access_of_a_destroyed_buffer_names_it(void **state)
{
	const uint64_t va = 0x5000000000;
	struct fixture f;
	int i;

	(void)state;
	set_up(&f, "threads=0");
	unbind_page(&f, va, bind_page(&f, va, "result"));
	for (i = 1; i < 16; i++) {
		const uint64_t other = va + (uint64_t)i * 8192;

		unbind_page(&f, other, bind_page(&f, other, "later"));
	}
	store_at(&f, va + 8);
	assert_error(&f, ": write, byte 8 of 'result', which was destroyed or unbound\n");
	store_at(&f, va + 15 * 8192);
	assert_error(&f, ": write, byte 0 of 'later', which was destroyed or unbound\n");
	tear_down(&f);
}

/* One of the library's own is no better explanation only because it still exists. */
static void an_access_next_to_a_destroyed_buffer_names_it(void **state)
{
	const uint64_t va = 0x5000001000;
	struct fixture f;

	(void)state;
	set_up(&f, "threads=0");
	unbind_page(&f, va, bind_page(&f, va, "result"));
	store_at(&f, va + 4096);
	assert_error(&f, ": write, at the first byte past the end of 'result', which was destroyed or "
		     "unbound\n");
	store_at(&f, va + 4104);
	assert_error(&f, ": write, 8 bytes past the end of 'result', which was destroyed or unbound\n");
	store_at(&f, va - 4);
	assert_error(&f, ": write, 4 bytes before the start of 'result', which was destroyed or "
		     "unbound\n");
	tear_down(&f);
}

/* Buffers have the bytes of their creation, not those of their pages. */
static void a_destroyed_buffer_ends_at_its_last_byte(void **state)
{
	struct pumice_buffer room, buffer;
	struct fixture f;
	uint64_t va;

	(void)state;
	set_up(&f, "threads=0");
	/* The place for the program of store_at(). */
	assert_int_equal(pumice_buffer_create(f.vm, 4096, &room), 0);
	assert_int_equal(pumice_buffer_create(f.vm, 100, &buffer), 0);
	assert_int_equal(pumice_bo_set_label(buffer.bo, "result"), 0);
	va = buffer.va;
	pumice_buffer_destroy(&room);
	pumice_buffer_destroy(&buffer);
	store_at(&f, va + 108);
	assert_error(&f, ": write, 8 bytes past the end of 'result', which was destroyed or unbound\n");
	tear_down(&f);
}

static void an_access_of_a_buffer_bound_since_names_that_one(void **state)
{
	const uint64_t va = 0x5000000000;
	struct pumice_bo *bo;
	struct fixture f;

	(void)state;
	set_up(&f, "threads=0");
	unbind_page(&f, va, bind_page(&f, va, "result"));
	bo = bind_page(&f, va, "next");
	store_at(&f, va + 8);
	assert_error(&f, ": write, byte 8 of 'next', which is read only\n  The page is read only: bind "
		     "the buffer without PUMICE_BIND_READONLY.\n");
	store_at(&f, va + 4096);
	assert_error(&f, ": write, at the first byte past the end of 'next'\n");
	unbind_page(&f, va, bo);
	tear_down(&f);
}

static void a_job_of_a_destroyed_stream_names_it(void **state)
{
	struct pumice_stream *other;
	struct fixture f;
	uint64_t start;

	(void)state;
	set_up(&f, "threads=0");
	assert_int_equal(pumice_stream_create(f.vm, 4096, &other), 0);
	assert_int_equal(pumice_stream_end(other, &start), 0);
	pumice_stream_destroy(other);
	assert_int_equal(pumice_context_run(f.context, start, PUMICE_FOREVER, NULL), -EIO);
	assert_error(&f, "read, byte 0 of a stream of the library, which was destroyed or unbound");
	tear_down(&f);
}

/* Streams are the library's: their neighbours of the program are not the reason. */
static void an_address_before_the_stream_names_the_stream(void **state)
{
	struct pumice_buffer buffer;
	struct fixture f;
	uint64_t start;

	(void)state;
	set_up(&f, "threads=0");
	assert_int_equal(pumice_buffer_create(f.vm, 4096, &buffer), 0);
	pumice_bo_set_label(buffer.bo, "result");
	start = pumice_stream_va(f.stream) - 12;
	assert_int_equal(pumice_context_run(f.context, start, PUMICE_FOREVER, NULL), -EIO);
	assert_error(&f, "in cdm, pc 0: read, 12 bytes before the start of a stream of the library\n"
		     "  Nothing is bound at this address of a stream or of its state.");
	pumice_buffer_destroy(&buffer);
	tear_down(&f);
}

/* A record that does not begin with defaults has whatever the stack held. */
static void a_draw_record_of_garbage_is_explained(void **state)
{
	static const float black[4];
	struct pumice_stage_desc stages[2] = { { NULL, NULL, 0 }, { NULL, NULL, 0 } };
	struct pumice_kernel *vertex, *fragment;
	struct pumice_draw_state draw;
	struct pumice_stream *stream;
	uint32_t words[PUMICE_VDM_DRAW_WORDS];
	struct pumice_vdm_draw triangle;
	struct pumice_canvas_desc desc;
	struct pumice_canvas *canvas;
	struct fixture f;

	(void)state;
	set_up(&f, "threads=0");
	pumice_canvas_desc_init(&desc, 32, 32);
	assert_int_equal(pumice_canvas_create(f.vm, &desc, &canvas), 0);
	assert_int_equal(pumice_kernel_assemble(f.vm, "vertex", pass_vertex, &vertex), 0);
	assert_int_equal(pumice_kernel_assemble(f.vm, "fragment", pass_fragment, &fragment), 0);
	stages[0].kernel = vertex;
	stages[1].kernel = fragment;
	pumice_draw_state_init(&draw, 32, 32);
	stream = pumice_canvas_begin(canvas);
	assert_int_equal(pumice_stream_stages(stream, &draw, &stages[0], &stages[1]), 0);
	memset(&triangle, 0x5a, sizeof(triangle));
	triangle.after = false;		/* 0x5a is not a value of bool */
	triangle.topology = 0xff;
	assert_int_equal(pumice_stream_draw(stream, &triangle), -EINVAL);
	assert_error(&f, "draw: topology 255 is not one of enum pumice_topology; begin with "
		     "pumice_vdm_draw_defaults()");
	/* The GPU's own words about the same record. */
	pumice_vdm_draw_pack(words, &triangle);
	assert_int_equal(pumice_stream_emit(stream, words, PUMICE_VDM_DRAW_WORDS), 0);
	assert_int_equal(pumice_canvas_end(canvas, black, PUMICE_FOREVER), -EIO);
	assert_error(&f, "job faulted: vdm-reserved at 0x");
	assert_error(&f, " Begin a draw with pumice_vdm_draw_defaults(), and its state with "
			 "pumice_draw_state_init().");
	pumice_canvas_destroy(canvas);
	pumice_kernel_destroy(vertex);
	pumice_kernel_destroy(fragment);
	tear_down(&f);
}

static void a_canvas_without_a_colour_is_cleared_to_zeroes(void **state)
{
	const struct pumice_image_part part = { 0 };
	static uint8_t texels[32 * 32 * 4];
	static const float white[4] = { 1, 1, 1, 1 };
	struct pumice_canvas_desc desc;
	struct pumice_canvas *canvas;
	struct fixture f;

	(void)state;
	set_up(&f, "threads=0");
	pumice_canvas_desc_init(&desc, 32, 32);
	assert_int_equal(pumice_canvas_create(f.vm, &desc, &canvas), 0);
	pumice_canvas_begin(canvas);
	assert_int_equal(pumice_canvas_end(canvas, white, PUMICE_FOREVER), 0);
	assert_int_equal(pumice_image_download(pumice_canvas_image(canvas), part, texels, 0), 0);
	assert_int_equal(texels[1], 255);
	pumice_canvas_begin(canvas);
	assert_int_equal(pumice_canvas_end(canvas, NULL, PUMICE_FOREVER), 0);
	assert_int_equal(pumice_image_download(pumice_canvas_image(canvas), part, texels, 0), 0);
	assert_int_equal(texels[1], 0);
	pumice_canvas_destroy(canvas);
	tear_down(&f);
}

static void uniforms_that_are_not_set_are_refused(void **state)
{
	static const uint32_t words[3];
	struct pumice_dispatch dispatch;
	struct fixture f;

	(void)state;
	set_up(&f, "threads=0");
	assert_int_equal(pumice_kernel_assemble(f.vm, "shader", ".uniforms sh0, 3\nend\n",
						&f.kernel), 0);
	pumice_dispatch_init(&dispatch, f.kernel);
	dispatch.uniform_words = 3;
	assert_int_equal(pumice_stream_dispatch(f.stream, &dispatch), -EINVAL);
	assert_error(&f, "dispatch: uniforms is NULL; set it to the kernel's 3 words");
	dispatch.uniform_words = 0;
	assert_int_equal(pumice_stream_dispatch(f.stream, &dispatch), -EINVAL);
	assert_error(&f, "dispatch: uniform_words is 0, but the kernel takes 3");
	dispatch.uniforms = words;
	dispatch.uniform_words = 3;
	assert_int_equal(pumice_stream_dispatch(f.stream, &dispatch), 0);
	tear_down(&f);
}

static void varyings_that_do_not_exist_are_refused(void **state)
{
	struct pumice_kernel *vertex, *fragment;
	struct pumice_input input = pumice_input_varying(0, 0, 4);
	struct pumice_stage_desc stages[2] = { { NULL, NULL, 0 }, { NULL, &input, 1 } };
	struct pumice_draw_state draw;
	struct fixture f;

	(void)state;
	set_up(&f, "threads=0");
	assert_int_equal(pumice_kernel_assemble(f.vm, "vertex", "uvsw vo0, v0\nuvsw vo1, v1\n"
						"uvsw vo2, v2\nuvsw vo3, v3\nuvsw vo5, v0\nend\n",
						&vertex), 0);
	assert_int_equal(pumice_kernel_assemble(f.vm, "fragment", "mov o0, [one], v3\nend\n",
						&fragment), 0);
	stages[0].kernel = vertex;
	stages[1].kernel = fragment;
	pumice_draw_state_init(&draw, 32, 32);
	assert_int_equal(pumice_stream_stages(f.stream, &draw, &stages[0], &stages[1]), -EINVAL);
	assert_error(&f, "stage: the vertex program writes vo5, but vdm.varyings is 0; set it to 2, "
			 "the outputs from vo4 on");
	draw.vdm.varyings = 2;
	assert_int_equal(pumice_stream_stages(f.stream, &draw, &stages[0], &stages[1]), -EINVAL);
	assert_error(&f, "stage: input 0 of the fragment stage reads varyings 0 to 3, but "
			 "vdm.varyings is 2");
	draw.vdm.varyings = 4;
	assert_int_equal(pumice_stream_stages(f.stream, &draw, &stages[0], &stages[1]), 0);
	/* The plane of 1/w always exists. */
	input = (struct pumice_input){ .kind = PUMICE_INPUT_PLANES, .varying = 64, .count = 1 };
	draw.vdm.varyings = 2;
	assert_int_equal(pumice_stream_stages(f.stream, &draw, &stages[0], &stages[1]), 0);
	/* The size of points is vo4. */
	draw.vdm.varyings = 1;
	draw.vdm.point_size = true;
	assert_int_equal(pumice_stream_stages(f.stream, &draw, &stages[0], &stages[1]), 0);
	pumice_kernel_destroy(vertex);
	pumice_kernel_destroy(fragment);
	tear_down(&f);
}

static void a_dispatch_without_kernel_or_groups_is_refused(void **state)
{
	struct pumice_dispatch dispatch = { 0 };
	struct fixture f;
	uint64_t start;

	(void)state;
	set_up(&f, "threads=0");
	dispatch.groups[0] = dispatch.groups[1] = dispatch.groups[2] = 1;
	assert_int_equal(pumice_stream_dispatch(f.stream, &dispatch), -EINVAL);
	assert_error(&f, "dispatch: no kernel is set");
	assert_int_equal(pumice_stream_dispatch_indirect(f.stream, &dispatch, 0), -EINVAL);
	assert_int_equal(pumice_kernel_assemble(f.vm, "shader", "end\n", &f.kernel), 0);
	dispatch = (struct pumice_dispatch){ .kernel = f.kernel };
	assert_int_equal(pumice_stream_dispatch(f.stream, &dispatch), -EINVAL);
	assert_error(&f, "a grid of 0 x 0 x 0 work-groups is empty");
	dispatch.allow_empty = 1;
	dispatch.groups[1] = 3;
	assert_int_equal(pumice_stream_dispatch(f.stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(f.stream, &start), 0);
	assert_int_equal(pumice_context_run(f.context, start, PUMICE_FOREVER, NULL), 0);
	tear_down(&f);
}

/* ------------------------------------------------------------------ time-outs */

static const char *const with_threads[] = { "threads=0", "threads=2" };

/* The GPU may not have begun when the first wait ends. */
static void a_wait_that_times_out_names_the_instruction(void **state)
{
	struct fixture f;
	int i, tries;

	(void)state;
	for (i = 0; i < 2; i++) {
		set_up(&f, with_threads[i]);
		for (tries = 0; tries < 200; tries++) {
			assert_int_equal(compute(&f, "shader", endless, 20 * MS), -ETIME);
			if (!strstr(pumice_device_error(f.dev), "does not run now"))
				break;
			pumice_context_destroy(f.context);
			assert_int_equal(pumice_context_create(f.vm, PUMICE_PRIORITY_NORMAL,
							       &f.context), 0);
		}
		print_message("%s\n", pumice_device_error(f.dev));
		assert_error(&f, "wait: timed out after 0.020 s: job 1 has not ended: usc-code is "
			     "busy with it, 1 wave in flight\n  1 at instruction ");
		assert_error(&f, ", shader:2: jump 1");
		tear_down(&f);
	}
}

static void a_job_is_killed_after_its_time_out(void **state)
{
	struct pumice_context_state context;
	struct pumice_job_result result;
	char options[64];
	struct fixture f;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		snprintf(options, sizeof(options), "%s,job-timeout-ms=100", with_threads[i]);
		set_up(&f, options);
		assert_int_equal(compute(&f, "shader", "end\n", PUMICE_FOREVER), 0);
		assert_int_equal(compute(&f, "shader", endless, PUMICE_FOREVER), -EIO);
		print_message("%s\n", pumice_device_error(f.dev));
		assert_error(&f, "job timed out: usc-code was busy with it, 1 wave in flight\n"
			     "  1 at instruction 1 of the program at 0x");
		assert_error(&f, ", shader:2: jump 1");
		assert_error(&f, "\n  It ran longer than the device permits: key job-timeout-ms");
		assert_int_equal(pumice_context_get_job_result(f.context, 2, &result,
							       sizeof(result)), 0);
		assert_int_equal(result.error, -ETIMEDOUT);
		assert_int_equal(pumice_context_get_state(f.context, &context), 0);
		assert_true(context.flags & PUMICE_CONTEXT_GUILTY);
		assert_int_equal(compute(&f, "shader", "end\n", PUMICE_FOREVER), -EIO);
		assert_error(&f, "the context is stopped");
		tear_down(&f);
	}
}

static void jobs_of_a_frame_are_killed_after_their_time_out(void **state)
{
	char options[64];
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		snprintf(options, sizeof(options), "%s,job-timeout-ms=100", with_threads[i]);
		assert_draw_fails(options, endless, pass_fragment, 1,
				  (const char *const[3]){ "job timed out: usc-code was busy",
							  ", vertex:2: jump 1", "at instruction 1" });
		assert_draw_fails(options, pass_vertex, endless, 2,
				  (const char *const[3]){ "job timed out: usc-code was busy",
							  ", fragment:2: jump 1",
							  "at instruction 1" });
	}
}

/*
 * Other contexts continue, and only the time of a job itself counts: that of low priority waits
 * for the endless one.
 */
static void a_time_out_stops_no_other_context(void **state)
{
	struct fixture f, other;
	struct pumice_context_state context;
	struct pumice_job_result result;
	struct pumice_job job;

	(void)state;
	set_up(&f, "threads=0,job-timeout-ms=100");
	other = f;
	other.kernel = NULL;
	assert_int_equal(pumice_stream_create(f.vm, 65536, &other.stream), 0);
	assert_int_equal(pumice_context_create(f.vm, PUMICE_PRIORITY_LOW, &other.context), 0);
	pumice_job_init(&job, f.context, record(&f, "shader", endless));
	assert_int_equal(pumice_submit(f.dev, &job, 1, NULL), 0);
	assert_int_equal(compute(&other, "other", "end\n", PUMICE_FOREVER), 0);
	assert_int_equal(pumice_context_get_job_result(other.context, 1, &result, sizeof(result)),
			 0);
	assert_int_equal(result.error, 0);
	/* Until the endless one has been killed. */
	while (pumice_context_get_job_result(f.context, 1, &result, sizeof(result)) == -EBUSY)
		assert_int_equal(compute(&other, "other", "end\n", PUMICE_FOREVER), 0);
	assert_int_equal(result.error, -ETIMEDOUT);
	assert_int_equal(pumice_context_get_state(other.context, &context), 0);
	assert_false(context.flags & (PUMICE_CONTEXT_GUILTY | PUMICE_CONTEXT_INNOCENT));
	assert_int_equal(compute(&other, "other", "end\n", PUMICE_FOREVER), 0);
	pumice_context_destroy(other.context);
	pumice_stream_destroy(other.stream);
	pumice_kernel_destroy(other.kernel);
	tear_down(&f);
}

/* The context can be stopped while a submission waits for room in its queue. */
static void a_submission_that_waits_is_refused_after_a_time_out(void **state)
{
	struct pumice_context_state before;
	struct pumice_job job;
	struct fixture f;
	int err, count;

	(void)state;
	set_up(&f, "threads=0,job-timeout-ms=100");
	pumice_job_init(&job, f.context, record(&f, "shader", endless));
	for (count = 0, err = 0; !err && count < 100000; count++) {
		assert_int_equal(pumice_context_get_state(f.context, &before), 0);
		err = pumice_submit(f.dev, &job, 1, NULL);
	}
	assert_int_equal(err, -EIO);
	assert_error(&f, "job 0: the context is stopped");
	/* It was this submission that waited. */
	assert_false(before.flags & PUMICE_CONTEXT_GUILTY);
	assert_true(count > 1);
	tear_down(&f);
}

static void zero_disables_the_time_out(void **state)
{
	struct pumice_job_result result;
	struct fixture f;

	(void)state;
	set_up(&f, "threads=0,job-timeout-ms=0");
	assert_int_equal(compute(&f, "shader", endless, 100 * MS), -ETIME);
	assert_int_equal(pumice_context_get_job_result(f.context, 1, &result, sizeof(result)),
			 -EBUSY);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_fault_of_a_frame_is_reported),
		cmocka_unit_test(the_error_text_has_all_lines),
		cmocka_unit_test(a_text_that_does_not_fit_ends_with_a_line),
		cmocka_unit_test(a_program_that_is_refused_names_the_instruction),
		cmocka_unit_test(a_missing_end_is_named),
		cmocka_unit_test(a_barrier_names_its_wave_and_group),
		cmocka_unit_test(a_work_group_copy_that_a_wave_misses_is_explained),
		cmocka_unit_test(local_bounds_name_offset_and_size),
		cmocka_unit_test(local_alignment_names_offset_and_rule),
		cmocka_unit_test(local_memory_that_is_not_declared_is_named),
		cmocka_unit_test(a_stream_without_an_end_is_explained),
		cmocka_unit_test(a_draw_without_state_is_explained),
		cmocka_unit_test(a_texture_that_is_not_bound_is_explained),
		cmocka_unit_test(a_uniform_stream_that_is_not_set_is_explained),
		cmocka_unit_test(an_output_that_a_canvas_does_not_have_is_explained),
		cmocka_unit_test(a_wild_address_blames_no_buffer_of_the_library),
		cmocka_unit_test(an_overrun_names_the_users_buffer),
		cmocka_unit_test(an_address_that_is_near_nothing_is_explained),
		cmocka_unit_test(an_access_of_a_destroyed_buffer_names_it),
		cmocka_unit_test(an_access_next_to_a_destroyed_buffer_names_it),
		cmocka_unit_test(a_destroyed_buffer_ends_at_its_last_byte),
		cmocka_unit_test(an_access_of_a_buffer_bound_since_names_that_one),
		cmocka_unit_test(a_job_of_a_destroyed_stream_names_it),
		cmocka_unit_test(an_address_before_the_stream_names_the_stream),
		cmocka_unit_test(a_draw_record_of_garbage_is_explained),
		cmocka_unit_test(a_canvas_without_a_colour_is_cleared_to_zeroes),
		cmocka_unit_test(uniforms_that_are_not_set_are_refused),
		cmocka_unit_test(varyings_that_do_not_exist_are_refused),
		cmocka_unit_test(a_dispatch_without_kernel_or_groups_is_refused),
		cmocka_unit_test(a_wait_that_times_out_names_the_instruction),
		cmocka_unit_test(a_job_is_killed_after_its_time_out),
		cmocka_unit_test(jobs_of_a_frame_are_killed_after_their_time_out),
		cmocka_unit_test(a_time_out_stops_no_other_context),
		cmocka_unit_test(a_submission_that_waits_is_refused_after_a_time_out),
		cmocka_unit_test(zero_disables_the_time_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
