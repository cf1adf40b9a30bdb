// SPDX-License-Identifier: MIT
/*
 * Raster loops of x86-64 hosts with AVX2.
 *
 * Source: raster.h. The file sets its own target; isp.c checks the processor before it calls
 * this.
 */
#ifdef __x86_64__
#include "draw.h"

#include "../levels/avx2.h"

#define ISP_RASTER isp_raster_avx2
#include "raster.h"

#include "../levels/end.h"
#endif
