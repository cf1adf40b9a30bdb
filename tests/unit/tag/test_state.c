// SPDX-License-Identifier: MIT
/*
 * Edge cases of the texture unit: malformed state, faults, lanes that do not read, and
 * independence of a lane's result from other lanes.
 */
#include "fixture.h"

#include <math.h>
#include <string.h>

#include "pumice_info.h"
#include "pumice_isa_enums.h"
#include "surface.h"

#define NAN_BITS 0x7fc00000u

static void setup(struct fixture *fx)
{
	fx_setup(fx);
	fx->texture = (struct pumice_texture){
		.addr = FX_VA, .format = PUMICE_FORMAT_RGBA8_UNORM, .dim = PUMICE_TEXTURE_DIM_2D,
		.levels = 1, .width = 15, .height = 15, .swizzle_g = 1, .swizzle_b = 2,
		.swizzle_a = 3,
	};
	fx_fill(fx);
}

static void assert_state_fault(struct fixture *fx, u32 op, const char *what)
{
	if (fx_read(fx, op) || fx->fault.fault != PUMICE_FAULT_TAG_STATE)
		fail_msg("%s: fault %u", what, fx->fault.fault);
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_TAG);
	assert_int_equal(fx->fault.addr, 0);
	assert_int_equal(fx->fault.ctx, FX_CTX);
}

