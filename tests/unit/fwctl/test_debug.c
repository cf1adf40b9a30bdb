// SPDX-License-Identifier: MIT
/*
 * A debugger of the firmware processor: halts, accesses, and effects of a boot, of a reset and of
 * its departure. The test is every party: it steps the unit itself.
 */
#include "cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "../../../qemu-device/gpu/fwctl/debug.h"
#include "../../../qemu-device/gpu/fwctl/fwctl.h"
#include "../fwcpu/rvasm.h"
#include "testmem.h"

#define WINDOW_VA	0x100000ull
#define WINDOW		(PUMICE_FW_WINDOW_BASE + (u32)WINDOW_VA)

enum { T0 = 5 };

struct fixture {
	struct testmem *tm;
	struct mmu mmu;
	struct fwctl *fw;
	struct fwctl_debug *d;
	u32 *window;		/* one page of context 0 */
	bool locked;
	u32 wakes, halts, lockups;
};

static bool load(void *opaque, u32 offset, unsigned int size, u32 *value)
{
	(void)opaque;
	(void)offset;
	(void)size;
	*value = 0;
	return true;
}

static enum fwctl_store store(void *opaque, u32 offset, unsigned int size, u32 value)
{
	(void)opaque;
	(void)offset;
	(void)size;
	(void)value;
	return FWCTL_STORE_DONE;
}

static void lock(void *opaque)
{
	struct fixture *f = opaque;

	assert_false(f->locked);
	f->locked = true;
}

static void unlock(void *opaque)
{
	struct fixture *f = opaque;

	assert_true(f->locked);
	f->locked = false;
}

static void wake(void *opaque)
{
	((struct fixture *)opaque)->wakes++;
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
	(void)opaque;
	(void)image_bytes;
	(void)entry;
	assert_int_equal(error, PUMICE_FW_BOOT_ERROR_NONE);
}

static void lockup(void *opaque, u32 pc, u32 mcause)
{
	(void)pc;
	(void)mcause;
	((struct fixture *)opaque)->lockups++;
}

static void halted(void *opaque)
{
	struct fixture *f = opaque;

	assert_true(f->locked);
	f->halts++;
}

static const struct fwctl_ops ops = {
	.bus_load = load, .bus_store = store, .lock = lock, .unlock = unlock, .wake = wake,
	.set_deadline = set_deadline, .clock = clock_ticks, .booted = booted, .lockup = lockup,
};

/* A step of the unit that stops at its first look. Returns whether it has more to do. */
static bool step(struct fixture *f)
{
	const _Atomic bool stop = true;

	return fwctl_step(f->fw, &stop);
}

/* A processor that boots an image of two instructions in its next step, with a debugger. */
static void start(struct fixture *f, const u32 image[2])
{
	struct fwctl_config config = { .mmu = &f->mmu, .ops = &ops, .opaque = f };
	u64 bus;

	memset(f, 0, sizeof(*f));
	f->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(f->tm, &f->mmu);
	f->window = testmem_map(f->tm, 0, WINDOW_VA, 4096, PUMICE_PAGE_SIZE_4K, 0);
	config.mem = f->mmu.map;
	f->fw = fwctl_create(&config);
	assert_non_null(f->fw);
	f->d = fwctl_debug(f->fw);
	bus = testmem_alloc(f->tm, 8, 16);
	memcpy(testmem_host(f->tm, bus), image, 8);
	*fwctl_boot(f->fw) = (struct fwctl_boot){ .image_addr = bus, .image_size = 8 };
	fwctl_set_run(f->fw, true);
	fwctl_debug_attach(f->d, halted, f);
}

/* addi t0, t0, 1; j -4 */
static const u32 loop[] = { 0x00128293, 0xffdff06f };

static void end(struct fixture *f)
{
	fwctl_destroy(f->fw);
	testmem_destroy(f->tm);
}

static u32 reg(struct fixture *f, u32 number)
{
	u32 value = 0;

	assert_true(fwctl_debug_get(f->d, number, &value));
	return value;
}

