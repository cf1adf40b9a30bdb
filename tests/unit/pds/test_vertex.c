// SPDX-License-Identifier: MIT
/*
 * Values written by PDS programs of vertex tasks: attributes of every kind, size and
 * alignment against a model that decodes them bit by bit in f64, bounds, divisors, sources,
 * bursts, and registers that remain zero.
 */
#include "stage_fixture.h"

#include <math.h>
#include <string.h>

#include "../../../qemu-device/gpu/pds/fill.h"

#define INSTANCES 75u	/* three waves, the last one not full */
#define GARBAGE	0x13579bdfu

struct vertex_fixture {
	struct fixture *base;
	struct stage_owner owner;
	struct pds_stage stage;
	struct pds_place place;
	struct mmu_tlb tlb;
	u32 vertex[INSTANCES];
	struct pds_vertices in;
	u32 pieces;		/* of the last program */
	const struct pumice_vdm_attribute *attribute;
	u32 attributes;
};

static u32 seed = 1;

static u32 rnd(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

static void setup(struct vertex_fixture *fx)
{
	u32 i;

	memset(fx, 0, sizeof(*fx));
	fx->base = fx_create(FX_USCS_PER_CORE, NULL);
	stage_own(fx->base, PDS_DM_VDM, &fx->owner);
	for (i = 0; i < FX_DATA_BYTES; i++)
		fx->base->data[i] = (u8)rnd();
	for (i = 0; i < INSTANCES; i++)
		fx->vertex[i] = rnd() % 200;
	fx->in = (struct pds_vertices){ .vertex = fx->vertex, .instance = 1000,
					.base_instance = 990, .count = INSTANCES };
}

/* Fill one task with a program; its registers can be read until finish(). */
static bool fill(struct vertex_fixture *fx, const struct pumice_pds_insn *insns, u16 count)
{
	const struct pumice_stage registers = { .attrs = 12, .temps = 2, .shared = 6,
						.coeffs = 7 };
	const struct pds_stage_limits limits = {
		.stage = USC_STAGE_VERTEX, .vo = 4, .attribute = fx->attribute,
		.attributes = fx->attributes,
	};
	bool ok;
	u32 pc = 0;

	if (!stage_load(fx->base, &registers, &limits, insns, count, &fx->stage))
		fail_msg("refused: %u", fx->base->fault.fault);
	assert_int_equal(pds_task_claim(fx->base->pds, PDS_DM_VDM, 0, &fx->stage, INSTANCES, 1,
					&fx->place, &fx->base->fault), PDS_STARTED);
	fx->pieces = 0;
	do {
		ok = pds_fill_vertices(fx->base->pds, &fx->place, &fx->stage, &fx->in, &fx->tlb,
				       &pc, &fx->base->fault);
		fx->pieces++;
	} while (ok && pc < fx->stage.program.insns);
	if (ok)
		pds_task_start(fx->base->pds, PDS_DM_VDM, &fx->place, NULL);
	else
		pds_task_drop(fx->base->pds, &fx->place);
	return ok;
}

static void finish(struct vertex_fixture *fx)
{
	fx_finish_all(fx->base);
	pds_stage_drop(fx->base->pds, &fx->stage);
}

static u32 reg(struct vertex_fixture *fx, u32 instance, u32 n)
{
	return fake_usc_attr(fx->base->usc[fx->place.usc], fx->place.group, instance, n);
}

/* Bits from bit on, low ones first. */
static u64 take(const u8 *bytes, u32 bit, u32 width)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < width; i++)
		value |= (u64)(bytes[(bit + i) / 8] >> (bit + i) % 8 & 1) << i;
	return value;
}

static s64 with_sign(u64 value, u32 width)
{
	return value >> (width - 1) ? (s64)value - ((s64)1 << width) : (s64)value;
}

static u32 as_bits(double value)
{
	float f = (float)value;
	u32 bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static double half(u64 h)
{
	const double sign = h >> 15 ? -1 : 1;
	const int exponent = (int)(h >> 10 & 31);
	const double mantissa = (double)(h & 1023);

	if (exponent == 31)
		return h & 1023 ? NAN : sign * INFINITY;
	return sign * (exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24));
}

enum number { FLOATING, UNORM, SNORM, UINT, SINT };

