/* SPDX-License-Identifier: MIT */
/* Advice about a failed job: see advice.c. */
#ifndef PUMICE_ADVICE_H
#define PUMICE_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

/* Return what to do about a fault, a sentence; or an empty string. */
const char *advice_fault(uint32_t fault);
/*
 * Return the rule that an access of a unit broke which the MMU refused, or an empty string.
 * @found: the buffer that was meant is named before
 */
const char *advice_access(uint32_t fault, uint32_t unit, bool found);
/* Return the usual reason for an address that is near no buffer, or an empty string. */
const char *advice_address(uint64_t va, uint64_t va_end);
/* Return the rule that a misaligned access of an operation broke, and what to do. */
const char *advice_alignment(uint32_t opcode);

#endif
