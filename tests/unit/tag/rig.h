/* SPDX-License-Identifier: MIT */
/* What the tests of the texture unit share: a unit, memory for a texture, requests. */
#ifndef PUMICE_TEST_TAG_RIG_H
#define PUMICE_TEST_TAG_RIG_H

#include "cmocka_all.h"

#include "../../../qemu-device/gpu/tag/tag.h"
#include "model.h"
#include "rand.h"
#include "testmem.h"

#define RIG_CTX 5u
#define RIG_VA 0x4000000ull	/* of the texture */
#define RIG_BYTES (1u << 20)

struct rig {
	struct testmem *tm;
	struct mmu mmu;
	struct tag *tag;
	u8 *memory;	/* RIG_BYTES */
	u64 seed;

	/* The texture, the sampler, the request and its rows. */
	struct pumice_texture texture;
	struct pumice_sampler sampler;
	u32 state[TAG_STATE_WORDS];
	float coord[4][PUMICE_LANES], extra[6][PUMICE_LANES];
	struct tag_request request;
	u32 out[4][PUMICE_LANES];
	struct gpu_fault fault;
};

void rig_setup(struct rig *rig);
void rig_teardown(struct rig *rig);
/* A texture of at most side texels a side, with all its levels. */
void rig_texture(struct rig *rig, u32 format, u32 layout, u32 dim, u32 side);
struct model_surface rig_surface(const struct rig *rig);
/* Random texels that are numbers of modest size. */
void rig_fill(struct rig *rig);
/* Run an operation with what stands in the rig: all lanes, no spans, unless set. */
bool rig_read(struct rig *rig, u32 op);
/* Component of a lane's result as a number. */
double rig_result(const struct rig *rig, u32 c, u32 lane);
/* The component that the swizzle makes of a texel. */
double rig_swizzled(const struct rig *rig, const struct model_texel *t, u32 c);
/* A model read with the rig's state; nearest. */
struct model_read rig_model(const struct rig *rig);

#endif
