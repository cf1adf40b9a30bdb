// SPDX-License-Identifier: MIT
/* USSE iterator. See uitr.h. */
#include "uitr.h"

void uitr_iterate(struct uitr *uitr, const struct itr_task *task,
		  struct itr_positions *at, u32 plane, bool perspective, float *out)
{
	const u64 began = activity_begin(&uitr->activity);
	const float *rw;
	u32 n;

	activity_count(&uitr->activity);
	itr_evaluate(task, at, plane, out);
	if (perspective) {
		rw = itr_rw(task, at);
		for (n = 0; n < task->instances; n += USC_SPAN_LANES)
			itr_store(out, n, itr_load(out, n) / itr_load(rw, n));
	}
	activity_end(&uitr->activity, began);
}
