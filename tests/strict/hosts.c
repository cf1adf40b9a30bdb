// SPDX-License-Identifier: MIT
/*
 * The zoo, errors of the host: a user of the library who unmaps or destroys buffers while jobs use
 * them, or requests too few bytes; in mode strict without threads. As in zoo.c, the right host has
 * no finding, and the first finding of the wrong one has the right kind, buffer and job. Prints a
 * line for each, in TAP.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "pumice/pumice.h"

#define DEVICE		"inproc:cores=1,ram=64,threads=0,mode=strict"
#define PAGE		4096u
#define ROUNDS		200000u	/* of a program that the host interrupts */
#define LATE_ROUNDS	2000000u	/* the same, before its access */
#define SLICE_NS	1000000u	/* of the GPU, between looks at its memory */

struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_kernel *kernel;
	struct pumice_sync *sync;
	struct pumice_buffer buffer;	/* accessed by the job */
	struct pumice_buffer flag;	/* set by the job when it runs */
	uint64_t va, end;		/* that the job accesses, and where the buffer ends */
};

/* A seeded error: the host does something between the submission of the job and its end. */
struct host_error {
	const char *name;
	uint64_t bytes;		/* of the buffer */
	const char *access;	/* instruction, with sh0 the buffer's address and r1 the offset */
	uint32_t right, wrong;	/* offset of the access */
	bool rounds;		/* the wrong host acts while the job repeats it */
	bool late;		/* the job accesses the buffer after its rounds only */
	bool part;		/* the job accesses a second mapping, of the third page only */
	uint32_t lanes;		/* 0: one */
	void (*act)(struct fixture *f);	/* too early in the wrong host; or NULL */
	const char *finding, *place;
};

static void require(const struct fixture *f, int err, const char *what)
{
	if (!err)
		return;
	printf("Bail out! %s: %d: %s\n", what, err, f->dev ? pumice_device_error(f->dev) : "");
	exit(1);
}

/* ------------------------------------------------------------------- hosts */

static void unmap_buffer(struct fixture *f)
{
	require(f, pumice_vm_remove(f->vm, f->buffer.va), "unmap");
}

static void free_buffer(struct fixture *f)
{
	pumice_buffer_destroy(&f->buffer);
}

/* Destroy the buffer, which remains mapped, and unmap it. */
static void free_mapped_buffer(struct fixture *f)
{
	pumice_bo_destroy(f->buffer.bo);
	f->buffer.bo = NULL;
	unmap_buffer(f);
}

/* Unmap the first page, and in a second operation the other one, which the job reads. */
static void unmap_pages(struct fixture *f)
{
	const struct pumice_bind op[2] = { { .va = f->buffer.va, .size = PAGE },
					   { .va = f->buffer.va + PAGE, .size = PAGE } };

	require(f, pumice_vm_bind(f->vm, op, 2, NULL), "unmap");
}

/* Bind the flag's buffer there instead, and remove that, too. */
static void replace_buffer(struct fixture *f)
{
	struct pumice_bind op = { .va = f->buffer.va, .size = PAGE, .bo = f->flag.bo };

	require(f, pumice_vm_bind(f->vm, &op, 1, NULL), "bind");
	op.bo = NULL;
	require(f, pumice_vm_bind(f->vm, &op, 1, NULL), "unmap");
}

#define LOAD32	"global_load32 sig3, r7, [one], sh0 + r1\nsig_wait r2[0], sig3\n"
#define STORE32	"global_store32 sig3, [one], sh0 + r1, r9\nsig_wait r2[0], sig3\n"
#define LOAD8	"global_load8.u32 sig3, r7, [one], sh0 + r1\nsig_wait r2[0], sig3\n"
/* All lanes have the same offset. */
#define COPY16	"mov sh8, 0\nadd.u32 sh0, sh0, r1[0]\ngroup_load_shared sig3, sh8, sh0, 4\n" \
		"sig_wait r2[0], sig3\n"
