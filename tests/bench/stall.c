// SPDX-License-Identifier: MIT
/*
 * Rows: longest latency of a register read during the worst jobs, in ms.
 *
 * A guest's processor that reads a register is stalled, and QEMU's big lock is held, until
 * the GPU's lock is free. The time that the lock is held must be bounded for any job. The
 * peer is a job that needs the lock for its launch only: its reads wait for the host's
 * scheduler. Reads are continuous from submission to the job's end, so that an operation
 * that a job does once delays one of them, and the median of the rounds is used: the best
 * would hide operations that do not occur in each. The GPU has one thread, so that the
 * reader has a processor of its own on a host of two.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define PROGRAMS	6u	/* more than fit into the CDM's share of the program memory */
#define CLEARING	2000u	/* work-groups */
#define LOOPS		"400000"	/* of the peer's waves */
#define READS		64u	/* between two checks of the job */
#define LINE		32u	/* bytes of an instruction's text, at most */
#define STREAM_BYTES	(1u << 20)

#define SAMPLES		200u	/* texture instructions of a program */
#define TEXTURE_SIZE	128u
#define ANISO_LOG2	4u	/* 16 samples each */

#define ATTRIBUTES	240u	/* of a vertex */
#define VERTICES	1536u	/* 1,007 are in the buffer, the others read zeroes without memory */
#define INSTANCES	8u
#define VERTEX_BYTES	(4u << 20)	/* the library places them in two pages of 2 MiB */
#define VERTEX_STRIDE	(4096u + 64)	/* each lane that reads needs another TLB entry, of 4 KiB */
#define TARGET_SIZE	64u
#define LIST_PAGES	4096u

/* The jobs of one round, and the longest read so far. */
struct stall {
	struct gpu *gpu;
	struct pumice_stream *stream;
	struct pumice_gfx_job jobs[2];
	unsigned int count;
	double worst;		/* seconds */
};

static void check(const struct gpu *gpu, const char *what, int ret)
{
	if (ret)
		bench_fail("%s: %s", what, pumice_device_error(gpu->dev));
}

static void look(void *data)
{
	struct stall *stall = data;

	for (unsigned int i = 0; i < READS; i++) {
		const double start = bench_now();
		double took;

		gpu_register_read(stall->gpu, PUMICE_OS_IRQ_STATUS);
		took = bench_now() - start;
		stall->worst = took > stall->worst ? took : stall->worst;
	}
}

static double worst_read(void *data)
{
	struct stall *stall = data;

	stall->worst = 0;
	gpu_watch(stall->gpu, stall->jobs, stall->count, look, stall);
	return stall->worst;
}

static void open_stall(struct stall *stall, struct gpu *gpu)
{
	*stall = (struct stall){ .gpu = gpu };
	check(gpu, "stream", pumice_stream_create(gpu->vm, STREAM_BYTES, &stall->stream));
}

/* One compute job of these works. */
static void launch(struct stall *stall, const struct gpu_work *works, unsigned int count)
{
	stall->jobs[0] = (struct pumice_gfx_job){
		.context = stall->gpu->context,
		.stream = gpu_build(works, count, stall->stream),
	};
	stall->count = 1;
}

/* A wave of each thread's core that computes for a while. */
static void computing(struct gpu *gpu, struct gpu_work *work)
{
	static const char text[] =
		".group 32, 1, 1\n"
		"mov r0[0], " LOOPS "\n"
		"round:\n"
		"mul.u32 r2, r2, 3\n"
		"sub.u32 r0[0], r0[0], 1\n"
		"brnz round, r0[0]\n"
		"end\n";

	gpu_work_text(gpu, text, work);
	work->groups[0] = 64;
}

static void compare(struct bench *bench, const char *name, struct stall *ours)
{
	struct gpu_work work;
	struct stall peer;
	const struct bench_contest contest = {
		.name = name,
		.unit = "ms",
		.peer_name = "a job that computes",
		.figure = BENCH_TIME,
		.scale = 1e3,
		.median_of = 1,
		.measure = worst_read,
		.our_data = ours,
		.peer_data = &peer,
	};

	open_stall(&peer, ours->gpu);
	computing(ours->gpu, &work);
	launch(&peer, &work, 1);
	bench_contest(bench, &contest);
	gpu_work_free(&work);
	pumice_stream_destroy(peer.stream);
	pumice_stream_destroy(ours->stream);
}

/* As many instructions as a program may have, the first ones given; a number makes it another. */
static char *long_text(const char *first, unsigned int instructions, unsigned int number)
{
	char *text = malloc((size_t)PUMICE_USC_MAX_INSNS * LINE + strlen(first)), *at = text;

	if (!text)
		bench_fail("out of memory");
	at += sprintf(at, "%smov r0, [one], %u\n", first, number);
	for (unsigned int i = instructions + 2; i < PUMICE_USC_MAX_INSNS; i++)
		at += sprintf(at, "mov r0, [one], 0\n");
	strcpy(at, "end\n");
	return text;
}

