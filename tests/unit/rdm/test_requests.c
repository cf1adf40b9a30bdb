// SPDX-License-Identifier: MIT
/* Requests of the RDM in detailed modes: rays are separate from the stream. */
#include "rdm_fixture.h"
#include "requests.h"

static struct requests made;

static void rays_are_requested_once(void **state)
{
	const u32 rays = 3 * RDMFX_BATCH, bytes = rays * PUMICE_RDM_RAY_WORDS * 4;
	struct rdm_fixture *fx = rdmfx_create();
	struct requests_sum ray, stream;

	(void)state;
	fx->all_miss = true;
	put_state(fx, &(struct state){ .miss = true });
	put_launch(fx, RDMFX_BATCH, 3, RDMFX_RAYS);
	put_halt(fx);
	requests_record(&made, &fx->mmu);
	rdmfx_start(fx);
	rdmfx_run(fx);
	requests_end(&fx->mmu);
	assert_int_equal(fx->end, DM_DONE);
	ray = requests_of(&made, PUMICE_MEM_CLIENT_RDM_RAY);
	stream = requests_of(&made, PUMICE_MEM_CLIENT_RDM_STREAM);
	assert_int_equal(ray.bytes, bytes);
	assert_int_equal(requests_cover(&made, PUMICE_MEM_CLIENT_RDM_RAY, RDMFX_RAYS, bytes),
			 bytes);
	assert_true(stream.bytes);
	assert_int_equal(requests_cover(&made, PUMICE_MEM_CLIENT_RDM_STREAM, RDMFX_RAYS, bytes), 0);
	/* It does not belong to a core. */
	assert_int_equal(ray.places | stream.places, 1);
	rdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rays_are_requested_once),
	};

	return cmocka_run_group_tests_name("rdm requests", tests, NULL, NULL);
}
