// SPDX-License-Identifier: MIT
/*
 * Times of jobs in struct fwif_context, as a host sees them that reads at any time: here after each
 * instruction of the firmware, whose processor a debugger steps.
 */
#include <string.h>

#include "fixture.h"
#include "fwctl/debug.h"
#include "gpu.h"
#include "lock.h"

#define INSTRUCTIONS	100000u	/* limit, far above those of the start of a job */
#define AFTER		1000u	/* instructions after the times were written */
#define STEPS		100000u	/* of all units, for one instruction: the processor may sleep */

/* The fields that change together. */
#define FIRST	offsetof(struct fwif_context, run_ticks)
#define BYTES	(offsetof(struct fwif_context, times_version) - FIRST)

static void no_call(void *opaque)
{
	(void)opaque;
}

/* Run until the processor has halted. Return: false if the GPU became idle before. */
static bool run_to_halt(struct fixture *r, struct fwctl_debug *debug)
{
	u32 i;

	for (i = 0; i < STEPS; i++) {
		if (fwctl_debug_halted(debug) != FWCTL_HALT_NONE)
			return true;
		fx_steps(r, 1);
	}
	return false;
}

/* The start of a job: a host that reads the same even version twice has read one set of times. */
static void times_of_one_version_do_not_change(void **state)
{
	struct fixture *r = fx_booted();
	struct fwctl_debug *debug = fwctl_debug(r->gpu->fw);
	u8 before[BYTES], after[BYTES];
	struct fx_context c;
	struct fx_vm vm;
	u32 odd = 0, i;

	(void)state;
	fx_vm(r, &vm);
	fx_context(r, &vm, 1, &c);
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_update(&c, c.object_addr, 1);
	memcpy(before, (u8 *)c.f + FIRST, BYTES);
	fwctl_debug_attach(debug, no_call, NULL);
	fwctl_debug_halt(debug);
	fx_put_kick(r, &c);
	fx_kick(r);
	for (i = 0; i < INSTRUCTIONS && run_to_halt(r, debug) && c.f->times_version < 2; i++) {
		if (c.f->times_version == 0)
			assert_memory_equal((u8 *)c.f + FIRST, before, BYTES);
		odd += c.f->times_version;
		fwctl_debug_resume(debug, true);
	}
	assert_int_equal(c.f->times_version, 2);
	/* It was odd at each of the stores. */
	assert_true(odd >= BYTES / 4);
	memcpy(after, (u8 *)c.f + FIRST, BYTES);
	assert_memory_not_equal(after, before, BYTES);
	for (i = 0; i < AFTER && run_to_halt(r, debug) && c.f->times_version == 2; i++) {
		assert_memory_equal((u8 *)c.f + FIRST, after, BYTES);
		fwctl_debug_resume(debug, true);
	}
	fwctl_debug_detach(debug);
	fx_finish(r);
	assert_int_equal(c.f->slices, 1);
	assert_int_equal(c.f->times_version, 4);	/* its end is published once */
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_one_version_do_not_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
