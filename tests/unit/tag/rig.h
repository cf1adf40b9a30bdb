/* SPDX-License-Identifier: MIT */
/* Fixture of the tests of the texture unit: a unit, memory for a texture, requests. */
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
/* A texture of at most side texels per side, with all its levels. */
void rig_texture(struct rig *rig, u32 format, u32 layout, u32 dim, u32 side);
struct model_surface rig_surface(const struct rig *rig);
/* Random texels that are small numbers. */
void rig_fill(struct rig *rig);
/* Run an operation with the fixture's state: all lanes, no spans, unless set. */
bool rig_read(struct rig *rig, u32 op);
/* Component of a lane's result as a number. */
double rig_result(const struct rig *rig, u32 c, u32 lane);
/* The component of a texel after the swizzle. */
double rig_swizzled(const struct rig *rig, const struct model_texel *t, u32 c);
/* A model read with the fixture's state; nearest. */
struct model_read rig_model(const struct rig *rig);

#endif
