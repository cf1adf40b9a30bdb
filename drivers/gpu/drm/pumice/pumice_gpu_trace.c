// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The GPU's event trace: the debugfs file gpu_trace.
 *
 * While the file is open the GPU writes events (trace_record of trace.xml) to
 * a ring in memory, and does not sleep. Each read returns the complete records written
 * since the previous read, oldest first; 0 bytes if there are none. Records overwritten
 * before they were read, and those never completed, are missing, which the records' sequence
 * numbers show; the file state has their total.
 *
 * A reset takes gpu_trace.lock to start the new ring, and fences may wait for the
 * reset: nothing is allocated and no user memory is accessed under it.
 *
 * Limits: one reader at a time. A GPU reset starts a new ring, and with it new sequence
 * numbers; records of the old one that were not read are lost, and not counted. Neither are those
 * that were not read when the file is closed. A record whose writer, a thread of the device, was
 * interrupted for exactly two laps of the ring is returned as the one that is due then.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "pumice_fw.h"
#include "pumice_fw_mem.h"
#include "pumice_formats.h"
#include "pumice_gpu_trace.h"
#include "pumice_pm.h"

#define ENTRIES		32768u
#define RECORD_BYTES	(PUMICE_TRACE_RECORD_WORDS * sizeof(u32))
/*
 * A record that is not complete after this number of later records, or after this time, is
 * lost; the reader skips it. Some never are: of two events in one entry the second is
 * dropped if the first is still being written.
 */
#define LATE		(ENTRIES / 2)
#define LATE_MS		1000
/* Number of records that are copied under the lock at a time. */
#define CHUNK		128u
/* Number of sequence numbers: that of a record is used again after this number of records. */
#define SEQUENCES	BIT_ULL(16)
/* The lowest bit of the sequence number in a record's last word: odd and even entries differ. */
#define SEQUENCE_LOW_BIT	BIT(16)
/* Minor version of the register map that has TRACE_FW_EVENT. */
#define FW_EVENT_MINOR	3

/* Start the GPU's trace writer; the GPU must be awake. */
static void gpu_trace_start_locked(struct pumice_device *pdev)
{
	struct pumice_gpu_trace *trace = &pdev->gpu_trace;

	lockdep_assert_held(&trace->lock);
	trace->read = 0;
	trace->awaited = 0;
	memset(trace->ring->cpu, 0, ENTRIES * RECORD_BYTES);
	pumice_write64(pdev, PUMICE_TRACE_BASE, trace->ring->addr);
	pumice_write(pdev, PUMICE_TRACE_ENTRIES, ENTRIES);
	/* Older devices ignore EXTENDED: their records lack what it adds. */
	pumice_write(pdev, PUMICE_TRACE_CTRL,
		     PUMICE_TRACE_CTRL__ENABLE__MASK | PUMICE_TRACE_CTRL__EXTENDED__MASK);
	/* Older devices have no register for the firmware's events. */
	if (PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, pdev->version) >= FW_EVENT_MINOR)
		WRITE_ONCE(pdev->fw.shared->boot.trace, 1);
}

/**
 * pumice_gpu_trace_restore - restart an open trace after a GPU reset
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); awake
 *
 * Context: May sleep. Acquires gpu_trace.lock.
 */
void pumice_gpu_trace_restore(struct pumice_device *pdev)
{
	mutex_lock(&pdev->gpu_trace.lock);
	if (pdev->gpu_trace.ring && pdev->gpu_trace.ring->cpu)
		gpu_trace_start_locked(pdev);
	mutex_unlock(&pdev->gpu_trace.lock);
}

/**
 * pumice_gpu_trace_lost - return the number of records that no reader got
 * @pdev: device
 *
 * Context: May sleep. Acquires gpu_trace.lock.
 *
 * Return: total of all traces since the driver was bound.
 */
u64 pumice_gpu_trace_lost(struct pumice_device *pdev)
{
	u64 lost;

	mutex_lock(&pdev->gpu_trace.lock);
	lost = pdev->gpu_trace.lost;
	mutex_unlock(&pdev->gpu_trace.lock);
	return lost;
}

static int gpu_trace_open_locked(struct pumice_device *pdev, struct pumice_fw_obj *ring)
{
	struct pumice_gpu_trace *trace = &pdev->gpu_trace;

	lockdep_assert_held(&trace->lock);
	if (trace->ring)
		return -EBUSY;
	trace->ring = ring;
	gpu_trace_start_locked(pdev);
	return 0;
}

