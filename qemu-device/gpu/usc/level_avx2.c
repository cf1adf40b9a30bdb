// SPDX-License-Identifier: MIT
/*
 * Vector level of x86-64 hosts with AVX2 and FMA: 256-bit vectors.
 *
 * Source: see level.h. The file sets its own target, so that the rest of the GPU runs on any
 * x86-64; exec.c checks the processor before it uses this level.
 *
 * Limits: without contraction of f32 operations, which this target would allow.
 */
#ifdef __x86_64__
#include <immintrin.h>

/* Common headers first: their functions must not be compiled for this level only. */
#include <string.h>

#include "exec.h"
#include "scalar.h"

#include "../levels/avx2.h"

#define VEC_BYTES 32
#define USC_LEVEL_OPS usc_level_avx2
#include "level.h"

#include "../levels/end.h"
#endif
