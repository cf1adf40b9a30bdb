// SPDX-License-Identifier: MIT
/*
 * pumice-dump: shows a dump of a GPU: a devcoredump of the kernel driver, or a file of
 * pumice_context_dump(). The format is that of hw/dumpfile.h.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "file.h"

static const char usage[] =
	"usage: pumice-dump [-a] [-s SECTION]… FILE\n"
	"Shows a dump of a Pumice GPU: why it was made, where the job's waves were, with\n"
	"the instructions around, the page-table walk of the fault, control stream,\n"
	"registers, firmware log. FILE is /sys/class/devcoredump/devcdN/data, a copy of\n"
	"it, or a file of pumice_context_dump(); - is standard input.\n"
	"  -a           also registers that are zero, and all memory as bytes\n"
	"  -s SECTION   only this: info, reason, places, walk, stream, memory, waves,\n"
	"               registers, firmware, log\n"
	"  -h, --help   this text\n";

static bool choose(const char *name, bool *chosen)
{
	for (unsigned int i = 0; i < DUMP_VIEWS; i++) {
		if (!strcmp(name, dump_views[i].name)) {
			chosen[i] = true;
			return true;
		}
	}
	fprintf(stderr, "pumice-dump: no section is called %s; there are", name);
	for (unsigned int i = 0; i < DUMP_VIEWS; i++)
		fprintf(stderr, "%s %s", i ? "," : "", dump_views[i].name);
	fputc('\n', stderr);
	return false;
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
	return error || ferror(stdout);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	bool chosen[DUMP_VIEWS] = { false }, some = false, all = false;
	int option;

	while ((option = getopt_long(argc, argv, "as:h", options, NULL)) != -1) {
		if (option == 'a')
			all = true;
		else if (option != 's')
			return fputs(usage, option == 'h' ? stdout : stderr), option != 'h';
		else if (!choose(optarg, chosen))
			return 1;
		else
			some = true;
	}
	if (optind + 1 != argc)
		return fputs(usage, stderr), 1;
	return show_file(argv[optind], chosen, some, all);
}
