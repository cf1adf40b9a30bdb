// SPDX-License-Identifier: MIT
/*
 * The zoo, errors of users of graphics, in mode strict without threads: of textures that other
 * units store, also as the target of a job, and of buffers with too few bytes. As in zoo.c, the
 * right user has no finding, and the first finding of the wrong one has the right kind, image or
 * buffer, and job. Prints a line for each, in TAP.
 *
 * A frame covers its target, of several tiles, by one triangle. Each pixel has the texel that is
 * opposite to it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inproc/inproc.h"
#include "lines.h"

#define DEVICE		"inproc:cores=1,ram=64,threads=0,mode=strict"
#define SIZE		128u	/* of images, pixels */
#define IMAGE_BYTES	(SIZE * SIZE * sizeof(uint32_t))
#define COPIES		64u	/* of a job that copies an image again and again */
#define PLACES		4u	/* at most */
#define TEXTURE_SIZE	4u	/* of one in the buffer of vertices, texels */
#define LAST_TEXEL	((TEXTURE_SIZE * TEXTURE_SIZE - 1) * sizeof(uint32_t))
#define ROUNDS		4000u	/* of a program that reads a texture again and again */
#define READERS		4u	/* at least one for each USC */
#define STATE_WORDS	(PUMICE_TEXTURE_WORDS + PUMICE_SAMPLER_WORDS)

/* Position in clip space and texture coordinates of a vertex. */
static const float vertices[3][6] = {
	{ -1, -1, 0, 1, 1, 0 }, { 3, -1, 0, 1, -1, 0 }, { -1, 3, 0, 1, 1, 2 },
};

static const char vertex_text[] =
	"uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\n"
	"uvsw vo4, v4\nuvsw vo5, v5\nend\n";
static const char fragment_text[] =
	"sample.f32 sig0, r4, 2d, v0, sh0\n"
	"sig_wait r0[0], sig0\n"
	"mov o0, [one], r4\nmov o1, [one], r5\nmov o2, [one], r6\nmov o3, [one], 1.0\nend\n";

struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_kernel *vertex, *fragment, *reader;
	struct pumice_buffer buffer;	/* vertices, and words after them */
	uint64_t indices;		/* of the vertices; 0: none */
	struct pumice_canvas *canvas;
	struct pumice_image *other, *copy;	/* as the canvas's image */
	/* Of a job that reads an image. */
	struct pumice_context *context, *transfer;
	struct pumice_stream *stream;
	struct pumice_sync *sync;
};

/* A seeded error. */
struct frame_error {
	const char *name;
	/* Draw a frame, as a right user, or with the error. */
	void (*draw)(struct fixture *f, bool error);
	const char *finding, *place[PLACES];	/* in it; or NULL */
	uint32_t offset;	/* of its address, if that is in the buffer */
};

static void require(const struct fixture *f, int err, const char *what)
{
	if (!err)
		return;
	printf("Bail out! %s: %d: %s\n", what, err, f->dev ? pumice_device_error(f->dev) : "");
	exit(1);
}

static struct pumice_kernel *assemble(struct fixture *f, const char *name, const char *text)
{
	struct pumice_kernel *kernel;

	require(f, pumice_kernel_assemble(f->vm, name, text, &kernel), name);
	return kernel;
}

static void set_up(struct fixture *f)
{
	struct pumice_canvas_desc desc;
	struct pumice_image_desc image;

	*f = (struct fixture){ 0 };
	require(f, pumice_device_open(DEVICE, &f->dev, NULL, 0), "device");
	require(f, pumice_vm_create(f->dev, &f->vm), "vm");
	require(f, pumice_buffer_create(f->vm, sizeof(vertices), &f->buffer), "buffer");
	memcpy(f->buffer.cpu, vertices, sizeof(vertices));
	f->vertex = assemble(f, "vertex", vertex_text);
	f->fragment = assemble(f, "fragment", fragment_text);
	pumice_canvas_desc_init(&desc, SIZE, SIZE);
	desc.format = PUMICE_FORMAT_RGBA8_UNORM;
	require(f, pumice_canvas_create(f->vm, &desc, &f->canvas), "canvas");
	pumice_image_desc_init(&image, desc.format, SIZE, SIZE);
	require(f, pumice_image_create(f->vm, &image, &f->other), "image");
	require(f, pumice_image_create(f->vm, &image, &f->copy), "image");
	require(f, pumice_context_create(f->vm, PUMICE_PRIORITY_NORMAL, &f->context), "context");
	require(f, pumice_context_create_type(f->vm, PUMICE_CONTEXT_TRANSFER,
					      PUMICE_PRIORITY_NORMAL, &f->transfer), "context");
	require(f, pumice_stream_create(f->vm, 65536, &f->stream), "stream");
	require(f, pumice_sync_create(f->dev, 0, &f->sync), "sync");
}

