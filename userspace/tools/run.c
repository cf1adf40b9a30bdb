// SPDX-License-Identifier: MIT
/*
 * pumice-run: run any kernel with buffers from files
 * or generators, and print or save the outputs.
 *
 * Exit status: 0; 1 for bad input or a job that
 * failed; 2 if results differ from those of --check.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <pumice/pumice.h>

#include "run.h"

#define EXIT_DIFFERENT 2

static const char usage[] =
	"usage: pumice-run [OPTION]… SHADER\n"
	"Runs a kernel (.pasm or a program file) on a Pumice GPU.\n"
	"  --arg ARG        the next argument; in their order they are the uniform block:\n"
	"     TYPE:VALUE             scalar of 32 or 64 bits: one or two words\n"
	"     buf:TYPE:SOURCE        buffer: its address, two words\n"
	"     out:TYPE:SHAPE[:FILE]  buffer of zeroes that is printed, or saved to FILE\n"
	"     inout:TYPE:SOURCE[:FILE]  both\n"
	"     TYPE: u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64; SHAPE: 1024, 512x512 …\n"
	"     SOURCE: FILE.npy, another FILE (raw), zero:SHAPE, const:SHAPE:VALUE,\n"
	"             iota:SHAPE[:START[:STEP]], random:SHAPE[:SEED]\n"
	"     FILE to save to: .npy, .txt, else raw\n"
	"  --groups X[,Y[,Z]]  work-groups (default 1)\n"
	"  --device NAME    drm, inproc:cores=4,threads=2 … (default: PUMICE_DEVICE, else drm)\n"
	"  --native         the same as --device inproc\n"
	"  --repeat N       run it N times; buffers stay as the run before left them\n"
	"  --time           print how long each run took\n"
	"  --perf NAMES     print performance counters, separated by commas; see --list-perf\n"
	"  --trace FILE     write what the GPU does as a trace for Perfetto (JSON)\n"
	"  --print N        elements of an output that are printed (default 64)\n"
	"  --check N=FILE   compare argument N, counted from 0, with a file\n"
	"  --tolerance R    largest difference that --check allows (default 0)\n"
	"  --timeout S      seconds to wait for a run (default 60)\n"
	"  --list-perf      describe the performance counters\n";

enum option_id {
	OPTION_ARG = 256, OPTION_GROUPS, OPTION_DEVICE, OPTION_NATIVE, OPTION_REPEAT, OPTION_TIME,
	OPTION_PERF, OPTION_TRACE, OPTION_PRINT, OPTION_CHECK, OPTION_TOLERANCE, OPTION_TIMEOUT,
	OPTION_LIST_PERF, OPTION_HELP,
};

bool run_error(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("pumice-run: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

/* Parse an integer up to @max, ended by @end. Return: the text after it, or NULL. */
static const char *parse_count(const char *text, uint64_t max, char end, uint64_t *value)
{
	*value = 0;
	if (*text < '0' || *text > '9')
		return NULL;
	while (*text >= '0' && *text <= '9') {
		uint64_t digit = (uint64_t)(*text++ - '0');

		if (*value > (max - digit) / 10)
			return NULL;
		*value = 10 * *value + digit;
	}
	if (*text && *text != end)
		return NULL;
	return text + (*text == end && end);
}

static bool parse_groups(const char *text, struct run_options *o)
{
	const char *at = text;
	uint64_t value;
	unsigned int i = 0;

	do {
		at = i < 3 ? parse_count(at, UINT32_MAX, ',', &value) : NULL;
		if (!at)
			return run_error("--groups %s: not one to three numbers", text);
		o->groups[i++] = (uint32_t)value;
	} while (*at);
	return at[-1] != ',' || run_error("--groups %s: not one to three numbers", text);
}

static bool parse_whole(const char *name, const char *text, uint64_t max, uint64_t *value)
{
	if (parse_count(text, max, '\0', value))
		return true;
	return run_error("%s %s: not a number up to %" PRIu64, name, text, max);
}

/* Parse a decimal number of at least 0. */
static bool parse_real(const char *name, const char *text, run_value *value)
{
	char *end;

	*value = strtold(text, &end);
	if (end != text && !*end && *value >= 0)
		return true;
	return run_error("%s %s: not a number of at least 0", name, text);
}

static bool parse_check(const char *text, struct run_options *o)
{
	uint64_t index;
	const char *file = parse_count(text, RUN_MAX_ARGS - 1, '=', &index);

	if (!file || !*file || file[-1] != '=')
		return run_error("--check %s: not NUMBER=FILE", text);
	o->args[index].check = file;
	return true;
}

static bool add_arg(const char *text, struct run_options *o)
{
	struct run_arg *arg = &o->args[o->arg_count];
	const char *check;

	if (o->arg_count == RUN_MAX_ARGS)
		return run_error("more than %u arguments", RUN_MAX_ARGS);
	check = arg->check;
	o->arg_count++;
	if (!run_parse_arg(text, arg))
		return false;
	arg->check = check;
	return true;
}

