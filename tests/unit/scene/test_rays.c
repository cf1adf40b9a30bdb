// SPDX-License-Identifier: MIT
/*
 * Ray queries of graphics programs: fragment, background, vertex and end-of-tile programs of frames
 * trace rays through a structure that the library has built, with the results of a test of all
 * triangles by the CPU. Only covered pixels trace rays; queries that are done in pieces continue;
 * programs that do not wait, and structures that are not built, are reported. In mode strict
 * builds and frames have no finding.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "pumice/pumice_fault.h"
#include "pumice/pumice_perf.h"
#include "pumice/pumice_rays.h"
#include "pumice_formats.h"
#include "pumice_isa_enums.h"
#include "rays.h"
#include "reference.h"
#include "scene.h"

/* The target: tiles at its sides are not complete. */
#define WIDTH		80u
#define HEIGHT		72u
#define PIXELS		(WIDTH * HEIGHT)
#define PAGES		256u
#define WORDS		4u	/* of a pixel: t, u, v, code */

#define SCATTERED	300u	/* triangles of a mesh at random places */
#define LAYERS		2000u	/* triangles of a mesh whose misses visit all: pieces of a lane */
#define FEW_LAYERS	500u	/* pieces of a wave */
#define MESH_AT		4096u	/* in the buffer of vertices, after the corners of the draw */

/* Results within this of another one are not compared. */
#define MARGIN		1e-4
#define TOLERANCE	1e-3

/*
 * The ray of a column and a row, v0 and v1, in r0 to r7; trace_of() has the same. All numbers are
 * exact.
 */
#define RAY									\
	"cvt_f32.u32 r8, v0\ncvt_f32.u32 r9, v1\n"				\
	"mul.f32 r0, r8, 0.125\nadd.f32 r0, r0, -5.0\n"				\
	"mul.f32 r1, r9, 0.125\nadd.f32 r1, r1, -4.5\n"				\
	"mov r2, [one], -8.0\nmov r3, [one], 0\n"				\
	"mul.f32 r4, r8, 0.0078125\nadd.f32 r4, r4, -0.25\n"			\
	"mul.f32 r5, r9, 0.0078125\nadd.f32 r5, r5, -0.25\n"			\
	"mov r6, [one], 1.0\nmov r7, [one], 100.0\n"
#define QUERY	"ray_query sig5, r8, [one], closest, sh0, r0\n"
#define WAIT	"sig_wait r14[0], sig5\n"
/* The code: number of the triangle times 4 plus the kind of the hit, as a float. */
#define CODE	"shl.u32 r12, r12, 2\nor.u32 r12, r12, r13\ncvt_f32.u32 r12, r12\n"
#define OUTPUTS	"mov o0, [one], r8\nmov o1, [one], r9\nmov o2, [one], r10\nmov o3, [one], r12\n"

#define FRAGMENT(wait)	RAY QUERY wait CODE OUTPUTS "end\n"

/* A point for each number, in the middle of its pixel; those of hits are SHIFT to the right. */
#define COLUMNS		32u
#define SHIFT		40u
#define POINTS		(COLUMNS * HEIGHT - 5)	/* the last wave is not full */

#define VERTEX(wait)								\
	"mov v1, [one], v0\nand.u32 v0, v0, 31\nshr.u32 v1, v1, 5\n"		\
	RAY QUERY								\
	"cvt_f32.u32 r15, v0\ncvt_f32.u32 r16, v1\n"				\
	wait									\
	"ne.u32 r0, r13, 0\nmov r1, [one], 0\nmov r2, [one], 40.0\n"		\
	"mov r1, [r0], r2\nadd.f32 r15, r15, r1\n"				\
	CODE									\
	"add.f32 r15, r15, 0.5\nadd.f32 r16, r16, 0.5\n"			\
	"mul.f32 r15, r15, 0.025\nadd.f32 r15, r15, -1.0\n"			\
	"mul.f32 r16, r16, -0.0277777778\nadd.f32 r16, r16, 1.0\n"		\
	"mov r0, [one], 0.5\nmov r1, [one], 1.0\n"				\
	"uvsw vo0, r15\nuvsw vo1, r16\nuvsw vo2, r0\nuvsw vo3, r1\n"		\
	"uvsw vo4, r8\nuvsw vo5, r9\nuvsw vo6, r10\nuvsw vo7, r12\nend\n"

