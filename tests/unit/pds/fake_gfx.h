/* SPDX-License-Identifier: MIT */
/*
 * What fragment tasks need around the PDS, for tests: a texture unit that answers
 * each read with its coordinates, and lanes that do not read with FAKE_TAG_REST, and
 * a usc_gfx_position() that knows two places in
 * a pixel, (1/2, 1/2) and, at the centroid, (1/8, 7/8).
 */
#ifndef PUMICE_FAKE_GFX_H
#define PUMICE_FAKE_GFX_H

#include "../../../qemu-device/gpu/tag/tag.h"
#include "../../../qemu-device/gpu/usc/gfx.h"

#define FAKE_TAG_REST 0x7e57ab1eu

struct tag {
	u32 rows;		/* of coordinates that are given back; set by the test */
	bool faults;		/* reads fault as of bad state */
	u32 reads;
	bool rest_known;	/* coordinates of lanes that do not read were 0 in all reads */
	struct tag_request request;	/* the last */
	u32 state[TAG_STATE_WORDS];	/* its state */
};

#endif
