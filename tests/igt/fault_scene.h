/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * The users of a GPU at which a fault occurs: one whose job causes it, and others, each with a
 * file of its own and jobs that must not be affected.
 */
#ifndef FAULT_SCENE_H
#define FAULT_SCENE_H

#include "igt_pumice.h"
#include "inject.h"
#include "render.h"
#include "fixture.h"

#define JOB_MS		IGT_PUMICE_IMPATIENT	/* job_timeout_ms of pumice_faults */
#define FW_MS		400	/* fw_timeout_ms */
#define TICK_MS		(JOB_MS / 4)
#define SLACK_MS	100	/* maximum duration of recovery in addition to its time-outs */
#define HOLD_MS		50	/* duration of scene_hold()'s job: less than a tick */
#define MS		1000000ull	/* ns */
#define WORDS		1024u	/* words of a transfer */

/* State flags of a context that accepts no more jobs. */
#define STOPPED		(DRM_PUMICE_CONTEXT_GUILTY | DRM_PUMICE_CONTEXT_INNOCENT)

/* The driver's report if a job cannot be stopped. */
#define NOT_STOPPED	IGT_PUMICE_TIMED_OUT "|" IGT_PUMICE_RESET "firmware did not stop a job"

struct scene {
	struct fixture culprit;
	struct fixture ahead;	/* of high priority: its job gets the CDM first */
	struct fixture after;	/* its job waits for the culprit's to end */
	struct fixture other;	/* with a transfer context */
	u32 transfer;
	int resets;
};

/** scene_open - create users whose contexts have had jobs, without a request for a fault. */
struct scene scene_open(void);

/** scene_transfer - submit a transfer of the user s->other. */
void scene_transfer(struct scene *s, u32 value);

/** scene_check_transfer - check that it completes successfully. */
void scene_check_transfer(struct scene *s, u32 value);

/**
 * scene_queue_transfer - submit a transfer of s->after, which waits for that of s->other
 *
 * Return: its context.
 */
u32 scene_queue_transfer(struct scene *s, u32 value);

/** scene_check_queued - check that it completes successfully. */
void scene_check_queued(struct scene *s, u32 context, u32 value);

/** scene_transfer_is_lost - like scene_ahead_is_lost(), for that of s->other. */
void scene_transfer_is_lost(struct scene *s);

/** scene_hold_transfer - scene_transfer() whose end is @ms late; on return the TDM runs it. */
void scene_hold_transfer(struct scene *s, u32 value, u32 ms);

/**
 * scene_hold - keep the CDM busy with a job of s->ahead for HOLD_MS
 *
 * The job has begun on return, and is not delayed further by later requests. Jobs that are
 * submitted meanwhile are in the firmware and do not begin.
 */
void scene_hold(struct scene *s);

/** scene_ahead_ends - check that the job of scene_hold() succeeds. Return: time of its end. */
u64 scene_ahead_ends(struct scene *s);

/** scene_ahead_is_lost - check that a reset lost it after it had begun; renews its context. */
void scene_ahead_is_lost(struct scene *s);

/** scene_after - submit a job of s->after. */
void scene_after(struct scene *s);

/** scene_check_after - check that it completes successfully. */
void scene_check_after(struct scene *s);

/**
 * scene_crash - let @fault stop the firmware at the culprit's job
 * @ms: time-outs in the recovery
 *
 * The job has begun and is lost; one of s->after, which is queued, must complete successfully.
 */
void scene_crash(struct scene *s, const char *fault, u32 ms);

/** scene_end - check the effects of every fault: others are unaffected, the next jobs run. */
void scene_end(struct scene *s, u32 state, int resets);

/* Check that the last job of a fixture, submitted at @start, took at most @ms and the slack. */
void check_in_time(struct fixture *fx, u64 start, u32 ms);

/* Check that it completes with this status, and in time. */
void check_end(struct fixture *fx, u64 start, int status, u32 ms);

/* Return: the time before the job was submitted. */
u64 submit_at(struct fixture *fx, u64 stream);

/** store_stream - stream that stores @value and up into the words that check_stored() reads. */
u64 store_stream(struct fixture *fx, u32 value);
void check_stored(const struct fixture *fx, u32 value);

/* End of the reports of failed firmware. */
#define FW_REMEDY	"see the dump in /sys/class/devcoredump"

/** log_has - return whether one line with both texts was logged between need_log() and now. */
bool log_has(int log, const char *text, const char *remedy);

/* Time of the request for the fault, and other users' jobs in flight at it. */
enum when {
	BEFORE,		/* before the job is submitted; another user's is queued after it */
	AT_ITS_START,	/* the same, and both wait for a third to end */
	AT_ITS_KICK,	/* while another's job is on the CDM and another's waits */
	IN_PARALLEL,	/* before the job is submitted; another's is on the TDM */
};

/* A fault while one compute job is on the GPU. */
struct expected {
	const char *text;
	const char *kind;
	int status;	/* status of its fence */
	u32 state;	/* flags of its context */
	int resets;
	u32 ms;		/* time-outs in the recovery */
	enum when when;
	bool transfers;	/* another user's transfer runs meanwhile */
	bool lasts;	/* a time-out must end it: other jobs are in flight until then */
	const char *log;	/* the driver's report of failed firmware, or NULL */
};

/** expect - cause the fault for a job of a new scene, and check the results of all jobs. */
void expect(const struct expected *e);

/* A pair whose jobs have a fence each. */
struct pair {
	struct render r;
	u32 geometry;	/* syncobj; that of the fragment job is r.fixture.sync */
};

/** open_pair - create a user whose pairs work. */
struct pair open_pair(void);

/** submit_pair - submit both jobs. */
void submit_pair(struct pair *p);

/** check_pair - check the results of its jobs and its context; the next pair must work. */
void check_pair(struct pair *p, int geometry, int fragment, u32 state);

/** short_of_pages - the same pair drawing a triangle, with a free list of a single page. */
struct pair short_of_pages(struct pair p);

/** open_short_of_pages - create one whose list has one page and may grow. @stream: needs more. */
struct render open_short_of_pages(u64 *stream);

/** submit_for_file - return a job's fence as a file: a GPU that was lost refuses calls. */
int submit_for_file(struct fixture *fx);

/** check_file - check that it signals with this status. */
void check_file(int file, int status);

#endif