/* Results are in the pixel at the tile's corner; tiles of misses are stored to another image. */
#define TILE(wait)								\
	".stage tile\n"								\
	RAY QUERY wait								\
	"eq.u32 r15, r13, 0\n"							\
	CODE OUTPUTS								\
	"br_any missed, [r15]\npbe sh8\nend\nmissed: pbe sh16\nend\n"

static const char corner_text[] =
	"uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\nend\n";
static const char varying_text[] =
	"mov o0, [one], v0\nmov o1, [one], v1\nmov o2, [one], v2\nmov o3, [one], v3\nend\n";
static const char plain_text[] =
	"mov o0, [one], 1.0\nmov o1, [one], 2.0\nmov o2, [one], 3.0\nmov o3, [one], 4.0\nend\n";

enum program { FRAGMENTS, VERTICES, TILES, PROGRAMS };

static const char *const waits[PROGRAMS] = {
	FRAGMENT(WAIT), VERTEX(WAIT), TILE(WAIT),
};
static const char *const does_not_wait[PROGRAMS] = {
	FRAGMENT(""), VERTEX(""), TILE(""),
};

struct rays_fixture {
	struct fixture fx;
	struct pumice_context *compute;
	struct pumice_stream *stream;	/* of builds */
	struct pumice_rays *rays;
	struct pumice_ray_structure *structure;
	struct pumice_kernel *traces[PROGRAMS], *corner, *varying, *plain;
	struct pumice_image *image[2];	/* the second one for tiles of misses */
	struct pumice_perfmon *monitor;
	struct pumice_frame frame;
	uint32_t triangles;
	uint64_t traced;		/* rays of the last frame */
	const char *finding;		/* in mode strict, in JSON; NULL: none */
	float picture[2][PIXELS][WORDS];
};

static struct rays_fixture fixture;

/* ------------------------------------------------------------ fixture */

static void open_frame(struct rays_fixture *p, uint32_t tile_size)
{
	struct fixture *fx = &p->fx;
	struct pumice_hwrt_desc set;
	uint32_t counter;

	pumice_hwrt_desc_init(&set, fx->list, WIDTH, HEIGHT);
	set.tile_size = tile_size;
	pumice_frame_init(&p->frame, NULL);
	fx_check(fx, "data set", pumice_hwrt_create(fx->vm, &set, &p->frame.hwrt));
	fx_check(fx, "counter", pumice_perf_counter_find(fx->dev, "RTU_RAYS", &counter));
	fx_check(fx, "monitor", pumice_perfmon_create(fx->dev, &counter, 1, &p->monitor));
	p->frame.perfmon = pumice_perfmon_id(p->monitor);
}

static struct rays_fixture *open_fixture(const char *options, uint32_t tile_size,
					 const char *const text[PROGRAMS])
{
	struct rays_fixture *p = &fixture;
	struct pumice_image_desc image;
	struct fixture *fx = &p->fx;
	char unlimited[128];
	uint32_t n;

	memset(p, 0, sizeof(*p));
	/* Long queries in strict mode may exceed the limit of a job on a host that is busy. */
	snprintf(unlimited, sizeof(unlimited), "%s,job-timeout-ms=0", options);
	fx_open(fx, unlimited, PAGES);
	fx_check(fx, "context",
		 pumice_context_create(fx->vm, PUMICE_PRIORITY_NORMAL, &p->compute));
	fx_check(fx, "stream",
		 pumice_stream_create(fx->vm, PUMICE_RAYS_STREAM_BYTES, &p->stream));
	fx_check(fx, "rays", pumice_rays_create(fx->vm, &p->rays));
	fx_check(fx, "structure", pumice_ray_structure_create(p->rays, LAYERS, &p->structure));
	for (n = 0; n < PROGRAMS; n++)
		p->traces[n] = fx_kernel(fx, text[n]);
	p->corner = fx_kernel(fx, corner_text);
	p->varying = fx_kernel(fx, varying_text);
	p->plain = fx_kernel(fx, plain_text);
	pumice_image_desc_init(&image, PUMICE_FORMAT_RGBA32_FLOAT, WIDTH, HEIGHT);
	image.stride = WIDTH * sizeof(p->picture[0][0]);
	for (n = 0; n < 2; n++)
		fx_check(fx, "image", pumice_image_create(fx->vm, &image, &p->image[n]));
	open_frame(p, tile_size);
	return p;
}

