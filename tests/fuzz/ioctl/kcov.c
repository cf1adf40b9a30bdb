// SPDX-License-Identifier: MIT
/* Coverage of the driver by KCOV. See kcov.h. */
#include "kcov.h"

#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define ENTRIES		(64u * 1024)	/* of a trace; the first counts the others */
#define SET_BITS	20		/* bits that distinguish places */

static uint64_t reached[1u << (SET_BITS - 6)];
static uint32_t count;

#define KCOV_FILE	"/sys/kernel/debug/kcov"

bool kcov_is_available(void)
{
	return !access(KCOV_FILE, F_OK);
}

struct kcov kcov_open(void)
{
	struct kcov kcov = { .file = open(KCOV_FILE, O_RDWR | O_CLOEXEC) };

	if (kcov.file < 0)
		return kcov;
	CHECK(!ioctl(kcov.file, KCOV_INIT_TRACE, ENTRIES));
	kcov.trace = mmap(NULL, ENTRIES * sizeof(*kcov.trace), PROT_READ | PROT_WRITE,
			  MAP_SHARED, kcov.file, 0);
	CHECK(kcov.trace != MAP_FAILED);
	CHECK(!ioctl(kcov.file, KCOV_ENABLE, KCOV_TRACE_PC));
	return kcov;
}

void kcov_close(struct kcov *kcov)
{
	if (kcov->file < 0)
		return;
	CHECK(!ioctl(kcov->file, KCOV_DISABLE, 0));
	munmap(kcov->trace, ENTRIES * sizeof(*kcov->trace));
	close(kcov->file);
}

void kcov_begin(struct kcov *kcov)
{
	if (kcov->file >= 0)
		__atomic_store_n(&kcov->trace[0], 0, __ATOMIC_RELAXED);
}

/* Add an address to the set; multiplication distributes nearby addresses. */
static bool add(uint64_t pc)
{
	uint64_t hash = (pc * 0x9e3779b97f4a7c15ull) >> (64 - SET_BITS);
	uint64_t bit = 1ull << (hash & 63);

	if (__atomic_fetch_or(&reached[hash >> 6], bit, __ATOMIC_RELAXED) & bit)
		return false;
	__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
	return true;
}

bool kcov_end(struct kcov *kcov)
{
	uint64_t used, i;
	bool any = false;

	if (kcov->file < 0)
		return false;
	used = __atomic_load_n(&kcov->trace[0], __ATOMIC_RELAXED);
	for (i = 1; i <= used && i < ENTRIES; i++)
		any |= add(kcov->trace[i]);
	return any;
}

uint32_t kcov_reached(void)
{
	return __atomic_load_n(&count, __ATOMIC_RELAXED);
}
