/* SPDX-License-Identifier: MIT */
/* Coordinate programs: vertex programs reduced to their first outputs. */
#ifndef PUMICE_SLICE_H
#define PUMICE_SLICE_H

#include <stddef.h>
#include <stdint.h>

/**
 * slice_program - remove the instructions that do not contribute to the first vertex outputs.
 * @usc: @count instructions of a vertex program
 * @outputs: the program keeps VO0 to VO@outputs - 1
 * @keep: out: @count flags, true for instructions that remain
 * @error: receives the reason of -EINVAL
 * @error_bytes: size of @error
 *
 * The rest computes the same values of these outputs, for the same inputs.
 *
 * Return: 0; -EINVAL for a program that stores to memory, which the rest would do again, or with
 * an illegal instruction; -ENOMEM.
 */
int slice_program(const uint32_t *usc, uint32_t count, uint32_t outputs, uint8_t *keep, char *error,
		  size_t error_bytes);

/**
 * slice_file - derive the program file of a coordinate program from that of a vertex program.
 * @file: fully validated
 * @outputs: as in slice_program()
 * @out: the file, to be freed by the caller; it has the same resources, inputs and source lines
 *
 * Return: as slice_program(); -EINVAL also for a program of another stage, or with fewer outputs.
 */
int slice_file(const void *file, size_t bytes, uint32_t outputs, uint8_t **out, size_t *out_bytes,
	       char *error, size_t error_bytes);

#endif
