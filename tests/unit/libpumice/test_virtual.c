// SPDX-License-Identifier: MIT
/*
 * Virtual GPUs of a GPU in this process: each is a device that works as if it were alone, while
 * others run jobs, fail, hang, and are opened and closed.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pumice/pumice_gfx.h"

#define GROUPS	64u
#define ROUNDS	20u	/* jobs of each of two threads */

/* A word for each work-group: its number times 3 plus a value of the job, after some time. */
static const char counting[] =
	".group 1, 1, 1\n"
	".uniforms sh0, 3\n"
	".input sh3, group_x\n"
	"mov r2[0], 200\n"
	"round:\n"
	"sub.u32 r2[0], r2[0], 1\n"
	"brnz round, r2[0]\n"
	"mov r0, [one], sh3\n"
	"mul.u32 r0, r0, 3\n"
	"add.u32 r0, r0, sh2\n"
	"mov r1, [one], sh3\n"
	"shl.u32 r1, r1, 2\n"
	"global_store32 sig0, [one], sh0 + r1, r0\n"
	"sig_wait r3[0], sig0\n"
	"end\n";

/* A user of one virtual GPU. */
struct user {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_kernel *counting, *endless;
	struct pumice_buffer out;
	uint32_t first;		/* value of the first job */
};

static struct pumice_device *open_gpu(const char *more)
{
	struct pumice_device *dev;
	char error[PUMICE_ERROR_BYTES], name[128];

	snprintf(name, sizeof(name), "inproc:cores=1,ram=64,%s", more);
	if (pumice_device_open(name, &dev, error, sizeof(error)))
		fail_msg("%s", error);
	return dev;
}

/* Begin to use a device, which is closed at the end. */
static void set_up(struct user *u, struct pumice_device *dev)
{
	*u = (struct user){ .dev = dev };
	assert_int_equal(pumice_vm_create(dev, &u->vm), 0);
	assert_int_equal(pumice_context_create(u->vm, PUMICE_PRIORITY_NORMAL, &u->context), 0);
	assert_int_equal(pumice_stream_create(u->vm, 65536, &u->stream), 0);
	assert_int_equal(pumice_buffer_create(u->vm, GROUPS * 4, &u->out), 0);
	if (pumice_kernel_assemble(u->vm, "counting", counting, &u->counting) ||
	    pumice_kernel_assemble(u->vm, "endless", "loop: jump loop\n", &u->endless))
		fail_msg("%s", pumice_device_error(dev));
}

static void set_up_virtual(struct user *u, struct pumice_device *dev, uint32_t number)
{
	struct pumice_device *opened;

	if (pumice_device_open_virtual(dev, number, &opened))
		fail_msg("%s", pumice_device_error(dev));
	set_up(u, opened);
}

static void tear_down(struct user *u)
{
	pumice_kernel_destroy(u->endless);
	pumice_kernel_destroy(u->counting);
	pumice_buffer_destroy(&u->out);
	pumice_stream_destroy(u->stream);
	pumice_context_destroy(u->context);
	pumice_vm_destroy(u->vm);
	pumice_device_close(u->dev);
}

static uint64_t build(struct user *u, struct pumice_kernel *kernel, uint32_t value)
{
	const uint32_t uniforms[3] = {
		(uint32_t)u->out.va, (uint32_t)(u->out.va >> 32), value,
	};
	struct pumice_dispatch d;
	uint64_t start;

	pumice_dispatch_init(&d, kernel);
	if (kernel == u->counting) {
		d.groups[0] = GROUPS;
		d.uniforms = uniforms;
		d.uniform_words = 3;
	}
	pumice_stream_reset(u->stream);
	assert_int_equal(pumice_stream_dispatch(u->stream, &d), 0);
	assert_int_equal(pumice_stream_end(u->stream, &start), 0);
	return start;
}

/* Run a job; return whether its results are right. */
static bool counts(struct user *u, uint32_t value)
{
	const uint32_t *words = u->out.cpu;
	uint32_t i;

	memset(u->out.cpu, 0xff, GROUPS * 4);
	if (pumice_context_run(u->context, build(u, u->counting, value), PUMICE_FOREVER, NULL))
		return false;
	for (i = 0; i < GROUPS; i++)
		if (words[i] != 3 * i + value)
			return false;
	return true;
}

/* A thread that runs jobs. Return: NULL, or the user if a result is wrong. */
static void *run_jobs(void *opaque)
{
	struct user *u = opaque;
	uint32_t i;

	for (i = 0; i < ROUNDS; i++)
		if (!counts(u, u->first + i))
			return u;
	return NULL;
}

