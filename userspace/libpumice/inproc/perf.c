// SPDX-License-Identifier: MIT
/*
 * In-process backend: performance monitors (hw/perf.h, struct fwif_perf),
 * statistics, and counts of the memory hierarchy.
 *
 * The firmware adds the counts of each job to the
 * monitor's buffer, from which a monitor reads its counters.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "inproc.h"
#include "perf.h"

#define NS_PER_S 1000000000u

#define DESCRIBE(counter, block, detailed, what, text) \
	[PUMICE_PERF_##counter] = { \
		.flags = (detailed ? PUMICE_PERF_DETAILED : 0) | \
			 (1u << PUMICE_PERF_##block & PUMICE_PERF_SHARED ? \
			  PUMICE_PERF_GLOBAL : 0), \
		.name = #counter, .category = #block, .unit = what, .description = text, \
	},

static const struct pumice_perf_info counters[] = { PUMICE_PERF_COUNTERS(DESCRIBE) };

int inproc_perf_counter(struct pumice_device *dev, u32 counter, struct pumice_perf_info *info)
{
	(void)dev;
	*info = counters[counter];
	return 0;
}

/* Read a counter of the whole device from its register. */
static u64 read_counter(struct inproc_device *d, enum pumice_perf_counter counter)
{
	return pumice_gpu_mmio_read(d->gpu, 0, PUMICE_PERF_COUNTER(counter), 8);
}

/* Convert a counter of ns to ticks. */
static u64 read_ticks(struct inproc_device *d, enum pumice_perf_counter counter)
{
	return (u64)((unsigned __int128)read_counter(d, counter) * d->base.info.clock_hz /
		     NS_PER_S);
}

static void count_contexts(struct inproc_device *d, struct pumice_device_stats *stats)
{
	const struct inproc_context *c;

	for (c = d->contexts; c; c = c->next) {
		if (((struct inproc_vm *)c->base.vm)->binder == c)
			continue;
		stats->contexts += !c->first;
		stats->contexts_busy += context_busy(c) && !(c->first && context_busy(c->first));
		stats->jobs_firmware += context_busy(c);
	}
}

int inproc_stats(struct pumice_device *dev, struct pumice_device_stats *stats)
{
	struct inproc_device *d = inproc_device(dev);

	pthread_mutex_lock(&d->lock);
	event_process(d);
	*stats = (struct pumice_device_stats){
		.time = pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_CLOCK, 8),
		.compute_busy = read_ticks(d, PUMICE_PERF_CDM_BUSY),
		.usc_busy = read_counter(d, PUMICE_PERF_USC_BUSY),
		.jobs_submitted = d->jobs_submitted,
		.jobs_done = d->jobs_done,
		.jobs_faulted = d->jobs_faulted,
		.mmu_faults = read_counter(d, PUMICE_PERF_MMU_FAULTS),
		.switches = __atomic_load_n(&d->fw->boot.switches, __ATOMIC_RELAXED),
		.tasks = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_PDS_TASKS, 4),
		.waves = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_PDS_WAVES, 4),
		.geometry_busy = read_ticks(d, PUMICE_PERF_VDM_BUSY),
		.fragment_busy = read_ticks(d, PUMICE_PERF_PDM_BUSY),
		.transfer_busy = read_ticks(d, PUMICE_PERF_TDM_BUSY),
		.partial_renders = read_counter(d, PUMICE_PERF_PM_PARTIALS),
		.rays_busy = read_ticks(d, PUMICE_PERF_RDM_BUSY),
	};
	count_contexts(d, stats);
	pthread_mutex_unlock(&d->lock);
	return 0;
}

static struct perf_buffer *make_buffer(struct inproc_device *d)
{
	struct perf_buffer *buffer = calloc(1, sizeof(*buffer));

	if (!buffer)
		return NULL;
	buffer->refs = 1;
	if (fw_buffer_create(d, sizeof(struct fwif_perf), &buffer->buffer)) {
		free(buffer);
		return NULL;
	}
	return buffer;
}

void perf_put(struct inproc_device *d, struct perf_buffer *buffer)
{
	if (--buffer->refs)
		return;
	fw_buffer_destroy(d, &buffer->buffer);
	free(buffer);
}

struct perf_buffer *perf_find(struct inproc_device *d, u32 id)
{
	const struct inproc_perfmon *pm;

	for (pm = d->perfmons; pm; pm = pm->next)
		if (pm->base.id == id)
			return pm->buffer;
	return NULL;
}

