// SPDX-License-Identifier: MIT
/* The errors and texts of mistakes.c, in process. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mistakes.h"

static void every_mistake_has_its_text(void **state)
{
	struct pumice_device *dev;
	struct pumice_vm *vm;
	size_t i;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:cores=1,threads=0,ram=64", &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	for (i = 0; i < mistake_count; i++) {
		print_message("%s\n", mistakes[i].name);
		assert_int_equal(mistakes[i].make(dev, vm), -mistakes[i].error);
		assert_string_equal(pumice_device_error(dev), mistakes[i].text);
	}
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

/* Without a device there is no text. */
static void a_wait_for_nothing_is_refused(void **state)
{
	const struct pumice_wait wait = { 0 };

	(void)state;
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, 0), -EINVAL);
	assert_int_equal(pumice_sync_wait(&wait, 0, 0, 0), -EINVAL);
	assert_int_equal(pumice_sync_wait(NULL, 1, 0, 0), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mistake_has_its_text),
		cmocka_unit_test(a_wait_for_nothing_is_refused),
	};

	return cmocka_run_group_tests_name("libpumice-mistakes", tests, NULL, NULL);
}
