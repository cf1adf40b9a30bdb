/* SPDX-License-Identifier: MIT */
/*
 * A host for the firmware: the real image on the real GPU core, in this process,
 * usually without threads; the test takes the role of the driver.
 *
 * The fixture implements hw/fwif.h itself and shares no code with the library or
 * the driver. Errors of the fixture itself abort the test program.
 */
#ifndef FW_FIXTURE_H
#define FW_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fwif.h"
#include "pumice_formats.h"
#include "pumice_gpu.h"
#include "testmem.h"

#define FX_KCCB	16u	/* entries of the rings */
#define FX_FWCCB	8u
#define FX_LOG		64u
#define FX_CCCB	4096u	/* bytes */
#define FX_RESULTS	16u
#define FX_STREAM_VA	0x10000000ull	/* a VM's only page except its code */
#define FX_CODE_VA	(FX_STREAM_VA + 0x1000)

struct fixture {
	/*
	 * Of virtual GPU 0, which owns the GPU and its clock, itself; of another one, that of
	 * number 0.
	 */
	struct fixture *host;
	struct fixture *guest[PUMICE_OS_COUNT];	/* of virtual GPU 0: the others, by number */
	u32 os;		/* number of the virtual GPU */
	u64 fw_start;	/* first fw address */

	struct testmem *tm;	/* its own memory, which no other virtual GPU may access */
	struct pumice_gpu *gpu;
	struct fwif_image_header image;
	u64 image_bus;

	/* Context 0, or its part of it: fw address of the next free byte; never reused. */
	u32 fw_next;

	struct fwif_boot *boot;
	u32 boot_addr;
	struct fwif_ring *kccb_ring, *fwccb_ring, *log_ring;
	struct fwif_kccb_cmd *kccb;
	u32 *kccb_status;
	struct fwif_fwccb_msg *fwccb;
	struct fwif_log_entry *log;

	unsigned int irqs;	/* interrupts raised */
	unsigned int threads;	/* of the GPU; then its clock is the host's */
	u64 clock;		/* the GPU clock, ns; advances with steps only: reproducible runs */
};

/* A virtual machine of jobs: a stream page and a code page. */
struct fx_vm {
	u64 catalogue;
	u64 *pt;	/* table entries of the stream and the code page */
	u32 *stream;	/* at FX_STREAM_VA */
	u32 *code;	/* at FX_CODE_VA */
};

struct fx_context {
	struct fwif_context *f;
	u32 addr;
	u8 *cccb;
	struct fwif_job_result *results;
	u32 *save;	/* where its job is saved */
	u32 *object;	/* an update object of its own */
	u32 object_addr;
	u32 write;
};

/* A write to a register. */
struct fx_write {
	u32 offset;
	u64 value;
	unsigned int size;	/* bytes */
};

#define FX_BOOT_WRITES	7u

/* Create GPU and boot structure, ready to boot. */
struct fixture *fx_create(void);
/* As fx_create(), for a GPU with threads: a step is a short sleep. */
struct fixture *fx_create_threads(unsigned int threads);
/* As fx_create(), with the memory at another bus address. */
struct fixture *fx_create_at(u64 base);
void fx_destroy(struct fixture *r);
/* Create one, boot it and wait for READY. */
struct fixture *fx_booted(void);
/* Get the register writes that start the firmware, in order. */
void fx_boot_writes(struct fixture *r, struct fx_write writes[FX_BOOT_WRITES]);
/* Start the firmware and run it until it reports a state. Returns boot->state. */
u32 fx_boot(struct fixture *r);

/* As fx_booted(), for a GPU with virtual GPUs, of which this is number 0. */
struct fixture *fx_booted_oses(unsigned int oses);
/* As fx_booted_oses(), with a number of cores, and of USCs of each. */
struct fixture *fx_booted_cores(unsigned int oses, unsigned int cores, unsigned int uscs);
/*
 * Create the driver of another virtual GPU, with a boot structure and memory of its own;
 * fx_destroy() of number 0 destroys it, too. The functions below then are of this virtual GPU.
 */
