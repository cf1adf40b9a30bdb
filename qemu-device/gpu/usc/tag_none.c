// SPDX-License-Identifier: MIT
/*
 * In the place of the texture unit (../tag) until it is linked: every read faults.
 * To be removed, with its line in meson.build, by whoever adds that folder.
 */
#include "../tag/tag.h"

struct tag {
	u8 none;
};

struct tag *tag_create(struct mmu *mmu)
{
	static struct tag none;

	(void)mmu;
	return &none;
}

void tag_destroy(struct tag *tag)
{
	(void)tag;
}

void tag_reset(struct tag *tag)
{
	(void)tag;
}

bool tag_read(struct tag *tag, const struct tag_request *request, u32 *out,
	      struct gpu_fault *fault)
{
	(void)tag, (void)out;
	*fault = (struct gpu_fault){ .fault = PUMICE_FAULT_TAG_STATE, .unit = PUMICE_UNIT_TAG,
				     .ctx = (u8)request->ctx };
	return false;
}

u64 tag_reads(const struct tag *tag)
{
	(void)tag;
	return 0;
}
