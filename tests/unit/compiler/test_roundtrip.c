// SPDX-License-Identifier: MIT
/*
 * Round trip: the assembler reads the disassembler's text back to the same bytes,
 * for every operation, form and type with random legal operands, for words that
 * are not instructions, and for every PDS operation.
 *
 * The first file of each pair consists of .word lines, so that neither the
 * parser of instructions nor the tables select the tested words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "asm.h"
#include "pumice/pumice.h"
#include "pumice_formats.h"
#include "pumice_isa.h"

#define WORDS 4
#define TRIES 80000	/* random encodings tried for one operation, form and type */
#define WANTED 40	/* number of legal ones that are used */
#define MAX_INSNS (64 * WANTED)

static uint64_t rng = 0x9e3779b97f4a7c15u;

static uint32_t random32(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 16);
}

static void print_report(void *data, const char *text)
{
	(void)data;
	print_error("%s", text);
}

/* Assemble; an error fails the test. */
static uint8_t *assemble(const char *text, size_t *bytes)
{
	uint8_t *file = NULL;

	assert_int_equal(pumice_assemble("test", text, print_report, NULL, &file, bytes), 0);
	return file;
}

/* text -> file -> text -> file: both files are the same. Returns the second text. */
static char *round_trip(const char *text)
{
	size_t bytes, again_bytes;
	uint8_t *file = assemble(text, &bytes), *again;
	char error[256];
	char *dis;

	assert_int_equal(pumice_disassemble(file, bytes, &dis, error, sizeof(error)), 0);
	again = assemble(dis, &again_bytes);
	assert_int_equal(bytes, again_bytes);
	assert_memory_equal(file, again, bytes);
	free(file);
	free(again);
	return dis;
}

/* Name of a stage whose programs may use an operation. */
static const char *stage_of(uint32_t opcode)
{
	switch (opcode) {
	case PUMICE_USC_OP_UVSW:
		return "vertex";
	case PUMICE_USC_OP_PBE:
		return "tile";
	case PUMICE_USC_OP_ITR:
	case PUMICE_USC_OP_DISCARD:
	case PUMICE_USC_OP_DEPTH:
		return "fragment";
	default:	/* all of them; these have pixel outputs as operands, too */
		return opcode % 2 ? "fragment" : "tile";
	}
}

/* A program of raw instructions. */
static char *words_text(const char *stage, const uint32_t *words, size_t insns)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, ".stage %s\n.vo 256\n.outputs 32\n", stage);
	fprintf(out, ".temps 248\n.attrs 248\n.shared 4096\n.coeffs 4095\n.coeffs_alt 1023\n");
	for (size_t i = 0; i < insns; i++, words += WORDS)
		fprintf(out, ".word %u, %u, %u, %u\n", words[0], words[1], words[2], words[3]);
	fclose(out);
	return text;
}

/*
 * Operand bits that are often legal: mostly a bank that the class accepts,
 * small numbers, mostly no index.
 */
static uint32_t random_operand(const struct pumice_isa_class *cls)
{
	uint32_t number = random32() % 4 ? random32() % 80 : random32(), bank, elem;

	do {
		bank = random32() % 17;
		elem = random32() % 2;
	} while (random32() % 8 && !((elem ? cls->elem : cls->full) >> bank & 1));
	return bank | (number & 0xfff) << 5 | (random32() % 8 ? 0 : (1 + random32() % 2) << 17) |
	       elem << 19;
}

/* Set fields that operands use; others rarely. */
static void random_shared_fields(const struct pumice_isa_op_info *op, bool immediate, bool indexed,
				 uint32_t *words)
{
	if (immediate || random32() % 16 == 0)
		pumice_isa_set(&pumice_usc_isa, op->layout, PUMICE_USC_FIELD_IMM, words,
			       random32() % 2 ? random32() : random32() % 100);
	if (indexed || random32() % 16 == 0)
		pumice_isa_set(&pumice_usc_isa, op->layout, PUMICE_USC_FIELD_DIM, words,
			       random32() % PUMICE_USC_DIM_COUNT);
}

