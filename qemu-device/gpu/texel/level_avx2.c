// SPDX-License-Identifier: MIT
/*
 * Vector level of x86-64 hosts with AVX2: 256-bit vectors.
 *
 * Source: see level.h. The file sets its own target, so that the rest of the GPU runs on any
 * x86-64; texel.c checks the processor before it uses this level.
 */
#ifdef __x86_64__
#include <immintrin.h>

/* Common headers first: their functions must not be compiled for this level only. */
#include "internal.h"
#include "srgb.h"
#include "texel.h"
#include "tf.h"

#include "../levels/avx2.h"

#define VEC_BYTES 32
#define TEXEL_LEVEL_OPS texel_level_avx2
#include "level.h"

#include "../levels/end.h"
#endif