static void tear_down(struct fixture *f)
{
	pumice_sync_destroy(f->sync);
	pumice_stream_destroy(f->stream);
	pumice_context_destroy(f->context);
	pumice_context_destroy(f->transfer);
	pumice_image_destroy(f->other);
	pumice_image_destroy(f->copy);
	pumice_canvas_destroy(f->canvas);
	if (f->reader)
		pumice_kernel_destroy(f->reader);
	pumice_kernel_destroy(f->fragment);
	pumice_kernel_destroy(f->vertex);
	pumice_buffer_destroy(&f->buffer);
	pumice_vm_destroy(f->vm);
	pumice_device_close(f->dev);
}

/* Add the draw of the triangle, by indices if there are any. */
static void add_draw(struct fixture *f, struct pumice_stream *stream)
{
	struct pumice_vdm_draw_indexed indexed;
	struct pumice_vdm_draw draw;

	pumice_vdm_draw_defaults(&draw);
	pumice_vdm_draw_indexed_defaults(&indexed);
	indexed.indices = f->indices;
	indexed.index_count = 3;
	indexed.count = 3;
	draw.count = 3;
	require(f, f->indices ? pumice_stream_draw_indexed(stream, &indexed) :
				pumice_stream_draw(stream, &draw), "draw");
}

/* Draw a frame with an image as its texture. */
static void draw_frame(struct fixture *f, const struct pumice_image *from)
{
	struct pumice_texture texture;
	struct pumice_sampler sampler;
	struct pumice_draw_state state;
	struct pumice_stream *stream;

	pumice_image_texture(from, &texture);
	pumice_sampler_init(&sampler);

	const struct pumice_input attributes[] = {
		pumice_input_attribute(0, 4, f->buffer.va, sizeof(vertices[0]), 3),
		pumice_input_attribute(4, 2, f->buffer.va + 16, sizeof(vertices[0]), 3),
	};
	const struct pumice_input inputs[] = {
		pumice_input_varying(0, 0, 2), pumice_input_texture(0, &texture, &sampler),
	};
	const struct pumice_stage_desc vertex = { f->vertex, attributes, 2 };
	const struct pumice_stage_desc fragment = { f->fragment, inputs, 2 };

	pumice_draw_state_init(&state, SIZE, SIZE);
	state.vdm.varyings = 2;
	stream = pumice_canvas_begin(f->canvas);
	require(f, pumice_stream_stages(stream, &state, &vertex, &fragment), "state");
	add_draw(f, stream);
	require(f, pumice_canvas_end(f->canvas, NULL, PUMICE_FOREVER), "frame");
}

/* The texture is the target, or another image. */
static void read_target(struct fixture *f, bool error)
{
	draw_frame(f, error ? pumice_canvas_image(f->canvas) : f->other);
}

/* ------------------------------------------------------------------- readers */

#define SAMPLE	"sample.f32 sig0, r4, 2d, r2, sh0\nsig_wait r0[0], sig0\n"

/* Assemble a program for one instance, in which r2 and r3 are the first texel of a texture. */
static void assemble_sampler(struct fixture *f, const struct pumice_texture *texture,
			     const char *lines)
{
	char text[FINDING_BYTES];
	struct pumice_sampler sampler;
	uint32_t state[STATE_WORDS] = { 0 }, n;
	int used = snprintf(text, sizeof(text), ".group 1, 1, 1\n");

	pumice_sampler_init(&sampler);
	pumice_texture_pack(state, texture);
	pumice_sampler_pack(state + PUMICE_TEXTURE_WORDS, &sampler);
	for (n = 0; n < STATE_WORDS; n++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "mov sh%u, %#x\n", n,
				 state[n]);
	snprintf(text + used, sizeof(text) - (size_t)used,
		 "mov r2, [one], 0\nmov r3, [one], 0\n%send\n", lines);
	f->reader = assemble(f, "reader", text);
}

static void assemble_reader(struct fixture *f, const struct pumice_image *image, const char *lines)
{
	struct pumice_texture texture;

	pumice_image_texture(image, &texture);
	assemble_sampler(f, &texture, lines);
}

