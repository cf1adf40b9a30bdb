// SPDX-License-Identifier: MIT
/*
 * Our side of drawing. See draw.h.
 *
 * As in a driver for a static scene, streams and records are built once, and a run submits
 * both jobs and waits. The texture is read by the PDS, before the program.
 */
#include "draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define STREAM_BYTES	65536
#define DRAW_BYTES	1024ull	/* more of the stream for each draw with its own state */
#define PAGES		16384u
#define TIMEOUT_NS	(60 * 1000000000ull)

static const char vertex_text[] =
	".temps 1\n"
	"mov r0, [one], 1.0\n"
	"uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, r0\n"
	"uvsw vo4, v4\nuvsw vo5, v5\nuvsw vo6, v6\nend\n";
static const char coordinate_text[] =
	".temps 1\n"
	"mov r0, [one], 1.0\n"
	"uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, r0\nend\n";
/* The colour of a fragment, in r0 to r3. */
static const char texture_text[] =
	"mov r0, [one], v0\nmov r1, [one], v1\nmov r2, [one], v2\nmov r3, [one], v3\n";
static const char colour_text[] =
	"mov r0, [one], v0\nmov r1, [one], v1\nmov r2, [one], v2\nmov r3, [one], 1.0\n";
/* The normal is (v0, v1, 1), not normalised; the eighth power of the cosine is a highlight. */
static const char lit_text[] =
	"mul.f32 r4, v0, v0\nfma.f32 r4, v1, v1, r4\nadd.f32 r4, r4, 1.0\n"
	"rsqrt.f32 r4, r4\nmul.f32 r5, v0, 0.25\n"
	"mul.f32 r6, v1, 0.5\nadd.f32 r5, r5, r6\nadd.f32 r5, r5, 0.75\n"
	"mul.f32 r5, r5, r4\nmax.f32 r5, r5, 0\n"
	"mul.f32 r6, r5, r5\nmul.f32 r6, r6, r6\nmul.f32 r6, r6, r6\n"
	"mul.f32 r6, r6, 0.25\n"
	"mul.f32 r0, r5, 0.5\nadd.f32 r0, r0, r6\n"
	"mul.f32 r1, r5, 0.25\nadd.f32 r1, r1, r6\n"
	"mul.f32 r2, r5, 0.75\nadd.f32 r2, r2, r6\nmov r3, [one], 1.0\n";

static void check(const struct draw_work *work, const char *what, int ret)
{
	if (ret)
		bench_fail("%s: %s", what, pumice_device_error(work->gpu->dev));
}

static struct pumice_kernel *make_kernel(struct draw_work *work, const char *text)
{
	char error[PUMICE_ERROR_BYTES];
	struct pumice_program *program;
	struct pumice_kernel *kernel;

	if (pumice_program_assemble("bench", text, &program, error, sizeof(error)))
		bench_fail("%s", error);
	check(work, "kernel", pumice_kernel_create(work->gpu->vm, program, &kernel));
	pumice_program_destroy(program);
	return kernel;
}

/* Append the end of a fragment program, for each of its outputs. */
static size_t put_outputs(const struct draw_scene *scene, char *at, size_t room)
{
	size_t used = 0;

	for (unsigned int n = 0; n < 4; n++) {
		if (scene->uniforms)
			used += (size_t)snprintf(at + used, room - used,
						 "add.f32 r%u, r%u, sh%u\n", n, n, n);
		if (scene->blend)
			used += (size_t)snprintf(at + used, room - used,
						 "mul.f32 r4, r%u, 0.5\n"
						 "mul.f32 r5, o%u, 0.5\n"
						 "add.f32 r%u, r4, r5\n", n, n, n);
		used += (size_t)snprintf(at + used, room - used, "mov o%u, [one], r%u\n", n, n);
	}
	return used + (size_t)snprintf(at + used, room - used, "end\n");
}

static struct pumice_kernel *make_fragment(struct draw_work *work, const struct draw_scene *scene)
{
	const char *colour = scene->lit ? lit_text : scene->texture ? texture_text : colour_text;
	const size_t room = 4096 + scene->insns * 24ull;
	struct pumice_kernel *kernel;
	char *text = malloc(room);
	size_t used;

