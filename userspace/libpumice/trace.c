// SPDX-License-Identifier: MIT
/*
 * The event trace: records of the GPU (hw/trace.xml,
 * trace_record) as a structure, independent of the backend.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"
#include "pumice_formats.h"
#include "pumice_names.h"

#define MAX_ENTRIES	(1u << 20)

_Static_assert((u32)PUMICE_EVENT_JOB_START == PUMICE_TRACE_KIND_JOB_START &&
	       (u32)PUMICE_EVENT_JOB_END == PUMICE_TRACE_KIND_JOB_END &&
	       (u32)PUMICE_EVENT_LAUNCH == PUMICE_TRACE_KIND_LAUNCH &&
	       (u32)PUMICE_EVENT_GROUP_START == PUMICE_TRACE_KIND_GROUP_START &&
	       (u32)PUMICE_EVENT_GROUP_END == PUMICE_TRACE_KIND_GROUP_END &&
	       (u32)PUMICE_EVENT_MMU_FAULT == PUMICE_TRACE_KIND_MMU_FAULT &&
	       (u32)PUMICE_EVENT_MMU_INVALIDATE == PUMICE_TRACE_KIND_MMU_INVALIDATE &&
	       (u32)PUMICE_EVENT_MMU_WALK == PUMICE_TRACE_KIND_MMU_WALK &&
	       (u32)PUMICE_EVENT_STALL == PUMICE_TRACE_KIND_STALL &&
	       (u32)PUMICE_EVENT_CHUNK == PUMICE_TRACE_KIND_CHUNK &&
	       (u32)PUMICE_EVENT_TA == PUMICE_TRACE_KIND_TA &&
	       (u32)PUMICE_EVENT_PM == PUMICE_TRACE_KIND_PM &&
	       (u32)PUMICE_EVENT_TILE == PUMICE_TRACE_KIND_TILE &&
	       (u32)PUMICE_EVENT_ISP == PUMICE_TRACE_KIND_ISP &&
	       (u32)PUMICE_EVENT_SPANS == PUMICE_TRACE_KIND_SPANS &&
	       (u32)PUMICE_EVENT_TASK == PUMICE_TRACE_KIND_TASK &&
	       (u32)PUMICE_EVENT_TAG == PUMICE_TRACE_KIND_TAG &&
	       (u32)PUMICE_EVENT_PBE == PUMICE_TRACE_KIND_PBE &&
	       (u32)PUMICE_EVENT_TRANSFER == PUMICE_TRACE_KIND_TRANSFER &&
	       (u32)PUMICE_EVENT_FIRMWARE == PUMICE_TRACE_KIND_FIRMWARE &&
	       PUMICE_TRACE_KIND_COUNT == 21, "the header's events");
_Static_assert((u32)PUMICE_PHASE_BEGIN == PUMICE_TRACE_PHASE_BEGIN &&
	       (u32)PUMICE_PHASE_END == PUMICE_TRACE_PHASE_END &&
	       (u32)PUMICE_PHASE_CANCEL == PUMICE_TRACE_PHASE_CANCEL, "the header's phases");

_Static_assert(sizeof(((struct pumice_trace *)0)->words) ==
	       PUMICE_TRACE_RECORD_WORDS * sizeof(u32), "a record");

const char *pumice_event_name(uint32_t kind)
{
	return pumice_trace_kind_str(kind);
}

int pumice_trace_open(struct pumice_device *dev, uint32_t kinds, uint32_t entries,
		      struct pumice_trace **trace)
{
	int err;

	if (!kinds)
		return fail(dev, EINVAL, "trace: kinds is 0; set bit n for enum pumice_event n");
	if (!power_of_two(entries) || entries < 2 || entries > MAX_ENTRIES)
		return fail(dev, EINVAL,
			    "trace: %u events is not a power of two from 2 to %u", entries,
			    MAX_ENTRIES);
	err = dev->ops->trace_open(dev, entries, trace);
	if (!err)
		(*trace)->kinds = kinds;
	return err;
}

static void unpack(const u32 *words, struct pumice_event_record *to)
{
	struct pumice_trace_record from;

	pumice_trace_record_unpack(words, &from);
	*to = (struct pumice_event_record){
		.time = from.time,
		.kind = from.kind,
		.context = from.context,
		.mmu_context = from.mmu_ctx,
		.usc = from.usc,
		.phase = (uint8_t)from.phase,
		.dm = (uint8_t)(from.rdm ? PUMICE_TRACE_MASTER_RDM : from.dm),
		.slot = from.slot,
		.arg0 = from.arg0,
		.arg1 = from.arg1,
	};
}

static bool is_selected(const struct pumice_trace *trace)
{
	struct pumice_trace_record record;

	pumice_trace_record_unpack(trace->words, &record);
	return record.kind < 32 && trace->kinds >> record.kind & 1;
}

int trace_fetch(struct pumice_trace *trace, u32 count, u32 *words, bool *have, u64 *lost)
{
	bool more = true;
	int err;

	*have = false;
	while (more && !*have) {
		if (!trace->have && !trace->error)
			trace->error = trace->dev->ops->trace_next(trace, trace->words,
								   &trace->have, &trace->lost);
		if (count && (trace->lost || trace->error))
			return 0;
		*lost += trace->lost;
		trace->lost = 0;
		err = trace->error;
		trace->error = 0;
		if (err)
			return err;
		more = trace->have;
		*have = more && is_selected(trace);
		trace->have = false;
	}
	if (*have)
		memcpy(words, trace->words, sizeof(trace->words));
	return 0;
}

int pumice_trace_read(struct pumice_trace *trace, struct pumice_event_record *records,
		      uint32_t max, uint32_t *count, uint64_t *lost)
{
	u32 words[PUMICE_TRACE_RECORD_WORDS];
	u64 missed = 0;
	bool have = true;
	int err = 0;

	*count = 0;
	while (!err && have && *count < max) {
		err = trace_fetch(trace, *count, words, &have, &missed);
		if (have)
			unpack(words, &records[(*count)++]);
	}
	if (lost)
		*lost = missed;
	return err;
}

void pumice_trace_close(struct pumice_trace *trace)
{
	if (trace)
		trace->dev->ops->trace_close(trace);
}
