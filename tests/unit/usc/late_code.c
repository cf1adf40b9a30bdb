// SPDX-License-Identifier: MIT
/*
 * Programs whose loads are late. See late_code.h.
 */
#include "late_code.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exec.h"

#define LOCAL_BYTES	1024u

const struct usc_program_limits late_limits = { .temps = 32, .attrs = 4, .shared = 40,
						  .slot_regs = 4, .stage = USC_STAGE_COMPUTE };

void add(struct code *c, struct pumice_usc_insn insn)
{
	assert_true(c->insns < MAX_INSNS);
	c->insn[c->insns++] = insn;
}

void begin(struct code *c)
{
	c->insns = 0;
	add(c, INSN(SHL, .dst = R(0), .src0 = K(SID), .src1 = IMM, .imm = 2));
	for (u32 n = 8; n < 12; n++)
		add(c, INSN(MOV, .dst = R(n), .mask = ALWAYS, .src0 = IMM, .imm = BEFORE));
}

/* Load R8 with signal 3. */
void add_load(struct code *c)
{
	add(c, INSN(GLOBAL_LOAD32, .sig0 = 3, .dst = R(8), .mask = ALWAYS, .src2 = SH(0),
		    .src0 = R(0)));
}

struct usc_program *program_of(struct fixture *fx, struct code *c,
			       const struct usc_program_limits *limits)
{
	struct usc_program *program;

	add(c, INSN(END));
	for (u32 n = 0; n < FX_DATA_BYTES / 4; n++)
		((u32 *)(void *)fx->data)[n] = LOADED + n;
	fx_clear(fx);
	program = fx_program_insns(fx, c->insn, c->insns, limits);
	if (!program)
		fail_msg("instruction %u is refused: fault %u", fx->fault.pc, fx->fault.fault);
	return program;
}

/* Run a group to its end. */
void run_group(struct fixture *fx, struct code *c, const struct fx_group *group)
{
	struct usc_program *program = program_of(fx, c, &group->limits);

	fx_fill(fx, 0, group, program);
	memset(usc_shared(fx->usc, usc_task(fx->usc, 0)), 0, group->limits.shared * 4);
	fx_set_base(fx, 0, FX_DATA);
	usc_group_start(fx->usc, 0);
	fx_run(fx, 1u << 20);
	assert_int_equal(fx->done[0], 1);
	fx_put(fx, program);
}

/* Run a work-group of some instances to its end. */
void run(struct fixture *fx, struct code *c, u32 instances)
{
	run_group(fx, c, &(struct fx_group){ .tasks = 1, .instances = { instances },
					     .limits = late_limits, .local_bytes = LOCAL_BYTES });
}

/* Word of a register of a wave's lane 1, after the run. */
u32 wave_result(const struct fixture *fx, u32 wave, u32 reg)
{
	return fx->usc->unified[usc_wave_regs(&fx->usc->task[0], wave) + reg * USC_ROW_WORDS + 1];
}

u32 result(const struct fixture *fx, u32 reg)
{
	return wave_result(fx, 0, reg);
}

/* The instruction before the end used a place too early. */
void assert_late(const struct fixture *fx, const struct code *c, u32 place, bool local,
			bool write)
{
	const u32 word = (u32)fx->fault.addr;
	struct pumice_usc_late what;

	assert_int_equal(fx->faults, 1);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_LATE);
	assert_int_equal(fx->fault.pc, c->insns - 2);
	assert_int_equal(fx->fault.access, write ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ);
	assert_int_equal(fx->fault.addr >> 32, 0);
	assert_int_equal(pumice_usc_late_unpack(&word, &what), PUMICE_UNPACK_OK);
	assert_int_equal(what.place, place);
	assert_int_equal(what.sig, 3);
	assert_int_equal(what.local, local);
	assert_int_equal(what.write, write);
}

void run_to_end_of_task(struct fixture *fx)
{
	usc_group_start(fx->usc, 0);
	while (!fx->tasks_done)
		assert_true(usc_step(fx->usc, 1, NULL));
	assert_int_equal(fx->task_done[0], 0);
}

struct fixture *fixture_of(enum usc_late_mode late)
{
	return fx_create_late(FX_DATA_BYTES, late);
}
