/* SPDX-License-Identifier: MIT */
/*
 * Stages and tasks of the vertex and the pixel data master: an addition to the fixture,
 * with owners that record calls.
 */
#ifndef PUMICE_PDS_STAGE_FIXTURE_H
#define PUMICE_PDS_STAGE_FIXTURE_H

#include "../../../qemu-device/gpu/pds/gfx.h"
#include "fake_gfx.h"
#include "fixture.h"

#define ATTR(r, k, n, a, s, e, d) { .opcode = PUMICE_PDS_OP_ATTR, .bank = PUMICE_PDS_BANK_V, \
	.reg = (r), .kind = (k), .comps = (n), .addr = (a), .stride = (s), .elements = (e), \
	.divisor = (d) }
#define FETCH(r, n) { .opcode = PUMICE_PDS_OP_FETCH, .bank = PUMICE_PDS_BANK_V, .reg = (r), \
	.attribute = (n) }
#define COEFF(r, v, n) { .opcode = PUMICE_PDS_OP_COEFF, .bank = PUMICE_PDS_BANK_CF, \
	.reg = (r), .varying = (v), .comps = (n) }
#define ITERATE(r, v, n, m) { .opcode = PUMICE_PDS_OP_ITERATE, .bank = PUMICE_PDS_BANK_V, \
	.reg = (r), .varying = (v), .comps = (n), .mode = PUMICE_USC_ITERATE_##m }
#define TEXTURE(r, v, m, d, a) { .opcode = PUMICE_PDS_OP_TEXTURE, .bank = PUMICE_PDS_BANK_V, \
	.reg = (r), .varying = (v), .mode = PUMICE_USC_ITERATE_##m, \
	.dim = PUMICE_TEXTURE_DIM_##d, .addr = (a) }

/* Recorded calls to the owner of a data master's tasks. */
struct stage_owner {
	struct fixture *fx;
	unsigned int done[PUMICE_MAX_CORES], room[PUMICE_MAX_CORES], faults;
	const struct usc_gfx *last;	/* of the last task that was done or faulted */
	struct gpu_fault fault;
};

/* Make owner the owner of a data master's tasks. */
void stage_own(struct fixture *fx, enum pds_dm dm, struct stage_owner *owner);
/* Write the program and load it as a stage of these registers. A fault is stored in fx->fault. */
bool stage_load(struct fixture *fx, const struct pumice_stage *registers,
		const struct pds_stage_limits *limits, const struct pumice_pds_insn *insns,
		u16 count, struct pds_stage *stage);
/* Return the host memory of a 4 KiB page of FX_DATA. */
u8 *stage_data(struct fixture *fx, u64 addr);

/*
 * A PDS and the owners of both data masters of graphics, each with a stage whose program only
 * starts a task. The entries of the CDM are unused.
 */
struct stage_tasks {
	struct fixture *fx;
	struct stage_owner owner[PDS_DM_COUNT];
	struct pds_stage stage[PDS_DM_COUNT];
};

/* Create them with this number of cores; both stages have these registers. */
struct stage_tasks *stage_tasks_create(unsigned int cores, const struct fx_stores *stores,
				       const struct pumice_stage *registers);
/* Finish all tasks and free everything, as fx_destroy(). */
void stage_tasks_destroy(struct stage_tasks *t);
/* Claim a task of the stage of dm, from any thread. A fault is stored in fx->fault. */
enum pds_result stage_task_claim(struct stage_tasks *t, enum pds_dm dm, unsigned int core,
				 u32 instances, u32 prims, struct pds_place *place);
/* Claim a task of one primitive and start it. */
enum pds_result stage_task_start(struct stage_tasks *t, enum pds_dm dm, unsigned int core,
				 u32 instances, struct pds_place *place);
/* Abort the tasks of a data master with the device lock held. */
void stage_tasks_abort(struct stage_tasks *t, enum pds_dm dm);

#endif
