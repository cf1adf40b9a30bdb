// SPDX-License-Identifier: MIT
/*
 * A scene, drawn by the GPU. Attribute registers of the vertex program: v0 position,
 * v4 colour, v8 texture coordinates, v12 size; v16 instance.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pumice/pumice_tasks.h"
#include "scene.h"

#define INDEX_AT	(512u << 10)	/* in the buffer of vertices */
#define INDIRECT_AT	(768u << 10)
#define CENTROID_MODE	PUMICE_USC_ITERATE_PERSPECTIVE_CENTROID

/* Clip position; each instance is drawn a little further right. */
#define POSITION \
	"cvt_f32.u32 r0, v16\n" \
	"mul.f32 r0, r0, 0.125\n" \
	"add.f32 r0, r0, v0\n" \
	"uvsw vo0, r0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\n"

static const char coordinate_text[] = POSITION "end\n";
static const char coordinate_size_text[] = POSITION "uvsw vo4, v12\nend\n";
static const char vertex_text[] = POSITION
	"uvsw vo4, v4\nuvsw vo5, v5\nuvsw vo6, v6\nuvsw vo7, v7\nuvsw vo8, v8\nuvsw vo9, v9\n"
	"end\n";
static const char vertex_size_text[] = POSITION
	"uvsw vo4, v12\nuvsw vo5, v4\nuvsw vo6, v5\nuvsw vo7, v6\nuvsw vo8, v7\n"
	"uvsw vo9, v8\nuvsw vo10, v9\nend\n";

#define STORE \
	"mov o0, [one], v0\nmov o1, [one], v1\nmov o2, [one], v2\nmov o3, [one], v3\n" \
	"mov o4, [one], sh0\nend\n"
#define TIMES(reg) \
	"mul.f32 v0, v0, " reg "0\nmul.f32 v1, v1, " reg "1\n" \
	"mul.f32 v2, v2, " reg "2\nmul.f32 v3, v3, " reg "3\n"

/* v0 colour, v4 texture coordinates or texel, v8 column, v9 row; sh0 number, sh16 texture. */
static const char *const fragment_text[SHADE_COUNT] = {
	[SHADE_PLAIN] = STORE,
	[SHADE_BLEND] =
		"neg.f32 r0, v3\nadd.f32 r0, r0, 1.0\n"
		"mul.f32 v0, v0, v3\nmul.f32 v1, v1, v3\nmul.f32 v2, v2, v3\nmul.f32 v3, v3, v3\n"
		"mov r1, [one], o0\nfma.f32 v0, r1, r0, v0\n"
		"mov r1, [one], o1\nfma.f32 v1, r1, r0, v1\n"
		"mov r1, [one], o2\nfma.f32 v2, r1, r0, v2\n"
		"mov r1, [one], o3\nfma.f32 v3, r1, r0, v3\n"
		STORE,
	[SHADE_DISCARD] =
		"xor r0, v8, v9\nshr.u32 r0, r0, 1\nand.u32 r0, r0, 1\ndiscard [r0]\n" STORE,
	/* ((7 x + 13 y) mod 64) / 64 */
	[SHADE_DEPTH] =
		"mul.u32 r0, v8, 7\nmul.u32 r1, v9, 13\nadd.u32 r0, r0, r1\nand.u32 r0, r0, 63\n"
		"cvt_f32.u32 r0, r0\nmul.f32 r0, r0, 0.015625\ndepth.f32 r0\n" STORE,
	[SHADE_TEXTURE] = "sample.f32 r0, 2d, v4, sh16\n" TIMES("r") STORE,
	[SHADE_PREFETCH] =
		"mul.f32 v0, v0, v4\nmul.f32 v1, v1, v5\nmul.f32 v2, v2, v6\nmul.f32 v3, v3, v7\n"
		STORE,
};

/*
 * Create the same program with the last word of a uniform stream instead of a constant or a
 * register; it reads the words before it first.
 */
