/* SPDX-License-Identifier: MIT */
/* Advice about a failed job: see advice.c. */
#ifndef PUMICE_ADVICE_H
#define PUMICE_ADVICE_H

#include <stdint.h>

/* Return what to do about a fault, a sentence; or an empty string. */
const char *advice_fault(uint32_t fault);
/* Return the rule that a misaligned access of an operation broke, and what to do. */
const char *advice_alignment(uint32_t opcode);

#endif
