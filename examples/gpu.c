// SPDX-License-Identifier: MIT
/* Devices of the examples: see gpu.h. */
#include "gpu.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_BYTES	65536u

void gpu_check(struct gpu *gpu, int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", what, pumice_device_error(gpu->dev));
	exit(1);
}

/* Print the usage and exit if the first argument is an option, or if there are too many. */
static void check_usage(int argc, char **argv, int most, const char *words)
{
	bool help;

	if (argc < 2 || (argv[1][0] != '-' && argc <= 1 + most))
		return;
	help = !strcmp(argv[1], "-h") || !strcmp(argv[1], "--help");
	fprintf(help ? stdout : stderr, "usage: %s %s; DEVICE: inproc (default), "
		"inproc:KEY=VALUE,..., drm or drm:NODE\n", argv[0], words);
	exit(help ? 0 : 2);
}

/* Print a mistake in a shader that can run nevertheless. */
static void print_warning(void *data, const char *text)
{
	(void)data;
	fprintf(stderr, "%s\n", text);
}

void gpu_open(struct gpu *gpu, int argc, char **argv, uint64_t bytes)
{
	char error[PUMICE_ERROR_BYTES];

	*gpu = (struct gpu){ 0 };
	check_usage(argc, argv, 2, "[DEVICE [PICTURE.ppm]]");
	if (pumice_device_open(argc > 1 ? argv[1] : "inproc", &gpu->dev, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		exit(1);
	}
	pumice_device_set_warnings(gpu->dev, print_warning, NULL);
	gpu_check(gpu, pumice_vm_create(gpu->dev, &gpu->vm), "vm");
	gpu_check(gpu, pumice_buffer_create(gpu->vm, bytes, &gpu->memory), "memory");
	gpu->cpu = gpu->memory.cpu;
	gpu->va = gpu->memory.va;
}

struct pumice_kernel *gpu_kernel(struct gpu *gpu, const char *shader)
{
	struct pumice_kernel *kernel;

	gpu_check(gpu, pumice_kernel_assemble(gpu->vm, "shader", shader, &kernel), "kernel");
	return kernel;
}

void gpu_open_compute(struct gpu *gpu, int argc, char **argv, const char *shader, uint64_t bytes)
{
	check_usage(argc, argv, 1, "[DEVICE]");
	gpu_open(gpu, argc, argv, bytes);
	gpu->kernel = gpu_kernel(gpu, shader);
	gpu_check(gpu, pumice_context_create(gpu->vm, PUMICE_PRIORITY_NORMAL, &gpu->context),
		  "context");
	gpu_check(gpu, pumice_stream_create(gpu->vm, STREAM_BYTES, &gpu->stream), "stream");
}

void gpu_close(struct gpu *gpu)
{
	pumice_stream_destroy(gpu->stream);
	pumice_kernel_destroy(gpu->kernel);
	pumice_context_destroy(gpu->context);
	pumice_buffer_destroy(&gpu->memory);
	pumice_vm_destroy(gpu->vm);
	pumice_device_close(gpu->dev);
}
