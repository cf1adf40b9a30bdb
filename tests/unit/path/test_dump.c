// SPDX-License-Identifier: MIT
/*
 * Dumps of a GPU in process, as printed by pumice-dump: of jobs that faulted, were
 * killed, or run, of each kind of context; a corrupt file must not crash the reader
 * (under ASan in make check-unit).
 */
#include "path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../../userspace/tools/dump.h"
#include "pumice/pumice_gfx.h"
#include "store.pasm.h"
#include "stuck.pasm.h"

#define UNMAPPED	0x40001040ull	/* the page before is mapped */
#define TEXT_BYTES	(4u << 20)

struct file {
	unsigned char *data;
	size_t bytes;
};

/* Write a dump of a context, read it and delete the file. */
static struct file take_dump(struct pumice_context *context)
{
	char path[] = "/tmp/pumice-dump-XXXXXX";
	int fd = mkstemp(path);
	struct file f = { 0 };
	off_t end;

	assert_true(fd >= 0);
	assert_int_equal(pumice_context_dump(context, path), 0);
	end = lseek(fd, 0, SEEK_END);
	assert_true(end > 0);
	f.bytes = (size_t)end;
	f.data = malloc(f.bytes);
	assert_non_null(f.data);
	assert_int_equal(pread(fd, f.data, f.bytes, 0), end);
	close(fd);
	unlink(path);
	return f;
}

/* Output of the views, to be freed; NULL: discard it. */
static char *show(const struct dump *dump, bool all, bool keep)
{
	char path[] = "/tmp/pumice-text-XXXXXX", *text = NULL;
	int fd = keep ? mkstemp(path) : open("/dev/null", O_WRONLY);
	int out;
	ssize_t got;

	assert_true(fd >= 0);
	fflush(stdout);
	out = dup(STDOUT_FILENO);
	dup2(fd, STDOUT_FILENO);
	for (unsigned int i = 0; i < DUMP_VIEWS; i++)
		dump_views[i].print(dump, all);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	if (keep) {
		text = calloc(1, TEXT_BYTES);
		assert_non_null(text);
		got = pread(fd, text, TEXT_BYTES - 1, 0);
		assert_true(got > 0);
		unlink(path);
	}
	close(fd);
	return text;
}

static char *show_file(const struct file *f)
{
	struct dump *dump = malloc(sizeof(*dump));
	const char *error;
	char *text;

	assert_non_null(dump);
	if (!dump_parse(dump, f->data, f->bytes, &error))
		fail_msg("%s", error);
	text = show(dump, false, true);
	free(dump);
	return text;
}

static void assert_has(const char *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void assert_has(const char *text, const char *format, ...)
{
	char want[256];
	va_list args;

	va_start(args, format);
	vsnprintf(want, sizeof(want), format, args);
	va_end(args);
	if (!strstr(text, want))
		fail_msg("not in the dump: %s\n%.4000s", want, text);
}

/*
 * store.pasm to an unmapped address, with a mapped page before it. The dump shows
 * the program, so that the kernel is released after it only.
 */
static struct pumice_kernel *run_fault(struct path *p)
{
	const struct pumice_bind map = { .bo = p->out, .va = UNMAPPED - 0x1040, .size = 4096 };
	const uint32_t uniforms[3] = { VA_WORDS(UNMAPPED), 1 };
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));

	assert_int_equal(pumice_vm_bind(p->vm, &map, 1, NULL), 0);
	path_dispatch(p, k, 1, uniforms, 3);
	assert_int_equal(path_run(p, NULL), -EIO);
	return k;
}

