/* SPDX-License-Identifier: MIT */
/*
 * Internal interface of the parts of pumice-run: elements and buffers (run_data.c), .npy
 * files (run_npy.c), arguments (run_args.c), the GPU (run_gpu.c), counts of the memory
 * hierarchy (run_counts.c), the command line (run.c).
 *
 * Functions that fail print the reason to standard error and return false.
 */
#ifndef PUMICE_RUN_H
#define PUMICE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define RUN_MAX_ARGS	64u
#define RUN_MAX_DIMS	8u
#define RUN_MAX_BYTES	(1ull << 32)	/* of one buffer */
#define RUN_MAX_PERF	32u

enum run_kind { RUN_UNSIGNED, RUN_SIGNED, RUN_FLOAT };

/* A type of elements. */
struct run_type {
	const char *name;	/* f32 */
	char code[3];		/* of .npy files: f4 */
	size_t bytes;
	enum run_kind kind;
};

/* A value of any type; represents all 64-bit integers and f64 exactly on the supported hosts. */
typedef long double run_value;

/* Elements with a shape, row by row. */
struct run_data {
	const struct run_type *type;
	unsigned int dims;
	uint64_t shape[RUN_MAX_DIMS];
	uint64_t count;		/* product of the shape */
	void *bytes;		/* count * type->bytes, owned */
};

struct run_arg {
	const char *text;	/* as passed, for errors */
	char name[32];		/* as passed, or empty */
	bool buffer;		/* else a scalar */
	bool output;		/* shown or saved at the end */
	struct run_data data;	/* of a scalar: one element */
	char *file;		/* owned: source of the data, read by run_load_arg(); or NULL */
	const char *save;	/* file, or NULL */
	const char *check;	/* file to compare with, or NULL */
};

struct run_options {
	const char *shader, *device;
	struct run_arg args[RUN_MAX_ARGS];
	unsigned int arg_count;
	uint32_t groups[3];
	uint32_t repeat;
	uint64_t timeout_ns;
	uint64_t print;		/* maximum elements of an output to show */
	double tolerance;
	bool time, no_warnings;
	bool counted;		/* count the requests to the memory hierarchy */
	char counted_device[512];	/* the device then */
	const char *perf;	/* names of counters, or NULL */
	const char *trace;	/* file for the event trace, or NULL */
};

/* Print "pumice-run: …" to standard error. Return: false, for the caller to return. */
bool run_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* run_data.c */
const struct run_type *run_type_find(const char *name, size_t length);
/* Return the names of all types, for errors. */
const char *run_type_names(void);
/* Parse a number of the type. @what: for errors */
bool run_parse_value(const char *what, const struct run_type *type, const char *text,
		     size_t length, run_value *value);
run_value run_get(const struct run_data *data, uint64_t index);
void run_put(struct run_data *data, uint64_t index, run_value value);
/* Allocate zeroed memory for the shape; checks its size. @what: for errors */
bool run_data_alloc(const char *what, struct run_data *data);
void run_print_element(FILE *out, const struct run_data *data, uint64_t index);
/* Print the first @limit elements, a row of the last dimension per line. */
void run_print(FILE *out, const struct run_data *data, uint64_t limit);

/* run_npy.c: @data->type is the type required of the file */
bool run_npy_load(const char *path, const void *file, size_t bytes, struct run_data *data);
bool run_npy_save(const char *path, const struct run_data *data);

/* run_args.c */
bool run_parse_arg(const char *text, struct run_arg *arg);
/* Read the file of an argument that has one. */
bool run_load_arg(struct run_arg *arg);
/* Save an output in the format given by its file's name. */
bool run_save(const struct run_arg *arg);
/* Compare an output with a file. @equal: cleared if they differ, with a message */
bool run_check(unsigned int index, const struct run_arg *arg, run_value tolerance, bool *equal);

/* run_counts.c: counts of the memory hierarchy */
struct pumice_device;
struct counts;

/*
 * Write the name of the device of -d, or of its default, in mode counted. Return: false, without a
 * message, if it is not in this process or its name has more than @bytes.
 */
bool run_counted_device(const char *device, char *text, size_t bytes);
/* Return all counts, to be freed; or NULL after a message. */
struct counts *run_counts_read(struct pumice_device *dev);
/* Print tables of the requests between two readings. Return: false after a message. */
bool run_counts_print(FILE *out, const struct counts *before, const struct counts *after);

/* run_gpu.c: load or assemble, launch, read back outputs */
bool run_on_gpu(struct run_options *options);

#endif
