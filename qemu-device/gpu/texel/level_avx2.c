// SPDX-License-Identifier: MIT
/*
 * Vector level of x86-64 hosts with AVX2: 256-bit vectors.
 *
 * Source: see level.h. The file sets its own target, so that the rest of the GPU
 * runs on any x86-64; texel.c asks the processor before it uses this.
 */
#ifdef __x86_64__
#include <immintrin.h>

/* Plain headers first: their functions belong to every level. */
#include "../tf/tf.h"
#include "internal.h"
#include "srgb.h"
#include "texel.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#define TEXEL_VEC_BYTES 32
#define TEXEL_LEVEL_OPS texel_level_avx2
#include "level.h"

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
