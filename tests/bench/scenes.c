// SPDX-License-Identifier: MIT
/*
 * Rows: pictures of 1024 x 1024, and one of 4096 x 4096, against llvmpipe.
 *
 * Both sides draw the same vertices; their pictures are compared before the first
 * round, pixel by pixel: rasterisers differ in sub-pixel precision, so a small
 * share of pixels at edges may differ, and colours by two steps.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "draw.h"
#include "gl.h"

#define SIZE		1024u
#define LAYERS		16u
#define TEXTURE		256u
#define TRIANGLES	200000u
#define PIXELS		(SIZE * SIZE)
#define LARGE		4096u
#define DRAWS		10000u

struct row {
	const char *name, *unit;
	enum bench_figure figure;
	double scale;
	double goal;
	double edge_share;	/* of pixels that may differ */
	bool deferred;		/* compare the memory of deferred vertex shading */
};

static void run_ours(void *data)
{
	draw_run(data);
}

static void run_peer(void *data)
{
	gl_run(data);
}

static bool differs(uint32_t a, uint32_t b)
{
	for (unsigned int i = 0; i < 32; i += 8)
		if (abs((int)(a >> i & 0xff) - (int)(b >> i & 0xff)) > 2)
			return true;
	return false;
}

static void compare(const struct row *row, uint32_t size, struct draw_work *ours,
		    struct gl_work *peer)
{
	const uint32_t pixels = size * size;
	uint32_t *a = malloc(pixels * 4ull), *b = malloc(pixels * 4ull), wrong = 0;

	if (!a || !b)
		bench_fail("out of memory");
	draw_run(ours);
	gl_run(peer);
	draw_read(ours, a);
	gl_read(peer, b);
	/* OpenGL's rows begin at the bottom. */
	for (uint32_t y = 0; y < size; y++)
		for (uint32_t x = 0; x < size; x++)
			wrong += differs(a[y * size + x], b[(size - 1 - y) * size + x]);
	free(a);
	free(b);
	if (wrong > row->edge_share * pixels)
		bench_fail("%s: %u of %u pixels differ from llvmpipe's", row->name, wrong, pixels);
}

/* Saving by hidden-surface removal: a row without a peer. */
static void put_removal(struct bench *bench, const struct row *row, struct draw_work *work)
{
	struct draw_counts counts;

	draw_count(work, &counts);
	fprintf(bench->json, "%s  {\"name\": \"%s: shaded / covered\", \"unit\": \"fragments\", ",
		bench->rows++ ? ",\n" : "", row->name);
	fprintf(bench->json, "\"ours\": %.5g, \"peer\": null, \"peer_name\": null, ",
		counts.covered ? (double)counts.shaded / (double)counts.covered : 0);
	fputs("\"ratio\": null, \"goal\": null, \"limit\": null, \"met\": null}", bench->json);
}

/* Frames with deferred vertex shading, against those without. */
static void time_deferred(struct bench *bench, const struct row *row, struct draw_work *deferred,
			  struct draw_work *whole)
{
	char name[96];
	const struct bench_contest contest = {
		.name = name, .unit = row->unit, .peer_name = "Pumice, not deferred",
		.figure = row->figure, .scale = row->scale, .repeats = 2,
		.ours = run_ours, .peer = run_ours, .our_data = deferred, .peer_data = whole,
	};

	snprintf(name, sizeof(name), "%s, deferred vertices", row->name);
	bench_contest(bench, &contest);
}

/* Memory of the parameter buffer with deferred vertex shading, against without, and its time. */
static void put_deferred(struct bench *bench, const struct row *row, const struct draw_scene *scene,
			 struct draw_work *whole)
{
	uint32_t *a = malloc(PIXELS * 4), *b = malloc(PIXELS * 4);
	struct draw_counts with, without;
	struct draw_work work;

	if (!a || !b)
		bench_fail("out of memory");
	draw_work_deferred(&bench->gpu, scene, &work);
	draw_count(&work, &with);
	draw_count(whole, &without);
	draw_read(&work, a);
	draw_read(whole, b);
	if (memcmp(a, b, PIXELS * 4))
		bench_fail("%s: the picture differs with deferred vertex shading", row->name);
	free(a);
	free(b);
	time_deferred(bench, row, &work, whole);
	draw_work_free(&work);
	fprintf(bench->json, "%s  {\"name\": \"%s: parameter buffer, deferred vertices\", "
		"\"unit\": \"pages\", \"ours\": %.5g, \"peer\": %.5g, ",
		bench->rows++ ? ",\n" : "", row->name, (double)with.pages, (double)without.pages);
	fprintf(bench->json, "\"peer_name\": \"Pumice, not deferred\", \"ratio\": %.5g, ",
		(double)without.pages / (double)with.pages);
	fputs("\"goal\": null, \"limit\": null, \"met\": null}", bench->json);
}

