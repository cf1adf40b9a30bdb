// SPDX-License-Identifier: MIT
/*
 * pumice-frame: streams and records of a frame as text.
 *
 * The control stream is followed: sub-lists, links, and the state records that
 * it references, each once. Limits: number of commands, and the hardware's
 * limit of nesting; a stream that loops ends where the loop closes.
 */
#include <inttypes.h>
#include <string.h>

#include "frame.h"
#include "pumice_decode.h"
#include "pumice_regs.h"

#define MAX_COMMANDS	65536u
#define MAX_SEEN	4096u
#define MAX_WORDS	16u	/* of a command */

struct printer {
	const struct frame *frame;
	FILE *out;
	uint32_t commands;
	uint64_t seen[MAX_SEEN];	/* records already printed */
	uint32_t seen_count;
};

static void print_line(void *data, u64 addr, const char *line)
{
	struct printer *p = data;

	fprintf(p->out, "%010" PRIx64 "  %s\n", addr, line);
}

/* Return whether a record is new, and mark it as printed. */
static bool first_time(struct printer *p, uint64_t va)
{
	for (uint32_t i = 0; i < p->seen_count; i++)
		if (p->seen[i] == va)
			return false;
	if (p->seen_count < MAX_SEEN)
		p->seen[p->seen_count++] = va;
	return true;
}

static bool read_words(const struct printer *p, uint64_t va, uint32_t *words, uint32_t count)
{
	return !pumice_vm_peek(p->frame->vm, va, words, (uint64_t)count * 4);
}

static void print_record(struct printer *p, const char *name, uint64_t va, uint32_t *words)
{
	const struct pumice_format_info *format = pumice_format_find(name);

	if (!read_words(p, va, words, format->words)) {
		fprintf(p->out, "%010" PRIx64 "  %s: not mapped\n", va, name);
		return;
	}
	pumice_decode_format(format, va, words, print_line, p);
}

/* Print a stage's programs: that of the PDS, and the one its task instruction starts. */
static void print_stage(struct printer *p, const char *name, const uint32_t words[4])
{
	uint32_t code[PUMICE_PDS_MAX_INSNS * 4];
	struct pumice_stage stage;

	if (pumice_stage_unpack(words, &stage) != PUMICE_UNPACK_OK || !stage.pds_insns ||
	    !first_time(p, stage.pds_addr))
		return;
	fprintf(p->out, "            %s: PDS program\n", name);
	if (stage.pds_insns > PUMICE_PDS_MAX_INSNS ||
	    !read_words(p, stage.pds_addr, code, stage.pds_insns * 4)) {
		fprintf(p->out, "%010" PRIx64 "  not readable\n", (uint64_t)stage.pds_addr);
		return;
	}
	pumice_decode_program(&pumice_pds_isa, stage.pds_addr, code, stage.pds_insns, print_line,
			      p);
}

/* Print the entries of an attribute table. */
static void print_attributes(struct printer *p, const struct pumice_vdm_state *state)
{
	uint32_t words[PUMICE_VDM_ATTRIBUTE_WORDS];
	uint64_t va = state->attributes;
	uint32_t i;

	for (i = 0; i < state->attribute_count && first_time(p, va); i++, va += sizeof(words))
		print_record(p, "vdm_attribute", va, words);
}

static void print_state(struct printer *p, uint64_t va)
{
	uint32_t words[64] = { 0 };
	struct pumice_vdm_state state;
	struct pumice_tsp_state tsp;

	if (!first_time(p, va))
		return;
	print_record(p, "vdm_state", va, words);
	if (pumice_vdm_state_unpack(words, &state) != PUMICE_UNPACK_OK)
		return;
	print_attributes(p, &state);
	print_stage(p, "vertex", state.vertex);
	print_stage(p, "coordinate", state.coordinate);
	if (first_time(p, state.isp_state))
		print_record(p, "isp_state", state.isp_state, words);
	if (first_time(p, state.tsp_state)) {
		print_record(p, "tsp_state", state.tsp_state, words);
		if (pumice_tsp_state_unpack(words, &tsp) == PUMICE_UNPACK_OK)
			print_stage(p, "fragment", tsp.fragment);
	}
}

/* A position in a stream. */
struct position {
	uint64_t at, stack[PUMICE_VDM_MAX_DEPTH];
	uint32_t depth;
	uint64_t record;	/* render record that the list named, or 0 */
};

_Static_assert(PUMICE_PDM_MAX_DEPTH <= PUMICE_VDM_MAX_DEPTH, "room of position.stack");

static bool call(struct position *pos, uint32_t max, uint64_t va)
{
	if (pos->depth == max)
		return false;
	pos->stack[pos->depth++] = pos->at;
	pos->at = va;
	return true;
}

static bool leave(struct position *pos)
{
	if (!pos->depth)
		return false;
	pos->at = pos->stack[--pos->depth];
	return true;
}

