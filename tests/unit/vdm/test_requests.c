// SPDX-License-Identifier: MIT
/*
 * Requests of the VDM in detailed modes, with indices and without a coordinate program: indices and
 * constants of vertices by the core that processes them, the stream by the master.
 */
#include "requests.h"
#include "vdm_fixture.h"

#define INDICES	1500u
#define CORES	(1u << 1 | 1u << 2)	/* as places */

static struct requests made;

/* A draw of triangles whose indices are ascending, in a stream of its own. */
static void put_draw(struct vdm_fixture *fx)
{
	const struct pumice_vdm_state record = vdmfx_state(false);
	u32 words[64], n = PUMICE_VDM_STATE_CMD_WORDS, i;

	vdmfx_put_state(fx, &record);
	for (i = 0; i < INDICES; i++)
		vdmfx_put(fx, VDMFX_INDICES + i * 4, &i, 1);
	pumice_vdm_state_cmd_pack(words, &(struct pumice_vdm_state_cmd){ .addr = VDMFX_STATE });
	pumice_vdm_draw_indexed_pack(words + n, &(struct pumice_vdm_draw_indexed){
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .index_size = 2, .indices = VDMFX_INDICES,
		.index_count = INDICES, .count = INDICES, .instances = 1 });
	n += PUMICE_VDM_DRAW_INDEXED_WORDS;
	pumice_vdm_halt_pack(words + n, &(struct pumice_vdm_halt){ 0 });
	vdmfx_put(fx, VDMFX_STREAM, words, n + PUMICE_VDM_HALT_WORDS);
}

static void indices_are_requested_by_the_core_that_draws_them(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);
	struct requests_sum index;

	(void)state;
	put_draw(fx);
	requests_record(&made, &fx->base->mmu);
	assert_true(vdmfx_start(fx, 64));
	vdmfx_run(fx);
	requests_end(&fx->base->mmu);
	assert_int_equal(fx->ended[DM_DONE], 1);
	index = requests_of(&made, PUMICE_MEM_CLIENT_INDEX);
	assert_int_equal(index.places, CORES);
	assert_int_equal(requests_cover(&made, PUMICE_MEM_CLIENT_INDEX, VDMFX_INDICES,
					INDICES * 4), INDICES * 4);
	assert_int_equal(requests_of(&made, PUMICE_MEM_CLIENT_VDM_STREAM).places & CORES, 0);
	/* Both USCs of each core. */
	assert_int_equal(requests_of(&made, PUMICE_MEM_CLIENT_PDS_CONSTANT).uscs, 0xf);
	vdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indices_are_requested_by_the_core_that_draws_them),
	};

	return cmocka_run_group_tests_name("vdm requests", tests, NULL, NULL);
}