static struct pumice_kernel *streamed(struct fixture *fx, const char *text, uint32_t words)
{
	static const char *const uniforms[] = { "0.125", "sh0\n" };
	static const char skip[] = "mov r9, [one], uniform\nmov r9, [one], uniform\n";
	const uint32_t line = sizeof(skip) / 2;
	char changed[1024];
	const char *at = NULL;
	uint32_t i;

	for (i = 0; i < 2 && !at; i++)
		at = strstr(text, uniforms[i]);
	assert_non_null(at);
	snprintf(changed, sizeof(changed), "%.*s%.*suniform%s", (int)((words - 1) * line), skip,
		 (int)(at - text), text, i == 1 ? at + 5 : at + 3);
	return fx_kernel(fx, changed);
}

static struct pumice_kernel *program(struct fixture *fx, const struct scene_draw *d, uint32_t n,
				     const char *text)
{
	n += d->streams * FX_KINDS;
	if (!fx->program[n])
		fx->program[n] = d->streams ? streamed(fx, text, d->streams) : fx_kernel(fx, text);
	return fx->program[n];
}

/* Get the fragment program of a draw. */
static struct pumice_kernel *fragment_program(struct fixture *fx, const struct scene_draw *d)
{
	const uint32_t n = FX_COEFFS + d->shading * INTERP_COUNT + d->interpolation;
	char text[1024];

	if (!d->coeffs)
		return program(fx, d, 3 + d->shading, fragment_text[d->shading]);
	if (!fx->program[n]) {
		scene_coeffs_text(d->interpolation, fragment_text[d->shading], text, sizeof(text));
		fx->program[n] = fx_kernel(fx, text);
	}
	return fx->program[n];
}

static void put_uniforms(struct fixture *fx, const struct scene_draw *d, float value, uint64_t *va)
{
	uint32_t words[SCENE_STREAM_WORDS], n;

	for (n = 0; n < d->streams; n++)
		words[n] = fx_f32(n + 1 == d->streams ? value : value + 1 + (float)n);
	fx_check(fx, "uniforms", pumice_stream_uniforms(fx->stream, words, d->streams, va));
}

/* A vertex stage and its inputs. */
struct vertex_stage {
	struct pumice_input in[5];
	struct pumice_stage_desc desc;
};

/* A fragment stage, its inputs, and their words. */
struct fragment_stage {
	struct pumice_input in[6];
	struct pumice_stage_desc desc;
	struct pumice_texture texture;
	struct pumice_sampler sampler;
	uint32_t id;
};

static void make_vertex_stage(struct fixture *fx, const struct scene_draw *d, uint64_t va,
			      struct vertex_stage *stage)
{
	const struct pumice_input attribute = {
		.kind = PUMICE_INPUT_ATTRIBUTE, .stride = sizeof(struct scene_vertex),
		.elements = SCENE_VERTICES,
	};
	struct pumice_input *in = stage->in;
	uint32_t i;

	for (i = 0; i < 4; i++)
		in[i] = attribute;
	in[0].va = va + offsetof(struct scene_vertex, position);
	in[0].format = PUMICE_ATTR_KIND_F32;
	in[0].count = 4;
	in[1].va = va + offsetof(struct scene_vertex, colour);
	in[1].reg = 4;
	in[1].format = PUMICE_ATTR_KIND_UNORM8;
	in[1].count = 4;
	in[2].va = va + offsetof(struct scene_vertex, uv);
	in[2].reg = 8;
	in[2].format = PUMICE_ATTR_KIND_F32;
	in[2].count = 2;
	in[3].va = va + offsetof(struct scene_vertex, size);
	in[3].reg = 12;
	in[3].format = PUMICE_ATTR_KIND_F32;
	in[3].count = 1;
	in[4] = (struct pumice_input){ .kind = PUMICE_INPUT_SOURCE, .reg = 16,
				       .source = PUMICE_PDS_SOURCE_INSTANCE };
	stage->desc = (struct pumice_stage_desc){
		.kernel = d->point_size ? program(fx, d, 0, vertex_size_text) :
					  program(fx, d, 1, vertex_text),
		.inputs = in, .input_count = 5,
	};
}

