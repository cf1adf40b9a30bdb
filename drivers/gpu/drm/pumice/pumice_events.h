/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trace events of jobs: events/pumice in tracefs.
 *
 * An event's timestamp is the time at which the driver processes the report. The time
 * on the GPU is a field of the event, in ticks of the GPU clock: job_start and
 * job_done of one job are both written when the job has completed.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pumice

#if !defined(PUMICE_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define PUMICE_EVENTS_H

#include <linux/tracepoint.h>

#include "fwif.h"
#include "pumice_names.h"

/* In the process that owns the context: its id and name identify the context in a trace. */
TRACE_EVENT(pumice_job_submit,
	TP_PROTO(u32 context, u64 stream, u32 waits, u32 dm),
	TP_ARGS(context, stream, waits, dm),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u64, stream)
		__field(u32, waits)
		__field(u32, dm)
		__field(pid_t, pid)
		__array(char, comm, TASK_COMM_LEN)
	),
	TP_fast_assign(
		__entry->context = context;
		__entry->stream = stream;
		__entry->waits = waits;
		__entry->dm = dm;
		__entry->pid = current->tgid;
		/* Not get_task_comm(), which takes a lock up to Linux 6.12. */
		memcpy(__entry->comm, current->group_leader->comm, TASK_COMM_LEN);
	),
	TP_printk("context=%u stream=0x%llx waits=%u dm=%u pid=%d comm=%s", __entry->context,
		  __entry->stream, __entry->waits, __entry->dm, __entry->pid, __entry->comm)
);

TRACE_EVENT(pumice_job_run,
	TP_PROTO(u32 context, u32 job, u32 dm),
	TP_ARGS(context, job, dm),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u32, job)
		__field(u32, dm)
	),
	TP_fast_assign(
		__entry->context = context;
		__entry->job = job;
		__entry->dm = dm;
	),
	TP_printk("context=%u job=%u dm=%u", __entry->context, __entry->job, __entry->dm)
);

TRACE_EVENT(pumice_job_start,
	TP_PROTO(u32 context, const struct fwif_job_result *r),
	TP_ARGS(context, r),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u32, job)
		__field(u64, gpu_time)
		__field(u32, mmu_context)
	),
	TP_fast_assign(
		__entry->context = context;
		__entry->job = r->seqno;
		__entry->gpu_time = r->time_start;
		__entry->mmu_context = r->mmu_context;
	),
	TP_printk("context=%u job=%u gpu_time=%llu mmu_context=%u", __entry->context,
		  __entry->job, __entry->gpu_time, __entry->mmu_context)
);

TRACE_EVENT(pumice_flip,
	TP_PROTO(u32 context, u32 job, const struct fwif_flip *f, int error),
	TP_ARGS(context, job, f, error),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u32, job)
		__field(u64, gpu_time)
		__field(u64, addr)
		__field(u32, frame)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->context = context;
		__entry->job = job;
		__entry->gpu_time = f->time;
		__entry->addr = f->addr;
		__entry->frame = f->frame;
		__entry->error = error;
	),
	TP_printk("context=%u job=%u gpu_time=%llu addr=0x%llx frame=%u error=%d",
		  __entry->context, __entry->job, __entry->gpu_time, __entry->addr,
		  __entry->frame, __entry->error)
);

TRACE_EVENT(pumice_job_done,
	TP_PROTO(u32 context, const struct fwif_job_result *r, int error),
	TP_ARGS(context, r, error),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u32, job)
		__field(u64, gpu_time)
		__field(u64, run_ticks)
		__field(u64, groups)
		__field(u32, slices)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->context = context;
		__entry->job = r->seqno;
		__entry->gpu_time = r->time_end;
		__entry->run_ticks = r->run_ticks;
		__entry->groups = r->groups;
		__entry->slices = r->slices;
		__entry->error = error;
	),
	TP_printk("context=%u job=%u gpu_time=%llu run_ticks=%llu groups=%llu slices=%u error=%d",
		  __entry->context, __entry->job, __entry->gpu_time, __entry->run_ticks,
		  __entry->groups, __entry->slices, __entry->error)
);

TRACE_EVENT(pumice_job_fault,
	TP_PROTO(u32 context, const struct fwif_job_result *r),
	TP_ARGS(context, r),
	TP_STRUCT__entry(
		__field(u32, context)
		__field(u32, job)
		__field(u64, gpu_time)
		__field(u64, addr)
		__field(u32, usc)
		__field(u32, pc)
		__field(u8, fault)
		__field(u8, unit)
		__field(u8, access)
	),
	TP_fast_assign(
		__entry->context = context;
		__entry->job = r->seqno;
		__entry->gpu_time = r->time_end;
		__entry->addr = r->addr;
		__entry->usc = r->usc;
		__entry->pc = r->pc;
		__entry->fault = r->fault;
		__entry->unit = r->unit;
		__entry->access = r->access;
	),
	TP_printk("context=%u job=%u gpu_time=%llu fault=%s unit=%s access=%s addr=0x%llx usc=%u pc=%u",
		  __entry->context, __entry->job, __entry->gpu_time,
		  pumice_fault_str(__entry->fault), pumice_unit_str(__entry->unit),
		  pumice_access_str(__entry->access), __entry->addr, __entry->usc, __entry->pc)
);

/* before, after: number of pages of the list */
DECLARE_EVENT_CLASS(pumice_free_list,
	TP_PROTO(u32 addr, u32 before, u32 after),
	TP_ARGS(addr, before, after),
	TP_STRUCT__entry(
		__field(u32, addr)
		__field(u32, before)
		__field(u32, after)
	),
	TP_fast_assign(
		__entry->addr = addr;
		__entry->before = before;
		__entry->after = after;
	),
	TP_printk("free_list=0x%x before=%u after=%u", __entry->addr, __entry->before,
		  __entry->after)
);

/* The driver replies to the firmware's request: the GPU has these pages from now on. */
DEFINE_EVENT(pumice_free_list, pumice_free_list_grow,
	TP_PROTO(u32 addr, u32 before, u32 after),
	TP_ARGS(addr, before, after)
);

/* Pages for the next request were allocated with reclaim. */
DEFINE_EVENT(pumice_free_list, pumice_free_list_refill,
	TP_PROTO(u32 addr, u32 before, u32 after),
	TP_ARGS(addr, before, after)
);

TRACE_EVENT(pumice_reset,
	TP_PROTO(const char *reason),
	TP_ARGS(reason),
	TP_STRUCT__entry(
		__string(reason, reason)
	),
	TP_fast_assign(
		__assign_str(reason);
	),
	TP_printk("%s", __get_str(reason))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE pumice_events
#include <trace/define_trace.h>
