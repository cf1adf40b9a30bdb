// SPDX-License-Identifier: MIT
/* Programs of the tests: assembled, and loaded as libpumice would. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "program_header.h"
#include "pumice_isa.h"
#include "fixture.h"

#define INSN_WORDS	4u
#define PBE_STATE	(FX_CODE + FX_BYTES - 64)	/* of two stores */
#define TEXTURE_STATE	(FX_CODE + FX_BYTES - 128)

_Static_assert(TEXTURE_STATE == 0x317ff80, "as in READ");
_Static_assert(FX_ATTRIBUTES == 0x3009000, "as in FX_VERTEX_BASE");
#define READ		"texture v4, 0, linear, 2d, 0x317ff80\n"
_Static_assert(FX_CODE == 0x3100000, "as in FX_BURST");
_Static_assert(FX_BURST_WORDS == 2048 && FX_BURST_COEFFS_WORDS == 256, "as in FX_BURST");
#define BURST(to)	".stage fragment\n.pds\ndma " to ", 0x3100000\n" \
			"iterate v0, 0, 2, linear\ntask code, INSNS\nend\n.endpds\n" \
			"mov o0, v0\nend\n"

#define INPUT		".pds\ncoeff cf0, 64, 1\niterate v0, 0, 2, linear\n" \
			"mov v2, frag_x\nmov v3, frag_y\ntask code, INSNS\nend\n.endpds\n"
#define BLEND		"mul.f32 r0, o0, 0.5\nadd.f32 r0, r0, v0\nmov o0, r0\nend\n"

/* A program and the registers that the PDS fills for it. */
#define FILLED(input, code)	".stage fragment\n.pds\n" input \
				"task code, INSNS\nend\n.endpds\n" code "end\n"

static const char *const texts[FX_PROGRAMS] = {
	[FX_PLAIN] = ".stage fragment\n" INPUT "mov o0, v0\nend\n",
	[FX_BLEND] = ".stage fragment\n" INPUT BLEND,
	[FX_PUNCH] = ".stage fragment\n" INPUT
		"xor r1, v2, v3\nxor r1, r1, 1\nand r1, r1, 1\ndiscard [r1]\n" BLEND,
	[FX_DEPTH_OUT] = ".stage fragment\n" INPUT "depth.f32 v1\n" BLEND,
	[FX_DEPTH_MOV] = ".stage fragment\n.pds\nmov v0, frag_z\ntask code, INSNS\nend\n.endpds\n"
		"mov o0, v0\nend\n",
	[FX_DEPTH_ITERATE] = ".stage fragment\n.pds\niterate v0, 64, 2, linear\n"
		"task code, INSNS\nend\n.endpds\nmov o0, v1\nend\n",
	[FX_DEPTH_COEFF] = ".stage fragment\n.pds\ncoeff cf0, 64, 2\ntask code, INSNS\nend\n.endpds\n"
		"itr r0, linear, 1, cf3\nmov o0, r0\nend\n",
	[FX_LOOP] = ".stage fragment\n" INPUT "again:\nadd.u32 r0, v0, 1\njump again\nend\n",
	[FX_BAD_STORE] = ".stage fragment\n.pds\nldi sh0, 0\nldi sh1, 0x7f\niterate v0, 0, 2, linear\n"
		"task code, INSNS\nend\n.endpds\n"
		"mov r0, 0\nglobal_store32 sig0, [one], sh0 + r0, v0\nend\n",
	[FX_READS] = ".stage fragment\n.pds\ncoeff cf0, 64, 1\niterate v0, 0, 2, linear\n"
		READ READ READ READ READ READ READ READ "task code, INSNS\nend\n.endpds\n" BLEND,
	[FX_TEXEL] = ".stage fragment\n.pds\ncoeff cf0, 64, 1\niterate v0, 0, 2, linear\n"
		READ "task code, INSNS\nend\n.endpds\n" BLEND,
	[FX_BURST] = BURST("sh0, 2048"),
	[FX_BURST_COEFFS] = BURST("cf0, 256"),
	[FX_BACKGROUND] = ".stage fragment\n.pds\ntask code, INSNS\nend\n.endpds\n"
		"mov o0, 0.25\nend\n",
	[FX_BACKGROUND_READ] = FILLED("dma sh0, 1, 0x3009000\n", "mov o0, sh0\n"),
	[FX_BACKGROUND_COLUMN] = FILLED("mov v0, frag_x\n", "mov o0, v0\n"),
	[FX_BACKGROUND_PART] = FILLED("", "mov o0, [ch2], 0.25\n"),
	[FX_BACKGROUND_LANES] = FILLED("", "mov o0, sid\n"),
	[FX_BACKGROUND_BANKS] = FILLED("ldi sh0, 0x3f000000\nldi v0, 5\n", "mov o0, sh0\n"),
	/* Registers that no background is given, next to shared ones that it is. */
	[FX_BACKGROUND_COEFFS] = ".shared 4\n.coeffs 1000\n" FILLED("", "mov o0, cf990\n"),
	[FX_BACKGROUND_ALL_SHARED] = ".shared 4096\n.coeffs 1000\n" FILLED("", "mov o0, cf86\n"),
	[FX_BACKGROUND_COEFFS_ALT] = ".coeffs_alt 8\n" FILLED("", "mov o0, 0.75\nmov o0, cfa0\n"),
	[FX_BACKGROUND_SLOT] = FILLED("", "mov o0, 0.75\nmov o0, sl0\n"),
	[FX_BACKGROUND_TEMP] = FILLED("", "mov o0, 0.75\nmov o0, r0[0]\n"),
	[FX_BACKGROUND_UNWRITTEN] = ".shared 4096\n" FILLED("ldi sh0, 0x3f000000\n",
							  "mov o0, sh4095\n"),
	[FX_BACKGROUND_WORDS] = ".shared 2048\n" FILLED("dma sh0, 2048, 0x3009000\n",
							 "mov o0, sh0\n"),
	[FX_BACKGROUND_INDEXED] = FILLED("", "mov idx0, [one], 0\nmov o[idx0 + 0], 0.25\n"),
	[FX_NOTHING] = ".stage fragment\n.pds\ntask code, INSNS\nend\n.endpds\nend\n",
	[FX_END_OF_TILE] = ".stage tile\n.pds\ndma sh0, 8, PBE\ntask code, INSNS\nend\n.endpds\n"
		"pbe sh0\nend\n",
	[FX_END_OF_TILE_TWO] = ".stage tile\n.pds\ndma sh0, 16, PBE\ntask code, INSNS\nend\n.endpds\n"
		"pbe sh0\npbe sh8\nend\n",
	[FX_TILE_LOOP] = ".stage tile\n.pds\ntask code, INSNS\nend\n.endpds\n"
		"again:\nmov r0, 1\njump again\nend\n",
	[FX_VERTEX] = ".stage vertex\n.pds\nmov v0, vertex\nmov v1, instance_id\n"
		"task code, INSNS\nend\n.endpds\n"
		"cvt_f32.u32 r0, v0\nuvsw vo4, r0\ncvt_f32.u32 r0, v1\nuvsw vo5, r0\nend\n",
	[FX_VERTEX_BASE] = ".stage vertex\n.pds\nattr v0, f32, 1, 0x3009000, 4, 100, 200\n"
		"task code, INSNS\nend\n.endpds\nuvsw vo4, v0\nend\n",
	[FX_VERTEX_SECOND] = ".stage vertex\n.pds\nmov v0, vertex\ntask code, INSNS\nend\n.endpds\n"
		"cvt_f32.u32 r0, v0\nuvsw vo5, r0\nend\n",
	[FX_VERTEX_LOOP] = ".stage vertex\n.pds\nmov v0, vertex\ntask code, INSNS\nend\n.endpds\n"
		"again:\nadd.u32 r0, v0, 1\njump again\nend\n",
	[FX_VERTEX_FAR] = ".stage vertex\n.pds\nattr v0, f32, 1, 0x7f00000000, 4, 4000000000\n"
		"task code, INSNS\nend\n.endpds\nend\n",
};

