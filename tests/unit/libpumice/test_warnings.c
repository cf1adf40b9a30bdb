// SPDX-License-Identifier: MIT
/*
 * Warnings of programs that pumice_kernel_assemble() reports: which, to which function, and when
 * none. The mistakes that are found have tests in tests/unit/compiler/test_check.c. Warnings of
 * inputs that a graphics stage does not have.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pumice/pumice_gfx.h"

#define MAX_TEXTS	8u
#define TEXT_BYTES	256u

static const char good[] =
	".uniforms sh0, 2\n"
	"mov r2, [one], 0\n"
	"global_load32 sig1, r1, [one], sh0 + r2\n"
	"sig_wait r4[0], sig1\n"
	"global_store32 sig1, [one], sh0 + r2, r1\n"
	"end\n";
static const char mistaken[] =
	"mov r1, [one], r9\n"
	"loop: add.u32 r1, r1, 1\n"
	"jump loop\n";
static const char *const mistakes[] = {
	"wrong:1: warning: r9 is read, but nothing has written it: it is 0",
	"wrong:2: warning: this loop never ends: no path leads from here to an end",
};

/* Texts that a function received. */
struct received {
	unsigned int count;
	char text[MAX_TEXTS][TEXT_BYTES];
};

struct fixture {
	struct pumice_device *dev, *other;
	struct pumice_vm *vm, *other_vm;
};

static void receive(void *data, const char *text)
{
	struct received *r = data;

	assert_in_range(r->count, 0, MAX_TEXTS - 1);
	snprintf(r->text[r->count++], TEXT_BYTES, "%s", text);
}

static void assert_mistakes(const struct received *r)
{
	assert_int_equal(r->count, 2);
	for (unsigned int i = 0; i < 2; i++)
		assert_string_equal(r->text[i], mistakes[i]);
}

static void assemble(struct pumice_vm *vm, const char *name, const char *text)
{
	struct pumice_kernel *kernel;

	assert_int_equal(pumice_kernel_assemble(vm, name, text, &kernel), 0);
	pumice_kernel_destroy(kernel);
}

static int open_devices(void **state)
{
	static struct fixture f;

	*state = &f;
	return pumice_device_open("inproc:cores=1,threads=0,ram=64", &f.dev, NULL, 0) ||
	       pumice_device_open("inproc:cores=1,threads=0,ram=64", &f.other, NULL, 0) ||
	       pumice_vm_create(f.dev, &f.vm) || pumice_vm_create(f.other, &f.other_vm);
}

static int close_devices(void **state)
{
	struct fixture *f = *state;

	pumice_vm_destroy(f->vm);
	pumice_vm_destroy(f->other_vm);
	pumice_device_close(f->dev);
	pumice_device_close(f->other);
	return 0;
}

static void each_mistake_of_a_program_is_reported_once_as_one_line(void **state)
{
	struct fixture *f = *state;
	struct received r = { 0 };

	pumice_device_set_warnings(f->dev, receive, &r);
	assemble(f->vm, "wrong", mistaken);
	assert_mistakes(&r);
}

static void a_good_program_is_not_reported(void **state)
{
	struct fixture *f = *state;
	struct received r = { 0 };

	pumice_device_set_warnings(f->dev, receive, &r);
	assemble(f->vm, "good", good);
	assert_int_equal(r.count, 0);
	/* Nor is it only the first program of a device that is checked. */
	assemble(f->vm, "wrong", mistaken);
	assert_mistakes(&r);
}

static void null_turns_warnings_off(void **state)
{
	struct fixture *f = *state;
	struct received r = { 0 };

	pumice_device_set_warnings(f->dev, receive, &r);
	pumice_device_set_warnings(f->dev, NULL, &r);
	assemble(f->vm, "wrong", mistaken);
	assert_int_equal(r.count, 0);
}

static void another_device_is_not_affected(void **state)
{
	struct fixture *f = *state;
	struct received r = { 0 }, others = { 0 };

	pumice_device_set_warnings(f->dev, receive, &r);
	assemble(f->other_vm, "wrong", mistaken);
	assert_int_equal(r.count, 0);
	pumice_device_set_warnings(f->other, receive, &others);
	assemble(f->vm, "wrong", mistaken);
	assert_mistakes(&r);
	assert_int_equal(others.count, 0);
	pumice_device_set_warnings(f->other, NULL, NULL);
	assemble(f->other_vm, "wrong", mistaken);
	assert_int_equal(r.count, 2);
	pumice_device_set_warnings(f->other, receive, &others);
	pumice_device_set_warnings(f->dev, NULL, NULL);
	assemble(f->other_vm, "wrong", mistaken);
	assert_mistakes(&others);
	assert_int_equal(r.count, 2);
}

