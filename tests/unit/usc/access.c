// SPDX-License-Identifier: MIT
/*
 * One access to memory by one wave. See access.h.
 */
#include "access.h"

#include <stdlib.h>
#include <string.h>

#define TEMPS (PUMICE_USC_BURST_WORDS + 1)	/* the last for the result of sig_wait */

static const struct fx_group one_wave = {
	.tasks = 1,
	.limits = { .temps = TEMPS, .attrs = PUMICE_USC_BURST_WORDS + 1, .shared = 2 },
};

struct usc_program *access_program(struct fixture *fx, const struct access *a)
{
	u32 code[4 * PUMICE_USC_WORDS];

	usc_put(code, 0, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = BEFORE));
	usc_put(code, 1, a->insn);
	usc_put(code, 2, INSN(SIG_WAIT, .dst = R_ELEM(TEMPS - 1), .sig0 = a->insn.sig0));
	usc_put(code, 3, INSN(END));
	return fx_program(fx, code, 4, &one_wave.limits);
}

void access_run(struct fixture *fx, struct access *a)
{
	struct usc_program *program = access_program(fx, a);
	struct fx_group group = one_wave;
	struct usc_task *task;

	assert_non_null(program);
	group.instances[0] = a->instances ? a->instances : PUMICE_LANES;
	group.local_bytes = a->local_bytes ? a->local_bytes : LOCAL_BYTES;
	fx_clear(fx);
	fx_fill(fx, 0, &group, program);
	task = usc_task(fx->usc, 0);
	fx_set_base(fx, 0, a->base);
	memcpy(usc_attr(fx->usc, task, 0, 0), a->off, sizeof(a->off));
	memcpy(usc_attr(fx->usc, task, 0, 1), a->data, sizeof(a->data));
	usc_group_start(fx->usc, 0);
	fx_run(fx, 1000);
	assert_int_equal(fx->done[0], 1);
	memcpy(a->result, fx->usc->unified + usc_wave_regs(task, 0), sizeof(a->result));
	fx_put(fx, program);
}

u32 *data_words(struct fixture *fx)
{
	return (u32 *)(void *)fx->data;
}

void access_plain(struct fixture *fx, struct access *a, u32 step)
{
	for (u32 n = 0; n < DATA_BYTES / 4; n++)
		data_words(fx)[n] = n;
	a->base = FX_DATA;
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		a->off[l] = l * step;
		for (u32 w = 0; w < PUMICE_USC_BURST_WORDS; w++)
			a->data[w][l] = 1000 * w + l + 1;
	}
}

void at_each_level(void (*test)(struct fixture *fx))
{
	for (enum gpu_level level = GPU_LEVEL_BASE; level < GPU_LEVELS; level++) {
		struct fixture *fx;

		if (!gpu_level_usable(level))
			continue;
		usc_level_choose(level);
		fx = fx_create(DATA_BYTES);
		test(fx);
		fx_destroy(fx);
	}
}

void check_fault(const struct fixture *fx, enum pumice_fault fault,
		 enum pumice_access access, u64 addr)
{
	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, fault);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_USC_DATA);
	assert_int_equal(fx->fault.access, access);
	assert_int_equal(fx->fault.ctx, FX_CTX);
	assert_int_equal(fx->fault.usc, FX_NUMBER);
	assert_int_equal(fx->fault.pc, 1);
	assert_true(fx->fault.addr == addr);
}

void check_local_fault(const struct fixture *fx, enum pumice_fault fault, u64 offset)
{
	check_fault(fx, fault, PUMICE_ACCESS_READ, offset);
}
