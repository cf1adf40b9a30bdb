// SPDX-License-Identifier: MIT
/* Error texts of programs that use data before they have waited for it, with key late=poison. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pumice/pumice.h"

#define TEXT_BYTES	1024u
#define FINDING_BYTES	4096u

/* A device with one buffer, and a context for one program. */
struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_buffer buffer;
};

/* late: when data arrive, as the key of that name; NULL: without it. */
static void set_up(struct fixture *f, const char *late)
{
	char name[64];

	snprintf(name, sizeof(name), "inproc:cores=1,ram=64,threads=0%s%s", late ? ",late=" : "",
		 late ? late : "");
	assert_int_equal(pumice_device_open(name, &f->dev, NULL, 0), 0);
	assert_int_equal(pumice_vm_create(f->dev, &f->vm), 0);
	assert_int_equal(pumice_context_create(f->vm, PUMICE_PRIORITY_NORMAL, &f->context), 0);
	assert_int_equal(pumice_stream_create(f->vm, 65536, &f->stream), 0);
	assert_int_equal(pumice_buffer_create(f->vm, 4096, &f->buffer), 0);
}

static void tear_down(struct fixture *f)
{
	pumice_context_destroy(f->context);
	pumice_stream_destroy(f->stream);
	pumice_buffer_destroy(&f->buffer);
	pumice_vm_destroy(f->vm);
	pumice_device_close(f->dev);
}

/* Run one work-group of a program, with the address of the buffer in sh0 and sh1, and 0 in r1. */
static int run(struct fixture *f, const char *text)
{
	struct pumice_dispatch dispatch;
	struct pumice_kernel *kernel;
	char all[TEXT_BYTES];
	uint64_t start;
	int err;

	snprintf(all, sizeof(all), ".local 256\nmov sh0, %#x\nmov sh1, %#x\nmov r1, [one], 0\n%send\n",
		 (unsigned int)f->buffer.va, (unsigned int)(f->buffer.va >> 32), text);
	if (pumice_kernel_assemble(f->vm, "shader", all, &kernel))
		fail_msg("%s", pumice_device_error(f->dev));
	pumice_dispatch_init(&dispatch, kernel);
	pumice_stream_reset(f->stream);
	assert_int_equal(pumice_stream_dispatch(f->stream, &dispatch), 0);
	assert_int_equal(pumice_stream_end(f->stream, &start), 0);
	err = pumice_context_run(f->context, start, PUMICE_FOREVER, NULL);
	pumice_kernel_destroy(kernel);
	return err;
}

static void assert_error(const struct fixture *f, const char *words)
{
	const char *text = pumice_device_error(f->dev);

	if (!strstr(text, words))
		fail_msg("'%s' is not in: %s", words, text);
}

/* The second of two instructions uses data of the first. */
static void assert_is_late(const char *text, const char *words)
{
	struct fixture f;

	set_up(&f, "poison");
	assert_int_equal(run(&f, text), -EIO);
	print_message("%s\n", pumice_device_error(f.dev));
	assert_error(&f, "job faulted: usc-late at 0x");
	assert_error(&f, words);
	assert_error(&f, "Wait for the signal before: sig_wait, sig_waitall, or mem_fence for all of "
			 "them; after sig_waitany only the signals of its result are done.\n"
			 "  instruction 4 of the program at 0x");
	tear_down(&f);
}

static void data_used_without_a_wait_name_register_and_signal(void **state)
{
	(void)state;
	assert_is_late("global_load32 sig3, r7, [one], sh0 + r1\nmov r2, [one], r7\n",
		       ", pc 4: r7 is read before a wait for sig3, of the access that loads it\n");
	assert_is_late("global_load32 sig15, v0, [one], sh0 + r1\nmov v0, [one], 0\n",
		       ": v0 is written before a wait for sig15, of");
	assert_is_late("shared_load sig0, sh2, sh0, 3\nmov r2, [one], sh4\n",
		       ": sh4 is read before a wait for sig0, of");
	assert_is_late("group_load sig1, r1[0], sh0, 40\nlocal_load32 r2, [one], r1 + 156\n",
		       ": byte 156 of local memory is read before a wait for sig1, of");
	assert_is_late("group_store sig1, r1[0], sh0, 40\nlocal_store32 [one], r1 + 152, r1\n",
		       ": byte 152 of local memory is written before a wait for sig1, of the "
		       "access that loads or copies it\n");
	assert_is_late("global_store32 sig3, [one], sh0 + r1, r1\n"
		       "global_load8.u32 sig4, r7, [one], sh0 + r1 + 2\n",
		       " is loaded before a wait for sig3, of the store that writes it\n");
	assert_is_late("global_store32 sig3, [one], sh0 + r1, r1\nshared_load sig0, sh2, sh0, 3\n",
		       ": memory at 0x");
}

static void a_program_that_waits_has_its_data(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, "poison");
	((uint32_t *)f.buffer.cpu)[0] = 77;
	if (run(&f, "global_load32 sig3, r7, [one], sh0 + r1\nsig_wait r2[0], sig3\n"
		    "add.u32 r7, r7, 1\nglobal_store32 sig0, [one], sh0 + r1 + 4, r7\n"))
		fail_msg("%s", pumice_device_error(f.dev));
	assert_int_equal(((const uint32_t *)f.buffer.cpu)[1], 78);
	tear_down(&f);
}

