/* SPDX-License-Identifier: MIT */
/*
 * Fixture for tests of the CDM: guest memory mapped by the real MMU, a clock that
 * the test sets, a fake PDS, and a control stream to write.
 */
#ifndef PUMICE_CDM_FIXTURE_H
#define PUMICE_CDM_FIXTURE_H

#include "cmocka_all.h"
#include "fake_pds.h"
#include "testmem.h"

/* Mapped in context CDMFX_CTX: the stream, four pages; unmapped before and after. */
#define CDMFX_CTX	9u
#define CDMFX_STREAM	0x200000ull
#define CDMFX_BYTES	0x4000u
#define CDMFX_END	(CDMFX_STREAM + CDMFX_BYTES)

/* Data that commands read and write, in context CDMFX_CTX. */
#define CDMFX_DATA	0x300000ull
#define CDMFX_DATA_BYTES 0x2000u
/* Area for saved jobs, in context 0; two pages, unmapped after them. */
#define CDMFX_SAVE	0x40000ull
#define CDMFX_SAVE_BYTES 0x2000u

struct cdm_fixture {
	struct testmem *tm;
	struct mmu mmu;
	u32 *stream;		/* host memory of CDMFX_STREAM */
	u32 *data, *save;	/* of CDMFX_DATA, CDMFX_SAVE */
	u64 at;			/* GPU virtual address where the next command is written */
	struct pds pds;
	struct cdm *cdm;
	struct cdm_job job;	/* CDMFX_CTX, CDMFX_STREAM, CDMFX_SAVE */

	u64 clock;
	unsigned int cores;
	unsigned int wakes;	/* of the CDM and of sources */
	bool woken;		/* the CDM, since its last step */
	u32 sources;		/* bit n: source n, likewise */
	bool locked;		/* the device lock is held by a source */
	u32 locks;		/* how often sources have acquired it */
	unsigned int ended;	/* calls of ops->ended */
	enum dm_end end;	/* of the last one */
	unsigned int restarts;	/* how many of them start the job again */
};

struct cdm_fixture *cdmfx_create(void);
/* The same with more than one core. */
struct cdm_fixture *cdmfx_create_for(unsigned int cores);
void cdmfx_destroy(struct cdm_fixture *fx);

/* Write a command at fx->at. */
void put_words(struct cdm_fixture *fx, const u32 *words, u32 count);
void put_state(struct cdm_fixture *fx, u16 x, u16 y, u16 z);
void put_launch(struct cdm_fixture *fx, u32 x, u32 y, u32 z);
void put_launch_at(struct cdm_fixture *fx, const struct pumice_cdm_launch *launch);
void put_call(struct cdm_fixture *fx, u64 addr);
void put_return(struct cdm_fixture *fx);
void put_fence(struct cdm_fixture *fx);
void put_task(struct cdm_fixture *fx);
void put_halt(struct cdm_fixture *fx);
void put_indirect(struct cdm_fixture *fx, u64 addr, u32 base_x, u32 base_y, u32 base_z);
void put_link(struct cdm_fixture *fx, u64 addr);
void put_flush(struct cdm_fixture *fx, bool data, bool code);
void put_timestamp(struct cdm_fixture *fx, u64 addr, bool wait);
void put_marker(struct cdm_fixture *fx, u64 addr, u32 value, bool wait);

/* Start the job at CDMFX_STREAM. */
void cdmfx_start(struct cdm_fixture *fx);
/* Step the source of a core. Returns whether it requests another step. */
bool cdmfx_source(struct cdm_fixture *fx, unsigned int core, unsigned int budget);
/* Step the CDM, then each source that requests it. Returns whether any requests another step. */
bool cdmfx_step(struct cdm_fixture *fx, unsigned int budget);
/* Step all with a small budget until they stall. */
void cdmfx_walk(struct cdm_fixture *fx);
/* Resume the job that was switched out. */
void cdmfx_resume(struct cdm_fixture *fx);
/* Alternate between steps and ends of groups until the job has ended. */
void cdmfx_finish(struct cdm_fixture *fx);

/* Assert that the job has ended with this fault of the CDM at addr, a read if it has an access. */
void cdmfx_expect_fault(const struct cdm_fixture *fx, enum pumice_fault fault, u64 addr);

#endif
