// SPDX-License-Identifier: MIT
/*
 * Point sprites: the coordinate over a point in two of its varyings. Values are those of the
 * definition (OpenGL's and Vulkan's gl_PointCoord), pixel by pixel; captures of such frames are
 * replayed; a varying that does not exist is refused by name.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "pumice/pumice_capture.h"
#include "scene.h"

#define SIZE	64u
#define PAGES	256u
#define PATH	"test_sprites.cap"

/* A point: its centre and size in pixels, its z and w. */
struct sprite {
	float x, y, size, z, w;
};

/* They do not overlap; the last one is partly outside of the target. */
static const struct sprite sprites[] = {
	{ 20, 20, 16, 0.5f, 1 }, { 40.5f, 8.5f, 1, 0.5f, 1 }, { 48.25f, 30.75f, 5, 0.25f, 2 },
	{ 12, 50, 20, 0.75f, 0.5f }, { 62, 60, 14, 0.5f, 4 },
};
#define SPRITES	(sizeof(sprites) / sizeof(sprites[0]))

static struct picture gpu, other;
static struct scene scene;

static void set_vertex(struct scene_vertex *v, const struct sprite *p)
{
	*v = (struct scene_vertex){
		.position = { (p->x / 32 - 1) * p->w, (1 - p->y / 32) * p->w, p->z * p->w, p->w },
		.colour = { 51, 102, 153, 204 }, .uv = { 0.25f, 0.75f }, .size = p->size,
	};
}

/* Points whose coordinate is in varyings from first on. */
static void make_sprites(uint32_t first, uint32_t origin, uint32_t interpolation)
{
	struct scene_draw *d = &scene.draw[0];
	uint32_t i;

	memset(&scene, 0, sizeof(scene));
	scene.width = scene.height = SIZE;
	scene.samples = 1;
	scene.format = PUMICE_FORMAT_RGBA8_UNORM;
	scene.depth_format = PUMICE_DEPTH_FORMAT_D32F;
	scene.draws = 1;
	scene.clear_depth = 1;
	pumice_draw_state_init(&d->state, SIZE, SIZE);
	d->topology = PUMICE_TOPOLOGY_POINTS;
	d->count = SPRITES;
	d->instances = 1;
	d->point_size = d->state.vdm.point_size = true;
	d->interpolation = interpolation;
	d->state.vdm.varyings = SCENE_VARYINGS;
	d->state.vdm.small_cull = true;
	d->state.tsp.flat = interpolation == INTERP_FLAT ? 0xf : 0;
	d->state.tsp.linear = interpolation == INTERP_LINEAR ? 0xf : 0;
	d->state.tsp.point_coord = true;
	d->state.tsp.point_origin = (uint8_t)origin;
	d->state.tsp.point_varying = (uint8_t)first;
	for (i = 0; i < SPRITES; i++)
		set_vertex(&d->vertex[i], &sprites[i]);
}

/* The sprite that covers a pixel's centre, or NULL; no centre is on a side. */
static const struct sprite *sprite_at(double x, double y)
{
	uint32_t i;

	for (i = 0; i < SPRITES; i++)
		if (fabs(x - sprites[i].x) < sprites[i].size / 2 &&
		    fabs(y - sprites[i].y) < sprites[i].size / 2)
			return &sprites[i];
	return NULL;
}

/* Compare every pixel with the definition; returns the number of covered ones. */
static uint32_t check_pixels(uint32_t first, uint32_t origin)
{
	uint32_t n, i, covered = 0;

	for (n = 0; n < SIZE * SIZE; n++) {
		const double x = n % SIZE + 0.5, y = n / SIZE + 0.5;
		const struct sprite *p = sprite_at(x, y);
		double want[5] = { 51 / 255.0, 102 / 255.0, 153 / 255.0, 204 / 255.0 };

		assert_true(gpu.id[n] == (p ? 1.0f : 0.0f));
		if (!p)
			continue;
		covered++;
		want[first] = 0.5 + (x - p->x) / p->size;
		want[first + 1] = 0.5 + (y - p->y) / p->size;
		if (origin == PUMICE_POINT_ORIGIN_LOWER_LEFT)
			want[first + 1] = 1 - want[first + 1];
		for (i = 0; i < 4; i++)
			if (fabs((double)gpu.colour[n][i] - want[i]) > 1e-5)
				fail_msg("pixel %g, %g: component %u is %f instead of %f", x, y, i,
					 (double)gpu.colour[n][i], want[i]);
	}
	return covered;
}

static void the_coordinate_goes_from_0_to_1_over_a_point(void **state)
{
	uint32_t first, origin, interpolation;
	struct fixture fx;

	(void)state;
	fx_open(&fx, "cores=2,threads=0", PAGES);
	for (interpolation = INTERP_PERSPECTIVE; interpolation <= INTERP_CENTROID; interpolation++)
		for (origin = 0; origin < 2; origin++)
			for (first = 0; first < 4; first++) {
				make_sprites(first, origin, interpolation);
				scene_draw_gpu(&fx, &scene, &gpu);
				assert_true(check_pixels(first, origin) > 16 * 16);
			}
	fx_close(&fx);
}