/* Run jobs of two users at the same time. */
static void run_both(struct user *a, struct user *b)
{
	void *of_a, *of_b;
	pthread_t thread;

	a->first = 1000;
	b->first = 5000;
	assert_int_equal(pthread_create(&thread, NULL, run_jobs, a), 0);
	of_b = run_jobs(b);
	assert_int_equal(pthread_join(thread, &of_a), 0);
	if (of_a || of_b)
		fail_msg("'%s', '%s'", of_a ? pumice_device_error(a->dev) : "",
			 of_b ? pumice_device_error(b->dev) : "");
}

static void each_gets_its_own_results(void **state)
{
	static const char *const threads[] = { "threads=0", "threads=1", "threads=2" };
	struct pumice_fw_counters counters;
	struct user user[3];
	char name[64];
	uint32_t i, n;

	(void)state;
	for (i = 0; i < 3; i++) {
		/* Without a time-out, waits end by interrupts only. */
		snprintf(name, sizeof(name), "virtual-gpus=3,job-timeout-ms=0,%s", threads[i]);
		set_up(&user[0], open_gpu(name));
		set_up_virtual(&user[1], user[0].dev, 1);
		set_up_virtual(&user[2], user[1].dev, 2);
		run_both(&user[0], &user[1]);
		run_both(&user[1], &user[2]);
		/* Each has a boot structure, and so counters, of its own. */
		for (n = 0; n < 3; n++) {
			assert_int_equal(pumice_device_fw_counters(user[n].dev, &counters), 0);
			assert_int_equal(counters.jobs_done, n == 1 ? 2 * ROUNDS : ROUNDS);
		}
		tear_down(&user[2]);
		tear_down(&user[1]);
		tear_down(&user[0]);
	}
}

/* Free lists and scenes of a virtual GPU are in its own part of the firmware's memory. */
static void each_draws_pictures(void **state)
{
	static const float colours[2][4] = { { 1, 0, 0, 1 }, { 0, 1, 0, 1 } };
	static const uint32_t expected[2] = { 0xff0000ff, 0xff00ff00 };
	struct pumice_canvas *canvas[2];
	struct pumice_canvas_desc desc;
	struct user user[2];
	uint32_t texels[16], i, n;

	(void)state;
	set_up(&user[0], open_gpu("virtual-gpus=2,threads=1"));
	set_up_virtual(&user[1], user[0].dev, 1);
	pumice_canvas_desc_init(&desc, 4, 4);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pumice_canvas_create(user[i].vm, &desc, &canvas[i]), 0);
		assert_non_null(pumice_canvas_begin(canvas[i]));
	}
	for (i = 0; i < 2; i++) {
		assert_int_equal(pumice_canvas_end(canvas[i], colours[i], PUMICE_FOREVER), 0);
		assert_int_equal(pumice_image_download(pumice_canvas_image(canvas[i]),
						       (struct pumice_image_part){ 0 }, texels, 0),
				 0);
		for (n = 0; n < 16; n++)
			assert_int_equal(texels[n], expected[i]);
	}
	for (i = 0; i < 2; i++) {
		pumice_canvas_destroy(canvas[i]);
		tear_down(&user[i]);
	}
}

/* Faults: a stream that is not one, and an address that only the other one has mapped. */
static void faults_of_one_leave_the_other_unharmed(void **state)
{
	struct pumice_context_state context;
	struct user user[2];
	uint64_t va;

	(void)state;
	set_up(&user[0], open_gpu("virtual-gpus=2,threads=0"));
	set_up_virtual(&user[1], user[0].dev, 1);
	memset(user[1].out.cpu, 0xa5, GROUPS * 4);
	va = user[1].out.va;
	assert_int_equal(pumice_context_run(user[1].context, va, PUMICE_FOREVER, NULL), -EIO);
	assert_int_equal(pumice_context_get_state(user[1].context, &context), 0);
	assert_true(context.flags & PUMICE_CONTEXT_FAULTED);
	assert_true(counts(&user[0], 7));
	assert_int_equal(pumice_context_get_state(user[0].context, &context), 0);
	assert_int_equal(context.flags, 0);
	/* The context of the fault continues. */
	assert_true(counts(&user[1], 9));
	tear_down(&user[1]);
	tear_down(&user[0]);
}

