// SPDX-License-Identifier: MIT
/*
 * pumice-run: arguments of a kernel.
 *
 *   TYPE:VALUE                     a scalar
 *   buf:TYPE:SOURCE[:FILE]         a buffer that is filled
 *   out:TYPE:SHAPE[:FILE]          a buffer of zeroes, shown or saved at the end
 *   inout:TYPE:SOURCE[:FILE]       both
 *
 * SOURCE is a file (.npy, else raw), or a generator with a shape: zero:SHAPE,
 * const:SHAPE:VALUE, iota:SHAPE[:START[:STEP]], random:SHAPE[:SEED].
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "run.h"

#define MAX_PARTS 8u
#define GENERATORS "the generators are: zero, const, iota, random"

/* An argument split at its colons. */
struct parts {
	const char *at[MAX_PARTS];
	size_t length[MAX_PARTS];
	unsigned int count;
	unsigned int next;
};

static bool split(const char *text, struct parts *p)
{
	*p = (struct parts){ .count = 0 };
	for (;;) {
		size_t n = strcspn(text, ":");

		if (p->count == MAX_PARTS)
			return false;
		p->at[p->count] = text;
		p->length[p->count++] = n;
		if (!text[n])
			return true;
		text += n + 1;
	}
}

static bool part_is(const struct parts *p, unsigned int i, const char *word)
{
	return i < p->count && p->length[i] == strlen(word) &&
	       !memcmp(p->at[i], word, p->length[i]);
}

static bool parse_type(struct run_arg *arg, struct parts *p)
{
	if (p->next >= p->count)
		return run_error("%s: the type is missing; the types are: %s", arg->text,
				 run_type_names());
	arg->data.type = run_type_find(p->at[p->next], p->length[p->next]);
	if (!arg->data.type)
		return run_error("%s: '%.*s' is not a type; the types are: %s", arg->text,
				 (int)p->length[p->next], p->at[p->next], run_type_names());
	p->next++;
	return true;
}

/* Parse a shape such as 1024 or 512x512. */
static bool parse_shape(struct run_arg *arg, struct parts *p)
{
	const char *at, *end;

	if (p->next >= p->count || !p->length[p->next])
		return run_error("%s: the number of elements is missing; write it after the type, "
				 "such as 1024 or 512x512", arg->text);
	at = p->at[p->next];
	end = at + p->length[p->next++];
	while (at < end) {
		uint64_t size = 0;
		const char *start = at;

		for (; at < end && *at >= '0' && *at <= '9'; at++)
			if (size <= RUN_MAX_BYTES)
				size = 10 * size + (uint64_t)(*at - '0');
		if (at == start || (at < end && (*at != 'x' || at + 1 == end)) ||
		    arg->data.dims == RUN_MAX_DIMS)
			return run_error("%s: '%.*s' is not a number of elements; accepted are up to "
					 "%u numbers, such as 512x512", arg->text,
					 (int)p->length[p->next - 1], p->at[p->next - 1],
					 RUN_MAX_DIMS);
		arg->data.shape[arg->data.dims++] = size;
		at += at < end;
	}
	return run_data_alloc(arg->text, &arg->data);
}

/* Parse a number, or use @otherwise if the argument ends before it. */
static bool parse_value(struct run_arg *arg, struct parts *p, run_value otherwise,
			run_value *value)
{
	*value = otherwise;
	if (p->next >= p->count)
		return true;
	p->next++;
	return run_parse_value(arg->text, arg->data.type, p->at[p->next - 1],
			       p->length[p->next - 1], value);
}

static bool fill_zero(struct run_arg *arg, struct parts *p)
{
	return parse_shape(arg, p);
}

static bool fill_const(struct run_arg *arg, struct parts *p)
{
	run_value value;

	if (!parse_shape(arg, p))
		return false;
	if (p->next >= p->count)
		return run_error("%s: the value is missing; write it after the last part",
				 arg->text);
	if (!parse_value(arg, p, 0, &value))
		return false;
	for (uint64_t i = 0; i < arg->data.count; i++)
		run_put(&arg->data, i, value);
	return true;
}