	if (!text)
		bench_fail("out of memory");
	used = (size_t)snprintf(text, room, ".temps 7\n%s", scene->insns ? "jump last\n" : "");
	for (uint32_t n = 0; n < scene->insns; n++)
		used += (size_t)snprintf(text + used, room - used, "mov r0, [one], %u\n", n);
	used += (size_t)snprintf(text + used, room - used, "%s%s", scene->insns ? "last:\n" : "",
				 colour);
	put_outputs(scene, text + used, room - used);
	kernel = make_kernel(work, text);
	free(text);
	return kernel;
}

static struct pumice_image *make_image(struct draw_work *work, uint32_t layout, uint32_t size)
{
	const struct pumice_image_desc desc = {
		.format = PUMICE_FORMAT_RGBA8_UNORM, .layout = layout,
		.dim = PUMICE_TEXTURE_DIM_2D, .width = size, .height = size, .levels = 1,
	};
	struct pumice_image *image;

	check(work, "image", pumice_image_create(work->gpu->vm, &desc, &image));
	return image;
}

/*
 * Set the programs of a state, with the attributes of count vertices from the first one in a table.
 * A coordinate program has inputs of its own: the positions only.
 */
static void set_stages(struct draw_work *work, const struct draw_scene *scene, uint32_t first,
		       uint32_t count, struct pumice_draw_state *state)
{
	static const uint32_t black[4];
	const uint32_t stride = sizeof(struct draw_vertex);
	const uint64_t va = work->vertices.va + (uint64_t)first * stride;
	const struct pumice_input attributes[2] = {
		pumice_input_attribute(0, 3, va, stride, count),
		pumice_input_attribute(4, 3, va + offsetof(struct draw_vertex, a), stride, count),
	};
	const struct pumice_stage_desc vertex = { work->vertex, attributes, 2 };
	const struct pumice_stage_desc coordinate = { work->coordinate, attributes, 1 };
	struct pumice_input in[2] = {
		pumice_input_varying(0, 0, 3),
		{ .kind = PUMICE_INPUT_UNIFORMS, .words = black, .count = 4 },
	};
	const struct pumice_stage_desc fragment = { work->fragment, in, scene->uniforms ? 2 : 1 };
	struct pumice_texture texture;
	struct pumice_sampler sampler;

	if (work->texture) {
		pumice_image_texture(work->texture, &texture);
		pumice_sampler_init(&sampler);
		sampler.min_linear = sampler.mag_linear = true;
		in[0] = pumice_input_prefetch(0, 0, &texture, &sampler);
	}
	state->vdm.deferred = work->coordinate != NULL;
	if (state->vdm.deferred)
		check(work, "coordinate stage",
		      pumice_stream_stage(work->stream, &coordinate, state->vdm.coordinate));
	check(work, "stages", pumice_stream_stages(work->stream, state, &vertex, &fragment));
}

static void build_geometry(struct draw_work *work, const struct draw_scene *scene)
{
	const uint32_t part = draw_part(scene->vertices, scene->draws);
	const struct pumice_vdm_draw draw = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .count = part, .instances = 1,
	};
	struct pumice_draw_state state;
	uint32_t at;

	pumice_draw_state_init(&state, scene->size, scene->size);
	state.vdm.clip_minus_w = true;
	pumice_draw_state_viewport(&state, &(struct pumice_viewport){
		.width = (float)scene->size, .height = (float)scene->size, .far = 1 });
	state.vdm.varyings = 3;
	if (scene->depth) {
		state.isp.depth_func = PUMICE_COMPARE_LESS;
		state.isp.depth_write = true;
	}
	if (scene->blend)
		state.isp.pass_type = PUMICE_PASS_TYPE_TRANSLUCENT;
	for (at = 0; at < scene->vertices; at += part) {
		set_stages(work, scene, at, part, &state);
		check(work, "draw", pumice_stream_draw(work->stream, &draw));
	}
	check(work, "end", pumice_stream_vdm_end(work->stream, &work->frame.geometry));
}

static void build_render(struct draw_work *work, const struct draw_scene *scene)
{
	const struct pumice_render_desc render = {
		.pdm = { .outputs = 4, .clear_depth = 1 },
		.targets = { { .image = work->target, .resolve = scene->samples > 1 } },
		.target_count = 1,
	};
	uint64_t record;

	check(work, "render", pumice_stream_render(work->stream, &render, &record));
	check(work, "list", pumice_stream_render_list(work->stream, work->frame.hwrt, record,
						      &work->frame.render));
}

