// SPDX-License-Identifier: MIT
/*
 * Error texts. Each thread has its own text for each device, found by a
 * thread-specific key of the device; the device owns the texts, so that none
 * outlives it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct thread_error {
	struct thread_error *next;
	char text[PUMICE_ERROR_BYTES];
	char former[FORMER_ERROR_BYTES];
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
	pthread_mutex_init(&dev->warnings_lock, NULL);
	pthread_mutex_init(&dev->findings_lock, NULL);
	dev->warnings = (struct warnings){ NULL, NULL };
	return 0;
}

void device_fini(struct pumice_device *dev)
{
	pthread_key_delete(dev->error_key);
	pthread_mutex_destroy(&dev->error_lock);
	pthread_mutex_destroy(&dev->vms_lock);
	pthread_mutex_destroy(&dev->warnings_lock);
	pthread_mutex_destroy(&dev->findings_lock);
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

int fail_null(struct pumice_device *dev, const char *what, const char *name)
{
	return fail(dev, EINVAL, "%s: %s is NULL; set it", what, name);
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

int fail_context_stopped(struct pumice_device *dev, u32 job)
{
	return fail(dev, EIO, "job %u: the context is stopped and accepts no jobs; "
		    "destroy it and create another", job);
}

int fail_vm_unusable(struct pumice_device *dev, const char *what)
{
	return fail(dev, EIO, "%s: the vm is unusable; destroy it and create another", what);
}

int fail_wait_unsignaled(struct pumice_device *dev, u32 wait)
{
	return fail(dev, EINVAL, "wait %u: no job or bind signals the sync; submit it first, "
		    "or wait with SUBMIT", wait);
}

int fail_wait_timeout(struct pumice_device *dev, u64 timeout_ns)
{
	return fail(dev, ETIME, "wait: timed out after %llu ns", (unsigned long long)timeout_ns);
}

int fail_job_unsignaled(struct pumice_device *dev, u32 job, u32 sync)
{
	return fail(dev, EINVAL, "job %u: no job or bind signals sync %u; submit that first", job,
		    sync);
}

int fail_job_perfmon(struct pumice_device *dev, u32 job, u32 perfmon)
{
	return fail(dev, ENOENT, "job %u: unknown performance monitor %u; use a number of "
		    "pumice_perfmon_id()", job, perfmon);
}

int fail_bind_unsignaled(struct pumice_device *dev, u32 sync)
{
	return fail(dev, EINVAL, "bind: no job or bind signals sync %u; submit that first", sync);
}

int fail_perfmon_busy(struct pumice_device *dev)
{
	return fail(dev, EBUSY, "perfmon: a job that it measures has not completed; wait for it");
}

int fail_job_result(struct pumice_device *dev, int err, u64 job)
{
	if (err == ENOENT)
		return fail(dev, err, "job result: job %llu was not submitted in this context",
			    (unsigned long long)job);
	if (err == EBUSY)
		return fail(dev, err, "job result: job %llu has not completed; wait for it",
			    (unsigned long long)job);
	if (!job)
		return fail(dev, err, "job result: no job of the context has completed");
	return fail(dev, err, "job result: that of job %llu is no longer stored; read it before "
		    "%u more jobs complete", (unsigned long long)job, KEPT_RESULTS);
}

const char *device_error(struct pumice_device *dev)
{
	const struct thread_error *e = pthread_getspecific(dev->error_key);

	return e ? e->text : "no error";
}

/* Return the length of the beginning of a text that ends with a line, else with a character. */
static size_t cut_length(const char *text, size_t max)
{
	size_t length = strnlen(text, max + 1), i;

	if (length <= max)
		return length;
	for (i = max; i; i--)
		if (text[i] == '\n')
			return i;
	/* The bytes of a character of UTF-8 after its first. */
	for (i = max; i && (text[i] & 0xc0) == 0x80; i--)
		;
	return i;
}

const char *device_error_former(struct pumice_device *dev)
{
	struct thread_error *e = pthread_getspecific(dev->error_key);
	size_t length;

	if (!e)
		return "no error";
	length = cut_length(e->text, sizeof(e->former) - 1);
	memcpy(e->former, e->text, length);
	e->former[length] = '\0';
	return e->former;
}
