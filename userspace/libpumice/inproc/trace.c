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

struct inproc_trace {
	struct pumice_trace base;
	struct fw_area area;
	u32 entries;
	u64 next;	/* number of the event to be read next */
};

static void start(struct inproc_device *d, const struct inproc_trace *t)
{
	pumice_gpu_mmio_write(d->gpu, 0, PUMICE_TRACE_BASE, t->area.addr, 8);
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

	if (!t)
		return fail(dev, ENOMEM, "trace: out of memory");
	t->base.dev = dev;
	t->entries = entries;
	pthread_mutex_lock(&d->lock);
	if (d->trace)
		err = fail(dev, EBUSY, "trace: another trace is open");
	else if (fw_area_create(d, (u64)entries * PUMICE_TRACE_RECORD_WORDS * 4, &t->area))
		err = fail(dev, ENOMEM, "trace: cannot allocate GPU memory for %u events", entries);
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

/* Whether words are event n. The memory is zero at first, and 0 is no event's kind. */
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
 * that replaces it has the same sequence number, and must not be taken for complete before it is.
 * The GPU invalidates the sequence number before it overwrites a record: a copy between two reads
 * of the same number is consistent.
 */
static bool take_event(const struct inproc_trace *t, u64 n, u32 *words)
{
	u32 *from = (u32 *)t->area.cpu + (n % t->entries) * PUMICE_TRACE_RECORD_WORDS;
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

int inproc_trace_next(struct pumice_trace *base, u32 *words, bool *have, u64 *lost)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_trace *t = (struct inproc_trace *)base;
	u64 written;

	*have = false;
	do {
		written = pumice_gpu_mmio_read(d->gpu, 0, PUMICE_TRACE_WRITTEN, 8);
		if (t->next == written)
			return 0;
		if (written - t->next > t->entries) {
			*lost += written - t->next - t->entries;
			t->next = written - t->entries;
		}
		*have = take_event(t, t->next, words);
		/* Not complete yet; with so many after it, it is lost. */
		if (!*have && written - t->next <= t->entries / 2)
			return 0;
		t->next++;
		*lost += !*have;
	} while (!*have);
	return 0;
}

void inproc_trace_close(struct pumice_trace *base)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_trace *t = (struct inproc_trace *)base;

	pthread_mutex_lock(&d->lock);
	__atomic_store_n(&d->fw->boot.trace, 0, __ATOMIC_RELAXED);
	pumice_gpu_mmio_write(d->gpu, 0, PUMICE_TRACE_CTRL, 0, 4);
	fw_area_destroy(d, &t->area);
	d->trace = NULL;
	pthread_mutex_unlock(&d->lock);
	free(t);
}