/* Each kind: type and width of its numbers; 0 for 10, 10, 10, 2. */
static const struct {
	enum number number;
	u32 width;
} kinds[PUMICE_ATTR_KIND_COUNT] = {
	[PUMICE_ATTR_KIND_F32] = { FLOATING, 32 }, [PUMICE_ATTR_KIND_F16] = { FLOATING, 16 },
	[PUMICE_ATTR_KIND_UNORM8] = { UNORM, 8 }, [PUMICE_ATTR_KIND_SNORM8] = { SNORM, 8 },
	[PUMICE_ATTR_KIND_UINT8] = { UINT, 8 }, [PUMICE_ATTR_KIND_SINT8] = { SINT, 8 },
	[PUMICE_ATTR_KIND_UNORM16] = { UNORM, 16 }, [PUMICE_ATTR_KIND_SNORM16] = { SNORM, 16 },
	[PUMICE_ATTR_KIND_UINT16] = { UINT, 16 }, [PUMICE_ATTR_KIND_SINT16] = { SINT, 16 },
	[PUMICE_ATTR_KIND_UINT32] = { UINT, 32 }, [PUMICE_ATTR_KIND_SINT32] = { SINT, 32 },
	[PUMICE_ATTR_KIND_UNORM10_2] = { UNORM, 0 }, [PUMICE_ATTR_KIND_SNORM10_2] = { SNORM, 0 },
	[PUMICE_ATTR_KIND_UINT10_2] = { UINT, 0 }, [PUMICE_ATTR_KIND_SINT10_2] = { SINT, 0 },
};

/* Component comp of an element with comps components. */
static u32 model(u32 kind, u32 comps, u32 comp, const u8 *bytes)
{
	const enum number number = kinds[kind].number;
	u32 width = kinds[kind].width, bit = comp * width;
	u64 raw;
	double value;

	if (comp >= comps)
		return comp < 3 ? 0 : number == UINT || number == SINT ? 1 : as_bits(1);
	if (!width) {
		width = comp == 3 ? 2 : 10;
		bit = comp * 10;
	}
	raw = take(bytes, bit, width);
	switch (number) {
	case FLOATING:
		return width == 32 ? (u32)raw : as_bits(half(raw));
	case UNORM:
		return as_bits((double)raw / (double)((1ull << width) - 1));
	case SNORM:
		value = (double)with_sign(raw, width) / (double)((1ull << (width - 1)) - 1);
		return as_bits(value < -1 ? -1 : value);
	case UINT:
		return (u32)raw;
	default:
		return (u32)with_sign(raw, width);
	}
}

static bool is_nan(u32 word)
{
	return (word & 0x7fffffff) > 0x7f800000;
}

/* All of an attribute's registers against the model. */
static void check_attr(struct vertex_fixture *fx, const struct pumice_pds_insn *insn)
{
	u32 i, comp;

	for (i = 0; i < INSTANCES; i++) {
		u64 n = insn->divisor ? 990u + 10u / insn->divisor : fx->vertex[i];
		u8 zero[16] = { 0 };
		const u8 *bytes = n < insn->elements ?
				  fx->base->data + (insn->addr - FX_DATA) + n * insn->stride : zero;

		for (comp = 0; comp < 4; comp++) {
			u32 want = model(insn->kind, insn->comps, comp, bytes);
			u32 got = reg(fx, i, insn->reg + comp);

			if (got != want && !(is_nan(got) && is_nan(want)))
				fail_msg("kind %u comps %u comp %u instance %u: 0x%x, not 0x%x",
					 insn->kind, insn->comps, comp, i, got, want);
		}
	}
}

static void every_kind_and_size_is_converted(void **state)
{
	static const u16 strides[] = { 0, 1, 7, 12, 16, 33 };
	struct vertex_fixture fx;
	u32 kind, comps, stride;

	(void)state;
	setup(&fx);
	for (kind = 0; kind < PUMICE_ATTR_KIND_COUNT; kind++) {
		for (comps = 1; comps <= 4; comps++) {
			for (stride = 0; stride < 6; stride++) {
				struct pumice_pds_insn insns[] = {
					ATTR(8, (u8)kind, (u8)comps, FX_DATA + rnd() % 64,
					     strides[stride], 200 - rnd() % 30, 0),
					TASK, END,
				};

				assert_true(fill(&fx, insns, 3));
				check_attr(&fx, &insns[0]);
				finish(&fx);
			}
		}
	}
	fx_destroy(fx.base);
}

