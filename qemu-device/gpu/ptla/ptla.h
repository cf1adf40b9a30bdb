/* SPDX-License-Identifier: MIT */
/*
 * PTLA, the transfer data master: copies, fills and converts in parallel with the cores.
 *
 * Source: document 004, "PTLA"; hw/formats.xml, stream "tdm". It has worker units of its own.
 * Commands run one at a time, in pieces that fit a step.
 */
#ifndef PUMICE_GPU_PTLA_H
#define PUMICE_GPU_PTLA_H

#include <stdatomic.h>

#include "../dm/dm.h"
#include "../mmu/mmu.h"

struct ptla;

/* trace: or NULL. */
struct ptla *ptla_create(struct mmu *mmu, const struct dm_ops *ops, void *opaque,
			 struct trace *trace);
void ptla_destroy(struct ptla *ptla);
void ptla_reset(struct ptla *ptla);

/* Device lock held. */
bool ptla_start(struct ptla *ptla, const struct dm_job *job);
void ptla_abort(struct ptla *ptla);
const struct dm_status *ptla_status(const struct ptla *ptla);
void ptla_counters_add(const struct ptla *ptla, u64 *value);

/* A flip: a PRESENT command whose copy is visible. */
struct ptla_flip {
	u64 addr;	/* of the destination: its level and layer */
	u64 time;	/* GPU clock */
	u32 frame;
};

/* Count the flips that were not removed, return the oldest one or zero, and remove it. */
u32 ptla_flips(const struct ptla *ptla);
struct ptla_flip ptla_flip(const struct ptla *ptla);
void ptla_flip_pop(struct ptla *ptla);

/*
 * Run unit number unit for about WORKERS_QUANTUM_NS, less when *stop becomes true. True while
 * there is more. PTLA_UNITS units share a command's work.
 */
#define PTLA_UNITS 2u
bool ptla_step(struct ptla *ptla, unsigned int unit, const _Atomic bool *stop);

#endif
