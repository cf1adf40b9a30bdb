// SPDX-License-Identifier: MIT
/*
 * pumice-dump: shows a dump of a GPU: a devcoredump of the kernel driver, or a file of
 * pumice_context_dump(). The format is that of hw/dumpfile.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "dump.h"
#include "file.h"

/* Sections to show. */
struct choice {
	bool chosen[DUMP_VIEWS], some;
};

static void choose(const struct command *c, const char *name, void *data)
{
	struct choice *choice = data;
	char names[256] = "";

	choice->some = true;
	for (unsigned int i = 0; i < DUMP_VIEWS; i++) {
		if (!strcmp(name, dump_views[i].name)) {
			choice->chosen[i] = true;
			return;
		}
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", dump_views[i].name);
	}
	command_refuse(c, "there is no section '%s'; accepted: %s", name, names);
}

static void show(const struct dump *dump, const bool *chosen, bool some, bool all)
{
	for (unsigned int i = 0; i < DUMP_VIEWS; i++)
		if ((chosen[i] || !some) && !dump_views[i].print(dump, all) && some)
			printf("(section %s: not in this dump)\n", dump_views[i].name);
}

/* Of a damaged file the sections before the damage are shown. */
static int show_file(const char *path, const bool *chosen, bool some, bool all)
{
	const char *error;
	size_t bytes;
	char *file = file_read("pumice-dump", path, &bytes);
	struct dump *dump = malloc(sizeof(*dump));

	if (!file || !dump) {
		free(file);
		free(dump);
		return 1;
	}
	dump_parse(dump, (const unsigned char *)file, bytes, &error);
	if (!error || dump->parts)
		show(dump, chosen, some, all);
	fflush(stdout);
	if (error)
		fprintf(stderr, "pumice-dump: %s: %s\n", path, error);
	free(dump);
	free(file);
	return error != NULL;
}

int main(int argc, char **argv)
{
	struct choice choice = { .some = false };
	bool all = false;
	const struct command_option options[] = {
		{ 'a', "all", NULL, "also registers that are zero, and all memory as bytes",
		  .flag = &all },
		{ 's', "section", "SECTION", "only this section; may be repeated: info, reason,\n"
		  "places, walk, stream, memory, waves, registers,\nfirmware, log",
		  .parse = choose, .data = &choice },
		{ 0 }
	};
	const struct command command = {
		.name = "pumice-dump",
		.words = "FILE",
		.min_words = 1, .max_words = 1,
		.purpose = "Shows a dump of a Pumice GPU: why it was made, the instructions at which the\n"
			   "job's waves were, the page-table walk of the fault, control stream, registers,\n"
			   "firmware log. FILE is /sys/class/devcoredump/devcdN/data, a copy of it, or a\n"
			   "file of pumice_context_dump(); - is standard input.\n",
		.options = options,
		.versions = COMMAND_VERSION_DUMP,
	};
	const int first = command_line(&command, argc, argv);

	return show_file(argv[first], choice.chosen, choice.some, all);
}
