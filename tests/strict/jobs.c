// SPDX-License-Identifier: MIT
/*
 * The zoo, errors of users of several contexts: jobs that access the same memory, and of which one
 * does not depend on the other, in mode strict without threads. One data master executes them one
 * after the other, so the result is right by chance. As in zoo.c, the right user has no finding,
 * and the first finding of the wrong one has the right kind, instructions and jobs. Prints a line
 * for each, in TAP.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "lines.h"
#include "pumice/pumice.h"

#define DEVICE		"inproc:cores=1,ram=64,threads=0,mode=strict"
#define TEXT_BYTES	1024u
#define ROUNDS		20000u	/* of a program after its access */
#define CONTEXTS	3u

/* Writes and reads the word; ends at once. */
enum { WRITER, READER, OTHER };

struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_buffer buffer;
	struct pumice_context *context[CONTEXTS];
	struct pumice_stream *stream[CONTEXTS];
	struct pumice_kernel *kernel[CONTEXTS];
	struct pumice_sync *sync[CONTEXTS];	/* signalled by the job of each context */
	struct pumice_job job[CONTEXTS];
	struct pumice_job_sync syncs[CONTEXTS][2];
};

/* A seeded error. */
struct job_error {
	const char *name;
	/* Submit the jobs, as a right user, or with the error. */
	void (*submit)(struct fixture *f, bool error);
};

static void require(const struct fixture *f, int err, const char *what)
{
	if (!err)
		return;
	printf("Bail out! %s: %d: %s\n", what, err, f->dev ? pumice_device_error(f->dev) : "");
	exit(1);
}

static void add_job(struct fixture *f, uint32_t n, const char *name, const char *access)
{
	struct pumice_dispatch dispatch;
	char text[TEXT_BYTES];
	uint64_t start;

	snprintf(text, sizeof(text),
		 ".group 1, 1, 1\nmov sh0, %#x\nmov sh1, %#x\n"
		 "mov r1, [one], 0\nmov r5, [one], %u\n%s"
		 "again:\nsub.u32 r5[0], r5[0], 1\nbrnz again, r5[0]\nend\n",
		 (unsigned int)f->buffer.va, (unsigned int)(f->buffer.va >> 32),
		 n == WRITER ? ROUNDS : 1, access);
	require(f, pumice_context_create(f->vm, PUMICE_PRIORITY_NORMAL, &f->context[n]), name);
	require(f, pumice_stream_create(f->vm, 4096, &f->stream[n]), name);
	require(f, pumice_sync_create(f->dev, 0, &f->sync[n]), name);
	require(f, pumice_kernel_assemble(f->vm, name, text, &f->kernel[n]), name);
	pumice_dispatch_init(&dispatch, f->kernel[n]);
	require(f, pumice_stream_dispatch(f->stream[n], &dispatch), name);
	require(f, pumice_stream_end(f->stream[n], &start), name);
	pumice_job_init(&f->job[n], f->context[n], start);
	f->syncs[n][0] = (struct pumice_job_sync){ .sync = f->sync[n], .signal = true };
	f->job[n].syncs = f->syncs[n];
	f->job[n].sync_count = 1;
}

static void set_up(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	require(f, pumice_device_open(DEVICE, &f->dev, NULL, 0), "device");
	require(f, pumice_vm_create(f->dev, &f->vm), "vm");
	require(f, pumice_buffer_create(f->vm, 4096, &f->buffer), "buffer");
	add_job(f, WRITER, "writer", "global_store32 sig1, [one], sh0 + r1, r5\nsig_wait r2[0], sig1\n");
	add_job(f, READER, "reader", "global_load32 sig1, r7, [one], sh0 + r1\nsig_wait r2[0], sig1\n");
	add_job(f, OTHER, "other", "");
}

