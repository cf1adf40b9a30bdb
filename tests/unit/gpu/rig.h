/* SPDX-License-Identifier: MIT */
/*
 * A whole GPU in this process, as the host accesses it: guest memory, interrupts, a
 * clock, and a small firmware that performs register accesses on the firmware's bus
 * on request of the test. Tests can so do what firmware does, and still only the
 * firmware processor starts jobs.
 *
 *	struct rig *rig = rig_create(&(struct rig_options){ .cores = 2 });
 *
 *	rig_boot_proxy(rig);
 *	rig_fw_write(rig, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__START__MASK);
 *	rig_fw_wait(rig, PUMICE_IC_PENDING__CDM_DONE__MASK);
 *	rig_destroy(rig);
 *
 * Waiting does not depend on timing: it polls the GPU (no threads) or
 * sleeps until its interrupt; after RIG_PATIENCE seconds the test fails.
 */
#ifndef PUMICE_TEST_GPU_RIG_H
#define PUMICE_TEST_GPU_RIG_H

#include <pthread.h>

#include "cmocka_all.h"
#include "testmem.h"

#define RIG_PATIENCE	120	/* seconds */
#define RIG_MAILBOX	0x1000ull	/* of the proxy, in context 0 */

struct rig_options {
	/* As in pumice_gpu_config. */
	unsigned int cores, threads, oses, unified_kib, common_kib, local_kib, slot_registers;
	bool fault_injection;
	bool manual_clock;	/* the clock is rig->clock, else the host's */
};

/* Record of a call of the host's trace for a job. */
struct rig_traced {
	enum pumice_trace_event event;
	u64 a, b, c;
};

#define RIG_TRACED	16u	/* recorded calls */

struct rig {
	struct pumice_gpu *gpu;
	struct testmem *tm;
	unsigned int threads;
	bool manual_clock;
	_Atomic u64 clock;

	pthread_mutex_t lock;	/* protects the following fields */
	pthread_cond_t change;
	unsigned int irqs[PUMICE_OS_COUNT];
	unsigned int kicks;
	char log[256];		/* last line */
	struct rig_traced traced[RIG_TRACED];	/* the first ones */
	unsigned int traced_count;

	volatile u32 *mailbox;	/* of the proxy */
};

/* A GPU with memory, context 0 and all page sizes set up; NULL: 1 core, no threads. */
struct rig *rig_create(const struct rig_options *options);
void rig_destroy(struct rig *rig);
/* Context 0 and a range for all page sizes; done by rig_create(), undone by a reset. */
void rig_setup_mmu(struct rig *rig);

/* Registers, from the host. */
u64 rig_read(struct rig *rig, u32 offset);
void rig_write(struct rig *rig, u32 offset, u64 value);

/* Start a firmware image at entry; does not wait. */
void rig_start(struct rig *rig, const u32 *words, u32 count, u32 entry);
/* Wait until the register's masked bits have this value. */
void rig_wait_reg(struct rig *rig, u32 offset, u64 mask, u64 value);
/* Wait until a word of guest memory has this value. */
void rig_wait_word(struct rig *rig, const u32 *word, u32 value);
/* threads=0: run a little. */
void rig_poll(struct rig *rig, u64 budget_ns);
/* threads=0: run until no unit has work; returns ns to the next deadline. */
u64 rig_drain(struct rig *rig);

/* Boot the proxy, and use it: registers as the firmware accesses them, 32 bits at a time. */
void rig_boot_proxy(struct rig *rig);
u32 rig_fw_read(struct rig *rig, u32 offset);
void rig_fw_write(struct rig *rig, u32 offset, u32 value);
/* Both halves, the high one first. */
void rig_fw_write64(struct rig *rig, u32 offset, u64 value);
u64 rig_fw_read64(struct rig *rig, u32 offset);
/* Wait for one of these events of the interrupt controller, and clear them. */
u32 rig_fw_wait(struct rig *rig, u32 events);

#endif