static void malformed_textures_are_refused(void **state)
{
	struct pumice_texture good;
	struct fixture fx;

	(void)state;
	setup(&fx);
	good = fx.texture;
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
#define REFUSED(field, value) \
	do { \
		fx.texture = good; \
		fx.texture.field = value; \
		assert_state_fault(&fx, PUMICE_USC_OP_SAMPLE, #field); \
		assert_state_fault(&fx, PUMICE_USC_OP_FETCH, #field); \
	} while (0)
	REFUSED(format, PUMICE_FORMAT_NONE);
	REFUSED(format, PUMICE_FORMAT_COUNT);
	REFUSED(layout, 3);
	REFUSED(dim, 7);
	REFUSED(levels, 0);
	REFUSED(levels, 6);
	REFUSED(width, 8192);
	REFUSED(height, 8192);
	REFUSED(depth, 1);
	REFUSED(stride, 63);
	REFUSED(stride, 32);
	REFUSED(swizzle_r, 6);
	REFUSED(swizzle_g, 6);
	REFUSED(swizzle_b, 7);
	REFUSED(swizzle_a, 7);
#undef REFUSED
	fx.texture = good;
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	fx_teardown(&fx);
}

/* Every bit outside of fields. */
static void reserved_bits_are_refused(void **state)
{
	struct pumice_texture t;
	struct pumice_sampler s;
	struct fixture fx;
	u32 refused = 0;

	(void)state;
	setup(&fx);
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	for (u32 bit = 0; bit < TAG_STATE_WORDS * 32; bit++) {
		u32 words[TAG_STATE_WORDS];

		memcpy(words, fx.state, sizeof(words));
		words[bit / 32] ^= 1u << bit % 32;
		if (bit / 32 < PUMICE_TEXTURE_WORDS ?
		    pumice_texture_unpack(words, &t) == PUMICE_UNPACK_OK :
		    pumice_sampler_unpack(words + PUMICE_TEXTURE_WORDS, &s) == PUMICE_UNPACK_OK)
			continue;
		fx.request.state = words;
		assert_false(tag_read(fx.tag, &fx.request, fx.out[0], &fx.fault));
		assert_int_equal(fx.fault.fault, PUMICE_FAULT_TAG_STATE);
		refused++;
	}
	assert_int_equal(refused, 4 + 7 + 4 + 20 + 8 + 52 + 32 + 9);
	fx_teardown(&fx);
}

static void malformed_samplers_are_refused(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
#define REFUSED(field, value) \
	do { \
		fx.sampler = (struct pumice_sampler){ 0 }; \
		fx.sampler.field = value; \
		assert_state_fault(&fx, PUMICE_USC_OP_SAMPLE, #field); \
		assert_true(fx_read(&fx, PUMICE_USC_OP_FETCH)); \
	} while (0)
	REFUSED(mip_filter, 3);
	REFUSED(wrap_u, 5);
	REFUSED(wrap_v, 6);
	REFUSED(wrap_w, 7);
	REFUSED(border, 3);
	REFUSED(aniso_log2, 5);
	REFUSED(lod_bias, pumice_f32_from_bits(NAN_BITS));
	REFUSED(min_lod, pumice_f32_from_bits(NAN_BITS | 1u << 31));
	REFUSED(max_lod, pumice_f32_from_bits(0x7f800001));
	REFUSED(texels, true);	/* with REPEAT */
	REFUSED(compare, true);	/* of an operation that does not */
#undef REFUSED
	fx.sampler = (struct pumice_sampler){
		.texels = true, .wrap_u = PUMICE_WRAP_CLAMP, .wrap_v = PUMICE_WRAP_BORDER,
	};
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	fx.sampler.mip_filter = PUMICE_MIP_FILTER_NEAREST;
	assert_state_fault(&fx, PUMICE_USC_OP_SAMPLE, "texels with levels");
	fx.sampler.mip_filter = PUMICE_MIP_FILTER_NONE;
	fx.sampler.aniso_log2 = 1;
	assert_state_fault(&fx, PUMICE_USC_OP_SAMPLE, "texels with anisotropy");
	fx_teardown(&fx);
}

static void state_must_match_the_operation(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	/* Integers are not filtered. */
	fx.texture.format = PUMICE_FORMAT_RGBA8_UINT;
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	fx.sampler.min_linear = true;
	assert_state_fault(&fx, PUMICE_USC_OP_SAMPLE, "linear of integers");
	fx.sampler = (struct pumice_sampler){ .mag_linear = true };
	assert_state_fault(&fx, PUMICE_USC_OP_SAMPLE, "linear of integers");
	fx.sampler = (struct pumice_sampler){ .mip_filter = PUMICE_MIP_FILTER_LINEAR };
	assert_state_fault(&fx, PUMICE_USC_OP_SAMPLE, "linear levels of integers");
	fx.sampler = (struct pumice_sampler){ 0 };
	/* The result's type is the format's. */
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	fx.request.type = PUMICE_USC_TYPE_F32;
	assert_false(tag_read(fx.tag, &fx.request, fx.out[0], &fx.fault));
	assert_int_equal(fx.fault.fault, PUMICE_FAULT_TAG_STATE);
	fx.texture.format = PUMICE_FORMAT_RGBA8_UNORM;
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	fx.request.type = PUMICE_USC_TYPE_U32;
	assert_false(tag_read(fx.tag, &fx.request, fx.out[0], &fx.fault));
	/* The dimension is that of the operation. */
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	fx.request.dim = PUMICE_TEXTURE_DIM_2D_ARRAY;
	assert_false(tag_read(fx.tag, &fx.request, fx.out[0], &fx.fault));
	/* Comparisons are of depths, with a sampler that compares. */
	fx.sampler.compare = true;
	assert_state_fault(&fx, PUMICE_USC_OP_SAMPLE_CMP, "comparison of colours");
	fx.texture.format = PUMICE_FORMAT_D32_FLOAT;
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_CMP));
	fx.sampler.compare = false;
	assert_state_fault(&fx, PUMICE_USC_OP_SAMPLE_CMP, "a sampler that does not compare");
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	/* Gathers are 2D, fetches not of cubes. */
	fx.texture.dim = PUMICE_TEXTURE_DIM_3D;
	assert_state_fault(&fx, PUMICE_USC_OP_GATHER, "gather of 3D");
	fx.texture.dim = PUMICE_TEXTURE_DIM_CUBE;
	fx.texture.depth = 5;
	assert_true(fx_read(&fx, PUMICE_USC_OP_GATHER));
	assert_state_fault(&fx, PUMICE_USC_OP_FETCH, "fetch of a cube");
	fx_teardown(&fx);
}

static void operations_use_the_right_number_of_rows(void **state)
{
	static const u8 coords[] = { 1, 2, 3, 3, 2, 3, 4 }, grads[] = { 2, 4, 6, 6, 2, 4, 6 };

	(void)state;
	for (u32 dim = 0; dim < PUMICE_TEXTURE_DIM_COUNT; dim++) {
		assert_int_equal(pumice_usc_texture_coords(dim), coords[dim]);
		assert_int_equal(pumice_usc_texture_extra(PUMICE_USC_OP_SAMPLE_GRAD, dim),
				 grads[dim]);
		assert_int_equal(pumice_usc_texture_extra(PUMICE_USC_OP_SAMPLE, dim), 0);
		assert_int_equal(pumice_usc_texture_extra(PUMICE_USC_OP_SAMPLE_BIAS, dim), 1);
		assert_int_equal(pumice_usc_texture_extra(PUMICE_USC_OP_FETCH, dim), 1);
	}
	assert_int_equal(pumice_usc_texture_coords(7), 0);
}

/* For any missing page of a texture, exactly the reads of its texels fault. */
static void missing_pages_fault_with_their_address(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	fx.texture.width = 255;	/* four rows a page */
	fx.texture.height = 63;
	testmem_unmap(fx.tm, FX_CTX, FX_VA + 5 * 4096, 4096);
	for (u32 y = 0; y < 64; y++) {
		bool missing = y / 4 == 5;

		for (u32 l = 0; l < PUMICE_LANES; l++) {
			fx.coord[0][l] = ((float)l + 0.5f) / 256;
			fx.coord[1][l] = ((float)y + 0.5f) / 64;
		}
		assert_int_equal(fx_read(&fx, PUMICE_USC_OP_SAMPLE), !missing);
		if (!missing)
			continue;
		assert_int_equal(fx.fault.fault, PUMICE_FAULT_MMU_PT_INVALID);
		assert_int_equal(fx.fault.unit, PUMICE_UNIT_TAG);
		assert_int_equal(fx.fault.access, PUMICE_ACCESS_READ);
		assert_int_equal(fx.fault.ctx, FX_CTX);
		assert_int_equal(fx.fault.addr, FX_VA + y * 1024);
	}
	/* A linear filter reads the adjacent row, too. */
	fx.sampler.min_linear = fx.sampler.mag_linear = true;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		fx.coord[1][l] = 19.75f / 64;
	assert_false(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_int_equal(fx.fault.addr, FX_VA + 5 * 4096);
	fx_teardown(&fx);
}

static void a_texture_beyond_the_address_space_faults(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	fx.texture.addr = (1ull << 40) - 16;
	fx.coord[0][7] = 0.5f;
	fx.request.lanes = 1u << 7;
	assert_false(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_int_equal(fx.fault.fault, PUMICE_FAULT_MMU_ADDRESS);
	assert_int_equal(fx.fault.addr, (1ull << 40) + 16);
	fx_teardown(&fx);
}

/* Lanes that do not read access no memory, for any coordinates and levels. */
static void idle_lanes_cause_no_access(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	fx.texture.width = 255;
	fx.texture.height = 255;
	fx.texture.levels = 9;
	fx.sampler = (struct pumice_sampler){
		.min_linear = true, .mag_linear = true, .mip_filter = PUMICE_MIP_FILTER_LINEAR,
		.max_lod = 8,
	};
	/* Only the first page of level 0, row 0 to 3, is there. */
	testmem_unmap(fx.tm, FX_CTX, FX_VA + 4096, FX_BYTES - 4096);
	for (u32 n = 0; n < 1000; n++) {
		fx.request.lanes = rand_u32(&fx.seed) & rand_u32(&fx.seed);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			bool reads = fx.request.lanes >> l & 1;

			fx.coord[0][l] = rand_float(&fx.seed, -2, 2);
			fx.coord[1][l] = reads ? 1.5f / 256 : rand_float(&fx.seed, -2, 2);
			fx.extra[0][l] = reads ? 0 : rand_float(&fx.seed, 0, 8);
		}
		fx.sampler.aniso_log2 = 0;
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_LOD));
		/* Also for any derivatives. */
		fx.sampler.aniso_log2 = 4;
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			for (u32 e = 0; e < 4; e++)
				fx.extra[e][l] = fx.request.lanes >> l & 1 ? 0 :
						  rand_float(&fx.seed, -2, 2);
		}
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_GRAD));
	}
	fx_teardown(&fx);
}