#define BURST16	"mov sh8, 0\nadd.u32 sh0, sh0, r1[0]\nshared_load sig3, sh8, sh0, 4\n" \
		"sig_wait r2[0], sig3\n"
#define DC32	"shr.u32 r3, r1, 2\ndc_window sh0, 64\nmov idx0, [one], r3\n" \
		"mov r7, [one], dc[idx0 + 0]\n"
#define ADD32	"global_atomic.u32 add, sig3, r7, [one], sh0 + r1, r9\nsig_wait r2[0], sig3\n"

/* In a place %A is the address of the access, %E that of the buffer's end. */
#define AFTER_END(access) \
	"\"access\":\"" access "\",\"va\":\"%A\",\"label\":\"victim\",\"end\":\"%E\""
static const struct host_error errors[] = {
	{
		.name = "buffer_unmapped_before_its_job",
		.bytes = PAGE, .access = LOAD32, .act = unmap_buffer, .finding = "unmapped",
		.place = "\"va\":\"%A\",\"label\":\"victim\",\"unmapped_by\":5,\"freed\":false,",
	}, {
		.name = "buffer_freed_before_its_fence",
		.bytes = PAGE, .access = STORE32, .rounds = true, .late = true,
		.act = free_buffer, .finding = "unmapped",
		.place = "\"va\":\"%A\",\"label\":\"victim\",\"unmapped_by\":5,\"freed\":true,",
	}, {
		.name = "buffer_unmapped_while_a_job_uses_it",
		.bytes = PAGE, .access = LOAD32, .rounds = true, .act = unmap_buffer,
		.finding = "unmapped",
		.place = "\"label\":\"victim\",\"unmapped_by\":5,\"freed\":false,\"invalidation\":",
	}, {
		.name = "buffer_freed_while_a_job_uses_it",
		.bytes = PAGE, .access = LOAD32, .rounds = true, .act = free_mapped_buffer,
		.finding = "unmapped",
		.place = "\"va\":\"%A\",\"label\":\"victim\",\"unmapped_by\":5,\"freed\":true,",
	}, {
		.name = "second_page_unmapped_too_early",
		.bytes = 2 * PAGE, .access = LOAD32, .right = PAGE, .wrong = PAGE,
		.rounds = true, .act = unmap_pages, .finding = "unmapped",
		.place = "\"va\":\"%A\",\"label\":\"victim\",\"unmapped_by\":6,\"freed\":false,",
	}, {
		.name = "buffer_replaced_by_another_that_is_unmapped",
		.bytes = PAGE, .access = LOAD32, .rounds = true, .act = replace_buffer,
		.finding = "unmapped",
		.place = "\"va\":\"%A\",\"label\":\"flag\",\"unmapped_by\":6,\"freed\":false,",
	}, {
		.name = "load_after_the_last_page_of_a_buffer",
		.bytes = PAGE + 100, .access = LOAD32, .right = PAGE + 96, .wrong = 2 * PAGE,
		.finding = "unmapped",
		.place = AFTER_END("read"),
	}, {
		.name = "load_after_the_end_of_a_buffer",
		.bytes = 100, .access = LOAD32, .right = 96, .wrong = 100,
		.finding = "past-end",
		.place = AFTER_END("read"),
	}, {
		.name = "store_after_the_end_of_a_buffer",
		.bytes = 100, .access = STORE32, .right = 96, .wrong = 2000,
		.finding = "past-end",
		.place = AFTER_END("write"),
	}, {
		.name = "load_across_the_end_of_a_buffer",
		.bytes = 98, .access = LOAD32, .right = 92, .wrong = 96,
		.finding = "past-end",
		.place = AFTER_END("read"),
	}, {
		.name = "load_of_the_byte_after_a_buffer_of_two_pages",
		.bytes = PAGE + 1, .access = LOAD8, .right = PAGE, .wrong = PAGE + 1,
		.finding = "past-end",
		.place = AFTER_END("read"),
	}, {
		.name = "load_after_the_end_of_a_part",
		.bytes = 2 * PAGE + 8, .access = LOAD32, .right = 4, .wrong = 8, .part = true,
		.finding = "past-end",
		.place = AFTER_END("read"),
	}, {
		/* Lane 3 is the first one after the end. */
		.name = "load_of_one_lane_after_the_end",
		.bytes = 12, .access = "shl.u32 r3, instance, 2\nmin.u32 r1, r1, r3\n" LOAD32,
		.right = 8, .wrong = 12, .lanes = 8, .finding = "past-end",
		.place = "\"va\":\"%A\",\"label\":\"victim\",\"end\":\"%E\",",
	}, {
		.name = "work_group_copy_across_the_end_of_a_buffer",
		.bytes = 100, .access = COPY16, .right = 84, .wrong = 88, .lanes = 32,
		.finding = "past-end",
		.place = AFTER_END("read"),
	}, {
		.name = "burst_to_shared_registers_across_the_end_of_a_buffer",
		.bytes = 100, .access = BURST16, .right = 84, .wrong = 88,
		.finding = "past-end",
		.place = AFTER_END("read"),
	}, {
		.name = "dynamic_constant_after_the_end_of_a_buffer",
		.bytes = 100, .access = DC32, .right = 96, .wrong = 100,
		.finding = "past-end",
		.place = AFTER_END("read"),
	}, {
		.name = "atomic_operation_after_the_end_of_a_buffer",
		.bytes = 4, .access = ADD32, .right = 0, .wrong = 4,
		.finding = "past-end",
		.place = AFTER_END("write"),
	},
};

