// SPDX-License-Identifier: MIT
/*
 * A program that is observed: open the device named by PUMICE_DEVICE N times (argument) and print
 * "ready"; then execute the command in each input line and print "done". Commands: "" runs a
 * dispatch of 3 work-groups on the first device, "open" opens and closes one more, "close" begins
 * to close the last device in a thread, "fork" starts a child that waits for a signal, "child
 * exits" and "child closes" one that does so with the first device. "exit" ends the process
 * without closing any.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pumice/pumice.h>

#define GROUPS 3u
#define MAX_DEVICES 16

static struct pumice_device *dev;
static pthread_barrier_t barrier;

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "observed: %s: %s\n", what, dev ? pumice_device_error(dev) : "");
	exit(1);
}

static struct pumice_device *open_device(void)
{
	char error[PUMICE_ERROR_BYTES];
	struct pumice_device *opened;

	if (!pumice_device_open(NULL, &opened, error, sizeof(error)))
		return opened;
	fprintf(stderr, "observed: %s\n", error);
	exit(1);
}

static void *open_one(void *to)
{
	pthread_barrier_wait(&barrier);
	*(struct pumice_device **)to = open_device();
	return NULL;
}

static void *close_one(void *device)
{
	pumice_device_close(device);
	return NULL;
}

/* Begin to close the last of these devices: its observers may still read. Return: those left. */
static int begin_close(struct pumice_device **devices, pthread_t *thread, int count)
{
	count--;
	if (pthread_create(&thread[count], NULL, close_one, devices[count]))
		exit(1);
	return count;
}

/*
 * Open devices at once, those after the first in threads of their own. A process with one device
 * has only the threads of the device: one that was joined can remain in /proc for some time.
 */
static void open_all(struct pumice_device **devices, int count)
{
	pthread_t thread[MAX_DEVICES];
	int i;

	pthread_barrier_init(&barrier, NULL, (unsigned int)count);
	for (i = 1; i < count; i++)
		if (pthread_create(&thread[i], NULL, open_one, &devices[i]))
			exit(1);
	open_one(&devices[0]);
	for (i = 1; i < count; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
}

static void dispatch(struct pumice_context *context, struct pumice_stream *stream,
		     struct pumice_dispatch *what)
{
	uint64_t va;

	pumice_stream_reset(stream);
	check("dispatch", pumice_stream_dispatch(stream, what));
	check("end", pumice_stream_end(stream, &va));
	check("run", pumice_context_run(context, va, PUMICE_FOREVER, NULL));
}

/*
 * Start a child that does as the line says, and wait for its end. One that waits for a signal
 * writes a byte when it has returned from fork(): only then has it closed what it inherited.
 */
static void fork_child(const char *line)
{
	int status, ends[2];
	pid_t child;
	char byte = 0;

	if (pipe(ends))
		exit(1);
	child = fork();
	if (child < 0)
		exit(1);
	if (!child) {
		if (!strcmp(line, "child exits\n"))
			exit(0);
		if (!strcmp(line, "child closes\n")) {
			pumice_device_close(dev);
			_exit(0);
		}
		if (write(ends[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	if (!strcmp(line, "fork\n")) {
		if (read(ends[0], &byte, 1) != 1)
			exit(1);
	} else if (waitpid(child, &status, 0) != child || status) {
		exit(1);
	}
	close(ends[0]);
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 1;
	struct pumice_device *devices[MAX_DEVICES];
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	struct pumice_dispatch groups;
	pthread_t closing[MAX_DEVICES];
	int left = count, i;
	char line[16];

	if (count < 1 || count > MAX_DEVICES)
		return 2;
	open_all(devices, count);
	dev = devices[0];
	check("vm", pumice_vm_create(dev, &vm));
	check("context", pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context));
	check("stream", pumice_stream_create(vm, 1u << 16, &stream));
	check("kernel", pumice_kernel_assemble(vm, "observed", ".group 32\nend\n", &kernel));
	pumice_dispatch_init(&groups, kernel);
	groups.groups[0] = GROUPS;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "open\n"))
			pumice_device_close(open_device());
		else if (!strcmp(line, "exit\n"))
			exit(0);
		else if (!strcmp(line, "close\n"))
			left = begin_close(devices, closing, left);
		else if (strcmp(line, "\n"))
			fork_child(line);
		else
			dispatch(context, stream, &groups);
		puts("done");
		fflush(stdout);
	}
	pumice_kernel_destroy(kernel);
	pumice_stream_destroy(stream);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	for (i = left; i < count; i++)
		pthread_join(closing[i], NULL);
	for (i = 0; i < left; i++)
		pumice_device_close(devices[i]);
	return 0;
}