/* Use a program in a stage of a new stream; the reports of its inputs only are in @r. */
static void use_in_stage(struct fixture *f, const char *text, const struct pumice_input *inputs,
			 uint32_t count, struct received *r)
{
	struct pumice_stage_desc desc = { .inputs = inputs, .input_count = count };
	struct pumice_stream *stream;
	struct pumice_kernel *kernel;
	uint32_t words[4];

	*r = (struct received){ 0 };
	pumice_device_set_warnings(f->dev, receive, r);
	assert_int_equal(pumice_kernel_assemble(f->vm, "stage", text, &kernel), 0);
	assert_int_equal(r->count, 0);
	assert_int_equal(pumice_stream_create(f->vm, 4096, &stream), 0);
	desc.kernel = kernel;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pumice_stream_stage(stream, &desc, words), 0);
	pumice_stream_destroy(stream);
	pumice_kernel_destroy(kernel);
}

static void a_register_that_no_input_of_a_stage_loads_is_reported_once(void **state)
{
	static const char fragment[] = ".stage fragment\nadd.f32 r0, v0, v2\nmov v3, [one], r0\n"
				       "add.f32 r0, v3, sh1\nmov o0, [one], r0\nend\n";
	static const char vertex[] = "uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\nend\n";
	static const uint32_t uniforms[2] = { 1, 2 };
	const struct pumice_input good[] = {
		pumice_input_varying(0, 0, 3), pumice_input_uniforms(0, uniforms, 2),
	};
	const struct pumice_input attribute = pumice_input_attribute(0, 4, 0x40000000, 16, 3);
	struct received r;

	use_in_stage(*state, fragment, good, 2, &r);
	assert_int_equal(r.count, 0);
	use_in_stage(*state, fragment, good, 1, &r);
	assert_int_equal(r.count, 1);
	assert_string_equal(r.text[0], "stage:4: warning: sh1 is read, but no input of the stage "
			    "loads it: it is 0");
	use_in_stage(*state, fragment, NULL, 0, &r);
	assert_int_equal(r.count, 3);
	assert_string_equal(r.text[1], "stage:2: warning: v2 is read, but no input of the stage "
			    "loads it: it is 0");
	use_in_stage(*state, vertex, &attribute, 1, &r);
	assert_int_equal(r.count, 0);
	use_in_stage(*state, vertex, NULL, 0, &r);
	assert_int_equal(r.count, 4);
}

static void a_text_with_errors_gives_the_error_only(void **state)
{
	struct fixture *f = *state;
	struct pumice_kernel *kernel;
	struct received r = { 0 };

	pumice_device_set_warnings(f->dev, receive, &r);
	assert_int_equal(pumice_kernel_assemble(f->vm, "wrong", "mov r1, [one], r9\nnonsense r0\n",
						&kernel), -EINVAL);
	assert_int_equal(r.count, 0);
	assert_non_null(strstr(pumice_device_error(f->dev), "wrong:2:"));
}

static void only_kernels_assembled_for_a_device_are_checked(void **state)
{
	struct fixture *f = *state;
	struct pumice_program *program;
	struct pumice_kernel *kernel;
	struct received r = { 0 };

	pumice_device_set_warnings(f->dev, receive, &r);
	assert_int_equal(pumice_program_assemble("wrong", mistaken, &program, NULL, 0), 0);
	assert_int_equal(pumice_kernel_create(f->vm, program, &kernel), 0);
	assert_int_equal(r.count, 0);
	pumice_kernel_destroy(kernel);
	pumice_program_destroy(program);
}

/* A receiver that uses the device that reports to it. */
struct user {
	struct fixture *f;
	struct received received;
};

static void receive_and_use(void *data, const char *text)
{
	struct user *u = data;

	receive(&u->received, text);
	pumice_device_set_warnings(u->f->dev, NULL, NULL);
	assemble(u->f->vm, "good", good);
}

static void the_function_may_call_the_library(void **state)
{
	struct user u = { .f = *state };

	pumice_device_set_warnings(u.f->dev, receive_and_use, &u);
	assemble(u.f->vm, "wrong", mistaken);
	assert_mistakes(&u.received);
	/* It has turned itself off for the next program. */
	assemble(u.f->vm, "wrong", mistaken);
	assert_int_equal(u.received.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_devices, close_devices)
		TEST(each_mistake_of_a_program_is_reported_once_as_one_line),
		TEST(a_good_program_is_not_reported),
		TEST(null_turns_warnings_off),
		TEST(another_device_is_not_affected),
		TEST(a_register_that_no_input_of_a_stage_loads_is_reported_once),
		TEST(a_text_with_errors_gives_the_error_only),
		TEST(only_kernels_assembled_for_a_device_are_checked),
		TEST(the_function_may_call_the_library),
	};

	return cmocka_run_group_tests_name("libpumice-warnings", tests, NULL, NULL);
}
