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
 *
 * Locking: sources of compute start groups, one source alone those without instances; USCs end
 * them. All may remove pending groups, under the lock of the order.
 *
 * Two threads, one that holds a group and one that ends the last one before it: the group is
 * removed once. Each of them first changes the count of the epoch, and then looks at it under the
 * lock; the second of them to change it makes it 0, and its look follows both changes.
 */
#ifndef PUMICE_GPU_PDS_ORDER_H
#define PUMICE_GPU_PDS_ORDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "../host_line.h"
#include "gfx.h"

#define PDS_ORDER_EPOCHS (PDS_MAX_PENDING + 1)	/* that are counted at a time */

struct pds_order {
	pthread_mutex_t lock;	/* guards first, next and place */
	u32 first;	/* number of the oldest pending group without instances */
	u32 next;	/* of the next one, and the present epoch; changes while no other source
			 * starts groups */
	struct pds_place place[PDS_ORDER_EPOCHS];	/* of group n without instances, at n modulo
							 * the size */
	/*
	 * Groups of epoch n that have not ended, likewise. To the present epoch the groups that
	 * entered it are added when it ends; until then the value is 0 minus those that have ended
	 * already, and no end brings it to 0.
	 */
	u8 apart_before[HOST_APART];	/* threads of all cores write the following numbers */
	_Atomic u64 open[PDS_ORDER_EPOCHS];
	u8 apart_after[HOST_APART];
	u64 before;	/* groups that were started before the present epoch */
};

void pds_order_init(struct pds_order *order);
void pds_order_fini(struct pds_order *order);
/* Drop all groups; none runs. */
void pds_order_reset(struct pds_order *order);
/* Return the epoch of a group with instances that is started next. */
static inline u32 pds_order_epoch(const struct pds_order *order)
{
	return order->next;
}

/*
 * Groups of an epoch have ended. True: a pending group may be resolved, look for it. No lock, or
 * any.
 */
bool pds_order_leave(struct pds_order *order, u32 epoch, u32 groups);

/* The following functions are called with the order's lock held. */

/*
 * A group without instances is pending; at most PDS_MAX_PENDING are. before: groups that were
 * started before it, of all epochs. No other group is started meanwhile. Returns its epoch.
 */
u32 pds_order_hold(struct pds_order *order, const struct pds_place *place, u64 before);
/* Remove the oldest pending group if it is resolved; false: it is not, or there is none. */
bool pds_order_resolve(struct pds_order *order, struct pds_place *place);
/*
 * Remove the oldest pending group, resolved or not; false: there is none. Those that follow may
 * wait for groups of earlier epochs longer than they have to, until all groups have ended.
 */
bool pds_order_cancel(struct pds_order *order, struct pds_place *place);

#endif
