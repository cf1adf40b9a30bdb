// SPDX-License-Identifier: MIT
/* Comparison of findings by their words, and lines of the TAP protocol. See lines.h. */
#include "lines.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "pumice/pumice.h"

bool strict_has(const char *finding, const char *words)
{
	if (strstr(finding, words))
		return true;
	printf("# '%s' is not in the finding\n", words);
	return false;
}

bool strict_is(const char *finding, const char *kind)
{
	char words[64];

	snprintf(words, sizeof(words), "{\"finding\":\"%s\",", kind);
	return strict_has(finding, words);
}

bool strict_has_none(struct pumice_device *dev, char *finding)
{
	const int err = pumice_finding_get(dev, 0, finding, FINDING_BYTES);

	if (err && err != -ENOENT)
		snprintf(finding, FINDING_BYTES, "error %d: %s", err, pumice_device_error(dev));
	return err == -ENOENT;
}

bool strict_line(const char *name, const char *right, bool found, const char *finding)
{
	static uint32_t number;
	const bool ok = found && !right;

	if (right)
		printf("# the right variant has a finding: %s\n", right);
	printf("# %s\n%sok %u - %s\n", finding, ok ? "" : "not ", ++number, name);
	return ok;
}

bool strict_check(const char *name, const void *error, strict_variant *right,
		  strict_variant *wrong)
{
	char of_right[FINDING_BYTES], finding[FINDING_BYTES];
	const bool none = right(error, of_right);
	const bool found = wrong(error, finding);

	return strict_line(name, none ? NULL : of_right, found, finding);
}