/* Builds and frames have no other finding of mode strict, which may be that of the device. */
static void assert_finding(struct rays_fixture *p)
{
	char finding[4096];
	const int err = pumice_finding_get(p->fx.dev, 0, finding, sizeof(finding));

	if (err ? err != -ENOENT : !p->finding || !strstr(finding, p->finding))
		fail_msg("%d: %s", err, err ? pumice_device_error(p->fx.dev) : finding);
}

static void close_fixture(struct rays_fixture *p)
{
	uint32_t n;

	assert_finding(p);
	pumice_perfmon_destroy(p->monitor);
	pumice_hwrt_destroy(p->frame.hwrt);
	for (n = 0; n < 2; n++)
		pumice_image_destroy(p->image[n]);
	pumice_kernel_destroy(p->plain);
	pumice_kernel_destroy(p->varying);
	pumice_kernel_destroy(p->corner);
	for (n = 0; n < PROGRAMS; n++)
		pumice_kernel_destroy(p->traces[n]);
	pumice_ray_structure_destroy(p->structure);
	pumice_rays_destroy(p->rays);
	pumice_stream_destroy(p->stream);
	pumice_context_destroy(p->compute);
	fx_close(&p->fx);
}

static float *mesh_of(struct rays_fixture *p)
{
	return (float *)((uint8_t *)p->fx.vertices.cpu + MESH_AT);
}

/* Build the structure of the mesh, by a job of its own. */
static void build(struct rays_fixture *p, uint32_t triangles)
{
	struct fixture *fx = &p->fx;
	struct pumice_ray_mesh mesh;
	uint64_t va;

	p->triangles = triangles;
	pumice_ray_mesh_init(&mesh, fx->vertices.va + MESH_AT, triangles);
	fx_check(fx, "mesh", pumice_stream_rays_mesh(p->stream, p->structure, &mesh, 0));
	fx_check(fx, "end", pumice_stream_end(p->stream, &va));
	fx_check(fx, "build", pumice_context_run(p->compute, va, LONG, NULL));
	pumice_stream_reset(p->stream);
}

static float between(uint32_t *state, float low, float high)
{
	return low + (high - low) * ((float)(scene_random(state) >> 8) * 0x1p-24f);
}

/* Triangles in front of the eye: about half of the rays hit one. */
static void build_scattered(struct rays_fixture *p)
{
	float *v = mesh_of(p);
	uint32_t n, k, random = 99;

	for (n = 0; n < SCATTERED; n++, v += 9) {
		const float at[3] = { between(&random, -7, 7), between(&random, -7, 7),
				      between(&random, -2, 6) };

		for (k = 0; k < 9; k++)
			v[k] = at[k % 3] + between(&random, -1, 1);
	}
	build(p, SCATTERED);
}

/*
 * Halves of squares, one over the other: rays through the other half visit all of them, and hit the
 * last triangle or nothing.
 */
static void build_layers(struct rays_fixture *p, uint32_t layers)
{
	static const float half[3][2] = { { -20, -17 }, { 20, 23 }, { -20, 23 } };
	static const float last[3][2] = { { 1.8f, -60 }, { 60, 0 }, { 1.8f, 60 } };
	float *v = mesh_of(p);
	uint32_t n, k;

	for (n = 0; n < layers; n++)
		for (k = 0; k < 3; k++, v += 3) {
			const float *at = n < layers - 1 ? half[k] : last[k];

			v[0] = at[0];
			v[1] = at[1];
			v[2] = n < layers - 1 ? (float)n / 256 : 20;
		}
	build(p, layers);
}

/* ------------------------------------------------------------ frames */

