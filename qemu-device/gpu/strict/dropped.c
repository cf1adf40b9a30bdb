// SPDX-License-Identifier: MIT
/* Interrupts that the firmware drops. See dropped.h. */
#include "dropped.h"

#include <string.h>

#define ENDS(dm)	(PUMICE_IC_PENDING__##dm##_DONE__MASK | \
			 PUMICE_IC_PENDING__##dm##_FAULT__MASK | \
			 PUMICE_IC_PENDING__##dm##_ABORTED__MASK)

/* Events of the end of a job, by unit. */
static const struct {
	enum pumice_unit unit;
	u32 ends;
} master[] = {
	{ PUMICE_UNIT_CDM, ENDS(CDM) }, { PUMICE_UNIT_VDM, ENDS(VDM) },
	{ PUMICE_UNIT_PDM, ENDS(PDM) }, { PUMICE_UNIT_PTLA, ENDS(TDM) },
	{ PUMICE_UNIT_RDM, ENDS(RDM) },
};
#define MASTERS		(sizeof(master) / sizeof(master[0]))

void dropped_init(struct dropped *d,
		  void (*report)(void *opaque, const struct strict_finding *finding), void *opaque)
{
	memset(d, 0, sizeof(*d));
	d->report = report;
	d->opaque = opaque;
	pthread_mutex_init(&d->lock, NULL);
}

void dropped_destroy(struct dropped *d)
{
	pthread_mutex_destroy(&d->lock);
}

void dropped_reset(struct dropped *d)
{
	pthread_mutex_lock(&d->lock);
	d->cleared = 0;
	pthread_mutex_unlock(&d->lock);
}

void dropped_set(struct dropped *d, bool on)
{
	dropped_reset(d);
	d->on = on;
}

void dropped_clear(struct dropped *d, u32 pending, u32 clear)
{
	if (!d->on)
		return;
	pthread_mutex_lock(&d->lock);
	d->cleared |= pending & clear;
	pthread_mutex_unlock(&d->lock);
}

u32 dropped_ends(enum pumice_unit unit)
{
	u32 m;

	for (m = 0; m < MASTERS; m++)
		if (master[m].unit == unit)
			return master[m].ends;
	return 0;
}

void dropped_read(struct dropped *d, enum pumice_unit unit)
{
	if (!d->on)
		return;
	pthread_mutex_lock(&d->lock);
	d->cleared &= ~dropped_ends(unit);
	pthread_mutex_unlock(&d->lock);
}

void dropped_sleep(struct dropped *d, u32 pending, u32 enabled)
{
	struct strict_finding f = { .kind = PUMICE_FINDING_INTERRUPT_DROPPED };
	u32 dropped, m;

	if (!d->on)
		return;
	pthread_mutex_lock(&d->lock);
	dropped = d->cleared | (pending & ~enabled);
	d->cleared = 0;
	pthread_mutex_unlock(&d->lock);
	for (m = 0; m < MASTERS; m++) {
		if (!(dropped & master[m].ends))
			continue;
		f.unit = (u8)master[m].unit;
		f.object = (struct strict_object){
			.known = true, .place = (u32)__builtin_ctz(dropped & master[m].ends),
		};
		d->report(d->opaque, &f);
	}
}
