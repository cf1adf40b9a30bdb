// SPDX-License-Identifier: MIT
/*
 * Amount of work that firmware does between two checks of the stop flag of its step. Parking,
 * resets and changes of the memory map wait for the end of a step with QEMU's big lock
 * held, so the amount must be small for any firmware.
 *
 * The stop flag is set before the step begins: the work of the step is then the work
 * between two checks.
 */
#include "cmocka_all.h"

#include <string.h>

#include "../../../qemu-device/gpu/fwctl/fwctl.h"
#include "../../../qemu-device/gpu/fwcpu/fwcpu.h"
#include "../fwcpu/rvasm.h"
#include "testmem.h"

#define WORDS(image)	((u32)(sizeof(image) / sizeof(*(image))))
#define WINDOW_PAGES	(FWCPU_TLB_ENTRIES + 1u)
#define WINDOW_VA	0x100000ull

enum { T0 = 5, S0 = 8, S1 = 9 };

struct fixture {
	struct testmem *tm;
	struct mmu mmu;
	struct fwctl *fw;
	u32 *window;		/* WINDOW_PAGES pages of context 0 */
	bool locked;
	u32 loads, stores;
	enum fwctl_store result;
	u32 pieces;		/* with FWCTL_STORE_AGAIN: number of times before it is done */
	/* The host starts the processor again while the boot ROM works, with this. */
	const struct fwctl_boot *again;
	u32 boots, booted_entry;	/* reported by the boot ROM */
};

static bool load(void *opaque, u32 offset, unsigned int size, u32 *value)
{
	struct fixture *fx = opaque;

	(void)offset;
	(void)size;
	assert_false(fx->locked);
	fx->loads++;
	*value = 0;
	return true;
}

static enum fwctl_store store(void *opaque, u32 offset, unsigned int size, u32 value)
{
	struct fixture *fx = opaque;

	(void)offset;
	(void)size;
	(void)value;
	assert_false(fx->locked);
	fx->stores++;
	if (fx->result == FWCTL_STORE_AGAIN && fx->stores % fx->pieces == 0)
		return FWCTL_STORE_DONE;
	return fx->result;
}

static void lock(void *opaque)
{
	struct fixture *fx = opaque;

	assert_false(fx->locked);
	fx->locked = true;
}

static void unlock(void *opaque)
{
	struct fixture *fx = opaque;
	const struct fwctl_boot *again = fx->again;

	fx->again = NULL;
	if (again) {	/* another thread, as soon as it gets the lock */
		fwctl_set_run(fx->fw, false);
		*fwctl_boot(fx->fw) = *again;
		fwctl_set_run(fx->fw, true);
	}
	fx->locked = false;
}

static void wake(void *opaque)
{
	(void)opaque;
}

static void set_deadline(void *opaque, u64 deadline)
{
	(void)opaque;
	(void)deadline;
}

static u64 clock_ticks(void *opaque)
{
	(void)opaque;
	return 0;
}

static void booted(void *opaque, u32 image_bytes, u32 entry, enum pumice_fw_boot_error error)
{
	struct fixture *fx = opaque;

	(void)image_bytes;
	fx->boots++;
	fx->booted_entry = entry;
	assert_int_equal(error, PUMICE_FW_BOOT_ERROR_NONE);
}

static void lockup(void *opaque, u32 pc, u32 mcause)
{
	(void)opaque;
	fail_msg("lockup at 0x%x, cause 0x%x", pc, mcause);
}

static const struct fwctl_ops ops = {
	.bus_load = load, .bus_store = store, .lock = lock, .unlock = unlock, .wake = wake,
	.set_deadline = set_deadline, .clock = clock_ticks, .booted = booted, .lockup = lockup,
};

