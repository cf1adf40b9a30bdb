/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Interfaces between the files of the layer. */
#ifndef IGT_LAYER_H
#define IGT_LAYER_H

#include "igt_core.h"

/** enum igt_layer_mode - requested mode of the program */
enum igt_layer_mode {
	IGT_LAYER_RUN,
	IGT_LAYER_LIST,		/* names of subtests */
	IGT_LAYER_TESTLIST,	/* the same as the runner writes them */
	IGT_LAYER_DESCRIBE,	/* names and descriptions */
};

/** struct igt_layer_options - the command line */
struct igt_layer_options {
	enum igt_layer_mode mode;
	/** @wanted: pattern of subtests to run or describe, or NULL for all */
	const char *wanted;
	/** @level: least important message that is printed */
	enum igt_log_level level;
	/** @domain: with --debug=: the only domain whose debug messages are printed */
	const char *domain;
	/** @device: node that tests are to open, or NULL for the first that fits */
	const char *device;
};

extern struct igt_layer_options igt_layer_options;

/** igt_layer_parse - read the command line; exits if an option requests only that. */
void igt_layer_parse(int argc, char **argv);

/** igt_layer_version - print the line that names version and machine. */
void igt_layer_version(void);

/**
 * igt_layer_matches - return whether a name matches a list of patterns
 * @patterns: comma-separated shell patterns; one that starts with ! excludes names;
 *            the last that matches decides
 */
bool igt_layer_matches(const char *patterns, const char *name);

/** igt_layer_log_name - set the program's name for messages. */
void igt_layer_log_name(const char *name);

/** igt_layer_program - that name. */
const char *igt_layer_program(void);

/** igt_layer_kmsg - write a line to the kernel's log, where the runner looks for marks. */
void igt_layer_kmsg(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** igt_layer_log_clear - discard previous messages when a new subtest starts. */
void igt_layer_log_clear(void);

/** igt_layer_log_dump - print all messages since; @what: the block that failed. */
void igt_layer_log_dump(const char *what);

/** igt_layer_is_child - return whether this process is a child of igt_fork(). */
bool igt_layer_is_child(void);

/** igt_layer_forget_children - kill and collect the children of a failed subtest. */
void igt_layer_forget_children(void);

/** igt_layer_forget_exit_handlers - in a new child: drop those of its parent. */
void igt_layer_forget_exit_handlers(void);

/** igt_layer_call_exit_handlers - call them when a signal, or 0, ends the process. */
void igt_layer_call_exit_handlers(int signal);

#endif
