/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The host's copy of the times of a job in struct fwif_context (fwif.h), and their arithmetic.
 *
 * The firmware stores words of 32 bits, several for each time, and its processor may be stopped
 * between any two of them: times_version marks the times as changing meanwhile.
 */
#ifndef PUMICE_TIMES_H
#define PUMICE_TIMES_H

#ifdef __KERNEL__
#include <linux/compiler.h>
#include <asm/barrier.h>
#endif

#include "fwif.h"

/*
 * Load a field once, after all loads before it. A test may define it first. The kernel's fields are
 * in coherent memory of a device.
 */
#ifndef PUMICE_TIMES_LOAD
#ifdef __KERNEL__
#define PUMICE_TIMES_LOAD(field) ({			\
	typeof(field) pumice_times_value = READ_ONCE(field);	\
							\
	dma_rmb(); /* and those that follow after it */	\
	pumice_times_value;				\
})
#else
#define PUMICE_TIMES_LOAD(field)	__atomic_load_n(&(field), __ATOMIC_ACQUIRE)
#endif
#endif

/* Reads before the times are treated as unknown: the firmware writes them rarely. */
#define PUMICE_TIMES_ATTEMPTS	4u

/* Consistent copy. */
struct pumice_times {
	u64 slice_start;	/* GPU clock when the running slice began; 0 while none runs */
	u64 job_ticks;		/* GPU clock ticks of its earlier slices */
	u64 stop_start;		/* GPU clock when it was stopped for lack of pages; else 0 */
	u64 stop_ticks;		/* GPU clock ticks for which it was stopped before */
	u32 job_seqno;		/* number of the job */
};

/* Read the times. Returns false if the firmware was writing them at each attempt. */
static inline bool pumice_times_read(const struct fwif_context *fw, struct pumice_times *times)
{
	u32 version, i;

	for (i = 0; i < PUMICE_TIMES_ATTEMPTS; i++) {
		version = PUMICE_TIMES_LOAD(fw->times_version);
		times->slice_start = PUMICE_TIMES_LOAD(fw->slice_start);
		times->job_ticks = PUMICE_TIMES_LOAD(fw->job_ticks);
		times->stop_start = PUMICE_TIMES_LOAD(fw->stop_start);
		times->stop_ticks = PUMICE_TIMES_LOAD(fw->stop_ticks);
		times->job_seqno = PUMICE_TIMES_LOAD(fw->job_seqno);
		if (!(version & 1) && PUMICE_TIMES_LOAD(fw->times_version) == version)
			return true;
	}
	return false;
}

/* Return @ticks and the time since @start, if that is not 0, to @now; at most @now. */
static inline u64 pumice_times_until(u64 ticks, u64 start, u64 now)
{
	if (start && start < now)
		ticks += now - start;
	return ticks < now ? ticks : now;
}

/* Return the GPU clock ticks of a job on its data master; @now: GPU clock, read after the times. */
static inline u64 pumice_times_ran(const struct pumice_times *times, u64 now)
{
	return pumice_times_until(times->job_ticks, times->slice_start, now);
}

/* Return the same without those for which the job was stopped for lack of pages. */
static inline u64 pumice_times_ran_itself(const struct pumice_times *times, u64 now)
{
	const u64 ran = pumice_times_ran(times, now);
	const u64 stopped = pumice_times_until(times->stop_ticks, times->stop_start, now);

	return ran > stopped ? ran - stopped : 0;
}

#endif
