/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The host's side of a client CCB (fwif.h): offsets and copies, without locks, barriers or
 * reports. Driver and library add these.
 *
 * All offsets and sizes are bytes and multiples of PUMICE_CCCB_UNIT; the size of a ring is a
 * power of two. A command never wraps: before one that would, a filler (PAD) covers the rest
 * of the ring.
 */
#ifndef PUMICE_CCCB_H
#define PUMICE_CCCB_H

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include "fwif.h"

/* Unit of offsets, and the gap by which a full ring is distinguished from an empty one. */
#define PUMICE_CCCB_UNIT	8u

/* Count the bytes from an offset to the end of the ring. */
static inline u32 pumice_cccb_tail(u32 size, u32 write)
{
	return size - write;
}

/* Count the free bytes, fillers included, from @write to the firmware's @read. */
static inline u32 pumice_cccb_room(u32 size, u32 write, u32 read)
{
	return (read - write - PUMICE_CCCB_UNIT) & (size - 1);
}

/* Count the bytes that @bytes without a wrap occupy, with the filler that may precede them. */
static inline u32 pumice_cccb_needs(u32 size, u32 write, u32 bytes)
{
	const u32 tail = pumice_cccb_tail(size, write);

	return tail < bytes ? tail + bytes : bytes;
}

/* Write a filler if @bytes would wrap. Returns the offset of the next command. */
static inline u32 pumice_cccb_pad(u8 *ring, u32 size, u32 write, u32 bytes)
{
	const struct fwif_cccb_header pad = {
		.type = FWIF_CCCB_PAD, .bytes = pumice_cccb_tail(size, write),
	};

	if (pad.bytes >= bytes)
		return write;
	memcpy(ring + write, &pad, sizeof(pad));
	return 0;
}

/*
 * Return the operations on caches (FWIF_CACHES_*) of a job of a data master, enum fwif_dm, to be
 * combined with the type of its command; 0 for firmware that does not support them. @fw_version:
 * of the firmware, as FWIF_VERSION. @cached: the VM of the job has or had pages that caches keep,
 * of buffers that are not coherent, scenes, free lists or null mappings.
 *
 * The host may write a buffer until it submits a job and read it when the job has ended: each job
 * cleans, and reads memory anew. A fragment job need not do the latter: it follows its geometry
 * job, which waits for everything that the fragment job depends on outside of its VM, and has
 * invalidated the SLC then. A job without such pages has no lines in caches but those of its
 * translation tables: it needs no operation if the host has the tables invalidated after each
 * change, also where an entry was not valid before.
 */
static inline u32 pumice_cccb_caches(u32 dm, u32 fw_version, bool cached)
{
	if ((fw_version & 0xffff) < FWIF_CACHES_SINCE || !cached)
		return 0;
	return FWIF_CACHES_START_CORES | FWIF_CACHES_END |
	       (dm == FWIF_DM_PDM ? 0 : FWIF_CACHES_START_SYSTEM);
}

/* Append a command that does not wrap. Returns the offset after it. */
static inline u32 pumice_cccb_write(u8 *ring, u32 size, u32 write, const void *cmd, u32 bytes)
{
	memcpy(ring + write, cmd, bytes);
	return (write + bytes) & (size - 1);
}

#endif
