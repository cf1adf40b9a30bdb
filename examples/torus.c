// SPDX-License-Identifier: MIT
/*
 * A picture: a torus, lit, with a texture, half of it blended with the background,
 * four samples a pixel.
 *
 *     ./torus [DEVICE [FILE]]
 *
 * FILE is a PPM; without it torus.ppm.
 */
#include <math.h>

#include "gpu.h"
#include "picture.h"

#define SIZE	256u	/* pixels */
#define ALONG	128u	/* quads along the ring, and around its tube */
#define AROUND	64u
#define VERTICES ((ALONG + 1) * (AROUND + 1))
#define INDICES	(ALONG * AROUND * 6)
#define TEXELS	16u	/* of the texture, in a line */
#define TAU	6.28318531f

struct vertex {
	float position[3], normal[3], uv[2];
};

/* sh0 to sh15: matrix to clip space, row by row. */
static const char vertex_text[] =
	PUMICE_TRANSFORM(r0, v0, v1, v2, sh0, sh1, sh2, sh3)
	PUMICE_TRANSFORM(r1, v0, v1, v2, sh4, sh5, sh6, sh7)
	PUMICE_TRANSFORM(r2, v0, v1, v2, sh8, sh9, sh10, sh11)
	PUMICE_TRANSFORM(r3, v0, v1, v2, sh12, sh13, sh14, sh15)
	PUMICE_LINE(uvsw vo0, r0)
	PUMICE_LINE(uvsw vo1, r1)
	PUMICE_LINE(uvsw vo2, r2)
	PUMICE_LINE(uvsw vo3, r3)
	PUMICE_LINE(uvsw vo4, v4)			/* varyings: normal, then uv */
	PUMICE_LINE(uvsw vo5, v5)
	PUMICE_LINE(uvsw vo6, v6)
	PUMICE_LINE(uvsw vo7, v8)
	PUMICE_LINE(uvsw vo8, v9)
	PUMICE_LINE(end);

/* sh0 to sh2: towards the light; sh3: ambient light; sh16: texture. v0 to v4: varyings. */
static const char fragment_text[] =
	PUMICE_LINE(sample.f32 sig0, r4, 2d, v3, sh16)	/* read while the light is computed */
	PUMICE_DOT3(r0, v0, v1, v2, v0, v1, v2)
	PUMICE_LINE(rsqrt.f32 r0, r0)
	PUMICE_DOT3(r1, v0, v1, v2, sh0, sh1, sh2)
	PUMICE_LINE(mul.f32 r1, r1, r0)
	PUMICE_LINE(max.f32 r1, r1, 0.0)
	PUMICE_LINE(add.f32 r1, r1, sh3)
	PUMICE_LINE(sig_wait r8[0], sig0)		/* r4 to r7: R, G, B, A */
	PUMICE_LINE(mul.f32 r4, r4, r1)
	PUMICE_LINE(mul.f32 r5, r5, r1)
	PUMICE_LINE(mul.f32 r6, r6, r1)
	PUMICE_LINE(mov r8, [one], o0)			/* the pixel so far */
	PUMICE_LINE(mov r9, [one], o1)
	PUMICE_LINE(mov r10, [one], o2)
	PUMICE_MIX(r0, r8, r4, r7)
	PUMICE_MIX(r1, r9, r5, r7)
	PUMICE_MIX(r2, r10, r6, r7)
	PUMICE_LINE(mov o0, [one], r0)
	PUMICE_LINE(mov o1, [one], r1)
	PUMICE_LINE(mov o2, [one], r2)
	PUMICE_LINE(end);

/* The ring's radius is 1, the tube's 0.45; its axis is z. */
static void make_torus(struct vertex *v, uint32_t *index)
{
	for (uint32_t n = 0; n < VERTICES; n++, v++) {
		const uint32_t i = n / (AROUND + 1), j = n % (AROUND + 1);
		const float a = TAU * (float)i / ALONG, b = TAU * (float)j / AROUND;
		const float normal[3] = { cosf(b) * cosf(a), cosf(b) * sinf(a), sinf(b) };

		for (int c = 0; c < 3; c++) {
			v->normal[c] = normal[c];
			v->position[c] = 0.45f * normal[c] +
				(c == 0 ? cosf(a) : c == 1 ? sinf(a) : 0);
		}
		v->uv[0] = 8 * (float)i / ALONG;
		v->uv[1] = 4 * (float)j / AROUND;
		if (i == ALONG || j == AROUND)
			continue;
		for (int c = 0; c < 6; c++)	/* two triangles, counter-clockwise from outside */
			*index++ = n +
				(uint32_t[]){ 0, AROUND + 1, AROUND + 2, 0, AROUND + 2, 1 }[c];
	}
}

/* Two by two checks: opaque white, and half transparent red. */
static struct pumice_image *make_texture(struct gpu *gpu)
{
	struct pumice_image_desc desc;
	struct pumice_image *image;
	uint32_t texels[TEXELS * TEXELS];

