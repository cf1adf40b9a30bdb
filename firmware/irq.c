// SPDX-License-Identifier: MIT
/*
 * Interrupt tasks: finishing, switching and starting jobs, their faults, and their
 * requests for memory. A host's kick has no task of its own: it ends the sleep of
 * the background loop, which then reads the kernel CCB of that virtual GPU.
 */
#include "bus.h"
#include "csr.h"
#include "dm.h"
#include "flip.h"
#include "freelist.h"
#include "fwccb.h"
#include "irq.h"
#include "kccb.h"
#include "os.h"
#include "sched.h"

#define EVENT_HOST	PUMICE_IC_PENDING__HOST__MASK
#define EVENT(name)	PUMICE_IC_PENDING__##name##__MASK
#define ENDS(dm)	(EVENT(dm##_DONE) | EVENT(dm##_FAULT) | EVENT(dm##_ABORTED))
#define EVENTS		(EVENT_HOST | ENDS(CDM) | EVENT(CDM_SWITCHED) | ENDS(VDM) | \
			 EVENT(VDM_MEMORY) | ENDS(PDM) | ENDS(TDM) | ENDS(RDM) | \
			 EVENT(PM_LOW) | EVENT(TDM_FLIP) | EVENT(KCCB_SILENT) | \
			 EVENT(FWCCB_SILENT))

/* A test build, TEST=DROP, does not handle the end of compute jobs. */
#ifdef FW_TEST_DROP
#define DROPPED		EVENT(CDM_DONE)
#else
#define DROPPED		0u
#endif

/* Virtual GPUs whose event is enabled. */
static u32 hosts;

static void enable(void)
{
	reg_write(PUMICE_IC_ENABLE, (EVENTS & ~EVENT_HOST) |
		  PUMICE_FIELD_PREP(PUMICE_IC_ENABLE__HOST, hosts));
}

void irq_init(void)
{
	reg_write(PUMICE_IC_CLEAR, EVENTS & ~EVENT_HOST);
	hosts = (1u << os_count()) - 1;
	enable();
	__asm__ volatile("csrw mie, %0" : : "r"(MIE_MEIE | MIE_MTIE) : "memory");
}

void irq_listen(u32 os)
{
	if (hosts >> os & 1)
		return;
	hosts |= 1u << os;
	enable();
}

/*
 * Note the kicks of virtual GPUs. Those other than 0 are not trusted: each raises one interrupt in
 * a pass of the background loop, which calls irq_listen() before it looks for their work.
 */
static void handle_kicks(u32 rang)
{
	os_events(rang);
	rang &= hosts & ~1u;
	if (!rang)
		return;
	hosts &= ~rang;
	enable();
}

/*
 * Return whether the job of a data master has ended. An end that is reported while the data master
 * is busy is an error of the hardware and is ignored.
 */
static bool ended(u32 dm, u32 events)
{
	return events && !dm_busy(dm);
}

/* A stall that was reported before the job ended is void. */
static void handle_graphics_irq(u32 pending)
{
	if (ended(FWIF_DM_PDM, pending & ENDS(PDM)))
		sched_pdm_ended(pending & EVENT(PDM_ABORTED));
	if (ended(FWIF_DM_VDM, pending & ENDS(VDM)))
		sched_job_ended(FWIF_DM_VDM, pending & EVENT(VDM_ABORTED));
	else if (pending & EVENT(VDM_MEMORY))
		sched_vdm_memory();
	if (pending & EVENT(PM_LOW))
		freelist_low();
}

/* Injected faults, of virtual GPU 0: registers.xml, inject_kind FW_SILENCE. */
static void inject_silence(u32 pending)
{
	os_select(0);
	if (pending & EVENT(KCCB_SILENT))
		kccb_silence();
	if (pending & EVENT(FWCCB_SILENT))
		fwccb_silence();
}

void irq_handle(void)
{
	u32 pending = reg_read(PUMICE_IC_PENDING) & EVENTS;

	reg_write(PUMICE_IC_CLEAR, pending);
	pending &= ~DROPPED;
	handle_kicks((u32)PUMICE_FIELD_GET(PUMICE_IC_PENDING__HOST, pending));
	inject_silence(pending);
	if (ended(FWIF_DM_CDM, pending & ENDS(CDM)))
		sched_job_ended(FWIF_DM_CDM, pending & EVENT(CDM_ABORTED));
	else if (pending & EVENT(CDM_SWITCHED))
		sched_job_switched();
	/* Before the end of the job that the flips are of. */
	if (pending & EVENT(TDM_FLIP))
		flip_report();
	if (ended(FWIF_DM_TDM, pending & ENDS(TDM)))
		sched_job_ended(FWIF_DM_TDM, pending & EVENT(TDM_ABORTED));
	if (ended(FWIF_DM_RDM, pending & ENDS(RDM)))
		sched_job_ended(FWIF_DM_RDM, pending & EVENT(RDM_ABORTED));
	handle_graphics_irq(pending);
	host_notify();
}
