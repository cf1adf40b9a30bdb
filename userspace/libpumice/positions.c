// SPDX-License-Identifier: MIT
/*
 * Coordinate programs, derived from vertex programs (userspace/compiler/slice.h).
 *
 * Source: document 001, "Binning Pass". pumice_stream_stages() uses them for deferred vertex
 * shading unless the caller has a coordinate program; a kernel keeps those derived from it.
 */
#include <stdlib.h>
#include <string.h>

#include "gfx.h"
#include "slice.h"

/* Derive the file of a coordinate program. Return: 0 or a negative errno, with a text. */
static int derive(const struct pumice_program *program, u32 outputs, u8 **made, size_t *made_bytes,
		  const struct reason *reason)
{
	const size_t head = PUMICE_PROGRAM_HEADER_WORDS * sizeof(u32);
	const size_t bytes = program->header.file_bytes;
	char text[PUMICE_ERROR_BYTES] = "";
	u32 *file = malloc(bytes);
	int err = -ENOMEM;

	if (file) {
		pumice_program_header_pack(file, &program->header);
		memcpy((u8 *)file + head, program->words, bytes - head);
		err = slice_file(file, bytes, outputs, made, made_bytes, text, sizeof(text));
	}
	free(file);
	if (err == -EINVAL)
		return REFUSE(reason, "%s", text);
	if (err)
		return fail_text(reason->text, reason->bytes, ENOMEM, "program: out of memory");
	return 0;
}

int pumice_program_positions(const struct pumice_program *program, uint32_t outputs,
			     struct pumice_program **positions, char *error, size_t error_bytes)
{
	const struct reason reason = { error, error_bytes };
	size_t bytes;
	u8 *file;
	int err;

	if (!program)
		return REFUSE(&reason, "program is NULL; set it");
	err = derive(program, outputs, &file, &bytes, &reason);
	if (err)
		return err;
	err = pumice_program_parse(file, bytes, positions, error, error_bytes);
	free(file);
	return err;
}

static int create(const struct pumice_kernel *vertex, u32 outputs, struct pumice_kernel **kernel)
{
	char error[PUMICE_ERROR_BYTES];
	struct pumice_program *program;
	int err = pumice_program_positions(vertex->program, outputs, &program, error,
					   sizeof(error));

	if (err)
		return fail(vertex->vm->dev, -err, "stage: %s", error);
	err = pumice_kernel_create(vertex->vm, program, kernel);
	pumice_program_destroy(program);
	return err;
}

int kernel_positions(struct pumice_kernel *vertex, bool size, struct pumice_kernel **kernel)
{
	struct pumice_kernel **slot = &vertex->positions[size], *made;
	int err;

	pthread_mutex_lock(&vertex->vm->lock);
	*kernel = *slot;
	pthread_mutex_unlock(&vertex->vm->lock);
	if (*kernel)
		return 0;
	err = create(vertex, PUMICE_POSITION_OUTPUTS + size, &made);
	if (err)
		return err;
	/* Another thread may have derived it meanwhile. */
	pthread_mutex_lock(&vertex->vm->lock);
	if (!*slot) {
		*slot = made;
		made = NULL;
	}
	*kernel = *slot;
	pthread_mutex_unlock(&vertex->vm->lock);
	pumice_kernel_destroy(made);
	return 0;
}