static bool parse_option(int option, const char *text, struct run_options *o)
{
	uint64_t number;
	run_value real;

	switch (option) {
	case OPTION_ARG:
		return add_arg(text, o);
	case OPTION_GROUPS:
		return parse_groups(text, o);
	case OPTION_DEVICE:
		o->device = text;
		return true;
	case OPTION_NATIVE:
		o->device = "inproc";
		return true;
	case OPTION_REPEAT:
		if (!parse_whole("--repeat", text, 1000000, &number))
			return false;
		o->repeat = (unsigned int)number;
		return true;
	case OPTION_TIME:
		o->time = true;
		return true;
	case OPTION_PERF:
		o->perf = text;
		return true;
	case OPTION_TRACE:
		o->trace = text;
		return true;
	case OPTION_PRINT:
		return parse_whole("--print", text, UINT64_MAX / 16, &o->print);
	case OPTION_CHECK:
		return parse_check(text, o);
	case OPTION_TOLERANCE:
		return parse_real("--tolerance", text, &o->tolerance);
	case OPTION_TIMEOUT:
		if (!parse_real("--timeout", text, &real))
			return false;
		o->timeout_ns = real > 1e9L ? PUMICE_FOREVER : (uint64_t)(real * 1e9L);
		return true;
	default:
		return false;
	}
}

static bool list_perf(const char *device)
{
	struct pumice_device_limits limits;
	char error[PUMICE_ERROR_BYTES];
	struct pumice_perf_info info;
	struct pumice_device *dev;

	if (pumice_device_open(device, &dev, error, sizeof(error)))
		return run_error("%s", error);
	pumice_device_limits(dev, &limits, sizeof(limits));
	for (uint32_t i = 0; i < limits.perf_counters; i++)
		if (!pumice_perf_counter_get(dev, i, &info))
			printf("%-20s %-4s %s (%s)\n", info.name, info.category, info.description,
			       info.unit);
	pumice_device_close(dev);
	return true;
}

/* Check the arguments as far as possible before anything runs. */
static bool check_options(const struct run_options *o)
{
	for (unsigned int i = 0; i < RUN_MAX_ARGS; i++)
		if (o->args[i].check && (i >= o->arg_count || !o->args[i].output))
			return run_error("--check %u: argument %u is no output", i, i);
	return true;
}

/* Show, save and compare outputs. Return: exit status. */
static int finish(const struct run_options *o)
{
	bool good = true, same = true;

	for (unsigned int i = 0; i < o->arg_count; i++) {
		const struct run_arg *arg = &o->args[i];

		if (!arg->output)
			continue;
		if (arg->save) {
			good &= run_save(arg);
		} else if (!arg->check && o->print) {
			printf("argument %u:\n", i);
			run_print(stdout, &arg->data, o->print);
		}
		if (arg->check)
			good &= run_check(i, arg, o->tolerance, &same);
	}
	if (!good || fflush(stdout))
		return EXIT_FAILURE;
	return same ? EXIT_SUCCESS : EXIT_DIFFERENT;
}

static const struct option long_options[] = {
	{ "arg", required_argument, NULL, OPTION_ARG },
	{ "groups", required_argument, NULL, OPTION_GROUPS },
	{ "device", required_argument, NULL, OPTION_DEVICE },
	{ "native", no_argument, NULL, OPTION_NATIVE },
	{ "repeat", required_argument, NULL, OPTION_REPEAT },
	{ "time", no_argument, NULL, OPTION_TIME },
	{ "perf", required_argument, NULL, OPTION_PERF },
	{ "trace", required_argument, NULL, OPTION_TRACE },
	{ "print", required_argument, NULL, OPTION_PRINT },
	{ "check", required_argument, NULL, OPTION_CHECK },
	{ "tolerance", required_argument, NULL, OPTION_TOLERANCE },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT },
	{ "list-perf", no_argument, NULL, OPTION_LIST_PERF },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ 0 },
};

/* Return: exit status. */
static int run(int argc, char **argv, struct run_options *o)
{
	bool list = false;
	int option;

	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (option == OPTION_HELP || option == 'h') {
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		}
		if (option == OPTION_LIST_PERF)
			list = true;
		else if (!parse_option(option, optarg, o))
			return EXIT_FAILURE;
	}
	if (list)
		return list_perf(o->device) ? EXIT_SUCCESS : EXIT_FAILURE;
	if (optind != argc - 1) {
		fputs(usage, stderr);
		return EXIT_FAILURE;
	}
	o->shader = argv[optind];
	if (!check_options(o) || !run_on_gpu(o))
		return EXIT_FAILURE;
	return finish(o);
}

int main(int argc, char **argv)
{
	static struct run_options options = {
		.groups = { 1, 1, 1 }, .repeat = 1, .timeout_ns = 60000000000u, .print = 64,
	};
	int status = run(argc, argv, &options);

	for (unsigned int i = 0; i < options.arg_count; i++)
		free(options.args[i].data.bytes);
	return status;
}
