// SPDX-License-Identifier: MIT
/*
 * The zoo, errors of the driver: the in-process one leaves out a step (INPROC_OMIT_*), in mode
 * strict without threads. As in zoo.c, the right driver has no finding, and the first finding of
 * the wrong one has the right kind, access and buffer. Prints a line for each, in TAP.
 *
 * The last line is a right program: it has the same result in all modes.
 *
 * A job accesses a buffer, the host acts, and a second job accesses the buffer again, in the same
 * USC, since each has a TLB of its own.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inproc/inproc.h"
#include "lines.h"
#include "program.h"
#include "pumice/pumice_capture.h"

#define DEVICE		"inproc:cores=1,uscs=1,ram=64,threads=0,mode=strict"
#define PAGE		4096u
#define PAGES		2u	/* of the buffer */
#define BEFORE		5u	/* value in the buffer before the host acts */
#define AFTER		7u	/* and after it */
#define LATER		20u	/* offset of a word of an access, not of its first one */
#define BLOCK		(2u << 20)	/* bytes that a page table translates */
#define BLOCKS		4u	/* for which tables are created after one was freed */

struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm, *other_vm;
	struct pumice_context *context, *other_context;
	struct pumice_stream *stream, *other_stream;
	struct pumice_kernel *kernel, *other_kernel;
	struct pumice_buffer buffer;	/* accessed by the jobs */
	struct pumice_buffer next;	/* mapped at its address instead, by the host */
	struct pumice_buffer result;	/* of the jobs */
	uint64_t before, after;		/* GPU clock when the host begins and ends to act */
};

/* A seeded error of the driver. */
struct driver_error {
	const char *name;
	uint32_t omitted;	/* by the wrong driver, from the act of the host on */
	const char *access;	/* instruction, with sh0 the buffer's address and r1 the offset */
	uint32_t offset;	/* of the access */
	uint32_t instances;	/* of the work-group; 0: one */
	uint32_t lane;		/* of the access */
	bool copy;		/* the access is one of all lanes */
	bool fresh;		/* the access has the value of memory, with the finding */
	bool coherent;		/* the buffer is */
	bool code;		/* the finding is of the program, not of an instruction */
	bool fault;		/* the wrong driver's second job faults */
	void (*prepare)(struct fixture *f);	/* before the first job; or NULL */
	void (*act)(struct fixture *f);
	/* NULL: none, the step is not needed. In a place %A is the address of the access. */
	const char *finding, *place;
	const char *rest;	/* further words of the finding, or NULL */
};

static void require(const struct fixture *f, int err, const char *what)
{
	if (!err)
		return;
	printf("Bail out! %s: %d: %s\n", what, err, f->dev ? pumice_device_error(f->dev) : "");
	exit(1);
}

static void fill(struct pumice_buffer *buffer, uint32_t value)
{
	uint32_t *words = buffer->cpu;
	uint32_t n;

	for (n = 0; n < PAGES * PAGE / sizeof(*words); n++)
		words[n] = value;
}

/* ------------------------------------------------------------------- hosts */

/* Bind other memory at the address of the buffer, in one operation. */
static void replace_buffer(struct fixture *f)
{
	const struct pumice_bind op = { .va = f->buffer.va, .size = PAGES * PAGE,
					.bo = f->next.bo };

	require(f, pumice_vm_bind(f->vm, &op, 1, NULL), "bind");
}

/* The same, in two operations. */
static void unmap_and_map(struct fixture *f)
{
	require(f, pumice_vm_remove(f->vm, f->buffer.va), "unmap");
	replace_buffer(f);
}

/* Bind other memory with the program at its address. */
static void move_program(struct fixture *f)
{
	const struct pumice_bind op = { .va = f->kernel->code_va, .size = PAGE, .bo = f->next.bo };

	require(f, pumice_vm_peek(f->vm, op.va, f->next.cpu, PAGE), "program");
	require(f, pumice_vm_bind(f->vm, &op, 1, NULL), "bind");
}

static void write_buffer(struct fixture *f)
{
	fill(&f->buffer, AFTER);
}

