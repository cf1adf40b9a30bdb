// SPDX-License-Identifier: MIT
/*
 * pumice-run: .npy files, versions 1 to 3, little endian, in C order.
 *
 * A file is a magic number, a version, the length of a header, the header (a
 * Python dictionary with descr, fortran_order and shape), and the elements.
 * Only the headers that numpy writes for plain types are supported.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "run.h"

#define MAGIC		"\x93NUMPY"
#define MAGIC_BYTES	6u
#define ALIGN		64u	/* of the elements in the files that are written */

/* Location of the header's text. */
struct npy_header {
	const char *text;
	size_t bytes;
	size_t data;	/* offset of the elements */
};

static bool find_header(const char *path, const uint8_t *file, size_t bytes,
			struct npy_header *header)
{
	size_t start;

	if (bytes < MAGIC_BYTES + 4 || memcmp(file, MAGIC, MAGIC_BYTES))
		return run_error("%s: not a .npy file; numpy.save() writes one", path);
	if (file[6] < 1 || file[6] > 3)
		return run_error("%s: .npy version %u.%u is not 1 to 3", path, file[6],
				 file[7]);
	start = file[6] == 1 ? 10 : 12;
	if (bytes < start)
		return run_error("%s: the .npy header is truncated; save it again", path);
	header->bytes = file[8] | (size_t)file[9] << 8;
	if (file[6] > 1)
		header->bytes |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
	header->text = (const char *)file + start;
	header->data = start + header->bytes;
	if (header->bytes > bytes - start)
		return run_error("%s: the .npy header is truncated; save it again", path);
	return true;
}

/* Find the value after "'key':", skipping blanks; NULL if the key is missing. */
static const char *value_of(const struct npy_header *header, const char *key)
{
	const char *end = header->text + header->bytes;
	size_t length = strlen(key);

	for (const char *at = header->text; at + length + 2 < end; at++) {
		if ((*at != '\'' && *at != '"') || memcmp(at + 1, key, length) ||
		    at[length + 1] != *at)
			continue;
		at += length + 2;
		while (at < end && (*at == ' ' || *at == ':'))
			at++;
		return at < end ? at : NULL;
	}
	return NULL;
}

static bool check_type(const char *path, const struct npy_header *header,
		       const struct run_type *type)
{
	const char *descr = value_of(header, "descr"), *end = header->text + header->bytes;

	if (!descr || end - descr < 5 || (*descr != '\'' && *descr != '"'))
		return run_error("%s: the .npy header has no plain type; save numbers, not records",
				 path);
	if (descr[1] == '>')
		return run_error("%s: the elements are big endian; save them in little endian",
				 path);
	if (!strchr("<|=", descr[1]) || descr[4] != *descr)
		return run_error("%s: the .npy header has no plain type; save numbers, not records",
				 path);
	if (memcmp(descr + 2, type->code, 2))
		return run_error("%s: its type is %.2s, but the argument's is %s (%s)", path,
				 descr + 2, type->name, type->code);
	return true;
}

static bool check_order(const char *path, const struct npy_header *header)
{
	const char *order = value_of(header, "fortran_order");
	const char *end = header->text + header->bytes;

	if (order && end - order >= 5 && !memcmp(order, "False", 5))
		return true;
	if (order && end - order >= 4 && !memcmp(order, "True", 4))
		return run_error("%s: the elements are in Fortran order; save them in C order "
				 "(numpy.ascontiguousarray)", path);
	return run_error("%s: the .npy header does not specify the order; save it again", path);
}

/* Parse "(3, 4)"; "()" is one element. */
static bool read_shape(const char *path, const struct npy_header *header, struct run_data *data)
{
	const char *at = value_of(header, "shape"), *end = header->text + header->bytes;

	data->dims = 0;
	if (!at || *at++ != '(')
		return run_error("%s: the .npy header has no shape; save it again", path);
	for (;;) {
		uint64_t size = 0;

		while (at < end && (*at == ' ' || *at == ','))
			at++;
		if (at < end && *at == ')')
			return true;
		if (at >= end || !isdigit((unsigned char)*at) || data->dims == RUN_MAX_DIMS)
			return run_error("%s: the .npy header's shape is not 1 to %u numbers", path,
					 RUN_MAX_DIMS);
		for (; at < end && isdigit((unsigned char)*at); at++)
			if (size <= RUN_MAX_BYTES)
				size = 10 * size + (uint64_t)(*at - '0');
		data->shape[data->dims++] = size;
	}
}

bool run_npy_load(const char *path, const void *file, size_t bytes, struct run_data *data)
{
	struct npy_header header = { 0 };
	uint64_t wanted;

	if (!find_header(path, file, bytes, &header) || !check_type(path, &header, data->type) ||
	    !check_order(path, &header) || !read_shape(path, &header, data) ||
	    !run_data_alloc(path, data))
		return false;
	wanted = data->count * data->type->bytes;
	if (bytes - header.data != wanted)
		return run_error("%s: %zu bytes of elements, but its shape requires %" PRIu64, path,
				 bytes - header.data, wanted);
	memcpy(data->bytes, (const char *)file + header.data, wanted);
	return true;
}

/* Build the header's text with its newline, padded to align the elements. */
static size_t make_header(const struct run_data *data, char *text, size_t room)
{
	size_t used = (size_t)snprintf(text, room, "{'descr': '%c%s', 'fortran_order': False, "
				       "'shape': (", data->type->bytes == 1 ? '|' : '<',
				       data->type->code);

	for (unsigned int i = 0; i < data->dims; i++)
		used += (size_t)snprintf(text + used, room - used, "%" PRIu64 ",%s",
					 data->shape[i], i + 1 < data->dims ? " " : "");
	used += (size_t)snprintf(text + used, room - used, "), }");
	while ((10 + used + 1) % ALIGN)
		text[used++] = ' ';
	text[used++] = '\n';
	return used;
}

bool run_npy_save(const char *path, const struct run_data *data)
{
	char text[512];
	size_t header = make_header(data, text, sizeof(text) - ALIGN);
	size_t elements = data->count * data->type->bytes, bytes = 10 + header + elements;
	uint8_t *file = malloc(bytes);
	int failed;

	if (!file)
		return run_error("%s: out of memory", path);
	memcpy(file, MAGIC "\x01\x00", 8);
	file[8] = (uint8_t)header;
	file[9] = (uint8_t)(header >> 8);
	memcpy(file + 10, text, header);
	memcpy(file + 10 + header, data->bytes, elements);
	failed = file_write("pumice-run", path, file, bytes);
	free(file);
	return !failed;
}