struct stages {
	struct pumice_input vertex[2], fragment[3], tile[4], corners, results;
	uint32_t structure[2], pbe[2][PUMICE_PBE_STATE_WORDS];
	struct pumice_stage_desc corner, plain, varying, trace[PROGRAMS];
};

static void set_pbe(const struct rays_fixture *p, uint32_t image, uint32_t *words)
{
	const struct pumice_pbe_state state = {
		.addr = pumice_image_va(p->image[image]), .format = PUMICE_FORMAT_RGBA32_FLOAT,
		.layout = PUMICE_LAYOUT_LINEAR, .width = WIDTH - 1, .height = HEIGHT - 1,
		.stride = WIDTH * sizeof(p->picture[0][0]), .write_mask = 0xf,
	};

	pumice_pbe_state_pack(words, &state);
}

static void set_stages(const struct rays_fixture *p, struct stages *s)
{
	const uint64_t va = pumice_ray_structure_va(p->structure);
	const struct pumice_input column = pumice_input_source(0, PUMICE_PDS_SOURCE_FRAG_X);
	const struct pumice_input row = pumice_input_source(1, PUMICE_PDS_SOURCE_FRAG_Y);
	const struct pumice_input structure = pumice_input_uniforms(0, s->structure, 2);

	*s = (struct stages){
		.structure = { (uint32_t)va, (uint32_t)(va >> 32) },
		.vertex = { structure, pumice_input_source(0, PUMICE_PDS_SOURCE_VERTEX) },
		.fragment = { structure, column, row },
		.tile = { structure, column, row,
			  pumice_input_uniforms(8, s->pbe, 2 * PUMICE_PBE_STATE_WORDS) },
		.corners = pumice_input_attribute(0, 4, p->fx.vertices.va, 16, 3),
		.results = pumice_input_varying(0, 0, WORDS),
		.corner = { p->corner, &s->corners, 1 },
		.plain = { p->plain, NULL, 0 },
		.varying = { p->varying, &s->results, 1 },
		.trace = { { p->traces[FRAGMENTS], s->fragment, 3 },
			   { p->traces[VERTICES], s->vertex, 2 },
			   { p->traces[TILES], s->tile, 4 } },
	};
	set_pbe(p, 0, s->pbe[0]);
	set_pbe(p, 1, s->pbe[1]);
}

static float pattern(uint32_t image, uint32_t pixel, uint32_t word)
{
	return -(float)(1 + (pixel * WORDS + word) * 2 + image);
}

/* Render the draws of the stream over the pattern. Returns as pumice_render(). */
static int render(struct rays_fixture *p, struct pumice_render_desc *desc)
{
	const struct pumice_image_part part = { 0 };
	struct fixture *fx = &p->fx;
	uint32_t n, k, i;
	int err;

	for (i = 0; i < 2; i++) {
		for (n = 0; n < PIXELS; n++)
			for (k = 0; k < WORDS; k++)
				p->picture[i][n][k] = pattern(i, n, k);
		fx_check(fx, "write", pumice_image_upload(p->image[i], part, p->picture[i], 0));
	}
	fx_check(fx, "end", pumice_stream_vdm_end(fx->stream, &p->frame.geometry));
	fx_check(fx, "record", pumice_stream_render(fx->stream, desc, &p->frame.render));
	err = pumice_render(fx->context, &p->frame, LONG, NULL);
	for (i = 0; i < 2; i++)
		fx_check(fx, "read",
			 pumice_image_download(p->image[i], part, p->picture[i], 0));
	fx_check(fx, "count", pumice_perfmon_read(p->monitor, PUMICE_PERFMON_RESET, &p->traced));
	pumice_stream_reset(fx->stream);
	return err;
}

/* Corners of a triangle over a part of the target, in pixels. */
static const float corner[3][2] = { { 5.25f, 3.5f }, { 74.75f, 21.25f }, { 17.5f, 70.75f } };

static void clip_position(const float *pixel, float *out)
{
	out[0] = pixel[0] * 2 / WIDTH - 1;
	out[1] = 1 - pixel[1] * 2 / HEIGHT;
	out[2] = 0.5f;
	out[3] = 1;
}

