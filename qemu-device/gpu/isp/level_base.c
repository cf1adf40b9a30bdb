// SPDX-License-Identifier: MIT
/*
 * Raster loops for every host: whatever vectors the compiler's target has.
 *
 * Source: raster.h.
 */
#include "draw.h"

#define ISP_RASTER isp_raster_base
#include "raster.h"
