// SPDX-License-Identifier: MIT
/*
 * Values written by PDS programs of fragment tasks: planes, interpolated varyings, texture
 * reads, sources. The model computes each value independently, with the operations that
 * hw/isa.xml specifies, from random planes; positions are those of fake_gfx.c.
 */
#include "stage_fixture.h"

#include <string.h>

#define SPANS	19u	/* three waves, the last one not full */
#define LANES	(SPANS * 4)
#define PRIMS	5u
#define VARYINGS 9u
#define PLANES	(VARYINGS + 2)
#define STATE_AT (FX_DATA + 4096 - 16)	/* across pages */

struct fragment_fixture {
	struct fixture *base;
	struct stage_owner owner;
	struct pds_stage stage;
	struct pds_place place;
	struct mmu_tlb tlb;
	struct tag tag;
	struct half half;	/* with that tag */
	struct tsp_plane plane[PRIMS][PLANES];
	struct itr_prim prim[PRIMS];
	struct usc_span span[SPANS];
	struct usc_tile tile;
	struct usc_gfx gfx;
	struct pds_fragments in;
};

static u32 seed = 7;

static u32 rnd(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

static float rnd_float(void)
{
	return (float)(s32)(rnd() % 20001 - 10000) / 777.0f;
}

static void setup(struct fragment_fixture *fx)
{
	u32 i, n;

	memset(fx, 0, sizeof(*fx));
	fx->base = fx_create(FX_USCS_PER_CORE, NULL);
	fx->half.tag = fx->half.titr.tag = &fx->tag;
	stage_own(fx->base, PDS_DM_PDM, &fx->owner);
	for (i = 0; i < PRIMS; i++) {
		for (n = 0; n < PLANES; n++)
			fx->plane[i][n] = (struct tsp_plane){ rnd_float(), rnd_float(),
							      rnd_float() };
		fx->prim[i] = (struct itr_prim){ .plane = fx->plane[i], .front = i & 1 };
	}
	for (i = 0; i < SPANS; i++) {
		u16 samples = (u16)rnd();

		fx->span[i] = (struct usc_span){
			.quad = (u8)(rnd() % 256), .prim = (u8)(rnd() % PRIMS), .samples = samples,
			.covered = samples, .live = samples,
		};
	}
	fx->tile = (struct usc_tile){ .words = 4, .samples = 4, .x0 = 96, .y0 = 64, .width = 32,
				     .height = 32 };
	fx->gfx = (struct usc_gfx){
		.stage = USC_STAGE_FRAGMENT, .sample = USC_PIXEL_RATE, .tile = &fx->tile,
		.span = fx->span, .spans = SPANS, .coeffs = 14,
	};
	fx->in = (struct pds_fragments){ .gfx = &fx->gfx, .prim = fx->prim, .prims = PRIMS,
					.varyings = VARYINGS };
}

static bool fill(struct fragment_fixture *fx, const struct pumice_pds_insn *insns, u16 count,
		 u32 stage, u32 instances)
{
	const struct pumice_stage registers = { .attrs = 12, .temps = 1, .shared = 4,
						.coeffs = 14, .coeffs_alt = 7 };
	const struct pds_stage_limits limits = { .stage = (u8)stage, .outputs = 4,
						 .varyings = VARYINGS };
	bool ok;
	u32 pc = 0;

	if (!stage_load(fx->base, &registers, &limits, insns, count, &fx->stage))
		fail_msg("refused: %u", fx->base->fault.fault);
	assert_int_equal(pds_task_claim(fx->base->pds, PDS_DM_PDM, 0, &fx->stage, instances, PRIMS,
					&fx->place, &fx->base->fault), PDS_STARTED);
	do
		ok = pds_fill_fragments(fx->base->pds, &fx->place, &fx->stage, &fx->in, &fx->half,
					&fx->tlb, &pc, &fx->base->fault);
	while (ok && pc < fx->stage.program.insns);
	if (ok)
		pds_task_start(fx->base->pds, PDS_DM_PDM, &fx->place, &fx->gfx);
	else
		pds_task_drop(fx->base->pds, &fx->place);
	return ok;
}

static void finish(struct fragment_fixture *fx)
{
	fx_finish_all(fx->base);
	pds_stage_drop(fx->base->pds, &fx->stage);
}

static u32 reg(struct fragment_fixture *fx, u32 instance, u32 n)
{
	return fake_usc_attr(fx->base->usc[fx->place.usc], fx->place.group, instance, n);
}

static u32 bits(float value)
{
	u32 word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

/* A plane at a lane; each operation rounds separately. */
static float at(const struct fragment_fixture *fx, u32 lane, u32 plane, bool centroid)
{
	const struct usc_span *span = &fx->span[lane / 4];
	const struct tsp_plane *p = &fx->plane[span->prim][plane];
	const float inside_x = centroid ? 0.125f : 0.5f, inside_y = centroid ? 0.875f : 0.5f;
	volatile float x = (float)(span->quad % 16 * 2 + lane % 2) + inside_x;
	volatile float y = (float)(span->quad / 16 * 2 + lane % 4 / 2) + inside_y;
	volatile float ax = p->a * x, by = p->b * y, sum = ax + by;

	return sum + p->c;
}

static void planes_are_written_to_the_coefficients_of_each_primitive(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		COEFF(1, 7, 2), COEFF(8, 64, 2), TASK, END,
	};
	struct fragment_fixture fx;
	u32 prim, n;

	(void)state;
	setup(&fx);
	assert_true(fill(&fx, insns, 4, USC_STAGE_FRAGMENT, LANES));
	for (prim = 0; prim < PRIMS; prim++) {
		for (n = 0; n < 14; n++) {
			const u32 first = n >= 8 ? 8 : 1;	/* register of an instruction */
			const struct tsp_plane *p =
				&fx.plane[prim][(n >= 8 ? VARYINGS : 7) + (n + 3 - first) / 3 - 1];
			const u32 part = (n + 3 - first) % 3;
			u32 want = bits(part == 0 ? p->a : part == 1 ? p->b : p->c);

			if (n == 0 || n == 7)	/* not written */
				want = 0;
			assert_int_equal(fake_usc_coeff(fx.base->usc[fx.place.usc], fx.place.group,
							0, prim * 14 + n), want);
		}
	}
	finish(&fx);
	fx_destroy(fx.base);
}

static void words_of_memory_are_written_to_the_coefficients_of_each_primitive(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		DMA(CF, 3, 5, FX_DATA + 8, 0), COEFF(8, 64, 2), TASK, END,
	};
	struct fragment_fixture fx;
	u32 prim, n;

	(void)state;
	setup(&fx);
	for (n = 0; n < 5; n++)
		((u32 *)(void *)stage_data(fx.base, FX_DATA))[2 + n] = 0xabc0 + n;
	assert_true(fill(&fx, insns, 4, USC_STAGE_FRAGMENT, LANES));
	for (prim = 0; prim < PRIMS; prim++) {
		const struct tsp_plane *p = fx.plane[prim];

		for (n = 0; n < 8; n++)
			assert_int_equal(fake_usc_coeff(fx.base->usc[fx.place.usc], fx.place.group,
							0, prim * 14 + n),
							n < 3 ? 0 : 0xabc0 + n - 3);
		/* The planes next to them are the primitive's own. */
		assert_int_equal(fake_usc_coeff(fx.base->usc[fx.place.usc], fx.place.group, 0,
						prim * 14 + 8), bits(p[VARYINGS].a));
	}
	finish(&fx);
	fx_destroy(fx.base);
}

