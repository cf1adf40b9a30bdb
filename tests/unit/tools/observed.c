// SPDX-License-Identifier: MIT
/*
 * A program that is observed: opens the device that PUMICE_DEVICE names, prints "ready", and
 * for each line of its input runs a dispatch of 3 work-groups and prints "done".
 */
#include <stdio.h>
#include <stdlib.h>

#include <pumice/pumice.h>

#define GROUPS 3u

static struct pumice_device *dev;

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "observed: %s: %s\n", what, dev ? pumice_device_error(dev) : "");
	exit(1);
}

int main(void)
{
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	struct pumice_dispatch dispatch;
	char error[PUMICE_ERROR_BYTES], line[16];
	uint64_t va;

	if (pumice_device_open(NULL, &dev, error, sizeof(error))) {
		fprintf(stderr, "observed: %s\n", error);
		return 1;
	}
	check("vm", pumice_vm_create(dev, &vm));
	check("context", pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context));
	check("stream", pumice_stream_create(vm, 1u << 16, &stream));
	check("kernel", pumice_kernel_assemble(vm, "observed", ".group 32\nend\n", &kernel));
	pumice_dispatch_init(&dispatch, kernel);
	dispatch.groups[0] = GROUPS;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		pumice_stream_reset(stream);
		check("dispatch", pumice_stream_dispatch(stream, &dispatch));
		check("end", pumice_stream_end(stream, &va));
		check("run", pumice_context_run(context, va, PUMICE_FOREVER, NULL));
		puts("done");
		fflush(stdout);
	}
	pumice_kernel_destroy(kernel);
	pumice_stream_destroy(stream);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	return 0;
}