/* Start the trace; the GPU must be awake. */
static int gpu_trace_start(struct pumice_device *pdev)
{
	struct pumice_fw_obj *ring = pumice_fw_obj_create(pdev, NULL, ENTRIES * RECORD_BYTES);
	int ret;

	if (IS_ERR(ring))
		return PTR_ERR(ring);
	mutex_lock(&pdev->gpu_trace.lock);
	ret = gpu_trace_open_locked(pdev, ring);
	mutex_unlock(&pdev->gpu_trace.lock);
	if (ret)
		pumice_fw_obj_destroy(pdev, ring);
	return ret;
}

static int gpu_trace_open(struct inode *inode, struct file *file)
{
	struct pumice_device *pdev = inode->i_private;
	int idx, ret;

	if (!drm_dev_enter(&pdev->drm, &idx))
		return -ENODEV;
	ret = pumice_pm_get(pdev);
	if (!ret) {
		ret = gpu_trace_start(pdev);
		if (ret)
			pumice_pm_put(pdev);
	}
	drm_dev_exit(idx);
	file->private_data = pdev;
	if (!ret)
		drm_dev_get(&pdev->drm);
	return ret ?: stream_open(inode, file);
}

static int gpu_trace_release(struct inode *inode, struct file *file)
{
	struct pumice_device *pdev = file->private_data;
	struct pumice_gpu_trace *trace = &pdev->gpu_trace;
	struct pumice_fw_obj *ring;
	int idx;

	mutex_lock(&trace->lock);
	ring = trace->ring;
	trace->ring = NULL;
	if (drm_dev_enter(&pdev->drm, &idx)) {
		WRITE_ONCE(pdev->fw.shared->boot.trace, 0);
		pumice_write(pdev, PUMICE_TRACE_CTRL, 0);
		drm_dev_exit(idx);
	}
	mutex_unlock(&trace->lock);
	pumice_fw_obj_destroy(pdev, ring);
	pumice_pm_put(pdev);
	drm_dev_put(&pdev->drm);
	return 0;
}

/* Return a record's last word with a sequence number that its entry of the ring never has. */
static u32 gpu_trace_invalid_word(u32 last)
{
	return last ^ SEQUENCE_LOW_BIT;
}

/*
 * Copy the record @read if it is complete. The GPU may replace it at any time, and invalidates
 * the sequence number before it does: a copy between two reads of the same number is consistent.
 *
 * The record is then invalidated. Should the GPU drop the next event of the entry and the one after
 * it, whose sequence number is the same again, this one is not copied a second time.
 */
static bool gpu_trace_copy_record(const struct pumice_gpu_trace *trace, u32 *record)
{
	u32 *from = trace->ring->cpu + (trace->read & (ENTRIES - 1)) * RECORD_BYTES;
	u32 *last_word = &from[PUMICE_TRACE_RECORD_WORDS - 1];
	const u32 last = READ_ONCE(*last_word);
	struct pumice_trace_record r;

	dma_rmb(); /* read the sequence before the record */
	pumice_copy_once(record, from, RECORD_BYTES);
	dma_rmb(); /* and again after it */
	record[PUMICE_TRACE_RECORD_WORDS - 1] = last;
	pumice_trace_record_unpack(record, &r);
	/* The memory is zero at first, and no event has kind 0. */
	if (READ_ONCE(*last_word) != last || !r.kind || r.sequence != (u16)(trace->read + 1))
		return false;
	cmpxchg(last_word, last, gpu_trace_invalid_word(last));
	return true;
}

static void gpu_trace_lose(struct pumice_gpu_trace *trace, u64 count)
{
	trace->read += count;
	trace->lost += count;
}

/*
 * Return true if the next record, which is not complete, is lost. One wait is for all records
 * that the GPU has numbered when it begins: those still not complete at its end are lost together.
 */
static bool gpu_trace_next_is_lost(struct pumice_gpu_trace *trace, u64 written, ktime_t now)
{
	if ((s64)(trace->awaited - trace->read) <= 0) {
		trace->awaited = written;
		trace->awaited_since = now;
	}
	return written - trace->read > LATE ||
	       ktime_ms_delta(now, trace->awaited_since) >= LATE_MS;
}

/* Copy the next complete record; false if there is none, or the next is not complete yet. */
static bool gpu_trace_copy_next(struct pumice_gpu_trace *trace, u64 written, ktime_t now,
				u32 *record)
{
	while (trace->read != written) {
		if (gpu_trace_copy_record(trace, record)) {
			trace->read++;
			return true;
		}
		if (!gpu_trace_next_is_lost(trace, written, now))
			return false;
		gpu_trace_lose(trace, 1);
	}
	return false;
}

/*
 * Skip the records that were overwritten, however many they are. A GPU that was reset and whose
 * trace is not restarted yet has written fewer than were read.
 */
