// SPDX-License-Identifier: MIT
/* Dependencies of groups without instances. See order.h. */
#include "order.h"

#include <assert.h>

#include "../lock.h"

_Static_assert((PDS_ORDER_EPOCHS & (PDS_ORDER_EPOCHS - 1)) == 0,
	       "epochs are numbered modulo 2^32");

static _Atomic u64 *open_of(struct pds_order *order, u32 epoch)
{
	return &order->open[epoch % PDS_ORDER_EPOCHS];
}

void pds_order_init(struct pds_order *order)
{
	lock_init(&order->lock);
	pds_order_reset(order);
}

void pds_order_fini(struct pds_order *order)
{
	pthread_mutex_destroy(&order->lock);
}

void pds_order_reset(struct pds_order *order)
{
	u32 n;

	order->first = order->next = 0;
	order->before = 0;
	for (n = 0; n < PDS_ORDER_EPOCHS; n++)
		atomic_store(&order->open[n], 0);
}

bool pds_order_leave(struct pds_order *order, u32 epoch, u32 groups)
{
	return atomic_fetch_sub(open_of(order, epoch), groups) == groups;
}

u32 pds_order_hold(struct pds_order *order, const struct pds_place *place, u64 before)
{
	assert(order->next - order->first < PDS_MAX_PENDING);
	order->place[order->next % PDS_ORDER_EPOCHS] = *place;
	atomic_fetch_add(open_of(order, order->next), before - order->before);
	order->before = before;
	order->next++;
	return order->next;
}

bool pds_order_cancel(struct pds_order *order, struct pds_place *place)
{
	if (order->first == order->next)
		return false;
	*place = order->place[order->first++ % PDS_ORDER_EPOCHS];
	return true;
}

bool pds_order_resolve(struct pds_order *order, struct pds_place *place)
{
	return !atomic_load(open_of(order, order->first)) && pds_order_cancel(order, place);
}
