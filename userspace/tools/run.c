// SPDX-License-Identifier: MIT
/*
 * pumice-run: run any kernel with buffers from files
 * or generators, and print or save the outputs.
 *
 * Exit status: 0; 1 for a job that failed or a file that cannot be read or written; 2 for a
 * command line that is not accepted; 3 if results differ from those of --check.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <pumice/pumice.h>

#include "command.h"
#include "run.h"

#define EXIT_DIFFERENT 3

/* Descriptions of the arguments, after those of the options. */
static const char notes[] =
	"ARG is one of\n"
	"  TYPE:VALUE                a scalar of 32 or 64 bits: one or two words\n"
	"  buf:TYPE:SOURCE           a buffer: its address, two words\n"
	"  out:TYPE:SHAPE[:FILE]     a buffer of zeroes that is printed, or saved to FILE\n"
	"  inout:TYPE:SOURCE[:FILE]  both\n"
	"after NAME= if it has a name. In their order they are the uniform block.\n"
	"  TYPE    u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64\n"
	"  SHAPE   1024, 512x512 …\n"
	"  SOURCE  FILE.npy, another FILE (raw), zero:SHAPE, const:SHAPE:VALUE,\n"
	"          iota:SHAPE[:START[:STEP]], random:SHAPE[:SEED]\n"
	"  FILE    to save to: .npy, .txt, else raw\n";

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

static void parse_groups(const struct command *c, const char *text, void *data)
{
	struct run_options *o = data;
	const char *at = text;
	uint64_t value;
	unsigned int i = 0;

	do {
		at = i < 3 ? parse_count(at, UINT32_MAX, ',', &value) : NULL;
		if (at && !value)
			at = NULL;
		if (!at)
			break;
		o->groups[i++] = (uint32_t)value;
	} while (*at);
	if (!at || at[-1] == ',')
		command_refuse(c, "--groups %s: one to three numbers from 1 to %u are accepted, such as "
			       "64,64", text, UINT32_MAX);
}

static void parse_print(const struct command *c, const char *text, void *data)
{
	struct run_options *o = data;

	if (!parse_count(text, UINT64_MAX / 16, '\0', &o->print))
		command_refuse(c, "--print %s: N is a whole number", text);
}

static void parse_timeout(const struct command *c, const char *text, void *data)
{
	struct run_options *o = data;
	char *end;
	const double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0))
		command_refuse(c, "--timeout %s: S is a number of at least 0", text);
	o->timeout_ns = seconds > 1e9 ? PUMICE_FOREVER : (uint64_t)(seconds * 1e9);
}

static void parse_check(const struct command *c, const char *text, void *data)
{
	struct run_options *o = data;
	uint64_t index;
	const char *file = parse_count(text, RUN_MAX_ARGS - 1, '=', &index);

	if (!file || !*file || file[-1] != '=')
		command_refuse(c, "--check %s: an argument's number below %u and a file are accepted, "
			       "such as 0=wanted.npy", text, RUN_MAX_ARGS);
	o->args[index].check = file;
}

static void add_arg(const struct command *c, const char *text, void *data)
{
	struct run_options *o = data;
	struct run_arg *arg = &o->args[o->arg_count];
	const char *check;

	if (o->arg_count == RUN_MAX_ARGS)
		command_refuse(c, "--arg %s: at most %u arguments are accepted", text,
			       RUN_MAX_ARGS);
	check = arg->check;
	o->arg_count++;
	if (!run_parse_arg(text, arg))
		exit(COMMAND_REFUSED);
	arg->check = check;
}

static void select_native(const struct command *c, const char *text, void *data)
{
	struct run_options *o = data;

	(void)c;
	(void)text;
	o->device = "inproc";
}

static int list_perf(const char *device)
{
	struct pumice_device *dev = command_device_open("pumice-run", device);
	struct pumice_device_limits limits;
	struct pumice_perf_info info;

	pumice_device_limits(dev, &limits, sizeof(limits));
	for (uint32_t i = 0; i < limits.perf_counters; i++)
		if (!pumice_perf_counter_get(dev, i, &info))
			printf("%-31s %-4s %s (%s)\n", info.name, info.category, info.description,
			       info.unit);
	pumice_device_close(dev);
	return EXIT_SUCCESS;
}

/* Options that are not written: their values are none that can be written. */
static const struct run_options unset = {
	.repeat = UINT32_MAX, .timeout_ns = PUMICE_FOREVER - 1, .print = UINT64_MAX,
	.tolerance = -1,
};

/* Return whether an option is written that only a run uses. */
static bool describes_run(const struct run_options *o)
{
	for (unsigned int i = 0; i < RUN_MAX_ARGS; i++)
		if (o->args[i].check)
			return true;
	return o->arg_count || o->groups[0] || o->repeat != unset.repeat ||
	       o->timeout_ns != unset.timeout_ns || o->print != unset.print ||
	       o->tolerance >= 0 || o->time || o->no_warnings || o->counted || o->perf || o->trace;
}