#define ERRORS (sizeof(errors) / sizeof(errors[0]))

/* ------------------------------------------------------------------- running */

/* Map the third page of the buffer again. */
static void bind_part(struct fixture *f, uint64_t bytes)
{
	struct pumice_bind op = { .size = PAGE, .bo = f->buffer.bo, .bo_offset = 2 * PAGE };

	require(f, pumice_vm_va_alloc(f->vm, PAGE, 0, &op.va), "address");
	require(f, pumice_vm_bind(f->vm, &op, 1, NULL), "bind");
	f->va = op.va;
	f->end = op.va + bytes - 2 * PAGE;
}

static void set_up(struct fixture *f, const struct host_error *e)
{
	*f = (struct fixture){ 0 };
	require(f, pumice_device_open(DEVICE, &f->dev, NULL, 0), "device");
	require(f, pumice_vm_create(f->dev, &f->vm), "vm");
	require(f, pumice_context_create(f->vm, PUMICE_PRIORITY_NORMAL, &f->context), "context");
	/* Each of these and of the program is one operation of the VM. */
	require(f, pumice_stream_create(f->vm, 65536, &f->stream), "stream");
	require(f, pumice_buffer_create(f->vm, e->bytes, &f->buffer), "buffer");
	require(f, pumice_buffer_create(f->vm, PAGE, &f->flag), "flag");
	require(f, pumice_sync_create(f->dev, 0, &f->sync), "sync");
	f->va = f->buffer.va;
	f->end = f->va + e->bytes;
	if (e->part)
		bind_part(f, e->bytes);
	/* After it is bound: a finding has the present name. */
	require(f, pumice_bo_set_label(f->buffer.bo, "victim"), "label");
	require(f, pumice_bo_set_label(f->flag.bo, "flag"), "label");
}

static void tear_down(struct fixture *f)
{
	pumice_sync_destroy(f->sync);
	pumice_kernel_destroy(f->kernel);
	pumice_context_destroy(f->context);
	pumice_stream_destroy(f->stream);
	pumice_buffer_destroy(&f->flag);
	if (f->buffer.bo)
		pumice_bo_destroy(f->buffer.bo);
	pumice_vm_destroy(f->vm);
	pumice_device_close(f->dev);
}

