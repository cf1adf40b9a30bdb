// SPDX-License-Identifier: MIT
/* Findings: storage in the device, and their way through the library. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "pumice/pumice.h"
#include "strict/dropped.h"
#include "strict/strict.h"

#define TEXT_BYTES	2048u

static struct strict strict;
static u32 notified;

static void notify(void *opaque, const char *text)
{
	assert_ptr_equal(opaque, &strict);
	assert_non_null(strstr(text, "{\"finding\":\"local-race\""));
	notified++;
}

/* Report a race of an instruction with instruction 7. */
static void report(u32 pc, u64 addr)
{
	strict_report(&strict, &(struct strict_finding){
				       .kind = PUMICE_FINDING_LOCAL_RACE, .pc = pc, .addr = addr,
				       .other = { .known = true, .pc = 7 } });
}

static void set_up(void)
{
	notified = 0;
	strict_init(&strict, NULL, notify, &strict);
}

static void an_error_of_the_same_instruction_is_one_finding(void **state)
{
	struct strict_finding f;

	(void)state;
	set_up();
	report(3, 0);
	report(3, 4);
	report(4, 0);
	assert_int_equal(notified, 2);
	assert_true(strict_get(&strict, 0, &f));
	assert_int_equal(f.times, 2);
	assert_int_equal(f.addr, 0);
	assert_true(strict_get(&strict, 1, &f));
	assert_int_equal(f.pc, 4);
	assert_int_equal(f.times, 1);
	assert_false(strict_get(&strict, 2, &f));
	strict_destroy(&strict);
}

/* As the PBE's stores to a texture that a program reads in jobs of two data masters. */
static void a_target_of_another_data_master_is_another_finding(void **state)
{
	struct strict_finding f = {
		.kind = PUMICE_FINDING_TARGET_READ, .unit = PUMICE_UNIT_PBE,
		.target = { .known = true, .unit = PUMICE_UNIT_TAG, .code = 16,
			    .master = PUMICE_UNIT_VDM },
	};

	(void)state;
	strict_init(&strict, NULL, NULL, NULL);
	strict_report(&strict, &f);
	f.addr = 4;
	strict_report(&strict, &f);
	assert_int_equal(strict_count(&strict), 1);
	f.target.master = PUMICE_UNIT_CDM;
	strict_report(&strict, &f);
	assert_int_equal(strict_count(&strict), 2);
	strict_destroy(&strict);
}

static void findings_without_room_are_counted(void **state)
{
	struct strict_finding f;

	(void)state;
	set_up();
	for (u32 n = 0; n < STRICT_FINDINGS + 3; n++)
		report(n, 0);
	assert_int_equal(strict_lost(&strict), 3);
	assert_int_equal(notified, STRICT_FINDINGS);
	assert_true(strict_get(&strict, STRICT_FINDINGS - 1, &f));
	assert_false(strict_get(&strict, STRICT_FINDINGS, &f));
	strict_clear(&strict);
	assert_int_equal(strict_lost(&strict), 0);
	assert_false(strict_get(&strict, 0, &f));
	strict_destroy(&strict);
}

/* A virtual GPU with many errors leaves room for those of others, and for their texts. */
static void each_virtual_gpu_has_a_quota_of_its_own(void **state)
{
	static struct mmu mmu = { .oses = 4 };
	const u32 quota = STRICT_FINDINGS / 4;
	struct strict_finding f = { .kind = PUMICE_FINDING_LOCAL_RACE, .ctx = 2 };
	char text[STRICT_TEXT_BYTES];

	(void)state;
	notified = 0;
	strict_init(&strict, &mmu, notify, &strict);
	atomic_store(&mmu.ctx[2], PUMICE_FIELD_PREP(PUMICE_MMU_CTX__OS, 1ull));
	atomic_store(&mmu.ctx[3], PUMICE_FIELD_PREP(PUMICE_MMU_CTX__OS, 3ull));
	for (f.pc = 0; f.pc < quota + 2; f.pc++)
		strict_report(&strict, &f);
	assert_int_equal(strict_count(&strict), quota);
	assert_int_equal(strict_lost(&strict), 2);
	f.ctx = 3;
	f.pc = 9;
	strict_report(&strict, &f);
	assert_true(strict_get_of(&strict, 3, 0, &f));
	assert_int_equal(f.pc, 9);
	strict_describe(&f, text);
	assert_non_null(strstr(text, ",\"virtual_gpu\":3,\"context\":3,"));
	assert_false(strict_get_of(&strict, 3, 1, &f));
	assert_true(strict_get_of(&strict, 1, quota - 1, &f));
	assert_int_equal(f.pc, quota - 1);
	assert_false(strict_get_of(&strict, 0, 0, &f));
	strict_clear(&strict);
	strict_report(&strict, &f);
	assert_int_equal(strict_count(&strict), 1);
	strict_destroy(&strict);
}

