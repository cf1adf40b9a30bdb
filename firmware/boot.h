/* SPDX-License-Identifier: MIT */
/* The boot structure: handshake with the host, counters, fatal stop. */
#ifndef FW_BOOT_H
#define FW_BOOT_H

#include "os.h"

/* A ring whose structure and entries were validated at boot. */
struct fw_ring {
	volatile struct fwif_ring *ring;
	u32 entries;	/* fw address of the entries */
	u32 mask;	/* count - 1 */
};

/* The rings of the boot structure. */
struct fw_rings {
	struct fw_ring kccb, fwccb, log;
	volatile u32 *kccb_status;
};

/**
 * boot_handshake - validate the boot structure and the rings.
 * @addr_low: low word of FW_BOOT_ARG
 * @addr_high: high word
 * @rings: out
 *
 * Does not return when it refuses to boot.
 */
void boot_handshake(u32 addr_low, u32 addr_high, struct fw_rings *rings);

/**
 * boot_connect - validate the boot structure and the rings of a virtual GPU other than 0.
 * @addr: fw address of the structure, which fw_boot is set to
 * @rings: out
 *
 * Return: false if it is refused, which is reported if the structure can be written.
 */
bool boot_connect(u32 addr, struct fw_rings *rings);

/** boot_end - notify the selected virtual GPU that it was disconnected. */
void boot_end(void);

/**
 * boot_host_minor - return the minor version of the interface that the selected virtual GPU's
 * driver was built with.
 */
u32 boot_host_minor(void);

/** boot_device_minor - return the minor version of the device's register map. */
u32 boot_device_minor(void);

/** boot_ready - notify the selected virtual GPU that commands are accepted from now on. */
void boot_ready(void);

/**
 * boot_stop - report a fatal error to all virtual GPUs, and stop.
 * @error: reason
 * @info: depends on the reason: the cause of a trap, else 0
 * @pc: address of the trapping instruction, else 0
 */
_Noreturn void boot_stop(enum fwif_error error, u32 info, u32 pc);

#endif
