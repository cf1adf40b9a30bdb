// SPDX-License-Identifier: MIT
/*
 * Raster loops for every host: with any vectors of the compiler's target.
 *
 * Source: raster.h.
 */
#include "draw.h"

#define ISP_RASTER isp_raster_base
#include "raster.h"
