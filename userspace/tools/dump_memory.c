// SPDX-License-Identifier: MIT
/* pumice-dump: control streams, memory, page-table walks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "pumice_decode.h"
#include "pumice_formats.h"
#include "pumice_regs.h"

#define LINE_BYTES	16u

void dump_print_line(void *data, u64 addr, const char *line)
{
	(void)data;
	printf("  %010" PRIx64 "  %s\n", addr, line);
}

/* ------------------------------------------------------------------ streams */

static const struct pumice_format_info *command_format(const struct pumice_stream_info *stream,
						       u32 word)
{
	const u32 type = (u32)pumice_bits(&word, stream->type_bit, stream->type_width);

	for (u32 i = 0; i < stream->nr_cmds; i++)
		if (stream->cmds[i].type == type)
			return stream->cmds[i].format;
	return NULL;
}

/* Words after these commands do not belong to the stream. */
static bool ends_stream(const char *name, const u32 *dw)
{
	const char *last = strrchr(name, '_');

	if (!strcmp(name, "pdm_store") || !strcmp(name, "pdm_store_program"))
		return PUMICE_FIELD_GET(PUMICE_PDM_STORE__END, dw[0]);
	return last && (!strcmp(last, "_halt") || !strcmp(last, "_link") ||
			!strcmp(last, "_return") || !strcmp(last, "_end"));
}

static void print_commands(const struct pumice_stream_info *stream, u64 va, const u32 *dw,
			   size_t words)
{
	size_t at = 0;

	while (at < words) {
		const struct pumice_format_info *format = command_format(stream, dw[at]);
		size_t left = words - at, part = format &&
			format->words < left ? format->words : left;

		/* One command at a time; the decoder reports unknown and truncated commands. */
		if (!pumice_decode_stream(stream, va + at * 4, dw + at, part,
					  dump_print_line, NULL))
			return;
		if (ends_stream(format->name, dw + at))
			return;
		at += part;
	}
	printf("  (the following bytes were not captured)\n");
}

static void print_record(u64 va, const u32 *dw, size_t words)
{
	const struct pumice_format_info *render = pumice_format_find("pdm_render");

	if (words >= render->words)
		pumice_decode_format(render, va, dw, dump_print_line, NULL);
	else
		printf("  (the render record is truncated)\n");
}

/* A render control list and its record, if that was captured; or a record alone. */
static void print_render(u64 va, const u32 *dw, size_t words)
{
	struct pumice_pdm_mode mode;
	u64 skip;

	if (words < PUMICE_PDM_MODE_WORDS ||
	    pumice_pdm_cmd_type(dw[0]) != PUMICE_PDM_TYPE_MODE) {
		print_record(va, dw, words);
		return;
	}
	print_commands(&pumice_stream_pdm, va, dw, words);
	if (pumice_pdm_mode_unpack(dw, &mode) != PUMICE_UNPACK_OK)
		return;
	skip = (mode.addr - va) / 4;
	if (mode.addr > va && skip < words)
		print_record(mode.addr, dw + skip, words - skip);
	else
		printf("  (the render record was not captured)\n");
}

static void print_stream_part(const struct dump_part *part, u32 dm)
{
	const size_t words = part->head.bytes / 4;
	u32 *dw = malloc(words * 4 + 4);

	if (!dw) {
		printf("  (out of memory)\n");
		return;
	}
	memcpy(dw, part->data, words * 4);
	switch (dm) {
	case FWIF_DM_PDM:
		print_render(part->head.addr, dw, words);
		break;
	case FWIF_DM_VDM:
		print_commands(&pumice_stream_vdm, part->head.addr, dw, words);
		break;
	case FWIF_DM_TDM:
		print_commands(&pumice_stream_tdm, part->head.addr, dw, words);
		break;
	case FWIF_DM_RDM:
		print_commands(&pumice_stream_rdm, part->head.addr, dw, words);
		break;
	default:
		print_commands(&pumice_stream_cdm, part->head.addr, dw, words);
	}
	free(dw);
}

