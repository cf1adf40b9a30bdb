// SPDX-License-Identifier: MIT
/*
 * Latency of host accesses in the worst cases: a register access while a job loads the longest
 * possible programs, and parking while firmware issues the slowest commands.
 *
 * The assertions are that all of it completes, and that work is done in pieces; durations are
 * printed only, since they depend on the machine. The amount of work per piece is counted by
 * the tests of the blocks: fwctl_bounds, pm_pages, pds_dispatch, usc-cache.
 */
#include <string.h>
#include <time.h>

#include "../fwcpu/rvasm.h"
#undef SH	/* an instruction in the header, a register here */
#include "../usc/enc.h"
#include "job.h"

#define CODE		0x10000000ull	/* a program of maximum length */
#define LAUNCHES	12u
#define LISTS		40u		/* more than the PM caches */
#define LIST_PAGES	262144u
#define LIST_VA		0x10000u	/* in context 0 */
#define LINKS_VA	0x1000000u
#define PARKS		20u

static u64 host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

struct times {
	u64 worst, sum, count;
};

static void add(struct times *times, u64 ns)
{
	times->worst = ns > times->worst ? ns : times->worst;
	times->sum += ns;
	times->count++;
}

static void print(const char *what, const struct times *t)
{
	print_message("%s: worst %.3f ms, mean %.4f ms of %llu\n", what, (double)t->worst / 1e6,
		      (double)t->sum / 1e6 / (double)t->count, (unsigned long long)t->count);
}

static void read_register(struct fixture *fx, struct times *times)
{
	u64 start = host_ns();

	fx_read(fx, PUMICE_OS_IRQ_STATUS);
	add(times, host_ns() - start);
}

static void park(struct fixture *fx, struct times *times)
{
	u64 start = host_ns();

	pumice_gpu_park(fx->gpu);
	add(times, host_ns() - start);
	pumice_gpu_unpark(fx->gpu);
}

/* Launches of one program, each with another allocation, which changes its decoded form. */
static void write_job(struct fixture *fx)
{
	const struct pumice_pds_insn pds[2] = {
		{ .opcode = PUMICE_PDS_OP_TASK, .addr = CODE, .insns = PUMICE_USC_MAX_INSNS },
		{ .opcode = PUMICE_PDS_OP_END },
	};
	u32 *code = testmem_map(fx->tm, JOB_CTX, CODE, PUMICE_USC_MAX_INSNS * 16ull,
				PUMICE_PAGE_SIZE_4K, 0);
	struct pumice_mmu_pt_entry pt;
	u32 *at = job_stream(fx), *words, i;

	pumice_mmu_pt_entry_unpack64(*testmem_pt_entry(fx->tm, JOB_CTX, JOB_PDS), &pt);
	words = testmem_host(fx->tm, pt.addr);
	for (i = 0; i < 2; i++)
		pumice_pds_pack(words + i * PUMICE_PDS_WORDS, &pds[i]);
	usc_put(code, 0, INSN(END));
	for (i = 1; i < PUMICE_USC_MAX_INSNS; i++)
		usc_put(code, i, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = V(0)));
	for (i = 0; i < LAUNCHES; i++) {
		const struct pumice_cdm_state s = {
			.pds_addr = JOB_PDS, .pds_insns = 2, .temps = (u8)(1 + i), .attrs = 1,
			.size_x = 1, .size_y = 1, .size_z = 1,
		};
		const struct pumice_cdm_launch l = { .groups_x = 1, .groups_y = 1, .groups_z = 1 };

		pumice_cdm_state_pack(at, &s);
		at += PUMICE_CDM_STATE_WORDS;
		pumice_cdm_launch_pack(at, &l);
		at += PUMICE_CDM_LAUNCH_WORDS;
	}
	pumice_cdm_halt_pack(at, &(struct pumice_cdm_halt){ 0 });
}

static void registers_are_read_while_long_programs_are_loaded(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1, .threads = 2 });
	struct times reads = { 0 }, parks = { 0 };

	(void)state;
	job_map(fx);
	write_job(fx);
	fx_boot_proxy(fx);
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
	while (fx_read(fx, PUMICE_DBG_CDM_STATUS) & PUMICE_DBG_CDM_STATUS__BUSY__MASK) {
		read_register(fx, &reads);
		if (reads.count % 64 == 0)
			park(fx, &parks);
	}
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_DONE__MASK);
	assert_int_equal(fx_read(fx, PUMICE_DBG_CDM_GROUPS), LAUNCHES);
	assert_true(reads.count > 0);
	print("register read", &reads);
	if (parks.count)
		print("parking", &parks);
	fx_destroy(fx);
}

/* Firmware that grows one list after another: each must be read again. */
static void start_grower(struct fixture *fx)
{
	enum { T0 = 5, T1 = 6, S1 = 9 };
	const u32 grower[] = {
		LUI(S1, (PUMICE_FW_BUS_BASE + PUMICE_PM_UNIT_BASE) >> 12),
		LUI(T0, LIST_VA >> 12),
		LUI(T1, LIST_VA >> 12),
		ADDI(T1, T1, LISTS * 4),
		SW(T0, PUMICE_PM_LIST - PUMICE_PM_UNIT_BASE, S1),
		SW(0, PUMICE_PM_LIST - PUMICE_PM_UNIT_BASE + 4, S1),
		SW(0, PUMICE_PM_GROW - PUMICE_PM_UNIT_BASE, S1),
		ADDI(T0, T0, 64),
		ADDI(T1, T1, -4),
		LUI(10, LIST_VA >> 12),
		BNE(T1, 10, -6 * 4),
		JAL(0, -10 * 4),
	};

	fx_start(fx, grower, sizeof(grower) / sizeof(*grower), 0);
}

static void parking_does_not_wait_for_commands_of_the_firmware(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1, .threads = 2 });
	u32 *links = testmem_map(fx->tm, 0, LINKS_VA, LIST_PAGES * 4, PUMICE_PAGE_SIZE_4K, 0);
	u32 *lists = testmem_map(fx->tm, 0, LIST_VA, 4096, PUMICE_PAGE_SIZE_4K, 0), i;
	const struct pumice_free_list list = {
		.base = 0x10000000, .pages = LIST_PAGES, .fresh = LIST_PAGES, .free = LIST_PAGES,
		.max_pages = LIST_PAGES, .links = LINKS_VA,
	};
	struct times reads = { 0 }, parks = { 0 };
	u64 before;

	(void)state;
	for (i = 0; i < LIST_PAGES; i++)
		links[i] = i + 1 < LIST_PAGES ? i + 1 : PUMICE_PM_NO_PAGE;
	for (i = 0; i < LISTS; i++)
		pumice_free_list_pack(lists + i * 16, &list);
	start_grower(fx);
	for (i = 0; i < PARKS; i++) {
		before = fx_read(fx, PUMICE_FW_INSTRET);
		while (fx_read(fx, PUMICE_FW_INSTRET) - before < 12)
			read_register(fx, &reads);
		park(fx, &parks);
	}
	assert_int_equal(fx_read(fx, PUMICE_FW_STATUS),
			 PUMICE_FIELD_PREP(PUMICE_FW_STATUS__STATE, PUMICE_FW_STATE_RUNNING));
	print("register read", &reads);
	print("parking", &parks);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_are_read_while_long_programs_are_loaded),
		cmocka_unit_test(parking_does_not_wait_for_commands_of_the_firmware),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
