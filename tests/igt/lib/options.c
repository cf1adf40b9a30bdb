// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* The command line. See layer.h. */
#include <fnmatch.h>
#include <getopt.h>
#include <string.h>
#include <sys/utsname.h>

#include "layer.h"

#define VERSION		"1.0-pumice"
#define PATTERN_BYTES	256

struct igt_layer_options igt_layer_options = { .level = IGT_LOG_INFO };

enum option_number {
	OPTION_LIST = 1000,
	OPTION_TESTLIST,
	OPTION_RUN,
	OPTION_DEBUG,
	OPTION_HELP_DESCRIPTION,
	OPTION_DESCRIBE,
	OPTION_DEVICE,
	OPTION_VERSION,
};

static const struct option known[] = {
	{ "list-subtests", no_argument, NULL, OPTION_LIST },
	{ "show-testlist", no_argument, NULL, OPTION_TESTLIST },
	{ "run-subtest", required_argument, NULL, OPTION_RUN },
	{ "debug", optional_argument, NULL, OPTION_DEBUG },
	{ "help-description", no_argument, NULL, OPTION_HELP_DESCRIPTION },
	{ "describe", optional_argument, NULL, OPTION_DESCRIBE },
	{ "device", required_argument, NULL, OPTION_DEVICE },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static void print_usage(FILE *to, const char *program)
{
	fprintf(to,
		"Usage: %s [OPTIONS]\n"
		"  --list-subtests\n"
		"  --show-testlist\n"
		"  --run-subtest <pattern>\n"
		"  --debug[=log-domain]\n"
		"  --help-description\n"
		"  --describe[=pattern]\n"
		"  --device drm:<node>\n"
		"  --version\n"
		"  --help|-h\n", program);
}

void igt_layer_version(void)
{
	struct utsname machine;

	uname(&machine);
	printf("IGT-Version: %s (%s) (%s: %s %s)\n", VERSION, machine.machine, machine.sysname,
	       machine.release, machine.machine);
	fflush(stdout);
}

/* Of IGT's filters only the one that names a node. */
static void take_device(const char *filter)
{
	static const char prefix[] = "drm:";

	if (strncmp(filter, prefix, strlen(prefix))) {
		fprintf(stderr, "\"%s\" is not a filter of this program: drm:<node>\n", filter);
		exit(IGT_EXIT_INVALID);
	}
	igt_layer_options.device = filter + strlen(prefix);
}

static void take(int option, const char *program)
{
	switch (option) {
	case OPTION_LIST:
		igt_layer_options.mode = IGT_LAYER_LIST;
		break;
	case OPTION_TESTLIST:
		igt_layer_options.mode = IGT_LAYER_TESTLIST;
		break;
	case OPTION_DEVICE:
		take_device(optarg);
		break;
	case OPTION_RUN:
		igt_layer_options.wanted = optarg;
		break;
	case OPTION_DEBUG:
		igt_layer_options.level = IGT_LOG_DEBUG;
		igt_layer_options.domain = optarg;
		break;
	case OPTION_DESCRIBE:
		igt_layer_options.mode = IGT_LAYER_DESCRIBE;
		igt_layer_options.wanted = optarg;
		break;
	case OPTION_HELP_DESCRIPTION:
		puts(&igt_layer_description ? igt_layer_description : "");
		exit(IGT_EXIT_SUCCESS);
	case OPTION_VERSION:
		igt_layer_version();
		exit(IGT_EXIT_SUCCESS);
	case 'h':
		print_usage(stdout, program);
		exit(IGT_EXIT_SUCCESS);
	default:
		print_usage(stderr, program);
		exit(IGT_EXIT_INVALID);
	}
}

void igt_layer_parse(int argc, char **argv)
{
	const char *device = getenv("IGT_DEVICE");
	int option;

	if (device)
		take_device(device);
	while ((option = getopt_long(argc, argv, "h", known, NULL)) >= 0)
		take(option, argv[0]);
	if (optind < argc) {
		print_usage(stderr, argv[0]);
		exit(IGT_EXIT_INVALID);
	}
}

bool igt_layer_matches(const char *patterns, const char *name)
{
	bool matches = false;
	size_t length;

	for (; *patterns; patterns += length + (patterns[length] == ',')) {
		char pattern[PATTERN_BYTES];
		bool take_away = *patterns == '!';

		length = strcspn(patterns, ",");
		snprintf(pattern, sizeof(pattern), "%.*s", (int)length - take_away,
			 patterns + take_away);
		if (!fnmatch(pattern, name, 0))
			matches = !take_away;
	}
	return matches;
}
