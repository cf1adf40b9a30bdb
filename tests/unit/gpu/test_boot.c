// SPDX-License-Identifier: MIT
/*
 * Boot ROM, run control, lockup, timer and window of the firmware processor, as
 * accessed by the host.
 */
#include "fixture.h"

#include <string.h>

#include "../fwcpu/rvasm.h"

#define WORDS(image) ((u32)(sizeof(image) / sizeof(*(image))))
#define STATE(name) PUMICE_FIELD_PREP(PUMICE_FW_STATUS__STATE, PUMICE_FW_STATE_##name)
#define ERROR(name) PUMICE_FIELD_PREP(PUMICE_FW_STATUS__BOOT_ERROR, PUMICE_FW_BOOT_ERROR_##name)

enum { T0 = 5, T1 = 6, A0 = 10, A1 = 11, S1 = 9 };

/* Firmware that sleeps forever. */
static void start_sleeper(struct fixture *fx)
{
	const u32 sleeper[] = { WFI, JAL(0, -4) };

	fx_start(fx, sleeper, WORDS(sleeper), 0);
}

static void invalid_images_are_refused_with_their_error(void **state)
{
	static const struct {
		u64 addr;	/* 0: a valid one */
		u32 size, entry;
		u64 status;
	} cases[] = {
		{ 0, 0, 0, ERROR(SIZE) },
		{ 0, 6, 0, ERROR(SIZE) },
		{ 0, PUMICE_FW_RAM_SIZE + 4, 0, ERROR(SIZE) },
		{ 0, 0xfffffffc, 0, ERROR(SIZE) },
		{ 0, 16, 16, ERROR(ENTRY) },
		{ 0, 16, 5, ERROR(ENTRY) },
		{ 0, 16, 0xfffffffe, ERROR(ENTRY) },
		{ TESTMEM_BASE + 8, 16, 0, ERROR(ADDR) },
		{ TESTMEM_BASE - 16, 32, 0, ERROR(ADDR) },
		{ TESTMEM_BASE + TESTMEM_SIZE - 16, 32, 0, ERROR(ADDR) },
		{ 0xfffffffffffffff0, 32, 0, ERROR(ADDR) },
	};
	struct fixture *fx = fx_create(NULL);
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fx_write(fx, PUMICE_FW_IMAGE_ADDR, cases[i].addr ? cases[i].addr :
						     testmem_alloc(fx->tm, 4096, 4096));
		fx_write(fx, PUMICE_FW_IMAGE_SIZE, cases[i].size);
		fx_write(fx, PUMICE_FW_ENTRY, cases[i].entry);
		fx_write(fx, PUMICE_FW_CTRL, PUMICE_FW_CTRL__RUN__MASK);
		assert_int_equal(fx_drain(fx), UINT64_MAX);
		assert_int_equal(fx_read(fx, PUMICE_FW_STATUS),
				 STATE(BOOT_FAILED) | cases[i].status);
		fx_write(fx, PUMICE_FW_CTRL, 0);
		assert_int_equal(fx_read(fx, PUMICE_FW_STATUS), STATE(OFF));
	}
	fx_destroy(fx);
}

static void the_largest_image_boots(void **state)
{
	struct fixture *fx = fx_create(NULL);
	static u32 image[PUMICE_FW_RAM_SIZE / 4];

	(void)state;
	image[WORDS(image) - 2] = WFI;
	image[WORDS(image) - 1] = JAL(0, -4);
	fx_start(fx, image, WORDS(image), PUMICE_FW_RAM_SIZE - 8);
	assert_int_equal(fx_drain(fx), UINT64_MAX);
	assert_int_equal(fx_read(fx, PUMICE_FW_STATUS), STATE(RUNNING));
	assert_int_equal(fx_read(fx, PUMICE_FW_PC), PUMICE_FW_RAM_SIZE - 4);
	fx_destroy(fx);
}

/*
 * Stores a0, a1, the word after the image, and sp to the mailbox; then writes to that word,
 * which must not be visible to the next firmware.
 */
static void start_report(struct fixture *fx)
{
	const u32 report[] = {
		NOP,
		LUI(S1, (PUMICE_FW_WINDOW_BASE + FX_MAILBOX) >> 12),
		SW(A0, 0, S1),
		SW(A1, 4, S1),
		LW(T0, 10 * 4, 0),
		SW(T0, 8, S1),
		SW(2, 12, S1),
		SW(S1, 10 * 4, 0),
		WFI,
		JAL(0, -4),
	};

	fx_start(fx, report, WORDS(report), 4);
}