static void tear_down(struct fixture *f)
{
	uint32_t n;

	for (n = 0; n < CONTEXTS; n++) {
		pumice_kernel_destroy(f->kernel[n]);
		pumice_context_destroy(f->context[n]);
		pumice_stream_destroy(f->stream[n]);
		pumice_sync_destroy(f->sync[n]);
	}
	pumice_buffer_destroy(&f->buffer);
	pumice_vm_destroy(f->vm);
	pumice_device_close(f->dev);
}

/* Make a job wait for another one. */
static void depend(struct fixture *f, uint32_t job, uint32_t on)
{
	f->syncs[job][1] = (struct pumice_job_sync){ .sync = f->sync[on] };
	f->job[job].sync_count = 2;
}

static void submit(struct fixture *f, uint32_t n)
{
	require(f, pumice_submit(f->dev, &f->job[n], 1, NULL), "submit");
}

static void wait_job(struct fixture *f, uint32_t n)
{
	struct pumice_wait wait;

	pumice_wait_init(&wait, f->sync[n], 0);
	require(f, pumice_sync_wait(&wait, 1, 0, PUMICE_FOREVER), "wait");
}

/* ------------------------------------------------------------------- errors */

static void submit_both(struct fixture *f, bool error)
{
	if (!error)
		depend(f, READER, WRITER);
	submit(f, WRITER);
	submit(f, READER);
	wait_job(f, WRITER);
	wait_job(f, READER);
}

static void submit_after_wait(struct fixture *f, bool error)
{
	submit(f, WRITER);
	if (!error)
		wait_job(f, WRITER);
	submit(f, READER);
	wait_job(f, READER);
	wait_job(f, WRITER);
}

/* The reader waits for a job, which has ended before the writer does. */
static void submit_three(struct fixture *f, bool error)
{
	depend(f, READER, error ? OTHER : WRITER);
	submit(f, OTHER);
	submit(f, WRITER);
	submit(f, READER);
	wait_job(f, WRITER);
	wait_job(f, READER);
}

static const struct job_error errors[] = {
	{ .name = "no_dependency_between_jobs_of_a_data_master", .submit = submit_both },
	{ .name = "no_wait_of_the_host_between_jobs_of_a_data_master",
	  .submit = submit_after_wait },
	{ .name = "dependency_on_the_wrong_job", .submit = submit_three },
};

#define ERRORS (sizeof(errors) / sizeof(errors[0]))

/* ------------------------------------------------------------------- running */

static bool right_has_none(const void *error, char *finding)
{
	const struct job_error *e = error;
	struct fixture f;
	bool none;

	set_up(&f);
	e->submit(&f, false);
	none = pumice_finding_get(f.dev, 0, finding, FINDING_BYTES);
	tear_down(&f);
	return none;
}

static bool wrong_is_found(const void *error, char *finding)
{
	const struct job_error *e = error;
	char reader[128], writer[128];
	struct fixture f;
	bool ok;

	set_up(&f);
	e->submit(&f, true);
	finding[0] = '\0';
	snprintf(reader, sizeof(reader), ",\"master\":\"cdm\",\"job_context\":%u,\"job\":1,\"other\":",
		 pumice_context_id(f.context[READER]));
	snprintf(writer, sizeof(writer),
		 ",\"master\":\"cdm\",\"job_context\":%u,\"job\":1,\"same_job\":false}",
		 pumice_context_id(f.context[WRITER]));
	ok = !pumice_finding_get(f.dev, 0, finding, FINDING_BYTES) &&
	     strict_is(finding, "global-race") && strict_has(finding, reader) &&
	     strict_has(finding, writer) &&
	     strict_has(finding, "\"access\":\"read\"") &&
	     strict_has(finding, ",\"other_source\":\"writer:") &&
	     strict_has(finding, ",\"source\":\"reader:");
	tear_down(&f);
	return ok;
}

int main(void)
{
	uint32_t n, failed = 0;

	printf("1..%zu\n", ERRORS);
	for (n = 0; n < ERRORS; n++)
		failed += !strict_check(errors[n].name, &errors[n], right_has_none, wrong_is_found);
	return failed != 0;
}