/* Map a page of the second buffer in a block, at this distance from the first one. */
static void map_block(struct fixture *f, uint32_t distance)
{
	const struct pumice_bind op = { .va = f->buffer.va + distance, .size = PAGE,
					.bo = f->next.bo };

	require(f, pumice_vm_bind(f->vm, &op, 1, NULL), "bind");
}

static void map_next_block(struct fixture *f)
{
	map_block(f, BLOCK);
}

/* The table of the block is created now, and the access is in it. */
static void map_next_block_late(struct fixture *f)
{
	map_next_block(f);
	write_buffer(f);
}

/* Remove the only mapping of the block, and create further tables. */
static void free_table(struct fixture *f)
{
	const struct pumice_bind op = { .va = f->buffer.va + BLOCK, .size = PAGE };
	uint32_t n;

	require(f, pumice_vm_bind(f->vm, &op, 1, NULL), "unmap");
	for (n = 0; n < BLOCKS; n++)
		map_block(f, (n + 2) * BLOCK);
	write_buffer(f);
}

static void do_nothing(struct fixture *f)
{
	(void)f;
}

static void write_neighbour(struct fixture *f)
{
	((uint32_t *)f->buffer.cpu)[1] = AFTER;
}

/* The only word that changes, at an offset of LATER. */
static void write_later_word(struct fixture *f)
{
	((uint32_t *)f->buffer.cpu)[LATER / 4] = AFTER;
}

#define LOAD32	"global_load32 sig3, r7, [one], sh0 + r1\nsig_wait r2[0], sig3\n"
#define SHARED	"shared_load sig3, sh4, sh0, 1\nsig_wait r2[0], sig3\nmov r7, [one], sh4\n"
#define CONST	"dc_window sh0, 2\nmov idx0, [one], 0\nmov r7, [one], dc[idx0 + 0]\n"
/* The bytes are read before the data of a store arrive. */
#define EARLIER(store, wait) "dc_window sh0, 2\nmov idx0, [one], 0\nmov r7, [one], dc[idx0 + 0]\n" \
			     store "dc_window sh0, 2\nmov r7, [one], dc[idx0 + 0]\n" wait
/* Of an access of a USC to the buffer. */
#define PLACE(access)	"\"unit\":\"usc-data\",\"access\":\"" access "\",\"va\":\"%A\"," \
			"\"label\":\"victim\","
#define STORE32	"global_store32 sig3, [one], sh0 + r1, r9\nsig_wait r2[0], sig3\n"
/* The value before the operation is in r7. */
#define ATOMIC(op) "global_atomic.u32 " op ", sig3, r7, [one], sh0 + r1, r9\nsig_wait r2[0], sig3\n"
/* Each lane loads a word, and all have that of one. */
#define LANES	"shl.u32 r4, sid, 2\nglobal_load32 sig3, r5, [one], sh0 + r4\n" \
		"sig_wait r2[0], sig3\nshuffle r7, r5, 5\n"
/* Of the next block, or if the buffer has AFTER each lane of one of those after it. */
#define BLOCKS_AFTER "global_load32 sig3, r5, [one], sh0 + r9\nsig_wait r2[0], sig3\n" \
		"sub.u32 r5, r5, 5\nshl.u32 r5, r5, 20\nmul.u32 r4, r5, sid\n" \
		"add.u32 r5, r5, 0x200000\nadd.u32 r5, r5, r4\n" \
		"global_load32 sig3, r7, [one], sh0 + r5\nsig_wait r2[0], sig3\n"
/* Of the buffer, or if that has AFTER of the next block. */
#define BLOCK_AFTER "global_load32 sig3, r5, [one], sh0 + r9\nsig_wait r2[0], sig3\n" \
		"sub.u32 r5, r5, 5\nshl.u32 r5, r5, 20\n" \
		"global_load32 sig3, r7, [one], sh0 + r5\nsig_wait r2[0], sig3\n"
/* The second one of four words. */
#define LOAD128	"global_load128 sig3, r4, [one], sh0 + r9 + 16\nsig_wait r2[0], sig3\n" \
		"mov r7, [one], r5\n"

