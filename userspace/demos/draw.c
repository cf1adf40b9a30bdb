// SPDX-License-Identifier: MIT
/* Functions shared by the demos that draw. See draw.h. */
#include "draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <pumice/pumice_capture.h>

#include "picture.h"

#define STREAM_BYTES	(1u << 20)
#define PLENTY		8192u	/* pages: 32 MiB */
#define TIMEOUT_NS	(120 * 1000000000ull)
#define OUTPUTS		4u

static void check(const struct draw *d, const char *what, int ret)
{
	if (ret)
		demo_fail(d->name, "%s: %s", what, pumice_device_error(d->dev));
}

static struct pumice_image *make_image(struct draw *d, uint32_t format, uint32_t layout,
				       uint32_t width, uint32_t height, uint32_t levels)
{
	const struct pumice_image_desc desc = {
		.format = format, .layout = layout, .dim = PUMICE_TEXTURE_DIM_2D,
		.width = width, .height = height, .levels = levels,
	};
	struct pumice_image *image;

	check(d, "image", pumice_image_create(d->vm, &desc, &image));
	return image;
}

static void make_targets(struct draw *d)
{
	const struct draw_options *o = &d->options;
	const struct pumice_freelist_desc list = { .initial_pages = o->pages,
						   .max_pages = o->pages };
	struct pumice_hwrt_desc set = {
		.width = o->width, .height = o->height, .samples = o->samples,
		.tile_size = o->tile_size, .spill_outputs = OUTPUTS,
	};

	d->picture = make_image(d, o->format, PUMICE_LAYOUT_LINEAR, o->width, o->height, 1);
	check(d, "free list", pumice_freelist_create(d->vm, &list, &d->list));
	set.local = d->list;
	check(d, "data set", pumice_hwrt_create(d->vm, &set, &d->hwrt));
	if (o->stats)
		draw_buffer(d, (uint64_t)(o->width + 15) / 16 * ((o->height + 15) / 16) * 16,
			    &d->stats);
}

/* The first of two frames has the stream and the picture that there are. */
static void make_frames(struct draw *d)
{
	const struct draw_options *o = &d->options;
	uint32_t i;

	d->frame[0].stream = d->stream;
	d->frame[0].picture = d->picture;
	check(d, "stream", pumice_stream_create(d->vm, STREAM_BYTES, &d->frame[1].stream));
	d->frame[1].picture = make_image(d, o->format, PUMICE_LAYOUT_LINEAR, o->width, o->height,
					 1);
	for (i = 0; i < 2; i++)
		check(d, "sync", pumice_sync_create(d->dev, 0, &d->frame[i].sync));
}

static void free_frames(struct draw *d)
{
	uint32_t i;

	d->stream = d->frame[0].stream;
	d->picture = d->frame[0].picture;
	pumice_stream_destroy(d->frame[1].stream);
	pumice_image_destroy(d->frame[1].picture);
	for (i = 0; i < 2; i++)
		pumice_sync_destroy(d->frame[i].sync);
}

static void make_perfmon(struct draw *d)
{
	static const char *const names[DRAW_COUNTS] = {
		[DRAW_PARTIALS] = "PM_PARTIALS",
		[DRAW_PAGES] = "PM_ALLOCATED",
		[DRAW_PRIMITIVES] = "VDM_PRIMITIVES",
		[DRAW_COVERED] = "PDM_COVERED",
		[DRAW_SHADED] = "PDM_SHADED",
	};
	uint32_t counters[DRAW_COUNTS], i;

	for (i = 0; i < DRAW_COUNTS; i++)
		check(d, names[i], pumice_perf_counter_find(d->dev, names[i], &counters[i]));
	check(d, "counters", pumice_perfmon_create(d->dev, counters, DRAW_COUNTS, &d->perfmon));
}

uint64_t draw_counted(struct draw *d, enum draw_count count)
{
	uint64_t values[DRAW_COUNTS];

	check(d, "counters", pumice_perfmon_read(d->perfmon, 0, values));
	return values[count];
}

