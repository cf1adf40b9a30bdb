// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Kernel CCB (commands to the firmware) and firmware CCB (messages from the firmware).
 *
 * Source: document 000, "Device Driver"; fwif.h.
 *
 * An entry of the kernel CCB is free again when its status word has been read,
 * not when the firmware's read index has passed it. That index is used only to
 * never overtake it, and its value is checked.
 */
#include "fwlog.h"
#include "pumice_ccb.h"
#include "pumice_free_list.h"
#include "pumice_fw.h"
#include "pumice_irq.h"
#include "pumice_reset.h"
#include "pumice_vgpu.h"

#define KCCB_MASK	(PUMICE_KCCB_COUNT - 1)
#define FWCCB_MASK	(PUMICE_FWCCB_COUNT - 1)
/* Maximum delay caused by a lost interrupt. */
#define RECHECK	msecs_to_jiffies(50)

/**
 * pumice_kccb_init - initialize; must precede all other functions of this file
 * @pdev: device
 */
void pumice_kccb_init(struct pumice_device *pdev)
{
	spin_lock_init(&pdev->kccb.lock);
	init_waitqueue_head(&pdev->kccb.event);
}

/**
 * pumice_kccb_open - accept commands after the firmware has booted
 * @pdev: device
 *
 * Context: Does not sleep. Acquires kccb.lock.
 */
void pumice_kccb_open(struct pumice_device *pdev)
{
	struct pumice_kccb *kccb = &pdev->kccb;

	spin_lock(&kccb->lock);
	kccb->write = 0;
	kccb->done = 0;
	kccb->open = true;
	kccb->asleep = false;
	bitmap_zero(kccb->replied, PUMICE_KCCB_COUNT);
	spin_unlock(&kccb->lock);
}

/**
 * pumice_kccb_sleep - note that the GPU sleeps and has lost all state that commands refer to
 * @pdev: device; pumice_kccb_close() was called
 */
void pumice_kccb_sleep(struct pumice_device *pdev)
{
	spin_lock(&pdev->kccb.lock);
	pdev->kccb.asleep = true;
	spin_unlock(&pdev->kccb.lock);
}

static bool ccb_asleep(struct pumice_device *pdev)
{
	bool asleep;

	spin_lock(&pdev->kccb.lock);
	asleep = pdev->kccb.asleep;
	spin_unlock(&pdev->kccb.lock);
	return asleep;
}

static void ccb_report_refused(struct pumice_device *pdev, u32 type, u32 status)
{
	drm_err_ratelimited(&pdev->drm, "firmware refused command %s: status %s\n",
			    pumice_fw_name(pumice_fwif_kccb_name(type)),
			    pumice_fw_name(pumice_fwif_status_name(status)));
}

/* Process replies; an entry is freed when all entries before it have replies, too. */
static void ccb_collect_locked(struct pumice_device *pdev)
{
	struct pumice_kccb *kccb = &pdev->kccb;
	u32 i, status;

	lockdep_assert_held(&kccb->lock);
	for (i = kccb->done; i != kccb->write; i = (i + 1) & KCCB_MASK) {
		status = READ_ONCE(pdev->fw.shared->kccb_status[i]);
		if (status == FWIF_STATUS_PENDING || test_bit(i, kccb->replied))
			continue;
		__set_bit(i, kccb->replied);
		if (kccb->waiting[i])
			kccb->waiting[i]->status = status;
		else if (status != FWIF_STATUS_OK)
			ccb_report_refused(pdev, pdev->fw.shared->kccb[i].type, status);
		kccb->waiting[i] = NULL;
	}
	while (kccb->done != kccb->write && test_bit(kccb->done, kccb->replied)) {
		__clear_bit(kccb->done, kccb->replied);
		kccb->done = (kccb->done + 1) & KCCB_MASK;
	}
}

/* Note the queue of a command that may make the firmware fail, for pumice_replay.c. */
static void ccb_note_suspect_locked(struct pumice_device *pdev)
{
	struct pumice_kccb *kccb = &pdev->kccb;
	const struct fwif_kccb_cmd *oldest;

	lockdep_assert_held(&kccb->lock);
	ccb_collect_locked(pdev);
	kccb->suspect = 0;
	oldest = &pdev->fw.shared->kccb[kccb->done];
	if (kccb->done != kccb->write && READ_ONCE(oldest->type) == FWIF_KCCB_KICK)
		kccb->suspect = READ_ONCE(oldest->context);
}