/* Submit the stream that reads. */
static void submit_reader(struct fixture *f, struct pumice_context *context, uint64_t start)
{
	struct pumice_job_sync signal = { .sync = f->sync, .signal = true };
	struct pumice_job job;

	pumice_job_init(&job, context, start);
	job.syncs = &signal;
	job.sync_count = 1;
	require(f, pumice_submit(f->dev, &job, 1, NULL), "submit");
}

/* Start the program; counts: address of its work-groups, or 0 for one. */
static void start_groups(struct fixture *f, uint64_t counts)
{
	struct pumice_dispatch dispatch;
	uint64_t start;

	pumice_dispatch_init(&dispatch, f->reader);
	pumice_stream_reset(f->stream);
	require(f, counts ? pumice_stream_dispatch_indirect(f->stream, &dispatch, counts) :
			    pumice_stream_dispatch(f->stream, &dispatch), "dispatch");
	require(f, pumice_stream_end(f->stream, &start), "stream");
	submit_reader(f, f->context, start);
}

static void start_reader(struct fixture *f)
{
	start_groups(f, 0);
}

/* Submit the same copy as often as requested. */
static void start_copies(struct fixture *f, const struct pumice_tdm_copy *copy, uint32_t count)
{
	uint64_t start;
	uint32_t n;

	for (n = 0; n < count; n++)
		require(f, pumice_stream_copy(f->stream, copy), "copy");
	require(f, pumice_stream_tdm_end(f->stream, &start), "stream");
	submit_reader(f, f->transfer, start);
}

static void wait_reader(struct fixture *f)
{
	struct pumice_wait wait;

	pumice_wait_init(&wait, f->sync, 0);
	require(f, pumice_sync_wait(&wait, 1, 0, PUMICE_FOREVER), "wait");
}

/* A compute job reads the target; the frame waits for its end, or does not. */
static void read_by_compute(struct fixture *f, bool error)
{
	char lines[256];

	snprintf(lines, sizeof(lines),
		 "mov r12, [one], %u\nagain:\n" SAMPLE
		 "sub.u32 r12[0], r12[0], 1\nbrnz again, r12[0]\n", ROUNDS);
	assemble_reader(f, pumice_canvas_image(f->canvas), lines);
	start_reader(f);
	if (!error)
		wait_reader(f);
	draw_frame(f, f->other);
	if (error)
		wait_reader(f);
}

/* The same by a transfer job, to the last of the images. */
static void read_by_copies(struct fixture *f, bool error)
{
	const struct pumice_tdm_copy copy = {
		.src = pumice_image_va(pumice_canvas_image(f->canvas)),
		.dst = pumice_image_va(f->copy), .bytes = IMAGE_BYTES,
	};

	start_copies(f, &copy, COPIES);
	if (!error)
		wait_reader(f);
	draw_frame(f, f->other);
	if (error)
		wait_reader(f);
}

/* A program samples a texel, stores it, and samples it again. */
static void sample_again(struct fixture *f, bool error)
{
	const uint64_t va = pumice_image_va(f->other);
	char lines[512];

	snprintf(lines, sizeof(lines),
		 SAMPLE "mov sh16, %#x\nmov sh17, %#x\n"
		 "global_store32 sig0, [one], sh16 + r2, r3\nsig_wait r0[0], sig0\n"
		 "mem_fence device\n%s" SAMPLE, (unsigned int)va, (unsigned int)(va >> 32),
		 error ? "cache_clean device\n" : "cache_invalidate core\n");
	assemble_reader(f, f->other, lines);
	start_reader(f);
	wait_reader(f);
}

/* ------------------------------------------------------------------- buffers */

/* Create the buffer of vertices again, with fewer bytes than they have; its memory has a page. */
static void shorten_buffer(struct fixture *f, uint32_t bytes)
{
	pumice_buffer_destroy(&f->buffer);
	require(f, pumice_buffer_create(f->vm, bytes, &f->buffer), "buffer");
	require(f, pumice_bo_set_label(f->buffer.bo, "vertices"), "label");
	memcpy(f->buffer.cpu, vertices, sizeof(vertices));
}

/* The texture coordinates of the last vertex are after the end. */
static void draw_short_vertices(struct fixture *f, bool error)
{
	shorten_buffer(f, sizeof(vertices) - (error ? 8 : 0));
	draw_frame(f, f->other);
}