static const struct driver_error errors[] = {
	{
		.name = "no_invalidation_of_the_mmu_after_unmap",
		.omitted = INPROC_OMIT_INVALIDATE, .access = LOAD32, .act = unmap_and_map,
		.finding = "stale-translation",
		.place = "\"access\":\"read\",\"va\":\"%A\",\"label\":\"victim\","
			 "\"unmapped_by\":6,\"freed\":false,",
	}, {
		.name = "no_invalidation_of_the_mmu_after_a_replacement",
		.omitted = INPROC_OMIT_INVALIDATE, .access = STORE32, .act = replace_buffer,
		.finding = "stale-translation",
		.place = "\"access\":\"write\",\"va\":\"%A\",\"label\":\"victim\","
			 "\"unmapped_by\":6,\"freed\":false,",
	}, {
		.name = "invalidation_of_the_first_page_only",
		.omitted = INPROC_OMIT_LATER_PAGES, .access = LOAD32, .offset = PAGE,
		.act = replace_buffer, .finding = "stale-translation",
		.place = "\"access\":\"read\",\"va\":\"%A\",\"label\":\"victim\","
			 "\"unmapped_by\":6,\"freed\":false,",
	}, {
		.name = "invalidation_of_another_context",
		.omitted = INPROC_OMIT_OWN_CONTEXT, .access = LOAD32, .offset = 12,
		.act = replace_buffer, .finding = "stale-translation",
		.place = "\"access\":\"read\",\"va\":\"%A\",\"label\":\"victim\","
			 "\"unmapped_by\":6,\"freed\":false,",
	}, {
		.name = "no_invalidation_of_the_mmu_before_a_copy",
		.omitted = INPROC_OMIT_INVALIDATE, .access = SHARED, .copy = true,
		.act = replace_buffer, .finding = "stale-translation",
		.place = "\"unit\":\"usc-data\",\"access\":\"read\",\"va\":\"%A\","
			 "\"label\":\"victim\",\"unmapped_by\":6,\"freed\":false,",
	}, {
		.name = "program_moved_without_invalidation",
		.omitted = INPROC_OMIT_INVALIDATE, .access = STORE32, .code = true,
		.act = move_program, .finding = "stale-translation",
		.place = "\"unit\":\"usc-code\",\"access\":\"exec\",\"va\":\"%A\","
			 "\"label\":\"program 'program_moved_without_invalidation'\","
			 "\"unmapped_by\":6,\"freed\":false,\"unmapped_at\":",
		.rest = ",\"virtual_gpu\":0,\"context\":2,\"omitted\":\"no invalidation ",
	}, {
		.name = "no_invalidation_of_caches_at_the_start",
		.omitted = INPROC_OMIT_START, .access = LOAD32, .offset = 8, .act = write_buffer,
		.finding = "stale-read",
		.place = PLACE("read"),
	}, {
		.name = "invalidation_of_caches_of_cores_only",
		.omitted = INPROC_OMIT_START_SYSTEM, .access = SHARED, .act = write_buffer,
		.copy = true, .finding = "stale-read",
		.place = PLACE("read"),
	}, {
		.name = "no_invalidation_of_caches_before_a_constant",
		.omitted = INPROC_OMIT_START, .access = CONST, .act = write_buffer,
		.finding = "stale-read",
		.place = PLACE("read"),
	}, {
		.name = "no_invalidation_of_caches_before_a_later_constant",
		.omitted = INPROC_OMIT_START, .offset = LATER, .act = write_later_word,
		.access = "dc_window sh0, 8\nmov idx0, [one], 0\nmov r7, [one], dc[idx0 + 5]\n",
		.finding = "stale-read",
		.place = PLACE("read"),
	}, {
		.name = "no_invalidation_of_caches_before_a_load_of_a_later_lane",
		.omitted = INPROC_OMIT_START, .access = LANES, .offset = LATER, .instances = 32,
		.lane = LATER / 4, .act = write_later_word,
		.finding = "stale-read",
		.place = PLACE("read"),
	}, {
		.name = "no_invalidation_of_caches_before_a_load_of_several_words",
		.omitted = INPROC_OMIT_START, .access = LOAD128, .offset = LATER,
		.act = write_later_word,
		.finding = "stale-read",
		.place = PLACE("read"),
	}, {
		.name = "no_invalidation_of_caches_before_a_copy_of_several_words",
		.omitted = INPROC_OMIT_START, .offset = LATER, .act = write_later_word,
		.access = "shared_load sig3, sh4, sh0, 6\nsig_wait r2[0], sig3\n"
			  "mov r7, [one], sh9\n",
		.copy = true,
		.finding = "stale-read",
		.place = PLACE("read"),
	}, {
		.name = "no_invalidation_of_caches_before_a_copy_of_a_work_group",
		.omitted = INPROC_OMIT_START, .offset = LATER, .act = write_later_word,
		.access = "mov r6[0], 0\ngroup_load sig3, r6[0], sh0, 6\n"
			  "sig_wait r2[0], sig3\nlocal_load32 r7, [one], r9 + 20\n",
		.instances = 17, .copy = true,
		.finding = "stale-read",
		.place = PLACE("read"),
	}, {
		/* The load is for the next job. */
		.name = "no_invalidation_of_caches_before_an_atomic_operation",
		.omitted = INPROC_OMIT_START, .offset = 8, .act = write_buffer, .fresh = true,
		.access = ATOMIC("add") "global_load32 sig3, r8, [one], sh0 + r1\n"
			  "sig_wait r2[0], sig3\n",
		.finding = "stale-read",
		.place = PLACE("read"),
	}, {
		/* It is in the window that the device requests. */
		.name = "no_invalidation_of_caches_for_the_word_after_a_constant",
		.omitted = INPROC_OMIT_START, .access = CONST, .act = write_neighbour,
	}, {
		.name = "no_invalidation_of_caches_for_a_store_that_arrives_later",
		.omitted = INPROC_OMIT_START, .act = do_nothing,
		.access = EARLIER("global_store32 sig3, [one], sh0 + r1, r9\n",
				  "sig_wait r2[0], sig3\n"),
	}, {
		.name = "no_invalidation_of_caches_for_a_copy_that_arrives_later",
		.omitted = INPROC_OMIT_START, .act = do_nothing, .instances = 17,
		.access = EARLIER("local_store32 [one], r9, r9\nmov r6[0], 0\n"
				  "group_store sig3, r6[0], sh0, 1\n", "sig_wait r2[0], sig3\n"),
	}, {
		.name = "no_invalidation_of_caches_for_a_coherent_buffer",
		.omitted = INPROC_OMIT_START, .access = LOAD32, .act = write_buffer,
		.coherent = true,
	}, {
		.name = "no_clean_of_caches_for_a_coherent_buffer",
		.omitted = INPROC_OMIT_END, .access = STORE32, .act = write_buffer,
		.coherent = true,
	}, {
		.name = "page_table_freed_before_its_entry_is_removed",
		.omitted = INPROC_OMIT_ENTRY, .access = BLOCKS_AFTER, .instances = BLOCKS,
		.offset = 2 * BLOCK, .prepare = map_next_block, .act = free_table, .copy = true,
		.finding = "table-reused",
		.place = "\"unit\":\"usc-data\",\"access\":\"read\",\"va\":\"%A\","
			 "\"label\":\"next\",",
	}, {
		.name = "table_for_another_page_size_than_its_heap_has",
		.omitted = INPROC_OMIT_PAGE_SIZE, .access = BLOCK_AFTER, .offset = BLOCK,
		.act = map_next_block_late, .fault = true,
		.finding = "page-size",
		.place = "\"unit\":\"usc-data\",\"access\":\"read\",\"va\":\"%A\","
			 "\"label\":\"next\",",
	}, {
		.name = "no_clean_of_caches_after_an_atomic_operation",
		.omitted = INPROC_OMIT_END, .access = ATOMIC("and"), .offset = 4,
		.act = write_buffer,
		.finding = "unflushed-write",
		.place = PLACE("write"),
	}, {
		.name = "no_clean_of_caches_at_the_end",
		.omitted = INPROC_OMIT_END, .access = STORE32, .offset = 4, .act = write_buffer,
		.finding = "unflushed-write",
		.place = PLACE("write"),
	},
};

