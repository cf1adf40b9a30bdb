// SPDX-License-Identifier: MIT
/*
 * Flips of a device that ends, and files whose events the library cannot read: internal functions
 * of both backends. The kernel's file is a pipe here; its hang-up is that of a device that was
 * removed. A kernel before uapi 1.6 has no hang-up.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "drm/drm.h"
#include "inproc/inproc.h"
#include "pumice/pumice_present.h"

#include <cmocka.h>

static int submit_errno;	/* errno of SUBMIT */
static u32 calls_left;		/* calls of VERSION until the device is removed */

/* In place of libdrm's. */
int drmIoctl(int fd, unsigned long request, void *arg)
{
	struct drm_pumice_submit *submit = arg;

	(void)fd;
	if (request == DRM_IOCTL_VERSION) {
		if (calls_left) {
			calls_left--;
			return 0;
		}
		errno = ENODEV;
		return -1;
	}
	assert_true(request == DRM_IOCTL_PUMICE_SUBMIT);
	submit->failed_job = 0;
	errno = submit_errno;
	return submit_errno ? -1 : 0;
}

static void open_file(struct drm_device *d, int fd)
{
	static const struct backend_ops ops = { .wait_flip = drm_wait_flip, .submit = drm_submit };

	memset(d, 0, sizeof(*d));
	assert_int_equal(device_init(&d->base, &ops), 0);
	pthread_mutex_init(&d->read_lock, NULL);
	d->fd = fd;
	d->minor = DRM_PUMICE_VERSION_MINOR;
}

/* Open a pipe as the file. Returns the end to which the kernel's part is written. */
static int open_pipe(struct drm_device *d)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	open_file(d, ends[0]);
	return ends[1];
}

static void close_file(struct drm_device *d)
{
	close(d->fd);
	pthread_mutex_destroy(&d->read_lock);
	device_fini(&d->base);
}

static void close_pipe(struct drm_device *d, int to)
{
	close(to);
	close_file(d);
}

static void send_flip(int to, u32 frame)
{
	const struct drm_pumice_event_flip event = {
		.base = { DRM_PUMICE_EVENT_FLIP, sizeof(event) }, .frame = frame,
	};

	assert_int_equal(write(to, &event, sizeof(event)), sizeof(event));
}

static int wait_flip(struct drm_device *d, u64 timeout_ns, struct pumice_flip *flip)
{
	return pumice_wait_flip(&d->base, timeout_ns, flip, sizeof(*flip));
}

static void a_wait_ends_when_no_flip_follows(void **state)
{
	struct pumice_flip flip;
	struct drm_device d;
	int to;

	(void)state;
	to = open_pipe(&d);
	assert_int_equal(wait_flip(&d, 0, &flip), -ETIME);
	send_flip(to, 7);
	send_flip(to, 8);
	assert_int_equal(wait_flip(&d, PUMICE_FOREVER, &flip), 0);
	assert_int_equal(flip.frame, 7);
	/* The flips that were sent before the device was removed are not lost. */
	close(to);
	assert_int_equal(wait_flip(&d, PUMICE_FOREVER, &flip), 0);
	assert_int_equal(flip.frame, 8);
	assert_int_equal(wait_flip(&d, PUMICE_FOREVER, &flip), -ENODEV);
	assert_non_null(strstr(pumice_device_error(&d.base), "the GPU was removed"));
	assert_int_equal(wait_flip(&d, 0, &flip), -ENODEV);
	close_file(&d);
}

static int present(struct drm_device *d, u32 presents)
{
	struct drm_vm vm = { .base.dev = &d->base };
	struct drm_context context = {
		.base = { .dev = &d->base, .vm = &vm.base, .type = PUMICE_CONTEXT_TRANSFER },
	};
	struct pumice_present_job job;

	pumice_present_job_init(&job, &context.base, 64);
	job.presents = presents;
	return pumice_submit_present(&job);
}

static void a_wait_ends_with_a_kernel_that_does_not_report_the_removal(void **state)
{
	struct pumice_flip flip;
	struct drm_device d;
	int to;

	(void)state;
	to = open_pipe(&d);
	d.minor = 5;
	calls_left = 2;
	send_flip(to, 7);
	assert_int_equal(wait_flip(&d, PUMICE_FOREVER, &flip), 0);
	assert_int_equal(calls_left, 2);
	/* The device is removed while this waits: after the second call. */
	assert_int_equal(wait_flip(&d, PUMICE_FOREVER, &flip), -ENODEV);
	assert_int_equal(calls_left, 0);
	assert_non_null(strstr(pumice_device_error(&d.base), "the GPU was removed"));
	close_pipe(&d, to);
}

/* They are sent when their job ends, after the removal. */
static void announced_flips_of_a_removed_device_are_waited_for(void **state)
{
	struct pumice_flip flip;
	struct drm_device d;
	int to;

	(void)state;
	to = open_pipe(&d);
	d.minor = 5;
	calls_left = 0;
	assert_int_equal(present(&d, 1), 0);
	assert_int_equal(wait_flip(&d, 0, &flip), -ETIME);
	send_flip(to, 9);
	assert_int_equal(wait_flip(&d, PUMICE_FOREVER, &flip), 0);
	assert_int_equal(flip.frame, 9);
	assert_int_equal(wait_flip(&d, PUMICE_FOREVER, &flip), -ENODEV);
	close_pipe(&d, to);
}

/* A file that can be read and returns nothing, as for an event that exceeds the buffer. */
static void an_event_that_is_too_large_is_an_error(void **state)
{
	struct pumice_flip flip;
	struct drm_device d;

	(void)state;
	open_file(&d, open("/dev/null", O_RDWR));
	assert_true(d.fd >= 0);
	assert_int_equal(wait_flip(&d, PUMICE_FOREVER, &flip), -EPROTO);
	assert_non_null(strstr(pumice_device_error(&d.base), "larger than a flip"));
	assert_int_equal(wait_flip(&d, 0, &flip), -EPROTO);
	close_file(&d);
}

