/* SPDX-License-Identifier: MIT */
/*
 * Fixture for tests of the CDM: guest memory mapped by the real MMU, a clock that
 * the test sets, a fake PDS, and a control stream to write.
 */
#ifndef PUMICE_CDM_BENCH_H
#define PUMICE_CDM_BENCH_H

#include "cmocka_all.h"
#include "fake_pds.h"
#include "testmem.h"

/* Mapped in context BENCH_CTX: the stream, four pages; unmapped before and after. */
#define BENCH_CTX	9u
#define BENCH_STREAM	0x200000ull
#define BENCH_BYTES	0x4000u
#define BENCH_END	(BENCH_STREAM + BENCH_BYTES)

/* Data that commands read and write, in context BENCH_CTX. */
#define BENCH_DATA	0x300000ull
#define BENCH_DATA_BYTES 0x2000u
/* Where jobs are saved, in context 0; two pages, unmapped after them. */
#define BENCH_SAVE	0x40000ull
#define BENCH_SAVE_BYTES 0x2000u

struct bench {
	struct testmem *tm;
	struct mmu mmu;
	u32 *stream;		/* host memory of BENCH_STREAM */
	u32 *data, *save;	/* of BENCH_DATA, BENCH_SAVE */
	u64 at;			/* GPU virtual address where the next command is written */
	struct pds pds;
	struct cdm *cdm;
	struct cdm_job job;	/* BENCH_CTX, BENCH_STREAM, BENCH_SAVE */

	u64 clock;
	unsigned int wakes;
	unsigned int ended;	/* calls of ops->ended */
	enum cdm_end end;	/* of the last one */
	unsigned int restarts;	/* how many of them start the job again */
};

struct bench *bench_create(void);
void bench_destroy(struct bench *b);

/* Write a command at b->at. */
void put_words(struct bench *b, const u32 *words, u32 count);
void put_state(struct bench *b, u16 x, u16 y, u16 z);
void put_launch(struct bench *b, u32 x, u32 y, u32 z);
void put_launch_at(struct bench *b, const struct pumice_cdm_launch *launch);
void put_call(struct bench *b, u64 addr);
void put_return(struct bench *b);
void put_fence(struct bench *b);
void put_halt(struct bench *b);
void put_indirect(struct bench *b, u64 addr, u32 base_x, u32 base_y, u32 base_z);
void put_link(struct bench *b, u64 addr);
void put_flush(struct bench *b, bool data, bool code);
void put_timestamp(struct bench *b, u64 addr, bool wait);
void put_marker(struct bench *b, u64 addr, u32 value, bool wait);

/* Start the job at BENCH_STREAM. */
void bench_start(struct bench *b);
/* Step with a small budget until the CDM stalls. */
void bench_walk(struct bench *b);
/* Resume the job that was switched out. */
void bench_resume(struct bench *b);
/* Alternate between steps and ends of groups until the job has ended. */
void bench_finish(struct bench *b);

/* Assert that the job has ended with this fault of the CDM at addr, a read if it has an access. */
void bench_expect_fault(const struct bench *b, enum pumice_fault fault, u64 addr);

#endif
