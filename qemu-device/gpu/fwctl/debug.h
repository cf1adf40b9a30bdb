/* SPDX-License-Identifier: MIT */
/*
 * Firmware control: the interface of a debugger of the firmware.
 *
 * The debugger is a single client, on any thread; it queues requests, which the step of the
 * firmware processor serves. While the processor is halted its step executes nothing and the
 * worker unit sleeps, so the holder of the device lock may read registers and memory. The rest
 * of the GPU keeps running: registers, data masters, interrupts to the host. The host's control
 * of the processor (RUN, a boot, a reset) affects a halted one too; it then stays halted, at
 * the entry of the image after a boot.
 *
 * Locking: every function is called with the device lock held. fwctl_debug_serve() drops it
 * while it executes an instruction.
 *
 * Limits: breakpoints, registers and memory only while halted, and not in the millisecond in
 * which the boot ROM copies an image. Nothing is served while the workers
 * are parked.
 */
#ifndef PUMICE_GPU_FWCTL_DEBUG_H
#define PUMICE_GPU_FWCTL_DEBUG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "pumice_types.h"

struct fwcpu;
struct fwctl;
struct fwctl_ops;
struct mmu;

/* Reason of a halt of the processor. */
enum fwctl_halt {
	FWCTL_HALT_NONE,	/* it is not halted */
	FWCTL_HALT_REQUEST,	/* fwctl_debug_halt() */
	FWCTL_HALT_STEP,
	FWCTL_HALT_BREAKPOINT,
	FWCTL_HALT_LOCKUP,
};

struct fwctl_debug {
	/* Configuration. */
	struct fwcpu *cpu;
	const struct mmu *mmu;
	const struct fwctl_ops *ops;
	void *opaque;

	/* The debugger; device lock. */
	void (*halted)(void *opaque);
	void *halted_opaque;

	/* Requests; device lock. */
	bool halt_wanted;	/* by fwctl_debug_halt() */
	bool forget_wanted;	/* remove breakpoints: the debugger has disconnected */
	bool step_wanted;	/* execute one instruction, then halt */
	bool pass_wanted;	/* execute the instruction at pc if it has a breakpoint, then run */
	_Atomic bool request;	/* one of these is set; read by the step without the lock */

	/* State; device lock. */
	enum fwctl_halt halt;
	bool booting;		/* the boot ROM works on the processor without the lock */
};

/* Registers by number: x0 to x31, pc, and CSRs from FWCTL_DEBUG_CSR0 on by their number. */
#define FWCTL_DEBUG_PC		32u
#define FWCTL_DEBUG_CSR0	65u

/* Return the debugger's part of @fw; all functions below take it. */
struct fwctl_debug *fwctl_debug(struct fwctl *fw);

/*
 * Attach a debugger: @halted is called on the thread of the step, with the device lock held,
 * each time the processor halts, and must not block or call back.
 */
void fwctl_debug_attach(struct fwctl_debug *d, void (*halted)(void *opaque), void *opaque);
/* Detach it: drop breakpoints and requests, and run the processor. */
void fwctl_debug_detach(struct fwctl_debug *d);

/* Halt at the next instruction. */
void fwctl_debug_halt(struct fwctl_debug *d);
/* Run, or execute one instruction; from a halt only. */
void fwctl_debug_resume(struct fwctl_debug *d, bool step);
/* Return whether and why the processor is halted. */
enum fwctl_halt fwctl_debug_halted(const struct fwctl_debug *d);

/* Return false if the processor cannot be accessed or has no such register to read, to write. */
bool fwctl_debug_get(struct fwctl_debug *d, u32 number, u32 *value);
bool fwctl_debug_set(struct fwctl_debug *d, u32 number, u32 value);
/*
 * Access private memory, and MMU context 0 through the window, without a fault or a counter.
 * Return the number of bytes copied: fewer at the first byte that is neither, 0 when not halted.
 */
size_t fwctl_debug_read(struct fwctl_debug *d, u32 addr, void *to, size_t bytes);
size_t fwctl_debug_write(struct fwctl_debug *d, u32 addr, const void *from, size_t bytes);
/* Return 0 or a negative errno; -EBUSY when not halted. */
int fwctl_debug_add_breakpoint(struct fwctl_debug *d, u32 addr);
int fwctl_debug_remove_breakpoint(struct fwctl_debug *d, u32 addr);

/* For fwctl.c. */

/* Return whether the step is to call fwctl_debug_serve(); no lock. */
static inline bool fwctl_debug_requested(const struct fwctl_debug *d)
{
	return atomic_load_explicit(&d->request, memory_order_relaxed);
}

/*
 * Serve requests, in the step. @runs: the processor is booted and runs. Returns whether the
 * processor is halted: then the step ends.
 */
bool fwctl_debug_serve(struct fwctl_debug *d, bool runs);
/* The processor came to a breakpoint, or locked up. Returns as fwctl_debug_serve(). */
bool fwctl_debug_stopped(struct fwctl_debug *d, enum fwctl_halt why);
/* After a reset of the processor, which forgot wake-ups. */
void fwctl_debug_reset(struct fwctl_debug *d);

#endif