static void coordinate_stage(struct fixture *fx, const struct scene_draw *d,
			     const struct vertex_stage *vertex, uint32_t words[4])
{
	const struct pumice_input in[3] = { vertex->in[0], vertex->in[4], vertex->in[3] };
	const struct pumice_stage_desc stage = {
		.kernel = d->deferred && d->point_size ?
			  program(fx, d, SHADE_COUNT + 3, coordinate_size_text) :
			  program(fx, d, 2, coordinate_text),
		.inputs = in, .input_count = 3,
	};

	fx_check(fx, "coordinate stage", pumice_stream_stage(fx->stream, &stage, words));
}

static void make_fragment_stage(struct fixture *fx, const struct scene_draw *d, float number,
				struct fragment_stage *stage)
{
	static const uint32_t modes[] = {
		[INTERP_PERSPECTIVE] = PUMICE_USC_ITERATE_PERSPECTIVE,
		[INTERP_LINEAR] = PUMICE_USC_ITERATE_LINEAR,
		[INTERP_FLAT] = PUMICE_USC_ITERATE_LINEAR,
		[INTERP_CENTROID] = CENTROID_MODE,
	};
	const struct pumice_input in[6] = {
		{ .kind = PUMICE_INPUT_UNIFORMS, .words = &stage->id, .count = 1 },
		{ .kind = PUMICE_INPUT_VARYING, .count = 4, .mode = modes[d->interpolation] },
		{ .kind = PUMICE_INPUT_SOURCE, .reg = 8, .source = PUMICE_PDS_SOURCE_FRAG_X },
		{ .kind = PUMICE_INPUT_SOURCE, .reg = 9, .source = PUMICE_PDS_SOURCE_FRAG_Y },
		{ .kind = PUMICE_INPUT_VARYING, .reg = 4, .varying = 4, .count = 2,
		  .mode = PUMICE_USC_ITERATE_PERSPECTIVE },
		{ .kind = PUMICE_INPUT_TEXTURE, .reg = 16, .texture = &stage->texture,
		  .sampler = &stage->sampler },
	};

	stage->id = fx_f32(number);
	pumice_image_texture(fx->texture, &stage->texture);
	pumice_sampler_init(&stage->sampler);
	stage->sampler.min_linear = stage->sampler.mag_linear = true;
	memcpy(stage->in, in, sizeof(in));
	stage->desc = (struct pumice_stage_desc){
		.kernel = fragment_program(fx, d), .inputs = stage->in, .input_count = 6,
	};
	if (d->shading == SHADE_PREFETCH) {
		stage->in[4].kind = PUMICE_INPUT_PREFETCH;
		stage->in[4].texture = &stage->texture;
		stage->in[4].sampler = &stage->sampler;
		stage->desc.input_count = 5;
	}
	/* The first two, number and colour, are in coefficient registers. */
	if (d->coeffs) {
		stage->desc.inputs += 2;
		stage->desc.input_count -= 2;
	}
}

/* Put a state and its stages, with attributes in the PDS programs or in a table. */
static void put_state(struct fixture *fx, const struct scene_draw *d, uint64_t va, float number,
		      struct pumice_draw_state *state)
{
	struct fragment_stage fragment;
	struct vertex_stage vertex;

	make_vertex_stage(fx, d, va, &vertex);
	make_fragment_stage(fx, d, number, &fragment);
	state->vdm.deferred = d->deferred;
	/* The library derives the coordinate program of states with deferred vertices. */
	if (d->coordinate && !(d->table && d->deferred))
		coordinate_stage(fx, d, &vertex, state->vdm.coordinate);
	if (d->table) {
		fx_check(fx, "stages", pumice_stream_stages(fx->stream, state, &vertex.desc,
							    &fragment.desc));
		return;
	}
	fx_check(fx, "vertex stage",
		 pumice_stream_stage(fx->stream, &vertex.desc, state->vdm.vertex));
	if (d->coeffs)
		scene_coeffs_stage(fx, &fragment.desc, number, state->tsp.fragment);
	else
		fx_check(fx, "fragment stage",
			 pumice_stream_stage(fx->stream, &fragment.desc, state->tsp.fragment));
	fx_check(fx, "state", pumice_stream_draw_state(fx->stream, state, NULL));
}

