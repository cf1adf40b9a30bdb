// SPDX-License-Identifier: MIT
/* Tests of the properties that programs of the guest read; they run on the build machine. */
#include "properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "harness.h"

/* The command line of a guest. */
static void use_line(const char *line)
{
	static char path[] = "/tmp/pumice-cmdline-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");

	CHECK(file);
	CHECK(fputs(line, file) >= 0);
	CHECK_EQUAL(fclose(file), 0);
	setenv("PUMICE_CMDLINE", path, 1);
}

static void properties_of_the_device_are_read(void)
{
	use_line("console=ttyS0 pumice_device=pumice,preset=waves,cores=1,vpm-kib=64 quiet\n");
	CHECK_EQUAL(device_size("cores", 4), 1);
	CHECK_EQUAL(device_size("vpm-kib", 512), 64);
	CHECK(!strcmp(device_property("preset", "default"), "waves"));
	CHECK_EQUAL(remove(getenv("PUMICE_CMDLINE")), 0);
}

/* Neither parts of names nor other words of the line count. */
static void other_properties_are_of_the_preset(void)
{
	use_line("cores=2 pumice_device=pumice,uscs=1,threads=2,late=poison preset=waves\n");
	CHECK_EQUAL(device_size("cores", 4), 4);
	CHECK_EQUAL(device_size("usc", 3), 3);
	CHECK_EQUAL(device_size("scs", 3), 3);
	CHECK_EQUAL(device_size("uscs", 3), 1);
	CHECK(!strcmp(device_property("preset", "default"), "default"));
	CHECK_EQUAL(remove(getenv("PUMICE_CMDLINE")), 0);
}

static void guests_without_options_have_those_of_the_preset(void)
{
	use_line("");
	CHECK_EQUAL(device_size("cores", 4), 4);
	CHECK_EQUAL(remove(getenv("PUMICE_CMDLINE")), 0);
}

static const struct test_case cases[] = {
	TEST_CASE(properties_of_the_device_are_read),
	TEST_CASE(other_properties_are_of_the_preset),
	TEST_CASE(guests_without_options_have_those_of_the_preset),
};

TEST_MAIN(cases)