/* Give options that are not written their defaults. */
static void set_defaults(struct run_options *o)
{
	for (unsigned int i = 0; i < 3; i++)
		if (!o->groups[i])
			o->groups[i] = 1;
	if (o->repeat == unset.repeat)
		o->repeat = 1;
	if (o->timeout_ns == unset.timeout_ns)
		o->timeout_ns = 60000000000u;
	if (o->print == unset.print)
		o->print = 64;
	if (o->tolerance < 0)
		o->tolerance = 0;
}

/* Check what can only be checked when all options are known, before anything runs. */
static void check_options(const struct command *c, struct run_options *o)
{
	if (o->counted) {
		if (!run_counted_device(o->device, o->counted_device, sizeof(o->counted_device)))
			command_refuse(c, "--counted: only a GPU in this process is accepted; add "
				       "--native");
		o->device = o->counted_device;
	}
	for (unsigned int i = 0; i < RUN_MAX_ARGS; i++)
		if (o->args[i].check && (i >= o->arg_count || !o->args[i].output))
			command_refuse(c, "--check %u: argument %u is not an output; out: and inout: are",
				       i, i);
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
	if (!good)
		return EXIT_FAILURE;
	return same ? EXIT_SUCCESS : EXIT_DIFFERENT;
}

/* Parse the command line. Return: whether to list the performance counters instead of a run. */
static bool parse(int argc, char **argv, struct run_options *o)
{
	bool list = false;
	const struct command_option options[] = {
		{ 0, "arg", "ARG", "the next argument of the kernel; see below",
		  .parse = add_arg, .data = o },
		{ 0, "groups", "X[,Y[,Z]]", "work-groups (default 1)",
		  .parse = parse_groups, .data = o },
		COMMAND_DEVICE(&o->device),
		{ 0, "native", NULL, "the same as --device inproc", .parse = select_native,
		  .data = o },
		{ 0, "repeat", "N", "run it N times (0: only read and write the buffers);\n"
		  "buffers keep the contents from the previous run",
		  .number = &o->repeat, .min = 0, .max = 1000000 },
		{ 0, "time", NULL, "print how long each run took", .flag = &o->time },
		{ 0, "perf", "NAMES", "print performance counters, separated by commas",
		  .text = &o->perf },
		{ 0, "counted", NULL, "count requests to the modelled caches, and print hit rates and\n"
		  "bytes; only in process", .flag = &o->counted },
		{ 0, "list-perf", NULL, "describe the performance counters, and run nothing",
		  .flag = &list },
		{ 0, "trace", "FILE", "write what the GPU does as a trace for Perfetto (JSON)",
		  .text = &o->trace },
		{ 0, "print", "N", "elements of an output that are printed (default 64)",
		  .parse = parse_print, .data = o },
		{ 0, "check", "N=FILE", "compare argument N, counted from 0, with a file",
		  .parse = parse_check, .data = o },
		{ 0, "tolerance", "R", "largest difference that --check allows (default 0)",
		  .real = &o->tolerance, .min = 0, .max = HUGE_VAL },
		{ 0, "no-warnings", NULL, "do not warn of mistakes in the kernel",
		  .flag = &o->no_warnings },
		{ 0, "timeout", "S", "seconds to wait for a run (default 60)",
		  .parse = parse_timeout, .data = o },
		{ 0 }
	};
	const struct command command = {
		.name = "pumice-run",
		.words = "SHADER",
		.min_words = 0, .max_words = 1,
		.purpose = "Runs a kernel (.pasm or a program file) on a Pumice GPU.\n",
		.options = options,
		.notes = notes,
		.versions = COMMAND_VERSION_GPU | COMMAND_VERSION_PROGRAM,
	};
	const int first = command_line(&command, argc, argv);

	if (list && (first < argc || describes_run(o)))
		command_refuse(&command, "--list-perf runs no kernel: only --device and --native are "
			       "accepted with it");
	if (list)
		return true;
	if (first == argc)
		command_refuse_missing(&command, 0);
	o->shader = argv[first];
	set_defaults(o);
	check_options(&command, o);
	return false;
}

/* Read the files of the arguments. The command line has been accepted. */
static bool load_args(struct run_options *o)
{
	for (unsigned int i = 0; i < o->arg_count; i++)
		if (!run_load_arg(&o->args[i]))
			return false;
	return true;
}

int main(int argc, char **argv)
{
	static struct run_options options;
	int status;

	options = unset;
	if (parse(argc, argv, &options))
		status = list_perf(options.device);
	else
		status = load_args(&options) && run_on_gpu(&options) ? finish(&options) :
			 EXIT_FAILURE;
	for (unsigned int i = 0; i < options.arg_count; i++) {
		free(options.args[i].data.bytes);
		free(options.args[i].file);
	}
	return status;
}
