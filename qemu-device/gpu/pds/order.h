/* SPDX-License-Identifier: MIT */
/*
 * Dependencies of groups without instances.
 *
 * Source: document 000, "Unified Shading Cluster": tasks without instances only carry dependencies,
 * and are discarded when these are resolved. Such a group waits for all groups that were started
 * before it, on all USCs.
 *
 * Groups are counted by epochs: epoch n is between pending groups n - 1 and n without instances,
 * which themselves are in the epoch after them. Group n is resolved when no group of epoch n or of
 * an earlier one is left; so they are resolved in order.
 */
#ifndef PUMICE_GPU_PDS_ORDER_H
#define PUMICE_GPU_PDS_ORDER_H

#include <stdbool.h>

#include "gfx.h"

/* Plain data. */
struct pds_order {
	u32 first;	/* number of the oldest pending group without instances */
	u32 next;	/* of the next one, and the present epoch */
	u32 open[PDS_MAX_PENDING + 1];	/* groups of epoch n, at n modulo the size */
	struct pds_place place[PDS_MAX_PENDING + 1];	/* of group n without instances, likewise */
};

/* A group starts: return its epoch. */
u32 pds_order_enter(struct pds_order *order);
/* A group of an epoch has ended. */
void pds_order_leave(struct pds_order *order, u32 epoch);
/* A group without instances is pending; at most PDS_MAX_PENDING are. */
void pds_order_hold(struct pds_order *order, const struct pds_place *place);
/* Remove the oldest pending group if it is resolved; false: it is not, or there is none. */
bool pds_order_resolve(struct pds_order *order, struct pds_place *place);
/*
 * Remove the oldest pending group, resolved or not; false: there is none. Those that follow may
 * wait for groups of earlier epochs longer than they have to, until all groups have ended.
 */
bool pds_order_cancel(struct pds_order *order, struct pds_place *place);

#endif
