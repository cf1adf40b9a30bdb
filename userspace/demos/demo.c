// SPDX-License-Identifier: MIT
/* Functions shared by the demos. */
#include "demo.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <zlib.h>

#include "animation.h"
#include "picture.h"

#define STREAM_BYTES	65536
#define MAX_OPTIONS	4u	/* of a demo's own */
#define RUN_TIMEOUT_NS	(60 * 1000000000ull)

_Noreturn void demo_fail(const char *name, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

const char *demo_arguments(const char *name, const char *purpose,
			   const struct command_option *own, int argc, char **argv)
{
	struct command_option options[MAX_OPTIONS + 2] = { { 0 } };
	const struct command command = {
		.name = name,
		.purpose = purpose,
		.options = options,
		.versions = COMMAND_VERSION_GPU,
	};
	const char *device = NULL;
	unsigned int count = 0;

	while (own && (own->letter || own->name) && count < MAX_OPTIONS)
		options[count++] = *own++;
	options[count] = (struct command_option)COMMAND_DEVICE(&device);
	command_line(&command, argc, argv);
	return device;
}

/* Exit if a library call failed. */
static void check(const struct demo *demo, const char *what, int ret)
{
	if (ret)
		demo_fail(demo->name, "%s: %s", what, pumice_device_error(demo->dev));
}

void demo_open(struct demo *demo, const char *name, const char *device,
	       const unsigned char *program, size_t program_bytes)
{
	char error[PUMICE_ERROR_BYTES];
	struct pumice_device_info info;

	*demo = (struct demo){ .name = name };
	demo->dev = command_device_open(name, device);
	if (pumice_program_parse(program, program_bytes, &demo->program, error, sizeof(error)))
		demo_fail(name, "program: %s", error);
	check(demo, "device", pumice_device_info(demo->dev, &info));
	demo->clock_hz = info.clock_hz;
	check(demo, "VM", pumice_vm_create(demo->dev, &demo->vm));
	check(demo, "context", pumice_context_create(demo->vm, PUMICE_PRIORITY_NORMAL,
						     &demo->context));
	check(demo, "kernel", pumice_kernel_create(demo->vm, demo->program, &demo->kernel));
	check(demo, "stream", pumice_stream_create(demo->vm, STREAM_BYTES, &demo->stream));
	printf("%s: %s, %u cores of %u USCs, firmware %s\n", name, info.backend, info.cores,
	       info.uscs_per_core, info.fw_build_id);
}

void demo_close(struct demo *demo)
{
	pumice_stream_destroy(demo->stream);
	pumice_kernel_destroy(demo->kernel);
	pumice_program_destroy(demo->program);
	pumice_context_destroy(demo->context);
	pumice_vm_destroy(demo->vm);
	pumice_device_close(demo->dev);
}

void demo_buffer(struct demo *demo, uint64_t bytes, struct pumice_buffer *buffer)
{
	check(demo, "buffer", pumice_buffer_create(demo->vm, bytes, buffer));
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

struct pumice_kernel *demo_kernel(struct demo *demo, const unsigned char *program,
				  size_t program_bytes)
{
	char error[PUMICE_ERROR_BYTES];
	struct pumice_program *parsed;
	struct pumice_kernel *kernel;

	if (pumice_program_parse(program, program_bytes, &parsed, error, sizeof(error)))
		demo_fail(demo->name, "program: %s", error);
	check(demo, "kernel", pumice_kernel_create(demo->vm, parsed, &kernel));
	pumice_program_destroy(parsed);
	return kernel;
}

void demo_kernel_free(struct pumice_kernel *kernel)
{
	pumice_kernel_destroy(kernel);
}

void demo_begin(struct demo *demo)
{
	pumice_stream_reset(demo->stream);
	demo->launches = 0;
}

void demo_add(struct demo *demo, const struct demo_launch *launch)
{
	const struct pumice_dispatch dispatch = {
		.kernel = launch->kernel ? launch->kernel : demo->kernel,
		.groups = { launch->groups[0], launch->groups[1], launch->groups[2] },
		.base = { launch->base },
		.uniforms = launch->uniforms,
		.uniform_words = launch->uniform_words,
	};

	if (demo->launches++)
		check(demo, "fence", pumice_stream_fence(demo->stream));
	check(demo, "dispatch", pumice_stream_dispatch(demo->stream, &dispatch));
}

void demo_end(struct demo *demo)
{
	struct pumice_context_state state;
	uint64_t va, start;

	check(demo, "stream", pumice_stream_end(demo->stream, &va));
	start = now_ns();
	check(demo, "job", pumice_context_run(demo->context, va, RUN_TIMEOUT_NS, &state));
	demo->wall_ns = now_ns() - start;
	demo->device_ns = (uint64_t)((double)(state.last_end - state.last_start) * 1e9 /
				     (double)demo->clock_hz);
}

void demo_run(struct demo *demo, const uint32_t groups[3], const uint32_t *uniforms,
	      uint32_t uniform_words)
{
	const struct demo_launch launch = {
		.groups = { groups[0], groups[1], groups[2] },
		.uniforms = uniforms,
		.uniform_words = uniform_words,
	};

	demo_begin(demo);
	demo_add(demo, &launch);
	demo_end(demo);
}

uint32_t demo_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

float demo_random_unit(uint32_t *state)
{
	return (float)(demo_random(state) >> 8) / 16777216.0f;
}

void demo_report(const struct demo *demo)
{
	printf("%s: device %.3f ms, wall %.3f ms from submission to fence\n", demo->name,
	       (double)demo->device_ns / 1e6, (double)demo->wall_ns / 1e6);
}

int demo_result(const char *name, bool good, const char *format, ...)
{
	va_list args;

	printf("%s: ", name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(": %s\n", good ? "ok" : "WRONG");
	return !good;
}

void demo_write_picture(const char *name, const char *path, uint32_t width, uint32_t height,
			const uint8_t *rgb)
{
	if (!picture_write(path, width, height, rgb))
		demo_fail(name, "%s: cannot be written: %s", path, strerror(errno));
	printf("%s: wrote %s, CRC-32 %08lx\n", name, path,
	       crc32_z(0, rgb, (size_t)width * height * 3));
}

void demo_write_animation(const char *name, const char *path, struct animation *film)
{
	if (!animation_close(film))
		demo_fail(name, "%s: cannot be written: %s", path, strerror(errno));
	printf("%s: wrote %s\n", name, path);
}
