// SPDX-License-Identifier: MIT
/*
 * Errors and texts of the library with the kernel driver: those that
 * tests/unit/libpumice/mistakes.c specifies for every device.
 */
#include <string.h>

#include "harness.h"
#include "mistakes.h"

static void every_mistake_has_the_text_it_has_in_process(void)
{
	struct pumice_device *dev;
	struct pumice_vm *vm;
	unsigned int wrong = 0;
	size_t i;

	CHECK_OK(pumice_device_open("drm", &dev, NULL, 0));
	CHECK_OK(pumice_vm_create(dev, &vm));
	for (i = 0; i < mistake_count; i++) {
		const struct mistake *m = &mistakes[i];
		int err = m->make(dev, vm);

		if (err == -m->error && !strcmp(pumice_device_error(dev), m->text))
			continue;
		test_note("%s: %d, '%s' instead of %d, '%s'", m->name, err,
			  pumice_device_error(dev), -m->error, m->text);
		wrong++;
	}
	CHECK_EQUAL(wrong, 0);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
}

static const struct test_case cases[] = {
	TEST_CASE(every_mistake_has_the_text_it_has_in_process),
};

TEST_MAIN(cases)