static void random_fields(const struct pumice_isa_op_info *op, const struct pumice_isa_form *form,
			  uint32_t *words)
{
	bool immediate = false, indexed = false;

	for (unsigned int i = 0; i < form->nr_operands; i++) {
		unsigned int field = form->operands[i].field;
		const struct pumice_isa_class *cls = &pumice_usc_isa.classes[form->operands[i].cls];
		uint32_t value = cls->full || cls->elem ? random_operand(cls) : random32();
		const struct pumice_field_info *place = pumice_isa_place(&pumice_usc_isa,
									 op->layout, field);

		if (form->operands[i].cls == PUMICE_USC_CLASS_TARGET)
			value %= 16;
		if (cls->valid)
			value %= 8;
		immediate |= (cls->full || cls->elem) && 
			     (value & PUMICE_USC_OPERAND__BANK__MASK) == PUMICE_USC_BANK_IMM;
		indexed |= (cls->full || cls->elem) && value & PUMICE_USC_OPERAND__IDX__MASK;
		value &= place->width < 32 ? (1u << place->width) - 1 : ~0u;
		assert_true(pumice_isa_set(&pumice_usc_isa, op->layout, field, words, value));
	}
	random_shared_fields(op, immediate, indexed, words);
}

static bool random_legal(const struct pumice_isa_op_info *op, uint32_t type, uint32_t f,
			 uint32_t *words)
{
	for (unsigned int t = 0; t < TRIES / WANTED; t++) {
		memset(words, 0, WORDS * sizeof(*words));
		words[0] = op->opcode;
		pumice_isa_set(&pumice_usc_isa, op->layout, PUMICE_USC_FIELD_TYPE, words, type);
		pumice_isa_set(&pumice_usc_isa, op->layout, PUMICE_USC_FIELD_FORM, words, f);
		random_fields(op, &op->form[f], words);
		if (pumice_isa_check(&pumice_usc_isa, words) == PUMICE_ISA_UNPACK_OK)
			return true;
	}
	return false;
}

static void every_operation_form_and_type_round_trips(void **state)
{
	static uint32_t words[MAX_INSNS * WORDS];
	unsigned int kinds = 0;

	(void)state;
	for (size_t o = 0; o < pumice_usc_isa.nr_ops; o++) {
		const struct pumice_isa_op_info *op = &pumice_usc_isa.ops[o];
		size_t insns = 0;

		for (uint32_t type = 0; type < PUMICE_USC_TYPE_COUNT; type++) {
			for (uint32_t f = 0; f < PUMICE_ISA_FORMS; f++) {
				size_t before = insns;

				if (!(op->types >> type & 1) || !op->form[f].exists)
					continue;
				for (unsigned int i = 0; i < WANTED; i++)
					insns += random_legal(op, type, f, &words[insns * WORDS]);
				if (insns == before)
					fail_msg("no legal encoding of %s found", op->name);
				kinds++;
			}
		}
		char *text = words_text(stage_of(op->opcode), words, insns);

		free(round_trip(text));
		free(text);
	}
	assert_in_range(kinds, 250, 400);
}

/* Return whether a text contains an example as a line; labels of branches are renamed there. */
static bool has_line(const char *text, const char *example)
{
	char line[256];

	snprintf(line, sizeof(line), "\t%s\n", example);
	return strstr(text, line);
}

static void every_example_of_the_reference_round_trips(void **state)
{
	(void)state;
	for (size_t o = 0; o < pumice_usc_isa.nr_ops; o++) {
		const struct pumice_isa_op_info *op = &pumice_usc_isa.ops[o];
		char text[256];
		char *dis;

		/* A copy needs the local memory that it names. */
		snprintf(text, sizeof(text), ".local 4096\n%s\ndone:\nloop: end\n", op->example);
		dis = round_trip(text);
		/* Hexadecimal numbers and a second immediate are printed differently. */
		if ((op->types > 1 || op->opcode >= PUMICE_USC_OP_UVSW) &&
		    !strstr(op->example, "0x") &&
		    op->opcode != PUMICE_USC_OP_CLAMP && !has_line(dis, op->example))
			fail_msg("%s came back as\n%s", op->example, dis);
		free(dis);
	}
	for (size_t o = 0; o < pumice_pds_isa.nr_ops; o++) {
		char text[256];

		snprintf(text, sizeof(text), "end\n.pds\n%s\n.endpds\n",
			 pumice_pds_isa.ops[o].example);
		free(round_trip(text));
	}
}