/* A job that is not watched, as its user does not wait, holds the GPU for hold-us only. */
static void a_hang_of_one_ends_when_the_other_waits(void **state)
{
	static const char *const threads[] = { "threads=0", "threads=2" };
	struct pumice_context_state context;
	struct pumice_job_result result;
	struct user user[2];
	char name[64];
	uint32_t i, guilty;
	int err;

	(void)state;
	for (i = 0; i < 4; i++) {
		guilty = i / 2;
		snprintf(name, sizeof(name), "virtual-gpus=2,hold-us=20000,%s", threads[i % 2]);
		set_up(&user[0], open_gpu(name));
		set_up_virtual(&user[1], user[0].dev, 1);
		assert_int_equal(pumice_context_run(user[guilty].context,
						    build(&user[guilty], user[guilty].endless, 0),
						    1, NULL), -ETIME);
		/* The firmware may complete it after it has started the other one's job. */
		do {
			assert_true(counts(&user[!guilty], 7));
			err = pumice_context_get_job_result(user[guilty].context, 1, &result,
							    sizeof(result));
		} while (err == -EBUSY);
		assert_int_equal(err, 0);
		assert_int_equal(result.error, -ETIMEDOUT);	/* as by the driver */
		assert_int_equal(pumice_context_get_state(user[guilty].context, &context), 0);
		assert_int_equal(context.flags, PUMICE_CONTEXT_GUILTY | PUMICE_CONTEXT_FAULTED);
		/* It accepts no further jobs; a new context does. */
		assert_int_equal(pumice_context_run(user[guilty].context,
						    build(&user[guilty], user[guilty].counting, 0),
						    PUMICE_FOREVER, NULL), -EIO);
		pumice_context_destroy(user[guilty].context);
		assert_int_equal(pumice_context_create(user[guilty].vm, PUMICE_PRIORITY_NORMAL,
						       &user[guilty].context), 0);
		assert_true(counts(&user[guilty], 8));
		assert_int_equal(pumice_context_get_state(user[!guilty].context, &context), 0);
		assert_int_equal(context.flags, 0);
		tear_down(&user[1]);
		tear_down(&user[0]);
	}
}

/* The time-out of jobs is that of the device with the name. */
static void a_hang_that_is_waited_for_ends_after_the_time_out(void **state)
{
	struct pumice_context_state context;
	struct user user[2];

	(void)state;
	set_up(&user[0], open_gpu("virtual-gpus=2,threads=0,job-timeout-ms=50"));
	set_up_virtual(&user[1], user[0].dev, 1);
	assert_int_equal(pumice_context_run(user[1].context,
					    build(&user[1], user[1].endless, 0), PUMICE_FOREVER,
					    NULL), -EIO);
	assert_int_equal(pumice_context_get_state(user[1].context, &context), 0);
	assert_true(context.flags & PUMICE_CONTEXT_GUILTY);
	assert_true(counts(&user[0], 7));
	tear_down(&user[1]);
	tear_down(&user[0]);
}

/* Closed with a job that runs, in both orders; a number can be opened again. */
static void devices_are_closed_in_any_order(void **state)
{
	struct user user[2], again;
	struct pumice_device *dev;
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		set_up(&user[0], open_gpu("virtual-gpus=2,threads=1"));
		set_up_virtual(&user[1], user[0].dev, 1);
		assert_int_equal(pumice_context_run(user[1].context,
						    build(&user[1], user[1].endless, 0), 1, NULL),
				 -ETIME);
		tear_down(&user[1]);
		assert_true(counts(&user[0], 7));
		set_up_virtual(&again, user[0].dev, 1);
		tear_down(&user[0]);
		assert_true(counts(&again, 8));
		assert_int_equal(pumice_device_open_virtual(again.dev, 1, &dev), -EBUSY);
		tear_down(&again);
	}
}

/* Store a word to the buffer of a user by a mapping that is read only, which is a finding. */
static void store_read_only(struct user *u)
{
	struct pumice_bind bind = { .size = 4096, .flags = PUMICE_BIND_READONLY };
	struct pumice_kernel *kernel;
	char text[512];

	assert_int_equal(pumice_vm_va_alloc(u->vm, bind.size, 0, &bind.va), 0);
	bind.bo = u->out.bo;
	assert_int_equal(pumice_vm_bind(u->vm, &bind, 1, NULL), 0);
	snprintf(text, sizeof(text),
		 ".group 1, 1, 1\nmov sh0, %#x\nmov sh1, %#x\nmov r1, [one], 0\n"
		 "global_store32 sig0, [one], sh0 + r1, r1\nsig_wait r3[0], sig0\nend\n",
		 (unsigned int)bind.va, (unsigned int)(bind.va >> 32));
	assert_int_equal(pumice_kernel_assemble(u->vm, "store", text, &kernel), 0);
	assert_int_equal(pumice_context_run(u->context, build(u, kernel, 0), PUMICE_FOREVER, NULL),
			 -EIO);
	pumice_kernel_destroy(kernel);
}

