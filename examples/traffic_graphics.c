// SPDX-License-Identifier: MIT
/* Traffic of frames: layout of a texture, layers over each other, number of triangles. */
#include <math.h>
#include <stdlib.h>

#include <pumice/pumice_gfx.h>

#include "traffic.h"

#define SIZE	512u	/* pixels of a frame's side */
#define TEXELS	512u	/* of a texture's side */
#define PIXELS	((double)SIZE * SIZE)
#define TEXTURES	16u	/* at most: of the draws, each its own */

struct vertex {
	float position[4], uv[2];
};

static const char vertex_text[] =
	PUMICE_LINE(uvsw vo0, v0)
	PUMICE_LINE(uvsw vo1, v1)
	PUMICE_LINE(uvsw vo2, v2)
	PUMICE_LINE(uvsw vo3, v3)
	PUMICE_LINE(uvsw vo4, v4)
	PUMICE_LINE(uvsw vo5, v5)
	PUMICE_LINE(end);

static const char opaque_text[] =
	PUMICE_LINE(sample.f32 sig0, r4, 2d, v0, sh0)
	PUMICE_LINE(sig_wait r8[0], sig0)
	PUMICE_LINE(mov o0, [one], r4)
	PUMICE_LINE(mov o1, [one], r5)
	PUMICE_LINE(mov o2, [one], r6)
	PUMICE_LINE(mov o3, [one], 1.0)
	PUMICE_LINE(end);

/* Half of the texel, half of the pixel so far. */
static const char blended_text[] =
	PUMICE_LINE(sample.f32 sig0, r4, 2d, v0, sh0)
	PUMICE_LINE(sig_wait r8[0], sig0)
	PUMICE_LINE(mov r8, [one], o0)
	PUMICE_LINE(mov r9, [one], o1)
	PUMICE_LINE(mov r10, [one], o2)
	PUMICE_LINE(add.f32 r8, r8, r4)
	PUMICE_LINE(add.f32 r9, r9, r5)
	PUMICE_LINE(add.f32 r10, r10, r6)
	PUMICE_LINE(mul.f32 r8, r8, 0.5)
	PUMICE_LINE(mul.f32 r9, r9, 0.5)
	PUMICE_LINE(mul.f32 r10, r10, 0.5)
	PUMICE_LINE(mov o0, [one], r8)
	PUMICE_LINE(mov o1, [one], r9)
	PUMICE_LINE(mov o2, [one], r10)
	PUMICE_LINE(end);

/* A frame of textured triangles. */
struct frame {
	struct gpu gpu;
	struct vertex *vertex;	/* written by the experiment, first to last draw */
	uint32_t vertices;	/* of a draw */
	uint32_t layout;	/* of the textures */
	uint32_t textures;	/* draw n reads texture n modulo this */
	bool blended;
	struct pumice_image *image[TEXTURES];
};

static void make_textures(struct frame *f)
{
	struct pumice_image_desc desc;
	uint32_t i;

	pumice_image_desc_init(&desc, PUMICE_FORMAT_RGBA8_UNORM, TEXELS, TEXELS);
	desc.layout = f->layout;
	for (i = 0; i < f->textures; i++)
		gpu_check(&f->gpu, pumice_image_create(f->gpu.vm, &desc, &f->image[i]), "texture");
}

static void destroy_textures(struct frame *f)
{
	uint32_t i;

	for (i = 0; i < f->textures; i++)
		pumice_image_destroy(f->image[i]);
}

static void open_frame(struct frame *f, uint32_t draws)
{
	traffic_open(&f->gpu, (uint64_t)draws * f->vertices * sizeof(struct vertex));
	f->vertex = f->gpu.cpu;
}

/* Render the draws, one after the other, and read the counts; then close. */
static void render(struct frame *f, uint32_t draws, struct traffic *t)
{
	const uint32_t stride = sizeof(struct vertex);
	struct pumice_kernel *vertex = gpu_kernel(&f->gpu, vertex_text);
	struct pumice_kernel *fragment = gpu_kernel(&f->gpu, f->blended ? blended_text :
								      opaque_text);
	struct pumice_texture texture;
	struct pumice_sampler sampler;
	struct pumice_canvas_desc desc;
	struct pumice_draw_state state;
	struct pumice_canvas *canvas;
	struct pumice_stream *stream;
	struct pumice_vdm_draw draw;
	uint32_t i;

	pumice_canvas_desc_init(&desc, SIZE, SIZE);
	gpu_check(&f->gpu, pumice_canvas_create(f->gpu.vm, &desc, &canvas), "canvas");
	make_textures(f);
	pumice_sampler_init(&sampler);
	pumice_draw_state_init(&state, SIZE, SIZE);
	state.vdm.varyings = 2;
	state.isp.depth_func = PUMICE_COMPARE_LESS;
	state.isp.depth_write = !f->blended;
	if (f->blended)
		state.isp.pass_type = PUMICE_PASS_TYPE_TRANSLUCENT;
	stream = pumice_canvas_begin(canvas);
	for (i = 0; i < draws; i++) {
		const uint64_t va = f->gpu.va + (uint64_t)i * f->vertices * stride;
		const struct pumice_input attributes[] = {
			pumice_input_attribute(0, 4, va, stride, f->vertices),
			pumice_input_attribute(4, 2, va + 16, stride, f->vertices),
		};
		const struct pumice_input inputs[] = {
			pumice_input_varying(0, 0, 2), pumice_input_texture(0, &texture, &sampler),
		};
		const struct pumice_stage_desc vertex_stage = { vertex, attributes, 2 };
		const struct pumice_stage_desc fragment_stage = { fragment, inputs, 2 };

		pumice_image_texture(f->image[i % f->textures], &texture);
		gpu_check(&f->gpu, pumice_stream_stages(stream, &state, &vertex_stage,
							&fragment_stage), "state");
		pumice_vdm_draw_defaults(&draw);
		draw.count = f->vertices;
		gpu_check(&f->gpu, pumice_stream_draw(stream, &draw), "draw");
	}
	gpu_check(&f->gpu, pumice_canvas_end(canvas, NULL, PUMICE_FOREVER), "frame");
	traffic_read(&f->gpu, t);
	pumice_canvas_destroy(canvas);
	destroy_textures(f);
	pumice_kernel_destroy(fragment);
	pumice_kernel_destroy(vertex);
	gpu_close(&f->gpu);
}

