// SPDX-License-Identifier: MIT
/*
 * Fixture of the MMU tests. See fixture.h.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "pumice_names.h"

struct fixture *fx_create(void)
{
	struct fixture *fx = calloc(1, sizeof(*fx));

	assert_non_null(fx);
	fx->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(fx->tm, &fx->mmu);
	return fx;
}

void fx_destroy(struct fixture *fx)
{
	testmem_destroy(fx->tm);
	free(fx);
}

u8 *fx_translate(struct fixture *fx, unsigned int ctx, u64 va, enum pumice_access access)
{
	memset(&fx->fault, 0, sizeof(fx->fault));
	return mmu_translate(&fx->mmu, &fx->tlb, ctx, va, 1, access, PUMICE_UNIT_USC_DATA,
			     &fx->fault);
}

void fx_assert_fault(struct fixture *fx, unsigned int ctx, u64 va, enum pumice_access access,
		     enum pumice_fault expected, const char *file, int line)
{
	u32 count = atomic_load(&fx->mmu.fault_count);

	if (fx_translate(fx, ctx, va, access)) {
		print_error("%#llx: no fault, expected %s\n", (unsigned long long)va,
			    pumice_fault_str(expected));
		_fail(file, line);
	}
	if (fx->fault.fault != expected) {
		print_error("%#llx: %s, expected %s\n", (unsigned long long)va,
			    pumice_fault_str(fx->fault.fault), pumice_fault_str(expected));
		_fail(file, line);
	}
	_assert_int_equal(fx->fault.ctx, ctx, file, line);
	_assert_int_equal(fx->fault.addr, va, file, line);
	_assert_int_equal(fx->fault.access, access, file, line);
	_assert_int_equal(fx->fault.unit, PUMICE_UNIT_USC_DATA, file, line);
	_assert_int_equal(atomic_load(&fx->mmu.fault_count), count + 1, file, line);
}