static void each_primitive_has_an_alternate_set_of_coefficients(void **state)
{
	struct pumice_pds_insn insns[] = {
		DMA(CFA, 1, 2, FX_DATA, 0), COEFF(4, 3, 1), COEFF(0, 64, 1), TASK, END,
	};
	struct fragment_fixture fx;
	struct usc *usc;
	u32 prim;

	(void)state;
	insns[1].bank = PUMICE_PDS_BANK_CFA;
	setup(&fx);
	((u32 *)(void *)stage_data(fx.base, FX_DATA))[0] = 0xabc0;
	((u32 *)(void *)stage_data(fx.base, FX_DATA))[1] = 0xabc1;
	assert_true(fill(&fx, insns, 5, USC_STAGE_FRAGMENT, LANES));
	usc = fx.base->usc[fx.place.usc];
	for (prim = 0; prim < PRIMS; prim++) {
		const struct tsp_plane *p = fx.plane[prim];
		const u32 want[7] = { 0, 0xabc0, 0xabc1, 0, bits(p[3].a), bits(p[3].b),
				      bits(p[3].c) };
		u32 n;

		for (n = 0; n < 7; n++)
			assert_int_equal(fake_usc_coeff_alt(usc, fx.place.group, 0, prim * 7 + n),
					 want[n]);
		for (n = 0; n < 14; n++)
			assert_int_equal(fake_usc_coeff(usc, fx.place.group, 0, prim * 14 + n),
					 n == 0 ? bits(p[VARYINGS].a) : n == 1 ?
					 bits(p[VARYINGS].b) :
					 n == 2 ? bits(p[VARYINGS].c) : 0);
	}
	finish(&fx);
	fx_destroy(fx.base);
}