static void firmware_starts_at_its_entry_with_the_argument_and_clear_memory(void **state)
{
	struct fixture *fx = fx_create(NULL);
	u32 *mail = testmem_map(fx->tm, 0, FX_MAILBOX, 4096, PUMICE_PAGE_SIZE_4K, 0);
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		memset(mail, 0xff, 16);
		fx_write(fx, PUMICE_FW_BOOT_ARG, 0x123456789abcdef0);
		start_report(fx);
		fx_drain(fx);
		assert_int_equal(mail[0], 0x9abcdef0);
		assert_int_equal(mail[1], 0x12345678);
		assert_int_equal(mail[2], 0);
		assert_int_equal(mail[3], 0);
		assert_int_equal(fx_read(fx, PUMICE_FW_INSTRET), 8);
	}
	fx_destroy(fx);
}

static void run_latches_the_boot_registers(void **state)
{
	struct fixture *fx = fx_create(NULL);

	(void)state;
	start_sleeper(fx);
	fx_write(fx, PUMICE_FW_IMAGE_ADDR, 0);
	fx_write(fx, PUMICE_FW_IMAGE_SIZE, 0);
	fx_write(fx, PUMICE_FW_ENTRY, 1);
	fx_drain(fx);
	assert_int_equal(fx_read(fx, PUMICE_FW_STATUS), STATE(RUNNING));
	fx_destroy(fx);
}

static void writing_run_starts_nothing_inline(void **state)
{
	struct fixture *fx = fx_create(NULL);

	(void)state;
	start_sleeper(fx);
	assert_int_equal(fx_read(fx, PUMICE_FW_STATUS), STATE(OFF));
	assert_int_equal(fx_read(fx, PUMICE_FW_INSTRET), 0);
	assert_true(fx->kicks > 0);
	fx_write(fx, PUMICE_FW_CTRL, 0);
	fx_drain(fx);
	assert_int_equal(fx_read(fx, PUMICE_FW_STATUS), STATE(OFF));
	assert_int_equal(fx_read(fx, PUMICE_FW_INSTRET), 0);
	fx_destroy(fx);
}

static void a_stopped_processor_runs_no_further(void **state)
{
	const u32 counter[] = { ADDI(T0, T0, 1), JAL(0, -4) };
	unsigned int threads;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .threads = threads });
		u64 count;

		fx_start(fx, counter, WORDS(counter), 0);
		fx_wait_reg(fx, PUMICE_FW_STATUS, PUMICE_FW_STATUS__STATE__MASK, STATE(RUNNING));
		fx_write(fx, PUMICE_FW_CTRL, 0);
		assert_int_equal(fx_read(fx, PUMICE_FW_STATUS), STATE(OFF));
		count = fx_read(fx, PUMICE_FW_INSTRET);
		fx_write(fx, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK);
		if (threads)
			pumice_gpu_park(fx->gpu);
		else
			fx_drain(fx);
		assert_int_equal(fx_read(fx, PUMICE_FW_INSTRET), count);
		if (threads)
			pumice_gpu_unpark(fx->gpu);
		fx_destroy(fx);
	}
}

static void a_lockup_reports_address_and_cause_and_interrupts_the_host(void **state)
{
	const u32 bad[] = { NOP, NOP, ILLEGAL };
	struct fixture *fx = fx_create(NULL);

	(void)state;
	fx_write(fx, PUMICE_OS_IRQ_ENABLE, PUMICE_OS_IRQ_ENABLE__LOCKUP__MASK);
	fx_start(fx, bad, WORDS(bad), 0);
	assert_int_equal(fx_drain(fx), UINT64_MAX);
	assert_int_equal(fx_read(fx, PUMICE_FW_STATUS), STATE(LOCKUP));
	assert_int_equal(fx_read(fx, PUMICE_FW_PC), 8);
	assert_int_equal(fx_read(fx, PUMICE_FW_CAUSE), CAUSE_ILLEGAL);
	assert_int_equal(fx_read(fx, PUMICE_OS_IRQ_STATUS), PUMICE_OS_IRQ_STATUS__LOCKUP__MASK);
	assert_int_equal(fx->irqs[0], 1);
	/* Events do not wake a locked-up processor, and the lockup is reported once. */
	fx_write(fx, PUMICE_OS_IRQ_CLEAR, PUMICE_OS_IRQ_CLEAR__LOCKUP__MASK);
	fx_write(fx, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK);
	fx_drain(fx);
	assert_int_equal(fx_read(fx, PUMICE_OS_IRQ_STATUS), 0);
	assert_int_equal(fx->irqs[0], 1);
	/* A new boot does. */
	start_sleeper(fx);
	fx_drain(fx);
	assert_int_equal(fx_read(fx, PUMICE_FW_STATUS), STATE(RUNNING));
	assert_int_equal(fx_read(fx, PUMICE_FW_CAUSE), 0);
	fx_destroy(fx);
}