static void check_fault(struct path *p)
{
	struct pumice_kernel *k = run_fault(p);
	struct pumice_job_result r;
	struct file f;
	char *text;

	f = take_dump(p->context);
	text = show_file(&f);
	assert_int_equal(pumice_context_get_job_result(p->context, 0, &r, sizeof(r)), 0);
	assert_int_equal(r.pc, 2);
	assert_has(text, "reason: fault: a job faulted\n");
	assert_has(text, "job: 1 of context %u, a compute job", pumice_context_id(p->context));
	assert_has(text, "fault: mmu-pt-invalid by usc-data, write at 0x%010llx, usc %u pc 2",
		   UNMAPPED, r.usc);
	assert_has(text, "finished: 0 work-groups in ");
	assert_has(text, "\nfault at pc 2 of program 0x%010llx, usc %u\n",
		   (unsigned long long)pumice_kernel_code_va(k), r.usc);
	assert_has(text, "\n  slot %u wave 0 lanes 0xffffffff, lane 0, instance 0, work-group (0, 0, 0)\n",
		   r.slot);
	assert_has(text, "=>     2  global_store32");
	assert_has(text, "       3  end");
	assert_has(text, "page-table walk of 0x%010llx:", UNMAPPED);
	assert_has(text, "page table at 0x");
	assert_has(text, "the address is not mapped\n");
	assert_has(text, "control stream:");
	assert_has(text, "cdm_launch");
	assert_has(text, "cdm_halt");
	assert_has(text, "SYS_CONFIG");
	assert_has(text, "job 1 fault mmu-pt-invalid\n");
	/* The mapped bytes before and after the address. */
	assert_has(text, "around the fault, 64 bytes at 0x%010llx:\n", UNMAPPED - 128);
	assert_has(text, "library: libpumice, in process, ");
	assert_has(text, "firmware interface: %u.%u\n", FWIF_VERSION_MAJOR, FWIF_VERSION_MINOR);
	assert_has(text, "jobs: 1 started, 1 done, 1 faulted, 0 killed;");
	assert_has(text, " (read later): compute, priority normal, state");
	/* The GPU has continued since the fault. */
	assert_has(text, "waves in flight (read later): 0\n");
	assert_has(text, "registers (read later):\n");
	assert_has(text, "firmware (read later): build ");
	assert_has(text, ", ready, error: none (0x0 at 0x0)\n");
	assert_has(text, "firmware log (read later):\n");
	assert_has(text, "process: test_path_dump (%d)\n", getpid());
	free(text);
	free(f.data);
	pumice_kernel_destroy(k);
}

static void a_fault_shows_instruction_walk_and_stream(void **state)
{
	(void)state;
	path_one(1, 0, check_fault);
	path_one(4, 2, check_fault);
}

/* Bind a page without memory. */
static void bind_null(struct path *p, uint64_t va)
{
	const struct pumice_bind map = { .va = va, .size = 4096, .flags = PUMICE_BIND_NULL };

	assert_int_equal(pumice_vm_bind(p->vm, &map, 1, NULL), 0);
}

/* store.pasm across the end of a page without memory. */
static void check_store_past_null(struct path *p)
{
	const uint64_t page = UNMAPPED - 0x1040, end = page + 4096;
	const uint32_t uniforms[3] = { VA_WORDS(end - 128), 1 };
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	struct file f;
	char *text;

	bind_null(p, page);
	path_dispatch(p, k, 1, uniforms, 3);
	assert_int_equal(path_run(p, NULL), -EIO);
	f = take_dump(p->context);
	text = show_file(&f);
	assert_has(text, "fault: mmu-pt-invalid by usc-data, write at 0x%010llx",
		   (unsigned long long)end);
	assert_has(text, "around the fault, 128 bytes at 0x%010llx:\n"
		   "  %010llx 00000000 00000000 00000000 00000000\n",
		   (unsigned long long)(end - 128), (unsigned long long)(end - 128));
	free(text);
	free(f.data);
	pumice_kernel_destroy(k);
}

static void check_stream_in_null(struct path *p)
{
	const uint64_t page = UNMAPPED - 0x1040;
	struct file f;
	char *text;

	bind_null(p, page);
	assert_int_equal(pumice_context_run(p->context, page, LONG, NULL), -EIO);
	f = take_dump(p->context);
	text = show_file(&f);
	assert_has(text, "stream: 0x%010llx", (unsigned long long)page);
	assert_has(text, "control stream:\n  %010llx", (unsigned long long)page);
	free(text);
	free(f.data);
}

static void memory_of_a_null_mapping_is_shown_as_zeros(void **state)
{
	(void)state;
	path_one(1, 0, check_store_past_null);
	path_one(1, 0, check_stream_in_null);
}

/* Of 10 sampled waves, the 6 at the two places of the record are not all. */
static void check_further_places(struct file *f)
{
	static const uint32_t counts[] = { 6, 6, 2 };	/* waves, sampled, places */
	static const uint32_t sampled = 10;
	uint8_t *at = memmem(f->data, f->bytes, counts, sizeof(counts));
	char *text;

	assert_non_null(at);
	memcpy(at + sizeof(*counts), &sampled, sizeof(sampled));
	text = show_file(f);
	assert_has(text, "\n4 at other instructions\n");
	free(text);
}

