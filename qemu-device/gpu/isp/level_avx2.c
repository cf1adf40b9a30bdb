// SPDX-License-Identifier: MIT
/*
 * Raster loops of x86-64 hosts with AVX2.
 *
 * Source: raster.h. The file sets its own target; isp.c asks the processor before
 * it calls this.
 */
#ifdef __x86_64__
#include "draw.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#define ISP_RASTER isp_raster_avx2
#include "raster.h"

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