static void put_triangle(struct rays_fixture *p, const struct pumice_stage_desc *vertex,
			 const struct pumice_stage_desc *fragment)
{
	struct pumice_draw_state state;
	struct pumice_vdm_draw draw;
	struct fixture *fx = &p->fx;
	uint32_t n;

	for (n = 0; n < 3; n++)
		clip_position(corner[n], (float *)fx->vertices.cpu + (size_t)n * 4);
	pumice_draw_state_init(&state, WIDTH, HEIGHT);
	pumice_vdm_draw_defaults(&draw);
	draw.topology = PUMICE_TOPOLOGY_TRIANGLES;
	draw.count = 3;
	fx_check(fx, "stages", pumice_stream_stages(fx->stream, &state, vertex, fragment));
	fx_check(fx, "draw", pumice_stream_draw(fx->stream, &draw));
}

/* Draw the triangle over the pattern: each of its pixels traces a ray. */
static int render_fragments(struct rays_fixture *p)
{
	struct pumice_render_desc desc;
	struct stages s;

	set_stages(p, &s);
	put_triangle(p, &s.corner, &s.trace[FRAGMENTS]);
	pumice_render_desc_init(&desc, p->image[0]);
	desc.targets[0].load = true;
	return render(p, &desc);
}

static int render_background(struct rays_fixture *p)
{
	struct pumice_render_desc desc;
	struct stages s;

	set_stages(p, &s);
	pumice_render_desc_init(&desc, p->image[0]);
	desc.background = &s.trace[FRAGMENTS];
	return render(p, &desc);
}

/* Draw points that vertex programs move; @deferred: they run again for visible points. */
static int render_vertices(struct rays_fixture *p, bool deferred)
{
	struct pumice_render_desc desc;
	struct pumice_draw_state state;
	struct pumice_vdm_draw draw;
	struct fixture *fx = &p->fx;
	struct stages s;

	set_stages(p, &s);
	pumice_draw_state_init(&state, WIDTH, HEIGHT);
	state.vdm.varyings = WORDS;
	state.vdm.deferred = deferred;
	state.tsp.flat = (1u << WORDS) - 1;
	pumice_vdm_draw_defaults(&draw);
	draw.topology = PUMICE_TOPOLOGY_POINTS;
	draw.count = POINTS;
	fx_check(fx, "stages",
		 pumice_stream_stages(fx->stream, &state, &s.trace[VERTICES], &s.varying));
	fx_check(fx, "draw", pumice_stream_draw(fx->stream, &draw));
	pumice_render_desc_init(&desc, p->image[0]);
	desc.targets[0].load = true;
	return render(p, &desc);
}

static int render_tiles(struct rays_fixture *p)
{
	struct pumice_render_desc desc;
	struct stages s;

	set_stages(p, &s);
	put_triangle(p, &s.corner, &s.plain);
	pumice_render_desc_init(&desc, NULL);
	desc.end_of_tile = &s.trace[TILES];
	return render(p, &desc);
}

/* ------------------------------------------------------------ results */

/* Results by the CPU, kept for the next devices: a mesh is the same on all of them. */
static struct {
	uint32_t triangles;	/* of the mesh */
	bool valid[PIXELS];
	struct ref_hit hit[PIXELS];
} reference;

/* Trace the ray of a column and a row by the CPU. */
static void trace_of(struct rays_fixture *p, uint32_t x, uint32_t y, struct ref_hit *hit)
{
	const struct ref_ray ray = {
		.origin = { (float)x / 8 - 5, (float)y / 8 - 4.5f, -8 },
		.direction = { (float)x / 128 - 0.25f, (float)y / 128 - 0.25f, 1 },
		.max = 100,
	};
	const uint32_t at = y * WIDTH + x;

	if (reference.triangles != p->triangles) {
		memset(reference.valid, 0, sizeof(reference.valid));
		reference.triangles = p->triangles;
	}
	if (!reference.valid[at])
		ref_trace(&ray, mesh_of(p), p->triangles, &reference.hit[at]);
	reference.valid[at] = true;
	*hit = reference.hit[at];
}