static void long_programs(struct bench *bench, const char *name)
{
	struct gpu_work works[PROGRAMS];
	struct stall stall;

	open_stall(&stall, &bench->single);
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		char *text = long_text(".group 32, 1, 1\n", 0, i);

		gpu_work_text(stall.gpu, text, &works[i]);
		free(text);
	}
	launch(&stall, works, PROGRAMS);
	compare(bench, name, &stall);
	for (unsigned int i = 0; i < PROGRAMS; i++)
		gpu_work_free(&works[i]);
}

static void cleared_groups(struct bench *bench, const char *name)
{
	struct gpu_work work;
	struct stall stall;

	open_stall(&stall, &bench->single);
	gpu_work_text(stall.gpu, ".group 1024, 1, 1\n.input v95, global_x\nend\n", &work);
	work.groups[0] = CLEARING;
	launch(&stall, &work, 1);
	compare(bench, name, &stall);
	gpu_work_free(&work);
}

/* The state in sh0 to sh11. */
static void add_texture(struct gpu_work *work, struct pumice_image *image)
{
	struct pumice_texture texture;
	struct pumice_sampler sampler;

	pumice_image_texture(image, &texture);
	pumice_sampler_init(&sampler);
	sampler.min_linear = sampler.mag_linear = true;
	sampler.mip_filter = PUMICE_MIP_FILTER_LINEAR;
	sampler.aniso_log2 = ANISO_LOG2;
	pumice_texture_pack(work->uniforms, &texture);
	pumice_sampler_pack(work->uniforms + PUMICE_TEXTURE_WORDS, &sampler);
	work->words = PUMICE_TEXTURE_WORDS + PUMICE_SAMPLER_WORDS;
}

static void many_samples(struct bench *bench, const char *name)
{
	static const char head[] = ".group 128, 1, 1\n.temps 12\n.uniforms sh0, 12\n"
				   "mov r8, [one], 0.07\nmov r11, [one], 1.0\n";
	static const char sample[] = "sample_grad.f32 r4, 2d, r0, r8, sh0\n";
	const struct pumice_image_desc desc = {
		.format = PUMICE_FORMAT_RGBA8_UNORM, .layout = PUMICE_LAYOUT_TWIDDLED,
		.dim = PUMICE_TEXTURE_DIM_2D, .width = TEXTURE_SIZE, .height = TEXTURE_SIZE,
	};
	char text[sizeof(head) + SAMPLES * sizeof(sample) + sizeof("end\n")];
	struct pumice_image *image;
	struct gpu_work work;
	struct stall stall;
	char *at = stpcpy(text, head);

	open_stall(&stall, &bench->single);
	for (unsigned int i = 0; i < SAMPLES; i++)
		at = stpcpy(at, sample);
	strcpy(at, "end\n");
	gpu_work_text(stall.gpu, text, &work);
	check(stall.gpu, "image", pumice_image_create(stall.gpu->vm, &desc, &image));
	add_texture(&work, image);
	work.groups[0] = 16;
	launch(&stall, &work, 1);
	compare(bench, name, &stall);
	gpu_work_free(&work);
	pumice_image_destroy(image);
}

/* ------------------------------------------------------------------ drawing */

/* State of the draws of a round. */
struct drawing {
	struct stall stall;
	struct pumice_context *context;
	struct pumice_freelist *list;
	struct pumice_hwrt *hwrt;
	struct pumice_program *program[PROGRAMS + 1];
	struct pumice_kernel *kernel[PROGRAMS + 1];	/* the last: of fragments */
	unsigned int kernels;
};

static struct pumice_kernel *add_kernel(struct drawing *d, const char *text)
{
	char error[PUMICE_ERROR_BYTES];
	const unsigned int i = d->kernels++;

	if (pumice_program_assemble("stall", text, &d->program[i], error, sizeof(error)))
		bench_fail("%s", error);
	check(d->stall.gpu, "kernel",
	      pumice_kernel_create(d->stall.gpu->vm, d->program[i], &d->kernel[i]));
	return d->kernel[i];
}

static void open_drawing(struct drawing *d, struct gpu *gpu)
{
	const struct pumice_freelist_desc list = { .initial_pages = LIST_PAGES,
						   .max_pages = LIST_PAGES };
	struct pumice_hwrt_desc set = { .width = TARGET_SIZE, .height = TARGET_SIZE,
					.samples = 1 };

	*d = (struct drawing){ 0 };
	open_stall(&d->stall, gpu);
	check(gpu, "context",
	      pumice_context_create_type(gpu->vm, PUMICE_CONTEXT_RENDER, PUMICE_PRIORITY_NORMAL,
					 &d->context));
	check(gpu, "free list", pumice_freelist_create(gpu->vm, &list, &d->list));
	set.local = d->list;
	check(gpu, "data set", pumice_hwrt_create(gpu->vm, &set, &d->hwrt));
}