static void gpu_trace_skip_overwritten(struct pumice_gpu_trace *trace, u64 written)
{
	const s64 unread = written - trace->read;

	if (unread > (s64)ENTRIES)
		gpu_trace_lose(trace, unread - ENTRIES);
}

/* Copy at most @count of the records before number @written. Returns how many. */
static u32 gpu_trace_copy_available(struct pumice_gpu_trace *trace, u64 written, ktime_t now,
				    void *records, u32 count)
{
	u32 done = 0;

	if ((s64)(written - trace->read) <= 0)
		return 0;
	while (done < count &&
	       gpu_trace_copy_next(trace, written, now, records + done * RECORD_BYTES))
		done++;
	return done;
}

/*
 * Return how many of @count copied records, of which @first is the lowest number, are valid: all,
 * or none if the reader was stopped for so long meanwhile that the sequence number of one may be
 * that of a later record.
 */
static u32 gpu_trace_check_copied(struct pumice_gpu_trace *trace, u64 first, u64 written, u32 count)
{
	/* Negative if the GPU was reset meanwhile, when it writes no records. */
	if ((s64)(written - first) <= (s64)SEQUENCES)
		return count;
	trace->lost += count;
	return 0;
}

/* Copy at most @count records. Returns their number, or -ENODEV. */
static int gpu_trace_copy_records_locked(struct pumice_device *pdev, void *records, u32 count)
{
	struct pumice_gpu_trace *trace = &pdev->gpu_trace;
	u64 written, first;
	u32 done;

	lockdep_assert_held(&trace->lock);
	if (!trace->ring->cpu)
		return -ENODEV;
	written = pumice_read64(pdev, PUMICE_TRACE_WRITTEN);
	dma_rmb(); /* read the count before the records */
	gpu_trace_skip_overwritten(trace, written);
	first = trace->read;
	done = gpu_trace_copy_available(trace, written, ktime_get(), records, count);
	if (!done)
		return 0;
	written = pumice_read64(pdev, PUMICE_TRACE_WRITTEN);
	return gpu_trace_check_copied(trace, first, written, done);
}

/* Count records that were copied from the ring and did not reach the user. */
static void gpu_trace_count_lost(struct pumice_device *pdev, u32 count)
{
	mutex_lock(&pdev->gpu_trace.lock);
	pdev->gpu_trace.lost += count;
	mutex_unlock(&pdev->gpu_trace.lock);
}

static int gpu_trace_copy_records(struct pumice_device *pdev, void *records, u32 count)
{
	int ret = -ENODEV, idx;

	if (!drm_dev_enter(&pdev->drm, &idx))
		return ret;
	mutex_lock(&pdev->gpu_trace.lock);
	ret = gpu_trace_copy_records_locked(pdev, records, count);
	mutex_unlock(&pdev->gpu_trace.lock);
	drm_dev_exit(idx);
	return ret;
}

/*
 * Copy chunks from the ring to the user. Records of a chunk that cannot be stored are lost; the
 * chunks before it are returned.
 */
static ssize_t gpu_trace_read_chunks(struct pumice_device *pdev, char __user *to, size_t count,
				     void *records)
{
	size_t done = 0;
	int got = 0;

	while (done < count) {
		got = gpu_trace_copy_records(pdev, records, min_t(size_t, count - done, CHUNK));
		if (got <= 0)
			break;
		if (copy_to_user(to + done * RECORD_BYTES, records, got * RECORD_BYTES)) {
			gpu_trace_count_lost(pdev, got);
			got = -EFAULT;
			break;
		}
		done += got;
		if (fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return done ? done * RECORD_BYTES : got;
}

static ssize_t gpu_trace_read(struct file *file, char __user *to, size_t bytes, loff_t *pos)
{
	struct pumice_device *pdev = file->private_data;
	void *records;
	ssize_t ret;

	if (bytes < RECORD_BYTES)
		return -EINVAL;
	records = kmalloc_array(CHUNK, RECORD_BYTES, GFP_KERNEL);
	if (!records)
		return -ENOMEM;
	ret = gpu_trace_read_chunks(pdev, to, bytes / RECORD_BYTES, records);
	kfree(records);
	return ret;
}

static const struct file_operations trace_fops = {
	.owner = THIS_MODULE,
	.open = gpu_trace_open,
	.read = gpu_trace_read,
	.release = gpu_trace_release,
};

/**
 * pumice_gpu_trace_init - create the file
 * @pdev: device
 * @root: its directory in debugfs
 */
void pumice_gpu_trace_init(struct pumice_device *pdev, struct dentry *root)
{
	debugfs_create_file("gpu_trace", 0400, root, pdev, &trace_fops);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_gpu_trace_test.c"
#endif