void draw_open(struct draw *d, const char *name, const char *device,
	       const struct draw_options *options)
{
	struct pumice_device_info info;

	*d = (struct draw){ .name = name, .options = *options };
	d->options.samples = options->samples ? options->samples : 1;
	d->options.format = options->format ? options->format : PUMICE_FORMAT_RGBA8_SRGB;
	d->options.pages = options->pages ? options->pages : PLENTY;
	d->dev = command_device_open(name, device);
	check(d, "device", pumice_device_info(d->dev, &info));
	d->clock_hz = info.clock_hz;
	check(d, "VM", pumice_vm_create(d->dev, &d->vm));
	check(d, "render context",
	      pumice_context_create_type(d->vm, PUMICE_CONTEXT_RENDER, PUMICE_PRIORITY_NORMAL,
					 &d->render));
	check(d, "transfer context",
	      pumice_context_create_type(d->vm, PUMICE_CONTEXT_TRANSFER, PUMICE_PRIORITY_NORMAL,
					 &d->transfer));
	check(d, "stream", pumice_stream_create(d->vm, STREAM_BYTES, &d->stream));
	check(d, "stream", pumice_stream_create(d->vm, 65536, &d->copies));
	make_targets(d);
	if (options->ahead)
		make_frames(d);
	make_perfmon(d);
	printf("%s: %s, %u cores of %u USCs, firmware %s\n", name, info.backend, info.cores,
	       info.uscs_per_core, info.fw_build_id);
}

void draw_close(struct draw *d)
{
	if (d->options.stats)
		pumice_buffer_destroy(&d->stats);
	if (d->options.ahead)
		free_frames(d);
	pumice_perfmon_destroy(d->perfmon);
	pumice_hwrt_destroy(d->hwrt);
	pumice_freelist_destroy(d->list);
	pumice_image_destroy(d->picture);
	pumice_stream_destroy(d->copies);
	pumice_stream_destroy(d->stream);
	pumice_context_destroy(d->transfer);
	pumice_context_destroy(d->render);
	pumice_vm_destroy(d->vm);
	pumice_device_close(d->dev);
}

struct pumice_kernel *draw_program(struct draw *d, const unsigned char *file, size_t bytes)
{
	char error[PUMICE_ERROR_BYTES];
	struct pumice_program *program;
	struct pumice_kernel *kernel;

	if (pumice_program_parse(file, bytes, &program, error, sizeof(error)))
		demo_fail(d->name, "program: %s", error);
	check(d, "program", pumice_kernel_create(d->vm, program, &kernel));
	pumice_program_destroy(program);
	return kernel;
}

void draw_buffer(struct draw *d, uint64_t bytes, struct pumice_buffer *b)
{
	check(d, "buffer", pumice_buffer_create(d->vm, bytes, b));
}

void draw_model(struct draw *d, const struct mesh *mesh, struct draw_model *model)
{
	draw_buffer(d, mesh->vertices * sizeof(*mesh->vertex), &model->vertices);
	draw_buffer(d, mesh->indices * sizeof(*mesh->index), &model->indices);
	memcpy(model->vertices.cpu, mesh->vertex, mesh->vertices * sizeof(*mesh->vertex));
	memcpy(model->indices.cpu, mesh->index, mesh->indices * sizeof(*mesh->index));
	model->vertex_count = mesh->vertices;
	model->index_count = mesh->indices;
}

void draw_model_free(struct draw_model *model)
{
	pumice_buffer_destroy(&model->vertices);
	pumice_buffer_destroy(&model->indices);
}

struct pumice_image *draw_texture(struct draw *d, uint32_t size, const uint32_t *texels)
{
	struct pumice_image *image = make_image(d, PUMICE_FORMAT_RGBA8_SRGB,
						PUMICE_LAYOUT_TWIDDLED, size, size, 0);
	uint64_t va;