/* Every f16 and every 16-bit number, 8-bit ones with them. */
static void every_number_is_converted(void **state)
{
	static const u8 wide[] = { PUMICE_ATTR_KIND_F16, PUMICE_ATTR_KIND_UNORM16,
				   PUMICE_ATTR_KIND_SNORM16, PUMICE_ATTR_KIND_SINT16 };
	struct vertex_fixture fx;
	u32 kind, first, i;

	(void)state;
	setup(&fx);
	for (kind = 0; kind < sizeof(wide); kind++) {
		struct pumice_pds_insn insns[] = {
			ATTR(0, wide[kind], 4, FX_DATA, 8, INSTANCES, 0), TASK, END,
		};

		for (first = 0; first < 65536; first += INSTANCES * 4) {
			for (i = 0; i < INSTANCES * 4; i++) {
				u16 value = (u16)(first + i);

				memcpy(fx.base->data + 2 * i, &value, 2);
			}
			for (i = 0; i < INSTANCES; i++)
				fx.vertex[i] = i;
			assert_true(fill(&fx, insns, 3));
			check_attr(&fx, &insns[0]);
			finish(&fx);
		}
	}
	fx_destroy(fx.base);
}

/* The element that crosses a page is read from both; nothing after the last element is read. */
static void elements_may_cross_pages_and_end_at_the_end_of_memory(void **state)
{
	struct vertex_fixture fx;
	u32 i, kind;

	(void)state;
	setup(&fx);
	for (kind = 0; kind < 2; kind++) {
		const u32 bytes = kind ? 8 : 16;	/* f16 and f32, four each */
		const u32 stride = kind ? 9 : 17;
		const u64 addr = FX_DATA + FX_DATA_BYTES - bytes - stride * 299;
		struct pumice_pds_insn insns[] = {
			ATTR(4, (u8)kind, 4, addr, (u16)stride, 300, 0), TASK, END,
		};

		for (i = 0; i < INSTANCES; i++)
			fx.vertex[i] = i * 4 + 3 + (i == 0);
		fx.vertex[7] = 300;	/* one beyond the array, unmapped */
		fx.vertex[8] = UINT32_MAX;
		assert_true(fill(&fx, insns, 3));
		check_attr(&fx, &insns[0]);
		finish(&fx);
	}
	fx_destroy(fx.base);
}

static void a_fault_reports_position_and_instruction(void **state)
{
	struct vertex_fixture fx;
	struct pumice_pds_insn insns[] = {
		LDI(V, 0, 1), ATTR(4, PUMICE_ATTR_KIND_F32, 4, FX_DATA, 4096, UINT32_MAX, 0),
		TASK, END,
	};

	(void)state;
	setup(&fx);
	memset(fx.vertex, 0, sizeof(fx.vertex));
	fx.vertex[40] = FX_DATA_BYTES / 4096;
	assert_false(fill(&fx, insns, 4));
	fx_expect_fault(fx.base, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_PDS,
			FX_DATA + FX_DATA_BYTES, 1);
	finish(&fx);
	/* Half of the element is mapped. */
	insns[1].addr = FX_DATA + FX_DATA_BYTES - 8;
	memset(fx.vertex, 0, sizeof(fx.vertex));
	assert_false(fill(&fx, insns, 4));
	fx_expect_fault(fx.base, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_PDS,
			FX_DATA + FX_DATA_BYTES, 1);
	finish(&fx);
	/* Beyond the address space. */
	insns[1].addr = (1ull << 40) - 4096;
	memset(fx.vertex, 0xff, sizeof(fx.vertex));
	fx.vertex[0] = 1;
	assert_false(fill(&fx, insns, 4));
	fx_expect_fault(fx.base, PUMICE_FAULT_MMU_ADDRESS, PUMICE_UNIT_PDS, 1ull << 40, 1);
	finish(&fx);
	fx_destroy(fx.base);
}

static void a_divisor_counts_instances_from_the_base(void **state)
{
	struct vertex_fixture fx;
	u32 divisor;

	(void)state;
	setup(&fx);
	for (divisor = 1; divisor < 256; divisor += divisor < 16 ? 1 : 59) {
		struct pumice_pds_insn insns[] = {
			ATTR(0, PUMICE_ATTR_KIND_UINT16, 2, FX_DATA, 4, 996, (u8)divisor), TASK,
			END,
		};

		assert_true(fill(&fx, insns, 3));
		check_attr(&fx, &insns[0]);
		finish(&fx);
	}
	fx_destroy(fx.base);
}

