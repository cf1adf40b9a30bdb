// SPDX-License-Identifier: MIT
/*
 * Vector level of every host: 128-bit vectors, without any special instruction.
 *
 * Source: see level.h.
 */
#ifdef __SSE2__
#include <immintrin.h>
#endif

#define VEC_BYTES 16
#define USC_LEVEL_OPS usc_level_base
#include "level.h"