struct tally {
	uint32_t compared, hits;
};

static void assert_result(const float *got, const struct ref_hit *want, struct tally *tally)
{
	const bool hit = want->triangle != REF_MISS;
	const uint32_t kind = !hit ? PUMICE_RT_HIT_NONE :
			      want->front ? PUMICE_RT_HIT_FRONT : PUMICE_RT_HIT_BACK;
	const double expected[3] = { hit ? want->t : 100, want->u, want->v };
	uint32_t k;

	if (want->margin < MARGIN)
		return;
	tally->compared++;
	tally->hits += hit;
	/* The code of a miss is rounded to f32. */
	assert_true(got[3] == (float)(want->triangle << 2 | kind));
	for (k = 0; k < 3; k++)
		if (!(fabs((double)got[k] - expected[k]) < TOLERANCE))
			fail_msg("triangle %u: %u is %f instead of %f", want->triangle, k,
				 (double)got[k], expected[k]);
}

static void assert_pattern(const struct rays_fixture *p, uint32_t image, uint32_t pixel)
{
	uint32_t k;

	for (k = 0; k < WORDS; k++)
		assert_true(p->picture[image][pixel][k] == pattern(image, pixel, k));
}

static void check_tally(const struct tally *tally, uint32_t results)
{
	print_message("%u of %u results compared, %u hits\n", tally->compared, results,
		      tally->hits);
	assert_true(tally->compared > results / 10 * 9);
	assert_true(tally->hits > results / 8 && tally->compared - tally->hits > results / 8);
}

static bool mark(void *data, struct ref_fragment *fragment)
{
	(void)data;
	fragment->out[0] = 1;
	return true;
}

/* Find the pixels of the triangle by the reference rasteriser. */
static void cover(double *covered)
{
	static float depth[PIXELS];
	static uint8_t stencil[PIXELS];
	const struct ref_target target = {
		.width = WIDTH, .height = HEIGHT, .samples = 1, .words = 1, .depth = depth,
		.stencil = stencil, .out = covered,
	};
	const struct ref_state state = {
		.scale = { WIDTH / 2.f, -(HEIGHT / 2.f), 1 },
		.offset = { WIDTH / 2.f, HEIGHT / 2.f, 0 },
		.depth_func = REF_ALWAYS, .scissor = { 0, WIDTH, 0, HEIGHT }, .sample_mask = 1,
		.shade = mark,
	};
	struct ref_vertex v[3] = { 0 };
	uint32_t n;

	for (n = 0; n < 3; n++)
		clip_position(corner[n], v[n].pos);
	memset(covered, 0, PIXELS * sizeof(*covered));
	ref_draw(&target, &state, v, 3);
}

/* Pixels of the triangle have the results of their rays, and the others their former contents. */
static void check_fragments(struct rays_fixture *p)
{
	static double covered[PIXELS];
	struct tally tally = { 0 };
	struct ref_hit want;
	uint32_t n, count = 0;

	cover(covered);
	for (n = 0; n < PIXELS; n++) {
		if (covered[n] == 0) {
			assert_pattern(p, 0, n);
			continue;
		}
		count++;
		trace_of(p, n % WIDTH, n / WIDTH, &want);
		assert_result(p->picture[0][n], &want, &tally);
	}
	check_tally(&tally, count);
	/* Pixels that are not covered, but in a span of others, have no rays. */
	assert_int_equal(p->traced, count);
}

/* Pixels of whole tiles, of which some are outside of the target. */
#define WHOLE(pixels, side)	(((pixels) + (side) - 1) / (side) * (side))

/* Each pixel of tiles of 32x16 traces a ray; those of the target have its result. */
static void check_background(struct rays_fixture *p)
{
	struct tally tally = { 0 };
	struct ref_hit want;
	uint32_t n;

	for (n = 0; n < PIXELS; n++) {
		trace_of(p, n % WIDTH, n / WIDTH, &want);
		assert_result(p->picture[0][n], &want, &tally);
	}
	check_tally(&tally, PIXELS);
	assert_int_equal(p->traced, WHOLE(WIDTH, 32) * WHOLE(HEIGHT, 16));
}