#define ERRORS (sizeof(errors) / sizeof(errors[0]))

/* ------------------------------------------------------------------- running */

static void assemble(struct fixture *f, const struct driver_error *e)
{
	/* All that the jobs of the case store is coherent. */
	const uint64_t result = e->coherent ? f->buffer.va + PAGE : f->result.va;
	char text[FINDING_BYTES];

	snprintf(text, sizeof(text),
		 ".group %u, 1, 1\n.local 64\n"
		 "mov sh0, %#x\nmov sh1, %#x\nmov sh2, %#x\nmov sh3, %#x\n"
		 "mov r1, [one], %u\nmov r9, [one], 0\nmov r7, [one], 0\n%s"
		 "global_store32 sig1, [one], sh2 + r9, r7\nsig_wait r2[0], sig1\nend\n",
		 e->instances ? e->instances : 1, (unsigned int)f->buffer.va,
		 (unsigned int)(f->buffer.va >> 32),
		 (unsigned int)result, (unsigned int)(result >> 32), e->offset,
		 e->access);
	require(f, pumice_kernel_assemble(f->vm, e->name, text, &f->kernel), e->name);
	require(f, pumice_kernel_assemble(f->other_vm, "other", ".group 1, 1, 1\nend\n",
					  &f->other_kernel), "other");
}

