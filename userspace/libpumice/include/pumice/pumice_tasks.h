/* SPDX-License-Identifier: MIT */
/*
 * libpumice, tasks without instances: dependencies between launches, or draws, of one stream.
 *
 * Such a task ends when the work before it has ended. Launches and draws that depend on tasks wait
 * for it; others run meanwhile, unlike after a fence.
 *
 * Errors, threads and lifetimes are as in pumice.h.
 */
#ifndef PUMICE_PUMICE_TASKS_H
#define PUMICE_PUMICE_TASKS_H

#include "pumice.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * pumice_stream_task - add a task without instances, which carries dependencies.
 *
 * It ends when all launches and tasks before it have ended and their stores are visible.
 * pumice_stream_dispatch_after() waits for it; other launches do not, and run meanwhile, unlike
 * after pumice_stream_fence(). It follows a dispatch of the stream, whose kernel does not run
 * again.
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_task(struct pumice_stream *stream);

/**
 * pumice_stream_dispatch_after - as pumice_stream_dispatch(), but the launch waits for all tasks of
 * pumice_stream_task() before it.
 *
 * Return: as pumice_stream_dispatch().
 */
int pumice_stream_dispatch_after(struct pumice_stream *stream,
				 const struct pumice_dispatch *dispatch);

/**
 * pumice_stream_vdm_task - add a task without instances, which carries dependencies.
 *
 * It ends when all draws and tasks before it have ended: their vertices are shaded, and stores of
 * their vertex programs are visible. Draws whose field after is set wait for it, others do not. It
 * follows a STATE.
 *
 * Return: 0, -ENOSPC.
 */
int pumice_stream_vdm_task(struct pumice_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
