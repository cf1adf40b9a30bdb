/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * The users of a GPU at which a fault happens: one whose job meets it, and others, each with a
 * file of its own and jobs that must not suffer.
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
#define SLACK_MS	100	/* recovery may take so much more than the time-outs in it */
#define HOLD_MS		50	/* for which scene_hold() holds: less than a tick */
#define MS		1000000ull	/* ns */
#define WORDS		1024u	/* of a transfer */

/* State flags of a context that takes no more jobs. */
#define STOPPED		(DRM_PUMICE_CONTEXT_GUILTY | DRM_PUMICE_CONTEXT_INNOCENT)

/* What the driver reports where a job cannot be stopped. */
#define NOT_STOPPED	IGT_PUMICE_TIMED_OUT "|" IGT_PUMICE_RESET "firmware did not stop a job"

struct scene {
	struct fixture culprit;
	struct fixture ahead;	/* of high priority: its job has the CDM first */
	struct fixture after;	/* its job waits for the culprit's to end */
	struct fixture other;	/* with a transfer context */
	u32 transfer;
	int resets;
};

/** scene_open - users whose contexts have had jobs, and no request for a fault. */
struct scene scene_open(void);

/** scene_transfer - submit a transfer of the user s->other. */
void scene_transfer(struct scene *s, u32 value);

/** scene_check_transfer - it must end well. */
void scene_check_transfer(struct scene *s, u32 value);

/**
 * scene_queue_transfer - submit a transfer of s->after, which waits for that of s->other
 *
 * Return: its context.
 */
u32 scene_queue_transfer(struct scene *s, u32 value);

/** scene_check_queued - it must end well. */
void scene_check_queued(struct scene *s, u32 context, u32 value);

/** scene_transfer_is_lost - that of s->other, as scene_ahead_is_lost(). */
void scene_transfer_is_lost(struct scene *s);

/** scene_hold_transfer - as scene_transfer(); its end comes @ms late; the TDM runs it on return. */
void scene_hold_transfer(struct scene *s, u32 value, u32 ms);

/**
 * scene_hold - keep the CDM busy with a job of s->ahead for HOLD_MS
 *
 * The job has begun on return, and is not held longer by requests that follow. Jobs that are
 * submitted meanwhile are in the firmware and do not begin.
 */
void scene_hold(struct scene *s);

/** scene_ahead_ends - the job of scene_hold() must end well. Return: when it did. */
u64 scene_ahead_ends(struct scene *s);

/** scene_ahead_is_lost - as it had begun when the GPU was reset; its context goes on anew. */
void scene_ahead_is_lost(struct scene *s);

/** scene_after - submit a job of s->after. */
void scene_after(struct scene *s);

/** scene_check_after - it must end well. */
void scene_check_after(struct scene *s);

/**
 * scene_crash - have @fault stop the firmware at the culprit's job
 * @ms: time-outs in the recovery
 *
 * The job has begun and is lost; one of s->after, which waits for its turn, must end well.
 */
void scene_crash(struct scene *s, const char *fault, u32 ms);

/** scene_end - what every fault leaves: others are as they were, the next jobs run. */
void scene_end(struct scene *s, u32 state, int resets);

/* The last job of a fixture, submitted at @start, took no more than @ms and the slack. */
void check_in_time(struct fixture *fx, u64 start, u32 ms);

/* It ends with this status, and in time. */
void check_end(struct fixture *fx, u64 start, int status, u32 ms);

/* Return: the time before the job was submitted. */
u64 submit_at(struct fixture *fx, u64 stream);

/** store_stream - stream that stores @value and up into the words that check_stored() reads. */
u64 store_stream(struct fixture *fx, u32 value);
void check_stored(const struct fixture *fx, u32 value);

/** need_log - reader of the kernel's log from here on. */
int need_log(void);

/** log_has - whether a text was logged since; up to now. */
bool log_has(int log, const char *text);

/* When the fault is asked for, and what others have in flight at it. */
enum when {
	BEFORE,		/* before the job is submitted; another user's is queued after it */
	AT_ITS_START,	/* the same, and both wait for a third to end */
	AT_ITS_KICK,	/* while another's job is on the CDM and another's waits */
	BESIDE,		/* before the job is submitted; another's is on the TDM */
};

/* A fault at which one compute job is on the GPU. */
struct expected {
	const char *text;
	const char *kind;
	int status;	/* of its fence */
	u32 state;	/* of its context, flags */
	int resets;
	u32 ms;		/* time-outs in the recovery */
	enum when when;
	bool transfers;	/* a transfer of others runs meanwhile */
	bool lasts;	/* a time-out must end it: others' jobs are in flight until then */
	const char *log;	/* what the driver reports, or NULL */
};

/** expect - have the fault happen to a job of a new scene, and check how all end. */
void expect(const struct expected *e);

/* A pair of which each job has a fence of its own. */
struct pair {
	struct render r;
	u32 geometry;	/* syncobj; that of the fragment job is r.fixture.sync */
};

/** open_pair - a user whose pairs work. */
struct pair open_pair(void);

/** submit_pair - submit both jobs. */
void submit_pair(struct pair *p);

/** check_pair - how its jobs end, and its context; the next pair works. */
void check_pair(struct pair *p, int geometry, int fragment, u32 state);

/** short_of_pages - the same pair drawing a triangle, with a free list of a single page. */
struct pair short_of_pages(struct pair p);

/** open_short_of_pages - one whose list has one page and may grow. @stream: it needs more. */
struct render open_short_of_pages(u64 *stream);

/** submit_for_file - a job's fence as a file: the GPU's own refuse calls when it is given up. */
int submit_for_file(struct fixture *fx);

/** check_file - it ends with this status. */
void check_file(int file, int status);

#endif