static void a_halt_is_served_by_the_step(void **state)
{
	struct fixture f;
	u32 value, count;

	(void)state;
	start(&f, loop);
	assert_true(step(&f));
	assert_false(fwctl_debug_get(f.d, T0, &value));
	assert_int_equal(fwctl_debug_read(f.d, 0, &value, 4), 0);
	assert_int_equal(fwctl_debug_write(f.d, 0, &value, 4), 0);
	assert_int_equal(fwctl_debug_add_breakpoint(f.d, 0), -EBUSY);
	f.wakes = 0;
	fwctl_debug_halt(f.d);
	assert_int_equal(f.wakes, 1);
	assert_int_equal(fwctl_debug_halted(f.d), FWCTL_HALT_NONE);
	assert_false(step(&f));
	assert_int_equal(f.halts, 1);
	assert_int_equal(fwctl_debug_halted(f.d), FWCTL_HALT_REQUEST);
	count = reg(&f, T0);
	/* Woken by events it executes nothing, and does not halt again. */
	assert_false(step(&f));
	assert_int_equal(reg(&f, T0), count);
	fwctl_debug_halt(f.d);
	assert_false(step(&f));
	assert_int_equal(f.halts, 1);
	f.wakes = 0;
	fwctl_debug_resume(f.d, false);
	assert_int_equal(f.wakes, 1);
	assert_true(step(&f));
	end(&f);
}

static void a_step_is_one_instruction(void **state)
{
	struct fixture f;
	u32 pc;

	(void)state;
	start(&f, loop);
	fwctl_debug_halt(f.d);
	assert_false(step(&f));
	assert_int_equal(reg(&f, FWCTL_DEBUG_PC), 0);
	fwctl_debug_resume(f.d, true);
	assert_false(step(&f));
	assert_int_equal(fwctl_debug_halted(f.d), FWCTL_HALT_STEP);
	pc = reg(&f, FWCTL_DEBUG_PC);
	assert_int_equal(pc, 4);
	assert_int_equal(reg(&f, T0), 1);
	end(&f);
}

static void a_breakpoint_halts_each_time_it_is_reached(void **state)
{
	struct fixture f;
	u32 i;

	(void)state;
	start(&f, loop);
	fwctl_debug_halt(f.d);
	assert_false(step(&f));
	assert_int_equal(fwctl_debug_add_breakpoint(f.d, 4), 0);
	for (i = 1; i <= 3; i++) {
		fwctl_debug_resume(f.d, false);
		assert_false(step(&f));
		assert_int_equal(fwctl_debug_halted(f.d), FWCTL_HALT_BREAKPOINT);
		assert_int_equal(reg(&f, T0), i);
	}
	assert_int_equal(fwctl_debug_remove_breakpoint(f.d, 4), 0);
	assert_int_equal(fwctl_debug_remove_breakpoint(f.d, 4), -ENOENT);
	fwctl_debug_resume(f.d, false);
	assert_true(step(&f));
	end(&f);
}

static void without_a_debugger_there_are_no_breakpoints(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, loop);
	fwctl_debug_halt(f.d);
	assert_false(step(&f));
	assert_int_equal(fwctl_debug_add_breakpoint(f.d, 4), 0);
	fwctl_debug_detach(f.d);
	assert_true(step(&f));
	fwctl_debug_attach(f.d, halted, &f);
	assert_true(step(&f));
	/* Nor is a halt of the previous one served for the next one. */
	fwctl_debug_halt(f.d);
	fwctl_debug_detach(f.d);
	fwctl_debug_attach(f.d, halted, &f);
	assert_true(step(&f));
	assert_int_equal(f.halts, 1);
	end(&f);
}

static void a_boot_keeps_halt_and_breakpoints(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, loop);
	fwctl_debug_halt(f.d);
	assert_false(step(&f));
	assert_int_equal(fwctl_debug_add_breakpoint(f.d, 4), 0);
	fwctl_debug_resume(f.d, true);
	assert_false(step(&f));
	fwctl_set_run(f.fw, false);
	fwctl_set_run(f.fw, true);
	assert_false(step(&f));
	assert_int_equal(f.halts, 2);
	assert_int_equal(reg(&f, FWCTL_DEBUG_PC), 0);
	assert_int_equal(reg(&f, T0), 0);
	fwctl_debug_resume(f.d, false);
	assert_false(step(&f));
	assert_int_equal(fwctl_debug_halted(f.d), FWCTL_HALT_BREAKPOINT);
	end(&f);
}

static void a_stopped_processor_halts_and_does_not_step(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, loop);
	fwctl_debug_halt(f.d);
	assert_false(step(&f));
	fwctl_set_run(f.fw, false);
	fwctl_debug_resume(f.d, true);
	assert_false(step(&f));
	assert_int_equal(fwctl_debug_halted(f.d), FWCTL_HALT_STEP);
	assert_int_equal(reg(&f, T0), 0);
	end(&f);
}

