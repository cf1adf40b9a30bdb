// SPDX-License-Identifier: MIT
/*
 * The property slot-registers of a device: compute programs have this number of slot registers and
 * the others of the eight as internal registers, and no further ones of either kind.
 */
#include "path.h"

#include <stdio.h>

#define OWN		8u	/* slot and internal registers */
#define GROUPS		3u
#define INSTANCES	(GROUPS * 64)
#define TEXT_BYTES	2048u

/* Bit n for slot register n, bit 8 + n for internal register n. */
#define SLOT_BIT(n)	(1u << (n))
#define INTERNAL_BIT(n)	(256u << (n))

/* Write a program that uses these numbers of registers, and stores the sum of their values. */
static void write_program(char *text, uint32_t slot, uint32_t internal)
{
	int at = snprintf(text, TEXT_BYTES, ".group 64, 1, 1\n.uniforms sh0, 2\n"
					    ".input v0, global_x\nmov r0, [one], 0\n");
	uint32_t n;

	for (n = 0; n < slot; n++)
		at += snprintf(text + at, TEXT_BYTES - at, "mov sl%u, %u\n", n, SLOT_BIT(n));
	for (n = 0; n < internal; n++)
		at += snprintf(text + at, TEXT_BYTES - at,
			       "add.u32 r1, v0, %u\nmov i%u, [one], r1\n", INTERNAL_BIT(n), n);
	for (n = 0; n < slot; n++)
		at += snprintf(text + at, TEXT_BYTES - at, "add.u32 r0, r0, sl%u\n", n);
	for (n = 0; n < internal; n++)
		at += snprintf(text + at, TEXT_BYTES - at, "add.u32 r0, r0, i%u\n", n);
	snprintf(text + at, TEXT_BYTES - at,
		 "shl.u32 r1, v0, 2\nglobal_store32 sig0, [one], sh0 + r1, r0\nend\n");
}

/* Run it: returns the fault code of its job. */
static uint32_t run_program(struct path *p, uint32_t slot, uint32_t internal)
{
	const uint32_t uniforms[2] = { VA_WORDS(p->out_va) };
	char text[TEXT_BYTES], error[PUMICE_ERROR_BYTES];
	struct pumice_context_state state = { 0 };
	struct pumice_program *program;
	struct pumice_kernel *kernel;
	int ret;

	write_program(text, slot, internal);
	if (pumice_program_assemble("slots", text, &program, error, sizeof(error)))
		fail_msg("%s\n%s", error, text);
	assert_int_equal(pumice_kernel_create(p->vm, program, &kernel), 0);
	pumice_program_destroy(program);
	memset(p->out_cpu, 0, INSTANCES * sizeof(uint32_t));
	path_dispatch(p, kernel, GROUPS, uniforms, 2);
	ret = path_run(p, &state);
	assert_int_equal(ret, state.fault ? -EIO : 0);
	pumice_kernel_destroy(kernel);
	return state.fault;
}

static void check_registers(struct path *p, uint32_t slot)
{
	const uint32_t internal = OWN - slot;
	/* Of all bits of both kinds. */
	const uint32_t sum = SLOT_BIT(slot) - 1 + 256 * (SLOT_BIT(internal) - 1);
	uint32_t i;

	assert_int_equal(run_program(p, slot, internal), PUMICE_FAULT_NONE);
	for (i = 0; i < INSTANCES; i++)
		assert_int_equal(p->out_cpu[i], sum + internal * i);
	/* One more of each kind; there are no names for a ninth one. */
	if (slot < OWN)
		assert_int_equal(run_program(p, slot + 1, 0), PUMICE_FAULT_USC_REGISTER);
	if (internal < OWN)
		assert_int_equal(run_program(p, 0, internal + 1), PUMICE_FAULT_USC_REGISTER);
}

static void programs_have_the_slot_registers_of_the_property(void **state)
{
	uint32_t slot;

	(void)state;
	for (slot = 0; slot <= OWN; slot++) {
		char sizes[48];
		struct path p = { .preset = sizes };

		snprintf(sizes, sizeof(sizes), "default,cores=1,slot-registers=%u", slot);
		path_open(&p);
		check_registers(&p, slot);
		path_close(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_have_the_slot_registers_of_the_property),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