static void varyings_are_interpolated_in_every_mode(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		ITERATE(0, 0, 3, LINEAR), ITERATE(3, 5, 4, PERSPECTIVE),
		ITERATE(7, 2, 1, LINEAR_CENTROID), ITERATE(8, 3, 2, PERSPECTIVE_CENTROID),
		ITERATE(10, 64, 2, LINEAR), TASK, END,
	};
	struct fragment_fixture fx;
	u32 lane, n;

	(void)state;
	setup(&fx);
	assert_true(fill(&fx, insns, 7, USC_STAGE_FRAGMENT, LANES));
	for (lane = 0; lane < LANES; lane++) {
		const float rw = at(&fx, lane, VARYINGS, false);
		const float centroid_rw = at(&fx, lane, VARYINGS, true);

		for (n = 0; n < 3; n++)
			assert_int_equal(reg(&fx, lane, n), bits(at(&fx, lane, n, false)));
		for (n = 0; n < 4; n++)
			assert_int_equal(reg(&fx, lane, 3 + n),
					 bits(at(&fx, lane, 5 + n, false) / rw));
		assert_int_equal(reg(&fx, lane, 7), bits(at(&fx, lane, 2, true)));
		for (n = 0; n < 2; n++)
			assert_int_equal(reg(&fx, lane, 8 + n),
					 bits(at(&fx, lane, 3 + n, true) / centroid_rw));
		assert_int_equal(reg(&fx, lane, 10), bits(rw));
		assert_int_equal(reg(&fx, lane, 11), bits(at(&fx, lane, VARYINGS + 1, false)));
	}
	assert_int_equal(activity_requests(&fx.half.uitr.activity), 12);
	assert_int_equal(activity_requests(&fx.half.titr.activity), 0);
	finish(&fx);
	fx_destroy(fx.base);
}

/* To 16 significant bits, nearest, ties to even: computed in integers. */
static float short_float(float value)
{
	double scale = 1, v = value < 0 ? -(double)value : value;
	u64 whole;

	if (v == 0)
		return value;
	for (; v * scale >= 65536; scale /= 2)
		;
	for (; v * scale < 32768; scale *= 2)
		;
	v *= scale;
	whole = (u64)v;
	if (v - (double)whole > 0.5 || (v - (double)whole == 0.5 && whole & 1))
		whole++;
	v = (double)whole / scale;
	return (float)(value < 0 ? -v : v);
}