	for (uint32_t i = 0; i < TEXELS * TEXELS; i++)
		texels[i] = (i / TEXELS ^ i) & TEXELS / 2 ? 0x80283ce6 : 0xffffffff;
	pumice_image_desc_init(&desc, PUMICE_FORMAT_RGBA8_SRGB, TEXELS, TEXELS);
	desc.levels = 0;	/* all */
	gpu_check(gpu, pumice_image_create(gpu->vm, &desc, &image), "texture");
	gpu_check(gpu, pumice_image_upload(image, (struct pumice_image_part){ 0, 0 }, texels, 0),
		  "texels");
	gpu_check(gpu, pumice_image_mipmaps(gpu->vm, image), "mip-maps");
	return image;
}

struct torus {
	struct gpu gpu;
	struct pumice_kernel *vertex, *fragment;
	struct pumice_canvas *canvas;
	struct pumice_image *image;
};

static void draw(struct torus *t, struct pumice_stream *stream)
{
	/* Tilted by 1.2 about the x axis, 4 in front of the eye, depth from 2 to 6. */
	const float c = cosf(1.2f), s = sinf(1.2f);
	const float matrix[16] = { 2.4f, 0, 0, 0, 0, 2.4f * c, -2.4f * s, 0,
				   0, -1.5f * s, -1.5f * c, 3, 0, -s, -c, 4 };
	const float light[4] = { 0.48f, -0.36f, 0.8f, 0.15f };
	const uint32_t stride = sizeof(struct vertex);
	struct pumice_vdm_draw_indexed draw;
	struct pumice_draw_state state;
	struct pumice_texture texture;
	struct pumice_sampler sampler;

	pumice_image_texture(t->image, &texture);
	pumice_sampler_init(&sampler);
	sampler.min_linear = sampler.mag_linear = true;
	sampler.mip_filter = PUMICE_MIP_FILTER_LINEAR;
	const struct pumice_input vertex_inputs[] = {
		pumice_input_attribute(0, 3, t->gpu.va, stride, VERTICES),
		pumice_input_attribute(4, 3, t->gpu.va + 12, stride, VERTICES),
		pumice_input_attribute(8, 2, t->gpu.va + 24, stride, VERTICES),
		pumice_input_uniforms(0, matrix, 16),
	};
	const struct pumice_input fragment_inputs[] = {
		pumice_input_varying(0, 0, 4), pumice_input_varying(4, 4, 1),
		pumice_input_uniforms(0, light, 4), pumice_input_texture(16, &texture, &sampler),
	};
	const struct pumice_stage_desc vertex = { t->vertex, vertex_inputs, 4 };
	const struct pumice_stage_desc fragment = { t->fragment, fragment_inputs, 4 };

	pumice_vdm_draw_indexed_defaults(&draw);
	draw.indices = t->gpu.va + VERTICES * stride;
	draw.index_count = draw.count = INDICES;
	pumice_draw_state_init(&state, SIZE, SIZE);
	state.vdm.varyings = 5;
	state.vdm.front_ccw = state.vdm.cull_back = true;

	/* Depth first: only the nearest samples are then blended with the background. */
	state.isp.depth_func = PUMICE_COMPARE_LESS;
	state.isp.depth_write = state.isp.no_tag = true;
	gpu_check(&t->gpu, pumice_stream_stages(stream, &state, &vertex, &fragment), "depth");
	gpu_check(&t->gpu, pumice_stream_draw_indexed(stream, &draw), "depth");

	/* A program that reads the pixel runs for each sample. */
	state.isp.depth_func = PUMICE_COMPARE_EQUAL;
	state.isp.depth_write = state.isp.no_tag = false;
	state.isp.pass_type = PUMICE_PASS_TYPE_TRANSLUCENT;
	state.tsp.sample_rate = true;
	gpu_check(&t->gpu, pumice_stream_stages(stream, &state, &vertex, &fragment), "colour");
	gpu_check(&t->gpu, pumice_stream_draw_indexed(stream, &draw), "colour");
}

int main(int argc, char **argv)
{
	const float sky[4] = { 0.02f, 0.05f, 0.2f, 1 };
	struct pumice_canvas_desc desc;
	struct torus t;

	gpu_open(&t.gpu, argc, argv, VERTICES * sizeof(struct vertex) + INDICES * sizeof(uint32_t));
	make_torus(t.gpu.cpu, (uint32_t *)((struct vertex *)t.gpu.cpu + VERTICES));
	t.vertex = gpu_kernel(&t.gpu, vertex_text);
	t.fragment = gpu_kernel(&t.gpu, fragment_text);
	t.image = make_texture(&t.gpu);
	pumice_canvas_desc_init(&desc, SIZE, SIZE);
	desc.samples = 4;
	gpu_check(&t.gpu, pumice_canvas_create(t.gpu.vm, &desc, &t.canvas), "canvas");

	draw(&t, pumice_canvas_begin(t.canvas));
	gpu_check(&t.gpu, pumice_canvas_end(t.canvas, sky, PUMICE_FOREVER), "frame");
	picture_write(&t.gpu, t.canvas, argc > 2 ? argv[2] : "torus.ppm");

	pumice_canvas_destroy(t.canvas);
	pumice_image_destroy(t.image);
	pumice_kernel_destroy(t.fragment);
	pumice_kernel_destroy(t.vertex);
	gpu_close(&t.gpu);
	return 0;
}
