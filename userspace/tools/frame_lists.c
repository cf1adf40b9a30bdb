// SPDX-License-Identifier: MIT
/*
 * pumice-frame: the list of each tile, read from the parameter buffer.
 *
 * Rendering frees pages, but does not write to them: with a free list
 * that no later job uses, headers, streams and blocks remain intact after
 * the replay. Lists of the cores are merged by the sequence numbers of
 * blocks, as the IPF merges them (Documentation/parameter-buffer.rst).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "pumice_formats.h"
#include "pumice_regs.h"

#define MAX_ENTRIES	(1u << 20)	/* of a tile: with more its stream counts as damaged */
#define CHUNK_ENTRIES	7u

/* Primitives of one block. */
struct entry {
	uint32_t sequence, order;	/* order: position in its core's stream */
	uint32_t core, block, mask;
	struct pumice_prim_block header;
};

struct list {
	struct entry *entry;
	uint32_t count, room;
};

static bool read_at(const struct frame *f, uint64_t va, void *to, uint32_t words)
{
	return !pumice_vm_peek(f->vm, va, to, (uint64_t)words * 4);
}

/* Get the address of a place in the parameter buffer; 0: invalid place. */
static uint64_t address(const struct pumice_hwrt_layout *layout, uint32_t word)
{
	struct pumice_pb_ref ref;

	if (pumice_pb_ref_unpack(&word, &ref) != PUMICE_UNPACK_OK || !layout->lists[ref.list])
		return 0;
	return layout->lists[ref.list] + (uint64_t)ref.offset * 16;
}

static void add(struct list *list, const struct entry *entry)
{
	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 64;
		list->entry = realloc(list->entry, list->room * sizeof(*list->entry));
		if (!list->entry)
			frame_fail("out of memory");
	}
	list->entry[list->count++] = *entry;
}

/* Read the stream of one core; false if it is malformed. */
static bool read_stream(const struct frame *f, const struct pumice_hwrt_layout *layout,
			uint32_t chunk, uint32_t core, struct list *list)
{
	uint32_t words[PUMICE_TILE_CHUNK_WORDS];
	struct pumice_tile_chunk c;
	uint32_t order = 0, i;

	while (chunk) {
		const uint64_t va = address(layout, chunk);

		if (!va || !read_at(f, va, words, PUMICE_TILE_CHUNK_WORDS) ||
		    pumice_tile_chunk_unpack(words, &c) != PUMICE_UNPACK_OK)
			return false;
		for (i = 0; i < CHUNK_ENTRIES; i++) {
			struct entry e = { .core = core, .order = order++,
					   .block = (uint32_t)c.entries[i],
					   .mask = (uint32_t)(c.entries[i] >> 32) };
			uint32_t header[PUMICE_PRIM_BLOCK_WORDS];

			if (!e.block)
				return true;
			if (list->count == MAX_ENTRIES || !address(layout, e.block) ||
			    !read_at(f, address(layout, e.block), header,
				     PUMICE_PRIM_BLOCK_WORDS) ||
			    pumice_prim_block_unpack(header, &e.header) != PUMICE_UNPACK_OK)
				return false;
			e.sequence = e.header.sequence;
			add(list, &e);
		}
		chunk = c.next;
	}
	return true;
}

static int by_sequence(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void print_list(const struct pumice_hwrt_layout *layout, struct list *list, FILE *out)
{
	static const char *const kinds[] = { "triangles", "lines", "points", "?" };
	uint32_t i;

	qsort(list->entry, list->count, sizeof(*list->entry), by_sequence);
	for (i = 0; i < list->count; i++) {
		const struct entry *e = &list->entry[i];

		fprintf(out,
			"  chunk %u core %u block %010" PRIx64 " %s %08x of %u, isp %010" PRIx64
			" tsp %010" PRIx64 "\n", e->sequence, e->core, address(layout, e->block),
			kinds[e->header.kind & 3], e->mask, e->header.prims,
			(uint64_t)e->header.isp_state, (uint64_t)e->header.tsp_state);
	}
}

static uint32_t primitives(const struct list *list)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < list->count; i++)
		sum += (uint32_t)__builtin_popcount(list->entry[i].mask);
	return sum;
}

static void tile_list(const struct frame *f, const struct pumice_hwrt_layout *layout, uint32_t x,
		      uint32_t y, struct list *list, FILE *out)
{
	const uint32_t tiles = f->tiles_x * f->tiles_y;
	bool whole = true;

	list->count = 0;
	for (uint32_t core = 0; core < f->cores; core++) {
		const uint64_t at = layout->regions +
			((uint64_t)core * tiles + y * f->tiles_x + x) * PUMICE_REGION_WORDS * 4;
		uint32_t words[PUMICE_REGION_WORDS];
		struct pumice_region region;

		if (!read_at(f, at, words, PUMICE_REGION_WORDS) ||
		    pumice_region_unpack(words, &region) != PUMICE_UNPACK_OK)
			whole = false;
		else if (region.present)
			whole = read_stream(f, layout, region.stream, core, list) && whole;
	}
	fprintf(out, "tile %u, %u: %u primitives in %u blocks%s\n", x, y, primitives(list),
		list->count, whole ? "" : ", damaged");
	if (list->count)
		print_list(layout, list, out);
}

void frame_lists(const struct frame *f, FILE *out)
{
	struct pumice_hwrt_layout layout;
	struct list list = { 0 };

	if (pumice_hwrt_layout(f->hwrt, 0, &layout))
		frame_fail("%s", pumice_device_error(f->dev));
	for (uint32_t y = 0; y < f->tiles_y; y++)
		for (uint32_t x = 0; x < f->tiles_x; x++)
			tile_list(f, &layout, x, y, &list, out);
	free(list.entry);
}
