/* SPDX-License-Identifier: MIT */
/*
 * Firmware processor (RV32IMC + Zicsr + Zifencei + Zicntr, machine mode only).
 *
 * The one processor of the GPU: it runs the firmware that starts the data masters. Sources:
 * The RISC-V Instruction Set Manual, volume I (unprivileged, 20191213) and volume II
 * (privileged, 20211203), cited by section below.
 *
 * Address map, as configured in struct fwcpu_config:
 *   0 .. ram_size-1               private RAM; the only executable memory
 *   mmio_base .. +mmio_size-1     firmware bus, through fwcpu_bus.load/store
 *   window_base .. 0xffffffff     window onto GPU memory, host pointers by page
 * All other addresses are access faults.
 *
 * Limits and choices:
 * - A misaligned load or store works inside private RAM and is an
 *   address-misaligned exception everywhere else.
 * - Private RAM is coherent with instruction fetch: a store is visible to the
 *   next instruction. FENCE.I is still executed, for writes by the host.
 * - mtime is constant during one fwcpu_run(); the caller passes it.
 * - One unit of budget is one instruction executed or one exception taken, and
 *   mcycle counts these units; taking an interrupt costs none.
 * - The processor locks up, instead of spinning, when a trap has no handler
 *   (mtvec.BASE is 0) or when an exception repeats at the same pc with the same
 *   cause while its handler is still open: no MRET and no write to mepc between.
 *   A handler that alternates between two faults is not recognised; it uses
 *   its budget until the watchdog of the host stops it.
 */
#ifndef PUMICE_FWCPU_H
#define PUMICE_FWCPU_H

#include <stdbool.h>
#include <stdint.h>

/* Registers x0..x31, and a sink for writes to x0. */
#define FWCPU_REG_SINK		32
#define FWCPU_REG_COUNT		33

/* Interrupts, timer and halt requests are polled at least this often (instructions). */
#define FWCPU_POLL_INTERVAL	64

/*
 * Maximum number of slow operations of one fwcpu_run() before it returns, even with budget
 * remaining; it may do FWCPU_POLL_INTERVAL more. They are accesses to the firmware bus,
 * look-ups of window pages, flushes of the decoded code. Each takes up to some microseconds,
 * an instruction nanoseconds.
 */
#define FWCPU_SLOW_MAX		64

/* The window is mapped in pages of this size (bytes). */
#define FWCPU_WINDOW_PAGE	4096u
#define FWCPU_TLB_ENTRIES	64

/* fwcpu_next_deadline() when no timer interrupt can occur. */
#define FWCPU_NO_DEADLINE	UINT64_MAX

/* Breakpoints at a time; see debug.h. */
#define FWCPU_BREAKPOINTS	64u

struct fwcpu_insn;

/* State of the processor between two calls of fwcpu_run(). */
enum fwcpu_state {
	FWCPU_STATE_STOPPED,	/* before fwcpu_start(), or after fwcpu_halt() */
	FWCPU_STATE_RUNNING,
	FWCPU_STATE_WAITING,	/* in WFI */
	FWCPU_STATE_LOCKUP,	/* stopped until fwcpu_reset(); see fwcpu_arch.lockup_* */
};

/* Reason for fwcpu_run() to return. */
enum fwcpu_stop {
	FWCPU_STOP_BUDGET,	/* budget used up, more to do */
	FWCPU_STOP_WFI,		/* sleeps until an interrupt or fwcpu_next_deadline() */
	FWCPU_STOP_LOCKUP,
	FWCPU_STOP_HALT,	/* stopped: not started yet, or fwcpu_halt() */
	FWCPU_STOP_BREAK,	/* at a breakpoint (debug.h), whose instruction is pending */
};

/*
 * Accesses outside private RAM. Called only on the thread inside fwcpu_run(). The functions
 * may call fwcpu_set_irq(), fwcpu_set_timer(), fwcpu_halt(), fwcpu_window_flush(),
 * fwcpu_code_changed(), fwcpu_slow() and fwcpu_retry(), and no other function of this header.
 */
