// SPDX-License-Identifier: MIT
/*
 * A program that ends without destroying its objects: run a kernel with a race in the device that
 * PUMICE_DEVICE names, wait for it, and end as the argument says: "exit", "kill" or "crash", by
 * a signal. With "past" the kernel loads the word after a buffer with a name, instead, and with
 * "page" that after its page, which faults; with "freed" it loads a word of the buffer, which has
 * been destroyed, and faults. "wait" and "ignore" print the name of the file with the findings and
 * wait for a signal; "ignore" handles it and exits.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <pumice/pumice.h>

#define PAGE_BYTES	4096u
#define BUFFER_BYTES	8u

/* Two waves store to one word, at line 4. */
static const char race[] = ".group 64, 1, 1\n"
			   ".local 16\n"
			   "mov r1, [one], 0\n"
			   "local_store32 [one], r1, r1\n"
			   "end\n";

static struct pumice_device *dev;
static struct pumice_buffer buffer;

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "leaver: %s: %s\n", what, dev ? pumice_device_error(dev) : "");
	exit(1);
}

/* Write a program that loads the word at an offset of the buffer, at line 6. */
static void write_load(struct pumice_vm *vm, unsigned int offset, char *text, size_t bytes)
{
	check("buffer", pumice_buffer_create(vm, BUFFER_BYTES, &buffer));
	check("label", pumice_bo_set_label(buffer.bo, "weights"));
	snprintf(text, bytes,
		 ".group 1, 1, 1\n"
		 "mov sh0, %#x\n"
		 "mov sh1, %#x\n"
		 "mov r1, [one], %u\n"
		 "\n"
		 "global_load32 sig0, r2, [one], sh0 + r1\n"
		 "end\n", (unsigned int)buffer.va, (unsigned int)(buffer.va >> 32),
		 offset);
}

/*
 * Run the kernel that loads the word at an offset of the buffer, or, 0, that with the race. A
 * buffer with the word is destroyed before the kernel runs, so that no other object has its place.
 */
static void run(unsigned int offset)
{
	char load[512];
	struct pumice_context *context;
	struct pumice_dispatch dispatch;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	struct pumice_vm *vm;
	uint64_t start;
	int err;

	check("open", pumice_device_open(NULL, &dev, NULL, 0));
	check("vm", pumice_vm_create(dev, &vm));
	check("context", pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context));
	check("stream", pumice_stream_create(vm, 65536, &stream));
	if (offset)
		write_load(vm, offset, load, sizeof(load));
	check("kernel", pumice_kernel_assemble(vm, "leaver.pasm", offset ? load : race, &kernel));
	if (offset && offset < BUFFER_BYTES)
		pumice_buffer_destroy(&buffer);
	pumice_dispatch_init(&dispatch, kernel);
	check("dispatch", pumice_stream_dispatch(stream, &dispatch));
	check("end", pumice_stream_end(stream, &start));
	err = pumice_context_run(context, start, PUMICE_FOREVER, NULL);
	check("run", err && (!offset || (offset >= BUFFER_BYTES && offset < PAGE_BYTES)));
}

static void on_signal(int number)
{
	(void)number;
	_exit(0);
}

/* Wait for a signal, after its receiver is set and a line is printed; for a minute at most. */
static void wait_for_signal(bool ignore)
{
	if (ignore)
		signal(SIGTERM, on_signal);
	puts(getenv("PUMICE_FINDINGS"));
	fflush(stdout);
	alarm(60);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const struct rlimit none = { 0 };
	const char *how = argc > 1 ? argv[1] : "";

	setrlimit(RLIMIT_CORE, &none);
	run(!strcmp(how, "past")  ? BUFFER_BYTES :
	    !strcmp(how, "page")  ? PAGE_BYTES :
	    !strcmp(how, "freed") ? BUFFER_BYTES - 4 :
				    0);
	if (!strcmp(how, "wait") || !strcmp(how, "ignore"))
		wait_for_signal(!strcmp(how, "ignore"));
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "crash")) {
		signal(SIGSEGV, SIG_DFL);	/* sanitizers handle it, and exit */
		raise(SIGSEGV);
	}
	_exit(0);
}
