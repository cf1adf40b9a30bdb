// SPDX-License-Identifier: MIT
/*
 * Our side of drawing. See draw.h.
 *
 * As in a driver for a static scene, streams and records are built once, and a run submits
 * both jobs and waits. The texture is read by the PDS, before the program, which only
 * stores.
 */
#include "draw.h"

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
static const char texture_text[] =
	"mov o0, [one], v0\nmov o1, [one], v1\nmov o2, [one], v2\nmov o3, [one], v3\nend\n";
static const char colour_text[] =
	"mov o0, [one], v0\nmov o1, [one], v1\nmov o2, [one], v2\nmov o3, [one], 1.0\nend\n";

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
static void set_stages(struct draw_work *work, uint32_t first, uint32_t count,
		       struct pumice_draw_state *state)
{
	const uint32_t stride = sizeof(struct draw_vertex);
	const uint64_t va = work->vertices.va + (uint64_t)first * stride;
	const struct pumice_input attributes[2] = {
		pumice_input_attribute(0, 3, va, stride, count),
		pumice_input_attribute(4, 3, va + offsetof(struct draw_vertex, a), stride, count),
	};
	const struct pumice_stage_desc vertex = { work->vertex, attributes, 2 };
	const struct pumice_stage_desc coordinate = { work->coordinate, attributes, 1 };
	struct pumice_input in = pumice_input_varying(0, 0, 3);
	const struct pumice_stage_desc fragment = { work->fragment, &in, 1 };
	struct pumice_texture texture;
	struct pumice_sampler sampler;

	if (work->texture) {
		pumice_image_texture(work->texture, &texture);
		pumice_sampler_init(&sampler);
		sampler.min_linear = sampler.mag_linear = true;
		in = pumice_input_prefetch(0, 0, &texture, &sampler);
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
	for (at = 0; at < scene->vertices; at += part) {
		set_stages(work, at, part, &state);
		check(work, "draw", pumice_stream_draw(work->stream, &draw));
	}
	check(work, "end", pumice_stream_vdm_end(work->stream, &work->frame.geometry));
}

static void build_render(struct draw_work *work)
{
	const struct pumice_render_desc render = {
		.pdm = { .outputs = 4, .clear_depth = 1 },
		.targets = { { .image = work->target } },
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
	struct pumice_hwrt_desc set = { .width = scene->size, .height = scene->size, .samples = 1 };
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
	work->fragment = make_kernel(work, scene->texture ? texture_text : colour_text);
	work->frame.hwrt = work->hwrt;
	build_geometry(work, scene);
	build_render(work);
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
