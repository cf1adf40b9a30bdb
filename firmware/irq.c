// SPDX-License-Identifier: MIT
/*
 * Interrupt tasks: what hardware waits for. Finishing, switching and starting
 * jobs, and their faults. The host's kick has no task of its own: it ends the sleep of the
 * background loop, which then looks at the kernel CCB.
 *
 * Limits: serves virtual GPU 0.
 */
#include "bus.h"
#include "csr.h"
#include "fwccb.h"
#include "irq.h"
#include "sched.h"

#define EVENT_HOST	PUMICE_FIELD_PREP(PUMICE_IC_PENDING__HOST, 1)
#define EVENT_DONE	PUMICE_IC_PENDING__CDM_DONE__MASK
#define EVENT_FAULT	PUMICE_IC_PENDING__CDM_FAULT__MASK
#define EVENT_ABORTED	PUMICE_IC_PENDING__CDM_ABORTED__MASK
#define EVENT_SWITCHED	PUMICE_IC_PENDING__CDM_SWITCHED__MASK
#define EVENTS		(EVENT_HOST | EVENT_DONE | EVENT_FAULT | EVENT_ABORTED | EVENT_SWITCHED)

void irq_init(void)
{
	reg_write(PUMICE_IC_CLEAR, EVENTS & ~EVENT_HOST);
	reg_write(PUMICE_IC_ENABLE, EVENTS);
	__asm__ volatile("csrw mie, %0" : : "r"(MIE_MEIE | MIE_MTIE) : "memory");
}

void irq_handle(void)
{
	u32 pending = reg_read(PUMICE_IC_PENDING) & EVENTS;

	reg_write(PUMICE_IC_CLEAR, pending);
	if (pending & (EVENT_DONE | EVENT_FAULT | EVENT_ABORTED)) {
		sched_job_ended(pending & EVENT_ABORTED);
		host_notify();
	} else if (pending & EVENT_SWITCHED) {
		sched_job_switched();
	}
}
