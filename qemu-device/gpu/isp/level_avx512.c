// SPDX-License-Identifier: MIT
/*
 * Raster loops of x86-64 hosts with AVX-512 (F, BW, DQ, VL).
 *
 * Source: raster.h. The file sets its own target; isp.c asks the processor before
 * it calls this.
 */
#ifdef __x86_64__
#include "draw.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif

#define ISP_RASTER isp_raster_avx512
#include "raster.h"

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