/* Word 0 selects the load that is issued first; the result is 10 times the first plus the other. */
static const char first_of_two[] =
	"	global_load32	sig0, r2, [one], sh0 + r1\n"
	"	sig_wait	r3[0], sig0\n"
	"	brnz		swapped, r2[0]\n"
	"	global_load32	sig2, r7, [one], sh0 + r1 + 4\n"
	"	global_load32	sig5, r8, [one], sh0 + r1 + 8\n"
	"	jump		await\n"
	"swapped:\n"
	"	global_load32	sig5, r8, [one], sh0 + r1 + 8\n"
	"	global_load32	sig2, r7, [one], sh0 + r1 + 4\n"
	"await:\n"
	"	sig_waitany2	r3[0], sig2, sig5\n"
	"	and.u32		r3[0], r3[0], 1 << 2\n"
	"	brnz		has_r7, r3[0]\n"
	"	mul.u32		r9, r8, 10\n"
	"	sig_wait	r3[0], sig2\n"
	"	add.u32		r9, r9, r7\n"
	"	jump		store\n"
	"has_r7:\n"
	"	mul.u32		r9, r7, 10\n"
	"	sig_wait	r3[0], sig5\n"
	"	add.u32		r9, r9, r8\n"
	"store:\n"
	"	global_store32	sig0, [one], sh0 + r1 + 12, r9\n";

static void a_program_branches_by_the_load_that_is_complete_first(void **state)
{
	static const char *const modes[] = { "early", "data", "poison" };
	struct fixture f;

	(void)state;
	for (size_t n = 0; n < sizeof(modes) / sizeof(modes[0]); n++) {
		uint32_t *words;

		set_up(&f, modes[n]);
		words = f.buffer.cpu;
		words[1] = 3;
		words[2] = 4;
		for (uint32_t swapped = 0; swapped < 2; swapped++) {
			words[0] = swapped;
			if (run(&f, first_of_two))
				fail_msg("%s", pumice_device_error(f.dev));
			assert_int_equal(words[3], swapped ? 43 : 34);
		}
		tear_down(&f);
	}
}

/* The load that was issued last is used, whichever is complete. */
static void data_of_a_signal_that_a_wait_for_any_did_not_return_are_reported(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f, "poison");
	assert_int_equal(run(&f, "global_load32 sig2, r7, [one], sh0 + r1\n"
				 "global_load32 sig5, r8, [one], sh0 + r1\n"
				 "sig_waitany2 r3[0], sig2, sig5\nadd.u32 r9, r7, 1\n"
				 "add.u32 r9, r8, 1\n"), -EIO);
	assert_error(&f, ", pc 7: r8 is read before a wait for sig5, of the access that loads it\n");
	tear_down(&f);
}

/* In mode strict the use is a finding, and the program continues. */
static void assert_late_finding(struct fixture *f, const char *use)
{
	char finding[FINDING_BYTES] = "";

	run(f, use);
	assert_int_equal(pumice_finding_get(f->dev, 0, finding, sizeof(finding)), 0);
	if (!strstr(finding, "{\"finding\":\"late-data\","))
		fail_msg("no late-data: %s", finding);
}

/* The part of a USC for late data serves both modes, or is created for mode strict alone. */
static void data_arrive_late_in_each_mode_after_changes_of_it(void **state)
{
	static const char use[] = "global_load32 sig3, r7, [one], sh0 + r1\nmov r2, [one], r7\n";
	static const char *const late[] = { "early", "data", "poison" };
	struct fixture f;

	(void)state;
	for (size_t n = 0; n < sizeof(late) / sizeof(late[0]); n++) {
		const int err = strcmp(late[n], "poison") ? 0 : -EIO;

		set_up(&f, late[n]);
		for (uint32_t round = 0; round < 2; round++) {
			assert_int_equal(pumice_device_set_mode(f.dev, "strict"), 0);
			assert_late_finding(&f, use);
			assert_int_equal(pumice_device_set_mode(f.dev, "fast"), 0);
			assert_int_equal(run(&f, use), err);
			if (err)
				assert_error(&f, "usc-late");
		}
		tear_down(&f);
	}
}

/* The set-up of meson.build, with which programs of all tests are checked. */
static void tests_of_meson_have_data_that_arrive_late(void **state)
{
	struct fixture f;

	(void)state;
	if (!getenv("PUMICE_LATE") || strcmp(getenv("PUMICE_LATE"), "poison"))
		fail_msg("PUMICE_LATE is not poison: run this program by `meson test`");
	set_up(&f, NULL);
	assert_int_equal(run(&f, "global_load32 sig0, r2, [one], sh0 + r1\nmov r3, [one], r2\n"),
			 -EIO);
	assert_error(&f, "usc-late");
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tests_of_meson_have_data_that_arrive_late),
		cmocka_unit_test(data_used_without_a_wait_name_register_and_signal),
		cmocka_unit_test(a_program_that_waits_has_its_data),
		cmocka_unit_test(a_program_branches_by_the_load_that_is_complete_first),
		cmocka_unit_test(data_of_a_signal_that_a_wait_for_any_did_not_return_are_reported),
		cmocka_unit_test(data_arrive_late_in_each_mode_after_changes_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