/* A lane has the same bits alone and among others; texels include infinities. */
static void a_lane_does_not_depend_on_other_lanes(void **state)
{
	static const u32 formats[] = { PUMICE_FORMAT_RGBA8_UNORM, PUMICE_FORMAT_RGBA8_SRGB,
				       PUMICE_FORMAT_RGBA16_FLOAT, PUMICE_FORMAT_RGB10A2_UNORM,
				       PUMICE_FORMAT_R32_FLOAT, PUMICE_FORMAT_BC1_RGBA };
	struct fixture fx;

	(void)state;
	setup(&fx);
	for (u32 n = 0; n < 600; n++) {
		u32 all[4][PUMICE_LANES];

		fx_texture(&fx, formats[n % 6], n / 6 % 3, n % 5 ? PUMICE_TEXTURE_DIM_2D :
			   PUMICE_TEXTURE_DIM_3D, 20);
		for (u32 b = 0; b < 65536; b++)
			fx.memory[b] = (u8)(rand_u32(&fx.seed) % 7 ? rand_u32(&fx.seed) : 0xff);
		fx.sampler = (struct pumice_sampler){
			.min_linear = rand_below(&fx.seed, 2), .mag_linear = true,
			.mip_filter = (u8)rand_below(&fx.seed, 3),
			.wrap_u = (u8)rand_below(&fx.seed, 5), .max_lod = 8,
			.aniso_log2 = (u8)rand_below(&fx.seed, 3),
		};
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			for (u32 a = 0; a < 3; a++)
				fx.coord[a][l] = l % 4 ? rand_float(&fx.seed, -1, 2) : 0.25f;
			for (u32 a = 0; a < 6; a++)
				fx.extra[a][l] = rand_float(&fx.seed, -0.2f, 0.2f);
		}
		fx.request.lanes = ~0u;
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_GRAD));
		memcpy(all, fx.out, sizeof(all));
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			fx.request.lanes = 1u << l;
			assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE_GRAD));
			for (u32 c = 0; c < 4; c++)
				assert_int_equal(fx.out[c][l], all[c][l]);
		}
	}
	fx_teardown(&fx);
}

