// SPDX-License-Identifier: MIT
/*
 * Requests of a frame in detailed modes: those of tiles are of a core, those of jobs are not; the
 * memory of partial renders is written and read once, as depth is.
 */
#include "fixture.h"
#include "requests.h"

#define SIDE	96u	/* nine tiles, of which each core has some */
#define TILES	9u
#define SPILL_TILE	(32u * 32u * 9u)	/* outputs, depth and stencil of its pixels */
/* Places. */
#define MASTER	(1u << 0)
#define CORES	(1u << 1 | 1u << 2)

static struct fixture fx;
static struct requests made;

static void draw(bool final)
{
	const struct pumice_isp_state isp = scene_usual_isp();
	const struct scene_prim prim = {
		.triangle = { .x = { 0, 400 << 8, 0 }, .y = { 0, 0, 400 << 8 } },
		.value = { 3 },
	};

	scene_set_object(&fx, 0, &isp, FX_PLAIN, false);
	scene_draw(&fx, 0, &prim, 1);
	scene_end(&fx, final);
}

static void run(bool partial)
{
	requests_record(&made, &fx.mmu);
	fx_start(&fx, partial);
	fx_run(&fx);
	requests_end(&fx.mmu);
	assert_int_equal(fx.end, DM_DONE);
}

static u64 places_of(enum pumice_mem_client client)
{
	return requests_of(&made, client).places;
}

/* Records of the frame are those of objects, too, and are read by the master. */
static void assert_places(void)
{
	assert_int_equal(places_of(PUMICE_MEM_CLIENT_IPF_PRIM), CORES);
	assert_int_equal(places_of(PUMICE_MEM_CLIENT_PB_READ), CORES);
	assert_int_equal(places_of(PUMICE_MEM_CLIENT_ISP_STATE) | MASTER, CORES | MASTER);
	assert_int_equal(places_of(PUMICE_MEM_CLIENT_TSP_STATE) | MASTER, CORES | MASTER);
	assert_int_equal(places_of(PUMICE_MEM_CLIENT_PDM_STREAM) & CORES, 0);
}

static void tiles_request_at_the_place_of_their_core(void **state)
{
	struct requests_sum written, read;

	(void)state;
	fx_open(&fx, 2);
	scene_begin_square(&fx, SIDE);
	draw(false);
	run(true);
	assert_places();
	written = requests_of(&made, PUMICE_MEM_CLIENT_DEPTH_WRITE);
	assert_int_equal(written.bytes, TILES * SPILL_TILE);
	assert_int_equal(written.places, CORES);
	assert_int_equal(places_of(PUMICE_MEM_CLIENT_ISP_RESULT), 0);
	assert_int_equal(places_of(PUMICE_MEM_CLIENT_PBE_WRITE), 0);
	scene_again(&fx);
	draw(true);
	run(false);
	assert_places();
	read = requests_of(&made, PUMICE_MEM_CLIENT_DEPTH_READ);
	assert_int_equal(read.bytes, written.bytes);
	assert_int_equal(read.places, CORES);
	assert_int_equal(places_of(PUMICE_MEM_CLIENT_ISP_RESULT), 0);
	assert_int_equal(places_of(PUMICE_MEM_CLIENT_PBE_WRITE), CORES);
	assert_int_equal(requests_of(&made, PUMICE_MEM_CLIENT_PBE_WRITE).bytes, SIDE * SIDE * 4);
	fx_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiles_request_at_the_place_of_their_core),
	};

	return cmocka_run_group_tests_name("pdm requests", tests, NULL, NULL);
}
