// SPDX-License-Identifier: MIT
/*
 * Running a PDS program.
 *
 * Source: hw/isa.xml, isa "pds". The program was checked by pds_program_load():
 * registers, sources and addresses are in range here.
 */
#include "run.h"

#include <string.h>

/* Instances of one wave of a task. */
static u32 wave_lanes(const struct usc_task *task, u32 wave)
{
	u32 rest = task->instances - wave * PUMICE_LANES;

	return rest < PUMICE_LANES ? rest : PUMICE_LANES;
}

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

/* A source that is the same for every instance of the task. */
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

/* A source that differs between instances: of instance first and those behind it. */
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

/* First register of a bank that has one value for the task. */
static u32 *task_bank(struct usc *usc, const struct usc_task *task, u32 bank)
{
	return bank == PUMICE_PDS_BANK_CF ? usc_coeffs(usc, task) : usc_shared(usc, task);
}

/* Write one value to a register: ldi, and mov of a value of the task. */
static void write_value(struct usc *usc, const struct usc_task *task,
			const struct pumice_pds_insn *insn, u32 value)
{
	u32 wave, lane;

	if (insn->bank != PUMICE_PDS_BANK_V) {
		task_bank(usc, task, insn->bank)[insn->reg] = value;
		return;
	}
	for (wave = 0; wave < task->waves; wave++) {
		u32 *row = usc_attr(usc, task, wave, insn->reg);

		for (lane = 0; lane < wave_lanes(task, wave); lane++)
			row[lane] = value;
	}
}

static void run_mov(const struct pds_run *run, struct usc *usc, const struct usc_task *task,
		    const struct pumice_pds_insn *insn)
{
	u32 first = task->index * PUMICE_TASK_INSTANCES;
	u32 wave;

	if (!pds_source_per_instance(insn->source)) {
		write_value(usc, task, insn, task_value(run, task, insn->source));
		return;
	}
	for (wave = 0; wave < task->waves; wave++)
		instance_values(run, insn->source, first + wave * PUMICE_LANES,
				wave_lanes(task, wave), usc_attr(usc, task, wave, insn->reg));
}

static bool burst(const struct pds_run *run, u64 addr, u32 *words, u32 count,
		  struct gpu_fault *fault)
{
	if (!mmu_read(run->mmu, run->tlb, run->launch->ctx, addr, words, (u64)count * 4,
		      PUMICE_ACCESS_READ, PUMICE_UNIT_PDS, fault))
		return false;
	*run->dma_bytes += (u64)count * 4;
	return true;
}

/*
 * Read the words of each lane of a wave, the first lane's from addr on. *step
 * becomes the distance between two lanes' words in buf. Where the lanes' words
 * leave no gap one burst fetches all of them; a gap must not be touched.
 */
static bool gather(const struct pds_run *run, const struct pumice_pds_insn *insn, u64 addr,
		   u32 lanes, u32 *buf, u32 *step, struct gpu_fault *fault)
{
	u32 lane;

	*step = insn->stride / 4;
	if (*step <= insn->count)
		return burst(run, addr, buf, (lanes - 1) * *step + insn->count, fault);
	*step = insn->count;
	for (lane = 0; lane < lanes; lane++) {
		if (!burst(run, addr + (u64)lane * insn->stride, buf + lane * *step, insn->count,
			   fault))
			return false;
	}
	return true;
}

static bool run_dma(const struct pds_run *run, struct usc *usc, const struct usc_task *task,
		    const struct pumice_pds_insn *insn, struct gpu_fault *fault)
{
	u32 buf[PUMICE_LANES * PUMICE_USC_MAX_ATTRS];
	u32 wave, lane, reg, step;

	if (insn->bank != PUMICE_PDS_BANK_V)
		return burst(run, insn->addr, task_bank(usc, task, insn->bank) + insn->reg,
			     insn->count, fault);

	for (wave = 0; wave < task->waves; wave++) {
		u32 first = task->index * PUMICE_TASK_INSTANCES + wave * PUMICE_LANES;
		u32 lanes = wave_lanes(task, wave);

		if (!gather(run, insn, insn->addr + (u64)first * insn->stride, lanes, buf, &step,
			    fault))
			return false;
		for (reg = 0; reg < insn->count; reg++) {
			u32 *row = usc_attr(usc, task, wave, insn->reg + reg);

			for (lane = 0; lane < lanes; lane++)
				row[lane] = buf[lane * step + reg];
		}
	}
	return true;
}

static void clear_registers(struct usc *usc, const struct usc_task *task)
{
	u32 wave, reg;

	if (task->shared)
		memset(usc_shared(usc, task), 0, task->shared * sizeof(u32));
	if (task->coeffs)
		memset(usc_coeffs(usc, task), 0, task->coeffs * sizeof(u32));
	for (wave = 0; wave < task->waves; wave++) {
		for (reg = 0; reg < task->attrs; reg++)
			memset(usc_attr(usc, task, wave, reg), 0, USC_ROW_WORDS * sizeof(u32));
	}
}

bool pds_run_task(const struct pds_run *run, struct usc *usc, const struct usc_task *task,
		  struct gpu_fault *fault)
{
	u32 pc;

	clear_registers(usc, task);
	for (pc = 0; pc < run->program->insns; pc++) {
		const struct pumice_pds_insn *insn = &run->program->insn[pc];

		switch ((enum pumice_pds_op)insn->opcode) {
		case PUMICE_PDS_OP_LDI:
			write_value(usc, task, insn, insn->imm);
			break;
		case PUMICE_PDS_OP_MOV:
			run_mov(run, usc, task, insn);
			break;
		case PUMICE_PDS_OP_DMA:
			*fault = (struct gpu_fault){ .pc = pc };
			if (!run_dma(run, usc, task, insn, fault))
				return false;
			break;
		case PUMICE_PDS_OP_ATTR:	/* not of compute programs */
		case PUMICE_PDS_OP_COEFF:
		case PUMICE_PDS_OP_ITERATE:
		case PUMICE_PDS_OP_TEXTURE:
		case PUMICE_PDS_OP_TASK:	/* starts with its group, when all tasks are filled */
		case PUMICE_PDS_OP_END:
			break;
		}
	}
	return true;
}
