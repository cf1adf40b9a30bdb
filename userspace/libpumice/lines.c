// SPDX-License-Identifier: MIT
/*
 * Source lines of programs (hw/formats.xml, program_lines): which line of which file an
 * instruction comes from, through macros, repetitions and included files.
 *
 * All of it is validated when the file is read, and not again later: places, files and
 * parents exist, and each parent precedes its place, so that each chain terminates.
 */
#include <stdlib.h>
#include <string.h>

#include "nametext.h"
#include "program.h"
#include "pumice_names.h"

static struct pumice_program_place place_at(const struct program_lines *lines, u32 index)
{
	struct pumice_program_place place;

	pumice_program_place_unpack(lines->place + (size_t)index * PUMICE_PROGRAM_PLACE_WORDS,
				    &place);
	return place;
}

static int check_place(const struct program_lines *lines, u32 index, const struct reason *reason)
{
	const u32 *words = lines->place + (size_t)index * PUMICE_PROGRAM_PLACE_WORDS;
	struct pumice_program_place place;

	if (pumice_program_place_unpack(words, &place) != PUMICE_UNPACK_OK)
		return REFUSE(reason, "source lines: place %u: reserved bits are set", index);
	if (place.file >= lines->head.files)
		return REFUSE(reason, "source lines: place %u: file %u is not below %u", index,
			      (u32)place.file, lines->head.files);
	if (!place.line)
		return REFUSE(reason, "source lines: place %u: line is 0", index);
	if (place.parent > index)
		return REFUSE(reason, "source lines: place %u: parent %u is not an earlier place",
			      index, place.parent);
	if (!place.parent != (place.use == PUMICE_PROGRAM_USE_NONE))
		return REFUSE(reason, "source lines: place %u: use %s with parent %u", index,
			      pumice_program_use_str(place.use), place.parent);
	if (place.nth && place.use != PUMICE_PROGRAM_USE_REPEAT)
		return REFUSE(reason, "source lines: place %u: repetition %u, but its use is %s",
			      index, place.nth, pumice_program_use_str(place.use));
	return 0;
}

/* Return whether a text controls a terminal, to which names are printed. */
static bool has_control(const char *text)
{
	for (; *text; text += nametext_bytes(text))
		if (nametext_is_control(text))
			return true;
	return false;
}

/* Split the names; the text contains nothing else but the padding. */
static int parse_names(struct program_lines *lines, const char *text, const struct reason *reason)
{
	const u32 bytes = lines->head.name_bytes;
	size_t at = 0, length;
	u32 i;

	lines->names = calloc(lines->head.files + 1, sizeof(*lines->names));
	if (!lines->names)
		return fail_text(reason->text, reason->bytes, ENOMEM, "program: out of memory");
	for (i = 0; i < lines->head.files; i++) {
		length = strnlen(text + at, bytes - at);
		if (length == bytes - at || !length)
			return REFUSE(reason, "source lines: file %u has no name", i);
		if (has_control(text + at))
			return REFUSE(reason, "source lines: file %u: its name has a control character; "
				      "assemble the program again", i);
		lines->names[i] = text + at;
		at += length + 1;
	}
	for (; at < bytes; at++)
		if (text[at])
			return REFUSE(reason, "source lines: text after the last name");
	return 0;
}

static int check_head(const struct pumice_program_lines *head, size_t count, u32 insns,
		      const struct reason *reason)
{
	u64 words = PUMICE_PROGRAM_LINES_WORDS + (u64)insns +
		    (u64)head->places * PUMICE_PROGRAM_PLACE_WORDS + head->name_bytes / 4;

	if (head->places > PUMICE_PROGRAM_PLACES)
		return REFUSE(reason, "source lines: %u places are more than %u", head->places,
			      PUMICE_PROGRAM_PLACES);
	if (head->files > PUMICE_PROGRAM_FILES)
		return REFUSE(reason, "source lines: %u files are more than %u", head->files,
			      PUMICE_PROGRAM_FILES);
	if (head->name_bytes > PUMICE_PROGRAM_NAME_BYTES || head->name_bytes % 4)
		return REFUSE(reason,
			      "source lines: %u bytes of names are not a multiple of 4 up to %u",
			      head->name_bytes, PUMICE_PROGRAM_NAME_BYTES);
	if (words != count)
		return REFUSE(reason, "source lines: %zu words, but the header describes %llu",
			      count, (unsigned long long)words);
	return 0;
}

int lines_parse(struct program_lines *lines, const u32 *words, size_t count, u32 insns,
		const struct reason *reason)
{
	u32 i;
	int err;

	if (count < PUMICE_PROGRAM_LINES_WORDS)
		return REFUSE(reason, "source lines: %zu words are less than a header's %u", count,
			      PUMICE_PROGRAM_LINES_WORDS);
	if (pumice_program_lines_unpack(words, &lines->head) != PUMICE_UNPACK_OK)
		return REFUSE(reason, "source lines: reserved bits are set");
	err = check_head(&lines->head, count, insns, reason);
	if (err)
		return err;
	lines->insn = words + PUMICE_PROGRAM_LINES_WORDS;
	lines->place = lines->insn + insns;
	for (i = 0; i < insns; i++)
		if (lines->insn[i] > lines->head.places)
			return REFUSE(reason, "source lines: instruction %u: place %u is more than %u",
				      i, lines->insn[i], lines->head.places);
	for (i = 0; i < lines->head.places; i++) {
		err = check_place(lines, i, reason);
		if (err)
			return err;
	}
	return parse_names(lines,
			   (const char *)(lines->place + (size_t)lines->head.places *
							 PUMICE_PROGRAM_PLACE_WORDS), reason);
}

bool lines_copy(struct pumice_program *to, const struct pumice_program *from)
{
	u32 i;

	if (!from->header.lines)
		return true;
	to->lines = from->lines;
	to->lines.insn = to->words + (from->lines.insn - from->words);
	to->lines.place = to->words + (from->lines.place - from->words);
	to->lines.names = calloc(from->lines.head.files + 1, sizeof(*to->lines.names));
	for (i = 0; to->lines.names && i < from->lines.head.files; i++)
		to->lines.names[i] = (const char *)to->words +
				     (from->lines.names[i] - (const char *)from->words);
	return to->lines.names;
}

int pumice_program_get_lines(const struct pumice_program *p, uint32_t insn,
			     struct pumice_source_line *lines, uint32_t *count)
{
	const u32 room = *count;
	struct pumice_program_place place;
	u32 next;

	*count = 0;
	if (insn >= p->header.usc_insns)
		return -EINVAL;
	if (!p->header.lines || !p->lines.insn[insn])
		return -ENODATA;
	for (next = p->lines.insn[insn]; next && *count < room; next = place.parent) {
		place = place_at(&p->lines, next - 1);
		lines[(*count)++] = (struct pumice_source_line){
			.file = p->lines.names[place.file],
			.line = place.line,
			.use = place.use,
			.repetition = place.nth,
		};
	}
	return 0;
}
