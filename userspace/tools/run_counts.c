// SPDX-License-Identifier: MIT
/* pumice-run: the counts of the memory hierarchy for the runs, as tables of clients and levels. */
#include <stdlib.h>
#include <string.h>

#include <pumice/pumice.h>

#include "command.h"
#include "counts.h"
#include "run.h"

/*
 * Threads change the order of requests, and so the counts: they are disabled unless the device has
 * a number of them. The last one of equal keys is used.
 */
bool run_counted_device(const char *device, char *text, size_t bytes)
{
	static const char prefix[] = "inproc";
	const char *keys;
	int length;

	device = command_device_name(device);
	if (!device || strncmp(device, prefix, strlen(prefix)))
		return false;
	keys = device + strlen(prefix);
	if (*keys && *keys++ != ':')
		return false;
	length = snprintf(text, bytes, "inproc:threads=0,%s%smode=counted", keys, *keys ? "," : "");
	return length > 0 && (size_t)length < bytes;
}

struct counts *run_counts_read(struct pumice_device *dev)
{
	char error[PUMICE_ERROR_BYTES];
	struct counts *c = counts_read(dev, error, sizeof(error));

	if (!c)
		run_error("%s", error);
	return c;
}

bool run_counts_print(FILE *out, const struct counts *before, const struct counts *after)
{
	struct counts *c = counts_between(before, after);

	if (!c)
		return run_error("out of memory");
	counts_print(out, c);
	free(c);
	return true;
}