/* Three words follow the vertices, of which the last one may be after the end; returns where. */
static uint64_t add_words(struct fixture *f, const uint32_t words[3], bool error)
{
	shorten_buffer(f, sizeof(vertices) + 3 * sizeof(*words) - (error ? 4 : 0));
	memcpy((uint8_t *)f->buffer.cpu + sizeof(vertices), words, 3 * sizeof(*words));
	return f->buffer.va + sizeof(vertices);
}

static void draw_short_indices(struct fixture *f, bool error)
{
	f->indices = add_words(f, (const uint32_t[]){ 0, 1, 2 }, error);
	draw_frame(f, f->other);
}

static void dispatch_short_counts(struct fixture *f, bool error)
{
	const uint64_t counts = add_words(f, (const uint32_t[]){ 1, 1, 1 }, error);

	assemble_reader(f, f->other, "");
	start_groups(f, counts);
	wait_reader(f);
}

/* The last word of the destination is after the end. */
static void copy_to_short_words(struct fixture *f, bool error)
{
	const struct pumice_tdm_copy copy = {
		.src = pumice_image_va(f->other),
		.dst = add_words(f, (const uint32_t[3]){ 0 }, error), .bytes = 12,
	};

	start_copies(f, &copy, 1);
	wait_reader(f);
}

/* Assemble a program that samples the last texel of a texture in the buffer. */
static void assemble_last_texel(struct fixture *f)
{
	struct pumice_texture texture;

	pumice_image_texture(f->other, &texture);
	texture.addr = f->buffer.va;
	texture.layout = PUMICE_LAYOUT_LINEAR;
	texture.width = TEXTURE_SIZE - 1;
	texture.height = TEXTURE_SIZE - 1;
	assemble_sampler(f, &texture, "mov r2, [one], 0.9\nmov r3, [one], 0.9\n" SAMPLE);
}

static void sample_short_texture(struct fixture *f, bool error)
{
	shorten_buffer(f, LAST_TEXEL + (error ? 0 : 4));
	assemble_last_texel(f);
	start_reader(f);
	wait_reader(f);
}

/* Run the program on each USC of the core, one job after the other. */
static void run_readers(struct fixture *f)
{
	uint32_t n;

	for (n = 0; n < READERS; n++) {
		start_reader(f);
		wait_reader(f);
	}
}

/*
 * After a frame, the memory of the texture is replaced between two jobs of compute. Of the wrong
 * user, who is the driver here, translations are not invalidated.
 */
static void sample_replaced_texture(struct fixture *f, bool error)
{
	struct pumice_bind bind = { .va = f->buffer.va, .size = 4096 };

	draw_frame(f, f->other);
	assemble_last_texel(f);
	run_readers(f);
	require(f, pumice_bo_create(f->dev, 4096, NULL, &bind.bo), "bo");
	inproc_device(f->dev)->omitted = error ? INPROC_OMIT_INVALIDATE : 0;
	require(f, pumice_vm_bind(f->vm, &bind, 1, NULL), "bind");
	inproc_device(f->dev)->omitted = 0;
	run_readers(f);
	pumice_bo_destroy(bind.bo);
}

/* ------------------------------------------------------------------- running */

