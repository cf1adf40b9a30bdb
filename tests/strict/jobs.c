// SPDX-License-Identifier: MIT
/*
 * The zoo, errors of users of several contexts: jobs that access the same memory, and of which one
 * does not depend on the other, in mode strict without threads. One data master executes them one
 * after the other, so the result is right by chance. As in zoo.c, the right user has no finding,
 * and the first finding of the wrong one has the right kind, instructions and jobs. Prints a line
 * for each, in TAP.
 *
 * The writer stores its word, and ends when the host has set a flag: after jobs of another data
 * master that were submitted last have ended, so that the firmware has examined the reader before.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "lines.h"
#include "pumice/pumice.h"
#include "pumice/pumice_gfx.h"

#define DEVICE		"inproc:cores=1,ram=64,threads=0,mode=strict"
#define TEXT_BYTES	1024u

/*
 * Writes and reads the word; three of the transfer data master, which ends them while the writer
 * occupies the other one.
 */
enum { WRITER, READER, OTHER, FIRST_LAST, LAST, CONTEXTS };

struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_buffer buffer;
	struct pumice_bo *flag_bo;	/* coherent */
	uint64_t flag_va;
	volatile uint32_t *flag;
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

/* Write the stream of a launch of one instance. Return its address. */
static uint64_t write_launch(struct fixture *f, uint32_t n, const char *name, const char *lines)
{
	struct pumice_dispatch dispatch;
	char text[TEXT_BYTES];
	uint64_t start;

	snprintf(text, sizeof(text),
		 ".group 1, 1, 1\nmov sh0, %#x\nmov sh1, %#x\nmov sh2, %#x\nmov sh3, %#x\n"
		 "mov r1, [one], 0\nmov r5, [one], 1\n%send\n",
		 (unsigned int)f->buffer.va, (unsigned int)(f->buffer.va >> 32),
		 (unsigned int)f->flag_va, (unsigned int)(f->flag_va >> 32), lines);
	require(f, pumice_kernel_assemble(f->vm, name, text, &f->kernel[n]), name);
	pumice_dispatch_init(&dispatch, f->kernel[n]);
	require(f, pumice_stream_dispatch(f->stream[n], &dispatch), name);
	require(f, pumice_stream_end(f->stream[n], &start), name);
	return start;
}

/* Prepare a job of a context of its own. lines: of its program, or NULL for a transfer job. */
static void add_job(struct fixture *f, uint32_t n, const char *name, const char *lines)
{
	uint64_t start;

	require(f, pumice_context_create_type(f->vm, lines ? PUMICE_CONTEXT_COMPUTE :
						     PUMICE_CONTEXT_TRANSFER,
					      PUMICE_PRIORITY_NORMAL, &f->context[n]), name);
	require(f, pumice_stream_create(f->vm, 4096, &f->stream[n]), name);
	require(f, pumice_sync_create(f->dev, 0, &f->sync[n]), name);
	if (lines)
		start = write_launch(f, n, name, lines);
	else
		require(f, pumice_stream_tdm_end(f->stream[n], &start), name);
	pumice_job_init(&f->job[n], f->context[n], start);
	f->syncs[n][0] = (struct pumice_job_sync){ .sync = f->sync[n], .signal = true };
	f->job[n].syncs = f->syncs[n];
	f->job[n].sync_count = 1;
}

static void create_flag(struct fixture *f)
{
	void *cpu;

	require(f, pumice_bo_create_flags(f->dev, 4096, f->vm, PUMICE_BO_COHERENT, &f->flag_bo),
		"flag");
	require(f, pumice_vm_place(f->vm, f->flag_bo, PUMICE_BIND_NOEXEC, &f->flag_va), "flag");
	require(f, pumice_bo_map(f->flag_bo, &cpu), "flag");
	f->flag = cpu;
}

static void set_up(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	require(f, pumice_device_open(DEVICE, &f->dev, NULL, 0), "device");
	require(f, pumice_vm_create(f->dev, &f->vm), "vm");
	require(f, pumice_buffer_create(f->vm, 4096, &f->buffer), "buffer");
	create_flag(f);
	add_job(f, WRITER, "writer",
		"global_store32 sig1, [one], sh0 + r1, r5\nsig_wait r2[0], sig1\n"
		"again:\nglobal_atomic.u32 or, sig1, r6, [one], sh2 + r1, r1\n"
		"sig_wait r2[0], sig1\nlt.u32 r6, r6, 1\nbrnz again, r6[0]\n");
	add_job(f, READER, "reader",
		"global_load32 sig1, r7, [one], sh0 + r1\nsig_wait r2[0], sig1\n");
	add_job(f, OTHER, "other", NULL);
	add_job(f, FIRST_LAST, "first of the last", NULL);
	add_job(f, LAST, "last", NULL);
}

static void tear_down(struct fixture *f)
{
	uint32_t n;

	for (n = 0; n < CONTEXTS; n++) {
		if (f->kernel[n])
			pumice_kernel_destroy(f->kernel[n]);
		pumice_context_destroy(f->context[n]);
		pumice_stream_destroy(f->stream[n]);
		pumice_sync_destroy(f->sync[n]);
	}
	pumice_buffer_destroy(&f->buffer);
	pumice_bo_destroy(f->flag_bo);
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

/*
 * Let the writer end, when the firmware has examined all jobs that were submitted. The library has
 * passed on those that waited for others when the first one has ended.
 */
static void release_writer(struct fixture *f)
{
	submit(f, FIRST_LAST);
	wait_job(f, FIRST_LAST);
	submit(f, LAST);
	wait_job(f, LAST);
	*f->flag = 1;
	wait_job(f, WRITER);
}

/* ------------------------------------------------------------------- errors */

static void submit_both(struct fixture *f, bool error)
{
	if (!error)
		depend(f, READER, WRITER);
	submit(f, WRITER);
	submit(f, READER);
	release_writer(f);
	wait_job(f, READER);
}

static void submit_after_wait(struct fixture *f, bool error)
{
	submit(f, WRITER);
	if (!error)
		release_writer(f);
	submit(f, READER);
	if (error)
		release_writer(f);
	wait_job(f, READER);
}

/* The reader waits for a job, which has ended before the writer does. */
static void submit_three(struct fixture *f, bool error)
{
	depend(f, READER, error ? OTHER : WRITER);
	submit(f, OTHER);
	submit(f, WRITER);
	submit(f, READER);
	wait_job(f, OTHER);
	release_writer(f);
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
	none = strict_has_none(f.dev, finding);
	tear_down(&f);
	return none;
}

/* The CDM may begin with either of the jobs: so the finding may be of both. */
static bool wrong_is_found(const void *error, char *finding)
{
	const struct job_error *e = error;
	char reader[64], writer[64];
	struct fixture f;
	bool ok;

	set_up(&f);
	e->submit(&f, true);
	finding[0] = '\0';
	snprintf(reader, sizeof(reader), ",\"master\":\"cdm\",\"job_context\":%u,\"job\":1,",
		 pumice_context_id(f.context[READER]));
	snprintf(writer, sizeof(writer), ",\"master\":\"cdm\",\"job_context\":%u,\"job\":1,",
		 pumice_context_id(f.context[WRITER]));
	ok = !pumice_finding_get(f.dev, 0, finding, FINDING_BYTES) &&
	     strict_is(finding, "global-race") && strict_has(finding, reader) &&
	     strict_has(finding, writer) && strict_has(finding, ",\"same_job\":false}") &&
	     strict_has(finding, "source\":\"writer:8\"") &&
	     strict_has(finding, "source\":\"reader:8\"");
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