/* Advance to the command after this one, or to its target. False at the end of the stream. */
static bool follow_vdm(struct printer *p, const uint32_t *words, struct position *pos)
{
	struct pumice_vdm_state_cmd state;
	struct pumice_vdm_call branch;
	struct pumice_vdm_link link;

	switch (PUMICE_FIELD_GET(PUMICE_VDM_HALT__TYPE, words[0])) {
	case PUMICE_VDM_TYPE_STATE:
		if (pumice_vdm_state_cmd_unpack(words, &state) == PUMICE_UNPACK_OK)
			print_state(p, state.addr);
		return true;
	case PUMICE_VDM_TYPE_CALL:
		return pumice_vdm_call_unpack(words, &branch) == PUMICE_UNPACK_OK &&
		       call(pos, PUMICE_VDM_MAX_DEPTH, branch.addr);
	case PUMICE_VDM_TYPE_RETURN:
		return leave(pos);
	case PUMICE_VDM_TYPE_LINK:
		if (pumice_vdm_link_unpack(words, &link) != PUMICE_UNPACK_OK)
			return false;
		pos->at = link.addr;
		return true;
	case PUMICE_VDM_TYPE_HALT:
		return false;
	default:
		return true;
	}
}

/* Print the program of a store; return whether the list continues after it. */
static bool follow_store(struct printer *p, const uint32_t *words)
{
	struct pumice_pdm_store_program own;
	struct pumice_pdm_store store;

	if (pumice_pdm_cmd_type(words[0]) == PUMICE_PDM_TYPE_STORE)
		return pumice_pdm_store_unpack(words, &store) == PUMICE_UNPACK_OK && !store.end;
	if (pumice_pdm_store_program_unpack(words, &own) != PUMICE_UNPACK_OK)
		return false;
	print_stage(p, "store", own.program);
	return !own.end;
}

static bool follow_pdm(struct printer *p, const uint32_t *words, struct position *pos)
{
	struct pumice_pdm_mode mode;
	struct pumice_pdm_call branch;
	struct pumice_pdm_link link;

	switch (pumice_pdm_cmd_type(words[0])) {
	case PUMICE_PDM_TYPE_MODE:
		if (pumice_pdm_mode_unpack(words, &mode) == PUMICE_UNPACK_OK)
			pos->record = mode.addr;
		return true;
	case PUMICE_PDM_TYPE_STORE:
	case PUMICE_PDM_TYPE_STORE_PROGRAM:
		return follow_store(p, words);
	case PUMICE_PDM_TYPE_CALL:
		return pumice_pdm_call_unpack(words, &branch) == PUMICE_UNPACK_OK &&
		       call(pos, PUMICE_PDM_MAX_DEPTH, branch.addr);
	case PUMICE_PDM_TYPE_RETURN:
		return leave(pos);
	case PUMICE_PDM_TYPE_LINK:
		if (pumice_pdm_link_unpack(words, &link) != PUMICE_UNPACK_OK)
			return false;
		pos->at = link.addr;
		return true;
	case PUMICE_PDM_TYPE_END:
		return false;
	default:
		return true;
	}
}

/* Print a stream of vertices, or a render control list. */
static void print_stream(struct printer *p, bool render, struct position *pos)
{
	const struct pumice_stream_info *stream = render ? &pumice_stream_pdm : &pumice_stream_vdm;
	uint32_t words[MAX_WORDS], count;

	for (p->commands = 0; p->commands < MAX_COMMANDS; p->commands++) {
		const uint64_t at = pos->at;

		if (!read_words(p, at, words, 1)) {
			fprintf(p->out, "%010" PRIx64 "  not mapped\n", at);
			return;
		}
		count = (uint32_t)(render ? pumice_pdm_cmd_words(words[0]) :
					    pumice_vdm_cmd_words(words[0]));
		if (!count || count > MAX_WORDS || !read_words(p, at, words, count)) {
			fprintf(p->out, "%010" PRIx64 "  unknown command: %#x\n", at, words[0]);
			return;
		}
		pumice_decode_stream(stream, at, words, count, print_line, p);
		pos->at += count * 4;
		if (!(render ? follow_pdm(p, words, pos) : follow_vdm(p, words, pos)))
			return;
	}
	fprintf(p->out, "            more than %u commands\n", MAX_COMMANDS);
}

/* Print the list, if the stream is one; return the address of the record. */
static uint64_t print_list(struct printer *p)
{
	struct position pos = { .at = p->frame->desc->render };
	uint32_t word;

	if (!read_words(p, pos.at, &word, 1) ||
	    pumice_pdm_cmd_type(word) != PUMICE_PDM_TYPE_MODE)
		return pos.at;
	fprintf(p->out, "\nrender control list\n");
	print_stream(p, true, &pos);
	return pos.record;
}

void frame_print(const struct frame *frame, FILE *out)
{
	struct printer p = { .frame = frame, .out = out };
	struct position pos = { .at = frame->desc->geometry };
	struct pumice_pdm_render render;
	uint32_t words[64] = { 0 };
	uint64_t record;

	fprintf(out, "geometry stream\n");
	print_stream(&p, false, &pos);
	record = print_list(&p);
	fprintf(out, "\nrender record\n");
	print_record(&p, "pdm_render", record, words);
	if (pumice_pdm_render_unpack(words, &render) == PUMICE_UNPACK_OK) {
		print_stage(&p, "background", render.background);
		print_stage(&p, "end of tile", render.end_of_tile);
	}
}
