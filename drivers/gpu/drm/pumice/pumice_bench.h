/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Measurement of the interrupt latency. */
#ifndef PUMICE_BENCH_H
#define PUMICE_BENCH_H

#include "pumice_device.h"

struct seq_file;

/**
 * pumice_bench_interrupt - notify the measuring thread of the interrupt
 * @pdev: device; called in the hard handler
 */
static inline void pumice_bench_interrupt(struct pumice_device *pdev)
{
	if (READ_ONCE(pdev->bench.armed))
		complete(&pdev->bench.handled);
}

int pumice_bench_show(struct seq_file *m, struct pumice_device *pdev);

#endif