/* Create the buffer, in one operation of its address space. */
static void create_buffer(struct fixture *f, bool coherent)
{
	if (!coherent) {
		require(f, pumice_buffer_create(f->vm, PAGES * PAGE, &f->buffer), "buffer");
		return;
	}
	require(f, pumice_bo_create_flags(f->dev, PAGES * PAGE, f->vm, PUMICE_BO_COHERENT,
					  &f->buffer.bo), "buffer");
	require(f, pumice_vm_place(f->vm, f->buffer.bo, PUMICE_BIND_NOEXEC, &f->buffer.va),
		"place");
	require(f, pumice_bo_map(f->buffer.bo, &f->buffer.cpu), "map");
}

static void set_up(struct fixture *f, const struct driver_error *e)
{
	*f = (struct fixture){ 0 };
	require(f, pumice_device_open(DEVICE, &f->dev, NULL, 0), "device");
	require(f, pumice_vm_create(f->dev, &f->vm), "vm");
	require(f, pumice_vm_create(f->dev, &f->other_vm), "vm");
	require(f, pumice_context_create(f->vm, PUMICE_PRIORITY_NORMAL, &f->context), "context");
	require(f, pumice_context_create(f->other_vm, PUMICE_PRIORITY_NORMAL, &f->other_context),
		"context");
	/* Each of these of the first VM, and the program, is one operation. */
	require(f, pumice_stream_create(f->vm, 65536, &f->stream), "stream");
	require(f, pumice_stream_create(f->other_vm, 65536, &f->other_stream), "stream");
	create_buffer(f, e->coherent);
	require(f, pumice_buffer_create(f->vm, PAGES * PAGE, &f->next), "buffer");
	require(f, pumice_buffer_create(f->vm, PAGE, &f->result), "result");
	require(f, pumice_bo_set_label(f->buffer.bo, "victim"), "label");
	require(f, pumice_bo_set_label(f->next.bo, "next"), "label");
	require(f, pumice_bo_set_label(f->result.bo, "result"), "label");
	fill(&f->buffer, BEFORE);
	fill(&f->next, AFTER);
	assemble(f, e);
}

static void tear_down(struct fixture *f)
{
	pumice_kernel_destroy(f->kernel);
	pumice_kernel_destroy(f->other_kernel);
	pumice_context_destroy(f->context);
	pumice_context_destroy(f->other_context);
	pumice_stream_destroy(f->stream);
	pumice_stream_destroy(f->other_stream);
	pumice_buffer_destroy(&f->result);
	pumice_bo_destroy(f->buffer.bo);
	pumice_bo_destroy(f->next.bo);
	pumice_vm_destroy(f->vm);
	pumice_vm_destroy(f->other_vm);
	pumice_device_close(f->dev);
}

/* Run a job, which faults with a driver that makes it; else it must succeed. */
static void run_job(struct fixture *f, struct pumice_context *context,
		    struct pumice_stream *stream, struct pumice_kernel *kernel, bool fault)
{
	struct pumice_dispatch dispatch;
	uint64_t start;