static void close_drawing(struct drawing *d)
{
	for (unsigned int i = 0; i < d->kernels; i++) {
		pumice_kernel_destroy(d->kernel[i]);
		pumice_program_destroy(d->program[i]);
	}
	pumice_hwrt_destroy(d->hwrt);
	pumice_freelist_destroy(d->list);
	pumice_context_destroy(d->context);
}

/* State words with these programs, and a draw. */
static void add_draw(struct drawing *d, const struct pumice_stage_desc *vertex,
		     struct pumice_kernel *fragment, const struct pumice_vdm_draw *draw)
{
	const struct pumice_stage_desc stage = { .kernel = fragment };
	struct pumice_stream *stream = d->stall.stream;
	struct gpu *gpu = d->stall.gpu;
	struct pumice_draw_state state;

	pumice_draw_state_init(&state, TARGET_SIZE, TARGET_SIZE);
	check(gpu, "state", pumice_stream_stages(stream, &state, vertex, &stage));
	check(gpu, "draw", pumice_stream_draw(stream, draw));
}

/* Submit the geometry job of all draws so far, and its fragment job. */
static void end_drawing(struct drawing *d)
{
	const struct pumice_render_desc render = { .pdm = { .outputs = 1 } };
	struct pumice_gfx_job *jobs = d->stall.jobs;
	struct gpu *gpu = d->stall.gpu;

	jobs[0] = jobs[1] = (struct pumice_gfx_job){ .context = d->context, .hwrt = d->hwrt };
	jobs[0].type = PUMICE_JOB_GEOMETRY;
	jobs[1].type = PUMICE_JOB_FRAGMENT;
	check(gpu, "end", pumice_stream_vdm_end(d->stall.stream, &jobs[0].stream));
	check(gpu, "render", pumice_stream_render(d->stall.stream, &render, &jobs[1].stream));
	d->stall.count = 2;
}

static const char vertex_head[] = "uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\n";
#define VERTEX_HEAD	4u	/* instructions of it */

static void long_vertex_programs(struct bench *bench, const char *name)
{
	const struct pumice_vdm_draw draw = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .count = 3, .instances = 1,
	};
	struct pumice_kernel *fragment;
	struct drawing d;

	open_drawing(&d, &bench->single);
	fragment = add_kernel(&d, "end\n");
	for (unsigned int i = 0; i < PROGRAMS; i++) {
		char *text = long_text(vertex_head, VERTEX_HEAD, i);
		const struct pumice_stage_desc vertex = { .kernel = add_kernel(&d, text) };

		free(text);
		add_draw(&d, &vertex, fragment, &draw);
	}
	end_drawing(&d);
	compare(bench, name, &d.stall);
	close_drawing(&d);
}

static void many_attributes(struct bench *bench, const char *name)
{
	const struct pumice_vdm_draw draw = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .count = VERTICES, .instances = INSTANCES,
	};
	struct pumice_input in[ATTRIBUTES];
	struct pumice_stage_desc vertex = { .inputs = in, .input_count = ATTRIBUTES };
	struct pumice_kernel *fragment;
	struct pumice_buffer buffer;
	struct drawing d;

	open_drawing(&d, &bench->single);
	gpu_buffer(d.stall.gpu, VERTEX_BYTES, &buffer);
	for (unsigned int i = 0; i < ATTRIBUTES; i++)
		in[i] = (struct pumice_input){
			.kind = PUMICE_INPUT_ATTRIBUTE, .stride = VERTEX_STRIDE,
			.elements = VERTEX_BYTES / VERTEX_STRIDE - 1, .reg = i % 60 * 4,
			.va = buffer.va + i * 16, .format = PUMICE_ATTR_KIND_F32, .count = 4,
		};
	fragment = add_kernel(&d, "end\n");
	vertex.kernel = add_kernel(&d, "uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\nend\n");
	add_draw(&d, &vertex, fragment, &draw);
	end_drawing(&d);
	compare(bench, name, &d.stall);
	close_drawing(&d);
	pumice_buffer_destroy(&buffer);
}

#define ROW(job)	"register read, worst of a job: " job

/* Programs are assembled only for selected rows: they are long. */
void bench_stall(struct bench *bench)
{
	static const struct {
		const char *name;
		void (*measure)(struct bench *bench, const char *name);
	} rows[] = {
		{ ROW("programs of 65,536 instructions"), long_programs },
		{ ROW("work-groups that are cleared"), cleared_groups },
		{ ROW("textures with 32 samples a texel"), many_samples },
		{ ROW("vertex programs of 65,536 instructions"), long_vertex_programs },
		{ ROW("vertices of 240 attributes, 4 KiB apart"), many_attributes },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!bench->only || strstr(rows[i].name, bench->only))
			rows[i].measure(bench, rows[i].name);
}
