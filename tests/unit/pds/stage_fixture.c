// SPDX-License-Identifier: MIT
/* Stages and tasks of the vertex and the pixel data master, fixture. See stage_fixture.h. */
#include "stage_fixture.h"

#include <stdlib.h>
#include <string.h>

static void task_done(void *opaque, unsigned int core, const struct usc_gfx *gfx)
{
	struct stage_owner *owner = opaque;

	assert_false(owner->fx->locked);
	owner->done[core]++;
	owner->last = gfx;
}

static void task_fault(void *opaque, unsigned int core, const struct usc_gfx *gfx,
		       const struct gpu_fault *fault)
{
	struct stage_owner *owner = opaque;

	(void)core;
	assert_false(owner->fx->locked);
	owner->faults++;
	owner->last = gfx;
	owner->fault = *fault;
}

static void room(void *opaque, unsigned int core)
{
	((struct stage_owner *)opaque)->room[core]++;
}

static const struct pds_task_ops ops = {
	.task_done = task_done, .task_fault = task_fault, .room = room,
};

void stage_own(struct fixture *fx, enum pds_dm dm, struct stage_owner *owner)
{
	*owner = (struct stage_owner){ .fx = fx };
	pds_set_task_ops(fx->pds, dm, &ops, owner);
}

bool stage_load(struct fixture *fx, const struct pumice_stage *registers,
		const struct pds_stage_limits *limits, const struct pumice_pds_insn *insns,
		u16 count, struct pds_stage *stage)
{
	struct pumice_stage state = *registers;
	struct mmu_tlb tlb = { 0 };
	struct pds_launch launch;

	fx_program(fx, &launch, insns, count);
	state.pds_addr = FX_PDS;
	state.pds_insns = count;
	memset(stage, 0, sizeof(*stage));
	if (pds_stage_load(fx->pds, &tlb, FX_CTX, &state, limits, stage, &fx->fault) != PDS_LOADED)
		return false;
	stage->vo_words = 0;	/* only tests of the VPM free outputs */
	return true;
}

u8 *stage_data(struct fixture *fx, u64 addr)
{
	struct mmu_tlb tlb = { 0 };
	struct gpu_fault fault;
	u8 *host = mmu_translate(&fx->mmu, &tlb, FX_CTX, addr, 1, PUMICE_ACCESS_READ,
				 PUMICE_UNIT_PDS, &fault);

	assert_non_null(host);
	return host;
}

struct stage_tasks *stage_tasks_create(unsigned int cores, const struct fx_stores *stores,
				       const struct pumice_stage *registers)
{
	static const struct pumice_pds_insn program[] = { TASK, END };
	static const struct pds_stage_limits limits[PDS_DM_COUNT] = {
		[PDS_DM_VDM] = { .stage = USC_STAGE_VERTEX, .vo = 4 },
		[PDS_DM_PDM] = { .stage = USC_STAGE_FRAGMENT },
		[PDS_DM_RDM] = { .stage = USC_STAGE_HIT },
	};
	struct stage_tasks *t = calloc(1, sizeof(*t));
	enum pds_dm dm;

	assert_non_null(t);
	t->fx = fx_create(cores * FX_USCS_PER_CORE, stores);
	for (dm = PDS_DM_VDM; dm < PDS_DM_COUNT; dm++) {
		assert_true(stage_load(t->fx, registers, &limits[dm], program, 2, &t->stage[dm]));
		stage_own(t->fx, dm, &t->owner[dm]);
	}
	return t;
}

void stage_tasks_destroy(struct stage_tasks *t)
{
	fx_finish_all(t->fx);
	pds_stage_drop(t->fx->pds, &t->stage[PDS_DM_VDM]);
	pds_stage_drop(t->fx->pds, &t->stage[PDS_DM_PDM]);
	pds_stage_drop(t->fx->pds, &t->stage[PDS_DM_RDM]);
	fx_destroy(t->fx);
	free(t);
}

enum pds_result stage_task_claim(struct stage_tasks *t, enum pds_dm dm, unsigned int core,
				 u32 instances, u32 prims, struct pds_place *place)
{
	return pds_task_claim(t->fx->pds, dm, core, &t->stage[dm], instances, prims, place,
			      &t->fx->fault);
}

enum pds_result stage_task_start(struct stage_tasks *t, enum pds_dm dm, unsigned int core,
				 u32 instances, struct pds_place *place)
{
	enum pds_result result = stage_task_claim(t, dm, core, instances, 1, place);

	if (result == PDS_STARTED)
		pds_task_start(t->fx->pds, dm, place, NULL);
	return result;
}

void stage_tasks_abort(struct stage_tasks *t, enum pds_dm dm)
{
	fx_lock(t->fx);
	pds_dm_abort(t->fx->pds, dm);
	fx_unlock(t->fx);
}