static uint64_t put_indices(struct fixture *fx, const struct scene_draw *d, uint32_t number)
{
	const uint32_t at = INDEX_AT + number * SCENE_INDICES * 4;
	uint8_t *to = (uint8_t *)fx->vertices.cpu + at;
	uint32_t i;

	for (i = 0; i < SCENE_INDICES; i++)
		memcpy(to + i * d->index_bytes, &d->index[i], d->index_bytes);
	return fx->vertices.va + at;
}

static void put_draw(struct fixture *fx, const struct scene_draw *d, uint32_t number)
{
	const struct pumice_vdm_draw plain = {
		.topology = (uint8_t)d->topology, .count = d->count, .first = d->first,
		.instances = d->instances, .after = d->after,
	};
	const uint32_t counts[4] = { d->count, d->instances, d->first, 0 };
	struct pumice_vdm_draw_indirect indirect = {
		.topology = (uint8_t)d->topology, .after = d->after,
		.addr = fx->vertices.va + INDIRECT_AT + number * 16,
	};
	struct pumice_vdm_draw_indexed indexed = {
		.topology = (uint8_t)d->topology, .restart = d->restart, .count = d->count,
		.index_size = (uint8_t)(d->index_bytes / 2), .index_count = SCENE_INDICES,
		.first = d->first, .instances = d->instances, .after = d->after,
	};

	if (d->task)
		fx_check(fx, "task", pumice_stream_vdm_task(fx->stream));
	if (d->index_bytes) {
		indexed.indices = put_indices(fx, d, number);
		fx_check(fx, "draw", pumice_stream_draw_indexed(fx->stream, &indexed));
	} else if (d->indirect) {
		memcpy((uint8_t *)fx->vertices.cpu + INDIRECT_AT + number * 16, counts, 16);
		fx_check(fx, "draw", pumice_stream_draw_indirect(fx->stream, &indirect));
	} else {
		fx_check(fx, "draw", pumice_stream_draw(fx->stream, &plain));
	}
}

static void put_geometry(struct fixture *fx, const struct scene *s, uint64_t *va)
{
	struct pumice_draw_state state;
	uint32_t i;

	for (i = 0; i < s->draws; i++) {
		const struct scene_draw *d = &s->draw[i];
		const uint32_t at = i * (uint32_t)sizeof(d->vertex);

		memcpy((uint8_t *)fx->vertices.cpu + at, d->vertex, sizeof(d->vertex));
		state = d->state;
		if (d->streams) {
			put_uniforms(fx, d, 0.125f, &state.vdm.uniforms);
			put_uniforms(fx, d, (float)(i + 1), &state.tsp.uniforms);
			state.vdm.uniform_words = state.tsp.uniform_words = (uint16_t)d->streams;
		}
		put_state(fx, d, fx->vertices.va + at, (float)(i + 1), &state);
		put_draw(fx, d, i);
	}
	fx_check(fx, "end", pumice_stream_vdm_end(fx->stream, va));
}

static struct pumice_image *make_target(struct fixture *fx, const struct scene *s, uint32_t format,
					uint32_t samples)
{
	const struct pumice_image_desc desc = {
		.format = format, .layout = s->seed % 3, .dim = PUMICE_TEXTURE_DIM_2D,
		.width = s->width * samples, .height = s->height, .levels = 1,
	};
	struct pumice_image *image;

	fx_check(fx, "target", pumice_image_create(fx->vm, &desc, &image));
	return image;
}