/* Changes of memory are effective at once; a new translation after invalidation. */
static void memory_is_read_again_for_each_group(void **state)
{
	struct fixture fx;

	(void)state;
	setup(&fx);
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	memset(fx.memory, 255, 1024);
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_true(fx_result(&fx, 2, 3) == 1);
	fx.texture.format = PUMICE_FORMAT_BC1_RGBA;
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_true(fx_result(&fx, 0, 3) == 0);	/* equal colours: index 3 is transparent */
	memset(fx.memory + 4, 0, 4);
	assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_true(fx_result(&fx, 0, 3) == 1);
	testmem_unmap(fx.tm, FX_CTX, FX_VA, 4096);
	mmu_invalidate_ctx(&fx.mmu, FX_CTX);
	assert_false(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_int_equal(fx_counter(&fx, PUMICE_PERF_TAG_READS), 5);
	assert_int_equal(fx.fault.index, FX_NUMBER);
	tag_reset(fx.tag);
	assert_false(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	fx_teardown(&fx);
}

static void reads_and_their_results_are_counted_until_a_reset(void **state)
{
	struct fixture fx;
	u32 i;

	(void)state;
	setup(&fx);
	for (i = 0; i < 3; i++)
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	/* A level of detail needs no filter, and a gather has one result. */
	assert_true(fx_read(&fx, PUMICE_USC_OP_QUERY_LOD));
	assert_true(fx_read(&fx, PUMICE_USC_OP_GATHER));
	assert_int_equal(fx_counter(&fx, PUMICE_PERF_TAG_READS), 5);
	assert_int_equal(activity_requests(&fx.tf.activity), 4);
	/* Times are measured on request. */
	assert_int_equal(fx_counter(&fx, PUMICE_PERF_TAG_BUSY), 0);
	assert_int_equal(activity_busy_ns(&fx.tf.activity), 0);
	tag_set_detail(fx.tag, true);
	activity_set_detail(&fx.tf.activity, true);
	for (i = 0; i < 1000; i++)
		assert_true(fx_read(&fx, PUMICE_USC_OP_SAMPLE));
	assert_true(fx_counter(&fx, PUMICE_PERF_TAG_BUSY) >= activity_busy_ns(&fx.tf.activity));
	assert_true(activity_busy_ns(&fx.tf.activity) > 0);
	tag_reset(fx.tag);
	assert_int_equal(fx_counter(&fx, PUMICE_PERF_TAG_READS), 0);
	assert_int_equal(fx_counter(&fx, PUMICE_PERF_TAG_BUSY), 0);
	fx_teardown(&fx);
}

/* Random words: read or refused, within bounds and within memory. */
static void random_state_does_no_harm(void **state)
{
	static const u8 ops[] = {
		PUMICE_USC_OP_SAMPLE, PUMICE_USC_OP_SAMPLE_BIAS, PUMICE_USC_OP_SAMPLE_LOD,
		PUMICE_USC_OP_SAMPLE_GRAD, PUMICE_USC_OP_SAMPLE_CMP, PUMICE_USC_OP_SAMPLE_CMP_LOD0,
		PUMICE_USC_OP_FETCH, PUMICE_USC_OP_GATHER, PUMICE_USC_OP_GATHER_CMP,
		PUMICE_USC_OP_QUERY_LOD,
	};
	u32 done = 0, refused = 0;
	struct fixture fx;

	(void)state;
	setup(&fx);
	for (u32 n = 0; n < 200000; n++) {
		u64 *seed = &fx.seed;
		u32 op = ops[rand_below(seed, sizeof(ops))];

		if (n % 8 == 0) {
			fx_texture(&fx, 1 + rand_below(seed, PUMICE_FORMAT_COUNT - 1),
				   rand_below(seed, 3), rand_below(seed, 7), 30);
			for (u32 l = 0; l < PUMICE_LANES; l++) {
				u32 a = rand_below(seed, 4), e = rand_below(seed, 6),
					v = rand_u32(seed);

				memcpy(&fx.coord[a][l], &v, sizeof(v));
				v = rand_u32(seed);
				memcpy(&fx.extra[e][l], &v, sizeof(v));
			}
		}
		fx.sampler = (struct pumice_sampler){
			.min_linear = rand_below(seed, 2), .mag_linear = rand_below(seed, 2),
			.mip_filter = (u8)rand_below(seed, 3), .wrap_u = (u8)rand_below(seed, 5),
			.wrap_v = (u8)rand_below(seed, 5), .wrap_w = (u8)rand_below(seed, 5),
			.compare = op == PUMICE_USC_OP_SAMPLE_CMP,
			.border = (u8)rand_below(seed, 3), .aniso_log2 = (u8)rand_below(seed, 5),
			.lod_bias = pumice_f32_from_bits(rand_u32(seed)),
			.min_lod = pumice_f32_from_bits(rand_u32(seed)),
			.max_lod = pumice_f32_from_bits(rand_u32(seed)),
		};
		fx.request.lanes = rand_u32(seed);
		fx.request.spans = rand_below(seed, 2);
		fx.request.comp = (u8)rand_below(seed, 4);
		fx_read(&fx, op);
		for (u32 bits = rand_below(seed, 3); bits; bits--)
			fx.state[rand_below(seed, TAG_STATE_WORDS)] ^= 1u << rand_below(seed, 32);
		fx.request.dim = (u8)(fx.state[1] >> 18 & 7);
		fx.request.extra = (const u32 *)(const void *)fx.extra;
		if (tag_read(fx.tag, &fx.request, fx.out[0], &fx.fault))
			done++;
		else
			refused++;
	}
	assert_true(done > 1000 && refused > 1000);
	fx_teardown(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_textures_are_refused),
		cmocka_unit_test(reserved_bits_are_refused),
		cmocka_unit_test(malformed_samplers_are_refused),
		cmocka_unit_test(state_must_match_the_operation),
		cmocka_unit_test(operations_use_the_right_number_of_rows),
		cmocka_unit_test(missing_pages_fault_with_their_address),
		cmocka_unit_test(a_texture_beyond_the_address_space_faults),
		cmocka_unit_test(idle_lanes_cause_no_access),
		cmocka_unit_test(a_lane_does_not_depend_on_other_lanes),
		cmocka_unit_test(memory_is_read_again_for_each_group),
		cmocka_unit_test(reads_and_their_results_are_counted_until_a_reset),
		cmocka_unit_test(random_state_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