/* A context that is assigned again, with a program at the usual address. */
/* The firmware, which the guest loads, may write any number to the register of a context. */
static void findings_of_a_virtual_gpu_that_does_not_exist_have_no_more_room(void **state)
{
	static struct mmu mmu = { .oses = 1 };
	struct strict_finding f = { .kind = PUMICE_FINDING_LOCAL_RACE };

	(void)state;
	strict_init(&strict, &mmu, NULL, NULL);
	atomic_store(&mmu.ctx[2], PUMICE_FIELD_PREP(PUMICE_MMU_CTX__OS, 1ull));
	for (f.pc = 0; f.pc < 2 * STRICT_FINDINGS; f.pc++) {
		f.ctx = f.pc % 2 ? 2 : 3;
		strict_report(&strict, &f);
	}
	assert_int_equal(strict_lost(&strict), STRICT_FINDINGS);
	assert_true(strict_get(&strict, 1, &f));
	assert_int_equal(f.os, 0);
	strict_destroy(&strict);
}

static void an_error_of_another_virtual_gpu_is_another_finding(void **state)
{
	static struct mmu mmu = { .oses = 2 };
	const struct strict_finding f = { .kind = PUMICE_FINDING_LOCAL_RACE, .ctx = 2 };

	(void)state;
	notified = 0;
	strict_init(&strict, &mmu, notify, &strict);
	strict_report(&strict, &f);
	atomic_store(&mmu.ctx[2], PUMICE_FIELD_PREP(PUMICE_MMU_CTX__OS, 1ull));
	strict_report(&strict, &f);
	assert_int_equal(strict_count(&strict), 2);
	strict_destroy(&strict);
}

/* All programs of a virtual GPU fault after its reset, also those without errors. */
static void a_reset_virtual_gpu_has_no_unmapped_addresses(void **state)
{
	static struct mmu mmu = { .oses = 2 };
	const struct strict_finding f = { .kind = PUMICE_FINDING_UNMAPPED, .ctx = 2 };
	struct strict_finding stale = f;

	(void)state;
	strict_init(&strict, &mmu, NULL, NULL);
	atomic_store(&mmu.ctx[2], PUMICE_FIELD_PREP(PUMICE_MMU_CTX__OS, 1ull));
	strict_report(&strict, &f);
	assert_int_equal(strict_count(&strict), 0);
	stale.kind = PUMICE_FINDING_STALE_TRANSLATION;
	strict_report(&strict, &stale);
	assert_int_equal(strict_count(&strict), 0);
	atomic_store(&mmu.part[1], PUMICE_OS_CATALOGUE__ENABLE__MASK);
	strict_report(&strict, &f);
	assert_int_equal(strict_count(&strict), 1);
	strict_destroy(&strict);
}

/* Two waves store to one word, at line 5. */
static const char race[] = ".group 64, 1, 1\n"
			   ".local 16\n"
			   "mov r1, [one], 0\n"
			   "\n"
			   "local_store32 [one], r1, r1\n"
			   "end\n";

static const char *program = race, *name = "race.pasm";
static u32 groups = 1, runs = 1, number;

