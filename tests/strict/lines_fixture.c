// SPDX-License-Identifier: MIT
/* Fixture of tests of lines. See lines_fixture.h. */
#include "lines_fixture.h"

struct testmem *tm;
struct mmu mmu;
struct lines *lines;
u8 *memory;
u64 at;
const struct lines_writer writer = { .unit = PUMICE_UNIT_USC_DATA, .pc = 7, .code = 9 };

int set_up(void **state)
{
	(void)state;
	memset(&mmu, 0, sizeof(mmu));
	tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(tm, &mmu);
	memory = testmem_map(tm, CTX, VA, BYTES, PUMICE_PAGE_SIZE_4K, 0);
	lines = lines_create(&mmu);
	at = 0;
	lines_job_begin(lines, CTX);
	return !lines;
}

int tear_down(void **state)
{
	(void)state;
	lines_destroy(lines);
	testmem_destroy(tm);
	return 0;
}

bool reads(u64 va, u64 bytes)
{
	return lines_read(lines, CTX, va, bytes, &at);
}

void announce_atomic(u64 va)
{
	lines_expect(lines, CTX, va, 4, false);
	lines_expect(lines, CTX, va, 4, true);
}

void end_of_a_job_handled(void)
{
	lines_job_end(lines, CTX, PUMICE_UNIT_CDM, PUMICE_WAVE_MASTER_CDM, 17, true);
	lines_job_reported(lines, PUMICE_UNIT_CDM);
	lines_job_handled(lines, PUMICE_UNIT_CDM);
}

void put(u64 va, const char *bytes)
{
	memcpy(memory + (va - VA), bytes, strlen(bytes));
}

void assert_memory(u64 va, const char *bytes)
{
	assert_memory_equal(memory + (va - VA), bytes, strlen(bytes));
}
