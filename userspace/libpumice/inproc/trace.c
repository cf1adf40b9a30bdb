// SPDX-License-Identifier: MIT
/*
 * In-process backend: the event trace (registers TRACE).
 *
 * The GPU overwrites the oldest records regardless of the reader: a copy of a record
 * is consistent if its sequence number is the expected one before and after the copy.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inproc.h"

/*
 * A record that is not complete after this time is lost. Only one of a full round of the ring can
 * be: of two events in one entry the second is dropped if the first is still being written.
 * Otherwise its writer is a thread that waits for a processor, on a busy machine for long.
 */
#define LATE_NS		5000000000u

static void start(struct inproc_device *d, const struct inproc_trace *t)
{
	pumice_gpu_mmio_write(d->gpu, 0, PUMICE_TRACE_BASE, t->buffer.addr, 8);
	pumice_gpu_mmio_write(d->gpu, 0, PUMICE_TRACE_ENTRIES, t->entries, 4);
	pumice_gpu_mmio_write(d->gpu, 0, PUMICE_TRACE_CTRL,
			      PUMICE_TRACE_CTRL__ENABLE__MASK |
			      PUMICE_TRACE_CTRL__EXTENDED__MASK, 4);
	__atomic_store_n(&d->fw->boot.trace, 1, __ATOMIC_RELAXED);
}

int inproc_trace_open(struct pumice_device *dev, u32 entries, struct pumice_trace **out)
{
	struct inproc_device *d = inproc_device(dev);
	struct inproc_trace *t = calloc(1, sizeof(*t));
	int err = 0;

	if (d->os) {
		free(t);
		return fail(dev, EOPNOTSUPP, "trace: virtual GPU %u has none; the trace of number 0 "
			    "has the events of all", d->os);
	}
	if (!t)
		return fail(dev, ENOMEM, "trace: out of memory");
	t->base.dev = dev;
	t->entries = entries;
	pthread_mutex_lock(&d->lock);
	if (d->trace)
		err = fail(dev, EBUSY, "trace: the device has another trace; close it");
	else if (fw_buffer_create(d, (u64)entries * PUMICE_TRACE_RECORD_WORDS * 4, &t->buffer))
		err = fail(dev, ENOMEM, "trace: %u events: " OUT_OF_GPU_MEMORY, entries);
	if (!err) {
		d->trace = t;
		start(d, t);
		*out = &t->base;
	}
	pthread_mutex_unlock(&d->lock);
	if (err)
		free(t);
	return err;
}

/* Return whether words are event n. The memory is zero at first, and no event has kind 0. */
static bool is_event(const u32 *words, u64 n)
{
	struct pumice_trace_record record;

	pumice_trace_record_unpack(words, &record);
	return record.kind && record.sequence == (u16)(n + 1);
}

/* Copy the words of a record, in order. */
static void copy_words(const u32 *from, u32 *to)
{
	u32 i;

	for (i = 0; i < PUMICE_TRACE_RECORD_WORDS; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
}

/*
 * Copy event n if it is complete, and invalidate it: in a ring of 2^16 entries or more the event
 * that replaces it has the same sequence number, and must not be mistaken for a complete one.
 * The GPU invalidates the sequence number before it overwrites a record: a copy between two reads
 * of the same number is consistent.
 */
static bool fetch_event(const struct inproc_trace *t, u64 n, u32 *words)
{
	u32 *from = (u32 *)t->buffer.cpu + (n % t->entries) * PUMICE_TRACE_RECORD_WORDS;
	u32 before[PUMICE_TRACE_RECORD_WORDS], after[PUMICE_TRACE_RECORD_WORDS];
	u32 *last = &from[PUMICE_TRACE_RECORD_WORDS - 1];

	copy_words(from, before);
	copy_words(from, words);
	copy_words(from, after);
	if (!is_event(before, n) || !is_event(words, n) || !is_event(after, n))
		return false;
	__atomic_compare_exchange_n(last, &after[PUMICE_TRACE_RECORD_WORDS - 1],
				    (u32)(u16)n << 16, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return true;
}

static u64 read_written(struct inproc_device *d)
{
	return pumice_gpu_mmio_read(d->gpu, 0, PUMICE_TRACE_WRITTEN, 8);
}

/* Skip the events that have been overwritten. */
static void skip_overwritten(struct inproc_trace *t, u64 *lost)
{
	if (t->written - t->next <= t->entries)
		return;
	*lost += t->written - t->next - t->entries;
	t->next = t->written - t->entries;
}

/*
 * Copy a batch of events, up to the first that is not complete. The register is read only here:
 * reading it takes the device lock, which the observed GPU uses.
 */
static void copy_batch(struct inproc_device *d, struct inproc_trace *t, u64 *lost)
{
	u64 first, overwritten;

	if (t->next == t->written)
		t->written = read_written(d);
	skip_overwritten(t, lost);
	first = t->next;
	t->index = t->count = 0;
	while (t->count < INPROC_TRACE_BATCH && t->next < t->written &&
	       fetch_event(t, t->next, t->words[t->count])) {
		t->next++;
		t->count++;
	}
	if (first == t->written)
		return;
	t->written = read_written(d);
	overwritten = t->written - first > t->entries ? t->written - first - t->entries : 0;
	if (t->entries <= UINT16_MAX || !overwritten)
		return;
	/* Their sequence numbers may be those of later events. */
	t->index = overwritten < t->count ? (u32)overwritten : t->count;
	*lost += t->index;
}

/*
 * Skip the next event, as lost, if it has not been complete for LATE_NS. It is not lost earlier,
 * however many follow it: there is room for them, or else skip_overwritten() counts it. One wait
 * is for all events that had begun when it started. Return: whether it was lost.
 */
static bool skip_late(struct inproc_trace *t, u64 *lost)
{
	u64 now = now_ns();

	if (t->next == t->written)
		return false;
	if (t->next >= t->wait_end) {
		t->wait_end = t->written;
		t->wait_since = now;
	}
	if (now - t->wait_since < LATE_NS)
		return false;
	t->next++;
	++*lost;
	return true;
}

int inproc_trace_next(struct pumice_trace *base, u32 *words, bool *have, u64 *lost)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_trace *t = (struct inproc_trace *)base;

	if (t->index == t->count)
		do
			copy_batch(d, t, lost);
		while (t->index == t->count && skip_late(t, lost));
	*have = t->index < t->count;
	if (*have)
		memcpy(words, t->words[t->index++], sizeof(t->words[0]));
	return 0;
}

bool inproc_trace_is_read(struct pumice_trace *base)
{
	const struct inproc_trace *t = (struct inproc_trace *)base;

	return t->index == t->count && t->next == read_written(inproc_device(base->dev));
}

void inproc_trace_close(struct pumice_trace *base)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_trace *t = (struct inproc_trace *)base;

	pthread_mutex_lock(&d->lock);
	__atomic_store_n(&d->fw->boot.trace, 0, __ATOMIC_RELAXED);
	pumice_gpu_mmio_write(d->gpu, 0, PUMICE_TRACE_CTRL, 0, 4);
	fw_buffer_destroy(d, &t->buffer);
	d->trace = NULL;
	pthread_mutex_unlock(&d->lock);
	free(t);
}
