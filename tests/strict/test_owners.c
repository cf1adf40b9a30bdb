// SPDX-License-Identifier: MIT
/*
 * Findings of several virtual GPUs of one GPU, and of one that enters mode strict again; none of
 * the queue of binds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inproc/inproc.h"
#include "pumice/pumice_virtual.h"

#include <cmocka.h>

#define TEXT_BYTES	2048u
#define DEVICE		"inproc:cores=1,ram=64,threads=0,mode=strict"

/* Two waves store to one word, at line 5. */
static const char race[] = ".group 64, 1, 1\n"
			   ".local 16\n"
			   "mov r1, [one], 0\n"
			   "\n"
			   "local_store32 [one], r1, r1\n"
			   "end\n";

struct user {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_kernel *kernel;
};

static void set_up(struct user *u, struct pumice_device *dev, const char *name)
{
	u->dev = dev;
	assert_int_equal(pumice_vm_create(dev, &u->vm), 0);
	assert_int_equal(pumice_context_create(u->vm, PUMICE_PRIORITY_NORMAL, &u->context), 0);
	assert_int_equal(pumice_stream_create(u->vm, 65536, &u->stream), 0);
	assert_int_equal(pumice_kernel_assemble(u->vm, name, race, &u->kernel), 0);
}

static void tear_down(struct user *u)
{
	pumice_kernel_destroy(u->kernel);
	pumice_stream_destroy(u->stream);
	pumice_context_destroy(u->context);
	pumice_vm_destroy(u->vm);
	pumice_device_close(u->dev);
}

static void run(struct user *u)
{
	struct pumice_dispatch dispatch;
	uint64_t start;

	pumice_dispatch_init(&dispatch, u->kernel);
	assert_int_equal(pumice_stream_dispatch(u->stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(u->stream, &start), 0);
	assert_int_equal(pumice_context_run(u->context, start, PUMICE_FOREVER, NULL), 0);
}

/* Programs of both have the same address. */
static void a_device_has_the_findings_of_its_virtual_gpu_only(void **state)
{
	struct pumice_device *dev[2];
	struct user user[2];
	char text[TEXT_BYTES];

	(void)state;
	assert_int_equal(pumice_device_open(DEVICE ",virtual-gpus=2", &dev[0], NULL, 0), 0);
	assert_int_equal(pumice_device_open_virtual(dev[0], 1, &dev[1]), 0);
	set_up(&user[0], dev[0], "zero.pasm");
	set_up(&user[1], dev[1], "one.pasm");
	run(&user[1]);
	assert_int_not_equal(pumice_finding_get(dev[0], 0, text, sizeof(text)), 0);
	assert_int_equal(pumice_finding_get(dev[1], 0, text, sizeof(text)), 0);
	assert_non_null(strstr(text, ",\"virtual_gpu\":1,"));
	assert_non_null(strstr(text, "\"source\":\"one.pasm:5\"}"));
	run(&user[0]);
	assert_int_equal(pumice_finding_get(dev[0], 0, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "\"source\":\"zero.pasm:5\"}"));
	assert_int_not_equal(pumice_finding_get(dev[1], 1, text, sizeof(text)), 0);
	tear_down(&user[1]);
	tear_down(&user[0]);
}

/* Return the number of findings in the file, which also has a line for each GPU that was opened. */
static uint32_t findings_in(const char *path)
{
	char line[TEXT_BYTES];
	FILE *file = fopen(path, "r");
	uint32_t lines = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		lines += !strncmp(line, "{\"finding\":", strlen("{\"finding\":"));
	fclose(file);
	return lines;
}

/* The same error is a new finding after all were dropped. */
static void findings_after_a_change_of_the_mode_are_written(void **state)
{
	char path[] = "/tmp/pumice-findings-XXXXXX";
	struct pumice_device *dev;
	struct pumice_gpu *gpu;
	struct user user;

	(void)state;
	close(mkstemp(path));
	setenv("PUMICE_FINDINGS", path, 1);
	assert_int_equal(pumice_device_open(DEVICE, &dev, NULL, 0), 0);
	set_up(&user, dev, "race.pasm");
	run(&user);
	assert_int_equal(findings_in(path), 1);
	gpu = inproc_device(dev)->gpu;
	assert_int_equal(pumice_gpu_set_mode(gpu, "counted"), 0);
	assert_int_equal(pumice_gpu_set_mode(gpu, "strict"), 0);
	run(&user);
	assert_int_equal(findings_in(path), 2);
	run(&user);
	assert_int_equal(findings_in(path), 2);
	tear_down(&user);
	unsetenv("PUMICE_FINDINGS");
	unlink(path);
}

/* The fence of a bind is signalled once, also when its queue ends with the VM. */
static void a_vm_without_pending_binds_ends_without_a_finding(void **state)
{
	const struct pumice_bind unmap = { .va = 1ull << 32, .size = 1u << 16 };
	struct pumice_device *dev;
	struct pumice_job_sync done = { .signal = true };
	struct pumice_wait wait = { 0 };
	struct pumice_vm *vm;
	char text[TEXT_BYTES];

	(void)state;
	assert_int_equal(pumice_device_open(DEVICE, &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_sync_create(dev, 0, &done.sync), 0);
	wait.sync = done.sync;
	assert_int_equal(pumice_vm_bind_async(vm, &unmap, 1, &done, 1), 0);
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, PUMICE_FOREVER), 0);
	pumice_sync_destroy(done.sync);
	pumice_vm_destroy(vm);
	assert_int_not_equal(pumice_finding_get(dev, 0, text, sizeof(text)), 0);
	pumice_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_has_the_findings_of_its_virtual_gpu_only),
		cmocka_unit_test(findings_after_a_change_of_the_mode_are_written),
		cmocka_unit_test(a_vm_without_pending_binds_ends_without_a_finding),
	};

	return cmocka_run_group_tests_name("owners of findings", tests, NULL, NULL);
}