struct fwcpu_bus {
	void *opaque;
	/*
	 * Read or write @size (1, 2, 4) bytes at @addr, naturally aligned, little endian in
	 * the low bits of the value. False: access fault. Called for the firmware bus, and
	 * for window pages that @window_ptr refused.
	 */
	bool (*load)(void *opaque, uint32_t addr, unsigned int size, uint32_t *val);
	bool (*store)(void *opaque, uint32_t addr, unsigned int size, uint32_t val);
	/*
	 * Host address of the window page at @addr (a multiple of FWCPU_WINDOW_PAGE),
	 * readable, and writable too when @write. *@run_len becomes the number of bytes
	 * usable from there. NULL, less than one page, or an address that is not a multiple
	 * of 4 redirects the access to load/store. The pointer is kept and used until
	 * fwcpu_window_flush(): a page mapped for writing is considered dirty until then. May
	 * be NULL.
	 */
	uint8_t *(*window_ptr)(void *opaque, uint32_t addr, bool write, uint32_t *run_len);
};

/*
 * Load or store @size (1, 2, 4) bytes of memory that the host shares, as the processor does: at
 * once, naturally aligned, little endian. For struct fwcpu_bus.
 */
uint32_t fwcpu_host_load(const uint8_t *p, unsigned int size);
void fwcpu_host_store(uint8_t *p, unsigned int size, uint32_t val);

/* Fixed at fwcpu_init(). */
struct fwcpu_config {
	uint8_t *ram;		/* owned by the caller, outlives the processor */
	uint32_t ram_size;	/* bytes, multiple of 4, at most mmio_base */
	uint32_t mmio_base;	/* multiple of 4 */
	uint32_t mmio_size;	/* bytes, multiple of 4 */
	uint32_t window_base;	/* multiple of FWCPU_WINDOW_PAGE, past the firmware bus */
	uint32_t hart_id;
	struct fwcpu_bus bus;
};

/* Architectural state: plain data, complete for a snapshot together with RAM. */
struct fwcpu_arch {
	uint32_t x[FWCPU_REG_COUNT];
	uint32_t pc;

	/* Control and status registers (privileged, section 3.1). */
	uint32_t mstatus;	/* MIE and MPIE; MPP is constant */
	uint32_t mie;
	uint32_t mtvec;
	uint32_t mscratch;
	uint32_t mepc;
	uint32_t mcause;
	uint32_t mtval;
	uint64_t mcycle;
	uint64_t minstret;
	uint64_t mtimecmp;	/* GPU clock ticks; set by fwcpu_set_timer() */

	uint32_t state;		/* enum fwcpu_state */
	uint32_t trap_open;	/* 1 from trap entry to MRET or a write to mepc */

	/* The trap that caused the lockup, valid in FWCPU_STATE_LOCKUP. */
	uint32_t lockup_pc;
	uint32_t lockup_cause;
	uint32_t lockup_tval;
};

/* Addresses at which fwcpu_run() stops; they survive fwcpu_reset(). */
struct fwcpu_breakpoints {
	uint32_t addr[FWCPU_BREAKPOINTS];
	uint32_t count;
};

/* One page of the window, as last returned by fwcpu_bus.window_ptr. */
struct fwcpu_tlb_entry {
	uint32_t read_page;	/* window address of the page; 0 = none */
	uint32_t write_page;
	uint8_t *host;
};

/*
 * The processor. Callers use the functions below, and may read the fields arch and executed
 * on the thread that calls fwcpu_run().
 */
struct fwcpu {
	struct fwcpu_arch arch;
	uint32_t executed;	/* units of budget used by the last fwcpu_run() */

	/* Configuration. */
	struct fwcpu_config cfg;

	/* Written by any thread, atomically. */
	uint32_t irq_line;	/* level of the external interrupt */
	uint32_t halt_request;
	uint32_t window_stale;	/* clear the TLB before its next use */

	/* Inside one fwcpu_run(). */
	uint64_t now;		/* mtime, GPU clock ticks */
	uint32_t fault_cause;	/* of the last failed load or store */
	uint32_t fault_tval;
	uint32_t slow;		/* slow operations so far */
	bool retry;		/* execute the current store again */
	bool break_hit;		/* the next instruction has a breakpoint */

	struct fwcpu_breakpoints breakpoints;

