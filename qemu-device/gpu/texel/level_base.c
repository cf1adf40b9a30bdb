// SPDX-License-Identifier: MIT
/*
 * Vector level of every host: 128-bit vectors, without any special instruction.
 *
 * Source: see level.h.
 */
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "internal.h"
#include "srgb.h"
#include "texel.h"
#include "tf.h"

#define VEC_BYTES 16
#define TEXEL_LEVEL_OPS texel_level_base
#include "level.h"