struct fixture *fx_guest(struct fixture *r, u32 os);
/* Connect it to the firmware, or disconnect it, and run. Return boot->state. */
u32 fx_connect(struct fixture *guest);
u32 fx_disconnect(struct fixture *guest);

/* Run until no unit has work (true), or for a limited number of steps (false). */
bool fx_run(struct fixture *r);
/* Run a number of steps, of one unit each. */
void fx_steps(struct fixture *r, unsigned int count);
/* Run until no unit has work, without a limit. */
void fx_finish(struct fixture *r);
u32 fx_reg(struct fixture *r, u32 offset);
u64 fx_clock(struct fixture *r);

/* Allocate memory in the firmware's window: @bytes, aligned to 64. */
void *fx_fw_alloc(struct fixture *r, u32 bytes, u32 *addr);
/* As fx_fw_alloc(), at the end of the mapped addresses; nothing can be allocated afterwards. */
void *fx_fw_alloc_last(struct fixture *r, u32 bytes, u32 *addr);
/* A fw address that is not mapped. */
#define FX_FW_HOLE	0x40000000u

/* Write a command to the kernel CCB; kick and run; and read its status. */
u32 fx_put(struct fixture *r, const struct fwif_kccb_cmd *cmd);
void fx_kick(struct fixture *r);
u32 fx_call(struct fixture *r, const struct fwif_kccb_cmd *cmd);
/* Assert that PING succeeds. */
void fx_assert_alive(struct fixture *r);
/* Commands with one field. */
u32 fx_call_context(struct fixture *r, u32 type, const struct fx_context *c);
u32 fx_call_catalogue(struct fixture *r, u32 type, u64 catalogue);

/* Create a VM whose stream halts at once. */
void fx_vm(struct fixture *r, struct fx_vm *vm);
/* Other streams for it. */
void fx_vm_endless(struct fx_vm *vm);		/* a program that never ends */
void fx_vm_faulty(struct fx_vm *vm);		/* an unknown command: CDM_COMMAND */
/* Work-groups of one instance, each with a loop; then, if @faulty, an unknown command. */
void fx_vm_groups(struct fx_vm *vm, u32 groups, u32 loops, bool faulty);
/* Write the program of such a loop, of FX_LOOP_INSNS instructions. */
#define FX_LOOP_INSNS	4u
void fx_put_loop(u32 *code, u32 loops);

void fx_context(struct fixture *r, const struct fx_vm *vm, u32 priority, struct fx_context *c);
/* Return a booted fixture, with a VM and a context of priority 1. */
struct fixture *fx_with_context(struct fx_vm *vm, struct fx_context *c);
/* As fx_context(), for any data master. @dm: enum fwif_dm */
void fx_context_of(struct fixture *r, const struct fx_vm *vm, u32 dm, u32 priority,
		   struct fx_context *c);
/*
 * Append commands to its client CCB; the firmware reads them after the next kick. Jobs request all
 * operations on caches, so that the caller and other jobs need none in any mode.
 */
void fx_wait_for(struct fx_context *c, u32 object, u32 value);
void fx_compute(struct fx_context *c, u64 stream, u32 seqno);
/* The same with performance counters. @perf: fw address of struct fwif_perf */
void fx_compute_perf(struct fx_context *c, u64 stream, u32 seqno, u32 perf);
void fx_update(struct fx_context *c, u32 object, u32 value);
void fx_bytes(struct fx_context *c, const void *cmd, u32 bytes);
/* KICK with the present write offset, without running. */
u32 fx_put_kick(struct fixture *r, const struct fx_context *c);
/* KICK and run; asserts OK. */
void fx_submit(struct fixture *r, const struct fx_context *c);
const struct fwif_job_result *fx_result(const struct fx_context *c, u32 seqno);

#endif
