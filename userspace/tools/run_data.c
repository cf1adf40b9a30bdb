// SPDX-License-Identifier: MIT
/* pumice-run: types of elements, and buffers of them. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

static const struct run_type types[] = {
	{ "u8", "u1", 1, RUN_UNSIGNED }, { "i8", "i1", 1, RUN_SIGNED },
	{ "u16", "u2", 2, RUN_UNSIGNED }, { "i16", "i2", 2, RUN_SIGNED },
	{ "u32", "u4", 4, RUN_UNSIGNED }, { "i32", "i4", 4, RUN_SIGNED },
	{ "u64", "u8", 8, RUN_UNSIGNED }, { "i64", "i8", 8, RUN_SIGNED },
	{ "f16", "f2", 2, RUN_FLOAT },	 { "f32", "f4", 4, RUN_FLOAT },
	{ "f64", "f8", 8, RUN_FLOAT },
};

#define TYPES (sizeof(types) / sizeof(types[0]))

const struct run_type *run_type_find(const char *name, size_t length)
{
	for (size_t i = 0; i < TYPES; i++)
		if (strlen(types[i].name) == length && !memcmp(types[i].name, name, length))
			return &types[i];
	return NULL;
}

const char *run_type_names(void)
{
	return "u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64";
}

/* Get the smallest and the largest integer of a type. */
static void range_of(const struct run_type *type, run_value *min, run_value *max)
{
	unsigned int bits = 8 * (unsigned int)type->bytes;

	*min = type->kind == RUN_SIGNED ? -ldexpl(1, (int)bits - 1) : 0;
	*max = ldexpl(1, (int)bits - (type->kind == RUN_SIGNED)) - 1;
}

bool run_parse_value(const char *what, const struct run_type *type, const char *text,
		     size_t length, run_value *value)
{
	run_value min, max;
	char copy[64], *end;

	if (!length || length >= sizeof(copy))
		return run_error("%s: a number of 1 to %zu characters is expected", what,
				 sizeof(copy) - 1);
	memcpy(copy, text, length);
	copy[length] = '\0';
	*value = strtold(copy, &end);
	if (*end || copy[0] == ' ')
		return run_error("%s: '%s' is not a number", what, copy);
	if (type->kind == RUN_FLOAT)
		return true;
	range_of(type, &min, &max);
	if (!(*value >= min && *value <= max) || *value != truncl(*value))
		return run_error("%s: %s cannot represent %s; whole numbers from %.0Lf to %.0Lf fit",
				 what, type->name, copy, min, max);
	return true;
}

/* Get the bits of a value in an integer type, modulo its size. */
static uint64_t integer_bits(run_value value)
{
	run_value wrapped = fmodl(truncl(value), ldexpl(1, 64));

	return wrapped < 0 ? (uint64_t)-(uint64_t)-wrapped : (uint64_t)wrapped;
}

run_value run_get(const struct run_data *data, uint64_t index)
{
	size_t bytes = data->type->bytes;
	const char *at = (const char *)data->bytes + index * bytes;
	uint64_t bits = 0;
	_Float16 half;
	double real;
	float single;

	memcpy(&bits, at, bytes);
	if (data->type->kind == RUN_UNSIGNED)
		return bits;
	if (data->type->kind == RUN_SIGNED)
		return (int64_t)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes);
	memcpy(&half, at, sizeof(half));
	if (bytes == sizeof(half))
		return half;
	memcpy(&single, at, sizeof(single));
	if (bytes == sizeof(single))
		return single;
	memcpy(&real, at, sizeof(real));
	return real;
}

void run_put(struct run_data *data, uint64_t index, run_value value)
{
	size_t bytes = data->type->bytes;
	char *at = (char *)data->bytes + index * bytes;
	_Float16 half = (_Float16)value;
	float single = (float)value;
	double real = (double)value;
	uint64_t bits;

	if (data->type->kind != RUN_FLOAT) {
		bits = integer_bits(value);
		memcpy(at, &bits, bytes);
	} else if (bytes == sizeof(half)) {
		memcpy(at, &half, bytes);
	} else if (bytes == sizeof(single)) {
		memcpy(at, &single, bytes);
	} else {
		memcpy(at, &real, bytes);
	}
}

bool run_data_alloc(const char *what, struct run_data *data)
{
	uint64_t bytes = data->type->bytes;

	data->count = 1;
	for (unsigned int i = 0; i < data->dims; i++) {
		if (!data->shape[i])
			return run_error("%s: the number of elements is 0; set it to 1 or more",
					 what);
		if (data->shape[i] > RUN_MAX_BYTES / bytes)
			return run_error("%s: more than %llu bytes", what, RUN_MAX_BYTES);
		bytes *= data->shape[i];
		data->count *= data->shape[i];
	}
	data->bytes = calloc(1, bytes < 8 ? 8 : bytes);
	return data->bytes || run_error("%s: %s", what, strerror(ENOMEM));
}

void run_print_element(FILE *out, const struct run_data *data, uint64_t index)
{
	run_value value = run_get(data, index);

	if (data->type->kind == RUN_UNSIGNED)
		fprintf(out, "%" PRIu64, (uint64_t)value);
	else if (data->type->kind == RUN_SIGNED)
		fprintf(out, "%" PRId64, (int64_t)value);
	else
		fprintf(out, "%.*Lg", data->type->bytes == 2 ? 5 : data->type->bytes == 4 ? 9 : 17,
			value);
}

void run_print(FILE *out, const struct run_data *data, uint64_t limit)
{
	uint64_t row = data->dims ? data->shape[data->dims - 1] : 1;
	uint64_t count = limit < data->count ? limit : data->count;

	for (uint64_t i = 0; i < count; i++) {
		run_print_element(out, data, i);
		fputc((i + 1) % row && i + 1 < count ? ' ' : '\n', out);
	}
	if (count < data->count)
		fprintf(out, "… %" PRIu64 " more\n", data->count - count);
}
