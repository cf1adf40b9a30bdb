/* SPDX-License-Identifier: MIT */
/*
 * Fixture of the tests of the PDS: guest memory mapped by the real MMU, fake USCs, a
 * device lock that records whether it is held, and a program to launch.
 *
 *	struct fixture *fx = fx_create(2, NULL);
 *	struct pds_launch launch = fx_launch(64, 1, 1);
 *
 *	fx_program(fx, &launch, insns, 3);
 *	assert_true(fx_begin(fx, &launch));
 *	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
 *	fx_destroy(fx);
 */
#ifndef PUMICE_PDS_FIXTURE_H
#define PUMICE_PDS_FIXTURE_H

#include "../../../qemu-device/gpu/pds/pds.h"
#include "cmocka_all.h"
#include "fake_usc.h"
#include "perf.h"
#include "pumice_isa.h"
#include "testmem.h"
#include "testtrace.h"

/* Mapped in context FX_CTX: PDS programs, a USC program, data; unmapped after them. */
#define FX_CTX		5u
#define FX_PDS		0x10000ull
#define FX_PDS_BYTES	0x4000u
#define FX_CODE	0x40000ull
#define FX_CODE_BYTES	0x1000u
#define FX_DATA	0x7ffff000ull	/* so that it crosses a 1 GiB and a 2 MiB boundary */
#define FX_DATA_BYTES	0x9000u

#define FX_USCS_PER_CORE	2u

/* Stores of a fake USC. */
#define FX_UNIFIED	(512u << 10)
#define FX_COMMON	(64u << 10)
#define FX_LOCAL	(64u << 10)
#define FX_VPM		(512u << 10)	/* of a core */
#define FX_ROWS	(FX_UNIFIED / (USC_ROW_WORDS * 4))

/* PDS instructions. */
#define LDI(b, r, v) { .opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_##b, .reg = (r), \
		       .imm = (v) }
#define MOV(b, r, s) { .opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_##b, .reg = (r), \
		       .source = PUMICE_PDS_SOURCE_##s }
#define DMA(b, r, n, a, s) { .opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_##b, \
			     .reg = (r), .count = (n), .addr = (a), .stride = (s) }
#define TASK { .opcode = PUMICE_PDS_OP_TASK, .addr = FX_CODE, .insns = 1 }
#define END { .opcode = PUMICE_PDS_OP_END }

struct fixture {
	struct testmem *tm;
	struct mmu mmu;
	struct usc_program_cache cache;
	struct testtrace trace;	/* of the PDS; disabled */
	unsigned int uscs, cores;
	struct usc *usc[PDS_MAX_USCS];
	struct pds *pds;
	u8 *data;		/* host memory of FX_DATA */
	u64 clock;		/* GPU clock; set by the test */

	bool locked;		/* the device lock, */
	u32 locks;		/* and how often it was acquired */
	bool filling;		/* a group, on this core: */
	unsigned int core;
	unsigned int next_core;	/* of the round robin */
	bool begun;		/* a launch that fx_end() has not ended */
	unsigned int wakes[PDS_MAX_USCS];
	_Atomic unsigned int ends;	/* calls of ended, by any thread */
	void (*at_end)(struct fixture *fx);	/* in the next one, as if by another thread */
	unsigned int room;	/* calls of room */
	unsigned int faults;
	struct gpu_fault fault;	/* the last one, of either kind */
};

/* Sizes of the stores; NULL for those above. */
struct fx_stores {
	u32 unified_bytes, common_bytes, local_bytes;
	u32 vpm_bytes;	/* 0: FX_VPM */
	u32 batch;	/* 0: PUMICE_TASK_INSTANCES */
	u32 slots;	/* 0: PUMICE_USC_SLOTS */
	u32 tasks;	/* that a USC manages; 0: as many as slots */
	enum pumice_output_store outputs;	/* of pixels; 0: COMMON */
};

struct fixture *fx_create(unsigned int uscs, const struct fx_stores *stores);
/* The same with other ops for the PDS; opaque is passed to them. */
struct fixture *fx_create_for(unsigned int uscs, const struct fx_stores *stores,
			      const struct pds_ops *ops, void *opaque);
/* Finish all groups and free everything; fails the test if a resource is leaked. */
void fx_destroy(struct fixture *fx);

/* The device lock; fixture is the fixture. Acquiring or releasing it twice fails the test. */
void fx_lock(void *fx);
void fx_unlock(void *fx);

/* Initialise a launch of one group of this size: no registers, the program at FX_PDS. */
struct pds_launch fx_launch(u16 x, u16 y, u16 z);
/* Write a PDS program at FX_PDS, make launch run it, and begin a job of the context. */
void fx_program(struct fixture *fx, struct pds_launch *launch, const struct pumice_pds_insn *insns,
		u16 count);
/* Write the same from raw words, four per instruction. */
void fx_program_words(struct fixture *fx, struct pds_launch *launch, const u32 *words, u16 count);
/* Write a program that only starts a task. */
void fx_program_empty(struct fixture *fx, struct pds_launch *launch);

/* Calls into the PDS, with the lock held if they need it; a fault is stored in fx->fault. */
bool fx_begin(struct fixture *fx, const struct pds_launch *launch);
/* Does nothing when no launch is begun. */
void fx_end(struct fixture *fx);
/* Claim room on any core, fill and start a group. */
enum pds_result fx_group(struct fixture *fx, u32 x, u32 y, u32 z, u64 linear);
/* The same, a piece of it. */
enum pds_result fx_group_piece(struct fixture *fx, u32 x, u32 y, u32 z, u64 linear);
void fx_abort(struct fixture *fx);

/* Registers of unit PDS. */
void fx_control(struct fixture *fx, struct pds_control control);
struct pds_load fx_load(struct fixture *fx);
/* Return one performance counter. */
u64 fx_counter(struct fixture *fx, unsigned int counter);

/* Return the number of groups without instances that have ended. */
u64 fx_sequenced(const struct fixture *fx);

/* Finish the group that started first over all USCs. False when none runs. */
bool fx_finish_oldest(struct fixture *fx);
void fx_finish_all(struct fixture *fx);

/* Assert the contents of fx->fault. */
void fx_expect_fault(const struct fixture *fx, enum pumice_fault fault, enum pumice_unit unit,
		     u64 addr, u32 pc);

#endif