static void report(void *data, const char *text)
{
	(void)data;
	fputs(text, stderr);
}

/* The text with placeholders replaced. */
static void replace(char *text, const char *word, const char *by)
{
	char *at = strstr(text, word), rest[1024];

	if (!at)
		return;
	snprintf(rest, sizeof(rest), "%s", at + strlen(word));
	sprintf(at, "%s%s", by, rest);
}

static u32 count_lines(const char *text)
{
	const char *from = strstr(text, ".endpds\n") + strlen(".endpds\n");
	u32 lines = 0;

	for (; *from; from++)
		lines += *from == '\n';
	return lines - (strstr(text, "again:") != NULL);
}

static void load(struct fixture *fx, enum fx_program n)
{
	struct pumice_program_header header;
	struct pumice_program_reloc reloc;
	char text[2048], number[32];
	const u32 *words;
	u64 usc_va, pds_va;
	uint8_t *file;
	size_t bytes;
	u32 *pds, i;

	snprintf(text, sizeof(text), "%s", texts[n]);
	snprintf(number, sizeof(number), "%u", count_lines(text));
	replace(text, "INSNS", number);
	snprintf(number, sizeof(number), "0x%llx", (unsigned long long)PBE_STATE);
	replace(text, "PBE", number);
	if (pumice_assemble("test", text, report, NULL, &file, &bytes))
		fail_msg("%s", text);
	words = (const u32 *)(const void *)file;
	assert_int_equal(pumice_program_header_unpack(words, &header), PUMICE_UNPACK_OK);
	words += PUMICE_PROGRAM_HEADER_WORDS;
	usc_va = FX_CODE + fx->code_used;
	memcpy(fx->code + fx->code_used, words, header.usc_insns * 16);
	fx->code_used += header.usc_insns * 16;
	pds_va = FX_CODE + fx->code_used;
	pds = (u32 *)(void *)(fx->code + fx->code_used);
	memcpy(pds, words + header.usc_insns * INSN_WORDS, header.pds_insns * 16);
	fx->code_used += header.pds_insns * 16;
	words += (header.usc_insns + header.pds_insns) * INSN_WORDS;
	for (i = 0; i < header.relocs; i++) {
		struct pumice_pds_insn insn;

		pumice_program_reloc_unpack(words + i, &reloc);
		assert_int_equal(pumice_pds_unpack(pds + reloc.insn * INSN_WORDS, &insn), 0);
		insn.addr += usc_va;
		pumice_pds_pack(pds + reloc.insn * INSN_WORDS, &insn);
	}
	fx->stage[n] = (struct pumice_stage){
		.pds_addr = pds_va, .pds_insns = (u16)header.pds_insns, .shared = header.shared,
		.attrs = header.attrs, .temps = header.temps, .coeffs = header.coeffs,
		.coeffs_alt = (u16)pumice_program_coeffs_alt(&header),
	};
	free(file);
}

