/* SPDX-License-Identifier: MIT */
/*
 * Halves of cores: the units that up to two USCs of a core share, a TAG with its TF, a UITR and a
 * TITR.
 *
 * Source: document 004, "TAG", "TF", "UITR" and "TITR": two of each a core, each shared by two of
 * four pipes (share.h). Document 000, "Texture Pipeline Unit": each USC has an interface of a TCU,
 * and those of a core form an SPU.
 */
#ifndef PUMICE_GPU_HALF_H
#define PUMICE_GPU_HALF_H

#include "../itr/titr.h"
#include "../itr/uitr.h"
#include "../tf/tf.h"
#include "../share.h"

/* Used through the units' headers. */
struct half {
	struct tf tf;
	struct tag *tag;
	struct uitr uitr;
	struct titr titr;
	struct tcu tcu[SPU_TCUS / HALVES_PER_CORE];	/* by half_tcu_of_usc() */
};

struct halves;

/* Return the interface of a USC in its half; arguments as of half_of_usc(). */
static inline unsigned int half_tcu_of_usc(unsigned int in_core, unsigned int uscs)
{
	return half_of_usc(in_core, uscs) ? in_core - (uscs + 1) / 2 : in_core;
}

/* Create the halves of all cores. Returns NULL when out of memory. */
struct halves *halves_create(struct mmu *mmu, unsigned int cores, unsigned int uscs_per_core);
void halves_destroy(struct halves *halves);
/* Reset all units; none is in use. */
void halves_reset(struct halves *halves);

/* Return the half of a USC, by its number over all cores. */
struct half *halves_of(struct halves *halves, unsigned int usc);
/* Return the number of reads of a core's TITRs; any thread. */
u64 halves_reads_ahead(const struct halves *halves, unsigned int core);

/* Return the interface of a USC, by its number over all cores. */
struct tcu *halves_tcu_of(struct halves *halves, unsigned int usc);

/* Enable or disable the detailed counters of hw/perf.h. */
void halves_set_detail(struct halves *halves, bool detail);
/* Add the units' counters to value[], by enum pumice_perf_counter; any thread. */
void halves_counters_add(struct halves *halves, u64 *value);

#endif