/* Allocate a buffer and an id, and add it to the list. Called with the lock held. */
static int register_perfmon(struct inproc_device *d, struct inproc_perfmon *pm)
{
	const struct inproc_perfmon *other;
	u32 count = 0;

	for (other = d->perfmons; other; other = other->next)
		count++;
	if (count == MAX_PERFMONS)
		return fail(&d->base, ENOSPC, "perfmon: all %u monitors of the device exist; destroy one",
			    count);
	pm->buffer = make_buffer(d);
	if (!pm->buffer)
		return fail(&d->base, ENOMEM, "perfmon: " OUT_OF_GPU_MEMORY);
	do
		pm->base.id = ++d->last_perfmon;
	while (!pm->base.id || perf_find(d, pm->base.id));
	pm->next = d->perfmons;
	d->perfmons = pm;
	return 0;
}

int inproc_perfmon_create(struct pumice_device *dev, const u32 *numbers, u32 count,
			  struct pumice_perfmon **out)
{
	struct inproc_device *d = inproc_device(dev);
	struct inproc_perfmon *pm = calloc(1, sizeof(*pm));
	int err;
	u32 i;

	if (!pm)
		return fail(dev, ENOMEM, "perfmon: out of memory");
	pm->base.dev = dev;
	pm->base.count = count;
	for (i = 0; i < count; i++)
		pm->counters[i] = numbers[i];
	pthread_mutex_lock(&d->lock);
	err = register_perfmon(d, pm);
	pthread_mutex_unlock(&d->lock);
	if (err)
		free(pm);
	else
		*out = &pm->base;
	return err;
}

void inproc_perfmon_destroy(struct pumice_perfmon *base)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_perfmon *pm = (struct inproc_perfmon *)base, **link;

	pthread_mutex_lock(&d->lock);
	for (link = &d->perfmons; *link != pm; link = &(*link)->next)
		;
	*link = pm->next;
	perf_put(d, pm->buffer);
	pthread_mutex_unlock(&d->lock);
	free(pm);
}

int inproc_perfmon_read(struct pumice_perfmon *base, u32 flags, u64 *values)
{
	struct inproc_device *d = inproc_device(base->dev);
	struct inproc_perfmon *pm = (struct inproc_perfmon *)base;
	const volatile struct fwif_perf *perf = pm->buffer->buffer.cpu;
	u64 now;
	int err = 0;
	u32 i;

	pthread_mutex_lock(&d->lock);
	event_process(d);
	if (pm->buffer->busy)
		err = fail_perfmon_busy(base->dev);
	for (i = 0; i < base->count && !err; i++) {
		now = perf->value[pm->counters[i]];
		values[i] = now - pm->zero[i];
		if (flags & PUMICE_PERFMON_RESET)
			pm->zero[i] = now;
	}
	pthread_mutex_unlock(&d->lock);
	return err;
}

/* The lock protects the selection, which only this function uses, on any virtual GPU. */
int inproc_hierarchy_row(struct pumice_device *dev, u32 row, u64 *value)
{
	struct inproc_device *d = inproc_device(dev);
	u32 n;

	virtual_run_lock(d);
	pumice_gpu_mmio_write(d->gpu, 0, PUMICE_HIER_SELECT, row, 4);
	for (n = 0; n < PUMICE_HIER_VALUE_COUNT; n++)
		value[n] = pumice_gpu_mmio_read(d->gpu, 0, PUMICE_HIER_VALUE(n), 8);
	virtual_run_unlock(d);
	return 0;
}

void inproc_hierarchy_bus(struct pumice_device *dev, u32 client,
			  struct pumice_hierarchy_bus *counts)
{
	struct pumice_gpu_bus bus = { 0 };

	pumice_gpu_bus(inproc_device(dev)->gpu, client, &bus);
	counts->requests = bus.requests;
	counts->read_bytes = bus.read_bytes;
	counts->written_bytes = bus.written_bytes;
}

int inproc_finding(struct pumice_device *dev, u32 number, char *text, size_t bytes)
{
	const struct inproc_device *d = inproc_device(dev);
	char finding[PUMICE_FINDING_BYTES];

	if (!pumice_gpu_finding_of(d->gpu, d->os, number, finding))
		return -ENOENT;
	snprintf(text, bytes, "%s", finding);
	return 0;
}

const char *inproc_mode(struct pumice_device *dev)
{
	return pumice_gpu_mode(inproc_device(dev)->gpu);
}

int inproc_set_mode(struct pumice_device *dev, const char *mode)
{
	return pumice_gpu_set_mode(inproc_device(dev)->gpu, mode);
}

u32 inproc_findings_clears(struct pumice_device *dev)
{
	return pumice_gpu_findings_clears(inproc_device(dev)->gpu);
}

/* The GPU counts those of all virtual GPUs together. */
u64 inproc_findings_lost(struct pumice_device *dev)
{
	const struct inproc_device *d = inproc_device(dev);

	return d == d->first ? pumice_gpu_findings_lost(d->gpu) : 0;
}