static void unmapped_window_addresses_are_access_faults(void **state)
{
	const u32 load[] = { LUI(T0, PUMICE_FW_WINDOW_BASE >> 12), LW(T1, 0, T0) };
	const u32 store[] = { LUI(T0, PUMICE_FW_WINDOW_BASE >> 12), SW(T1, 0, T0) };
	struct fixture *fx = fx_create(NULL);

	(void)state;
	fx_start(fx, load, WORDS(load), 0);
	fx_drain(fx);
	assert_int_equal(fx_read(fx, PUMICE_FW_CAUSE), CAUSE_LOAD_ACCESS);
	assert_int_equal(fx_read(fx, PUMICE_MMU_FAULT_COUNT), 1);
	testmem_map(fx->tm, 0, 0, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	fx_start(fx, store, WORDS(store), 0);
	fx_drain(fx);
	assert_int_equal(fx_read(fx, PUMICE_FW_CAUSE), CAUSE_STORE_ACCESS);
	assert_int_equal(fx_read(fx, PUMICE_MMU_FAULT_COUNT), 2);
	fx_destroy(fx);
}

/* Stores the word at VA 0x2000 to the mailbox for each host event. */
static void start_reader(struct fixture *fx)
{
	const u32 reader[] = {
		/* 0 */ LUI(S1, (PUMICE_FW_WINDOW_BASE + FX_MAILBOX) >> 12),
		/* 1 */ LUI(8, (PUMICE_FW_BUS_BASE + PUMICE_IC_UNIT_BASE) >> 12),
		/* 2 */ LUI(T0, 1),
		/* 3 */ ADDI(T0, T0, -BIT_EXTERNAL),
		/* 4 */ CSRRW(0, MIE, T0),
		/* 5 */ ADDI(T1, 0, PUMICE_IC_ENABLE__HOST__MASK),
		/* 6 */ SW(T1, PUMICE_IC_ENABLE - PUMICE_IC_UNIT_BASE, 8),
		/* 7 */ LUI(T0, 1),
		/* 8 */ ADDI(T0, T0, 0),
		/* 9 */ rv_r(0x33, T0, T0, S1),	/* add */
		/* 10 */ LW(T0, 0, T0),
		/* 11 */ SW(T0, 0, S1),
		/* 12 */ SW(T1, PUMICE_IC_CLEAR - PUMICE_IC_UNIT_BASE, 8),
		/* 13 */ WFI,
		/* 14 */ JAL(0, -7 * 4),
	};

	fx_start(fx, reader, WORDS(reader), 0);
}

static void the_window_is_translated_again_after_invalidation_only(void **state)
{
	static const u32 ops[] = { PUMICE_MMU_INVAL_ALL, PUMICE_MMU_INVAL_CONTEXT,
				   PUMICE_MMU_INVAL_RANGE };
	struct fixture *fx = fx_create(NULL);
	u32 *mail = testmem_map(fx->tm, 0, FX_MAILBOX, 4096, PUMICE_PAGE_SIZE_4K, 0);
	u32 *page[4], i;

	(void)state;
	for (i = 0; i < 4; i++) {
		page[i] = testmem_map(fx->tm, 0, 0x2000, 4096, PUMICE_PAGE_SIZE_4K, 0);
		*page[i] = 100 + i;
	}
	testmem_map_bus(fx->tm, 0, 0x2000, testmem_bus(fx->tm, page[0]), 4096,
			PUMICE_PAGE_SIZE_4K, 0);
	start_reader(fx);
	fx_drain(fx);
	assert_int_equal(mail[0], 100);
	for (i = 1; i < 4; i++) {
		testmem_map_bus(fx->tm, 0, 0x2000, testmem_bus(fx->tm, page[i]), 4096,
				PUMICE_PAGE_SIZE_4K, 0);
		fx_write(fx, PUMICE_OS_SCHEDULE, 1);
		fx_drain(fx);
		assert_int_equal(mail[0], 100 + i - 1);
		/* Another context's entries are not affected. */
		fx_write(fx, PUMICE_MMU_INVAL,
			 PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__OP, PUMICE_MMU_INVAL_CONTEXT) |
				 PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__CTX, 1));
		fx_write(fx, PUMICE_OS_SCHEDULE, 1);
		fx_drain(fx);
		assert_int_equal(mail[0], 100 + i - 1);
		fx_write(fx, PUMICE_MMU_INVAL_START, 0x2000);
		fx_write(fx, PUMICE_MMU_INVAL_END, 0x2000);
		fx_write(fx, PUMICE_MMU_INVAL,
			 PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__OP, ops[i - 1]));
		fx_write(fx, PUMICE_OS_SCHEDULE, 1);
		fx_drain(fx);
		assert_int_equal(mail[0], 100 + i);
	}
	fx_destroy(fx);
}

