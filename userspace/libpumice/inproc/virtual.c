// SPDX-License-Identifier: MIT
/*
 * In-process backend: virtual GPUs of one GPU (Documentation/firmware.rst, "Virtual GPUs").
 *
 * Number 0 creates the GPU and boots the firmware. Each other one is a device with memory that only
 * it may access, and a connection to the firmware. The GPU, and so number 0, exists until the last
 * of them is closed.
 *
 * Locks: inproc_shared.lock, then inproc_device.lock, then run_lock, then irq_lock, then
 * event_lock. Threads of the GPU take the last two only.
 */
#include <errno.h>
#include <stdlib.h>

#include "inproc.h"

void virtual_init(struct inproc_device *d)
{
	struct inproc_shared *s = &d->shared;

	d->first = d;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->run_lock, NULL);
	pthread_mutex_init(&s->irq_lock, NULL);
	s->device[0] = d;
	s->open = 1;
}

void virtual_run_lock(struct inproc_device *d)
{
	pthread_mutex_lock(&d->first->shared.run_lock);
}

void virtual_run_unlock(struct inproc_device *d)
{
	pthread_mutex_unlock(&d->first->shared.run_lock);
}

void virtual_raise_irq(struct inproc_device *first, u32 os)
{
	struct inproc_shared *s = &first->shared;
	u32 i;

	pthread_mutex_lock(&s->irq_lock);
	/* Number 0 has the interrupt of firmware that has stopped, which concerns all. */
	for (i = os; i < (os ? os + 1 : first->oses); i++)
		if (s->device[i])
			event_raise(s->device[i]);
	pthread_mutex_unlock(&s->irq_lock);
}

int virtual_set_memory(struct inproc_device *d)
{
	struct pumice_mem_region region[PUMICE_OS_COUNT];
	struct inproc_shared *s = &d->first->shared;
	u32 os, count = 0;
	int err;

	pthread_mutex_lock(&s->run_lock);
	for (os = 0; os < d->oses; os++) {
		const struct inproc_device *of = s->device[os];

		if (of && of->ram)
			region[count++] = (struct pumice_mem_region){
				.addr = of->ram_base, .size = of->ram_bytes, .host = of->ram,
				.oses = (u8)(1u << os),
			};
	}
	err = pumice_gpu_set_memory(d->gpu, region, count);
	pthread_mutex_unlock(&s->run_lock);
	return err;
}

/* Set the device of a number, or NULL; the lock of the table's writers is held. */
static void set_device(struct inproc_device *first, u32 number, struct inproc_device *d)
{
	pthread_mutex_lock(&first->shared.irq_lock);
	first->shared.device[number] = d;
	pthread_mutex_unlock(&first->shared.irq_lock);
}

/* Disconnect, and remove the memory from the GPU's map; the lock of the GPU is held. */
static void remove_device(struct inproc_device *d)
{
	struct inproc_device *first = d->first;

	pthread_mutex_lock(&d->lock);
	fw_disconnect(d);
	pthread_mutex_unlock(&d->lock);
	set_device(first, d->os, NULL);
	/* On an error the map is empty, so this memory is not accessed in any case. */
	if (d->ram)
		virtual_set_memory(first);
	fw_fini(d);
	ram_fini(d);
	device_destroy(d);
}

void virtual_close(struct inproc_device *d)
{
	struct inproc_shared *s = &d->first->shared;

	pthread_mutex_lock(&s->lock);
	remove_device(d);
	pthread_mutex_unlock(&s->lock);
}

bool virtual_put(struct inproc_device *first)
{
	struct inproc_shared *s = &first->shared;
	bool last;

	pthread_mutex_lock(&s->lock);
	last = !--s->open;
	pthread_mutex_unlock(&s->lock);
	return last;
}

void virtual_fini(struct inproc_device *first)
{
	struct inproc_shared *s = &first->shared;

	pthread_mutex_destroy(&s->irq_lock);
	pthread_mutex_destroy(&s->run_lock);
	pthread_mutex_destroy(&s->lock);
}

/* Create virtual GPU @number and connect it; the lock of the GPU is held. */
static int connect_device(struct inproc_device *first, u32 number, struct inproc_device **out,
			  char *error, size_t error_bytes)
{
	struct inproc_device *d = device_create();
	int err;

	if (!d)
		return fail_text(error, error_bytes, ENOMEM, "out of memory");
	d->first = first;
	d->gpu = first->gpu;
	d->os = number;
	d->oses = first->oses;
	d->threads = first->threads;
	d->job_timeout_ms = first->job_timeout_ms;
	d->base.info = first->base.info;
	d->base.limits = first->base.limits;
	d->base.contiguous_bytes = first->base.contiguous_bytes;
	set_device(first, number, d);
	pthread_mutex_lock(&d->lock);
	err = ram_init(d, first->ram_bytes);
	if (err)
		fail_text(error, error_bytes, -err, OUT_OF_GPU_MEMORY);
	else
		err = fw_connect(d, error, error_bytes);
	pthread_mutex_unlock(&d->lock);
	if (err)
		remove_device(d);
	else
		*out = d;
	return err;
}

int inproc_open_virtual(struct pumice_device *dev, u32 number, struct pumice_device **out)
{
	struct inproc_device *first = inproc_device(dev)->first, *d = NULL;
	struct inproc_shared *s = &first->shared;
	char error[FORMER_ERROR_BYTES] = "";
	int err;

	if (!number)
		return fail(dev, EINVAL, "virtual GPU 0 is the device that was opened by its name");
	if (number >= first->oses)
		return fail(dev, EINVAL, "virtual GPU %u: %u are active, with numbers from 0; open "
			    "the device with a larger virtual-gpus=N", number, first->oses);
	pthread_mutex_lock(&s->lock);
	if (s->device[number]) {
		err = fail(dev, EBUSY, "virtual GPU %u is open; close it, or open another number",
			   number);
	} else {
		err = connect_device(first, number, &d, error, sizeof(error));
		if (err)
			fail(dev, -err, "virtual GPU %u: %s", number, error);
		else
			s->open++;
	}
	pthread_mutex_unlock(&s->lock);
	if (!err)
		*out = &d->base;
	return err;
}