static void a_reset_loses_no_request(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, loop);
	assert_true(step(&f));
	fwctl_debug_halt(f.d);
	f.wakes = 0;
	lock(&f);
	fwctl_reset(f.fw);
	unlock(&f);
	/* Wake-ups before the reset are forgotten. */
	assert_true(f.wakes);
	assert_false(step(&f));
	assert_int_equal(fwctl_debug_halted(f.d), FWCTL_HALT_REQUEST);
	/* A step that is not done ends. */
	fwctl_debug_resume(f.d, true);
	lock(&f);
	fwctl_reset(f.fw);
	unlock(&f);
	assert_int_equal(fwctl_debug_halted(f.d), FWCTL_HALT_STEP);
	end(&f);
}

static void a_lockup_halts(void **state)
{
	const u32 image[] = { ADDI(T0, T0, 1), ILLEGAL };
	struct fixture f;

	(void)state;
	start(&f, image);
	assert_false(step(&f));
	assert_int_equal(f.lockups, 1);
	assert_int_equal(fwctl_debug_halted(f.d), FWCTL_HALT_LOCKUP);
	assert_int_equal(reg(&f, FWCTL_DEBUG_PC), 4);
	end(&f);
}

static void memory_is_private_memory_and_the_window(void **state)
{
	u8 bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, back[8];
	struct fixture f;
	u32 word;

	(void)state;
	start(&f, loop);
	fwctl_debug_halt(f.d);
	assert_false(step(&f));
	assert_int_equal(fwctl_debug_read(f.d, 0, &word, 4), 4);
	assert_int_equal(word, loop[0]);
	/* Code that is changed is executed as changed. */
	word = ADDI(T0, T0, 100);
	assert_int_equal(fwctl_debug_write(f.d, 0, &word, 4), 4);
	fwctl_debug_resume(f.d, true);
	assert_false(step(&f));
	assert_int_equal(reg(&f, T0), 100);

	assert_int_equal(fwctl_debug_write(f.d, WINDOW + 4, bytes, 8), 8);
	assert_memory_equal(f.window + 1, bytes, 8);
	/* Up to the end of the mapped pages, of private memory, of the addresses. */
	assert_int_equal(fwctl_debug_read(f.d, WINDOW + 4092, back, 8), 4);
	assert_int_equal(fwctl_debug_read(f.d, PUMICE_FW_RAM_SIZE - 4, back, 8), 4);
	assert_int_equal(fwctl_debug_read(f.d, UINT32_MAX, back, 8), 0);
	assert_int_equal(fwctl_debug_read(f.d, PUMICE_FW_BUS_BASE, back, 4), 0);
	assert_int_equal(fwctl_debug_write(f.d, PUMICE_FW_BUS_BASE, back, 4), 0);
	assert_int_equal(atomic_load(&f.mmu.fault_count), 0);
	end(&f);
}

static void registers_are_read_and_written(void **state)
{
	struct fixture f;
	u32 value;

	(void)state;
	start(&f, loop);
	fwctl_debug_halt(f.d);
	assert_false(step(&f));
	assert_true(fwctl_debug_set(f.d, T0, 7));
	assert_true(fwctl_debug_set(f.d, 0, 7));
	assert_int_equal(reg(&f, 0), 0);
	assert_true(fwctl_debug_set(f.d, FWCTL_DEBUG_PC, 5));
	assert_int_equal(reg(&f, FWCTL_DEBUG_PC), 4);
	assert_true(fwctl_debug_set(f.d, FWCTL_DEBUG_CSR0 + MSCRATCH, 9));
	assert_int_equal(reg(&f, FWCTL_DEBUG_CSR0 + MSCRATCH), 9);
	assert_false(fwctl_debug_get(f.d, FWCTL_DEBUG_PC + 1, &value));
	assert_false(fwctl_debug_set(f.d, UINT32_MAX, 0));
	fwctl_debug_resume(f.d, true);
	assert_false(step(&f));
	assert_int_equal(reg(&f, FWCTL_DEBUG_PC), 0);
	assert_int_equal(reg(&f, T0), 7);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_halt_is_served_by_the_step),
		cmocka_unit_test(a_step_is_one_instruction),
		cmocka_unit_test(a_breakpoint_halts_each_time_it_is_reached),
		cmocka_unit_test(without_a_debugger_there_are_no_breakpoints),
		cmocka_unit_test(a_boot_keeps_halt_and_breakpoints),
		cmocka_unit_test(a_stopped_processor_halts_and_does_not_step),
		cmocka_unit_test(a_reset_loses_no_request),
		cmocka_unit_test(a_lockup_halts),
		cmocka_unit_test(memory_is_private_memory_and_the_window),
		cmocka_unit_test(registers_are_read_and_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