/* Run the program in a device, and get its first finding, or that of a number. */
static int run_race(const char *device, char *text, size_t bytes)
{
	struct pumice_context *context;
	struct pumice_dispatch dispatch;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	struct pumice_device *dev;
	struct pumice_vm *vm;
	uint64_t start;
	int err;

	assert_int_equal(pumice_device_open(device, &dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(pumice_stream_create(vm, 65536, &stream), 0);
	assert_int_equal(pumice_kernel_assemble(vm, name, program, &kernel), 0);
	pumice_dispatch_init(&dispatch, kernel);
	dispatch.groups[0] = groups;
	assert_int_equal(pumice_stream_dispatch(stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(stream, &start), 0);
	for (u32 n = 0; n < runs; n++)
		assert_int_equal(pumice_context_run(context, start, PUMICE_FOREVER, NULL), 0);
	err = pumice_finding_get(dev, number, text, bytes);
	pumice_kernel_destroy(kernel);
	pumice_stream_destroy(stream);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	return err;
}

static void a_finding_has_the_line_of_its_program(void **state)
{
	char text[TEXT_BYTES];

	(void)state;
	assert_int_equal(run_race("inproc:cores=1,ram=64,threads=0,mode=strict", text,
				  sizeof(text)), 0);
	assert_non_null(strstr(text, "\"source\":\"race.pasm:5\"}"));
}

/* Groups of a launch use the same bytes, one after the other; in each wave 0 precedes wave 1. */
static void a_group_has_no_history(void **state)
{
	char text[TEXT_BYTES];

	(void)state;
	program = ".group 64, 1, 1\n"
		  ".local 16\n"
		  "mov r1, [one], instance\n"
		  "mov r2, [one], 0\n"
		  "brnz meet, r1[0]\n"
		  "local_store32 [one], r2, r2\n"
		  "meet:\n"
		  "barrier\n"
		  "brz done, r1[0]\n"
		  "local_store32 [one], r2, r2\n"
		  "done:\n"
		  "end\n";
	groups = 2000;	/* more than there is room for at a time */
	assert_int_not_equal(run_race("inproc:cores=1,ram=64,threads=0,mode=strict", text,
				      sizeof(text)), 0);
	program = race;
	groups = 1;
}

/* Barriers of the first groups do not order waves of the last one, which has the race. */
static void order_of_earlier_groups_does_not_count(void **state)
{
	char text[TEXT_BYTES];

	(void)state;
	program = ".group 64, 1, 1\n"
		  ".local 16\n"
		  ".input sh3, group_x\n"
		  "mov r2, [one], sh3\n"
		  "eq.u32 r2, r2, 1999\n"
		  "mov r1, [one], 0\n"
		  "brnz last, r2[0]\n"
		  "barrier\n"
		  "barrier\n"
		  "barrier\n"
		  "jump done\n"
		  "last:\n"
		  "local_store32 [one], r1, r1\n"
		  "done:\n"
		  "end\n";
	groups = 2000;
	assert_int_equal(run_race("inproc:cores=1,ram=64,threads=0,mode=strict", text,
				  sizeof(text)), 0);
	assert_non_null(strstr(text, "{\"finding\":\"local-race\""));
	program = race;
	groups = 1;
}

static void a_name_of_a_file_is_escaped(void **state)
{
	char text[TEXT_BYTES];

	(void)state;
	name = "a \"b\" \\c \xc3\xa9.pasm";
	assert_int_equal(run_race("inproc:cores=1,ram=64,threads=0,mode=strict", text,
				  sizeof(text)), 0);
	assert_non_null(strstr(text, "\"source\":\"a \\\"b\\\" \\\\c \xc3\xa9.pasm:5\"}"));
	name = "race.pasm";
}

static void other_modes_have_no_finding(void **state)
{
	char text[TEXT_BYTES];

	(void)state;
	assert_int_not_equal(run_race("inproc:cores=1,ram=64,threads=0,mode=counted", text,
				      sizeof(text)), 0);
}

static void threads_find_the_same(void **state)
{
	char text[TEXT_BYTES], again[TEXT_BYTES];

	(void)state;
	assert_int_equal(run_race("inproc:cores=1,ram=64,threads=0,mode=strict", text,
				  sizeof(text)), 0);
	assert_int_equal(run_race("inproc:cores=1,ram=64,threads=2,mode=strict", again,
				  sizeof(again)), 0);
	assert_string_equal(text, again);
}

static void findings_are_written_to_the_file(void **state)
{
	char path[] = "/tmp/pumice-findings-XXXXXX", text[TEXT_BYTES], line[TEXT_BYTES];
	FILE *file = fdopen(mkstemp(path), "r");

	(void)state;
	assert_non_null(file);
	setenv("PUMICE_FINDINGS", path, 1);
	assert_int_equal(run_race("inproc:cores=1,ram=64,threads=0,mode=strict", text,
				  sizeof(text)), 0);
	unsetenv("PUMICE_FINDINGS");
	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, "{\"gpu\":\"inproc\",\"mode\":\"strict\"}\n");
	assert_non_null(fgets(line, sizeof(line), file));
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(line, text);
	assert_null(fgets(line, sizeof(line), file));
	fclose(file);
	unlink(path);
}

/* Return the number of lines of a file that have a text. */
static u32 count_lines(FILE *file, const char *text)
{
	char line[TEXT_BYTES];
	u32 count = 0;

	while (fgets(line, sizeof(line), file))
		count += strstr(line, text) != NULL;
	return count;
}

/* Loads of a byte without a value, three more than there is room for; the job runs twice. */
static void findings_without_room_follow_the_others(void **state)
{
	static char many[STRICT_FINDINGS * 32] = ".group 1, 1, 1\n.local 4\nmov r1, [one], 0\n";
	char path[] = "/tmp/pumice-findings-XXXXXX", text[TEXT_BYTES];
	FILE *file = fdopen(mkstemp(path), "r");

	(void)state;
	assert_non_null(file);
	for (u32 n = 0; n < STRICT_FINDINGS + 3; n++)
		strcat(many, "local_load32 r2, [one], r1\n");
	strcat(many, "end\n");
	program = many;
	runs = 2;
	number = STRICT_FINDINGS;
	setenv("PUMICE_FINDINGS", path, 1);
	assert_int_equal(run_race("inproc:cores=1,ram=64,threads=0,mode=strict", text,
				  sizeof(text)), 0);
	unsetenv("PUMICE_FINDINGS");
	assert_string_equal(text, "{\"lost\": 6}");
	assert_int_equal(count_lines(file, "{\"lost\": 3}"), 2);
	number++;
	assert_int_equal(run_race("inproc:cores=1,ram=64,threads=0,mode=strict", text,
				  sizeof(text)), -ENOENT);
	program = race;
	runs = 1;
	number = 0;
	fclose(file);
	unlink(path);
}

static void store_dropped(void *opaque, const struct strict_finding *finding)
{
	*(struct strict_finding *)opaque = *finding;
}

/* A firmware that sleeps while the end of a job is pending and not enabled. */
static void an_end_that_is_not_enabled_is_dropped(void **state)
{
	const u32 end = PUMICE_IC_PENDING__VDM_FAULT__MASK;
	struct strict_finding f = { 0 };
	struct dropped dropped;

	(void)state;
	dropped_init(&dropped, store_dropped, &f);
	dropped_sleep(&dropped, end, 0);
	dropped_set(&dropped, true);
	dropped_sleep(&dropped, end, end);
	dropped_sleep(&dropped, PUMICE_IC_PENDING__PM_LOW__MASK, 0);
	assert_int_equal(f.kind, PUMICE_FINDING_NONE);
	dropped_sleep(&dropped, end, ~end);
	assert_int_equal(f.kind, PUMICE_FINDING_INTERRUPT_DROPPED);
	assert_int_equal(f.unit, PUMICE_UNIT_VDM);
	assert_int_equal(1u << f.object.place, end);
	dropped_destroy(&dropped);
}

/* Each data master has a status of its own. */
static void a_read_of_another_status_does_not_handle_an_end(void **state)
{
	const u32 end = PUMICE_IC_PENDING__TDM_DONE__MASK;
	struct strict_finding f = { 0 };
	struct dropped dropped;

	(void)state;
	dropped_init(&dropped, store_dropped, &f);
	dropped_set(&dropped, true);
	dropped_clear(&dropped, end, ~0u);
	dropped_read(&dropped, PUMICE_UNIT_PTLA);
	dropped_sleep(&dropped, 0, ~0u);
	dropped_clear(&dropped, 0, end);
	dropped_sleep(&dropped, 0, ~0u);
	assert_int_equal(f.kind, PUMICE_FINDING_NONE);
	dropped_clear(&dropped, end, ~0u);
	dropped_read(&dropped, PUMICE_UNIT_RDM);
	dropped_sleep(&dropped, 0, ~0u);
	assert_int_equal(f.unit, PUMICE_UNIT_PTLA);
	dropped_destroy(&dropped);
}

static void a_text_without_room_is_refused(void **state)
{
	char text[16];

	(void)state;
	assert_int_not_equal(run_race("inproc:cores=1,ram=64,threads=0,mode=strict", text,
				      sizeof(text)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_of_the_same_instruction_is_one_finding),
		cmocka_unit_test(a_target_of_another_data_master_is_another_finding),
		cmocka_unit_test(findings_without_room_are_counted),
		cmocka_unit_test(each_virtual_gpu_has_a_quota_of_its_own),
		cmocka_unit_test(findings_of_a_virtual_gpu_that_does_not_exist_have_no_more_room),
		cmocka_unit_test(an_error_of_another_virtual_gpu_is_another_finding),
		cmocka_unit_test(a_reset_virtual_gpu_has_no_unmapped_addresses),
		cmocka_unit_test(a_finding_has_the_line_of_its_program),
		cmocka_unit_test(a_group_has_no_history),
		cmocka_unit_test(order_of_earlier_groups_does_not_count),
		cmocka_unit_test(a_name_of_a_file_is_escaped),
		cmocka_unit_test(other_modes_have_no_finding),
		cmocka_unit_test(threads_find_the_same),
		cmocka_unit_test(findings_are_written_to_the_file),
		cmocka_unit_test(findings_without_room_follow_the_others),
		cmocka_unit_test(an_end_that_is_not_enabled_is_dropped),
		cmocka_unit_test(a_read_of_another_status_does_not_handle_an_end),
		cmocka_unit_test(a_text_without_room_is_refused),
	};

	return cmocka_run_group_tests_name("strict findings", tests, NULL, NULL);
}
