// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Measurement of the interrupt latency: the debugfs file interrupt_ns.
 *
 * A read makes the interrupt's cause pending while it is disabled, then measures
 * from the register write that enables it, and thus raises it at once, until the
 * thread that waits for the handler runs again. This is the lower limit of a job's latency.
 *
 * Limits: one measurement at a time, and none during a GPU reset; jobs that complete
 * meanwhile are processed when the interrupt is enabled again.
 */
#include <linux/iopoll.h>
#include <linux/seq_file.h>

#include "pumice_bench.h"
#include "pumice_ccb.h"
#include "pumice_irq.h"
#include "pumice_pm.h"

/* Maximum time for the firmware's reply and for the interrupt, us. */
#define REPLY_US	100000
#define INTERRUPT_TIME	msecs_to_jiffies(100)

/* Make the firmware's cause pending and leave the interrupt disabled. */
static int bench_make_pending(struct pumice_device *pdev)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	u32 status;
	int ret;

	ret = pumice_kccb_reserve(pdev);
	if (ret)
		return ret;
	ret = pumice_kccb_push_reserved(pdev, &ping);
	if (ret)
		return ret;
	return read_poll_timeout(pumice_read, status, status & PUMICE_OS_IRQ_STATUS__FW__MASK,
				 10, REPLY_US, false, pdev, PUMICE_OS_IRQ_STATUS);
}

/* Raise the interrupt by one register write and wait for its handler. Returns 0 or an error. */
static int bench_measure(struct pumice_device *pdev, u64 *ns)
{
	u64 start;
	int ret;

	init_completion(&pdev->bench.handled);
	WRITE_ONCE(pdev->bench.armed, true);
	start = ktime_get_ns();
	pumice_irq_enable(pdev);
	ret = wait_for_completion_timeout(&pdev->bench.handled, INTERRUPT_TIME) ? 0 : -ETIME;
	*ns = ktime_get_ns() - start;
	WRITE_ONCE(pdev->bench.armed, false);
	return ret;
}

static int bench_measure_locked(struct pumice_device *pdev, u64 *ns)
{
	int ret;

	lockdep_assert_held(&pdev->reset.lock);
	if (!pdev->fw.ready)
		return -ENODEV;
	pumice_irq_disable(pdev);
	ret = bench_make_pending(pdev);
	if (ret)
		pumice_irq_enable(pdev);
	else
		ret = bench_measure(pdev, ns);
	return ret;
}

/**
 * pumice_bench_show - measure once, and print the result in ns
 * @m: file
 * @pdev: device
 *
 * Context: May sleep. Wakes the GPU; acquires reset.lock.
 *
 * Return: 0, -ENODEV without a GPU, -ETIME if it does not reply.
 */
int pumice_bench_show(struct seq_file *m, struct pumice_device *pdev)
{
	int idx, ret;
	u64 ns;

	ret = pumice_pm_enter(pdev, &idx);
	if (ret)
		return ret;
	mutex_lock(&pdev->reset.lock);
	ret = bench_measure_locked(pdev, &ns);
	mutex_unlock(&pdev->reset.lock);
	pumice_pm_leave(pdev, idx);
	if (!ret)
		seq_printf(m, "%llu\n", ns);
	return ret;
}
