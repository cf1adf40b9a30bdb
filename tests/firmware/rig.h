/* SPDX-License-Identifier: MIT */
/*
 * A host for the firmware: the real image on the real GPU core, in this process,
 * usually without threads; the test takes the role of the driver.
 *
 * The fixture implements hw/fwif.h itself and shares no code with the library or
 * the driver. Errors of the fixture itself abort the test program.
 */
#ifndef FW_RIG_H
#define FW_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fwif.h"
#include "pumice_formats.h"
#include "pumice_gpu.h"
#include "testmem.h"

#define RIG_KCCB	16u	/* entries of the rings */
#define RIG_FWCCB	8u
#define RIG_LOG		64u
#define RIG_CCCB	4096u	/* bytes */
#define RIG_RESULTS	16u
#define RIG_STREAM_VA	0x10000000ull	/* a VM's only page except its code */
#define RIG_CODE_VA	(RIG_STREAM_VA + 0x1000)

struct rig {
	struct testmem *tm;
	struct pumice_gpu *gpu;
	struct fwif_image_header image;
	u64 image_bus;

	/* Context 0: fw address of the next free byte; never reused. */
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
	u64 clock;		/* the GPU clock, ns; advances with turns only: reproducible runs */
};

/* A virtual machine of jobs: a stream page and a code page. */
struct rig_vm {
	u64 catalogue;
	u64 *pt;	/* table entries of the stream and the code page */
	u32 *stream;	/* at RIG_STREAM_VA */
	u32 *code;	/* at RIG_CODE_VA */
};

struct rig_context {
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
struct rig_write {
	u32 offset;
	u64 value;
	unsigned int size;	/* bytes */
};

#define RIG_BOOT_WRITES	7u

/* Create GPU and boot structure, ready to boot. */
struct rig *rig_create(void);
/* As rig_create(), for a GPU with threads: a turn is a short sleep. */
struct rig *rig_create_threads(unsigned int threads);
/* As rig_create(), with the memory at another bus address. */
struct rig *rig_create_at(u64 base);
void rig_destroy(struct rig *r);
/* Create one, boot it and wait for READY. */
struct rig *rig_booted(void);
/* The register writes that start the firmware, in order. */
void rig_boot_writes(struct rig *r, struct rig_write writes[RIG_BOOT_WRITES]);
/* Start the firmware and run it until it reports a state. Returns boot->state. */
u32 rig_boot(struct rig *r);

/* Run until no unit has work (true), or for a limited number of turns (false). */
bool rig_run(struct rig *r);
/* Run a number of turns: steps of one unit each. */
void rig_turns(struct rig *r, unsigned int count);
/* Run until no unit has work, without a limit. */
void rig_finish(struct rig *r);
u32 rig_reg(struct rig *r, u32 offset);
u64 rig_clock(struct rig *r);

/* Allocate memory in the firmware's window: @bytes, aligned to 64. */
void *rig_fw_alloc(struct rig *r, u32 bytes, u32 *addr);
/* A fw address that is not mapped. */
#define RIG_FW_HOLE	0x40000000u

/* Write a command to the kernel CCB; kick and run; and read its status. */
u32 rig_put(struct rig *r, const struct fwif_kccb_cmd *cmd);
void rig_kick(struct rig *r);
u32 rig_call(struct rig *r, const struct fwif_kccb_cmd *cmd);
/* Assert that PING succeeds. */
void rig_assert_alive(struct rig *r);
/* Commands with one field. */
u32 rig_call_context(struct rig *r, u32 type, const struct rig_context *c);
u32 rig_call_catalogue(struct rig *r, u32 type, u64 catalogue);

/* Create a VM whose stream halts at once. */
void rig_vm(struct rig *r, struct rig_vm *vm);
/* Other streams for it. */
void rig_vm_endless(struct rig_vm *vm);		/* a program that never ends */
void rig_vm_faulty(struct rig_vm *vm);		/* an unknown command: CDM_COMMAND */
/* Work-groups of one instance, each with a loop; then, if @faulty, an unknown command. */
void rig_vm_groups(struct rig_vm *vm, u32 groups, u32 turns, bool faulty);

void rig_context(struct rig *r, const struct rig_vm *vm, u32 priority, struct rig_context *c);
/* A booted fixture, with a VM and a context of priority 1. */
struct rig *rig_with_context(struct rig_vm *vm, struct rig_context *c);
/* As rig_context(), for any data master. @dm: enum fwif_dm */
void rig_context_of(struct rig *r, const struct rig_vm *vm, u32 dm, u32 priority,
		    struct rig_context *c);
/* Append commands to its client CCB; the firmware reads them after the next kick. */
void rig_wait_for(struct rig_context *c, u32 object, u32 value);
void rig_compute(struct rig_context *c, u64 stream, u32 seqno);
/* The same with performance counters. @perf: fw address of struct fwif_perf */
void rig_compute_perf(struct rig_context *c, u64 stream, u32 seqno, u32 perf);
void rig_update(struct rig_context *c, u32 object, u32 value);
void rig_bytes(struct rig_context *c, const void *cmd, u32 bytes);
/* KICK with the present write offset, without running. */
u32 rig_put_kick(struct rig *r, const struct rig_context *c);
/* KICK and run; asserts OK. */
void rig_submit(struct rig *r, const struct rig_context *c);
const struct fwif_job_result *rig_result(const struct rig_context *c, u32 seqno);

#endif
