// SPDX-License-Identifier: MIT
/*
 * Damage to data that the firmware has written for the host (FW_MESSAGE).
 *
 * Source: hw/fwif.h. No other part of the device interprets the firmware interface. It is not
 * trusted: a structure that cannot be read, or a ring without a valid size, is not changed,
 * and the request is kept.
 */
#include "message.h"

#include <stddef.h>

#include "fwif.h"

/* Any number except 0, a possible initial value of a driver. */
#define HEARTBEAT	1u

/* Return a word of context 0 in guest memory, or NULL. */
static u32 *word_at(const struct mmu *mmu, u64 va)
{
	return va % sizeof(u32) ? NULL : (u32 *)(void *)mmu_probe(mmu, 0, va, PUMICE_ACCESS_WRITE);
}

/* Return its value; 0 if there is none, which is not a valid address or ring size. */
static u32 read_word(const struct mmu *mmu, u64 va)
{
	const u32 *word = word_at(mmu, va);

	return word ? __atomic_load_n(word, __ATOMIC_RELAXED) : 0;
}

#define BOOT(member)	(boot + offsetof(struct fwif_boot, member))
#define RING(member)	(ring + offsetof(struct fwif_ring, member))

/* Return the word before index of a ring of elements, or NULL if the ring is empty. */
static u32 *newest(const struct mmu *mmu, u64 elements, u32 bytes, u32 index, u32 count)
{
	if (!elements || !count || count > FWIF_RING_MAX || count & (count - 1))
		return NULL;
	return word_at(mmu, elements + (u64)((index - 1) & (count - 1)) * bytes);
}

/* Return the type of the newest message; NULL if the host has read it. */
static u32 *message(const struct mmu *mmu, u64 boot)
{
	const u64 ring = read_word(mmu, BOOT(fwccb_ring));
	const u32 write = read_word(mmu, RING(write));

	_Static_assert(!offsetof(struct fwif_fwccb_msg, type), "first word of a message");
	if (!ring || write == read_word(mmu, RING(read)))
		return NULL;
	return newest(mmu, read_word(mmu, BOOT(fwccb)), sizeof(struct fwif_fwccb_msg), write,
		      read_word(mmu, RING(count)));
}

static u32 *write_index(const struct mmu *mmu, u64 boot)
{
	const u64 ring = read_word(mmu, BOOT(fwccb_ring));

	return ring ? word_at(mmu, RING(write)) : NULL;
}

static u32 *status(const struct mmu *mmu, u64 boot)
{
	const u64 ring = read_word(mmu, BOOT(kccb_ring));

	return ring ? newest(mmu, read_word(mmu, BOOT(kccb_status)), sizeof(u32),
			     read_word(mmu, RING(read)), read_word(mmu, RING(count))) :
		      NULL;
}

static void flip(struct inject *in, enum pumice_inject_where where, u32 *word)
{
	struct inject_request request;

	if (word && inject_take(in, PUMICE_INJECT_KIND_FW_MESSAGE, where, &request))
		__atomic_fetch_xor(word, 1u << request.bit % 32, __ATOMIC_RELAXED);
}

void fwctl_inject_message(struct inject *in, const struct mmu *mmu, u64 boot)
{
	u32 *heartbeat;

	if (!inject_armed(in, PUMICE_INJECT_KIND_FW_MESSAGE) || boot >> PUMICE_MMU_VA_BITS)
		return;
	flip(in, PUMICE_INJECT_WHERE_MESSAGE, message(mmu, boot));
	flip(in, PUMICE_INJECT_WHERE_RING, write_index(mmu, boot));
	flip(in, PUMICE_INJECT_WHERE_STATUS, status(mmu, boot));
	heartbeat = word_at(mmu, BOOT(heartbeat));
	if (heartbeat && inject_take(in, PUMICE_INJECT_KIND_FW_MESSAGE,
				     PUMICE_INJECT_WHERE_HEARTBEAT, NULL))
		__atomic_store_n(heartbeat, HEARTBEAT, __ATOMIC_RELAXED);
}
