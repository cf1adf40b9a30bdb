/* SPDX-License-Identifier: MIT */
/*
 * A whole GPU in this process, as the host accesses it: guest memory, interrupts, a
 * clock, and a small firmware that performs register accesses on the firmware's bus
 * on request of the test. Tests can so act as firmware, and still only the
 * firmware processor starts jobs.
 *
 *	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2 });
 *
 *	fx_boot_proxy(fx);
 *	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__START__MASK);
 *	fx_fw_wait(fx, PUMICE_IC_PENDING__CDM_DONE__MASK);
 *	fx_destroy(fx);
 *
 * Waiting does not depend on timing: it polls the GPU (no threads) or
 * sleeps until its interrupt; after FX_PATIENCE seconds the test fails.
 */
#ifndef PUMICE_TEST_GPU_FIXTURE_H
#define PUMICE_TEST_GPU_FIXTURE_H

#include <pthread.h>

#include "cmocka_all.h"
#include "testmem.h"

#define FX_PATIENCE	120	/* seconds */
#define FX_MAILBOX	0x1000ull	/* of the proxy, in context 0 */

struct fx_options {
	/* As in pumice_gpu_config. */
	const char *preset;
	unsigned int cores, uscs_per_core, slots, tasks, waves, batch;
	unsigned int threads, oses, unified_kib, common_kib, local_kib, slot_registers;
	unsigned int vpm_kib, idx_fifo, chunk_fifo, tile_fifo, tsp_vertices;
	bool fault_injection;
	bool manual_clock;	/* the clock is fx->clock, else the host's */
};

/* Record of a call of the host's trace for a job. */
struct fx_traced {
	enum pumice_trace_event event;
	u64 a, b, c;
};

#define FX_TRACED	16u	/* recorded calls */

struct fixture {
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
	struct fx_traced traced[FX_TRACED];	/* the first ones */
	unsigned int traced_count;

	volatile u32 *mailbox;	/* of the proxy */
};

/* Create a GPU with memory, context 0 and all page sizes set up; NULL: 1 core, no threads. */
struct fixture *fx_create(const struct fx_options *options);
/* In counted mode all requests to the hierarchy must have been valid. */
void fx_destroy(struct fixture *fx);
/* Context 0 and a range for all page sizes; done by fx_create(), undone by a reset. */
void fx_setup_mmu(struct fixture *fx);

/* Registers, from the host. */
u64 fx_read(struct fixture *fx, u32 offset);
void fx_write(struct fixture *fx, u32 offset, u64 value);

/* Start a firmware image at entry; does not wait. */
void fx_start(struct fixture *fx, const u32 *words, u32 count, u32 entry);
/* Wait until the register's masked bits have this value. */
void fx_wait_reg(struct fixture *fx, u32 offset, u64 mask, u64 value);
/* Wait until a word of guest memory has this value. */
void fx_wait_word(struct fixture *fx, const u32 *word, u32 value);
/* threads=0: run a little. */
void fx_poll(struct fixture *fx, u64 budget_ns);
/* threads=0: run until no unit has work; returns ns to the next deadline. */
u64 fx_drain(struct fixture *fx);

/* Boot the proxy, and use it: registers as the firmware accesses them, 32 bits at a time. */
void fx_boot_proxy(struct fixture *fx);
u32 fx_fw_read(struct fixture *fx, u32 offset);
void fx_fw_write(struct fixture *fx, u32 offset, u32 value);
/* Both halves, the high one first. */
void fx_fw_write64(struct fixture *fx, u32 offset, u64 value);
u64 fx_fw_read64(struct fixture *fx, u32 offset);
/* Wait for one of these events of the interrupt controller, and clear them. */
u32 fx_fw_wait(struct fixture *fx, u32 events);

#endif
