/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Fixture of tests through ioctls: one VM with one context, memory for programs and
 * control streams, and memory that jobs write to.
 *
 * Programs and streams are placed consecutively and never overwritten,
 * so that those of jobs in flight remain valid.
 */
#ifndef RIG_RIG_H
#define RIG_RIG_H

#include "gpu.h"
#include "shader.h"
#include "sync.h"

/* Addresses of a fixture's memory; the test may use all from RIG_FREE on. */
#define RIG_CODE	0x01000000ull
#define RIG_CODE_BYTES	MIB
#define RIG_DATA	0x02000000ull
#define RIG_DATA_BYTES	(64 * 1024ull)
#define RIG_FREE	0x40000000ull

/* First of the 32 words of the data that endless jobs write when they run. */
#define RIG_RUNS_WORD	(RIG_DATA_BYTES / 4 - 32)

/* Parameters of a launch: shared registers sh0 and up. */
#define LAUNCH_PARAMS	8

/** struct rig - initial state of most cases */
struct rig {
	int fd;
	u32 vm;
	u32 context;
	u32 sync;		/* binary: signaled by the job submitted last */
	struct mem code;	/* programs and streams */
	u64 used;		/* bytes of code */
	struct mem data;	/* RIG_DATA_BYTES that jobs may write to */
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

/** rig_open - create a fixture on a new file. */
struct rig rig_open(void);

/** rig_on - create a fixture on an open file. */
struct rig rig_on(int fd);

/** rig_with - as rig_on(), with a context of another priority and time-out. */
struct rig rig_with(int fd, u32 priority, unsigned int timeout_ms);

/** rig_try - as rig_on(), for callers that handle errors. Return: 0 or a negative errno. */
int rig_try(struct rig *rig, int fd);

/** rig_close - unmap a fixture's memory and close its file. */
void rig_close(struct rig *rig);

/** rig_data - address of word @index of the fixture's data. */
u64 rig_data(const struct rig *rig, u32 index);

/** rig_place - append words to the code memory, 16-byte aligned. Returns their address. */
u64 rig_place(struct rig *rig, const u32 *words, u32 count);

/** rig_launch_words - STATE and LAUNCH for a grid. @words: room for 16. Return: words. */
u32 rig_launch_words(struct rig *rig, const struct launch *launch, u32 *words);

/** rig_stream - control stream of one launch. Return: its address. */
u64 rig_stream(struct rig *rig, const struct launch *launch);

/** rig_store_stream - stream whose 32 instances store @value + their number from @va on. */
u64 rig_store_stream(struct rig *rig, u64 va, u32 value);

/** rig_copy_stream - stream whose 32 instances copy words, adding @add. */
u64 rig_copy_stream(struct rig *rig, u64 to, u64 from, u32 add);

/** rig_loop_stream - stream that never ends. */
u64 rig_loop_stream(struct rig *rig);

/** rig_empty_stream - stream that ends at once. */
u64 rig_empty_stream(struct rig *rig);

/** rig_submit - submit a job that signals rig->sync. */
void rig_submit(struct rig *rig, u64 stream);

/**
 * rig_try_points - submit a job between two points of one timeline
 * @wait: point that it waits for, or 0
 * @signal: point that it signals, or 0
 *
 * Return: as gpu_submit().
 */
int rig_try_points(struct rig *rig, u64 stream, u32 timeline, u64 wait, u64 signal);

/** rig_wait - wait for the job submitted last. Return: as sync_status(). */
int rig_wait(struct rig *rig);

/** rig_run - rig_submit() and rig_wait(). */
int rig_run(struct rig *rig, u64 stream);

/** rig_check_words - check that the 32 words from @cpu on are @value and up. */
void rig_check_words(const u32 *cpu, u32 value);

/** rig_check_works - check that a job runs and writes the correct values. */
void rig_check_works(struct rig *rig);

/** rig_block - keep the GPU busy with an endless job; returns when it runs. */
void rig_block(struct rig *rig);

/**
 * rig_run_on - keep the GPU busy with a grid that never completes
 *
 * It is switched out between any two work-groups for another job, and resumed
 * after that. Returns when it runs.
 */
void rig_run_on(struct rig *rig);

/**
 * rig_check_held - check that a fence is pending after later jobs of other contexts ran
 * @fd: file of @sync
 * @point: 0 for a binary syncobj
 *
 * For jobs that wait for one of rig_run_on(), which shares the GPU: contexts of one priority
 * run round robin, so that a job which did not wait would end before these do.
 */
void rig_check_held(int fd, u32 sync, u64 point);

/** rig_hang - submit an endless job; it need not run yet when this returns. */
void rig_hang(struct rig *rig);

#endif
