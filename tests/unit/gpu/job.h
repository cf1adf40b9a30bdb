/* SPDX-License-Identifier: MIT */
/*
 * Compute jobs for tests of the whole GPU: programs and a control stream in guest
 * memory, mapped in one MMU context, started through the proxy.
 */
#ifndef PUMICE_TEST_GPU_JOB_H
#define PUMICE_TEST_GPU_JOB_H

#include "fixture.h"

#define JOB_CTX		5u

/* Addresses in context JOB_CTX. */
#define JOB_STREAM	0x0000100000ull
#define JOB_PDS		0x0000110000ull
#define JOB_CODE	0x0000120000ull
#define JOB_DATA	0x4000000000ull
#define JOB_DATA_BYTES	(4u << 20)

struct pumice_usc_insn;

enum job_program {
	JOB_NUMBER,	/* data[i] = i * 3 + 1 for each instance i of the grid */
	JOB_FOREVER,	/* never ends */
	JOB_WILD,	/* stores to an address that is not mapped */
	JOB_TOUCH,	/* stores to data[i] again and again; never ends */
	JOB_COUNT,	/* data[i]++ for each instance i of the grid: shows repeated execution */
	JOB_ADD,	/* as JOB_NUMBER if data are 0: loads, and adds by an atomic operation */
	JOB_PLACE,	/* data[i] = core * 256 + number of the USC in its core */
	JOB_FETCH,	/* as JOB_PLACE; the PDS reads a word from memory for each group */
};

struct job {
	enum job_program program;
	u32 group;	/* instances of a work-group, in x */
	u32 groups;	/* work-groups, in x */
};

/* Map the job's memory, once for each fixture; return the data. */
u32 *job_map(struct fixture *fx);
/* Write programs and stream, and start; the proxy runs. */
void job_start(struct fixture *fx, const struct job *job);
/* Start, wait for its end, and return the event that ended it. */
u32 job_run(struct fixture *fx, const struct job *job);
/* Return the value of data[i] after JOB_NUMBER. */
u32 job_number(u32 i);
/* Check the data after JOB_NUMBER, and that the word after them is 0. */
void job_assert_numbers(const u32 *data, const struct job *job);

/*
 * The same in pieces, for jobs with streams of their own: the programs; host
 * memory of the page at JOB_STREAM; the STATE of a group; and CDM_CTRL written
 * with the registers set for JOB_STREAM in JOB_CTX.
 */
void job_write_programs(struct fixture *fx, enum job_program program);
/* The same with an instruction before the end; NULL: none. */
void job_write_programs_with(struct fixture *fx, enum job_program program,
			     const struct pumice_usc_insn *last);
u32 *job_stream(struct fixture *fx);
struct pumice_cdm_state job_state(u32 group);
void job_control(struct fixture *fx, u32 ctrl);

#define JOB_EVENTS (PUMICE_IC_PENDING__CDM_DONE__MASK | PUMICE_IC_PENDING__CDM_FAULT__MASK | \
		    PUMICE_IC_PENDING__CDM_ABORTED__MASK | \
		    PUMICE_IC_PENDING__CDM_SWITCHED__MASK)

#endif
