// SPDX-License-Identifier: MIT
/* See shares_file.h. */
#include "shares_file.h"

#include <errno.h>
#include <string.h>

#define ACCEPTED	"cdm=, vdm=, pdm= and rdm=, each with 1 to 254, none or default; " \
			"policy= with graphics, round-robin or an order such as cdm-vdm-pdm"
#define TEXT_BYTES	128	/* of the driver */

void shares_check(const struct command *c, char **words)
{
	static const char *const names[] = { "cdm=", "vdm=", "pdm=", "rdm=", "policy=" };
	const size_t count = sizeof(names) / sizeof(names[0]);
	size_t n;

	for (; *words; words++) {
		for (n = 0; n < count && strncmp(*words, names[n], strlen(names[n])); n++)
			;
		if (n == count)
			command_refuse(c, "unexpected word '%s'; accepted: " ACCEPTED, *words);
	}
}

/* Report that the file cannot be accessed. */
static void report(const struct command *c, const char *path)
{
	fprintf(stderr, "%s: %s: %s; mount debugfs there, and run %s as root\n", c->name, path,
		strerror(errno), c->name);
}

bool shares_set(const struct command *c, const char *path, char **words)
{
	char text[TEXT_BYTES] = "";
	size_t length = 0;
	FILE *file;
	bool ok;

	for (; *words; words++) {
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
					   length ? " " : "", *words);
		if (length >= sizeof(text))
			command_refuse(c, "the words are longer than %u bytes", TEXT_BYTES - 1);
	}
	file = fopen(path, "w");
	ok = file && fputs(text, file) >= 0;
	if (file)
		ok = !fclose(file) && ok;
	if (!ok && errno == EINVAL)
		command_refuse(c, "'%s' is not accepted; accepted: " ACCEPTED, text);
	if (!ok)
		report(c, path);
	return ok;
}

bool shares_show(const struct command *c, const char *path, FILE *out)
{
	FILE *file = fopen(path, "r");
	char line[256];
	bool ok;

	if (!file) {
		report(c, path);
		return false;
	}
	while (fgets(line, sizeof(line), file))
		fputs(line, out);
	ok = !ferror(file);
	if (!ok)
		report(c, path);
	fclose(file);
	return ok;
}
