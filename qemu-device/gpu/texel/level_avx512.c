// SPDX-License-Identifier: MIT
/*
 * Vector level of x86-64 hosts with AVX-512 (F, BW, DQ, VL): 512-bit vectors.
 *
 * Source: see level.h. The file sets its own target, so that the rest of the GPU runs on any
 * x86-64; texel.c checks the processor before it uses this level.
 *
 * Limits: without contraction of f32 operations, which this target would allow.
 */
#ifdef __x86_64__
#include <immintrin.h>

/* Common headers first: their functions must not be compiled for this level only. */
#include "internal.h"
#include "srgb.h"
#include "texel.h"
#include "tf.h"

#include "../levels/avx512.h"

#define VEC_BYTES 64
#define TEXEL_LEVEL_OPS texel_level_avx512
#include "level.h"

#include "../levels/end.h"
#endif