/**
 * pumice_kccb_close - abort waiting calls when the firmware is quiesced
 * @pdev: device
 */
void pumice_kccb_close(struct pumice_device *pdev)
{
	struct pumice_kccb *kccb = &pdev->kccb;
	u32 i;

	spin_lock(&kccb->lock);
	if (kccb->open)
		ccb_note_suspect_locked(pdev);
	kccb->open = false;
	for (i = 0; i < PUMICE_KCCB_COUNT; i++) {
		if (kccb->waiting[i])
			kccb->waiting[i]->aborted = true;
		kccb->waiting[i] = NULL;
	}
	spin_unlock(&kccb->lock);
	wake_up_all(&kccb->event);
}

/**
 * pumice_kccb_collect - process replies, and wake their waiters
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 */
void pumice_kccb_collect(struct pumice_device *pdev)
{
	spin_lock(&pdev->kccb.lock);
	if (pdev->kccb.open)
		ccb_collect_locked(pdev);
	spin_unlock(&pdev->kccb.lock);
	wake_up_all(&pdev->kccb.event);
}

/* Count the entries from the write position to the nearer of the two read positions. */
static u32 ccb_free_entries_locked(struct pumice_device *pdev)
{
	struct pumice_kccb *kccb = &pdev->kccb;
	u32 read = READ_ONCE(pdev->fw.shared->kccb_ring.read);
	u32 ours = (kccb->done - kccb->write - 1) & KCCB_MASK;

	lockdep_assert_held(&kccb->lock);
	if (read >= PUMICE_KCCB_COUNT)
		return 0;
	return min(ours, (read - kccb->write - 1) & KCCB_MASK);
}

/*
 * After wait_event_timeout() with RECHECK: @left is its result. If the wait used all of the
 * time, the interrupt was lost, and no further interrupt would report later messages.
 */
static void ccb_check_if_late(struct pumice_device *pdev, long left)
{
	if (left <= 1)
		pumice_irq_recheck(pdev);
}

/*
 * After ccb_check_if_late(): return true if nothing will reply. The reset that is due needs
 * reset.lock, which the caller of a wait may hold.
 */
static bool ccb_is_lost(struct pumice_device *pdev, long left)
{
	return !left && pumice_vgpu_is_lost(pdev);
}

/* Reserve one entry. Returns -EAGAIN if the ring is full. */
static int ccb_try_reserve(struct pumice_device *pdev)
{
	struct pumice_kccb *kccb = &pdev->kccb;
	int ret = -EAGAIN;

	spin_lock(&kccb->lock);
	if (!kccb->open) {
		ret = -ECANCELED;
	} else {
		ccb_collect_locked(pdev);
		if (ccb_free_entries_locked(pdev) > kccb->reserved) {
			kccb->reserved++;
			ret = 0;
		}
	}
	spin_unlock(&kccb->lock);
	return ret;
}

/**
 * pumice_kccb_reserve - wait for space for one command
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 *
 * Return: 0, -ECANCELED if the firmware is down, or -ETIMEDOUT if it does not free
 * space in time, or never will because others have ended the connection. After 0,
 * pumice_kccb_push_reserved(), pumice_kccb_append_reserved() or pumice_kccb_cancel() must follow.
 */
int pumice_kccb_reserve(struct pumice_device *pdev)
{
	unsigned long end = jiffies + msecs_to_jiffies(pumice_fw_timeout_ms);
	long left;
	int ret;

	for (;;) {
		ret = ccb_try_reserve(pdev);
		if (ret != -EAGAIN)
			return ret;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		left = wait_event_timeout(pdev->kccb.event,
					  (ret = ccb_try_reserve(pdev)) != -EAGAIN, RECHECK);
		if (ret != -ECANCELED)
			ccb_check_if_late(pdev, left);
		if (ret != -EAGAIN)
			return ret;
		if (ccb_is_lost(pdev, left))
			return -ETIMEDOUT;
	}
}