	pumice_stream_reset(stream);
	pumice_dispatch_init(&dispatch, kernel);
	require(f, pumice_stream_dispatch(stream, &dispatch), "dispatch");
	require(f, pumice_stream_end(stream, &start), "stream");
	require(f, !pumice_context_run(context, start, PUMICE_FOREVER, NULL) == fault, "job");
}

static void run(struct fixture *f, const struct driver_error *e, uint32_t omitted)
{
	if (e->prepare)
		e->prepare(f);
	run_job(f, f->other_context, f->other_stream, f->other_kernel, false);
	run_job(f, f->context, f->stream, f->kernel, false);
	inproc_device(f->dev)->omitted = omitted;
	require(f, pumice_device_timestamp(f->dev, &f->before, NULL), "clock");
	e->act(f);
	require(f, pumice_device_timestamp(f->dev, &f->after, NULL), "clock");
	run_job(f, f->context, f->stream, f->kernel, omitted && e->fault);
	inproc_device(f->dev)->omitted = 0;
}

/*
 * Return whether caches hold data with the wrong driver: a load reads the former value, but an
 * atomic operation that of memory, and the CPU does not see the value of a store.
 */
static bool caches_hold_data(const struct fixture *f, const struct driver_error *e)
{
	const bool stored = !strcmp(e->finding, "unflushed-write");
	const uint32_t word = stored ? ((uint32_t *)f->buffer.cpu)[e->offset / 4] :
				       *(uint32_t *)f->result.cpu;

	if (!stored && strcmp(e->finding, "stale-read"))
		return true;
	if (word == (stored || e->fresh ? AFTER : BEFORE))
		return true;
	printf("# %s %u\n", stored ? "the CPU reads" : "the second job has read", word);
	return false;
}

/* Return whether the right driver has no finding, and the second job reads what the host wrote. */
static bool right_has_none(const void *error, char *finding)
{
	const struct driver_error *e = error;
	struct fixture f;
	bool none;

	set_up(&f, e);
	run(&f, e, 0);
	none = strict_has_none(f.dev, finding);
	if (e->finding && !strcmp(e->finding, "unflushed-write") &&
	    ((uint32_t *)f.buffer.cpu)[e->offset / 4]) {
		printf("# the right driver's second job has not stored\n");
		snprintf(finding, FINDING_BYTES, "no store");
		none = false;
	}
	if (e->finding && strcmp(e->access, STORE32) && *(uint32_t *)f.result.cpu != AFTER) {
		printf("# the right driver's second job read %u\n", *(uint32_t *)f.result.cpu);
		snprintf(finding, FINDING_BYTES, "wrong result");
		none = false;
	}
	tear_down(&f);
	return none;
}

/* Return whether a finding of a removed mapping has the time at which the host removed it. */
static bool time_is_of_the_act(const struct fixture *f, const char *finding)
{
	static const char key[] = ",\"unmapped_at\":";
	const char *at = strstr(finding, key);
	const uint64_t time = at ? strtoull(at + strlen(key), NULL, 10) : 0;

	if (!strstr(finding, "\"unmapped_by\":") || (time >= f->before && time <= f->after))
		return true;
	printf("# unmapped at %" PRIu64 ", not between %" PRIu64 " and %" PRIu64 "\n", time,
	       f->before, f->after);
	return false;
}

/* Write the words of a place with the address of the access. */
static void expand(uint64_t at, const char *place, char *out)
{
	const char *mark = strstr(place, "%A");

	if (mark)
		sprintf(out, "%.*s0x%" PRIx64 "%s", (int)(mark - place), place, at, mark + 2);
	else
		strcpy(out, place);
}