static void reads_ahead_get_coordinates_of_24_bits(void **state)
{
	static const u8 dims[] = { PUMICE_TEXTURE_DIM_1D, PUMICE_TEXTURE_DIM_2D,
				   PUMICE_TEXTURE_DIM_3D, PUMICE_TEXTURE_DIM_CUBE_ARRAY };
	static const u8 rows[] = { 1, 2, 3, 4 };
	struct fragment_fixture fx;
	u32 mode, dim, lane, n, reads = 0;

	(void)state;
	setup(&fx);
	for (n = 0; n < 48; n++)
		fx.base->data[STATE_AT - FX_DATA + n] = (u8)(n * 3);
	for (mode = 0; mode < PUMICE_USC_ITERATE_COUNT; mode++) {
		for (dim = 0; dim < 4; dim++) {
			struct pumice_pds_insn insns[] = {
				TEXTURE(4, 1, LINEAR, 2D, STATE_AT), TASK, END,
			};

			insns[0].mode = (u8)mode;
			insns[0].dim = dims[dim];
			fx.tag.rows = rows[dim];
			fx.tag.reads = 0;
			assert_true(fill(&fx, insns, 3, USC_STAGE_FRAGMENT, LANES));
			assert_int_equal(fx.tag.reads, 3);
			assert_int_equal(activity_requests(&fx.half.titr.activity), ++reads);
			assert_int_equal(activity_requests(&fx.half.uitr.activity), 0);
			assert_int_equal(fx.tag.request.op, PUMICE_USC_OP_SAMPLE);
			assert_int_equal(fx.tag.request.dim, dims[dim]);
			assert_int_equal(fx.tag.request.ctx, FX_CTX);
			assert_true(fx.tag.request.spans);
			assert_int_equal(fx.tag.request.lanes, (1u << LANES % 32) - 1);
			assert_memory_equal(fx.tag.state, fx.base->data + (STATE_AT - FX_DATA), 48);
			for (lane = 0; lane < LANES; lane++) {
				for (n = 0; n < 4; n++) {
					float want = short_float(at(&fx, lane, 1 + n, mode >= 2));

					if (mode & 1)
						want /= short_float(at(&fx, lane, VARYINGS,
								       mode >= 2));
					assert_int_equal(reg(&fx, lane, 4 + n),
							 n < rows[dim] ? bits(want) : 0);
				}
			}
			finish(&fx);
		}
	}
	fx_destroy(fx.base);
}

/* Write words that are not 0 to the stack of the next calls. */
static __attribute__((noinline)) void soil_stack(void)
{
	volatile u32 words[16384];

	for (u32 n = 0; n < 16384; n++)
		words[n] = 0x3f19999a;
	(void)words[0];
}

/* Neither old contents of the host's stack nor the texture unit's results for such lanes. */
static void lanes_without_an_instance_read_zero(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		TEXTURE(4, 1, PERSPECTIVE, CUBE_ARRAY, STATE_AT), TASK, END,
	};
	struct fragment_fixture fx;
	u32 instances, lane, n;

	(void)state;
	setup(&fx);
	fx.tag.rows = 4;
	for (instances = 4; instances <= LANES; instances += 4) {
		fx.tag.reads = 0;
		soil_stack();
		assert_true(fill(&fx, insns, 3, USC_STAGE_FRAGMENT, instances));
		assert_true(fx.tag.rest_known);
		for (lane = instances; lane % PUMICE_LANES; lane++)
			for (n = 0; n < 12; n++)
				assert_int_equal(fake_usc_attr_lane(fx.base->usc[fx.place.usc],
								    fx.place.group, 0,
								    lane / PUMICE_LANES,
								    lane % PUMICE_LANES, n), 0);
		finish(&fx);
	}
	fx_destroy(fx.base);
}

static void a_read_that_faults_stops_the_task(void **state)
{
	struct pumice_pds_insn insns[] = {
		LDI(V, 0, 1), TEXTURE(4, 1, LINEAR, 2D, STATE_AT), TASK, END,
	};
	struct fragment_fixture fx;

	(void)state;
	setup(&fx);
	fx.tag.rows = 2;
	fx.tag.faults = true;
	assert_false(fill(&fx, insns, 4, USC_STAGE_FRAGMENT, LANES));
	assert_int_equal(fx.base->fault.fault, PUMICE_FAULT_TAG_STATE);
	assert_int_equal(fx.base->fault.pc, 1);
	assert_int_equal(fx.base->fault.usc, fx.place.usc);
	finish(&fx);
	fx.tag.faults = false;
	insns[1].addr = FX_DATA + FX_DATA_BYTES - 44;
	assert_false(fill(&fx, insns, 4, USC_STAGE_FRAGMENT, LANES));
	assert_int_equal(fx.base->fault.fault, PUMICE_FAULT_MMU_PT_INVALID);
	assert_int_equal(fx.base->fault.unit, PUMICE_UNIT_PDS);
	assert_int_equal(fx.base->fault.addr, FX_DATA + FX_DATA_BYTES);
	assert_int_equal(fx.base->fault.pc, 1);
	finish(&fx);
	fx_destroy(fx.base);
}

