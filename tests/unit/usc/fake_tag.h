/* SPDX-License-Identifier: MIT */
/*
 * A texture unit that reads no memory: tests of the USC alone.
 */
#ifndef PUMICE_TESTS_USC_FAKE_TAG_H
#define PUMICE_TESTS_USC_FAKE_TAG_H

#include "../../../qemu-device/gpu/tag/tag.h"

/* Return the result of a read of coordinates, further operand and state. */
u32 fake_tag_mix(u32 op, u32 type, u32 dim, u32 comp, bool spans, const u32 *words, u32 count,
		 u32 component);
/* While its member fault is set, reads return that fault. */
extern struct gpu_fault fake_tag_fault;

#endif