/* Buffers of both have the same address. */
static void findings_have_the_buffers_of_their_virtual_gpu(void **state)
{
	static const char *const label[2] = { "of zero", "of one" };
	struct user user[2];
	char finding[4096], words[64];
	uint32_t i;

	(void)state;
	set_up(&user[0], open_gpu("virtual-gpus=2,threads=0,mode=strict"));
	set_up_virtual(&user[1], user[0].dev, 1);
	for (i = 0; i < 2; i++)
		assert_int_equal(pumice_bo_set_label(user[i].out.bo, label[i]), 0);
	for (i = 0; i < 2; i++)
		store_read_only(&user[i]);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pumice_finding_get(user[i].dev, 0, finding, sizeof(finding)), 0);
		snprintf(words, sizeof(words), ",\"label\":\"%s\",", label[i]);
		if (!strstr(finding, "{\"finding\":\"read-only-store\",") ||
		    !strstr(finding, words))
			fail_msg("'%s' is not of: %s", label[i], finding);
	}
	tear_down(&user[1]);
	tear_down(&user[0]);
}

static void assert_refused(struct pumice_device *dev, int err, int expected, const char *text)
{
	assert_int_equal(err, expected);
	if (!strstr(pumice_device_error(dev), text))
		fail_msg("'%s' is not in: %s", text, pumice_device_error(dev));
}

static void bad_numbers_are_refused(void **state)
{
	struct pumice_device *dev = open_gpu("virtual-gpus=3,threads=1"), *out = NULL, *second;
	struct pumice_trace *trace;

	(void)state;
	assert_refused(dev, pumice_device_open_virtual(dev, 0, &out), -EINVAL,
		       "virtual GPU 0 is the device that was opened by its name");
	assert_refused(dev, pumice_device_open_virtual(dev, 3, &out), -EINVAL,
		       "virtual GPU 3: 3 are active, with numbers from 0");
	assert_refused(dev, pumice_device_open_virtual(dev, UINT32_MAX, &out), -EINVAL,
		       "virtual GPU 4294967295: 3 are active");
	assert_int_equal(pumice_device_open_virtual(dev, 2, &second), 0);
	assert_refused(dev, pumice_device_open_virtual(dev, 2, &out), -EBUSY,
		       "virtual GPU 2 is open");
	assert_refused(second, pumice_trace_open(second, 1, 1024, &trace), -EOPNOTSUPP,
		       "trace: virtual GPU 2 has none");
	assert_null(out);
	pumice_device_close(second);
	pumice_device_close(dev);
}

static void bad_keys_are_refused(void **state)
{
	static const char *const bad[] = { "inproc:virtual-gpus=0", "inproc:virtual-gpus=9" };
	struct pumice_device *dev;
	char error[PUMICE_ERROR_BYTES];
	uint32_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_int_equal(pumice_device_open(bad[i], &dev, error, sizeof(error)), -EINVAL);
		assert_non_null(strstr(error, "is not 1 to 8"));
	}
}

/* All that can be active, opened and closed while others work. */
static void eight_work_while_one_is_opened_and_closed(void **state)
{
	struct user user[8];
	uint32_t i, round;

	(void)state;
	set_up(&user[0], open_gpu("virtual-gpus=8,threads=2"));
	for (i = 1; i < 8; i++)
		set_up_virtual(&user[i], user[0].dev, i);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 8; i++)
			assert_true(counts(&user[i], 100 * i));
		tear_down(&user[7]);
		assert_true(counts(&user[6], 1));
		set_up_virtual(&user[7], user[0].dev, 7);
	}
	for (i = 0; i < 8; i++)
		tear_down(&user[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_gets_its_own_results),
		cmocka_unit_test(each_draws_pictures),
		cmocka_unit_test(faults_of_one_leave_the_other_unharmed),
		cmocka_unit_test(a_hang_of_one_ends_when_the_other_waits),
		cmocka_unit_test(a_hang_that_is_waited_for_ends_after_the_time_out),
		cmocka_unit_test(devices_are_closed_in_any_order),
		cmocka_unit_test(findings_have_the_buffers_of_their_virtual_gpu),
		cmocka_unit_test(bad_numbers_are_refused),
		cmocka_unit_test(bad_keys_are_refused),
		cmocka_unit_test(eight_work_while_one_is_opened_and_closed),
	};

	return cmocka_run_group_tests_name("libpumice virtual", tests, NULL, NULL);
}
