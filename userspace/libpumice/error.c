// SPDX-License-Identifier: MIT
/*
 * Error texts. Each thread has its own text for each device, found by a
 * thread-specific key of the device; the device owns the texts, so that none
 * outlives it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

struct thread_error {
	struct thread_error *next;
	char text[PUMICE_ERROR_BYTES];
};

int device_init(struct pumice_device *dev, const struct backend_ops *ops)
{
	int err;

	dev->ops = ops;
	dev->errors = NULL;
	err = pthread_key_create(&dev->error_key, NULL);
	if (err)
		return -err;
	pthread_mutex_init(&dev->error_lock, NULL);
	pthread_mutex_init(&dev->vms_lock, NULL);
	dev->vms = NULL;
	return 0;
}

void device_fini(struct pumice_device *dev)
{
	pthread_key_delete(dev->error_key);
	pthread_mutex_destroy(&dev->error_lock);
	pthread_mutex_destroy(&dev->vms_lock);
	while (dev->errors) {
		struct thread_error *next = dev->errors->next;

		free(dev->errors);
		dev->errors = next;
	}
}

/* Get the calling thread's text, or NULL if out of memory. */
static struct thread_error *own_error(struct pumice_device *dev)
{
	struct thread_error *e = pthread_getspecific(dev->error_key);

	if (e)
		return e;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	if (pthread_setspecific(dev->error_key, e)) {
		free(e);
		return NULL;
	}
	pthread_mutex_lock(&dev->error_lock);
	e->next = dev->errors;
	dev->errors = e;
	pthread_mutex_unlock(&dev->error_lock);
	return e;
}

int fail(struct pumice_device *dev, int err, const char *format, ...)
{
	struct thread_error *e = own_error(dev);
	va_list args;

	if (e) {
		va_start(args, format);
		vsnprintf(e->text, sizeof(e->text), format, args);
		va_end(args);
	}
	return -err;
}

int fail_text(char *text, size_t bytes, int err, const char *format, ...)
{
	va_list args;

	if (text && bytes) {
		va_start(args, format);
		vsnprintf(text, bytes, format, args);
		va_end(args);
	}
	return -err;
}

const char *pumice_device_error(struct pumice_device *dev)
{
	const struct thread_error *e = pthread_getspecific(dev->error_key);

	return e ? e->text : "no error";
}
