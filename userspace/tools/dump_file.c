// SPDX-License-Identifier: MIT
/* pumice-dump: split a file into validated parts. See dump.h. */
#include <stdio.h>
#include <string.h>

#include "dump.h"

/* Minimum sizes of the header and of a section's head in version 1. */
#define HEADER_BYTES	sizeof(struct pumice_dump_header)
#define SECTION_BYTES	sizeof(struct pumice_dump_section)

static const char *check_header(struct dump *dump, size_t bytes)
{
	const struct pumice_dump_header *h = &dump->head;

	if (h->magic != PUMICE_DUMP_MAGIC)
		return "not a dump of a Pumice GPU: expected the data file of a devcoredump, or a copy of it";
	if (h->version != PUMICE_DUMP_VERSION) {
		snprintf(dump->error, sizeof(dump->error),
			 "a dump of version %u, but this tool reads version %u", h->version,
			 PUMICE_DUMP_VERSION);
		return dump->error;
	}
	if (h->header_bytes < HEADER_BYTES || h->header_bytes > bytes ||
	    h->header_bytes % PUMICE_DUMP_ALIGN)
		return "the size of its header is invalid: the file is damaged";
	return NULL;
}

bool dump_parse(struct dump *dump, const unsigned char *file, size_t bytes, const char **error)
{
	size_t at, left;

	memset(dump, 0, sizeof(*dump));
	*error = "the file ends within its header: copy it completely";
	if (bytes < HEADER_BYTES)
		return false;
	memcpy(&dump->head, file, HEADER_BYTES);
	*error = check_header(dump, bytes);
	if (*error)
		return false;
	for (at = dump->head.header_bytes; dump->parts < dump->head.sections; dump->parts++) {
		struct dump_part *part = &dump->part[dump->parts];

		*error = "more sections than a dump can have: the file is damaged";
		if (dump->parts == DUMP_MAX_SECTIONS)
			return false;
		*error = "the file ends before its last section: copy it completely";
		left = bytes - at;
		if (left < SECTION_BYTES)
			return false;
		memcpy(&part->head, file + at, SECTION_BYTES);
		left -= SECTION_BYTES;
		if (part->head.bytes > left)
			return false;
		part->data = file + at + SECTION_BYTES;
		at += SECTION_BYTES;
		/* The padding of the last one may be missing. */
		at += part->head.bytes % PUMICE_DUMP_ALIGN &&
			left - part->head.bytes >= PUMICE_DUMP_ALIGN ?
			      part->head.bytes / PUMICE_DUMP_ALIGN * PUMICE_DUMP_ALIGN +
			      PUMICE_DUMP_ALIGN :
			      part->head.bytes;
	}
	*error = NULL;
	return true;
}

const struct dump_part *dump_find(const struct dump *dump, u32 type)
{
	for (u32 i = 0; i < dump->parts; i++)
		if (dump->part[i].head.type == type)
			return &dump->part[i];
	return NULL;
}

/* Get the bytes from one element to the next; 0: no element is complete. */
static size_t stride_of(const struct dump_part *part, size_t known)
{
	const u64 stride = part->head.count ? part->head.bytes / part->head.count : 0;

	return stride < known ? 0 : (size_t)stride;
}

u32 dump_elements(const struct dump_part *part, size_t known)
{
	return part && stride_of(part, known) ? part->head.count : 0;
}

void dump_element(const struct dump_part *part, u32 index, void *to, size_t known)
{
	memcpy(to, part->data + index * stride_of(part, known), known);
}

bool dump_one(const struct dump *dump, u32 type, void *to, size_t known)
{
	const struct dump_part *part = dump_find(dump, type);

	memset(to, 0, known);
	if (!dump_elements(part, known))
		return false;
	dump_element(part, 0, to, known);
	return true;
}

/* Get the memory of one part from @va on. */
static size_t part_memory(const struct dump_part *part, u64 va, void *to, size_t bytes)
{
	const u64 offset = va - part->head.addr;
	u64 have;

	if (part->head.type != PUMICE_DUMP_MEMORY || va < part->head.addr ||
	    offset >= part->head.bytes)
		return 0;
	have = part->head.bytes - offset;
	if (have > bytes)
		have = bytes;
	memcpy(to, part->data + offset, (size_t)have);
	return (size_t)have;
}

size_t dump_memory(const struct dump *dump, u64 va, void *to, size_t bytes)
{
	size_t best = 0;

	for (u32 i = 0; i < dump->parts; i++) {
		size_t had = part_memory(&dump->part[i], va, to, bytes);

		if (had == bytes)
			return had;
		if (had > best)
			best = had;
	}
	/* Another part may have overwritten the data of the best one. */
	for (u32 i = 0; best && i < dump->parts; i++)
		if (part_memory(&dump->part[i], va, to, best) == best)
			break;
	return best;
}
