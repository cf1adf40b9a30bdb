/* SPDX-License-Identifier: MIT */
/* Fixture of the tests of the texture unit: a unit, memory for a texture, requests. */
#ifndef PUMICE_TEST_TAG_FIXTURE_H
#define PUMICE_TEST_TAG_FIXTURE_H

#include "cmocka_all.h"

#include "../../../qemu-device/gpu/tag/tag.h"
#include "../../../qemu-device/gpu/tf/tf.h"
#include "perf.h"
#include "model.h"
#include "rand.h"
#include "testmem.h"

#define FX_CTX 5u
#define FX_VA 0x4000000ull	/* of the texture */
#define FX_NUMBER 21u	/* the unit's number */
#define FX_BYTES (1u << 20)

struct fixture {
	struct testmem *tm;
	struct mmu mmu;
	struct tf tf;
	struct tcu tcu;
	struct tag *tag;
	u8 *memory;	/* FX_BYTES */
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

void fx_setup(struct fixture *fx);
void fx_teardown(struct fixture *fx);
/* Return a counter of the unit. */
u64 fx_counter(const struct fixture *fx, enum pumice_perf_counter counter);
/* Create a texture of at most side texels per side, with all its levels. */
void fx_texture(struct fixture *fx, u32 format, u32 layout, u32 dim, u32 side);
struct model_surface fx_surface(const struct fixture *fx);
/* Random texels that are small numbers. */
void fx_fill(struct fixture *fx);
/* Run an operation with the fixture's state: all lanes, no spans, unless set. */
bool fx_read(struct fixture *fx, u32 op);
/* Return a component of a lane's result as a number. */
double fx_result(const struct fixture *fx, u32 c, u32 lane);
/* Return the component of a texel after the swizzle. */
double fx_swizzled(const struct fixture *fx, const struct model_texel *t, u32 c);
/* Read the model with the fixture's state; nearest. */
struct model_read fx_model(const struct fixture *fx);

#endif