static void against_one_thread(struct bench *bench, const struct row *row,
			       const struct draw_scene *scene, struct draw_work *ours)
{
	struct draw_work single;
	char name[96];
	const struct bench_contest contest = {
		.name = name, .unit = row->unit, .peer_name = "Pumice, one thread",
		.figure = row->figure, .scale = row->scale, .goal = 1.7, .repeats = 2,
		.ours = run_ours, .peer = run_ours, .our_data = ours, .peer_data = &single,
	};

	snprintf(name, sizeof(name), "%s, %u threads", row->name, bench->threads);
	draw_work(&bench->single, scene, &single);
	draw_run(&single);
	bench_contest(bench, &contest);
	draw_work_free(&single);
}

static void contest(struct bench *bench, const struct row *row, const struct draw_scene *scene)
{
	struct draw_work ours;
	struct gl_work peer;
	const struct bench_contest contest = {
		.name = row->name, .unit = row->unit, .peer_name = "llvmpipe",
		.figure = row->figure, .scale = row->scale, .goal = row->goal, .repeats = 2,
		.ours = run_ours, .peer = run_peer, .our_data = &ours, .peer_data = &peer,
	};

	if (bench->only && !strstr(row->name, bench->only))
		return;
	draw_work(&bench->gpu, scene, &ours);
	gl_work(scene, &peer);
	compare(row, scene->size, &ours, &peer);
	bench_contest(bench, &contest);
	gl_work_free(&peer);
	if (bench->threads > 1)
		against_one_thread(bench, row, scene, &ours);
	put_removal(bench, row, &ours);
	if (row->deferred)
		put_deferred(bench, row, scene, &ours);
	draw_work_free(&ours);
}

/* Up and down once in a texture's width: no edge hangs on the last bit of a coordinate. */
static uint32_t wave(uint32_t at)
{
	const uint32_t place = at % TEXTURE;

	return place < TEXTURE / 2 ? 2 * place : 2 * (TEXTURE - 1 - place);
}

/* Draw a square over the whole target. */
static void put_layer(struct draw_vertex *v, float z, float shift)
{
	static const float corner[6][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 0 }, { 1, 1 },
					    { 0, 1 } };

	for (unsigned int i = 0; i < 6; i++)
		v[i] = (struct draw_vertex){ corner[i][0] * 2 - 1, corner[i][1] * 2 - 1, z,
					     corner[i][0] * 3 + shift,
					     corner[i][1] * 3 + shift, 0 };
}

static void layers(struct bench *bench)
{
	static const struct row back_to_front = {
		"16 layers, bilinear, back to front", "Mpixel/s", BENCH_RATE,
		LAYERS * PIXELS * 1e-6, 2.5, 0.001, false,
	}, no_depth = {
		"16 layers, bilinear, no depth", "Mpixel/s", BENCH_RATE,
		LAYERS * PIXELS * 1e-6, 0.7, 0.001, false,
	}, blended = {
		"16 layers, bilinear, blended", "Mpixel/s", BENCH_RATE,
		LAYERS * PIXELS * 1e-6, 0.5, 0.001, false,
	}, lit = {
		"16 layers, lit, no depth", "Mpixel/s", BENCH_RATE,
		LAYERS * PIXELS * 1e-6, 0.7, 0.001, false,
	}, lit_blended = {
		"16 layers, lit, blended", "Mpixel/s", BENCH_RATE,
		LAYERS * PIXELS * 1e-6, 0.5, 0.001, false,
	};
	static struct draw_vertex vertex[LAYERS * 6];
	static uint32_t texels[TEXTURE * TEXTURE];
	struct draw_scene scene = { .size = SIZE, .vertex = vertex, .vertices = LAYERS * 6,
				    .texture = texels, .texture_size = TEXTURE, .depth = true };
	uint32_t i;

	for (i = 0; i < TEXTURE * TEXTURE; i++)
		texels[i] = 0xff000000u | wave(i) | wave(i / TEXTURE) << 8 | wave(3 * i) << 16;
	for (i = 0; i < LAYERS; i++)
		put_layer(vertex + i * 6, 0.9f - 0.1f * (float)i, 0.07f * (float)i);
	contest(bench, &back_to_front, &scene);
	scene.depth = false;
	contest(bench, &no_depth, &scene);
	scene.blend = true;
	contest(bench, &blended, &scene);
	scene.texture = NULL;
	scene.lit = true;
	contest(bench, &lit_blended, &scene);
	scene.blend = false;
	contest(bench, &lit, &scene);
}

