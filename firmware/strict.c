// SPDX-License-Identifier: MIT
/* Mode strict: slots of the kernel CCB, and update objects. See strict.h. */
#include "bus.h"
#include "os.h"
#include "strict.h"
#include "window.h"

#define SINCE_MAP	13u		/* minor version with FIND_FW_REPORT */
#define SINCE_READY	14u		/* the same with FIND_FW_READY */
#define SINCE_SIGNAL	15u		/* the same with FIND_FW_SIGNAL */
#define NOT_WRITTEN	0x65657266u	/* type of a slot of the host: the bytes f, r, e, e */
#define SLOT_BYTES	sizeof(struct fwif_kccb_cmd)
#define REPORTED	0u		/* no sum: an error of the slot was reported */

/* Slots of a kernel CCB. */
static struct {
	u32 period;		/* of mode strict, in which the rest was written; 0: none */
	u32 passed;		/* index of the first slot that is not the firmware's */
	u32 sum[FWIF_RING_MAX];	/* of the contents of each slot of the firmware */
} slots_of[PUMICE_OS_COUNT];

static bool has_register, has_ready, has_signal, is_on;
static u32 period;		/* counts the times that mode strict began */

void strict_init(u32 minor)
{
	has_register = minor >= SINCE_MAP;
	has_ready = minor >= SINCE_READY;
	has_signal = minor >= SINCE_SIGNAL;
	strict_refresh();
}

void strict_refresh(void)
{
	bool before = is_on;

	is_on = has_register && PUMICE_FIELD_GET(PUMICE_SYS_MODE__MODE,
						 reg_read(PUMICE_SYS_MODE)) == PUMICE_MODE_STRICT;
	period += is_on && !before;
}

bool strict_is_on(void)
{
	return is_on;
}

static void report(enum pumice_finding kind, u32 addr, u32 place, u32 value)
{
	reg_write(PUMICE_FIND_FW_ARG(0), addr);
	reg_write(PUMICE_FIND_FW_ARG(1), place);
	reg_write(PUMICE_FIND_FW_ARG(2), value);
	reg_write(PUMICE_FIND_FW_REPORT, PUMICE_FIELD_PREP(PUMICE_FIND_FW_REPORT__KIND, kind) |
					 PUMICE_FIELD_PREP(PUMICE_FIND_FW_REPORT__OS, os_number));
}

static u32 slot_addr(const struct fw_ring *ring, u32 slot)
{
	return ring->entries + slot * SLOT_BYTES;
}

/* Return a sum of the contents of a slot, not REPORTED, and its type. */
static u32 sum_of(const struct fw_ring *ring, u32 slot, u32 *type)
{
	u32 words[SLOT_BYTES / 4] = { 0 }, sum = 0x811c9dc5u, i;

	/* If it is not mapped, the words are 0, as before. */
	window_read(slot_addr(ring, slot), words, SLOT_BYTES / 4);
	for (i = 0; i < SLOT_BYTES / 4; i++)
		sum = (sum ^ words[i]) * 0x01000193u;
	*type = words[0];
	return sum == REPORTED ? 1 : sum;
}

void strict_slots_drop(void)
{
	slots_of[os_number].period = 0;
}

void strict_slots_pass(const struct fw_ring *ring, u32 read, u32 write)
{
	u32 *passed = &slots_of[os_number].passed, *sum = slots_of[os_number].sum, type;

	if (slots_of[os_number].period != period) {
		slots_of[os_number].period = period;
		*passed = read;
	}
	if (((write - read) & ring->mask) < ((*passed - read) & ring->mask)) {
		sum_of(ring, read, &type);
		report(PUMICE_FINDING_CCB_OVERRUN, slot_addr(ring, read), read, type);
		*passed = read;
	}
	for (; *passed != write; *passed = (*passed + 1) & ring->mask) {
		sum[*passed] = sum_of(ring, *passed, &type);
		if (type != NOT_WRITTEN)
			continue;
		sum[*passed] = REPORTED;
		report(PUMICE_FINDING_CCB_NOT_WRITTEN, slot_addr(ring, *passed), *passed, 0);
	}
}

void strict_slot_read(const struct fw_ring *ring, u32 read)
{
	const u32 noted = slots_of[os_number].sum[read];
	u32 type;

	/* The write index may have moved since strict_slots_pass(). */
	if (slots_of[os_number].passed == read || noted == REPORTED)
		return;
	if (sum_of(ring, read, &type) != noted)
		report(PUMICE_FINDING_CCB_OVERRUN, slot_addr(ring, read), read, type);
}

void strict_slot_return(const struct fw_ring *ring, u32 read)
{
	if (slots_of[os_number].passed == read)
		slots_of[os_number].passed = (read + 1) & ring->mask;
	window_write32(slot_addr(ring, read), NOT_WRITTEN);
}

void strict_job_begins(u64 ready)
{
	if (has_ready)
		reg_write64(PUMICE_FIND_FW_READY, ready);
}

void strict_signal(u64 tag)
{
	if (!has_signal)
		return;
	reg_write(PUMICE_FIND_FW_ARG(0), (u32)tag);
	reg_write(PUMICE_FIND_FW_ARG(1), (u32)(tag >> 32));
	reg_write(PUMICE_FIND_FW_SIGNAL, 0);
}

void strict_update(u32 object, u32 value)
{
	u32 now;

	if (window_read32(object, &now) && (s32)(value - now) <= 0)
		report(PUMICE_FINDING_UPDATE_REUSED, object, value, now);
}
