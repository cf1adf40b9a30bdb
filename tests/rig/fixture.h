/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Fixture of tests through ioctls: one VM with one context, memory for programs and
 * control streams, and memory that jobs write to.
 *
 * Programs and streams are placed consecutively and never overwritten,
 * so that those of jobs in flight remain valid.
 */
#ifndef PUMICE_TESTS_RIG_FIXTURE_H
#define PUMICE_TESTS_RIG_FIXTURE_H

#include "gpu.h"
#include "shader.h"
#include "sync.h"

/* Addresses of a fixture's memory; the test may use all from FX_FREE on. */
#define FX_CODE	0x01000000ull
#define FX_CODE_BYTES	MIB
#define FX_DATA	0x02000000ull
#define FX_DATA_BYTES	(64 * 1024ull)
#define FX_FREE	0x40000000ull

/* First of the 32 words of the data that endless jobs write when they run. */
#define FX_RUNS_WORD	(FX_DATA_BYTES / 4 - 32)

/* Parameters of a launch: shared registers sh0 and up. */
#define LAUNCH_PARAMS	8

/** struct fixture - initial state of most cases */
struct fixture {
	int fd;
	u32 vm;
	u32 context;
	u32 sync;		/* binary: signaled by the job submitted last */
	struct mem code;	/* programs and streams */
	u64 used;		/* bytes of code */
	struct mem data;	/* FX_DATA_BYTES that jobs may write to */
};

/** struct launch - a grid in x of one shader; zero fields select the default */
struct launch {
	const struct shader *shader;
	u32 params[LAUNCH_PARAMS];
	u32 groups;		/* work-groups; default 1 */
	u32 size;		/* instances of a group; default 32 */
	u32 local_bytes;
	u32 shared;		/* shared registers; default LAUNCH_PARAMS */
	u64 code;		/* address of the shader if it was placed before, or 0 */
};

/** fx_open - create a fixture on a new file. */
struct fixture fx_open(void);

/** fx_on - create a fixture on an open file. */
struct fixture fx_on(int fd);

/** fx_with - as fx_on(), with a context of another priority and time-out. */
struct fixture fx_with(int fd, u32 priority, unsigned int timeout_ms);

/** fx_try - as fx_on(), for callers that handle errors. Return: 0 or a negative errno. */
int fx_try(struct fixture *fx, int fd);

/** fx_close - unmap a fixture's memory and close its file. */
void fx_close(struct fixture *fx);

/** fx_data - address of word @index of the fixture's data. */
u64 fx_data(const struct fixture *fx, u32 index);

/** fx_place - append words to the code memory, 16-byte aligned. Returns their address. */
u64 fx_place(struct fixture *fx, const u32 *words, u32 count);

/** fx_launch_words - STATE and LAUNCH for a grid. @words: room for 16. Return: words. */
u32 fx_launch_words(struct fixture *fx, const struct launch *launch, u32 *words);

/** fx_stream - control stream of one launch. Return: its address. */
u64 fx_stream(struct fixture *fx, const struct launch *launch);

/**
 * fx_repeat_stream - control stream of @count launches, each in a sub-list of its own call
 *
 * Each begins after the previous one has ended. Return: its address.
 */
u64 fx_repeat_stream(struct fixture *fx, const struct launch *launch, u32 count);

/** fx_store_stream - stream whose 32 instances store @value + their number from @va on. */
u64 fx_store_stream(struct fixture *fx, u64 va, u32 value);

/** fx_copy_stream - stream whose 32 instances copy words, adding @add. */
u64 fx_copy_stream(struct fixture *fx, u64 to, u64 from, u32 add);

/** fx_loop_stream - stream that never ends. */
u64 fx_loop_stream(struct fixture *fx);

/** fx_empty_stream - stream that ends at once. */
u64 fx_empty_stream(struct fixture *fx);

/** fx_submit - submit a job that signals fx->sync. */
void fx_submit(struct fixture *fx, u64 stream);

/**
 * fx_try_points - submit a job between two points of one timeline
 * @wait: point that it waits for, or 0
 * @signal: point that it signals, or 0
 *
 * Return: as gpu_submit().
 */
int fx_try_points(struct fixture *fx, u64 stream, u32 timeline, u64 wait, u64 signal);

/** fx_wait - wait for the job submitted last. Return: as sync_status(). */
int fx_wait(struct fixture *fx);

/**
 * fx_wait_interrupting - wait for the job submitted last, while short jobs of @other run
 *
 * One at a time, at least one; each is checked. They use the first words of @other's data.
 *
 * Return: as sync_status().
 */
int fx_wait_interrupting(struct fixture *fx, struct fixture *other);

/** fx_run - fx_submit() and fx_wait(). */
int fx_run(struct fixture *fx, u64 stream);

/** fx_check_words - check that the 32 words from @cpu on are @value and up. */
void fx_check_words(const u32 *cpu, u32 value);

/** fx_check_works - check that a job runs and writes the correct values. */
void fx_check_works(struct fixture *fx);

/** fx_block - keep the GPU busy with an endless job; returns when it runs. */
void fx_block(struct fixture *fx);

/**
 * fx_run_on - keep the GPU busy with a grid that never completes
 *
 * It is switched out between any two work-groups for another job, and resumed
 * after that. Returns when it runs.
 */
void fx_run_on(struct fixture *fx);

/**
 * fx_check_held - check that a fence is pending after later jobs of other contexts ran
 * @fd: file of @sync
 * @point: 0 for a binary syncobj
 *
 * For jobs that wait for one of fx_run_on(), which shares the GPU: contexts of one priority
 * run round robin, so that a job which did not wait would end before these do.
 */
void fx_check_held(int fd, u32 sync, u64 point);

/** fx_hang - submit an endless job; it need not run yet when this returns. */
void fx_hang(struct fixture *fx);

#endif
