/* SPDX-License-Identifier: MIT */
/*
 * For the days in which not all blocks are in the tree: what a GPU without them does. A start
 * is refused and nothing ever ends. Set a line of these to 1 when its block is there; the file
 * goes with the last.
 */
#ifndef PUMICE_GPU_MASTERS_ABSENT_H
#define PUMICE_GPU_MASTERS_ABSENT_H

#define HAVE_PM		1
#define HAVE_VDM	1
#define HAVE_PDM	1
#define HAVE_PTLA	1
#define HAVE_CORE	1

__attribute__((unused)) static struct dm_status absent;

#if !HAVE_PM
#define pm_create(c) ((void)(c), (struct pm *)&absent)
#define pm_destroy(p) ((void)(p))
#define pm_reset(p) ((void)(p))
#define pm_grow(p, l, n) ((void)(p))
#define pm_release(p, s) ((void)(p))
#define pm_low_list(p) ((u64)0)
#define pm_allocated(p) ((u64)0)
#define pm_freed(p) ((u64)0)
#endif
#if !HAVE_VDM
#define vdm_create(c) ((void)(c), (struct vdm *)&absent)
#define vdm_destroy(p) ((void)(p))
#define vdm_reset(p) ((void)(p))
#define vdm_start(p, j) false
#define vdm_abort(p) ((void)(p))
#define vdm_resume(p) ((void)(p))
#define vdm_flush(p) ((void)(p))
#define vdm_status(p) (&absent)
#define vdm_counters_add(p, v) ((void)(p))
#endif
#if !HAVE_PDM
#define pdm_create(c) ((void)(c), (struct pdm *)&absent)
#define pdm_destroy(p) ((void)(p))
#define pdm_reset(p) ((void)(p))
#define pdm_start(p, j) false
#define pdm_abort(p) ((void)(p))
#define pdm_status(p) (&absent)
#define pdm_counters_add(p, v) ((void)(p))
#endif
#if !HAVE_PTLA
#define ptla_create(m, o, p) ((void)(m), (void)(o), (struct ptla *)&absent)
#define ptla_destroy(p) ((void)(p))
#define ptla_reset(p) ((void)(p))
#define ptla_start(p, j) false
#define ptla_abort(p) ((void)(p))
#define ptla_status(p) (&absent)
#define ptla_counters_add(p, v) ((void)(p))
#define ptla_step(p, u, s) ((void)(p), (void)(u), (void)(s), false)
#endif
#if !HAVE_CORE || !HAVE_VDM || !HAVE_PDM
#define core_step(v, p, c, s) ((void)(v), pdm_core_step(p, c, s))
#endif

#endif
