// SPDX-License-Identifier: MIT
/*
 * Requests of PDS programs in detailed modes: each fill for the USC of its task, bursts with all
 * of their bytes, and attributes vertex by vertex.
 */
#include "requests.h"
#include "stage_fixture.h"

#include <string.h>

#define NO_USC	63u	/* of a TLB that nothing has set yet */
#define TASKS	6u
#define VERTICES	75u	/* three waves, the last one not full */
#define STRIDE	8u

static struct requests made;

/* Assert that a client has made requests, all for one USC. */
static void assert_usc(enum pumice_mem_client client, u32 requests, u64 bytes, u32 usc)
{
	const struct requests_sum sum = requests_of(&made, client);

	assert_int_equal(sum.requests, requests);
	assert_int_equal(sum.bytes, bytes);
	assert_int_equal(sum.uscs, 1ull << usc);
}

static void work_groups_request_for_their_usc(void **state)
{
	static const struct pumice_pds_insn insns[] = { DMA(SH, 0, 9, FX_DATA, 0), TASK, END };
	struct fixture *fx = fx_create(2 * FX_USCS_PER_CORE, NULL);
	struct pds_launch launch = fx_launch(64, 1, 1);
	u32 i, u, before[2 * FX_USCS_PER_CORE], ran = 0;

	(void)state;
	launch.state.shared = 9;
	launch.state.attrs = 1;
	fx_program(fx, &launch, insns, 3);
	assert_true(fx_begin(fx, &launch));
	for (i = 0; i < TASKS; i++) {
		for (u = 0; u < fx->uscs; u++)
			before[u] = fx->usc[u]->started;
		requests_record(&made, &fx->mmu);
		assert_int_equal(fx_group(fx, i, 0, 0, i), PDS_STARTED);
		requests_end(&fx->mmu);
		for (u = 0; u < fx->uscs && fx->usc[u]->started == before[u]; u++)
			;
		assert_true(u < fx->uscs);
		assert_usc(PUMICE_MEM_CLIENT_PDS_CONSTANT, 1, 36, u);
		ran |= 1u << u;
	}
	assert_int_equal(ran, 0xf);
	fx_destroy(fx);
}

/* A stage of the VDM or PDM, and its tasks. */
struct tasks {
	struct fixture *fx;
	struct stage_owner owner;
	struct pds_stage stage;
	struct mmu_tlb tlb;
	struct pds_place place;
};

static void open_tasks(struct tasks *t, enum pds_dm dm, u32 stage,
		       const struct pumice_pds_insn *insns, u16 count)
{
	const struct pumice_stage registers = { .attrs = 4, .shared = 9 };
	const struct pds_stage_limits limits = {
		.stage = (u8)stage, .vo = dm == PDS_DM_VDM ? 4 : 0,
		.outputs = dm == PDS_DM_VDM ? 0 : 4,
	};

	memset(t, 0, sizeof(*t));
	t->fx = fx_create(2 * FX_USCS_PER_CORE, NULL);
	stage_own(t->fx, dm, &t->owner);
	assert_true(stage_load(t->fx, &registers, &limits, insns, count, &t->stage));
	t->tlb.usc = NO_USC;
}

static void claim(struct tasks *t, enum pds_dm dm, u32 core)
{
	assert_int_equal(pds_task_claim(t->fx->pds, dm, core, &t->stage, VERTICES, 1, &t->place,
					&t->fx->fault), PDS_STARTED);
	assert_int_equal(t->place.usc / FX_USCS_PER_CORE, core);
	requests_record(&made, &t->fx->mmu);
}

static void close_tasks(struct tasks *t)
{
	fx_finish_all(t->fx);
	pds_stage_drop(t->fx->pds, &t->stage);
	fx_destroy(t->fx);
}

static void vertices_request_their_attributes_for_their_usc(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		ATTR(0, PUMICE_ATTR_KIND_F32, 1, FX_DATA, STRIDE, VERTICES, 0),
		DMA(SH, 0, 9, FX_DATA, 0), TASK, END,
	};
	u32 vertex[VERTICES], i, pc, ran = 0;
	const struct pds_vertices in = { .vertex = vertex, .count = VERTICES };
	struct tasks t;

	(void)state;
	for (i = 0; i < VERTICES; i++)
		vertex[i] = VERTICES - 1 - i;
	open_tasks(&t, PDS_DM_VDM, USC_STAGE_VERTEX, insns, 4);
	for (i = 0; i < TASKS; i++) {
		claim(&t, PDS_DM_VDM, i % 2);
		for (pc = 0; pc < t.stage.program.insns;)
			assert_true(pds_fill_vertices(t.fx->pds, &t.place, &t.stage, &in, &t.tlb,
						      &pc, &t.fx->fault));
		requests_end(&t.fx->mmu);
		assert_usc(PUMICE_MEM_CLIENT_ATTRIBUTE, VERTICES, VERTICES * 4, t.place.usc);
		assert_usc(PUMICE_MEM_CLIENT_PDS_CONSTANT, 1, 36, t.place.usc);
		ran |= 1u << t.place.usc;
		pds_task_start(t.fx->pds, PDS_DM_VDM, &t.place, NULL);
	}
	assert_int_equal(ran, 0xf);
	close_tasks(&t);
}

static void fragments_request_their_constants_for_their_usc(void **state)
{
	static const struct pumice_pds_insn insns[] = { DMA(SH, 0, 9, FX_DATA, 0), TASK, END };
	static const struct usc_tile tile = { .words = 4, .samples = 1, .width = 32, .height = 32 };
	static struct usc_span span[PUMICE_TASK_INSTANCES / USC_SPAN_LANES];
	const struct usc_gfx gfx = {
		.stage = USC_STAGE_FRAGMENT, .sample = USC_PIXEL_RATE, .tile = &tile, .span = span,
		.spans = (VERTICES + USC_SPAN_LANES - 1) / USC_SPAN_LANES,
	};
	const struct itr_prim prim = { 0 };
	const struct pds_fragments in = { .gfx = &gfx, .prim = &prim, .prims = 1 };
	struct half half = { 0 };
	struct tasks t;
	u32 i, pc, ran = 0;

	(void)state;
	open_tasks(&t, PDS_DM_PDM, USC_STAGE_FRAGMENT, insns, 3);
	for (i = 0; i < TASKS; i++) {
		claim(&t, PDS_DM_PDM, i % 2);
		for (pc = 0; pc < t.stage.program.insns;)
			assert_true(pds_fill_fragments(t.fx->pds, &t.place, &t.stage, &in, &half,
						       &t.tlb, &pc, &t.fx->fault));
		requests_end(&t.fx->mmu);
		assert_usc(PUMICE_MEM_CLIENT_PDS_CONSTANT, 1, 36, t.place.usc);
		ran |= 1u << t.place.usc;
		pds_task_start(t.fx->pds, PDS_DM_PDM, &t.place, &gfx);
	}
	assert_int_equal(ran, 0xf);
	close_tasks(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_groups_request_for_their_usc),
		cmocka_unit_test(vertices_request_their_attributes_for_their_usc),
		cmocka_unit_test(fragments_request_their_constants_for_their_usc),
	};

	return cmocka_run_group_tests_name("pds requests", tests, NULL, NULL);
}
