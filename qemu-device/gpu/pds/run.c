// SPDX-License-Identifier: MIT
/*
 * Execution of PDS programs.
 *
 * Source: hw/isa.xml, isa "pds". The program was checked by pds_program_load(): registers,
 * sources and addresses are in range here.
 */
#include "run.h"

#include "fill.h"

void pds_number_instances(const struct pumice_cdm_state *state, struct pds_local_ids *local)
{
	u32 n = 0, x, y, z;

	for (z = 0; z < state->size_z; z++) {
		for (y = 0; y < state->size_y; y++) {
			for (x = 0; x < state->size_x; x++, n++) {
				local->id[0][n] = (u16)x;
				local->id[1][n] = (u16)y;
				local->id[2][n] = (u16)z;
			}
		}
	}
}

/* Value of a source that is equal for all instances of the task. */
static u32 task_value(const struct pds_run *run, const struct usc_task *task, u32 source)
{
	const struct pumice_cdm_launch *grid = &run->launch->grid;
	const struct pumice_cdm_state *state = &run->launch->state;

	switch ((enum pumice_pds_source)source) {
	case PUMICE_PDS_SOURCE_GROUP_X:
		return run->id[0];
	case PUMICE_PDS_SOURCE_GROUP_Y:
		return run->id[1];
	case PUMICE_PDS_SOURCE_GROUP_Z:
		return run->id[2];
	case PUMICE_PDS_SOURCE_GROUPS_X:
		return grid->groups_x;
	case PUMICE_PDS_SOURCE_GROUPS_Y:
		return grid->groups_y;
	case PUMICE_PDS_SOURCE_GROUPS_Z:
		return grid->groups_z;
	case PUMICE_PDS_SOURCE_SIZE_X:
		return state->size_x;
	case PUMICE_PDS_SOURCE_SIZE_Y:
		return state->size_y;
	case PUMICE_PDS_SOURCE_SIZE_Z:
		return state->size_z;
	case PUMICE_PDS_SOURCE_TASK:
		return task->index;
	default:
		return 0;
	}
}

/* Get the values of a source that differs between instances, for lanes instances from first. */
static void instance_values(const struct pds_run *run, u32 source, u32 first, u32 lanes, u32 *out)
{
	const struct pumice_cdm_state *state = &run->launch->state;
	const u16 *local = run->local->id[0];
	u32 base = 0, lane;

	switch ((enum pumice_pds_source)source) {
	case PUMICE_PDS_SOURCE_GLOBAL_X:
		base = run->id[0] * state->size_x;
		break;
	case PUMICE_PDS_SOURCE_GLOBAL_Y:
		base = run->id[1] * state->size_y;
		local = run->local->id[1];
		break;
	case PUMICE_PDS_SOURCE_GLOBAL_Z:
		base = run->id[2] * state->size_z;
		local = run->local->id[2];
		break;
	case PUMICE_PDS_SOURCE_LOCAL_Y:
		local = run->local->id[1];
		break;
	case PUMICE_PDS_SOURCE_LOCAL_Z:
		local = run->local->id[2];
		break;
	case PUMICE_PDS_SOURCE_LOCAL_LINEAR:
		for (lane = 0; lane < lanes; lane++)
			out[lane] = first + lane;
		return;
	default:
		break;
	}
	for (lane = 0; lane < lanes; lane++)
		out[lane] = base + local[first + lane];
}

static void run_mov(const struct pds_run *run, const struct pds_fill *fill,
		    const struct pumice_pds_insn *insn)
{
	const struct usc_task *task = fill->task;
	u32 first = task->index * PUMICE_TASK_INSTANCES;
	u32 wave;

	if (!pds_source_per_instance(insn->source)) {
		pds_fill_value(fill, insn, task_value(run, task, insn->source));
		return;
	}
	for (wave = 0; wave < task->waves; wave++)
		instance_values(run, insn->source, first + wave * PUMICE_LANES,
				pds_wave_lanes(task, wave),
				usc_attr(fill->usc, task, wave, insn->reg));
}

bool pds_run_task(const struct pds_run *run, struct usc *usc, const struct usc_task *task,
		  u32 reads, u32 *pc, struct gpu_fault *fault)
{
	struct pds_fill fill = {
		.usc = usc, .task = task, .mmu = run->mmu, .tlb = run->tlb, .ctx = run->launch->ctx,
	};
	const u32 words = reads == PDS_WHOLE ? PDS_WHOLE : PDS_PIECE_WORDS;
	u32 read = 0, written = 0;
	bool ok = true;

	if (!*pc)
		pds_fill_zero(&fill);
	for (; ok && *pc < run->program->insns && read < reads && written < words; ++*pc) {
		const struct pumice_pds_insn *insn = &run->program->insn[*pc];

		written += pds_insn_words(insn, task->instances);
		read += pds_insn_reads(insn, task->instances);
		switch ((enum pumice_pds_op)insn->opcode) {
		case PUMICE_PDS_OP_LDI:
			pds_fill_value(&fill, insn, insn->imm);
			break;
		case PUMICE_PDS_OP_MOV:
			run_mov(run, &fill, insn);
			break;
		case PUMICE_PDS_OP_DMA:
			*fault = (struct gpu_fault){ .pc = *pc };
			ok = pds_fill_dma(&fill, insn, fault);
			break;
		case PUMICE_PDS_OP_ATTR:	/* not valid in compute programs */
		case PUMICE_PDS_OP_FETCH:
		case PUMICE_PDS_OP_COEFF:
		case PUMICE_PDS_OP_ITERATE:
		case PUMICE_PDS_OP_TEXTURE:
		case PUMICE_PDS_OP_TASK:	/* the task starts with its group, when all
						 * tasks are filled */
		case PUMICE_PDS_OP_END:
			break;
		}
	}
	atomic_fetch_add_explicit(run->dma_bytes, fill.dma_bytes, memory_order_relaxed);
	return ok;
}