/**
 * pumice_kccb_cancel - release a reservation of pumice_kccb_reserve()
 * @pdev: device
 *
 * Context: Does not sleep. Acquires kccb.lock.
 */
void pumice_kccb_cancel(struct pumice_device *pdev)
{
	spin_lock(&pdev->kccb.lock);
	pdev->kccb.reserved--;
	spin_unlock(&pdev->kccb.lock);
	wake_up_all(&pdev->kccb.event);
}

/**
 * pumice_kccb_ring - notify the firmware of commands that were appended
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(), awake
 *
 * If the firmware is quiesced meanwhile, the next one has an event without a command.
 *
 * Context: Does not sleep.
 */
void pumice_kccb_ring(struct pumice_device *pdev)
{
	pumice_write(pdev, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK);
}

static int ccb_append_locked(struct pumice_device *pdev, const struct fwif_kccb_cmd *cmd,
			     struct pumice_kccb_wait *wait)
{
	struct pumice_kccb *kccb = &pdev->kccb;
	struct pumice_fw_shared *s = pdev->fw.shared;

	lockdep_assert_held(&kccb->lock);
	kccb->reserved--;
	if (!kccb->open)
		return -ECANCELED;
	s->kccb[kccb->write] = *cmd;
	WRITE_ONCE(s->kccb_status[kccb->write], FWIF_STATUS_PENDING);
	kccb->waiting[kccb->write] = wait;
	kccb->write = (kccb->write + 1) & KCCB_MASK;
	dma_wmb(); /* write the command before the index that publishes it */
	WRITE_ONCE(s->kccb_ring.write, kccb->write);
	return 0;
}

/**
 * pumice_kccb_append_reserved - write a command without waiting for its reply
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 * @cmd: command
 *
 * For callers with a lock: pumice_kccb_ring() must follow when they have released it. The
 * interrupt thread acquires their locks, and must not wait while a register is written, which
 * takes a virtual machine as long as the rest of a submission.
 *
 * Consumes a reservation.
 *
 * Context: Does not sleep. Acquires kccb.lock.
 *
 * Return: 0, or -ECANCELED if the firmware is down.
 */
int pumice_kccb_append_reserved(struct pumice_device *pdev, const struct fwif_kccb_cmd *cmd)
{
	int ret;

	spin_lock(&pdev->kccb.lock);
	ret = ccb_append_locked(pdev, cmd, NULL);
	spin_unlock(&pdev->kccb.lock);
	return ret;
}

/* Append a command, and notify the firmware before it can be quiesced. */
static int ccb_push(struct pumice_device *pdev, const struct fwif_kccb_cmd *cmd,
		    struct pumice_kccb_wait *wait)
{
	int ret;

	spin_lock(&pdev->kccb.lock);
	ret = ccb_append_locked(pdev, cmd, wait);
	if (!ret)
		pumice_kccb_ring(pdev);
	spin_unlock(&pdev->kccb.lock);
	return ret;
}

/**
 * pumice_kccb_push_reserved - send a command without waiting for its reply
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 * @cmd: command
 *
 * Consumes a reservation. Does not sleep.
 * Return: 0, or -ECANCELED if the firmware is down.
 */
int pumice_kccb_push_reserved(struct pumice_device *pdev, const struct fwif_kccb_cmd *cmd)
{
	return ccb_push(pdev, cmd, NULL);
}

/* Return true when the wait is over: replied or aborted. */
static bool ccb_reply_seen(struct pumice_device *pdev, const struct pumice_kccb_wait *wait)
{
	bool seen;

	spin_lock(&pdev->kccb.lock);
	if (pdev->kccb.open)
		ccb_collect_locked(pdev);
	seen = wait->aborted || wait->status != FWIF_STATUS_PENDING;
	spin_unlock(&pdev->kccb.lock);
	return seen;
}

/* Unregister a waiter, so that *wait is no longer written. */
static void ccb_remove_waiter(struct pumice_device *pdev, const struct pumice_kccb_wait *wait)
{
	u32 i;

	spin_lock(&pdev->kccb.lock);
	for (i = 0; i < PUMICE_KCCB_COUNT; i++)
		if (pdev->kccb.waiting[i] == wait)
			pdev->kccb.waiting[i] = NULL;
	spin_unlock(&pdev->kccb.lock);
}

