// SPDX-License-Identifier: MIT
/*
 * Captures of random frames with a mask plane are replayed to the bit on another device: planes
 * that are loaded, that draws change, and that partial renders spill.
 */
#include <string.h>
#include <unistd.h>

#include "scene.h"

#define PATH		"test_scene_mask.cap"
#define SEED		2000000u
#define FRAMES		24u
#define PAGES		4096u
#define FEW_PAGES	20u	/* too few for many instances: partial renders */
#define INSTANCES	40u
#define PLANE_BYTES	(1u << 20)

static struct scene scene;

/* Frames that loaded a plane, changed one, and had partial renders. */
struct seen {
	uint32_t loaded, changed, partial;
};

static void check_frame(uint32_t pages, struct seen *seen)
{
	static uint8_t before[PLANE_BYTES], here[PLANE_BYTES], there[PLANE_BYTES];
	const size_t bytes = (scene.width * scene.samples + 7) / 8 * scene.height;
	struct scene_frame f;
	struct fixture fx;
	uint32_t i;

	assert_true(bytes <= PLANE_BYTES);
	for (i = 0; i < scene.draws; i++)
		scene.draw[i].instances *= INSTANCES;
	fx_open(&fx, "cores=1,threads=0", pages);
	pumice_stream_reset(fx.stream);
	scene_put(&fx, &scene, &f);
	memcpy(before, fx.mask.cpu, bytes);
	/* Before it is rendered, so the replay has to change the plane. */
	scene_capture(&fx, &scene, &f, f.image[2], pages, PATH);
	fx_check(&fx, "render", pumice_render(fx.context, &f.frame, LONG, NULL));
	memcpy(here, fx.mask.cpu, bytes);
	seen->loaded += scene.mask_load;
	seen->changed += !!memcmp(before, here, bytes);
	seen->partial += !!scene_replay(PATH, "inproc:cores=1,threads=2,ram=256", fx.mask.va, there,
					bytes);
	assert_memory_equal(here, there, bytes);
	unlink(PATH);
	scene_free(&f);
	fx_close(&fx);
}

static void captured_frames_with_a_mask_plane_are_replayed_to_the_bit(void **state)
{
	struct seen seen = { 0 };
	uint32_t i, frames = 0;

	(void)state;
	for (i = 0; frames < FRAMES; i++) {
		scene_make(&scene, SEED + i);
		if (!scene.mask)
			continue;
		check_frame(frames++ % 2 ? FEW_PAGES : PAGES, &seen);
	}
	assert_true(seen.loaded && seen.changed && seen.partial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captured_frames_with_a_mask_plane_are_replayed_to_the_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
