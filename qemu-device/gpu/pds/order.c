// SPDX-License-Identifier: MIT
/* Dependencies of groups without instances. See order.h. */
#include "order.h"

#include <assert.h>

#define EPOCHS	(PDS_MAX_PENDING + 1)

_Static_assert((EPOCHS & (EPOCHS - 1)) == 0, "epochs are numbered modulo 2^32");

u32 pds_order_enter(struct pds_order *order)
{
	order->open[order->next % EPOCHS]++;
	return order->next;
}

void pds_order_leave(struct pds_order *order, u32 epoch)
{
	assert(order->open[epoch % EPOCHS]);
	order->open[epoch % EPOCHS]--;
}

void pds_order_hold(struct pds_order *order, const struct pds_place *place)
{
	assert(order->next - order->first < PDS_MAX_PENDING);
	order->place[order->next++ % EPOCHS] = *place;
}

bool pds_order_cancel(struct pds_order *order, struct pds_place *place)
{
	if (order->first == order->next)
		return false;
	*place = order->place[order->first++ % EPOCHS];
	return true;
}

bool pds_order_resolve(struct pds_order *order, struct pds_place *place)
{
	return !order->open[order->first % EPOCHS] && pds_order_cancel(order, place);
}