bool dump_print_stream(const struct dump *dump, bool all)
{
	struct pumice_dump_reason reason;
	bool any = false;

	(void)all;
	dump_one(dump, PUMICE_DUMP_REASON, &reason, sizeof(reason));
	for (u32 i = 0; i < dump->parts; i++) {
		const struct dump_part *part = &dump->part[i];

		if (part->head.type != PUMICE_DUMP_MEMORY)
			continue;
		if (part->head.role == PUMICE_DUMP_ROLE_STREAM) {
			printf("control stream:\n");
			print_stream_part(part, reason.dm);
			any = true;
		} else if (part->head.role == PUMICE_DUMP_ROLE_RENDER) {
			printf("stream of the fragment job:\n");
			print_stream_part(part, FWIF_DM_PDM);
			any = true;
		}
	}
	return any;
}

/* ------------------------------------------------------------------- memory */

static void print_bytes(u64 va, const unsigned char *data, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += LINE_BYTES) {
		printf("  %010" PRIx64, va + at);
		for (size_t i = at; i < at + LINE_BYTES && i < bytes; i++)
			printf("%s%02x", i % 4 ? "" : " ", data[i]);
		printf("\n");
	}
}

static const char *role_text(u32 role)
{
	static const char *const text[] = {
		[PUMICE_DUMP_ROLE_STREAM] = "control stream",
		[PUMICE_DUMP_ROLE_FAULT] = "around the fault",
		[PUMICE_DUMP_ROLE_CODE] = "program",
		[PUMICE_DUMP_ROLE_RENDER] = "stream of the fragment job",
	};

	return role && role < sizeof(text) / sizeof(text[0]) ? text[role] : "memory";
}

/* Streams and programs are printed decoded; as bytes only if everything is requested. */
bool dump_print_memory(const struct dump *dump, bool all)
{
	bool any = false;

	for (u32 i = 0; i < dump->parts; i++) {
		const struct dump_part *part = &dump->part[i];

		if (part->head.type != PUMICE_DUMP_MEMORY ||
		    (!all && part->head.role != PUMICE_DUMP_ROLE_FAULT))
			continue;
		printf("%s, %" PRIu64 " bytes at 0x%010" PRIx64 ":\n", role_text(part->head.role),
		       part->head.bytes, part->head.addr);
		print_bytes(part->head.addr, part->data, part->head.bytes);
		any = true;
	}
	return any;
}

/* -------------------------------------------------------------------- walks */

static const struct {
	const char *name, *format;
} levels[] = {
	{ "page catalogue", "mmu_pc_entry" },
	{ "page directory", "mmu_pd_entry" },
	{ "page table", "mmu_pt_entry" },
};

#define LEVELS (sizeof(levels) / sizeof(levels[0]))

static void print_step(const struct pumice_dump_walk *step)
{
	const u32 dw[2] = { (u32)step->entry, (u32)(step->entry >> 32) };
	const struct pumice_format_info *format;

	if (step->level >= LEVELS) {
		printf("  level %u: 0x%016" PRIx64 "\n", step->level, step->entry);
		return;
	}
	printf("  %s at 0x%010" PRIx64 ", entry %u: 0x%016" PRIx64 "\n", levels[step->level].name,
	       step->table, step->index, step->entry);
	format = pumice_format_find(levels[step->level].format);
	pumice_decode_format(format, step->table + step->index * 8ull, dw, dump_print_line, NULL);
}

bool dump_print_walk(const struct dump *dump, bool all)
{
	struct pumice_dump_walk step = { .level = 0 };
	bool any = false;

	(void)all;
	for (u32 i = 0; i < dump->parts; i++) {
		const struct dump_part *part = &dump->part[i];
		const u32 count = part->head.type == PUMICE_DUMP_WALK ?
					  dump_elements(part, sizeof(step)) : 0;

		if (!count)
			continue;
		printf("page-table walk of 0x%010" PRIx64 ":\n", part->head.addr);
		for (u32 n = 0; n < count; n++) {
			dump_element(part, n, &step, sizeof(step));
			print_step(&step);
		}
		if (count < LEVELS)
			printf("  no %s\n", levels[count].name);
		else if (!(step.entry & PUMICE_MMU_PT_ENTRY__VALID__MASK))
			printf("  the address is not mapped\n");
		any = true;
	}
	return any;
}