	check(d, "texture", pumice_image_upload(image, (struct pumice_image_part){ 0 }, texels, 0));
	pumice_stream_reset(d->copies);
	check(d, "mip-maps", pumice_stream_mipmaps(d->copies, image));
	check(d, "mip-maps", pumice_stream_tdm_end(d->copies, &va));
	check(d, "mip-maps", pumice_context_run(d->transfer, va, TIMEOUT_NS, NULL));
	return image;
}

void draw_object_init(struct draw *d, struct draw_object *object)
{
	*object = (struct draw_object){ 0 };
	pumice_draw_state_init(&object->state, d->options.width, d->options.height);
	object->state.vdm.varyings = 8;
	object->state.vdm.front_ccw = true;
	object->state.vdm.cull_back = true;
	object->state.isp.depth_func = PUMICE_COMPARE_LESS;
	object->state.isp.depth_write = true;
}

void draw_begin(struct draw *d)
{
	if (d->options.ahead) {
		d->stream = d->frame[d->scene].stream;
		d->picture = d->frame[d->scene].picture;
	}
	pumice_stream_reset(d->stream);
}

/* Set the uniform stream of the vertex program. */
static void set_stream(struct draw *d, const struct draw_object *o, struct pumice_vdm_state *vdm)
{
	if (!o->stream_words)
		return;
	check(d, "uniform stream",
	      pumice_stream_uniforms(d->stream, o->vertex_stream, o->stream_words, &vdm->uniforms));
	vdm->uniform_words = (uint16_t)o->stream_words;
}

/* Set the inputs of the vertex program. Return their number, at most 5. */
static uint32_t vertex_inputs(const struct draw_object *o, struct pumice_input in[5])
{
	const uint32_t stride = sizeof(struct mesh_vertex), count = o->model->vertex_count;
	const uint64_t va = o->model->vertices.va;

	in[0] = pumice_input_attribute(0, 3, va, stride, count);
	in[1] = pumice_input_attribute(4, 3, va + offsetof(struct mesh_vertex, normal), stride,
				       count);
	in[2] = pumice_input_attribute(8, 2, va + offsetof(struct mesh_vertex, uv), stride, count);
	in[3] = pumice_input_source(12, PUMICE_PDS_SOURCE_INSTANCE);
	if (!o->vertex_words)
		return 4;
	in[4] = pumice_input_uniforms(0, o->vertex_uniforms, o->vertex_words);
	return 5;
}

/* Set the inputs of the fragment program. Return their number, at most 4. */
static uint32_t fragment_inputs(const struct draw_object *o, struct pumice_texture *texture,
				struct pumice_sampler *sampler, struct pumice_input in[4])
{
	const uint32_t varyings = o->state.vdm.varyings;
	uint32_t i, n = 0;

	for (i = 0; i < varyings; i += 4)
		in[n++] = pumice_input_varying(i, i, varyings - i < 4 ? varyings - i : 4);
	if (o->fragment_words)
		in[n++] = pumice_input_uniforms(0, o->fragment_uniforms, o->fragment_words);
	if (o->texture) {
		pumice_image_texture(o->texture, texture);
		pumice_sampler_init(sampler);
		sampler->min_linear = sampler->mag_linear = true;
		if (o->mipmaps)
			sampler->mip_filter = PUMICE_MIP_FILTER_LINEAR;
		in[n++] = pumice_input_texture(16, texture, sampler);
	}
	return n;
}

