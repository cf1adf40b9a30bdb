/* SPDX-License-Identifier: MIT */
/*
 * Interface shared by the demos: the command line, a device with all objects that one program
 * needs, one run of it, the report of times and of the result.
 */
#ifndef PUMICE_DEMO_H
#define PUMICE_DEMO_H

#include <stdbool.h>

#include <pumice/pumice.h>
#include <pumice/pumice_shader.h>

#include "command.h"

/* A device opened, with a VM, a context, a stream and one program. */
struct demo {
	const char *name;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_program *program;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	uint64_t clock_hz;	/* ticks of the GPU clock per second */
	uint32_t launches;	/* of the job under construction */
	uint64_t device_ns;	/* of the last run, by the GPU clock */
	uint64_t wall_ns;	/* of the last run, from submission to fence */
};

struct animation;

/*
 * Parse a demo's options: @own, or NULL, and those that all have. Return: the device's name, or
 * NULL. Exits as command_line() does.
 */
const char *demo_arguments(const char *name, const char *purpose,
			   const struct command_option *own, int argc, char **argv);

/* Open; exits with a message on failure, as do all of these. device may be NULL. */
void demo_open(struct demo *demo, const char *name, const char *device,
	       const unsigned char *program, size_t program_bytes);
void demo_close(struct demo *demo);

void demo_buffer(struct demo *demo, uint64_t bytes, struct pumice_buffer *buffer);

/* Add a program to the device; kept until demo_kernel_free() or the process's end. */
struct pumice_kernel *demo_kernel(struct demo *demo, const unsigned char *program,
				  size_t program_bytes);
void demo_kernel_free(struct pumice_kernel *kernel);

/* A launch of the job under construction. */
struct demo_launch {
	struct pumice_kernel *kernel;	/* NULL: the demo's own */
	uint32_t base, groups[3];	/* base: first work-group in x */
	const uint32_t *uniforms;
	uint32_t uniform_words;
};

/* Build a job launch by launch, each starting after the end of the previous one. */
void demo_begin(struct demo *demo);
void demo_add(struct demo *demo, const struct demo_launch *launch);
/* Run it and wait for it. */
void demo_end(struct demo *demo);

/* Run a grid once and wait for it. */
void demo_run(struct demo *demo, const uint32_t groups[3], const uint32_t *uniforms,
	      uint32_t uniform_words);
/* Generate reproducible pseudo-random numbers; state is not 0. */
uint32_t demo_random(uint32_t *state);
/* Return the same as an f32 from 0 to 1. */
float demo_random_unit(uint32_t *state);

/* Print one line: device and wall time. */
void demo_report(const struct demo *demo);

/* Print the result of the comparison with the CPU. Return: the demo's exit status. */
int demo_result(const char *name, bool good, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Save a picture of 8-bit R, G, B as a PNG file, and print one line with its CRC-32. */
void demo_write_picture(const char *name, const char *path, uint32_t width, uint32_t height,
			const uint8_t *rgb);
/* Finish an animation, and print one line. */
void demo_write_animation(const char *name, const char *path, struct animation *film);

_Noreturn void demo_fail(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Return the words of a 64-bit address, in the order that programs expect. */
static inline void demo_address(uint32_t *words, uint64_t va)
{
	words[0] = (uint32_t)va;
	words[1] = (uint32_t)(va >> 32);
}

#endif