static void submit(struct fixture *f, const struct host_error *e, uint32_t offset,
		   uint32_t rounds)
{
	struct pumice_job_sync signal = { .sync = f->sync, .signal = true };
	struct pumice_dispatch dispatch;
	struct pumice_job job;
	char text[FINDING_BYTES];
	uint64_t start;

	snprintf(text, sizeof(text),
		 ".group %u, 1, 1\n"
		 "mov sh0, %#x\nmov sh1, %#x\nmov sh2, %#x\nmov sh3, %#x\n"
		 "mov r1, [one], %u\nmov r9, [one], 0\nmov r5, [one], %u\n"
		 "global_store32 sig1, [one], sh2 + r9, r5\nsig_wait r2[0], sig1\n"
		 "again:\n%s"
		 "sub.u32 r5[0], r5[0], 1\nbrnz again, r5[0]\n%send\n",
		 e->lanes ? e->lanes : 1, (unsigned int)f->va, (unsigned int)(f->va >> 32),
		 (unsigned int)f->flag.va, (unsigned int)(f->flag.va >> 32), offset,
		 rounds, e->late ? "" : e->access, e->late ? e->access : "");
	require(f, pumice_kernel_assemble(f->vm, e->name, text, &f->kernel), e->name);
	pumice_dispatch_init(&dispatch, f->kernel);
	require(f, pumice_stream_dispatch(f->stream, &dispatch), "dispatch");
	require(f, pumice_stream_end(f->stream, &start), "stream");
	pumice_job_init(&job, f->context, start);
	job.syncs = &signal;
	job.sync_count = 1;
	require(f, pumice_submit(f->dev, &job, 1, NULL), "submit");
}

/* Wait for the job, which may fault; returns whether it has ended within the time. */
static bool wait_job(struct fixture *f, uint64_t timeout_ns)
{
	struct pumice_wait wait;

	pumice_wait_init(&wait, f->sync, 0);
	return !pumice_sync_wait(&wait, 1, 0, timeout_ns);
}

/* Let the GPU run until the job has set the flag. */
static void wait_flag(struct fixture *f)
{
	const volatile uint32_t *flag = f->flag.cpu;

	while (!*flag)
		if (wait_job(f, SLICE_NS))
			break;
}

/* Run a host; early: it acts before the end of the job. */
static void run(struct fixture *f, const struct host_error *e, uint32_t offset, bool early)
{
	const uint32_t rounds = e->late ? LATE_ROUNDS : ROUNDS;

	submit(f, e, offset, early && e->rounds ? rounds : 1);
	if (early && e->rounds)
		wait_flag(f);
	if (early && e->act)
		e->act(f);
	wait_job(f, PUMICE_FOREVER);
	if (!early && e->act)
		e->act(f);
}

static bool right_has_none(const void *error, char *finding)
{
	const struct host_error *e = error;
	struct fixture f;
	bool none;

	set_up(&f, e);
	run(&f, e, e->right, false);
	none = strict_has_none(f.dev, finding);
	tear_down(&f);
	return none;
}

/* Write the words of a place with the addresses of a fixture. */
static void expand(const struct fixture *f, uint64_t at, const char *place, char *out)
{
	for (; *place; place++) {
		if (*place != '%')
			*out++ = *place;
		else
			out += sprintf(out, "0x%" PRIx64, *++place == 'A' ? at : f->end);
	}
	*out = '\0';
}

static bool wrong_is_found(const void *error, char *finding)
{
	const struct host_error *e = error;
	char place[FINDING_BYTES], job[128];
	struct fixture f;
	uint64_t at;
	bool ok;

	set_up(&f, e);
	at = f.va + e->wrong;
	run(&f, e, e->wrong, true);
	finding[0] = '\0';
	snprintf(job, sizeof(job), "\"master\":\"cdm\",\"job_context\":%u,\"job\":1,",
		 pumice_context_id(f.context));
	expand(&f, at, e->place, place);
	ok = !pumice_finding_get(f.dev, 0, finding, FINDING_BYTES) &&
	     strict_is(finding, e->finding) && strict_has(finding, place) &&
	     strict_has(finding, job) && strict_has(finding, ",\"source\":\"");
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