/* A dump while the job runs, and one when it was killed. */
static void check_stuck(struct path *p)
{
	const uint32_t uniforms[2] = { VA_WORDS(p->out_va) };
	struct pumice_kernel *k = path_kernel(p, stuck_program, sizeof(stuck_program));
	const uint64_t code = pumice_kernel_code_va(k);
	struct pumice_context_state s;
	struct file f;
	uint64_t va;
	char *text;

	path_dispatch(p, k, 2, uniforms, 2);
	assert_int_equal(pumice_stream_end(p->stream, &va), 0);
	/* One job only, however slow the host is: a second one would be killed in the queue. */
	assert_int_equal(pumice_context_run(p->context, va, SECOND / 100, &s), -ETIME);
	while (!p->out_cpu[191])
		path_run_briefly(p);
	f = take_dump(p->context);
	text = show_file(&f);
	assert_has(text, "reason: request: requested by the program\n");
	assert_has(text, "stream: 0x%010llx", (unsigned long long)va);
	assert_has(text, "DBG_CDM_STATUS");
	assert_has(text, "BUSY = true");
	assert_has(text, "pc 7 of 0x%010llx  jump", (unsigned long long)code);
	assert_has(text, "unit: usc-code\nbusy data masters: compute\n"
		   "waves of the job: 6, of which 6 were sampled\n");
	assert_has(text, "2 at pc 7 of program 0x%010llx, first: usc ", (unsigned long long)code);
	assert_has(text, "4 at pc 5 (barrier) of program 0x%010llx, first: usc ",
		   (unsigned long long)code);
	assert_has(text, "  => %5u  jump", 7);
	assert_has(text, "firmware log:\n");
	assert_has(text, "waves in flight: 6\n");
	free(text);
	check_further_places(&f);
	free(f.data);

	assert_int_equal(pumice_context_kill(p->context), 0);
	f = take_dump(p->context);
	text = show_file(&f);
	assert_has(text, "reason: time-out: a job was killed\n");
	assert_has(text, "fault: killed by usc-code, at instruction 0x%010llx, usc ",
		   (unsigned long long)code + 7 * PUMICE_USC_WORDS * 4);
	assert_has(text, "unit: usc-code\nbusy data masters: compute\n");
	assert_has(text, " at pc 7 of program 0x%010llx", (unsigned long long)code);
	assert_has(text, "=>     7  jump");
	assert_has(text, "=>     5  barrier");
	assert_has(text, "waves in flight (read later): 0\n");
	free(text);
	free(f.data);
	pumice_kernel_destroy(k);
}

static void a_job_that_does_not_end_shows_its_loop(void **state)
{
	(void)state;
	path_one(2, 0, check_stuck);
}

/* Return the number of bytes from @va on that a dump of the context has. */
static size_t bytes_in_dump(struct pumice_context *context, uint64_t va, size_t bytes)
{
	struct dump *dump = malloc(sizeof(*dump));
	struct file f = take_dump(context);
	unsigned char copy[64];
	const char *error;
	size_t had;

	assert_non_null(dump);
	assert_true(bytes <= sizeof(copy));
	if (!dump_parse(dump, f.data, f.bytes, &error))
		fail_msg("%s", error);
	had = dump_memory(dump, va, copy, bytes);
	free(dump);
	free(f.data);
	return had;
}

/* Waves of one VM in dumps of idle contexts: of that VM, and of one that maps their code. */
static void check_foreign(struct path *p)
{
	const uint32_t uniforms[2] = { VA_WORDS(p->out_va) };
	struct pumice_kernel *k = path_kernel(p, stuck_program, sizeof(stuck_program));
	const uint64_t code = pumice_kernel_code_va(k);
	const struct pumice_bind map = { .bo = p->out, .va = code & ~4095ull, .size = 8192 };
	struct pumice_job job = { .context = p->context };
	volatile uint32_t *out = p->out_cpu;
	struct pumice_context *idle, *foreign;
	struct pumice_vm *vm;

	assert_int_equal(pumice_vm_create(p->dev, &vm), 0);
	assert_int_equal(pumice_vm_bind(vm, &map, 1, NULL), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &foreign), 0);
	assert_int_equal(pumice_context_create(p->vm, PUMICE_PRIORITY_NORMAL, &idle), 0);
	path_dispatch(p, k, 1, uniforms, 2);
	assert_int_equal(pumice_stream_end(p->stream, &job.stream), 0);
	assert_int_equal(pumice_submit(p->dev, &job, 1, NULL), 0);
	while (!*out)
		path_run_briefly(p);
	assert_int_equal(bytes_in_dump(idle, code, 64), 64);
	assert_int_equal(bytes_in_dump(foreign, code, 64), 0);
	assert_int_equal(pumice_context_kill(p->context), 0);
	pumice_context_destroy(idle);
	pumice_context_destroy(foreign);
	pumice_vm_destroy(vm);
	pumice_kernel_destroy(k);
}