static bool fill_iota(struct run_arg *arg, struct parts *p)
{
	run_value start, step;

	if (!parse_shape(arg, p) || !parse_value(arg, p, 0, &start) ||
	    !parse_value(arg, p, 1, &step))
		return false;
	for (uint64_t i = 0; i < arg->data.count; i++)
		run_put(&arg->data, i, start + step * (run_value)i);
	return true;
}

/*
 * Return the next number of the splitmix64 sequence: the same numbers for the same seed on all
 * hosts.
 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Generate floats from 0 to below 1, a multiple of 2^-10 (f16) or 2^-24; integers of all values. */
static bool fill_random(struct run_arg *arg, struct parts *p)
{
	const struct run_type *seeds = run_type_find("u64", 3);
	unsigned int bits = arg->data.type->bytes == 2 ? 10 : 24;
	run_value value = 1;
	uint64_t state;

	if (!parse_shape(arg, p))
		return false;
	if (p->next < p->count) {
		if (!run_parse_value(arg->text, seeds, p->at[p->next], p->length[p->next],
				     &value))
			return false;
		p->next++;
	}
	state = (uint64_t)value;
	for (uint64_t i = 0; i < arg->data.count; i++) {
		uint64_t r = next_random(&state);

		if (arg->data.type->kind == RUN_FLOAT)
			value = ldexpl((run_value)(r >> (64 - bits)), -(int)bits);
		else
			value = (run_value)r;
		run_put(&arg->data, i, value);
	}
	return true;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
	size_t n = strlen(end);

	return length > n && !memcmp(text + length - n, end, n);
}

static bool load_raw(const char *path, const void *file, size_t bytes, struct run_data *data)
{
	if (!bytes || bytes % data->type->bytes)
		return run_error("%s: %zu bytes are not a whole number of %s", path, bytes,
				 data->type->name);
	data->dims = 1;
	data->shape[0] = bytes / data->type->bytes;
	if (!run_data_alloc(path, data))
		return false;
	memcpy(data->bytes, file, bytes);
	return true;
}

static bool load_file(const char *path, struct run_data *data)
{
	size_t bytes;
	char *file = file_read("pumice-run", path, &bytes);
	bool ok;

	if (!file)
		return false;
	if (ends_with(path, strlen(path), ".npy"))
		ok = run_npy_load(path, file, bytes, data);
	else
		ok = load_raw(path, file, bytes, data);
	free(file);
	return ok;
}

static bool parse_file(struct run_arg *arg, struct parts *p)
{
	arg->file = strndup(p->at[p->next], p->length[p->next]);
	p->next++;
	return arg->file || run_error("%s: %s", arg->text, strerror(ENOMEM));
}

bool run_load_arg(struct run_arg *arg)
{
	if (!arg->file)
		return true;
	if (access(arg->file, F_OK))
		return run_error("%s: %s, and no generator; " GENERATORS, arg->file,
				 strerror(errno));
	return load_file(arg->file, &arg->data);
}

static bool parse_source(struct run_arg *arg, struct parts *p)
{
	static const struct {
		const char *name;
		bool (*fill)(struct run_arg *arg, struct parts *p);
	} generators[] = {
		{ "zero", fill_zero }, { "const", fill_const }, { "iota", fill_iota },
		{ "random", fill_random },
	};

	if (p->next >= p->count || !p->length[p->next])
		return run_error("%s: a file or a generator is missing; " GENERATORS, arg->text);
	for (size_t i = 0; i < sizeof(generators) / sizeof(generators[0]); i++) {
		if (!part_is(p, p->next, generators[i].name))
			continue;
		p->next++;
		return generators[i].fill(arg, p);
	}
	return parse_file(arg, p);
}

static bool parse_buffer(struct run_arg *arg, struct parts *p)
{
	bool filled = !part_is(p, 0, "out");

	arg->buffer = true;
	arg->output = !part_is(p, 0, "buf");
	p->next = 1;
	if (!parse_type(arg, p))
		return false;
	if (filled ? !parse_source(arg, p) : !parse_shape(arg, p))
		return false;
	if (p->next < p->count && !arg->output && arg->file)
		return run_error("%s: %s is not a generator, and nothing follows a file; "
				 GENERATORS, arg->text, arg->file);
	if (p->next < p->count && !arg->output)
		return run_error("%s: too many parts after the source; a buf: argument ends there",
				 arg->text);
	if (p->next >= p->count)
		return true;
	/* The rest is a file name, including colons. */
	arg->save = p->at[p->next];
	if (!*arg->save)
		return run_error("%s: the name of the file is missing after the last colon",
				 arg->text);
	return true;
}