/* Return whether the wrong driver has the finding, or rightly none. */
static bool wrong_is_found(const void *error, char *finding)
{
	const struct driver_error *e = error;
	char place[FINDING_BYTES], job[128], lane[32];
	struct fixture f;
	bool ok;

	set_up(&f, e);
	run(&f, e, e->omitted);
	finding[0] = '\0';
	snprintf(job, sizeof(job), "\"master\":\"cdm\",\"job_context\":%u,\"job\":2,",
		 pumice_context_id(f.context));
	if (!e->finding) {
		ok = strict_has_none(f.dev, finding);
		tear_down(&f);
		return ok;
	}
	expand(e->code ? f.kernel->code_va : f.buffer.va + e->offset, e->place, place);
	ok = !pumice_finding_get(f.dev, 0, finding, FINDING_BYTES) &&
	     strict_is(finding, e->finding) && strict_has(finding, place) &&
	     (!e->rest || strict_has(finding, e->rest)) && time_is_of_the_act(&f, finding);
	if (!e->code)
		ok = ok && strict_has(finding, job) && strict_has(finding, ",\"source\":\"");
	snprintf(lane, sizeof(lane), ",\"lane\":%u,", e->lane);
	if (!e->code && !e->copy)
		ok = ok && strict_has(finding, lane);
	ok = ok && caches_hold_data(&f, e);
	tear_down(&f);
	return ok;
}

/* ------------------------------------------------------------------- modes */

#define ALIASES "stores_by_two_addresses_have_the_same_result_in_all_modes"

/* Store a word twice, by the addresses in sh0 and sh2. */
static void assemble_aliases(struct fixture *f, uint64_t second)
{
	char text[FINDING_BYTES];

	snprintf(text, sizeof(text),
		 ".group 1, 1, 1\n"
		 "mov sh0, %#x\nmov sh1, %#x\nmov sh2, %#x\nmov sh3, %#x\n"
		 "mov r1, [one], 0\nmov r9, [one], %u\nmov r8, [one], %u\n" STORE32
		 "mem_fence device\n"
		 "global_store32 sig3, [one], sh2 + r1, r8\nsig_wait r2[0], sig3\nend\n",
		 (unsigned int)f->buffer.va, (unsigned int)(f->buffer.va >> 32),
		 (unsigned int)second, (unsigned int)(second >> 32), BEFORE, AFTER);
	require(f, pumice_kernel_assemble(f->vm, "aliases", text, &f->kernel), ALIASES);
}

/* Run them with the right driver. Return whether memory has the last store, without a finding. */
static bool last_alias_remains(const char *device, char *finding)
{
	struct fixture f = { 0 };
	uint64_t second;
	uint32_t word;
	bool none;

	require(&f, pumice_device_open(device, &f.dev, NULL, 0), "device");
	require(&f, pumice_vm_create(f.dev, &f.vm), "vm");
	require(&f, pumice_context_create(f.vm, PUMICE_PRIORITY_NORMAL, &f.context), "context");
	require(&f, pumice_stream_create(f.vm, 65536, &f.stream), "stream");
	require(&f, pumice_buffer_create(f.vm, PAGES * PAGE, &f.buffer), "buffer");
	require(&f, pumice_vm_place(f.vm, f.buffer.bo, PUMICE_BIND_NOEXEC, &second), "place");
	assemble_aliases(&f, second);
	run_job(&f, f.context, f.stream, f.kernel, false);
	word = *(uint32_t *)f.buffer.cpu;
	none = strict_has_none(f.dev, finding);
	require(&f, pumice_vm_remove(f.vm, second), "unmap");
	tear_down(&f);
	if (word != AFTER)
		printf("# %s: the CPU reads %u\n", device, word);
	return none && word == AFTER;
}

static bool modes_have_one_result(void)
{
	static const char *const devices[] = {
		"inproc:ram=64,threads=0", "inproc:ram=64,threads=0,mode=counted", DEVICE,
	};
	char finding[FINDING_BYTES] = "";
	bool ok = true;
	uint32_t n;

	for (n = 0; n < 3; n++)
		ok = last_alias_remains(devices[n], finding) && ok;
	return strict_line(ALIASES, NULL, ok, finding);
}

int main(void)
{
	uint32_t n, failed = 0;

	printf("1..%zu\n", ERRORS + 1);
	for (n = 0; n < ERRORS; n++)
		failed += !strict_check(errors[n].name, &errors[n], right_has_none, wrong_is_found);
	failed += !modes_have_one_result();
	return failed != 0;
}