/*
 * Two triangles for the rectangle from (x, y) to (x + size, y + size), where a frame is 1; the
 * texture is rotated about the centre of the frame.
 */
static void rectangle(struct vertex *v, float x, float y, float size, float depth, float angle)
{
	static const float corner[6][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 0 }, { 1, 1 },
					    { 0, 1 } };
	const float c = cosf(angle), s = sinf(angle);
	uint32_t i;

	for (i = 0; i < 6; i++) {
		const float px = x + size * corner[i][0], py = y + size * corner[i][1];

		v[i] = (struct vertex){
			.position = { 2 * px - 1, 1 - 2 * py, depth, 1 },
			.uv = { c * (px - 0.5f) - s * (py - 0.5f) + 0.5f,
				s * (px - 0.5f) + c * (py - 0.5f) + 0.5f },
		};
	}
}

/*
 * A texture over the frame, in rows and in Morton order, rotated: how often a pixel's texel is not
 * in the first cache.
 */
void traffic_texture(void)
{
	static const char *const line[] = {
		[PUMICE_LAYOUT_LINEAR] = "linear", [PUMICE_LAYOUT_TWIDDLED] = "twiddled",
	};
	uint32_t layout, degrees;

	for (degrees = 0; degrees <= 90; degrees += 15) {
		for (layout = PUMICE_LAYOUT_LINEAR; layout <= PUMICE_LAYOUT_TWIDDLED; layout++) {
			struct frame f = { .vertices = 6, .layout = layout, .textures = 1 };
			struct traffic t;
			double misses;

			if (!line[layout])
				continue;
			open_frame(&f, 1);
			rectangle(f.vertex, 0, 0, 1, 0.5f, (float)degrees * 0.01745329f);
			render(&f, 1, &t);
			misses = (double)traffic_client(&t, "texture")->first_misses;
			traffic_print("texture", line[layout], degrees, 100 * misses / PIXELS);
		}
	}
}

/* Print the bytes of a frame with layers in memory, without those of streams and states. */
static void print_layers(const char *line, uint32_t layers, bool blended, bool far_first)
{
	struct frame f = {
		.vertices = 6, .layout = PUMICE_LAYOUT_TWIDDLED, .textures = layers,
		.blended = blended,
	};
	struct traffic t;
	uint32_t i;

	open_frame(&f, layers);
	for (i = 0; i < layers; i++) {
		const uint32_t place = far_first ? layers - i : i + 1;

		rectangle(f.vertex + 6 * i, 0, 0, 1, (float)place / (float)(layers + 1), 0);
	}
	render(&f, layers, &t);
	traffic_print("layers", line, layers,
		      (double)(traffic_client(&t, "texture")->read_bytes +
			       traffic_client(&t, "pbe-write")->written_bytes +
			       traffic_client(&t, "depth-read")->read_bytes +
			       traffic_client(&t, "depth-write")->written_bytes) / PIXELS);
	traffic_print("texels", line, layers,
		      (double)traffic_client(&t, "texture")->requests / PIXELS);
}

/*
 * Layers that cover the frame, each with its texture. For comparison the bytes of a renderer that
 * has colour and depth in memory, 4 bytes each, and caches neither: a layer in front of the ones
 * before it reads and writes depth and writes colour, a blended one reads depth and reads and
 * writes colour. Each layer reads a texel of 4 bytes.
 */
void traffic_layers(void)
{
	uint32_t n;

	for (n = 1; n <= 16; n *= 2) {
		print_layers("nearest first", n, false, false);
		print_layers("farthest first", n, false, true);
		print_layers("blended", n, true, true);
		traffic_print("layers", "computed", n, 16.0 * n);
	}
}

/* The frame in more and more triangles: the parameter buffer against pixels. */
void traffic_triangles(void)
{
	uint32_t side, i;

	for (side = 1; side <= 128; side *= 2) {
		struct frame f = {
			.vertices = 6 * side * side, .layout = PUMICE_LAYOUT_TWIDDLED,
			.textures = 1,
		};
		struct traffic t;

		open_frame(&f, 1);
		for (i = 0; i < side * side; i++)
			rectangle(f.vertex + 6 * i, (float)(i % side) / (float)side,
				  (float)(i / side) / (float)side, 1 / (float)side, 0.5f, 0);
		render(&f, 1, &t);
		traffic_print("triangles", "parameter buffer written", 2 * side * side,
			      (double)(traffic_client(&t, "pb-write")->written_bytes +
				       traffic_client(&t, "te-write")->written_bytes));
		traffic_print("triangles", "parameter buffer read", 2 * side * side,
			      (double)(traffic_client(&t, "ipf-read")->read_bytes +
				       traffic_client(&t, "ipf-prim")->read_bytes +
				       traffic_client(&t, "pb-read")->read_bytes));
		traffic_print("triangles", "attributes read", 2 * side * side,
			      (double)traffic_client(&t, "attribute")->read_bytes);
		traffic_print("triangles", "pixels written", 2 * side * side,
			      (double)traffic_client(&t, "pbe-write")->written_bytes);
	}
}