static void the_reason_of_a_submit_without_space_is_named(void **state)
{
	struct pumice_flip flip;
	struct drm_device d;
	int to;
	u32 i;

	(void)state;
	to = open_pipe(&d);
	for (i = 0; i < PUMICE_MAX_FLIPS / PUMICE_MAX_PRESENTS - 1; i++)
		assert_int_equal(present(&d, PUMICE_MAX_PRESENTS), 0);
	/* There is space for these, so that the kernel's reason is another one. */
	submit_errno = ENOSPC;
	assert_int_equal(present(&d, PUMICE_MAX_PRESENTS), -ENOSPC);
	assert_non_null(strstr(pumice_device_error(&d.base), "queued jobs; wait for one"));
	submit_errno = 0;
	assert_int_equal(present(&d, PUMICE_MAX_PRESENTS), 0);
	submit_errno = ENOSPC;
	assert_int_equal(present(&d, 1), -ENOSPC);
	assert_non_null(strstr(pumice_device_error(&d.base), "call pumice_wait_flip() first"));
	send_flip(to, 1);
	assert_int_equal(wait_flip(&d, 0, &flip), 0);
	assert_int_equal(present(&d, 1), -ENOSPC);
	assert_non_null(strstr(pumice_device_error(&d.base), "queued jobs; wait for one"));
	assert_int_equal(present(&d, 2), -ENOSPC);
	assert_non_null(strstr(pumice_device_error(&d.base), "call pumice_wait_flip() first"));
	submit_errno = 0;
	close_pipe(&d, to);
}

/* The kernel module, or what it runs on, is older than presents. */
static void the_reason_of_a_refused_present_is_named(void **state)
{
	static const struct {
		int error;
		const char *words;
	} reasons[] = {
		{ E2BIG, "present: the kernel module has no presents; update it" },
		{ EOPNOTSUPP, "present: the GPU or its firmware has no presents; update it" },
	};
	struct drm_device d;
	int to;
	u32 i;

	(void)state;
	to = open_pipe(&d);
	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		submit_errno = reasons[i].error;
		assert_int_equal(present(&d, 1), -EOPNOTSUPP);
		assert_string_equal(pumice_device_error(&d.base), reasons[i].words);
	}
	submit_errno = 0;
	/* They announced no flips. */
	for (i = 0; i < PUMICE_MAX_FLIPS / PUMICE_MAX_PRESENTS; i++)
		assert_int_equal(present(&d, PUMICE_MAX_PRESENTS), 0);
	close_pipe(&d, to);
}

#define WIDTH	16u	/* and height of the image */

/*
 * The firmware has reported the flip of a job that ended, and
 * then stops before the library reads it.
 */
static void a_flip_reported_before_the_gpu_was_lost_is_returned(void **state)
{
	const struct pumice_tdm_present whole = {
		.src_width = WIDTH, .src_height = WIDTH, .dst_width = WIDTH, .dst_height = WIDTH,
		.frame = 77,
	};
	struct pumice_present_job job;
	struct pumice_image_desc desc;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_device *dev;
	struct inproc_device *d;
	struct pumice_image *image[2];
	struct pumice_flip flip;
	struct pumice_vm *vm;
	u64 va;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:cores=1,threads=0,ram=64", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_context_create_type(vm, PUMICE_CONTEXT_TRANSFER,
						    PUMICE_PRIORITY_NORMAL, &context), 0);
	pumice_image_desc_init(&desc, PUMICE_FORMAT_RGBA8_UNORM, WIDTH, WIDTH);
	assert_int_equal(pumice_image_create(vm, &desc, &image[0]), 0);
	assert_int_equal(pumice_image_create(vm, &desc, &image[1]), 0);
	assert_int_equal(pumice_stream_create(vm, 65536, &stream), 0);
	assert_int_equal(pumice_stream_present(stream, image[0], image[1], &whole), 0);
	assert_int_equal(pumice_stream_tdm_end(stream, &va), 0);
	pumice_present_job_init(&job, context, va);
	assert_int_equal(pumice_submit_present(&job), 0);
	d = inproc_device(dev);
	while (!((struct inproc_context *)context)->shared->flips.write)
		pumice_gpu_poll(d->gpu, 1000000);
	while (pumice_gpu_poll(d->gpu, 1000000) != UINT64_MAX)
		;
	d->fw->boot.state = FWIF_STATE_FATAL;
	assert_int_equal(pumice_wait_flip(dev, PUMICE_FOREVER, &flip, sizeof(flip)), 0);
	assert_int_equal(flip.error, 0);
	assert_int_equal(flip.frame, 77);
	assert_int_equal(pumice_wait_flip(dev, PUMICE_FOREVER, &flip, sizeof(flip)), -ENODEV);
	pumice_stream_destroy(stream);
	pumice_image_destroy(image[0]);
	pumice_image_destroy(image[1]);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_ends_when_no_flip_follows),
		cmocka_unit_test(a_wait_ends_with_a_kernel_that_does_not_report_the_removal),
		cmocka_unit_test(announced_flips_of_a_removed_device_are_waited_for),
		cmocka_unit_test(an_event_that_is_too_large_is_an_error),
		cmocka_unit_test(the_reason_of_a_submit_without_space_is_named),
		cmocka_unit_test(the_reason_of_a_refused_present_is_named),
		cmocka_unit_test(a_flip_reported_before_the_gpu_was_lost_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