static uint32_t depth_bytes(const struct scene *s)
{
	return s->depth_format == PUMICE_DEPTH_FORMAT_D16 ? 2 : 4;
}

static uint32_t depth_stride(const struct scene *s)
{
	return (s->width * s->samples * depth_bytes(s) + 3) / 4 * 4;
}

/* Set the mask plane of the record, and its bits in memory. */
static void put_mask(struct fixture *fx, const struct scene *s, struct pumice_render_desc *r)
{
	const uint32_t row = s->width * s->samples;
	uint8_t *bits = fx->mask.cpu;
	uint64_t bytes;
	uint32_t n;

	bytes = pumice_render_desc_mask(r, fx->mask.va, s->width, s->height, s->samples);
	assert_true(bytes <= fx->mask.bytes);
	r->pdm.mask_load = s->mask_load;
	r->pdm.mask_store = true;
	r->pdm.clear_mask = s->clear_mask;
	memset(bits, 0, bytes);
	for (n = 0; n < s->height * row; n++)
		if (scene_mask_bit(s, n))
			bits[n / row * r->pdm.mask_stride + n % row / 8] |=
				(uint8_t)(1u << n % row % 8);
}

static void put_render(struct fixture *fx, const struct scene *s,
		       struct pumice_image *const image[3], uint64_t *va)
{
	struct pumice_render_desc r = {
		.pdm = {
			.outputs = SCENE_OUTPUTS, .depth_store = true, .stencil_store = true,
			.depth_format = (uint8_t)s->depth_format,
			.clear_depth = s->clear_depth, .clear_stencil = s->clear_stencil,
			.depth_addr = fx->depth.va, .stencil_addr = fx->stencil.va,
			.depth_stride = depth_stride(s),
			.stencil_stride = s->width * s->samples,
			.visibility_addr = fx->visible.va, .visibility_count = SCENE_DRAWS,
		},
		.targets = { { .image = image[0], .samples = s->samples > 1 ? s->samples : 0 },
			     { .image = image[1], .source = 4,
			       .samples = s->samples > 1 ? s->samples : 0 },
			     { .image = image[2], .resolve = s->samples > 1 } },
		.target_count = 3,
	};

	memcpy(r.clear, s->clear, sizeof(s->clear));
	if (s->mask)
		put_mask(fx, s, &r);
	fx_check(fx, "render", pumice_stream_render(fx->stream, &r, va));
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		const uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* A list of all tiles, from a random one on with a step that visits all. */
static void put_list(struct fixture *fx, const struct scene *s, uint64_t record, uint64_t *va)
{
	const uint32_t tile_w = s->tile_size == PUMICE_TILE_SIZE_16X16 ? 16 : 32;
	const uint32_t tile_h = s->tile_size == PUMICE_TILE_SIZE_32X32 ? 32 : 16;
	const uint32_t tiles_x = (s->width + tile_w - 1) / tile_w;
	const uint32_t tiles = tiles_x * ((s->height + tile_h - 1) / tile_h);
	uint32_t step = s->seed % 7919 + 1, tile = s->seed % tiles, i;

	while (gcd(step, tiles) != 1)
		step++;
	pumice_stream_reset(fx->list_stream);
	fx_check(fx, "mode", pumice_stream_pdm_mode(fx->list_stream, record));
	for (i = 0; i < tiles; i++, tile = (tile + step) % tiles) {
		fx_check(fx, "tile",
			 pumice_stream_pdm_tile(fx->list_stream, tile % tiles_x, tile / tiles_x));
		fx_check(fx, "branch", pumice_stream_pdm_branch(fx->list_stream));
		fx_check(fx, "store", pumice_stream_pdm_store(fx->list_stream, false));
	}
	fx_check(fx, "end", pumice_stream_pdm_end(fx->list_stream, va));
}

/* Write the stream of the fragment job, by seed: a list, one in another order, or the record. */
static void put_job(struct fixture *fx, const struct scene *s, uint64_t record,
		    struct scene_frame *f)
{
	f->frame.render = record;
	if (s->seed % 3 == 0)
		fx_check(fx, "list", pumice_stream_render_list(fx->stream, f->frame.hwrt, record,
							       &f->frame.render));
	else if (s->seed % 3 == 1)
		put_list(fx, s, record, &f->frame.render);
}

/* Read depths as stored in memory; D24_S8 contains the stencil, too. */
static void read_depth(struct fixture *fx, const struct scene *s, struct picture *out)
{
	const uint32_t row = s->width * s->samples, bytes = depth_bytes(s);
	uint32_t x, y, word;

	for (y = 0; y < s->height; y++) {
		for (x = 0; x < row; x++) {
			word = 0;
			memcpy(&word, (uint8_t *)fx->depth.cpu + y * depth_stride(s) + x * bytes,
			       bytes);
			if (s->depth_format == PUMICE_DEPTH_FORMAT_D24_S8) {
				out->stencil[y * row + x] = (uint8_t)(word >> 24);
				word &= 0xffffff;
			}
			memcpy(&out->depth[y * row + x], &word, 4);
		}
	}
}

static void read_mask(struct fixture *fx, const struct scene *s, struct picture *out)
{
	const uint32_t row = s->width * s->samples, stride = (row + 7) / 8;
	const uint8_t *bits = fx->mask.cpu;
	uint32_t n;

	for (n = 0; n < s->height * row && s->mask; n++)
		out->mask[n] = bits[n / row * stride + n % row / 8] >> n % row % 8 & 1;
}

static void read_back(struct fixture *fx, const struct scene *s,
		      struct pumice_image *const image[3], struct picture *out)
{
	const size_t samples = (size_t)s->width * s->height * s->samples;
	const struct pumice_image_part part = { 0 };