	/* Derived from RAM and the window; never saved. */
	struct fwcpu_insn *code;	/* one per halfword of RAM, and an end mark */
	uint8_t *code_map;		/* 1 for granules of RAM with decoded code */
	struct fwcpu_tlb_entry tlb[FWCPU_TLB_ENTRIES];
};

/**
 * fwcpu_init - set up a processor in the state of fwcpu_reset().
 * @cpu: memory of the caller, contents ignored
 * @cfg: copied
 *
 * Return: 0, -EINVAL for an impossible @cfg, -ENOMEM.
 */
int fwcpu_init(struct fwcpu *cpu, const struct fwcpu_config *cfg);

/** fwcpu_destroy - free what fwcpu_init() allocated; @cpu may be zeroed memory. */
void fwcpu_destroy(struct fwcpu *cpu);

/**
 * fwcpu_reset - stop, and clear every register, cached instruction and window
 * page. RAM and the external interrupt line keep their values.
 */
void fwcpu_reset(struct fwcpu *cpu);

/** fwcpu_start - after fwcpu_reset(), run from @entry (bit 0 ignored). */
void fwcpu_start(struct fwcpu *cpu, uint32_t entry);

/**
 * fwcpu_restore - adopt saved state, which is not trusted: read-only bits get
 * their values, and an unknown state becomes FWCPU_STATE_STOPPED. RAM must have
 * been restored before.
 */
void fwcpu_restore(struct fwcpu *cpu, const struct fwcpu_arch *arch);

/**
 * fwcpu_run - execute for at most @budget units. @now: mtime for this call, GPU clock ticks
 *
 * Returns early when the processor sleeps, locks up or is halted, after FWCPU_SLOW_MAX slow
 * operations, and after fwcpu_retry(). An interrupt that is due is taken before the first and
 * after the last instruction, so the returned reason is valid at the time of return.
 * fwcpu.executed is the number of units used.
 */
enum fwcpu_stop fwcpu_run(struct fwcpu *cpu, uint32_t budget, uint64_t now);

/**
 * fwcpu_slow - charge the current bus access as @count slow operations. Inside fwcpu_bus
 * only.
 */
void fwcpu_slow(struct fwcpu *cpu, uint32_t count);

/**
 * fwcpu_retry - the current store is not complete: fwcpu_run() returns before its
 * instruction, and the next call executes it again, unless an interrupt is taken first.
 * Inside fwcpu_bus.store only.
 */
void fwcpu_retry(struct fwcpu *cpu);

/**
 * fwcpu_set_irq - drive the external interrupt line. Any thread. The caller that raises it
 * must wake the thread that sleeps on FWCPU_STOP_WFI.
 */
void fwcpu_set_irq(struct fwcpu *cpu, bool level);

/** fwcpu_halt - stop at the next poll, or at once when not running. Any thread. */
void fwcpu_halt(struct fwcpu *cpu);

/** fwcpu_set_timer - set mtimecmp, GPU clock ticks. Thread of fwcpu_run() only. */
void fwcpu_set_timer(struct fwcpu *cpu, uint64_t mtimecmp);

/**
 * fwcpu_next_deadline - return the GPU clock tick at which the timer interrupt becomes
 * pending, FWCPU_NO_DEADLINE when it is disabled in mie.
 */
uint64_t fwcpu_next_deadline(const struct fwcpu *cpu);

/**
 * fwcpu_fail - fail, between two calls of fwcpu_run(): lock up, or take the exception of an
 * illegal instruction at the next one. No effect on a stopped processor.
 */
void fwcpu_fail(struct fwcpu *cpu, bool lock_up);

/**
 * fwcpu_wakeable - return whether fwcpu_run() at @now would do more than return its last stop
 * reason. Check it after raising flags, before sleeping.
 */
bool fwcpu_wakeable(const struct fwcpu *cpu, uint64_t now);

/**
 * fwcpu_window_flush - drop all window pages before the next access through the window. Any
 * thread.
 */
void fwcpu_window_flush(struct fwcpu *cpu);

/**
 * fwcpu_code_changed - @len bytes of private RAM at @addr were written by another writer than
 * the processor: drop the instructions decoded from there. A range that extends past the end
 * is truncated. Thread of fwcpu_run() only.
 */
void fwcpu_code_changed(struct fwcpu *cpu, uint32_t addr, uint32_t len);

#endif
