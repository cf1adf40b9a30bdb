// SPDX-License-Identifier: MIT
/*
 * bench_submit - time from SUBMIT of an empty job to its signaled fence.
 *
 * Prints the least and the median of many rounds, seen by user space, and the
 * time of the whole round trip with many jobs in flight. No test: it judges
 * nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "rig.h"

#define ROUNDS	500
#define WARM_UP	20
#define BURST	1000

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u64 one_round(struct rig *rig, u64 stream)
{
	u64 start = now_ns();

	rig_submit(rig, stream);
	need_wait(rig->fd, rig->sync, 0);
	return now_ns() - start;
}

int main(void)
{
	struct rig rig = rig_open();
	u64 stream = rig_empty_stream(&rig), times[ROUNDS], start;
	u32 i;

	for (i = 0; i < WARM_UP; i++)
		one_round(&rig, stream);
	for (i = 0; i < ROUNDS; i++)
		times[i] = one_round(&rig, stream);
	qsort(times, ROUNDS, sizeof(times[0]), compare);
	start = now_ns();
	for (i = 0; i < BURST; i++)
		rig_submit(&rig, stream);
	need_wait(rig.fd, rig.sync, 0);
	printf("empty job, submit to fence: least %llu ns, median %llu ns (%u rounds)\n",
	       (unsigned long long)times[0], (unsigned long long)times[ROUNDS / 2], ROUNDS);
	printf("empty jobs in a row: %llu ns each (%u jobs)\n",
	       (unsigned long long)((now_ns() - start) / BURST), BURST);
	return 0;
}
