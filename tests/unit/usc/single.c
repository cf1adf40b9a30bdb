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

void single_run(struct rig *rig, struct pumice_usc_insn insn, u32 instances, single_sources v,
		u32 *out)
{
	const struct rig_group group = {
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
	program = rig_program(rig, code, 3, &group.limits);
	assert_non_null(program);
	rig_clear(rig);
	rig_fill(rig, 0, &group, program);
	task = usc_task(rig->usc, 0);
	for (u32 n = 0; n < SINGLE_SOURCES; n++) {
		if (v[n])
			memcpy(usc_attr(rig->usc, task, 0, n), v[n], ROW_BYTES);
	}
	usc_group_start(rig->usc, 0);
	rig_run(rig, 1000);
	assert_int_equal(rig->faults, 0);
	memcpy(out, rig->usc->unified + usc_wave_regs(task, 0), ROW_BYTES);
	rig_put(rig, program);
}

void single_at_each_level(void (*test)(struct rig *rig))
{
	for (enum gpu_level level = GPU_LEVEL_BASE; level < GPU_LEVELS; level++) {
		struct rig *rig;

		if (!gpu_level_usable(level))
			continue;
		usc_level_choose(level);
		rig = rig_create(4096);
		test(rig);
		rig_destroy(rig);
	}
}