/* Points that miss are in their columns, those that hit SHIFT to the right; none is in both. */
static void check_vertices(struct rays_fixture *p)
{
	struct tally tally = { 0 };
	struct ref_hit want;
	uint32_t x, y, at, other, swap;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < SHIFT; x++) {
			at = y * WIDTH + x;
			other = at + SHIFT;
			if (x >= COLUMNS || y * COLUMNS + x >= POINTS) {
				assert_pattern(p, 0, at);
				assert_pattern(p, 0, other);
				continue;
			}
			trace_of(p, x, y, &want);
			if (want.margin < MARGIN)
				continue;
			swap = at;
			if (want.triangle != REF_MISS) {
				at = other;
				other = swap;
			}
			assert_pattern(p, 0, other);
			assert_result(p->picture[0][at], &want, &tally);
		}
	check_tally(&tally, POINTS);
}

#define SIDE	16u	/* of tiles */

/* Each tile is in the image of its result, with that result in its corner. */
static void check_tiles(struct rays_fixture *p)
{
	struct tally tally = { 0 };
	uint32_t x, y, at, image, tiles = 0;
	struct ref_hit want;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++) {
			at = y * WIDTH + x;
			trace_of(p, x / SIDE * SIDE, y / SIDE * SIDE, &want);
			image = want.triangle == REF_MISS;
			assert_true(want.margin >= MARGIN);
			assert_pattern(p, !image, at);
			if (x % SIDE || y % SIDE) {
				assert_true(p->picture[image][at][3] >= 0);
				continue;
			}
			tiles++;
			assert_result(p->picture[image][at], &want, &tally);
		}
	check_tally(&tally, tiles);
	assert_int_equal(p->traced, tiles);
}

/* ------------------------------------------------------------ tests */

static const char *const devices[] = {
	"cores=1,threads=0,late=poison", "cores=4,threads=2,late=poison",
	"cores=2,uscs=2,threads=2,late=data", "cores=2,threads=0,late=early",
	"cores=2,uscs=2,threads=0,mode=strict",
};
#define DEVICES	(sizeof(devices) / sizeof(devices[0]))

/* Render a frame of rays to the scattered triangles on each device, and check it. */
static void trace_scattered(uint32_t tile_size, int (*render)(struct rays_fixture *p),
			    void (*check)(struct rays_fixture *p))
{
	uint32_t d;

	for (d = 0; d < DEVICES; d++) {
		struct rays_fixture *p = open_fixture(devices[d], tile_size, waits);

		build_scattered(p);
		fx_check(&p->fx, "frame", render(p));
		check(p);
		close_fixture(p);
	}
}

static void fragment_programs_trace_a_ray_for_each_covered_pixel(void **state)
{
	(void)state;
	trace_scattered(PUMICE_TILE_SIZE_32X32, render_fragments, check_fragments);
}

static void background_programs_trace_a_ray_for_each_pixel(void **state)
{
	(void)state;
	trace_scattered(PUMICE_TILE_SIZE_32X16, render_background, check_background);
}

static void tile_programs_trace_a_ray_for_each_tile(void **state)
{
	(void)state;
	trace_scattered(PUMICE_TILE_SIZE_16X16, render_tiles, check_tiles);
}

/* Deferred vertices trace rays twice: for the position, and for the varyings. */
static void vertex_programs_trace_a_ray_for_each_vertex(void **state)
{
	uint32_t d, deferred;

	(void)state;
	for (d = 0; d < DEVICES; d++) {
		struct rays_fixture *p = open_fixture(devices[d], PUMICE_TILE_SIZE_32X32, waits);

		build_scattered(p);
		for (deferred = 0; deferred < 2; deferred++) {
			fx_check(&p->fx, "frame", render_vertices(p, deferred));
			check_vertices(p);
			assert_true(p->traced >= (deferred + 1) * POINTS);
			assert_true(deferred || p->traced == POINTS);
		}
		close_fixture(p);
	}
}