/* Each of the lines comes back as it is, from a program of them. Returns the second text. */
static char *lines_round_trip(const char *before, const char *const *lines, size_t count)
{
	char text[1024];
	int used = snprintf(text, sizeof(text), "%s", before);
	char *dis;

	for (size_t i = 0; i < count; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s\n", lines[i]);
	snprintf(text + used, sizeof(text) - used, "end\n");
	dis = round_trip(text);
	for (size_t i = 0; i < count; i++) {
		if (!has_line(dis, lines[i]))
			fail_msg("%s came back as\n%s", lines[i], dis);
	}
	return dis;
}

static void indexed_operands_round_trip_with_bank_dimension_and_element(void **state)
{
	static const char *const lines[] = {
		"mov r1, [one], r[idx0 * 1 + 5]",
		"add.u32 r[idx1 * 4 + 0], v[idx0 * 4 + 3], sh[idx1 * 4 + 9]",
		"add.u32 cf[idx0 * 16 + 2], sh[idx1 * 16 + 5], 7",
		"add.u32 cf[idx0 * 16 + 2], r1, sh[idx1 * 16 + 5]",
		"mov sh[idx0 * 2 + 3], [lo16], 7",
		"mov sh[idx0 * 2 + 3], 7",
		"rotate sh[idx1 * 1 + 3], r2, sh[idx0 * 1 + 4]",
		"add.u32 r1, dc[idx1 * 16 + 4095], v[idx0 * 16 + 0][0]",
		"fma.f32 r1, dc[idx0 * 2 + 0], cf[idx0 * 2 + 1], r[idx0 * 2 + 7]",
		"mov idx0, [one], r3",
		"mov idx1[0], r3[0]",
		"mov sl7, [r1], i3",
		"add.u32 i7[0], sl0, 1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		free(lines_round_trip("", &lines[i], 1));
}

static void an_index_may_omit_dimension_and_number(void **state)
{
	char *dis = round_trip(".alias table, sh[idx1 * 8 + 16]\nadd.u32 r1, r[idx0], 0\n"
			       "add.u32 r1, r2, table\nadd.u32 r1, r[idx0 + 2], 0\nend\n");

	(void)state;
	assert_true(has_line(dis, "add.u32 r1, r[idx0 * 1 + 0], 0"));
	assert_true(has_line(dis, "add.u32 r1, r2, sh[idx1 * 8 + 16]"));
	assert_true(has_line(dis, "add.u32 r1, r[idx0 * 1 + 2], 0"));
	free(dis);
}

static void operands_of_memory_planes_and_textures_are_indexed(void **state)
{
	static const char *const compute[] = {
		"global_load32 sig0, r[idx0 * 4 + 1], [one], sh[idx1 * 4 + 2] + r[idx0 * 4 + 3] + 16",
		"burst_store sig3, [one], cf[idx0 * 1 + 0] + v[idx1 * 1 + 2], r[idx0 * 1 + 4], 5",
		"global_atomic.u32 cmpxchg, sig1, r1, [one], r2, r[idx1 * 2 + 5]",
		"local_load128 r[idx0 * 16 + 1], [one], r2",
		"group_load sig0, sh[idx0 * 1 + 4], r[idx0 * 1 + 0][0] + 4, 8",
		"brz L0, sh[idx1 * 8 + 3]",
	};
	static const char *const fragment[] = {
		"itr r0, perspective, 2, cf[idx0 * 2 + 3], cfa[idx1 * 2 + 0]",
		"sample_lod.f32 r[idx0 * 4 + 0], 2d, r[idx1 * 4 + 8], r[idx1 * 4 + 2], "
		"sh[idx0 * 4 + 12]",
	};

	(void)state;
	free(lines_round_trip(".local 64\nL0:", compute, sizeof(compute) / sizeof(compute[0])));
	free(lines_round_trip("", fragment, sizeof(fragment) / sizeof(fragment[0])));
}

static void a_second_immediate_uses_a_special_constant_with_its_value(void **state)
{
	char *dis = round_trip("clamp.f32 r1, r2, 0.25, 1.0\nbfi.u32 r1[0], 7, 1, 7\nend\n");

	(void)state;
	assert_true(has_line(dis, "clamp.f32 r1, r2, 0.25, sc64"));
	assert_true(has_line(dis, "bfi r1[0], 7, sc1, 7"));
	free(dis);
}

static void special_registers_have_the_numbers_of_the_common_space(void **state)
{
	char *dis = round_trip("add.u32 r1, sr32, 5\nadd.u32 r2, sr44, sr46[0]\nmov r3, [one], sr0\n"
			       "add.u32 sr43, sr36, sr40[0]\nmov sr37[0], sr48[0]\nend\n");

	(void)state;
	assert_true(has_line(dis, "add.u32 r1, instance, 5"));
	assert_true(has_line(dis, "add.u32 r2, usc, valid[0]"));
	assert_true(has_line(dis, "mov r3, [one], instance"));	/* as encoded before */
	assert_true(has_line(dis, "add.u32 sr43, sr36, sr40[0]"));
	assert_true(has_line(dis, "mov sr37[0], tasks_in_group[0]"));
	free(dis);
}

static void stages_outputs_and_texture_reads_round_trip(void **state)
{
	static const char *const programs[][3] = {
		{ ".stage vertex", "uvsw vo255, v3", "ddx.f32 r1, v2" },
		{ ".stage fragment", "itr r4, perspective_centroid, 3, cf3, cf0", "depth.f32 r1" },
		{ ".stage fragment", "itr r4, linear, 1, cf9", "discard [!r1 & r2]" },
		{ ".stage fragment", "add.f32 o1, o0, 0.5", "mov o31, [one], sh3" },
		{ ".stage tile", "pbe sh8", "mov o0, [one], 0" },
		{ ".stage fragment", "mov o0, [one], 0", "sample_lod.f32 r4, cube_array, v0, sh0" },
		{ ".stage fragment", "mov o0, [one], 0", "fetch.u32 r4, 2d_array, v0, r8, sh12" },
		{ ".stage fragment", "mov o0, [one], 0", "gather.i32 v4, 2d, r0, sh0, 3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const char *const *lines = programs[i];
		/* The stage itself is inferred from the instructions. */
		char *dis = lines_round_trip("", &lines[1], 2);

		if (strncmp(dis, lines[0], strlen(lines[0])))
			fail_msg("%s came back as\n%s", lines[0], dis);
		free(dis);
	}
}

static void a_stage_that_cannot_be_inferred_is_kept_as_directive(void **state)
{
	char *dis = round_trip(".stage vertex\n.vo 4\nend\n");

	(void)state;
	assert_non_null(strstr(dis, ".stage vertex\n"));
	assert_non_null(strstr(dis, ".vo 4\n"));
	free(dis);
	dis = round_trip(".stage vertex\n.vo 256\nend\n");
	assert_non_null(strstr(dis, ".vo 256\n"));
	free(dis);
	dis = round_trip(".stage rays\nuvsw vo7, v0\nend\n");
	assert_non_null(strstr(dis, ".stage rays\n"));
	assert_non_null(strstr(dis, ".vo 8\n"));
	free(dis);
	/* Only programs of rays have this source. */
	dis = round_trip(".input v0, ray_t\n.input v1, ray_index\nadd.f32 r0, v0, v1\nend\n");
	assert_non_null(strstr(dis, ".stage rays\n"));
	assert_non_null(strstr(dis, "ray_t"));
	free(dis);
	dis = round_trip("end\n");
	assert_null(strstr(dis, ".stage"));
	free(dis);
}

static void a_mov_without_a_mask_writes_all_lanes(void **state)
{
	char *dis = round_trip("mov r1, r2\nmov r3, 5\nmov r1[0], sh1\nend\n");

	(void)state;
	assert_true(has_line(dis, "mov r1, [one], r2"));
	assert_true(has_line(dis, "mov r3, [one], 5"));
	assert_true(has_line(dis, "mov r1[0], sh1"));
	free(dis);
}

static void the_pds_programs_of_graphics_round_trip(void **state)
{
	char *dis = round_trip(".stage vertex\n.pds\nattr v0, unorm8, 4, 0x1000, 0, 7\n"
			       "attr v4, unorm10_2, 4, 0x2000, 16, 100, 2\nfetch v12, 31\nmov v8, instance_id\n"
			       "task code\nend\n.endpds\nend\n");

	(void)state;
	assert_non_null(strstr(dis, "attr v0, unorm8, 4, 0x1000, 0, 7\n"));
	assert_non_null(strstr(dis, "attr v4, unorm10_2, 4, 0x2000, 16, 100, 2\n"));
	assert_non_null(strstr(dis, "fetch v12, 31\n"));
	free(dis);
	dis = round_trip(".pds\ncoeff cf0, 64, 1\niterate v0, 0, 2, perspective\n"
			 "texture v4, 0, linear_centroid, 2d_array, 0x3000\nmov v8, frag_w\n"
			 "task code\nend\n.endpds\nend\n");
	assert_non_null(strstr(dis, ".stage fragment\n"));
	assert_non_null(strstr(dis, "texture v4, 0, linear_centroid, 2d_array, 0x3000\n"));
	free(dis);
}

static void an_address_without_base_is_its_displacement(void **state)
{
	char *dis = round_trip(".local 32\ndc_window 64, 16\ngroup_load sig0, sh4, 0, 8\n"
			       "group_load_shared sig1, sh8, sh2 + 4, 1024\n"
			       "group_store_shared sig2, sh[idx0 * 2 + 8], sh2, 9\n"
			       "shared_load sig3, sh9, r2[0] + 8, 16\n"
			       "burst_load sig3, r4, [one], r2, 2\ndc_window sh2, 1\n"
			       "global_load128 sig1, r8, [one], r2 + 12\n"
			       "cache_clean_range core, sh2 + 4, 16384\n"
			       "cache_invalidate_range system, 64, 1\nend\n");

	(void)state;
	assert_true(has_line(dis, "dc_window 64, 16"));
	assert_true(has_line(dis, "group_load sig0, sh4, 0, 8"));
	assert_true(has_line(dis, "group_load_shared sig1, sh8, sh2 + 4, 1024"));
	assert_true(has_line(dis, "group_store_shared sig2, sh[idx0 * 2 + 8], sh2, 9"));
	assert_true(has_line(dis, "shared_load sig3, sh9, r2[0] + 8, 16"));
	assert_true(has_line(dis, "burst_load sig3, r4, [one], r2, 2"));
	assert_true(has_line(dis, "dc_window sh2, 1"));
	assert_true(has_line(dis, "global_load128 sig1, r8, [one], r2 + 12"));
	assert_true(has_line(dis, "cache_clean_range core, sh2 + 4, 16384"));
	assert_true(has_line(dis, "cache_invalidate_range system, 64, 1"));
	free(dis);
}

/* The count of the alternate set is in two fields of the header, 8 and 2 bits. */
static void alternate_coefficients_round_trip(void **state)
{
	char *dis = round_trip(".coeffs_alt 0x2a7\nadd.u32 r1, r2, cfa678\nmov cfa3, 5\n"
			       "mov r2, [one], cfa[idx1 * 4 + 9]\nglobal_load32 sig0, r1, [one], "
			       "cfa4 + r2\nend\n"), *pds;

	(void)state;
	assert_true(has_line(dis, "add.u32 r1, r2, cfa678"));
	assert_true(has_line(dis, "mov cfa3, 5"));
	assert_true(has_line(dis, "mov r2, [one], cfa[idx1 * 4 + 9]"));
	assert_true(has_line(dis, "global_load32 sig0, r1, [one], cfa4 + r2"));
	assert_non_null(strstr(dis, ".coeffs_alt 679\n"));
	free(dis);
	pds = round_trip(".pds\nldi cfa2, 1\ndma cfa0, 2, uniforms\ntask code\nend\n.endpds\n"
			 "mov r0, [one], cfa2\nend\n");
	assert_non_null(strstr(pds, ".coeffs_alt 3\n"));
	assert_non_null(strstr(pds, "dma cfa0, 2, uniforms\n"));
	free(pds);
	pds = round_trip(".stage fragment\n.pds\ncoeff cfa0, 64, 1\ntask code\nend\n.endpds\n"
			 "itr r0, perspective, 1, cfa0, cf3\nend\n");
	assert_true(has_line(pds, "itr r0, perspective, 1, cfa0, cf3"));
	free(pds);
}

/* Header words 7 and 8 of a program file: registers as hw/formats.xml packs them. */
static void registers_after_the_first_are_counted(void **state)
{
	size_t bytes;
	uint8_t *file = assemble("burst_load sig0, r4, [one], cf2 + v2, 16\nend\n", &bytes);
	uint32_t words[2];

	(void)state;
	memcpy(words, file + 7 * 4, sizeof(words));
	assert_int_equal(words[0] >> 21 & 0xff, 20);
	assert_int_equal(words[0] >> 13 & 0xff, 3);
	assert_int_equal(words[0] & 0x1fff, 0);
	assert_int_equal(words[1] >> 20, 4);
	free(file);
}

static void words_that_are_not_instructions_round_trip(void **state)
{
	static uint32_t words[2000 * WORDS];
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = random32() & random32();
	text = words_text("fragment", words, 2000);
	free(round_trip(text));
	free(text);
}

/* Words of the first instruction of a program: it follows the header of the file. */
static void first_instruction(const char *text, uint32_t words[WORDS])
{
	size_t bytes;
	uint8_t *file = assemble(text, &bytes);

	memcpy(words, file + PUMICE_PROGRAM_HEADER_WORDS * 4, WORDS * sizeof(words[0]));
	free(file);
}

static void registers_beyond_the_allocation_are_printed_as_words(void **state)
{
	uint32_t words[WORDS];
	char text[256], *dis;

	(void)state;
	first_instruction("add.u32 r5, r2, r3\nend\n", words);
	snprintf(text, sizeof(text), ".temps 4\n.word %u, %u, %u, %u\nend\n", words[0], words[1],
		 words[2], words[3]);
	dis = round_trip(text);
	assert_non_null(strstr(dis, ".word"));
	free(dis);
}

/* A branch to the last instruction has a label; one to that after it would have none. */
static void a_branch_beyond_the_program_is_printed_as_words(void **state)
{
	char text[256];

	(void)state;
	for (uint32_t to = 1; to <= 2; to++) {
		uint32_t words[WORDS];
		char *dis;

		snprintf(text, sizeof(text), "jump %u\nend\nend\n", to);
		first_instruction(text, words);
		snprintf(text, sizeof(text), ".word %u, %u, %u, %u\nend\n", words[0], words[1],
			 words[2], words[3]);
		dis = round_trip(text);
		assert_int_equal(!strstr(dis, ".word"), to == 1);
		free(dis);
	}
}

/* With 68 bytes of local memory it is an instruction. */
static void a_copy_beyond_the_local_memory_is_printed_as_words(void **state)
{
	uint32_t words[WORDS];
	char text[256], *dis;

	(void)state;
	first_instruction(".local 68\ngroup_load sig0, sc0, sh0, 17\nend\n", words);
	for (unsigned int local = 64; local <= 68; local += 4) {
		snprintf(text, sizeof(text), ".local %u\n.shared 2\n.word %u, %u, %u, %u\nend\n",
			 local, words[0], words[1], words[2], words[3]);
		dis = round_trip(text);
		assert_int_equal(has_line(dis, "group_load sig0, sc0, sh0, 17"), local == 68);
		free(dis);
	}
}

static void a_program_of_all_directives_round_trips(void **state)
{
	char *dis = round_trip(".group 16, 4, 2\n.local 256\n.uniforms sh0, 12\n"
			       ".input sh12, groups_y\n.input v3, global_z\n.const sh13, -1.5\n"
			       ".const v4, 7\n.uniforms cf2, 3\n.input cf0, group_z\n"
			       "loop: sub.u32 r1[0], r1[0], 1\nbrnz loop, r1[0]\nend");

	(void)state;
	assert_non_null(strstr(dis, "dma sh0, 12, uniforms\n"));
	assert_non_null(strstr(dis, "mov sh12, groups_y\n"));
	assert_non_null(strstr(dis, "brnz L0, r1[0]\n"));
	assert_non_null(strstr(dis, "dma cf2, 3, uniforms\n"));
	assert_non_null(strstr(dis, "mov cf0, group_z\n"));
	free(dis);
}

/* As many as fit; targets before and after their branches, in another order. */
static void each_of_many_labels_is_its_own_instruction(void **state)
{
	const uint32_t labels = PUMICE_USC_MAX_INSNS - 1;
	uint32_t words[WORDS], wanted[WORDS];
	char *text;
	size_t size, bytes;
	FILE *out = open_memstream(&text, &size);
	uint8_t *file;

	(void)state;
	for (uint32_t i = 0; i < labels; i++)
		fprintf(out, "l%u: jump l%u\n", i, i * 7919 % labels);
	fprintf(out, "end\n");
	fclose(out);
	first_instruction("l: jump l\nend\n", wanted);
	file = assemble(text, &bytes);
	for (uint32_t i = 0; i < labels; i++) {
		memcpy(words, file + PUMICE_PROGRAM_HEADER_WORDS * 4 + i * sizeof(words),
		       sizeof(words));
		pumice_isa_set(&pumice_usc_isa, PUMICE_USC_LAYOUT_FLOW, PUMICE_USC_FIELD_TARGET,
			       wanted, i * 7919 % labels);
		assert_memory_equal(words, wanted, sizeof(words));
	}
	free(text);
	free(file);
}

static void a_handwritten_pds_program_round_trips(void **state)
{
	char *dis = round_trip(".group 8\n.pds\ndma v2, 3, uniforms + 16, 12\ndma sh0, 2, 0x12345678\n"
			       "dma sh4, 4092, 0\n.word 1, 2, 3, 4\nldi v0, 0xffffffff\n"
			       "task code + 16, 1\nend\n.endpds\nend\nend\n");

	(void)state;
	free(dis);
}

static void pds_instructions_without_syntax_are_printed_as_words(void **state)
{
	/* A burst of no words and a task of no instructions, in a program without registers. */
	char *dis = round_trip(".pds\ntask code\n.word 3, 0, 0, 0\n.word 4, 0, 0, 0\nend\n"
			       ".endpds\nend\n");

	(void)state;
	assert_non_null(strstr(dis, ".word 0x00000003"));
	assert_non_null(strstr(dis, ".word 0x00000004"));
	free(dis);
}

/* A task that has no count in the source runs all instructions, of which more follow. */
static void a_task_without_a_count_runs_the_whole_program(void **state)
{
	char *dis = round_trip(".pds\ntask code\nend\n.endpds\nmov r0, [one], 0\nend\n");

	(void)state;
	assert_non_null(strstr(dis, "task code, 2\n"));
	free(dis);
}

/* A burst into a register of each instance: the last one's words are the last of the block. */
static void a_burst_with_a_stride_uses_the_words_of_all_instances(void **state)
{
	struct pumice_program_info info;
	struct pumice_program *program;
	size_t bytes;
	uint8_t *file = assemble(".group 8\n.pds\ndma v2, 3, uniforms + 16, 12\ntask code\nend\n"
				 ".endpds\nend\n", &bytes);

	(void)state;
	assert_int_equal(pumice_program_parse(file, bytes, &program, NULL, 0), 0);
	pumice_program_info(program, &info);
	assert_int_equal(info.uniform_words, (16 + 7 * 12) / 4 + 3);
	pumice_program_destroy(program);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_form_and_type_round_trips),
		cmocka_unit_test(every_example_of_the_reference_round_trips),
		cmocka_unit_test(indexed_operands_round_trip_with_bank_dimension_and_element),
		cmocka_unit_test(an_index_may_omit_dimension_and_number),
		cmocka_unit_test(special_registers_have_the_numbers_of_the_common_space),
		cmocka_unit_test(a_second_immediate_uses_a_special_constant_with_its_value),
		cmocka_unit_test(stages_outputs_and_texture_reads_round_trip),
		cmocka_unit_test(a_stage_that_cannot_be_inferred_is_kept_as_directive),
		cmocka_unit_test(a_mov_without_a_mask_writes_all_lanes),
		cmocka_unit_test(the_pds_programs_of_graphics_round_trip),
		cmocka_unit_test(alternate_coefficients_round_trip),
		cmocka_unit_test(operands_of_memory_planes_and_textures_are_indexed),
		cmocka_unit_test(an_address_without_base_is_its_displacement),
		cmocka_unit_test(registers_after_the_first_are_counted),
		cmocka_unit_test(words_that_are_not_instructions_round_trip),
		cmocka_unit_test(registers_beyond_the_allocation_are_printed_as_words),
		cmocka_unit_test(a_branch_beyond_the_program_is_printed_as_words),
		cmocka_unit_test(a_copy_beyond_the_local_memory_is_printed_as_words),
		cmocka_unit_test(a_program_of_all_directives_round_trips),
		cmocka_unit_test(each_of_many_labels_is_its_own_instruction),
		cmocka_unit_test(a_handwritten_pds_program_round_trips),
		cmocka_unit_test(pds_instructions_without_syntax_are_printed_as_words),
		cmocka_unit_test(a_task_without_a_count_runs_the_whole_program),
		cmocka_unit_test(a_burst_with_a_stride_uses_the_words_of_all_instances),
	};

	return cmocka_run_group_tests_name("compiler-roundtrip", tests, NULL, NULL);
}
