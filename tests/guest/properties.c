// SPDX-License-Identifier: MIT
/* Properties of the guest's GPU: see properties.h. */
#include "properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define WORD		"pumice_device="
#define LINE_BYTES	4096

/* Read the options of the device; "" if the guest was not started by run-guest.py. */
static char *read_options(char *line, int bytes)
{
	const char *path = getenv("PUMICE_CMDLINE");
	FILE *file = fopen(path ? path : "/proc/cmdline", "re");
	char *word, *rest;

	CHECK(file);
	if (!fgets(line, bytes, file))
		line[0] = '\0';
	fclose(file);
	for (word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
		if (!strncmp(word, WORD, strlen(WORD)))
			return word + strlen(WORD);
	return "";
}

const char *device_property(const char *name, const char *otherwise)
{
	static char line[LINE_BYTES];
	const size_t length = strlen(name);
	char *option, *rest;

	option = strtok_r(read_options(line, sizeof(line)), ",", &rest);
	for (; option; option = strtok_r(NULL, ",", &rest))
		if (!strncmp(option, name, length) && option[length] == '=')
			return option + length + 1;
	return otherwise;
}

uint32_t device_size(const char *name, uint32_t otherwise)
{
	const char *value = device_property(name, NULL);

	return value ? (uint32_t)strtoul(value, NULL, 0) : otherwise;
}
