/* SPDX-License-Identifier: MIT */
/*
 * Mode strict: errors of drivers in memory that only host and firmware interpret. They are findings
 * of the device (Documentation/strict.rst).
 *
 * Slots of the kernel CCB: the host owns a slot until the write index has passed it, then the
 * firmware until the read index has. The firmware notes the contents of a slot that becomes its
 * own, and gives one that it returns an invalid type: so a slot that the host passes without having
 * written it differs from every command.
 *
 * Limits: a slot is checked when the background loop sees the write index, not when the host moves
 * it. Slots are those of the selected virtual GPU.
 */
#ifndef FW_STRICT_H
#define FW_STRICT_H

#include "boot.h"

/** strict_init - prepare for a device. @minor: of its register map */
void strict_init(u32 minor);

/** strict_refresh - read the mode of the GPU: at boot, and after each sleep. Interrupts off. */
void strict_refresh(void);

/** strict_is_on - return whether the GPU was in mode strict at the last strict_refresh(). */
bool strict_is_on(void);

/** strict_slots_drop - the selected virtual GPU has a new kernel CCB, or none. Interrupts off. */
void strict_slots_drop(void);

/*
 * The following functions are for mode strict, with interrupts off.
 */
/** strict_slots_pass - note that the slots before the index @write are the firmware's. */
void strict_slots_pass(const struct fw_ring *ring, u32 read, u32 write);

/** strict_slot_read - check the slot at the index @read, before its command is executed. */
void strict_slot_read(const struct fw_ring *ring, u32 read);

/** strict_slot_return - note that the slot at the index @read is the host's, before it moves. */
void strict_slot_return(const struct fw_ring *ring, u32 read);

/** strict_job_begins - report since when, by SYS_CLOCK, the job that is started next was ready. */
void strict_job_begins(u64 ready);

/** strict_signal - report that an update follows for a job that has ended. @tag: of the job */
void strict_signal(u64 tag);

/** strict_update - check that an update advances its object. @object: fw address */
void strict_update(u32 object, u32 value);

#endif
