// SPDX-License-Identifier: MIT
/*
 * One instruction on one wave. See single.h.
 */
#include "single.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exec.h"

#define ROW_BYTES (PUMICE_LANES * sizeof(u32))

void single_run(struct fixture *fx, struct pumice_usc_insn insn, u32 instances, single_sources v,
		u32 *out)
{
	const struct fx_group group = {
		.tasks = 1,
		.instances = { instances },
		.limits = { .temps = 16, .attrs = SINGLE_SOURCES, .shared = 4 },
	};
	u32 code[3 * PUMICE_USC_WORDS];
	struct usc_program *program;
	struct usc_task *task;

	usc_put(code, 0, INSN(MOV, .dst = R(SINGLE_OUT), .mask = ALWAYS, .src0 = IMM,
			      .imm = SINGLE_MARK));
	usc_put(code, 1, insn);
	usc_put(code, 2, INSN(END));
	program = fx_program(fx, code, 3, &group.limits);
	assert_non_null(program);
	fx_clear(fx);
	fx_fill(fx, 0, &group, program);
	task = usc_task(fx->usc, 0);
	for (u32 n = 0; n < SINGLE_SOURCES; n++) {
		if (v[n])
			memcpy(usc_attr(fx->usc, task, 0, n), v[n], ROW_BYTES);
	}
	usc_group_start(fx->usc, 0);
	fx_run(fx, 1000);
	assert_int_equal(fx->faults, 0);
	memcpy(out, fx->usc->unified + usc_wave_regs(task, 0), ROW_BYTES);
	fx_put(fx, program);
}

void single_at_each_level(void (*test)(struct fixture *fx))
{
	for (enum gpu_level level = GPU_LEVEL_BASE; level < GPU_LEVELS; level++) {
		struct fixture *fx;

		if (!gpu_level_usable(level))
			continue;
		usc_level_choose(level);
		fx = fx_create(4096);
		test(fx);
		fx_destroy(fx);
	}
}