/* A processor that runs the image from its next step on. */
static void start(struct fixture *fx, const u32 *image, u32 words)
{
	struct fwctl_config config = { .mmu = &fx->mmu, .ops = &ops, .opaque = fx };
	u64 bus;

	memset(fx, 0, sizeof(*fx));
	fx->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(fx->tm, &fx->mmu);
	fx->window = testmem_map(fx->tm, 0, WINDOW_VA, WINDOW_PAGES * 4096, PUMICE_PAGE_SIZE_4K, 0);
	config.mem = fx->mmu.map;
	fx->fw = fwctl_create(&config);
	assert_non_null(fx->fw);
	bus = testmem_alloc(fx->tm, words * 4, 16);
	memcpy(testmem_host(fx->tm, bus), image, words * 4);
	*fwctl_boot(fx->fw) = (struct fwctl_boot){ .image_addr = bus, .image_size = words * 4 };
	fwctl_set_run(fx->fw, true);
}

static void end(struct fixture *fx)
{
	fwctl_destroy(fx->fw);
	testmem_destroy(fx->tm);
}

/* Run a step that has to stop at its first check; return the number of retired instructions. */
static u64 stopped_step(struct fixture *fx)
{
	const _Atomic bool stop = true;
	struct fwctl_status before, after;

	fwctl_status(fx->fw, &before);
	assert_true(fwctl_step(fx->fw, &stop));
	fwctl_status(fx->fw, &after);
	assert_int_equal(after.state, PUMICE_FW_STATE_RUNNING);
	return after.instret - before.instret;
}

static void plain_instructions_are_a_slice(void **state)
{
	const u32 image[] = { NOP, JAL(0, -4) };
	struct fixture fx;

	(void)state;
	start(&fx, image, WORDS(image));
	assert_int_equal(stopped_step(&fx), FWCTL_SLICE_INSNS);
	assert_int_equal(stopped_step(&fx), FWCTL_SLICE_INSNS);
	end(&fx);
}

static void stores_to_registers_are_counted_one_by_one(void **state)
{
	const u32 image[] = { LUI(S0, PUMICE_FW_BUS_BASE >> 12), SW(T0, 0, S0), JAL(0, -4) };
	struct fixture fx;
	u32 i;

	(void)state;
	start(&fx, image, WORDS(image));
	for (i = 1; i <= 3; i++) {
		stopped_step(&fx);
		assert_int_equal(fx.stores, i * FWCPU_SLOW_MAX);
	}
	end(&fx);
}

/* A stretch of FWCPU_POLL_INTERVAL instructions is half loads here. */
static void loads_of_registers_are_counted_by_the_interval(void **state)
{
	const u32 image[] = { LUI(S0, PUMICE_FW_BUS_BASE >> 12), LW(T0, 0, S0), JAL(0, -4) };
	struct fixture fx;

	(void)state;
	start(&fx, image, WORDS(image));
	stopped_step(&fx);
	assert_in_range(fx.loads, FWCPU_SLOW_MAX, FWCPU_SLOW_MAX + FWCPU_POLL_INTERVAL / 2);
	end(&fx);
}

static void a_store_that_waits_for_other_units_is_the_last(void **state)
{
	const u32 image[] = { LUI(S0, PUMICE_FW_BUS_BASE >> 12), SW(T0, 0, S0), JAL(0, -4) };
	struct fixture fx;

	(void)state;
	start(&fx, image, WORDS(image));
	fx.result = FWCTL_STORE_LONG;
	stopped_step(&fx);
	assert_int_equal(fx.stores, 1);
	end(&fx);
}

/* The instruction retires once, when the command is done. */
static void a_command_in_pieces_is_one_piece_at_a_time(void **state)
{
	const u32 image[] = {
		LUI(S0, PUMICE_FW_BUS_BASE >> 12), SW(T0, 0, S0), NOP, NOP, NOP, JAL(0, -4 * 4),
	};
	struct fixture fx;
	u32 i;

	(void)state;
	start(&fx, image, WORDS(image));
	fx.result = FWCTL_STORE_AGAIN;
	fx.pieces = 10;
	assert_int_equal(stopped_step(&fx), 1);	/* lui */
	for (i = 2; i < fx.pieces; i++) {
		assert_int_equal(stopped_step(&fx), 0);
		assert_int_equal(fx.stores, i);
	}
	assert_int_equal(stopped_step(&fx), 5);	/* the store, and on to the next one */
	assert_int_equal(fx.stores, fx.pieces + 1);
	end(&fx);
}