/* A single texel, and how it is read. */
static void write_texture(struct fixture *fx)
{
	u32 *words = (u32 *)(void *)(fx->code + (TEXTURE_STATE - FX_CODE));

	pumice_texture_pack(words, &(struct pumice_texture){
		.addr = FX_COLOUR, .format = PUMICE_FORMAT_R32_FLOAT,
		.layout = PUMICE_LAYOUT_LINEAR, .dim = PUMICE_TEXTURE_DIM_2D, .levels = 1,
	});
	pumice_sampler_pack(words + PUMICE_TEXTURE_WORDS, &(struct pumice_sampler){ 0 });
}

void fx_load_programs(struct fixture *fx)
{
	u32 n;

	write_texture(fx);

	for (n = 0; n < FX_PROGRAMS; n++)
		load(fx, (enum fx_program)n);
}

void fx_lengthen(struct fixture *fx, enum fx_program program, u32 insns)
{
	struct pumice_stage *stage = &fx->stage[program];
	const u32 used = (insns + stage->pds_insns) * INSN_WORDS * 4;
	u32 *code = (u32 *)(void *)(fx->code + fx->code_used), *pds = code + insns * INSN_WORDS, i;
	u32 *last = pds + (stage->pds_insns - 2) * INSN_WORDS;
	struct pumice_pds_insn task;
	const u32 *from;

	assert_true(FX_CODE + fx->code_used + used <= TEXTURE_STATE);
	memcpy(pds, fx->code + (stage->pds_addr - FX_CODE), stage->pds_insns * INSN_WORDS * 4);
	assert_int_equal(pumice_pds_unpack(last, &task), 0);
	assert_int_equal(task.opcode, PUMICE_PDS_OP_TASK);
	from = (const u32 *)(const void *)(fx->code + (task.addr - FX_CODE));
	for (i = 0; i < insns; i++)
		memcpy(code + i * INSN_WORDS,
		       from + (i + task.insns > insns ? i + task.insns - insns : 0) * INSN_WORDS,
		       INSN_WORDS * 4);
	task.addr = FX_CODE + fx->code_used;
	task.insns = insns;
	pumice_pds_pack(last, &task);
	stage->pds_addr = task.addr + (u64)insns * INSN_WORDS * 4;
	fx->code_used += used;
}

void fx_set_bursts(struct fixture *fx, enum fx_program program, u32 bursts, u32 words)
{
	struct pumice_stage *stage = &fx->stage[program];
	const u32 *from = (const u32 *)(const void *)(fx->code + (stage->pds_addr - FX_CODE));
	u32 *to = (u32 *)(void *)(fx->code + fx->code_used), i;
	const u32 rest = stage->pds_insns - 1u, used = (bursts + rest) * INSN_WORDS * 4;
	struct pumice_pds_insn burst;

	assert_true(FX_CODE + fx->code_used + used <= TEXTURE_STATE);
	assert_int_equal(pumice_pds_unpack(from, &burst), 0);
	assert_int_equal(burst.opcode, PUMICE_PDS_OP_DMA);
	assert_true(words <= burst.count);
	burst.count = words;
	for (i = 0; i < bursts; i++)
		pumice_pds_pack(to + i * INSN_WORDS, &burst);
	memcpy(to + bursts * INSN_WORDS, from + INSN_WORDS, rest * INSN_WORDS * 4);
	stage->pds_addr = FX_CODE + fx->code_used;
	stage->pds_insns = (u16)(bursts + rest);
	fx->code_used += used;
}

void fx_set_target(struct fixture *fx, u32 width, u32 height)
{
	u32 *const words = (u32 *)(void *)(fx->code + (PBE_STATE - FX_CODE));
	struct pumice_pbe_state pbe = {
		.addr = FX_COLOUR, .format = PUMICE_FORMAT_R32_FLOAT,
		.layout = PUMICE_LAYOUT_LINEAR, .width = (u16)(width - 1),
		.height = (u16)(height - 1), .write_mask = 1, .samples = true,
	};

	pumice_pbe_state_pack(words, &pbe);
	pbe.addr += FX_SECOND;
	pumice_pbe_state_pack(words + PUMICE_PBE_STATE_WORDS, &pbe);
}