/* Rays that pass by all layers take several pieces; their waves run by turns with others. */
static void long_queries_of_graphics_continue_after_each_piece(void **state)
{
	uint32_t d, deferred;

	(void)state;
	for (d = 0; d < DEVICES; d++) {
		struct rays_fixture *p = open_fixture(devices[d], PUMICE_TILE_SIZE_16X16, waits);

		build_layers(p, FEW_LAYERS);
		fx_check(&p->fx, "frame", render_fragments(p));
		check_fragments(p);
		for (deferred = 0; deferred < 2; deferred++) {
			fx_check(&p->fx, "frame", render_vertices(p, deferred));
			check_vertices(p);
		}
		build_layers(p, LAYERS);
		fx_check(&p->fx, "frame", render_tiles(p));
		check_tiles(p);
		close_fixture(p);
	}
}

static int render_program(struct rays_fixture *p, enum program program)
{
	return program == FRAGMENTS ? render_fragments(p) :
	       program == VERTICES ? render_vertices(p, false) : render_tiles(p);
}

/* Report of a frame that fails, and the PUMICE_FAULT_* of its place. */
struct report {
	const char *fault, *unit;
	uint32_t known;
	const char *finding;	/* in mode strict; or NULL */
};

static void check_report(struct rays_fixture *p, enum program program, const struct report *want)
{
	/* The fragment job has no scene if the geometry job fails. */
	const uint64_t job = program == VERTICES ? 1 : 2;
	struct pumice_job_result got;

	if (!strstr(pumice_device_error(p->fx.dev), want->fault))
		fail_msg("program %u: '%s' is not in: %s", program, want->fault,
			 pumice_device_error(p->fx.dev));
	fx_check(&p->fx, "result",
		 pumice_context_get_job_result(p->fx.context, job, &got, sizeof(got)));
	assert_string_equal(pumice_fault_name(got.fault), want->fault);
	assert_string_equal(pumice_unit_name(got.unit), want->unit);
	assert_string_equal(pumice_access_name(got.access), "read");
	assert_int_equal(got.code, pumice_kernel_code_va(p->traces[program]));
	assert_int_equal(got.known, want->known);
	/* All lanes read the header, which is at the structure's address: the first one faults. */
	if (want->known & PUMICE_FAULT_LANE) {
		assert_int_equal(got.fault_va, pumice_ray_structure_va(p->structure));
		assert_int_equal(got.lane, __builtin_ctz(got.lanes));
		assert_int_equal(got.instance, got.lane);
	}
}

/* Frames of each program fail with a report. */
static void assert_fault(const char *const text[PROGRAMS], bool built, const struct report *want)
{
	uint32_t n;

	for (n = 0; n < PROGRAMS; n++) {
		struct rays_fixture *p = open_fixture("cores=2,threads=0,late=poison",
						      PUMICE_TILE_SIZE_16X16, text);

		if (built)
			build_scattered(p);
		p->finding = want->finding;
		assert_true(render_program(p, n) < 0);
		check_report(p, n, want);
		close_fixture(p);
	}
}

static void results_that_are_not_waited_for_are_reported(void **state)
{
	static const struct report report = {
		"usc-late", "usc-code", PUMICE_FAULT_PROGRAM | PUMICE_FAULT_WAVE,
		"{\"finding\":\"late-data\",",
	};

	(void)state;
	assert_fault(does_not_wait, true, &report);
}

static void structures_that_are_not_built_stop_the_frame(void **state)
{
	static const struct report report = {
		"rtu-header", "rtu",
		PUMICE_FAULT_PROGRAM | PUMICE_FAULT_WAVE | PUMICE_FAULT_LANE, NULL,
	};

	(void)state;
	assert_fault(waits, false, &report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fragment_programs_trace_a_ray_for_each_covered_pixel),
		cmocka_unit_test(background_programs_trace_a_ray_for_each_pixel),
		cmocka_unit_test(vertex_programs_trace_a_ray_for_each_vertex),
		cmocka_unit_test(tile_programs_trace_a_ray_for_each_tile),
		cmocka_unit_test(long_queries_of_graphics_continue_after_each_piece),
		cmocka_unit_test(results_that_are_not_waited_for_are_reported),
		cmocka_unit_test(structures_that_are_not_built_stop_the_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