	memset(out, 0, sizeof(*out));
	fx_check(fx, "read", pumice_image_download(image[0], part, out->colour, 0));
	fx_check(fx, "read", pumice_image_download(image[1], part, out->id, 0));
	fx_check(fx, "read", pumice_image_download(image[2], part, out->packed, 0));
	memcpy(out->stencil, fx->stencil.cpu, samples);
	read_depth(fx, s, out);
	read_mask(fx, s, out);
	memcpy(out->visible, fx->visible.cpu, sizeof(out->visible));
}

void scene_put(struct fixture *fx, const struct scene *s, struct scene_frame *f)
{
	const struct pumice_hwrt_desc set = {
		.width = s->width, .height = s->height, .samples = s->samples,
		.tile_size = s->tile_size, .local = fx->list, .spill_outputs = SCENE_OUTPUTS,
	};

	uint64_t record;

	*f = (struct scene_frame){ .image = {
		make_target(fx, s, PUMICE_FORMAT_RGBA32_FLOAT, s->samples),
		make_target(fx, s, PUMICE_FORMAT_R32_FLOAT, s->samples),
		make_target(fx, s, s->format, 1),
	} };
	f->frame.perfmon = pumice_perfmon_id(fx->perfmon);
	fx_check(fx, "data set", pumice_hwrt_create(fx->vm, &set, &f->frame.hwrt));
	put_geometry(fx, s, &f->frame.geometry);
	put_render(fx, s, f->image, &record);
	put_job(fx, s, record, f);
}

void scene_free(struct scene_frame *f)
{
	uint32_t i;

	pumice_hwrt_destroy(f->frame.hwrt);
	for (i = 0; i < 3; i++)
		pumice_image_destroy(f->image[i]);
}

void scene_draw_gpu(struct fixture *fx, const struct scene *s, struct picture *out)
{
	struct scene_frame f;

	pumice_stream_reset(fx->stream);
	memset(fx->visible.cpu, 0, sizeof(out->visible));
	scene_put(fx, s, &f);
	if (pumice_render(fx->context, &f.frame, LONG, NULL))
		fail_msg("scene %u: %s", s->seed, pumice_device_error(fx->dev));
	read_back(fx, s, f.image, out);
	scene_free(&f);
}