/**
 * pumice_kccb_call - send a command and wait for its reply
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 * @cmd: command
 *
 * For commands that invalidate state in the firmware: a sleeping GPU has no such state.
 *
 * Return: 0; -ECANCELED if the firmware is down or is quiesced; -ETIMEDOUT if it does
 * not reply in time; -EBUSY, -ENOSPC or -EPROTO for its other replies.
 */
int pumice_kccb_call(struct pumice_device *pdev, const struct fwif_kccb_cmd *cmd)
{
	struct pumice_kccb_wait wait = { .status = FWIF_STATUS_PENDING };
	unsigned long end;
	long left;
	int ret;

	if (ccb_asleep(pdev))
		return 0;
	ret = pumice_kccb_reserve(pdev);
	if (ret)
		return ret;
	ret = ccb_push(pdev, cmd, &wait);
	if (ret)
		return ret;
	/* Starts here: the time spent waiting for space does not count as time to reply. */
	end = jiffies + msecs_to_jiffies(pumice_fw_timeout_ms);
	while (!ccb_reply_seen(pdev, &wait) && time_before(jiffies, end)) {
		left = wait_event_timeout(pdev->kccb.event, ccb_reply_seen(pdev, &wait),
					  RECHECK);
		if (!READ_ONCE(wait.aborted))
			ccb_check_if_late(pdev, left);
		if (ccb_is_lost(pdev, left))
			break;
	}
	ccb_remove_waiter(pdev, &wait);
	if (wait.aborted)
		return -ECANCELED;
	switch (wait.status) {
	case FWIF_STATUS_OK:
		return 0;
	case FWIF_STATUS_PENDING:
		return -ETIMEDOUT;
	case FWIF_STATUS_BUSY:
		return -EBUSY;
	case FWIF_STATUS_NO_SPACE:
		return -ENOSPC;
	default:
		return -EPROTO;
	}
}

static void ccb_process_message(struct pumice_device *pdev, const struct fwif_fwccb_msg *msg)
{
	switch (msg->type) {
	case FWIF_FWCCB_JOB_FAULT:
		/* The job's result has the same information and more; pumice_queue.c reads it. */
		break;
	case FWIF_FWCCB_ERROR:
		drm_err_ratelimited(&pdev->drm,
				    "firmware error: %s, context %u, offset 0x%llx" PUMICE_SEE_DUMP,
				    pumice_fw_name(pumice_fwif_error_name(msg->code)),
				    msg->context_id, msg->addr);
		pumice_reset_schedule(pdev);
		break;
	case FWIF_FWCCB_FREE_LIST_GROW:
		pumice_free_list_wanted(pdev, msg->code);
		break;
	default:
		drm_err_ratelimited(&pdev->drm, "firmware message of unknown type %u ignored\n",
				    msg->type);
	}
}

/**
 * pumice_fwccb_drain - process all messages of the firmware
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 *
 * Called by the interrupt thread only. Processes at most as many messages as the ring
 * has entries, regardless of changes of the firmware's index meanwhile.
 */
void pumice_fwccb_drain(struct pumice_device *pdev)
{
	struct pumice_fw_shared *s = pdev->fw.shared;
	u32 write = READ_ONCE(s->fwccb_ring.write);
	u32 read = s->fwccb_ring.read & FWCCB_MASK;
	struct fwif_fwccb_msg msg;

	if (write >= PUMICE_FWCCB_COUNT) {
		drm_err_ratelimited(&pdev->drm, "firmware ring index %u out of range, maximum %u\n",
				    write, PUMICE_FWCCB_COUNT - 1);
		pumice_reset_schedule(pdev);
		return;
	}
	dma_rmb(); /* read the index before the messages that it publishes */
	while (read != write) {
		pumice_copy_once(&msg, &s->fwccb[read], sizeof(msg));
		read = (read + 1) & FWCCB_MASK;
		ccb_process_message(pdev, &msg);
	}
	WRITE_ONCE(s->fwccb_ring.read, read);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_ccb_test.c"
#endif
