/* SPDX-License-Identifier: MIT */
/*
 * Virtual GPUs (document 000, "Firmware Processor"): the one whose work is processed now, and their
 * events. Their connections are in connect.c.
 *
 * Each virtual GPU has a boot structure, rings, contexts, and a part of MMU context 0 for them. The
 * modules keep their state of each in tables that os_number indexes. Before an interrupt task or a
 * background task uses that state, the boot structure or window_valid(), it selects the virtual
 * GPU. Virtual GPU 0 boots the firmware and is always connected.
 */
#ifndef FW_OS_H
#define FW_OS_H

#include "fwif.h"
#include "pumice_regs.h"

/* The selected virtual GPU, and its boot structure. Set by os_select() and boot.c only. */
extern u32 os_number;
extern volatile struct fwif_boot *fw_boot;

/** os_init - begin with virtual GPU 0, whose boot structure is fw_boot. @minor: of the device */
void os_init(u32 minor);

/** os_count - return the number of virtual GPUs of the device. */
u32 os_count(void);

/** os_select - select a virtual GPU. Interrupts off; an interrupt task restores the selection. */
void os_select(u32 os);

/** os_select_owner - select the virtual GPU of an address of context 0. Interrupts off. */
void os_select_owner(u32 addr);

/** os_config - return the boot structure whose settings apply to the whole GPU. */
volatile struct fwif_boot *os_config(void);

/** os_vm - return the value that names the VM with a catalogue of the selected virtual GPU. */
static inline u64 os_vm(u64 catalogue)
{
	return catalogue | PUMICE_FIELD_PREP(PUMICE_MMU_CTX__OS, (u64)os_number);
}

/** os_connected - return whether a virtual GPU's rings are served. */
bool os_connected(u32 os);

/** os_set_connected - set that of the selected virtual GPU, whose boot structure is fw_boot. */
void os_set_connected(bool connected);

/** os_events - interrupt task: doorbells were rung. @mask: bit n: of virtual GPU n */
void os_events(u32 mask);

/**
 * os_rang - return whether the doorbell of the selected virtual GPU was rung since os_clear_rang().
 * The ring of virtual GPU 0 is read in every pass, so that a lost interrupt delays it only.
 */
bool os_rang(void);
void os_clear_rang(void);

/** os_changed - return whether a virtual GPU may have requested a connection or its end. */
bool os_changed(u32 os);
void os_clear_changed(u32 os);

/**
 * os_lose_memory - an access outside of window.S failed: note the virtual GPU it belongs to.
 * @addr: processor address
 *
 * Return: false if it belongs to none, or to virtual GPU 0.
 */
bool os_lose_memory(u32 addr);
/** os_lost - return whether that was called for a virtual GPU since os_clear_lost(). */
bool os_lost(u32 os);
void os_clear_lost(u32 os);

#endif