static void sources_contain_the_pixel(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		MOV(V, 0, FRAG_X), MOV(V, 1, FRAG_Y), MOV(V, 2, FRAG_Z), MOV(V, 3, FRAG_W),
		MOV(V, 4, FRONT), MOV(V, 5, SAMPLE), MOV(V, 6, COVERAGE), TASK, END,
	};
	struct fragment_fixture fx;
	u32 lane, rate;

	(void)state;
	setup(&fx);
	for (rate = 0; rate < 2; rate++) {
		fx.gfx.sample = rate ? 3 : USC_PIXEL_RATE;
		assert_true(fill(&fx, insns, 9, USC_STAGE_FRAGMENT, LANES));
		for (lane = 0; lane < LANES; lane++) {
			const struct usc_span *span = &fx.span[lane / 4];

			assert_int_equal(reg(&fx, lane, 0), 96 + span->quad % 16 * 2 + lane % 2);
			assert_int_equal(reg(&fx, lane, 1),
					 64 + span->quad / 16 * 2 + lane % 4 / 2);
			assert_int_equal(reg(&fx, lane, 2),
					 bits(at(&fx, lane, VARYINGS + 1, false)));
			assert_int_equal(reg(&fx, lane, 3), bits(at(&fx, lane, VARYINGS, false)));
			assert_int_equal(reg(&fx, lane, 4), span->prim & 1);
			assert_int_equal(reg(&fx, lane, 5), rate ? 3 : 0);
			assert_int_equal(reg(&fx, lane, 6), span->samples >> lane % 4 * 4 & 15);
			assert_int_equal(reg(&fx, lane, 7), 0);
		}
		/* Depth and 1/w. */
		assert_int_equal(activity_requests(&fx.half.uitr.activity), (rate + 1) * 2);
		finish(&fx);
	}
	fx_destroy(fx.base);
}

/* The end of a tile: one instance, no primitive. */
static void a_task_of_a_tile_may_have_one_instance(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		DMA(SH, 0, 4, FX_DATA, 0), MOV(V, 0, FRAG_X), TASK, END,
	};
	struct fragment_fixture fx;

	(void)state;
	setup(&fx);
	fx.gfx.stage = USC_STAGE_TILE;
	fx.gfx.spans = 1;
	fx.span[0] = (struct usc_span){ .samples = 1 };
	memset(fx.base->data, 0x42, 16);
	assert_true(fill(&fx, insns, 4, USC_STAGE_TILE, 1));
	assert_int_equal(reg(&fx, 0, 0), 96);
	assert_int_equal(fake_usc_shared(fx.base->usc[fx.place.usc], fx.place.group, 0, 3),
			 0x42424242);
	finish(&fx);
	fx_destroy(fx.base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(planes_are_written_to_the_coefficients_of_each_primitive),
		cmocka_unit_test(words_of_memory_are_written_to_the_coefficients_of_each_primitive),
		cmocka_unit_test(each_primitive_has_an_alternate_set_of_coefficients),
		cmocka_unit_test(varyings_are_interpolated_in_every_mode),
		cmocka_unit_test(reads_ahead_get_coordinates_of_24_bits),
		cmocka_unit_test(lanes_without_an_instance_read_zero),
		cmocka_unit_test(a_read_that_faults_stops_the_task),
		cmocka_unit_test(sources_contain_the_pixel),
		cmocka_unit_test(a_task_of_a_tile_may_have_one_instance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