static void code_of_waves_is_dumped_for_the_vm_of_the_job_only(void **state)
{
	(void)state;
	path_one(1, 0, check_foreign);
	path_one(2, 2, check_foreign);
}

static uint32_t occurrences(const char *text, const char *what)
{
	uint32_t n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

/* The firmware logs the priorities that it was given. */
static void check_priorities(struct path *p)
{
	struct pumice_context *render;
	struct file f;
	char *text;

	assert_int_equal(pumice_context_create_type(p->vm, PUMICE_CONTEXT_RENDER,
						    PUMICE_PRIORITY_NORMAL, &render), 0);
	assert_int_equal(pumice_context_set_priority(render, PUMICE_PRIORITY_HIGH), 0);
	assert_int_equal(pumice_context_set_priority(p->context, PUMICE_PRIORITY_LOW), 0);
	f = take_dump(p->context);
	text = show_file(&f);
	assert_has(text, " context %u: priority high, was normal\n", pumice_context_id(render));
	assert_int_equal(occurrences(text, ": priority high, was normal\n"), 2);
	assert_has(text, " context %u: priority low, was normal\n", pumice_context_id(p->context));
	assert_int_equal(occurrences(text, ": priority low, was normal\n"), 1);
	free(text);
	free(f.data);
	pumice_context_destroy(render);
}

static void both_queues_of_a_render_context_change_their_priority(void **state)
{
	(void)state;
	path_one(1, 0, check_priorities);
}

static void check_idle(struct path *p)
{
	struct file f = take_dump(p->context);
	char *text = show_file(&f);

	assert_has(text, "reason: request");
	assert_has(text, "waves in flight: 0\n");
	free(text);
	free(f.data);
	assert_int_equal(pumice_context_dump(p->context, "/nonexistent/dump"), -ENOENT);
}

static void a_context_without_jobs_can_be_dumped(void **state)
{
	(void)state;
	path_one(1, 0, check_idle);
}

static void check_success(struct path *p)
{
	struct file f;
	char *text;

	path_assert_works(p, p->context);
	f = take_dump(p->context);
	text = show_file(&f);
	assert_has(text, "reason: request");
	assert_has(text, "fault: none\nfinished: 4 work-groups in ");
	free(text);
	free(f.data);
}

static void a_successful_job_has_no_fault(void **state)
{
	(void)state;
	path_one(1, 0, check_success);
}

/* ------------------------------------------------------------------- words */

/* A dump of a job of a data master that has only a reason and a result. */
struct small_file {
	struct pumice_dump_header head;
	struct pumice_dump_section reason_head;
	struct pumice_dump_reason reason;
	struct pumice_dump_section result_head;
	struct fwif_job_result result;
};

static char *show_small(u32 dm, struct fwif_job_result result)
{
	struct small_file small = {
		.head = { .magic = PUMICE_DUMP_MAGIC, .version = PUMICE_DUMP_VERSION,
			  .header_bytes = sizeof(small.head), .bytes = sizeof(small),
			  .sections = 2 },
		.reason_head = { .type = PUMICE_DUMP_REASON, .bytes = sizeof(small.reason),
				 .count = 1 },
		.reason = { .kind = PUMICE_DUMP_KIND_USER, .dm = dm },
		.result_head = { .type = PUMICE_DUMP_RESULT, .bytes = sizeof(small.result),
				 .count = 1 },
		.result = result,
	};

	return show_file(&(struct file){ (unsigned char *)&small, sizeof(small) });
}

static void finished_work_is_named_for_the_data_master(void **state)
{
	static const char *const words[FWIF_DM_COUNT] = {
		[FWIF_DM_CDM] = "work-groups", [FWIF_DM_VDM] = "primitives",
		[FWIF_DM_PDM] = "tiles", [FWIF_DM_TDM] = "commands",
		[FWIF_DM_RDM] = "tasks",
	};
	u32 dm;

	(void)state;
	for (dm = 0; dm < FWIF_DM_COUNT; dm++) {
		char *text = show_small(dm, (struct fwif_job_result){ .groups = 197, .slices = 1 });

		assert_has(text, "finished: 197 %s in 0 ticks, 1 slices%s\n", words[dm],
			   dm == FWIF_DM_VDM ? ", 0 partial renders" : "");
		assert_null(strstr(text, "process:"));
		free(text);
	}
}

static void a_job_killed_before_it_ran_has_no_instruction(void **state)
{
	char *text = show_small(FWIF_DM_CDM,
				(struct fwif_job_result){ .fault = PUMICE_FAULT_KILLED });

	(void)state;
	assert_has(text, "\nfault: killed\n");
	free(text);
}

/* ------------------------------------------------------------------- damage */

static void read_damaged(const unsigned char *data, size_t bytes)
{
	struct dump *dump = malloc(sizeof(*dump));
	/* Separate memory, so that an access beyond the end is detected. */
	unsigned char *copy = malloc(bytes ? bytes : 1);
	const char *error;

	assert_non_null(dump);
	assert_non_null(copy);
	memcpy(copy, data, bytes);
	if (dump_parse(dump, copy, bytes, &error))
		assert_null(error);
	else
		assert_non_null(error);
	show(dump, true, false);
	free(copy);
	free(dump);
}

/* Every head of a section and its contents, and the end of the last one. */
static size_t next_section(const struct file *f, size_t at)
{
	struct pumice_dump_section head;

	memcpy(&head, f->data + at, sizeof(head));
	return at + sizeof(head) + ((size_t)head.bytes + 7) / 8 * 8;
}

static void flip(struct file *f, size_t at)
{
	static const unsigned char with[] = { 0x01, 0x80, 0xff };

	for (size_t i = 0; i < sizeof(with); i++) {
		f->data[at] ^= with[i];
		read_damaged(f->data, f->bytes);
		f->data[at] ^= with[i];
	}
}

static void check_damage(struct path *p)
{
	struct pumice_kernel *k = run_fault(p);
	size_t at, i;
	struct file f;

	f = take_dump(p->context);
	for (i = 0; i < sizeof(struct pumice_dump_header); i++)
		flip(&f, i);
	for (at = sizeof(struct pumice_dump_header); at < f.bytes; at = next_section(&f, at)) {
		/* The head, and the first elements: counts, types, addresses. */
		for (i = at; i < at + sizeof(struct pumice_dump_section) + 64 && i < f.bytes; i++)
			flip(&f, i);
		read_damaged(f.data, at);
		read_damaged(f.data, at + 1);
		read_damaged(f.data, at + sizeof(struct pumice_dump_section));
	}
	for (i = 0; i < f.bytes; i += i < 200 ? 1 : 197)
		read_damaged(f.data, i);
	free(f.data);
	pumice_kernel_destroy(k);
}

static void a_corrupt_file_is_refused_or_printed_in_part(void **state)
{
	(void)state;
	path_one(1, 0, check_damage);
}

static void files_that_are_not_dumps_are_reported(void **state)
{
	struct pumice_dump_header h = {
		.magic = PUMICE_DUMP_MAGIC, .version = PUMICE_DUMP_VERSION,
		.header_bytes = sizeof(h), .bytes = sizeof(h),
	};
	struct dump *dump = malloc(sizeof(*dump));
	const char *error;

	(void)state;
	assert_non_null(dump);
	assert_true(dump_parse(dump, (unsigned char *)&h, sizeof(h), &error));
	assert_false(dump_parse(dump, (unsigned char *)&h, sizeof(h) - 1, &error));
	h.version++;
	assert_false(dump_parse(dump, (unsigned char *)&h, sizeof(h), &error));
	assert_string_equal(error, "a dump of version 2, but this tool reads version 1");
	h.version--;
	h.sections = UINT32_MAX;
	assert_false(dump_parse(dump, (unsigned char *)&h, sizeof(h), &error));
	h.sections = 0;
	h.header_bytes = UINT32_MAX - 7;
	assert_false(dump_parse(dump, (unsigned char *)&h, sizeof(h), &error));
	h.magic++;
	assert_false(dump_parse(dump, (unsigned char *)&h, sizeof(h), &error));
	assert_string_equal(error, "not a dump of a Pumice GPU: expected the data file of a "
				   "devcoredump, or a copy of it");
	free(dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_shows_instruction_walk_and_stream),
		cmocka_unit_test(memory_of_a_null_mapping_is_shown_as_zeros),
		cmocka_unit_test(a_job_that_does_not_end_shows_its_loop),
		cmocka_unit_test(code_of_waves_is_dumped_for_the_vm_of_the_job_only),
		cmocka_unit_test(both_queues_of_a_render_context_change_their_priority),
		cmocka_unit_test(a_context_without_jobs_can_be_dumped),
		cmocka_unit_test(a_successful_job_has_no_fault),
		cmocka_unit_test(finished_work_is_named_for_the_data_master),
		cmocka_unit_test(a_job_killed_before_it_ran_has_no_instruction),
		cmocka_unit_test(a_corrupt_file_is_refused_or_printed_in_part),
		cmocka_unit_test(files_that_are_not_dumps_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