/* The same record draws lines and triangles with the values of their vertices. */
static void lines_and_triangles_keep_their_varyings(void **state)
{
	static const uint32_t topologies[] = { PUMICE_TOPOLOGY_LINE_STRIP,
					       PUMICE_TOPOLOGY_TRIANGLE_STRIP };
	struct fixture fx;
	uint32_t i;

	(void)state;
	fx_open(&fx, "cores=1,threads=0", PAGES);
	for (i = 0; i < 2; i++) {
		make_sprites(1, PUMICE_POINT_ORIGIN_LOWER_LEFT, INTERP_PERSPECTIVE);
		scene.draw[0].topology = topologies[i];
		scene.draw[0].state.vdm.line_width = 8;
		scene_draw_gpu(&fx, &scene, &gpu);
		scene.draw[0].state.tsp.point_coord = false;
		scene_draw_gpu(&fx, &scene, &other);
		assert_memory_equal(gpu.colour, other.colour, sizeof(gpu.colour));
		assert_memory_equal(gpu.id, other.id, sizeof(gpu.id));
		assert_true(gpu.id[32 * SIZE + 40] == 1 || gpu.id[20 * SIZE + 20] == 1);
	}
	fx_close(&fx);
}

/* Open a device and record a frame of sprites; arguments as of make_sprites(). */
static void open_sprites(struct fixture *fx, const char *options, struct scene_frame *f,
			 uint32_t varying, uint32_t origin)
{
	fx_open(fx, options, PAGES);
	make_sprites(varying, origin, INTERP_PERSPECTIVE);
	pumice_stream_reset(fx->stream);
	scene_put(fx, &scene, f);
}

/* Captured before it is rendered, so the replay has to render the sprites. */
static void a_captured_frame_of_sprites_is_replayed_to_the_bit(void **state)
{
	static float here[SIZE * SIZE * 4], there[SIZE * SIZE * 4];
	struct scene_frame f;
	struct fixture fx;
	uint64_t target;

	(void)state;
	open_sprites(&fx, "cores=2,threads=2", &f, 2, PUMICE_POINT_ORIGIN_LOWER_LEFT);
	target = pumice_image_va(f.image[0]);
	scene_capture(&fx, &scene, &f, f.image[0], PAGES, PATH);
	fx_check(&fx, "render", pumice_render(fx.context, &f.frame, LONG, NULL));
	fx_check(&fx, "peek", pumice_vm_peek(fx.vm, target, here, sizeof(here)));
	fx_check(&fx, "read", pumice_image_download(f.image[0], (struct pumice_image_part){ 0 },
						    gpu.colour, 0));
	fx_check(&fx, "read", pumice_image_download(f.image[1], (struct pumice_image_part){ 0 },
						    gpu.id, 0));
	check_pixels(2, PUMICE_POINT_ORIGIN_LOWER_LEFT);
	scene_replay(PATH, "inproc:cores=1,threads=0,ram=192", target, there, sizeof(there));
	assert_memory_equal(here, there, sizeof(here));
	unlink(PATH);
	scene_free(&f);
	fx_close(&fx);
}

/* CPU address of data in the fixture's stream, whose memory is contiguous. */
static uint32_t *at(struct fixture *fx, uint64_t va)
{
	uint64_t end;
	void *cpu;

	fx_check(fx, "stream", pumice_stream_data(fx->stream, 16, 16, &cpu, &end));
	return (uint32_t *)(void *)((char *)cpu - (ptrdiff_t)(end - va));
}

/* Change the varying of the frame's tsp_state. */
static void set_point_varying(struct fixture *fx, const struct scene_frame *f, uint32_t varying)
{
	struct pumice_vdm_state_cmd cmd;
	struct pumice_vdm_state vdm;
	struct pumice_tsp_state tsp;
	uint32_t *words;

	pumice_vdm_state_cmd_unpack(at(fx, f->frame.geometry), &cmd);
	pumice_vdm_state_unpack(at(fx, cmd.addr), &vdm);
	words = at(fx, vdm.tsp_state);
	assert_int_equal(pumice_tsp_state_unpack(words, &tsp), PUMICE_UNPACK_OK);
	tsp.point_varying = (uint8_t)varying;
	pumice_tsp_state_pack(words, &tsp);
}

static void a_varying_that_does_not_exist_is_refused_and_the_next_job_runs(void **state)
{
	static const uint32_t bad[] = { SCENE_VARYINGS - 1, SCENE_VARYINGS, 63 };
	struct pumice_job_result result;
	struct scene_frame f;
	struct fixture fx;
	uint32_t i;

	(void)state;
	open_sprites(&fx, "cores=1,threads=0", &f, 0, PUMICE_POINT_ORIGIN_UPPER_LEFT);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set_point_varying(&fx, &f, bad[i]);
		assert_int_equal(pumice_render(fx.context, &f.frame, LONG, NULL), -EIO);
		assert_non_null(strstr(pumice_device_error(fx.dev), "faulted: tsp-state"));
		fx_check(&fx, "result", pumice_context_get_job_result(fx.context,
								      4 * i + 2, &result,
								      sizeof(result)));
		assert_int_equal(result.fault, PUMICE_FAULT_TSP_STATE);
		set_point_varying(&fx, &f, SCENE_VARYINGS - 2);
		fx_check(&fx, "render", pumice_render(fx.context, &f.frame, LONG, NULL));
	}
	scene_free(&f);
	fx_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_coordinate_goes_from_0_to_1_over_a_point),
		cmocka_unit_test(lines_and_triangles_keep_their_varyings),
		cmocka_unit_test(a_captured_frame_of_sprites_is_replayed_to_the_bit),
		cmocka_unit_test(a_varying_that_does_not_exist_is_refused_and_the_next_job_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
