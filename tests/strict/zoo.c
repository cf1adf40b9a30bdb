// SPDX-License-Identifier: MIT
/*
 * The zoo: seeded errors, in mode strict without threads. The right program of each has no
 * finding; the wrong one has a first finding with the right kind, instruction, other side and
 * place. Prints a line for each, in TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "pumice/pumice.h"
#include "zoo.h"

/* Mode strict implies late data, whichever mode of these is chosen. */
#define DEVICE		"inproc:cores=%u,ram=64,threads=0,mode=strict,late=early"
#define PREAMBLE \
	".group %u, 1, 1\n" \
	".local 512\n" \
	".input sh4, group_x\n" \
	"mov sh0, %#x\n" \
	"mov sh1, %#x\n" \
	"mov sh2, %#x\n" \
	"mov sh3, %#x\n" \
	"shl.u32 r1, instance, 2\n" \
	"mov r9, [one], 0\n"

/* A device with a buffer, the same read only, and a context. */
struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_buffer buffer;
	uint64_t read_only;	/* another address of the buffer */
};

static void require(const struct fixture *f, int err, const char *what)
{
	if (!err)
		return;
	printf("Bail out! %s: %d: %s\n", what, err, f->dev ? pumice_device_error(f->dev) : "");
	exit(1);
}

static void set_up(struct fixture *f, const struct zoo_error *e)
{
	char device[128];
	struct pumice_bind bind = { .size = 4096, .flags = PUMICE_BIND_READONLY };

	*f = (struct fixture){ 0 };
	snprintf(device, sizeof(device), DEVICE, e->cores ? e->cores : 1);
	require(f, pumice_device_open(device, &f->dev, NULL, 0), "device");
	require(f, pumice_vm_create(f->dev, &f->vm), "vm");
	require(f, pumice_context_create(f->vm, PUMICE_PRIORITY_NORMAL, &f->context), "context");
	require(f, pumice_stream_create(f->vm, 65536, &f->stream), "stream");
	require(f, pumice_buffer_create(f->vm, 4096, &f->buffer), "buffer");
	require(f, pumice_bo_set_label(f->buffer.bo, "words"), "label");
	require(f, pumice_vm_va_alloc(f->vm, 4096, 0, &f->read_only), "address");
	bind.va = f->read_only;
	bind.bo = f->buffer.bo;
	require(f, pumice_vm_bind(f->vm, &bind, 1, NULL), "read-only mapping");
}

static void tear_down(struct fixture *f)
{
	pumice_context_destroy(f->context);
	pumice_stream_destroy(f->stream);
	pumice_buffer_destroy(&f->buffer);
	pumice_vm_destroy(f->vm);
	pumice_device_close(f->dev);
}

/* Launch a kernel as often as an error requires, perhaps with fences in between. */
static void launch(struct fixture *f, const struct zoo_error *e, struct pumice_kernel *kernel,
		   bool fences)
{
	struct pumice_dispatch dispatch;
	uint32_t n;
	int err;

	pumice_dispatch_init(&dispatch, kernel);
	dispatch.groups[0] = e->groups ? e->groups : 1;
	for (n = 0; !n || n < e->launches; n++) {
		if (n && fences) {
			err = e->flushes ? pumice_stream_flush(f->stream, 0) :
					   pumice_stream_fence(f->stream);
			require(f, err, "fence");
		}
		require(f, pumice_stream_dispatch(f->stream, &dispatch), "dispatch");
	}
}

/* Run a program with these lines in its place; whether the job faults does not matter. */
static void run(struct fixture *f, const struct zoo_error *e, const char *lines, bool fences)
{
	char body[FINDING_BYTES], text[2 * FINDING_BYTES];
	struct pumice_kernel *kernel;
	uint64_t start;
	const char *at = strstr(e->program, "%s");

	snprintf(body, sizeof(body), "%.*s%s%s", (int)(at - e->program), e->program, lines, at + 2);
	snprintf(text, sizeof(text), PREAMBLE "%send\n", e->instances ? e->instances : 64u,
		 (unsigned int)f->buffer.va,
		 (unsigned int)(f->buffer.va >> 32), (unsigned int)f->read_only,
		 (unsigned int)(f->read_only >> 32), body);
	require(f, pumice_kernel_assemble(f->vm, e->name, text, &kernel), e->name);
	launch(f, e, kernel, fences);
	require(f, pumice_stream_end(f->stream, &start), "stream");
	pumice_context_run(f->context, start, PUMICE_FOREVER, NULL);
	pumice_kernel_destroy(kernel);
}

/* Run the right program: returns whether it has no finding. */
static bool right_has_none(const void *error, char *finding)
{
	const struct zoo_error *e = error;
	struct fixture f;
	bool none;

	set_up(&f, e);
	run(&f, e, e->right, true);
	none = strict_has_none(f.dev, finding);
	tear_down(&f);
	return none;
}

/* Return whether a finding has the kind and the place of a seeded error. */
static bool is_expected(const struct zoo_error *e, const char *finding)
{
	char at[64], other[64];
	bool ok;

	snprintf(at, sizeof(at), ",\"instruction\":%u,\"usc\":", e->instruction);
	snprintf(other, sizeof(other), "\"other\":{\"instruction\":%u,", e->other);
	ok = strict_is(finding, e->finding) && strict_has(finding, at) &&
	     strict_has(finding, e->place);
	if (e->other != ZOO_NONE)
		return ok && strict_has(finding, other);
	return ok && !strstr(finding, "\"other\":");
}

/* Run the wrong program: returns whether its first finding is the right one. */
static bool wrong_is_found(const void *error, char *finding)
{
	const struct zoo_error *e = error;
	struct fixture f;
	bool found;

	set_up(&f, e);
	run(&f, e, e->wrong, false);
	finding[0] = '\0';
	found = !pumice_finding_get(f.dev, 0, finding, FINDING_BYTES) && is_expected(e, finding);
	tear_down(&f);
	return found;
}

/* Run both programs of a seeded error, and print a line; returns whether it passes. */
static bool check(const struct zoo_error *e)
{
	return strict_check(e->name, e, right_has_none, wrong_is_found);
}

int main(void)
{
	uint32_t n, failed = 0;

	printf("1..%u\n", zoo_error_count + zoo_wave_count + zoo_memory_count);
	for (n = 0; n < zoo_error_count; n++)
		failed += !check(&zoo_errors[n]);
	for (n = 0; n < zoo_wave_count; n++)
		failed += !check(&zoo_waves[n]);
	for (n = 0; n < zoo_memory_count; n++)
		failed += !check(&zoo_memory[n]);
	return failed != 0;
}