void draw_add(struct draw *d, const struct draw_object *o)
{
	const struct pumice_vdm_draw_indexed draw = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .index_size = PUMICE_INDEX_SIZE_U32,
		.indices = o->model->indices.va, .index_count = o->model->index_count,
		.count = o->model->index_count, .instances = o->instances ? o->instances : 1,
	};
	struct pumice_draw_state state = o->state;
	struct pumice_input attributes[5], inputs[4];
	struct pumice_texture texture;
	struct pumice_sampler sampler;
	const struct pumice_stage_desc vertex = { o->vertex, attributes,
						  vertex_inputs(o, attributes) };
	const struct pumice_stage_desc fragment = {
		o->fragment, inputs, fragment_inputs(o, &texture, &sampler, inputs) };

	set_stream(d, o, &state.vdm);
	check(d, "stages", pumice_stream_stages(d->stream, &state, &vertex, &fragment));
	check(d, "draw", pumice_stream_draw_indexed(d->stream, &draw));
}

static uint64_t ticks_ns(const struct draw *d, uint64_t ticks)
{
	return (uint64_t)((double)ticks * 1e9 / (double)d->clock_hz);
}

/* Read the times of both jobs, as far as the device reports them. */
static void take_times(struct draw *d)
{
	struct pumice_job_result r;
	const uint64_t last = pumice_context_jobs(d->render);

	d->geometry_ns = d->fragment_ns = 0;
	if (!pumice_context_get_job_result(d->render, last - 1, &r, sizeof(r)))
		d->geometry_ns = ticks_ns(d, r.end - r.start);
	if (!pumice_context_get_job_result(d->render, last, &r, sizeof(r)))
		d->fragment_ns = ticks_ns(d, r.end - r.start);
}

/* With PUMICE_CAPTURE in the environment: write the frame to that file, for pumice-frame. */
static void capture(struct draw *d, const struct pumice_frame *frame)
{
	const char *path = getenv("PUMICE_CAPTURE");
	struct pumice_capture_frame c = {
		.geometry = frame->geometry, .render = frame->render,
		.width = d->options.width, .height = d->options.height,
		.samples = d->options.samples, .tile_size = d->options.tile_size,
		.pages = d->options.pages, .spill_outputs = OUTPUTS, .target_count = 1,
	};
	struct pumice_texture texture;

	if (!path)
		return;
	pumice_image_texture(d->picture, &texture);
	pumice_texture_pack(c.targets[0], &texture);
	check(d, "capture", pumice_capture_write(d->vm, &c, path));
	printf("%s: captured to %s\n", d->name, path);
}

/* End the streams of a frame, which is ready to be submitted. */
static struct pumice_frame end_streams(struct draw *d)
{
	struct pumice_render_desc render = {
		.pdm = { .outputs = OUTPUTS, .clear_depth = 1,
			 .stats_addr = d->stats.va },
		.targets = { { .image = d->picture, .resolve = d->options.samples > 1,
			       .dither = true } },
		.target_count = 1,
	};
	struct pumice_frame frame = { .hwrt = d->hwrt, .hwrt_data = d->scene,
				      .perfmon = pumice_perfmon_id(d->perfmon) };
	uint64_t record;

	memcpy(render.clear, d->clear, sizeof(d->clear));
	if (d->options.stats)
		memset(d->stats.cpu, 0, pumice_bo_size(d->stats.bo));
	check(d, "geometry", pumice_stream_vdm_end(d->stream, &frame.geometry));
	check(d, "render record", pumice_stream_render(d->stream, &render, &record));
	check(d, "render list",
	      pumice_stream_render_list(d->stream, d->hwrt, record, &frame.render));
	capture(d, &frame);
	return frame;
}

void draw_end(struct draw *d)
{
	const struct pumice_frame frame = end_streams(d);

	check(d, "frame", pumice_render(d->render, &frame, TIMEOUT_NS, NULL));
	d->scene ^= 1;
	take_times(d);
}