static const struct frame_error errors[] = {
	{
		.name = "vertices_after_the_end_of_their_buffer", .draw = draw_short_vertices,
		.finding = "past-end",
		.offset = sizeof(vertices) - 8,
		.place = {
			"\"unit\":\"pds\",\"access\":\"read\",",
			"\"label\":\"vertices\",",
		},
	}, {
		.name = "indices_after_the_end_of_their_buffer", .draw = draw_short_indices,
		.finding = "past-end",
		.offset = sizeof(vertices),
		.place = {
			"\"unit\":\"vdm\",\"access\":\"read\",",
			"\"label\":\"vertices\",", "\"master\":\"vdm\",",
		},
	}, {
		.name = "counts_of_groups_after_the_end_of_their_buffer",
		.draw = dispatch_short_counts, .finding = "past-end",
		.offset = sizeof(vertices),
		.place = {
			"\"unit\":\"cdm\",\"access\":\"read\",",
			"\"label\":\"vertices\",", "\"master\":\"cdm\",",
		},
	}, {
		.name = "copy_to_words_after_the_end_of_their_buffer",
		.draw = copy_to_short_words, .finding = "past-end",
		.offset = sizeof(vertices),
		.place = {
			"\"unit\":\"ptla\",\"access\":\"write\",",
			"\"label\":\"vertices\",",
		},
	}, {
		.name = "texture_whose_memory_is_replaced_without_an_invalidation",
		.draw = sample_replaced_texture, .finding = "stale-translation",
		.offset = LAST_TEXEL,
		.place = {
			"\"unit\":\"tag\",\"access\":\"read\",", "\"master\":\"cdm\",",
			"\"source\":\"reader:",
		},
	}, {
		.name = "texel_after_the_end_of_its_buffer", .draw = sample_short_texture,
		.finding = "past-end",
		.offset = LAST_TEXEL,
		.place = {
			"\"unit\":\"tag\",\"access\":\"read\",",
			"\"label\":\"vertices\",", "\"master\":\"cdm\",",
			"\"source\":\"reader:",
		},
	}, {
		.name = "texture_read_of_a_texel_that_was_stored", .draw = sample_again,
		.finding = "stale-core",
		.place = {
			"\"unit\":\"tag\",\"access\":\"read\",",
			"\"label\":\"image of 128 x 128\",",
			"\"master\":\"cdm\",", "\"source\":\"reader:24\"}",
		},
	}, {
		.name = "texture_read_of_the_target_of_the_same_job", .draw = read_target,
		.finding = "target-read",
		.place = {
			"\"unit\":\"tag\",\"access\":\"read\",",
			"\"other\":{\"unit\":\"pbe\",\"master\":\"pdm\",",
			"\"same_job\":true},",
			"\"omitted\":\"no FLUSH, or end of the job,",
		},
	}, {
		.name = "texture_read_of_the_target_of_a_job_that_does_not_wait",
		.draw = read_by_compute, .finding = "target-read",
		.place = {
			"\"unit\":\"pbe\",\"access\":\"write\",",
			"\"other\":{\"unit\":\"tag\",\"program\":",
			"\"same_job\":false},",
			/* Only the other side is an instruction. */
			"\"other_source\":\"reader:18\"}",
		},
	}, {
		.name = "copy_of_the_target_of_a_job_that_does_not_wait",
		.draw = read_by_copies, .finding = "target-read",
		.place = {
			"\"unit\":\"pbe\",\"access\":\"write\",",
			"\"other\":{\"unit\":\"ptla\",\"master\":\"ptla\",",
			"\"same_job\":false},",
		},
	},
};

#define ERRORS (sizeof(errors) / sizeof(errors[0]))

static bool right_has_none(const void *error, char *finding)
{
	const struct frame_error *e = error;
	struct fixture f;
	bool none;

	set_up(&f);
	e->draw(&f, false);
	none = strict_has_none(f.dev, finding);
	tear_down(&f);
	return none;
}

static bool is_in_buffer(const char *finding)
{
	return strstr(finding, "past-end") || strstr(finding, "stale-translation");
}

static bool is_in_image(const struct fixture *f, const char *finding, uint64_t va)
{
	const uint64_t first = pumice_image_va(strstr(finding, "target-read") ?
						       pumice_canvas_image(f->canvas) :
						       f->other);

	return va >= first && va < first + IMAGE_BYTES;
}

/* Return whether the address of a finding is that in the buffer, or one in the image. */
static bool has_address(const struct fixture *f, const struct frame_error *e, const char *finding)
{
	const char *at = strstr(finding, "\"va\":\"");
	const uint64_t va = at ? strtoull(at + strlen("\"va\":\""), NULL, 16) : 0;

	if (is_in_buffer(finding) ? va == f->buffer.va + e->offset : is_in_image(f, finding, va))
		return true;
	printf("# the buffer is at 0x%" PRIx64 "\n", f->buffer.va);
	return false;
}

static bool wrong_is_found(const void *error, char *finding)
{
	const struct frame_error *e = error;
	struct fixture f;
	bool ok;
	uint32_t n;

	set_up(&f);
	e->draw(&f, true);
	finding[0] = '\0';
	ok = !pumice_finding_get(f.dev, 0, finding, FINDING_BYTES) &&
	     strict_is(finding, e->finding) && has_address(&f, e, finding);
	for (n = 0; n < PLACES && e->place[n]; n++)
		ok = ok && strict_has(finding, e->place[n]);
	tear_down(&f);
	return ok;
}

int main(void)
{
	uint32_t n, failed = 0;

	printf("1..%zu\n", ERRORS);
	for (n = 0; n < ERRORS; n++)
		failed += !strict_check(errors[n].name, &errors[n], right_has_none, wrong_is_found);
	return failed != 0;
}
