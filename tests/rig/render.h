/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Fixture for render and transfer contexts: a free list, a data set, pairs of jobs.
 *
 * Most streams draw nothing, since the behaviour of a context does not depend on them.
 * render_draw_stream() draws triangles.
 */
#ifndef FX_RENDER_H
#define FX_RENDER_H

#include "fixture.h"

#define RENDER_SIZE	64u	/* pixels of the target, square */

/** struct render - initial state of cases */
struct render {
	struct fixture fx;		/* its context is of the compute data master */
	u32 context;		/* render context */
	u32 list;		/* free list */
	u32 hwrt;		/* data set of RENDER_SIZE */
	u64 geometry;		/* a stream that ends at once */
	u64 fragment;		/* a record that stores nothing */
};

/** render_open - create one on a new file. */
struct render render_open(void);

/** render_on - the same in an existing fixture. */
struct render render_on(const struct fixture *fx);

/** render_list_args, render_hwrt_args - arguments of a free list, a data set of RENDER_SIZE. */
struct drm_pumice_free_list_create render_list_args(u32 vm);
struct drm_pumice_hwrt_create render_hwrt_args(u32 vm, u32 list);

/** need_free_list, need_hwrt - create one. */
u32 need_free_list(int fd, struct drm_pumice_free_list_create args);
u32 need_hwrt(int fd, struct drm_pumice_hwrt_create args);

/** render_pair - jobs[0] and jobs[1]: a pair without syncs. */
void render_pair(const struct render *r, u32 data, struct drm_pumice_job *jobs);

/** render_submit - submit a pair of streams that signals fixture.sync at its end. */
void render_submit(struct render *r, u32 data, u64 geometry, u64 fragment);

/** render_submit_past_geometry - render_submit(); the geometry job has ended when it returns. */
void render_submit_past_geometry(struct render *r, u64 geometry, u64 fragment);

/** render_block - submit a pair whose geometry job never ends; returns when it runs. */
void render_block(struct render *r);

/** render_run - render_submit() and wait. Return: as sync_status(). */
int render_run(struct render *r, u32 data, u64 geometry, u64 fragment);

/** render_check_works - check that an empty pair runs. */
void render_check_works(struct render *r);

/** struct vertex - in clip space, with a colour of 0 to 1 */
struct vertex {
	float x, y, z, w;
	float colour[4];
};

/** render_draw_stream - triangles of @count vertices at @va, in order. */
u64 render_draw_stream(struct render *r, u64 va, u32 count);

/** render_loop_stream - the same, with fragments that never end. */
u64 render_loop_stream(struct render *r, u64 va, u32 count);

/**
 * render_hang_in_fragment - submit a pair whose fragment job never ends
 *
 * Uses the fixture's data. The geometry job has ended when it returns.
 */
void render_hang_in_fragment(struct render *r);

/** render_store_record - record that stores RGBA8 at @va, RENDER_SIZE squared. */
u64 render_store_record(struct render *r, u64 va);

/** transfer_copy_stream - stream of a transfer context that copies bytes. */
u64 transfer_copy_stream(struct fixture *fx, u64 to, u64 from, u32 bytes);

/** transfer_fill_stream - stream of a transfer context that fills words. */
u64 transfer_fill_stream(struct fixture *fx, u64 to, u32 value, u32 words);

/** transfer_loop_stream - stream of a transfer context that never ends. */
u64 transfer_loop_stream(struct fixture *fx);

/** geometry_loop_stream - vertex control stream that never ends. */
u64 geometry_loop_stream(struct fixture *fx);

#endif
