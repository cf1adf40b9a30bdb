/* SPDX-License-Identifier: MIT */
/*
 * Fixture of the tests of the PDS: guest memory mapped by the real MMU, fake USCs, a
 * device lock that records whether it is held, and a program to launch.
 *
 *	struct rig *rig = rig_create(2, NULL);
 *	struct pds_launch launch = rig_launch(64, 1, 1);
 *
 *	rig_program(rig, &launch, insns, 3);
 *	assert_true(rig_begin(rig, &launch));
 *	assert_int_equal(rig_group(rig, 0, 0, 0, 0), PDS_STARTED);
 *	rig_destroy(rig);
 */
#ifndef PUMICE_PDS_RIG_H
#define PUMICE_PDS_RIG_H

#include "../../../qemu-device/gpu/pds/pds.h"
#include "cmocka_all.h"
#include "fake_usc.h"
#include "perf.h"
#include "pumice_isa.h"
#include "testmem.h"

/* What is mapped in context RIG_CTX: PDS programs, a USC program, data; unmapped after them. */
#define RIG_CTX		5u
#define RIG_PDS		0x10000ull
#define RIG_PDS_BYTES	0x4000u
#define RIG_CODE	0x40000ull
#define RIG_CODE_BYTES	0x1000u
#define RIG_DATA	0x7ffff000ull	/* so that it crosses a 1 GiB and a 2 MiB boundary */
#define RIG_DATA_BYTES	0x9000u

/* Stores of a fake USC. */
#define RIG_UNIFIED	(512u << 10)
#define RIG_COMMON	(64u << 10)
#define RIG_LOCAL	(64u << 10)
#define RIG_ROWS	(RIG_UNIFIED / (USC_ROW_WORDS * 4))

/* PDS instructions. */
#define LDI(b, r, v) { .opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_##b, .reg = (r), \
		       .imm = (v) }
#define MOV(b, r, s) { .opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_##b, .reg = (r), \
		       .source = PUMICE_PDS_SOURCE_##s }
#define DMA(b, r, n, a, s) { .opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_##b, \
			     .reg = (r), .count = (n), .addr = (a), .stride = (s) }
#define TASK { .opcode = PUMICE_PDS_OP_TASK, .addr = RIG_CODE, .insns = 1 }
#define END { .opcode = PUMICE_PDS_OP_END }

struct rig {
	struct testmem *tm;
	struct mmu mmu;
	struct usc_program_cache cache;
	unsigned int uscs;
	struct usc *usc[PDS_MAX_USCS];
	struct pds *pds;
	u8 *data;		/* host memory of RIG_DATA */
	u64 clock;		/* GPU clock; set by the test */

	bool locked;		/* the device lock, */
	u32 locks;		/* and how often it was acquired */
	bool begun;		/* a launch that rig_end() has not ended */
	unsigned int wakes[PDS_MAX_USCS];
	unsigned int done;	/* calls of group_done */
	unsigned int room;	/* calls of room */
	unsigned int faults;
	struct gpu_fault fault;	/* the last one, of either kind */
};

/* Sizes of the stores; NULL for those above. */
struct rig_stores {
	u32 unified_bytes, common_bytes, local_bytes;
};

struct rig *rig_create(unsigned int uscs, const struct rig_stores *stores);
/* The same with other ops for the PDS; opaque is passed to them. */
struct rig *rig_create_for(unsigned int uscs, const struct rig_stores *stores,
			   const struct pds_ops *ops, void *opaque);
/* Finish all groups and free everything; fails the test if a resource is leaked. */
void rig_destroy(struct rig *rig);

/* The device lock; rig is the rig. Acquiring or releasing it twice fails the test. */
void rig_lock(void *rig);
void rig_unlock(void *rig);

/* Initialise a launch of one group of this size: no registers, the program at RIG_PDS. */
struct pds_launch rig_launch(u16 x, u16 y, u16 z);
/* Write a PDS program at RIG_PDS and make launch run it. */
void rig_program(struct rig *rig, struct pds_launch *launch, const struct pumice_pds_insn *insns,
		 u16 count);
/* The same from raw words, four per instruction. */
void rig_program_words(struct rig *rig, struct pds_launch *launch, const u32 *words, u16 count);
/* Write a program that only starts a task. */
void rig_program_empty(struct rig *rig, struct pds_launch *launch);

/* Calls into the PDS with the lock held; a fault is stored in rig->fault. */
bool rig_begin(struct rig *rig, const struct pds_launch *launch);
/* Does nothing when no launch is begun. */
void rig_end(struct rig *rig);
enum pds_result rig_group(struct rig *rig, u32 x, u32 y, u32 z, u64 linear);
/* The same, a piece of it. */
enum pds_result rig_group_piece(struct rig *rig, u32 x, u32 y, u32 z, u64 linear);
void rig_abort(struct rig *rig);

/* Registers of unit PDS. */
void rig_control(struct rig *rig, struct pds_control control);
struct pds_load rig_load(struct rig *rig);
/* One performance counter. */
u64 rig_counter(struct rig *rig, unsigned int counter);

/* Finish the group that started first over all USCs. False when none runs. */
bool rig_finish_oldest(struct rig *rig);
void rig_finish_all(struct rig *rig);

/* Assert the contents of rig->fault. */
void rig_expect_fault(const struct rig *rig, enum pumice_fault fault, enum pumice_unit unit,
		      u64 addr, u32 pc);

#endif
