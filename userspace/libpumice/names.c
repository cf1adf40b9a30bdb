// SPDX-License-Identifier: MIT
/* Names of faults, units and accesses: those of hw/registers.xml. */
#include "pumice/pumice.h"
#include "pumice_names.h"

const char *pumice_fault_name(uint32_t fault)
{
	return pumice_fault_str(fault);
}

const char *pumice_unit_name(uint32_t unit)
{
	return pumice_unit_str(unit);
}

const char *pumice_access_name(uint32_t access)
{
	return pumice_access_str(access);
}
