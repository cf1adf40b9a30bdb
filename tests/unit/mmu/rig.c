// SPDX-License-Identifier: MIT
/*
 * Fixture of the MMU tests. See rig.h.
 */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include "pumice_names.h"

struct rig *rig_create(void)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(rig->tm, &rig->mmu);
	return rig;
}

void rig_destroy(struct rig *rig)
{
	testmem_destroy(rig->tm);
	free(rig);
}

u8 *rig_translate(struct rig *rig, unsigned int ctx, u64 va, enum pumice_access access)
{
	memset(&rig->fault, 0, sizeof(rig->fault));
	return mmu_translate(&rig->mmu, &rig->tlb, ctx, va, access, PUMICE_UNIT_USC_DATA,
			     &rig->fault);
}

void rig_assert_fault(struct rig *rig, unsigned int ctx, u64 va, enum pumice_access access,
		      enum pumice_fault expected, const char *file, int line)
{
	u32 count = atomic_load(&rig->mmu.fault_count);

	if (rig_translate(rig, ctx, va, access)) {
		print_error("%#llx: no fault, expected %s\n", (unsigned long long)va,
			    pumice_fault_str(expected));
		_fail(file, line);
	}
	if (rig->fault.fault != expected) {
		print_error("%#llx: %s, expected %s\n", (unsigned long long)va,
			    pumice_fault_str(rig->fault.fault), pumice_fault_str(expected));
		_fail(file, line);
	}
	_assert_int_equal(rig->fault.ctx, ctx, file, line);
	_assert_int_equal(rig->fault.addr, va, file, line);
	_assert_int_equal(rig->fault.access, access, file, line);
	_assert_int_equal(rig->fault.unit, PUMICE_UNIT_USC_DATA, file, line);
	_assert_int_equal(atomic_load(&rig->mmu.fault_count), count + 1, file, line);
}
