// SPDX-License-Identifier: MIT
/*
 * Transfers of bytes: COPY and FILL.
 *
 * Source: hw/formats.xml, tdm_copy, tdm_fill. A copy forwards translates the first grain of each
 * run and copies the run at once: it continues over further pages of which the TLB has entries, as
 * long as both sides are contiguous in the host's memory. Copies from the end, and fills, translate
 * and write grain by grain.
 */
#include <string.h>

#include "../number.h"
#include "state.h"

#define GRAIN (1ull << MMU_GRAIN_SHIFT)

static u8 *translate(struct ptla_piece *p, u64 va, u64 bytes, enum pumice_access access)
{
	return mmu_translate(p->mmu, &p->unit->tlb, p->ctx, va, bytes, access,
			     MMU_SECOND(PUMICE_UNIT_PTLA), &p->fault);
}

static u64 to_grain_end(u64 va)
{
	return GRAIN - (va & (GRAIN - 1));
}

/*
 * Return the number of bytes from va, at most max, that are contiguous in the host's memory,
 * as far as the TLB has entries: host is their beginning, in a translated grain. In detailed modes
 * that grain alone.
 */
static u64 run_of(struct ptla_piece *p, u64 va, const u8 *host, u64 max, u32 perm)
{
	u64 run = 0, part;
	u8 *next;

	while (run < max && !((va + run) >> PUMICE_MMU_VA_BITS)) {
		part = mmu_tlb_extent(p->mmu, &p->unit->tlb, p->ctx, va + run, perm, &next);
		if (!part || next != host + run)
			break;
		run += part;
	}
	return min_u64(max_u64(run, to_grain_end(va)), max);
}

static bool copy_forwards(struct ptla_piece *p, u64 dst, u64 src, u64 bytes)
{
	while (bytes) {
		const u64 most = min_u64(bytes, min_u64(to_grain_end(src), to_grain_end(dst)));
		const u8 *from = translate(p, src, most, PUMICE_ACCESS_READ);
		u8 *to = from ? translate(p, dst, most, PUMICE_ACCESS_WRITE) : NULL;
		u64 part;

		if (!to)
			return false;
		part = run_of(p, src, from, bytes, MMU_TLB_READ);
		part = run_of(p, dst, to, part, MMU_TLB_WRITE);
		memmove(to, from, part);
		p->bytes += part;
		dst += part;
		src += part;
		bytes -= part;
	}
	return true;
}

/* Copy from the end, so that no byte is overwritten before it is read. */
static bool copy_backwards(struct ptla_piece *p, u64 dst, u64 src, u64 bytes)
{
	while (bytes) {
		u64 last_dst = dst + bytes - 1, last_src = src + bytes - 1;
		u64 part = min_u64(bytes, min_u64(last_dst % GRAIN, last_src % GRAIN) + 1);
		const u8 *from = translate(p, last_src - part + 1, part, PUMICE_ACCESS_READ);
		u8 *to = from ? translate(p, last_dst - part + 1, part, PUMICE_ACCESS_WRITE) : NULL;

		if (!to)
			return false;
		memmove(to, from, part);
		p->bytes += part;
		bytes -= part;
	}
	return true;
}

bool ptla_copy_piece(struct ptla_piece *p)
{
	const struct ptla_command *c = p->command;
	u64 number = c->downwards ? c->pieces - 1 - p->number : p->number;
	u64 offset = number * PTLA_PIECE_BYTES;
	u64 bytes = min_u64(c->copy.bytes - offset, PTLA_PIECE_BYTES);

	if (c->downwards)
		return copy_backwards(p, c->copy.dst + offset, c->copy.src + offset, bytes);
	return copy_forwards(p, c->copy.dst + offset, c->copy.src + offset, bytes);
}

bool ptla_fill_piece(struct ptla_piece *p)
{
	const struct pumice_tdm_fill *f = &p->command->fill;
	u64 offset = p->number * PTLA_PIECE_BYTES;
	u64 bytes = min_u64((u64)f->words * sizeof(u32) - offset, PTLA_PIECE_BYTES);
	u64 va = f->dst + offset;

	while (bytes) {
		u64 part = min_u64(bytes, to_grain_end(va));
		u8 *to = translate(p, va, part, PUMICE_ACCESS_WRITE);

		if (!to)
			return false;
		for (u64 n = 0; n < part; n += sizeof(f->value))
			memcpy(to + n, &f->value, sizeof(f->value));
		p->bytes += part;
		va += part;
		bytes -= part;
	}
	return true;
}