/* Return the leg of a right-angled triangle of some pixels, half of the square of its leg. */
static float leg_of(float pixels, uint32_t size)
{
	return sqrtf(2 * pixels) * 2 / (float)size;
}

static void triangles_of(struct bench *bench, const struct row *row, float pixels)
{
	struct draw_vertex *vertex = draw_triangles(TRIANGLES, leg_of(pixels, SIZE));
	const struct draw_scene scene = { .size = SIZE, .vertex = vertex,
					  .vertices = TRIANGLES * 3, .depth = true };

	contest(bench, row, &scene);
	free(vertex);
}

static void triangles(struct bench *bench)
{
	static const struct row small = {
		"200,000 triangles of 2 pixels", "Mtriangle/s", BENCH_RATE, TRIANGLES * 1e-6, 0.9,
		0.1, true,
	}, middle = {
		"200,000 triangles of 8 pixels", "Mtriangle/s", BENCH_RATE, TRIANGLES * 1e-6, 0.9,
		0.1, false,
	}, large = {
		"200,000 triangles of 16 pixels", "Mtriangle/s", BENCH_RATE, TRIANGLES * 1e-6, 0.9,
		0.1, false,
	};

	triangles_of(bench, &small, 2);
	triangles_of(bench, &middle, 8);
	triangles_of(bench, &large, 16);
}

static void draws(struct bench *bench)
{
	static const struct row own = {
		"10,000 draws, own state", "us", BENCH_TIME, 1e6 / DRAWS, 0.65, 0.1, false,
	}, uniforms = {
		"10,000 draws, own state and uniforms", "us", BENCH_TIME, 1e6 / DRAWS, 0.65, 0.1,
		false,
	}, longer = {
		"10,000 draws, own state and uniforms, 1,000 instructions", "us", BENCH_TIME,
		1e6 / DRAWS, 0.65, 0.1, false,
	};
	struct draw_vertex *vertex = draw_triangles(DRAWS, leg_of(8, SIZE / 4));
	struct draw_scene scene = { .size = SIZE / 4, .vertex = vertex, .vertices = DRAWS * 3,
				    .depth = true, .draws = DRAWS };

	contest(bench, &own, &scene);
	scene.uniforms = true;
	contest(bench, &uniforms, &scene);
	scene.insns = 1000;
	contest(bench, &longer, &scene);
	free(vertex);
}

/* A triangle of some pixels: the costs of a frame that are of its size alone. */
static void empty(struct bench *bench)
{
	static const struct row row = {
		"near-empty frame, 1024 x 1024", "ms", BENCH_TIME, 1e3, 0.25, 0.001, false,
	}, samples = {
		"near-empty frame, 1024 x 1024, 4 samples", "ms", BENCH_TIME, 1e3, 0.125, 0.001,
		false,
	}, large = {
		"near-empty frame, 4096 x 4096", "ms", BENCH_TIME, 1e3, 0.25, 0.001, false,
	};
	struct draw_vertex *vertex = draw_triangles(1, leg_of(2, SIZE));
	struct draw_scene scene = { .size = SIZE, .vertex = vertex, .vertices = 3, .depth = true };

	contest(bench, &row, &scene);
	scene.samples = 4;
	contest(bench, &samples, &scene);
	scene.samples = 0;
	scene.size = LARGE;
	contest(bench, &large, &scene);
	free(vertex);
}

void bench_scenes(struct bench *bench)
{
	struct gl gl;

	gl_open(&gl);
	fprintf(stderr, "  the peer of drawing: %s\n", gl_renderer());
	layers(bench);
	triangles(bench);
	draws(bench);
	empty(bench);
	gl_close(&gl);
}