void draw_queue(struct draw *d)
{
	struct draw_frame *f = &d->frame[d->scene];
	const struct pumice_frame frame = end_streams(d);
	const struct pumice_job_sync done = { .sync = f->sync, .signal = true };
	struct pumice_gfx_job jobs[2] = {
		{ .context = d->render, .stream = frame.geometry, .type = PUMICE_JOB_GEOMETRY,
		  .hwrt = frame.hwrt, .hwrt_data = frame.hwrt_data, .perfmon = frame.perfmon },
		{ .context = d->render, .stream = frame.render, .type = PUMICE_JOB_FRAGMENT,
		  .hwrt = frame.hwrt, .hwrt_data = frame.hwrt_data, .perfmon = frame.perfmon,
		  .syncs = &done, .sync_count = 1 },
	};

	check(d, "frame", pumice_submit_gfx(d->dev, jobs, 2, NULL));
	f->job = pumice_context_jobs(d->render);
	f->queued = true;
	d->scene ^= 1;
}

bool draw_spans_overlap(const struct draw_span *a, const struct draw_span *b)
{
	return a->start < b->end && b->start < a->end && a->start < a->end && b->start < b->end;
}

/* Count a frame of which some was binned while the previous one was rendered. */
static void count_overlap(struct draw *d, uint64_t job)
{
	struct pumice_job_result geometry, fragment;
	struct draw_span binned;

	if (pumice_context_get_job_result(d->render, job - 1, &geometry, sizeof(geometry)) ||
	    pumice_context_get_job_result(d->render, job, &fragment, sizeof(fragment)))
		return;
	d->geometry_ns = ticks_ns(d, geometry.end - geometry.start);
	d->fragment_ns = ticks_ns(d, fragment.end - fragment.start);
	binned = (struct draw_span){ geometry.start, geometry.end };
	d->overlapped += draw_spans_overlap(&binned, &d->rendered);
	d->rendered = (struct draw_span){ fragment.start, fragment.end };
}

uint8_t *draw_complete(struct draw *d)
{
	/* The oldest is the one that the next frame would replace. */
	struct draw_frame *f = &d->frame[d->scene];
	struct pumice_context_state state;
	struct pumice_wait wait;

	if (!f->queued)
		f = &d->frame[d->scene ^ 1];
	if (!f->queued)
		return NULL;
	pumice_wait_init(&wait, f->sync, 0);
	check(d, "wait", pumice_sync_wait(&wait, 1, 0, TIMEOUT_NS));
	check(d, "state", pumice_context_get_state(d->render, &state));
	if (state.fault)
		demo_fail(d->name, "a frame failed: fault %u", state.fault);
	f->queued = false;
	count_overlap(d, f->job);
	d->picture = f->picture;
	return draw_pixels(d);
}

uint8_t *draw_pixels(struct draw *d)
{
	const size_t count = (size_t)d->options.width * d->options.height;
	uint8_t *texels = malloc(count * 4), *rgb = malloc(count * 3);
	size_t i;

	if (!texels || !rgb)
		demo_fail(d->name, "out of memory");
	check(d, "picture",
	      pumice_image_download(d->picture, (struct pumice_image_part){ 0 }, texels, 0));
	for (i = 0; i < count; i++)
		memcpy(rgb + 3 * i, texels + 4 * i, 3);
	free(texels);
	return rgb;
}

void draw_write(struct draw *d, const char *path)
{
	uint8_t *rgb = draw_pixels(d);

	demo_write_picture(d->name, path, d->options.width, d->options.height, rgb);
	free(rgb);
}

void draw_report(const struct draw *d, const char *what)
{
	printf("%s: %s: geometry %.3f ms, fragments %.3f ms\n", d->name, what,
	       (double)d->geometry_ns / 1e6, (double)d->fragment_ns / 1e6);
}

const char *draw_arguments(const char *name, const char *purpose, int argc, char **argv,
			   const char **path)
{
	const struct command_option own[] = {
		COMMAND_OUTPUT(path, "FILE.png", "the picture (default: the demo's name.png)"),
		{ 0 }
	};

	return demo_arguments(name, purpose, own, argc, argv);
}

void draw_matrices(uint32_t words[32], const struct matrix *clip, const struct matrix *model)
{
	memcpy(words, clip->m, sizeof(clip->m));
	memcpy(words + 16, model->m, sizeof(model->m));
}
