// SPDX-License-Identifier: MIT
/*
 * Advice about a failed job: a sentence after the description of its fault.
 *
 * Limits: only for faults that usually have one cause; the descriptions are those of
 * hw/registers.xml.
 */
#include "advice.h"
#include "pumice_isa.h"

const char *advice_alignment(uint32_t opcode)
{
	switch (opcode) {
	case PUMICE_USC_OP_GLOBAL_LOAD16:
	case PUMICE_USC_OP_GLOBAL_STORE16:
		return "A 16-bit access needs a multiple of 2: shift the index left by 1.";
	case PUMICE_USC_OP_GLOBAL_LOAD32:
	case PUMICE_USC_OP_GLOBAL_STORE32:
	case PUMICE_USC_OP_GLOBAL_ATOMIC:
		return "A 32-bit access needs a multiple of 4: shift the index left by 2.";
	case PUMICE_USC_OP_GLOBAL_LOAD64:
	case PUMICE_USC_OP_GLOBAL_STORE64:
		return "A 64-bit access needs a multiple of 4: shift the index left by 3.";
	case PUMICE_USC_OP_GLOBAL_LOAD128:
	case PUMICE_USC_OP_GLOBAL_STORE128:
		return "A 128-bit access needs a multiple of 4: shift the index left by 4.";
	case PUMICE_USC_OP_GROUP_LOAD:
	case PUMICE_USC_OP_GROUP_STORE:
		return "The address in memory and that in local memory must be multiples of 4.";
	default:
		return "The address must be a multiple of 4.";
	}
}
