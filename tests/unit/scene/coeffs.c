// SPDX-License-Identifier: MIT
/*
 * Fragment stages whose inputs are in both sets of coefficient registers: planes of the colour in
 * the alternate one, constants in both, loaded by dma.
 *
 * The library's inputs have planes in CF only and constants in SH, so the PDS program that it
 * generates is copied, and the instructions for these inputs are placed before it.
 *
 * Registers: cf0 to cf2 and cfa15 to cfa17 constant planes, cfa0 to cfa11 planes of the colour,
 * cfa12 to cfa14 that of 1/w. Constants are planes too, since itr is the only instruction
 * that reads the coefficients of each lane's own primitive: so all copies of them are compared.
 */
#include <stdio.h>

#include "pumice_isa.h"
#include "scene.h"

#define INSNS	4u	/* before the library's */
#define PART	16.0f	/* of the draw's number that is in CFA; a sum without rounding */

void scene_coeffs_text(uint32_t interpolation, const char *text, char *out, size_t bytes)
{
	static const char *const modes[] = {
		[INTERP_PERSPECTIVE] = "perspective, 4, cfa0, cfa12",
		[INTERP_LINEAR] = "linear, 4, cfa0",
		[INTERP_FLAT] = "linear, 4, cfa0",
		[INTERP_CENTROID] = "perspective_centroid, 4, cfa0, cfa12",
	};
	const char *number = strstr(text, "sh0\n");

	assert_non_null(number);
	snprintf(out, bytes,
		 ".coeffs 3\n.coeffs_alt 18\n"
		 "itr v0, %s\nitr r10, linear, 1, cf0\nitr r11, linear, 1, cfa15\n"
		 "add.f32 r10, r10, r11\n%.*sr10\n%s",
		 modes[interpolation], (int)(number - text), text, number + strlen("sh0\n"));
}

void scene_coeffs_stage(struct fixture *fx, const struct pumice_stage_desc *desc, float number,
			uint32_t words[4])
{
	const uint32_t constants[2][3] = {
		{ 0, 0, fx_f32(number + PART) }, { 0, 0, fx_f32(-PART) },
	};
	struct pumice_pds_insn insn[INSNS] = {
		{ .opcode = PUMICE_PDS_OP_COEFF, .bank = PUMICE_PDS_BANK_CFA, .comps = 4 },
		{ .opcode = PUMICE_PDS_OP_COEFF, .bank = PUMICE_PDS_BANK_CFA, .reg = 12,
		  .varying = 64, .comps = 1 },
		{ .opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_CF, .count = 3 },
		{ .opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_CFA, .reg = 15, .count = 3 },
	};
	struct pumice_stage stage;
	uint64_t bytes, va, size;
	uint32_t *code, n;
	void *data;

	fx_check(fx, "fragment stage", pumice_stream_stage(fx->stream, desc, words));
	assert_int_equal(pumice_stage_unpack(words, &stage), PUMICE_UNPACK_OK);
	assert_int_equal(stage.coeffs, 3);
	assert_int_equal(stage.coeffs_alt, 18);
	fx_check(fx, "constants",
		 pumice_stream_data(fx->stream, sizeof(constants), 16, &data, &insn[2].addr));
	memcpy(data, constants, sizeof(constants));
	insn[3].addr = insn[2].addr + sizeof(constants[0]);
	bytes = (uint64_t)stage.pds_insns * PUMICE_PDS_WORDS * 4;
	size = bytes + sizeof(uint32_t[INSNS * PUMICE_PDS_WORDS]);
	fx_check(fx, "PDS program", pumice_stream_data(fx->stream, size, 16, &data, &va));
	code = data;
	for (n = 0; n < INSNS; n++)
		pumice_pds_pack(code + n * PUMICE_PDS_WORDS, &insn[n]);
	/* A stream is one buffer: addresses and pointers differ by the same number everywhere. */
	memcpy(code + INSNS * PUMICE_PDS_WORDS, (uint8_t *)data + (stage.pds_addr - va), bytes);
	stage.pds_addr = va;
	stage.pds_insns = (uint16_t)(stage.pds_insns + INSNS);
	pumice_stage_pack(words, &stage);
}