static bool parse_scalar(struct run_arg *arg, struct parts *p)
{
	run_value value;

	if (!parse_type(arg, p))
		return false;
	if (arg->data.type->bytes < 4)
		return run_error("%s: %s is not a type of a scalar, which has 32 or 64 bits",
				 arg->text, arg->data.type->name);
	if (p->next >= p->count)
		return run_error("%s: the value is missing; write it after the last part",
				 arg->text);
	if (!parse_value(arg, p, 0, &value))
		return false;
	if (p->next < p->count)
		return run_error("%s: too many parts after the value; a scalar ends there",
				 arg->text);
	if (!run_data_alloc(arg->text, &arg->data))
		return false;
	run_put(&arg->data, 0, value);
	return true;
}

/* Parse "NAME=" before an argument; return the text after it, or NULL after an error. */
static const char *parse_name(const char *text, struct run_arg *arg)
{
	size_t length = strcspn(text, "=:");

	if (text[length] != '=')
		return text;
	if (!length || length >= sizeof(arg->name)) {
		run_error("%s: a name has 1 to %zu characters", arg->text, sizeof(arg->name) - 1);
		return NULL;
	}
	memcpy(arg->name, text, length);
	return text + length + 1;
}

bool run_parse_arg(const char *text, struct run_arg *arg)
{
	struct parts p;

	*arg = (struct run_arg){ .text = text };
	text = parse_name(text, arg);
	if (!text)
		return false;
	if (!split(text, &p))
		return run_error("%s: too many parts: at most %zu are accepted", text,
				 sizeof(p.at) / sizeof(p.at[0]));
	if (part_is(&p, 0, "buf") || part_is(&p, 0, "out") || part_is(&p, 0, "inout"))
		return parse_buffer(arg, &p);
	return parse_scalar(arg, &p);
}

static bool save_text(const struct run_arg *arg)
{
	size_t bytes;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);
	int failed = 1;

	if (out) {
		run_print(out, &arg->data, arg->data.count);
		if (!fclose(out))
			failed = file_write("pumice-run", arg->save, text, bytes);
	}
	free(text);
	return !failed;
}

bool run_save(const struct run_arg *arg)
{
	size_t length = strlen(arg->save);

	if (ends_with(arg->save, length, ".npy"))
		return run_npy_save(arg->save, &arg->data);
	if (ends_with(arg->save, length, ".txt"))
		return save_text(arg);
	return !file_write("pumice-run", arg->save, arg->data.bytes,
			   arg->data.count * arg->data.type->bytes);
}

/* Return whether two elements are equal: NaN equals NaN, others may be @tolerance apart. */
static bool same(run_value a, run_value b, run_value tolerance)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	return a == b || fabsl(a - b) <= tolerance;
}

bool run_check(unsigned int index, const struct run_arg *arg, run_value tolerance, bool *equal)
{
	struct run_data wanted = { .type = arg->data.type };
	uint64_t wrong = 0, first = 0;

	if (!load_file(arg->check, &wanted))
		return false;
	if (wanted.count != arg->data.count) {
		free(wanted.bytes);
		return run_error("argument %u: %" PRIu64 " elements, but %s has %" PRIu64, index,
				 arg->data.count, arg->check, wanted.count);
	}
	for (uint64_t i = wanted.count; i-- > 0;) {
		if (same(run_get(&arg->data, i), run_get(&wanted, i), tolerance))
			continue;
		first = i;
		wrong++;
	}
	if (wrong) {
		fprintf(stderr, "pumice-run: argument %u: %" PRIu64 " of %" PRIu64
			" elements differ from %s, the first at %" PRIu64 ": ", index, wrong,
			wanted.count, arg->check, first);
		run_print_element(stderr, &arg->data, first);
		fputs(" instead of ", stderr);
		run_print_element(stderr, &wanted, first);
		fputc('\n', stderr);
	}
	free(wanted.bytes);
	*equal &= !wrong;
	return true;
}
