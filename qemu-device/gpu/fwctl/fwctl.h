/* SPDX-License-Identifier: MIT */
/*
 * Firmware control: environment of the firmware processor. Boot ROM, private memory,
 * interrupt controller and timer, and the window through which the firmware accesses MMU
 * context 0.
 *
 * Source: document 000, "Firmware Processor"; registers.xml, units FW and IC.
 *
 * Locking: every function is called with the device lock held, except create, destroy and
 * fwctl_step(), which takes it through the functions of its configuration. The functions may
 * run during a step.
 *
 * A step checks its stop flag after FWCTL_SLICE_INSNS instructions, after FWCPU_SLOW_MAX slow
 * operations (fwcpu.h), and after each piece of a command that is done in pieces; so it ends
 * within a millisecond of a request.
 *
 * Limits: the boot ROM's work (1 MiB cleared and copied) is one piece. The interrupt
 * controller keeps its state over a stop and a start of the processor; fwctl_reset() clears
 * it.
 */
#ifndef PUMICE_GPU_FWCTL_H
#define PUMICE_GPU_FWCTL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "../mmu/mmu.h"
#include "pumice_regs.h"

struct fwctl;

/* Result of a store to a register. */
enum fwctl_store {
	FWCTL_STORE_DONE,
	FWCTL_STORE_LONG,	/* done; it waited for other units */
	FWCTL_STORE_AGAIN,	/* a piece was done: the firmware's instruction is repeated */
	FWCTL_STORE_REFUSED,	/* an access fault */
};

struct fwctl_ops {
	/* Accesses to registers by the firmware's bus; offset inside the page. No lock held. */
	bool (*bus_load)(void *opaque, u32 offset, unsigned int size, u32 *value);
	enum fwctl_store (*bus_store)(void *opaque, u32 offset, unsigned int size, u32 value);
	/* The device lock. */
	void (*lock)(void *opaque);
	void (*unlock)(void *opaque);
	/* Run fwctl_step() at once, or when the GPU clock reaches deadline. */
	void (*wake)(void *opaque);
	void (*set_deadline)(void *opaque, u64 deadline);
	u64 (*clock)(void *opaque);	/* GPU clock */
	/* The processor sleeps, in WFI; no lock held. */
	void (*asleep)(void *opaque);
	/* The boot ROM ended; device lock held. */
	void (*booted)(void *opaque, u32 image_bytes, u32 entry, enum pumice_fw_boot_error error);
	/* The processor locked up; device lock held. */
	void (*lockup)(void *opaque, u32 pc, u32 mcause);
};

/* Instructions between two checks of the stop flag. */
#define FWCTL_SLICE_INSNS	8192u

struct fwctl_config {
	struct mmu *mmu;
	const struct mem_map *mem;
	const struct fwctl_ops *ops;
	void *opaque;
};

/* Boot registers, as the host wrote them. */
struct fwctl_boot {
	u64 image_addr;		/* bus address */
	u32 image_size;		/* bytes */
	u32 entry;		/* in private memory */
	u64 arg;
};

/* Values of the status registers. */
struct fwctl_status {
	enum pumice_fw_state state;
	enum pumice_fw_boot_error boot_error;
	u32 pc;			/* snapshot, at most a step old; of the trap after a lockup */
	u32 mcause;		/* of the trap that locked up */
	u64 instret;		/* since RUN; snapshot */
};

/* Allocate a stopped firmware processor. Returns NULL when out of memory. */
struct fwctl *fwctl_create(const struct fwctl_config *config);
void fwctl_destroy(struct fwctl *fw);
/* Set all registers to their reset values and stop the processor; only while no step runs. */
void fwctl_reset(struct fwctl *fw);

/* Return the boot registers; writing them has no effect before the next RUN. */
struct fwctl_boot *fwctl_boot(struct fwctl *fw);
/*
 * FW_CTRL.RUN. 0 to 1 boots from the current boot registers; 1 to 0 stops. Returns true when
 * the caller must wait for the end of a step that may still run (workers_quiesce()) before it
 * can consider the processor stopped.
 */
bool fwctl_set_run(struct fwctl *fw, bool run);
bool fwctl_run(const struct fwctl *fw);
void fwctl_status(const struct fwctl *fw, struct fwctl_status *status);

/* Interrupt controller: events are bits of IC_PENDING. Raising them: any thread, any lock. */
void fwctl_raise(struct fwctl *fw, u32 events);
void fwctl_clear(struct fwctl *fw, u32 events);
u32 fwctl_pending(struct fwctl *fw);
void fwctl_enable(struct fwctl *fw, u32 events);
u32 fwctl_enabled(const struct fwctl *fw);
/* Set the timer; only by the firmware in its own step. */
void fwctl_set_timer(struct fwctl *fw, u64 ticks);
u64 fwctl_timer(const struct fwctl *fw);

/* Translate the window again after an invalidation of context 0. */
void fwctl_window_flush(struct fwctl *fw);

/*
 * Inject a failure of the processor, before one of its next few instructions: it locks up,
 * takes an exception, or does not execute until it is booted again. Device lock held.
 */
enum fwctl_failure { FWCTL_FAIL_NONE, FWCTL_FAIL_LOCKUP, FWCTL_FAIL_TRAP, FWCTL_FAIL_SILENT };
void fwctl_fail(struct fwctl *fw, enum fwctl_failure how);

/* Run the firmware for a quantum; the step of a worker unit. */
bool fwctl_step(struct fwctl *fw, const _Atomic bool *stop);

#endif