static void sources_bursts_and_unwritten_registers(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		MOV(V, 1, VERTEX), MOV(V, 2, INSTANCE), LDI(V, 3, GARBAGE), LDI(SH, 5, GARBAGE + 1),
		DMA(SH, 0, 4, FX_DATA + 8, 0), DMA(V, 6, 2, FX_DATA + 16, 12), TASK, END,
	};
	struct vertex_fixture fx;
	struct usc *usc;
	u32 i, n, word;

	(void)state;
	setup(&fx);
	assert_true(fill(&fx, insns, 8));
	usc = fx.base->usc[fx.place.usc];
	for (i = 0; i < INSTANCES; i++) {
		for (n = 0; n < 12; n++) {
			u32 want = n == 1 ? fx.vertex[i] : n == 2 ? 1000 : n == 3 ? GARBAGE : 0;

			if (n == 6 || n == 7)
				memcpy(&want, fx.base->data + 16 + 12 * i + 4 * (n - 6), 4);
			assert_int_equal(reg(&fx, i, n), want);
		}
	}
	for (n = 0; n < 6; n++) {
		memcpy(&word, fx.base->data + 8 + 4 * n, 4);
		word = n < 4 ? word : n == 5 ? GARBAGE + 1 : 0;
		assert_int_equal(fake_usc_shared(usc, fx.place.group, 0, n), word);
	}
	/* 16 bytes, and two words of each instance, one burst per wave: gaps are not read. */
	assert_int_equal(fx_counter(fx.base, PUMICE_PERF_PDS_DMA_BYTES), 16 + INSTANCES * 8);
	finish(&fx);
	fx_destroy(fx.base);
}

/* Programs of random fields: accepted ones write their own registers only. */
/* An entry of the table has the effect of an attr with its values. */
static void attributes_of_the_table_are_those_of_attr(void **state)
{
	const struct pumice_vdm_attribute table[PUMICE_MAX_ATTRIBUTES] = {
		{ .kind = PUMICE_ATTR_KIND_SNORM8, .comps = 3, .addr = FX_DATA + 5, .stride = 7,
		  .elements = 150 },
		{ .kind = PUMICE_ATTR_KIND_F32, .comps = 2, .addr = FX_DATA + 64, .stride = 12,
		  .elements = 20, .divisor = 3 },
		[31] = { .kind = PUMICE_ATTR_KIND_UINT16, .comps = 4, .addr = FX_DATA + 2,
			 .stride = 8, .elements = ~0u },
	};
	const struct pumice_pds_insn by_table[] = { FETCH(0, 31), FETCH(4, 0),
						    FETCH(8, 1), TASK, END };
	const struct pumice_pds_insn by_value[] = {
		ATTR(0, PUMICE_ATTR_KIND_UINT16, 4, FX_DATA + 2, 8, ~0u, 0),
		ATTR(4, PUMICE_ATTR_KIND_SNORM8, 3, FX_DATA + 5, 7, 150, 0),
		ATTR(8, PUMICE_ATTR_KIND_F32, 2, FX_DATA + 64, 12, 20, 3), TASK, END,
	};
	struct vertex_fixture *fx = test_malloc(sizeof(*fx));
	u32 expected[INSTANCES][12], i, n;

	(void)state;
	setup(fx);
	assert_true(fill(fx, by_value, 5));
	for (i = 0; i < INSTANCES; i++)
		for (n = 0; n < 12; n++)
			expected[i][n] = reg(fx, i, n);
	finish(fx);
	fx->attribute = table;
	fx->attributes = 32;
	assert_true(fill(fx, by_table, 5));
	for (i = 0; i < INSTANCES; i++)
		for (n = 0; n < 12; n++)
			assert_int_equal(reg(fx, i, n), expected[i][n]);
	finish(fx);
	fx_destroy(fx->base);
	test_free(fx);
}