static void make_perfmon(struct draw_work *work)
{
	struct pumice_device *dev = work->gpu->dev;
	uint32_t counters[3];

	check(work, "counter", pumice_perf_counter_find(dev, "PDM_COVERED", &counters[0]));
	check(work, "counter", pumice_perf_counter_find(dev, "PDM_SHADED", &counters[1]));
	check(work, "counter", pumice_perf_counter_find(dev, "PM_ALLOCATED", &counters[2]));
	check(work, "monitor", pumice_perfmon_create(dev, counters, 3, &work->perfmon));
}

static void make_memory(struct draw_work *work, const struct draw_scene *scene)
{
	const struct pumice_freelist_desc list = { .initial_pages = PAGES, .max_pages = PAGES };
	struct pumice_hwrt_desc set = {
		.width = scene->size, .height = scene->size,
		.samples = scene->samples ? scene->samples : 1,
	};
	const struct pumice_image_part part = { 0 };

	work->target = make_image(work, PUMICE_LAYOUT_LINEAR, scene->size);
	if (scene->texture) {
		work->texture = make_image(work, PUMICE_LAYOUT_TWIDDLED, scene->texture_size);
		check(work, "texture",
		      pumice_image_upload(work->texture, part, scene->texture, 0));
	}
	gpu_buffer(work->gpu, scene->vertices * sizeof(*scene->vertex), &work->vertices);
	memcpy(work->vertices.cpu, scene->vertex, scene->vertices * sizeof(*scene->vertex));
	check(work, "free list", pumice_freelist_create(work->gpu->vm, &list, &work->list));
	set.local = work->list;
	check(work, "data set", pumice_hwrt_create(work->gpu->vm, &set, &work->hwrt));
}

static void make_work(struct gpu *gpu, const struct draw_scene *scene, bool deferred,
		      struct draw_work *work)
{
	*work = (struct draw_work){ .gpu = gpu };
	check(work, "context",
	      pumice_context_create_type(gpu->vm, PUMICE_CONTEXT_RENDER, PUMICE_PRIORITY_NORMAL,
					 &work->context));
	check(work, "stream",
	      pumice_stream_create(gpu->vm, STREAM_BYTES + scene->draws * DRAW_BYTES,
				   &work->stream));
	make_memory(work, scene);
	work->vertex = make_kernel(work, vertex_text);
	work->coordinate = deferred ? make_kernel(work, coordinate_text) : NULL;
	work->fragment = make_fragment(work, scene);
	work->frame.hwrt = work->hwrt;
	build_geometry(work, scene);
	build_render(work, scene);
	make_perfmon(work);
}

void draw_work(struct gpu *gpu, const struct draw_scene *scene, struct draw_work *work)
{
	make_work(gpu, scene, false, work);
}

void draw_work_deferred(struct gpu *gpu, const struct draw_scene *scene, struct draw_work *work)
{
	make_work(gpu, scene, true, work);
}

void draw_work_free(struct draw_work *work)
{
	pumice_perfmon_destroy(work->perfmon);
	pumice_kernel_destroy(work->fragment);
	pumice_kernel_destroy(work->coordinate);
	pumice_kernel_destroy(work->vertex);
	pumice_hwrt_destroy(work->hwrt);
	pumice_freelist_destroy(work->list);
	pumice_buffer_destroy(&work->vertices);
	pumice_image_destroy(work->texture);
	pumice_image_destroy(work->target);
	pumice_stream_destroy(work->stream);
	pumice_context_destroy(work->context);
}

void draw_run(struct draw_work *work)
{
	check(work, "frame", pumice_render(work->context, &work->frame, TIMEOUT_NS, NULL));
}

void draw_read(struct draw_work *work, uint32_t *pixels)
{
	check(work, "picture",
	      pumice_image_download(work->target, (struct pumice_image_part){ 0 }, pixels, 0));
}

void draw_count(struct draw_work *work, struct draw_counts *counts)
{
	uint64_t values[3];

	check(work, "monitor", pumice_perfmon_read(work->perfmon, PUMICE_PERFMON_RESET, values));
	work->frame.perfmon = pumice_perfmon_id(work->perfmon);
	draw_run(work);
	work->frame.perfmon = 0;
	check(work, "monitor", pumice_perfmon_read(work->perfmon, PUMICE_PERFMON_RESET, values));
	*counts = (struct draw_counts){ values[0], values[1], values[2] };
}