/* Without a request to stop it is done in a few steps. */
static void a_command_in_pieces_completes(void **state)
{
	const u32 image[] = { LUI(S0, PUMICE_FW_BUS_BASE >> 12), SW(T0, 0, S0), WFI };
	const _Atomic bool stop = false;
	struct fixture fx;
	u32 steps = 0;

	(void)state;
	start(&fx, image, WORDS(image));
	fx.result = FWCTL_STORE_AGAIN;
	fx.pieces = 100;
	while (fwctl_step(fx.fw, &stop))
		assert_in_range(++steps, 1, fx.pieces);
	assert_int_equal(fx.stores, fx.pieces);
	end(&fx);
}

static void fence_i_is_slow(void **state)
{
	const u32 image[] = { FENCE_I, JAL(0, -4) };
	struct fixture fx;

	(void)state;
	start(&fx, image, WORDS(image));
	assert_int_equal(stopped_step(&fx), 2 * FWCPU_SLOW_MAX - 1);
	end(&fx);
}

/* Each load misses the processor's own TLB: all pages share one entry. */
static void pages_of_the_window_are_slow(void **state)
{
	const u32 image[] = {
		LUI(S0, (PUMICE_FW_WINDOW_BASE + WINDOW_VA) >> 12),
		LUI(S1, (PUMICE_FW_WINDOW_BASE + WINDOW_VA + FWCPU_TLB_ENTRIES * 4096) >> 12),
		LW(T0, 0, S0), LW(T0, 0, S1), JAL(0, -2 * 4),
	};
	struct fixture fx;
	u64 insns;

	(void)state;
	start(&fx, image, WORDS(image));
	insns = stopped_step(&fx);
	assert_in_range(insns, FWCPU_SLOW_MAX, FWCPU_SLOW_MAX * 3 / 2 + FWCPU_POLL_INTERVAL);
	end(&fx);
}

/* Without the lock the boot ROM copies; the host changes the image meanwhile. */
static void a_boot_during_a_boot_cancels_the_first(void **state)
{
	const u32 image[] = { NOP, JAL(0, -4), NOP, NOP, JAL(0, -4) };
	const _Atomic bool stop = true;
	struct fwctl_status status;
	struct fwctl_boot again;
	struct fixture fx;

	(void)state;
	start(&fx, image, WORDS(image));
	again = *fwctl_boot(fx.fw);
	again.entry = 3 * 4;
	fx.again = &again;
	assert_false(fwctl_step(fx.fw, &stop));
	assert_int_equal(fx.boots, 0);
	fwctl_status(fx.fw, &status);
	assert_int_equal(status.state, PUMICE_FW_STATE_OFF);
	assert_int_equal(status.instret, 0);
	assert_true(fwctl_step(fx.fw, &stop));
	assert_int_equal(fx.boots, 1);
	assert_int_equal(fx.booted_entry, 3 * 4);
	fwctl_status(fx.fw, &status);
	assert_int_equal(status.state, PUMICE_FW_STATE_RUNNING);
	assert_in_range(status.pc, 3 * 4, 4 * 4);
	end(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_instructions_are_a_slice),
		cmocka_unit_test(stores_to_registers_are_counted_one_by_one),
		cmocka_unit_test(loads_of_registers_are_counted_by_the_interval),
		cmocka_unit_test(a_store_that_waits_for_other_units_is_the_last),
		cmocka_unit_test(a_command_in_pieces_is_one_piece_at_a_time),
		cmocka_unit_test(a_command_in_pieces_completes),
		cmocka_unit_test(fence_i_is_slow),
		cmocka_unit_test(pages_of_the_window_are_slow),
		cmocka_unit_test(a_boot_during_a_boot_cancels_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
