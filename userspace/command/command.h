/* SPDX-License-Identifier: MIT */
/*
 * Command lines of the tools and demos, parsed by getopt_long().
 *
 * A program describes its options in one table, from which --help is made. -h, --help, -V and
 * --version are in all programs; -d DEVICE has one meaning (COMMAND_DEVICE). An option or word
 * that is not in the description, an abbreviated name included, ends the program with
 * COMMAND_REFUSED, after one sentence that names it and what is accepted.
 */
#ifndef PUMICE_COMMAND_H
#define PUMICE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#define COMMAND_REFUSED	2	/* exit status for a command line that is not accepted */

struct command;
struct pumice_device;

/* An option; exactly one of flag, text, number, real and parse receives it. */
struct command_option {
	char letter;		/* 0: none */
	const char *name;	/* long form; NULL: none */
	const char *value;	/* name of its value in --help; NULL: has no value */
	const char *help;	/* lines separated by \n */
	bool *flag;
	const char **text;
	uint32_t *number;
	double *real;
	/* Exits by command_refuse() if the value is not accepted. @text: NULL without a value */
	void (*parse)(const struct command *c, const char *text, void *data);
	void *data;		/* of parse */
	double min, max;	/* of number and real */
};

/* Interfaces whose versions --version prints. */
enum command_version {
	COMMAND_VERSION_GPU = 1,	/* uapi, firmware interface, register map */
	COMMAND_VERSION_REGISTERS = 2,	/* register map */
	COMMAND_VERSION_PROGRAM = 4,	/* program files */
	COMMAND_VERSION_DUMP = 8,	/* dump files */
	COMMAND_VERSION_CAPTURE = 16,	/* capture files */
};

/* A program. */
struct command {
	const char *name;
	const char *words;	/* words after the options, as in the synopsis; NULL: none */
	int min_words, max_words;	/* max_words: -1 for no limit; the first ends the options */
	const char *purpose;	/* whole lines */
	const struct command_option *options;	/* ended by one without letter and name; or NULL */
	const char *notes;	/* whole lines after the options; or NULL */
	unsigned int versions;	/* enum command_version */
};

/* The one meaning of -d: a GPU, for command_device_open() or pumice_device_open(). */
#define COMMAND_DEVICE_TEXT "the GPU: drm, drm:/dev/dri/renderD128, inproc,\n" \
			    "inproc:cores=4,threads=2 …"
#define COMMAND_DEVICE(to) \
	{ .letter = 'd', .name = "device", .value = "DEVICE", .text = (to), \
	  .help = COMMAND_DEVICE_TEXT "\n(default: environment variable PUMICE_DEVICE, else drm)" }
#define COMMAND_OUTPUT(to, file, what) \
	{ .letter = 'o', .name = "output", .value = (file), .text = (to), .help = (what) }

/*
 * Parse a command line. Exits for --help and --version, and if it is not accepted. When the program
 * exits later, and not all of its standard output was written, it exits with 1 after a message.
 * Return: index of the first word.
 */
int command_line(const struct command *c, int argc, char **argv);

/* Exit with COMMAND_REFUSED after "NAME: SENTENCE" to standard error. */
_Noreturn void command_refuse(const struct command *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Refuse a command line without the word after the first @count of the synopsis. */
_Noreturn void command_refuse_missing(const struct command *c, int count);

/* Return the device of -d, else that of the environment, or NULL. */
const char *command_device_name(const char *device);
/* Open a GPU, or exit with 1 after a message. */
struct pumice_device *command_device_open(const char *program, const char *device);

/* Return whether the GPU is in this process: it has no other users that could be observed. */
bool command_device_is_own(struct pumice_device *dev);

/* Print the reply to --version. */
void command_print_version(const struct command *c);

#endif