static void random_programs_stay_within_their_registers(void **state)
{
	static const u8 ops[] = { PUMICE_PDS_OP_LDI, PUMICE_PDS_OP_MOV, PUMICE_PDS_OP_DMA,
				  PUMICE_PDS_OP_ATTR };
	const struct pumice_stage registers = { .attrs = 12, .temps = 2, .shared = 6,
						.coeffs = 7 };
	const struct pds_stage_limits limits = { .stage = USC_STAGE_VERTEX, .vo = 4 };
	struct vertex_fixture fx;
	u32 round, loaded = 0, faults = 0;

	(void)state;
	setup(&fx);
	for (round = 0; round < 20000; round++) {
		struct pumice_pds_insn insns[] = {
			{ .opcode = ops[rnd() % 4], .bank = (u8)(rnd() % 3),
			  .reg = (u16)(rnd() % 14),
			  .source = (u8)(32 + rnd() % 2), .imm = rnd(), .count = (u16)(rnd() % 8),
			  .addr = FX_DATA + rnd() % FX_DATA_BYTES / (1 + rnd() % 4 * 3) / 4 * 4,
			  .stride = (u16)(rnd() % 9 * 4), .kind = (u8)(rnd() % 16),
			  .comps = (u8)(rnd() % 6), .elements = rnd() % 400,
			  .divisor = (u8)(rnd() % 3) },
			TASK, END,
		};

		if (insns[0].opcode != PUMICE_PDS_OP_LDI)
			insns[0].imm = 0;
		if (insns[0].opcode != PUMICE_PDS_OP_MOV)
			insns[0].source = 0;
		if (!stage_load(fx.base, &registers, &limits, insns, 3, &fx.stage))
			continue;
		pds_stage_drop(fx.base->pds, &fx.stage);
		loaded++;
		faults += !fill(&fx, insns, 3);
		finish(&fx);
	}
	assert_true(loaded > 2000 && faults > 10);
	fx_destroy(fx.base);
}

/*
 * Programs of many instructions that read each element from a separate page, or write many
 * registers: no piece exceeds its share by more than an instruction, and the result is the
 * same as without pieces.
 */
static void long_programs_are_run_in_pieces(void **state)
{
	enum { REPEATS = 60 };
	struct pumice_pds_insn insns[PUMICE_PDS_MAX_INSNS] = { 0 };
	struct vertex_fixture fx;
	u32 i;

	(void)state;
	setup(&fx);
	for (i = 0; i < INSTANCES; i++)
		fx.vertex[i] = i % 8;
	for (i = 0; i < REPEATS; i++)
		insns[i] = (struct pumice_pds_insn)ATTR((u8)(i % 3 * 4), PUMICE_ATTR_KIND_F32, 4,
							FX_DATA + i * 16, 4096, 8, 0);
	insns[i++] = (struct pumice_pds_insn)TASK;
	insns[i++] = (struct pumice_pds_insn)END;
	assert_true(fill(&fx, insns, (u16)i));
	for (i = REPEATS - 3; i < REPEATS; i++)
		check_attr(&fx, &insns[i]);
	assert_true(fx.pieces >= REPEATS * INSTANCES / (PDS_PIECE_READS + INSTANCES));
	finish(&fx);
	for (i = 0; i < PUMICE_PDS_MAX_INSNS - 2; i++)
		insns[i] = (struct pumice_pds_insn)LDI(V, (u8)(i % 12), i);
	insns[i++] = (struct pumice_pds_insn)TASK;
	insns[i++] = (struct pumice_pds_insn)END;
	assert_true(fill(&fx, insns, (u16)i));
	for (i = PUMICE_PDS_MAX_INSNS - 14; i < PUMICE_PDS_MAX_INSNS - 2; i++)
		assert_int_equal(reg(&fx, INSTANCES - 1, i % 12), i);
	assert_int_equal(fx.pieces, 1 + PUMICE_PDS_MAX_INSNS * INSTANCES / PDS_PIECE_WORDS);
	finish(&fx);
	fx_destroy(fx.base);
}

static void words_of_memory_are_written_to_coefficient_registers(void **state)
{
	static const struct pumice_pds_insn insns[] = { DMA(CF, 2, 4, FX_DATA + 12, 0), TASK, END };
	struct vertex_fixture fx;
	u32 n, want;

	(void)state;
	setup(&fx);
	assert_true(fill(&fx, insns, 3));
	for (n = 0; n < 7; n++) {
		want = 0;
		if (n >= 2 && n <= 5)
			memcpy(&want, fx.base->data + 12 + (n - 2) * 4, sizeof(want));
		assert_int_equal(fake_usc_coeff(fx.base->usc[fx.place.usc], fx.place.group, 0, n),
				 want);
	}
	finish(&fx);
	fx_destroy(fx.base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_and_size_is_converted),
		cmocka_unit_test(every_number_is_converted),
		cmocka_unit_test(elements_may_cross_pages_and_end_at_the_end_of_memory),
		cmocka_unit_test(a_fault_reports_position_and_instruction),
		cmocka_unit_test(a_divisor_counts_instances_from_the_base),
		cmocka_unit_test(sources_bursts_and_unwritten_registers),
		cmocka_unit_test(random_programs_stay_within_their_registers),
		cmocka_unit_test(long_programs_are_run_in_pieces),
		cmocka_unit_test(words_of_memory_are_written_to_coefficient_registers),
		cmocka_unit_test(attributes_of_the_table_are_those_of_attr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