/* Sets TIMECMP to 5000 ticks, enables the timer interrupt, and counts wake-ups. */
static void start_timer(struct fixture *fx)
{
	const u32 timer[] = {
		/* 0 */ LUI(S1, (PUMICE_FW_WINDOW_BASE + FX_MAILBOX) >> 12),
		/* 1 */ LUI(8, (PUMICE_FW_BUS_BASE + PUMICE_IC_UNIT_BASE) >> 12),
		/* 2 */ SW(0, PUMICE_IC_TIMECMP - PUMICE_IC_UNIT_BASE + 4, 8),
		/* 3 */ LUI(T0, 1),
		/* 4 */ ADDI(T0, T0, 5000 - 4096),
		/* 5 */ SW(T0, PUMICE_IC_TIMECMP - PUMICE_IC_UNIT_BASE, 8),
		/* 6 */ ADDI(T0, 0, BIT_TIMER),
		/* 7 */ CSRRW(0, MIE, T0),
		/* 8 */ WFI,
		/* 9 */ ADDI(T1, 0, -1),
		/* 10 */ SW(T1, PUMICE_IC_TIMECMP - PUMICE_IC_UNIT_BASE + 4, 8),
		/* 11 */ LW(T0, 0, S1),
		/* 12 */ ADDI(T0, T0, 1),
		/* 13 */ SW(T0, 0, S1),
		/* 14 */ JAL(0, -6 * 4),
	};

	fx_start(fx, timer, WORDS(timer), 0);
}

static void the_timer_wakes_the_processor_and_its_deadline_is_reported(void **state)
{
	struct fixture *fx;
	u32 *mail;

	(void)state;
	fx = fx_create(&(struct fx_options){ .manual_clock = true });
	mail = testmem_map(fx->tm, 0, FX_MAILBOX, 4096, PUMICE_PAGE_SIZE_4K, 0);
	start_timer(fx);
	assert_int_equal(fx_drain(fx), 5000);
	atomic_store(&fx->clock, 4999);
	assert_int_equal(fx_drain(fx), 1);
	assert_int_equal(mail[0], 0);
	atomic_store(&fx->clock, 5000);
	/* It sleeps until about 2^64 - 1, which must not overflow. */
	assert_true(fx_drain(fx) > 1ull << 62);
	assert_int_equal(mail[0], 1);
	fx_destroy(fx);
}

static void the_timer_wakes_a_worker_too(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .threads = 1 });
	u32 *mail = testmem_map(fx->tm, 0, FX_MAILBOX, 4096, PUMICE_PAGE_SIZE_4K, 0);

	(void)state;
	start_timer(fx);
	/* 8 instructions to the WFI, 7 more after it. */
	fx_wait_reg(fx, PUMICE_FW_INSTRET, UINT64_MAX, 16);
	pumice_gpu_park(fx->gpu);
	assert_int_equal(mail[0], 1);
	pumice_gpu_unpark(fx->gpu);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invalid_images_are_refused_with_their_error),
		cmocka_unit_test(the_largest_image_boots),
		cmocka_unit_test(firmware_starts_at_its_entry_with_the_argument_and_clear_memory),
		cmocka_unit_test(run_latches_the_boot_registers),
		cmocka_unit_test(writing_run_starts_nothing_inline),
		cmocka_unit_test(a_stopped_processor_runs_no_further),
		cmocka_unit_test(a_lockup_reports_address_and_cause_and_interrupts_the_host),
		cmocka_unit_test(unmapped_window_addresses_are_access_faults),
		cmocka_unit_test(the_window_is_translated_again_after_invalidation_only),
		cmocka_unit_test(the_timer_wakes_the_processor_and_its_deadline_is_reported),
		cmocka_unit_test(the_timer_wakes_a_worker_too),
	};

	return cmocka_run_group_tests_name("gpu boot", tests, NULL, NULL);
}
