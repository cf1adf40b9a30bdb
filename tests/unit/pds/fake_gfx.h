/* SPDX-License-Identifier: MIT */
/*
 * Fake neighbours of the PDS for fragment tasks: a texture unit that returns the
 * coordinates of each read, and FAKE_TAG_REST in lanes that do not read, and a
 * usc_gfx_position() with two positions in a pixel, (1/2, 1/2) and, at the centroid,
 * (1/8, 7/8).
 */
#ifndef PUMICE_FAKE_GFX_H
#define PUMICE_FAKE_GFX_H

#include "../../../qemu-device/gpu/tag/tag.h"
#include "../../../qemu-device/gpu/usc/gfx.h"

#define FAKE_TAG_REST 0x7e57ab1eu

struct tag {
	u32 rows;		/* of coordinates that are returned; set by the test */
	bool faults;		/* reads fault as with invalid state */
	u32 reads;
	bool rest_known;	/* coordinates of lanes that do not read were 0 in all reads */
	struct tag_request request;	/* the last */
	u32 state[TAG_STATE_WORDS];	/* its state */
};

#endif
