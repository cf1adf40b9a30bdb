// SPDX-License-Identifier: MIT
/* Mappings without memory, and unmapping all: values that jobs read, through library and tables. */
#include "path.h"

#include <stdlib.h>

#include "null.pasm.h"
#include "pumice/pumice_capture.h"

#define GROUP	64u
#define GROUPS	16u
#define N	(GROUP * GROUPS)
#define AT	0x40000000ull	/* an address that is not used otherwise */
#define MIB	(1ull << 20)
#define PAGE	4096u

static int bind(struct path *p, uint64_t va, uint64_t size, struct pumice_bo *bo, uint32_t flags)
{
	const struct pumice_bind op = { .bo = bo, .va = va, .size = size, .flags = flags };

	return pumice_vm_bind(p->vm, &op, 1, NULL);
}

/* Run null.pasm on the words at @va. Returns the value of running a job. */
static int run_at(struct path *p, struct pumice_kernel *k, uint64_t va)
{
	const uint32_t uniforms[5] = { VA_WORDS(va), VA_WORDS(p->out_va), 0x1000 };

	memset(p->out_cpu, 0xff, N * sizeof(*p->out_cpu));
	path_dispatch(p, k, GROUPS, uniforms, 5);
	return path_run(p, NULL);
}

static void assert_null_at(struct path *p, struct pumice_kernel *k, uint64_t va)
{
	uint32_t i;

	if (run_at(p, k, va))
		fail_msg("%s", pumice_device_error(p->dev));
	for (i = 0; i < N; i++)
		assert_int_equal(p->out_cpu[i], 0);
}

/* Of every page size, with atomics of all cores at the same word. */
static void null_is_zero(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, null_program, sizeof(null_program));
	const uint64_t size = 5 * MIB;
	uint32_t *peeked = malloc(PAGE);

	assert_int_equal(bind(p, AT + 3 * PAGE, size, NULL, PUMICE_BIND_NULL), 0);
	assert_null_at(p, k, AT + 3 * PAGE);
	assert_null_at(p, k, AT + 2 * MIB);
	assert_null_at(p, k, AT + 3 * PAGE + size - N * 4);
	assert_int_equal(run_at(p, k, AT + 3 * PAGE + size - PAGE / 2), -EIO);
	assert_int_equal(pumice_vm_peek(p->vm, AT + 2 * MIB, peeked, PAGE), 0);
	assert_int_equal(peeked[0] | peeked[PAGE / 4 - 1], 0);
	free(peeked);
	pumice_kernel_destroy(k);
}

static void null_mapping_is_zero_for_loads_and_atomics(void **state)
{
	(void)state;
	path_each(null_is_zero);
}

static void parts(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, null_program, sizeof(null_program));
	struct pumice_bo *bo;
	void *cpu;

	assert_int_equal(pumice_bo_create(p->dev, PAGE, NULL, &bo), 0);
	assert_int_equal(pumice_bo_map(bo, &cpu), 0);
	assert_int_equal(bind(p, AT, 4 * MIB, NULL, PUMICE_BIND_NULL), 0);
	assert_int_equal(bind(p, AT + MIB, PAGE, bo, 0), 0);
	assert_int_equal(run_at(p, k, AT + MIB), 0);
	assert_int_equal(((uint32_t *)cpu)[N - 1], 0x1000 + N - 1);
	assert_null_at(p, k, AT + MIB - PAGE);
	assert_null_at(p, k, AT + MIB + PAGE);
	assert_int_equal(bind(p, AT + MIB - PAGE, PAGE, NULL, 0), 0);
	assert_int_equal(run_at(p, k, AT + MIB - PAGE), -EIO);
	assert_null_at(p, k, AT + MIB - 2 * PAGE);
	assert_int_equal(bind(p, AT + MIB, PAGE, NULL, PUMICE_BIND_NULL | PUMICE_BIND_READONLY), 0);
	assert_int_equal(run_at(p, k, AT + MIB), -EIO);
	pumice_bo_destroy(bo);
	pumice_kernel_destroy(k);
}

static void parts_of_a_null_mapping_may_be_bound_and_unmapped(void **state)
{
	(void)state;
	path_one(1, 0, parts);
	path_one(2, 2, parts);
}

static void everything(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, null_program, sizeof(null_program));
	struct pumice_vm *vm;
	struct pumice_bind ops[3] = {
		{ .va = AT, .size = MIB, .flags = PUMICE_BIND_NULL },
		{ .flags = PUMICE_BIND_UNMAP_ALL },
		{ .va = AT + 8 * MIB, .size = MIB, .flags = PUMICE_BIND_NULL },
	};
	uint32_t word;

	assert_int_equal(pumice_vm_create(p->dev, &vm), 0);
	assert_int_equal(pumice_vm_bind(vm, ops, 3, NULL), 0);
	assert_int_equal(pumice_vm_peek(vm, AT, &word, 4), -EFAULT);
	assert_int_equal(pumice_vm_peek(vm, AT + 8 * MIB, &word, 4), 0);
	pumice_vm_destroy(vm);
	pumice_kernel_destroy(k);
}

static void unmap_all_does_not_affect_later_mappings(void **state)
{
	(void)state;
	path_one(1, 0, everything);
}

static void refusals(struct path *p)
{
	const struct {
		struct pumice_bind op;
		const char *text;
	} bad[] = {
		{ { .va = AT, .size = PAGE, .flags = PUMICE_BIND_UNMAP_ALL },
		  "bind 0: UNMAP_ALL takes no address, size or offset" },
		{ { .bo_offset = PAGE, .flags = PUMICE_BIND_UNMAP_ALL },
		  "bind 0: UNMAP_ALL takes no address, size or offset" },
		{ { .flags = PUMICE_BIND_UNMAP_ALL | PUMICE_BIND_NULL },
		  "bind 0: UNMAP_ALL takes no bo and no other flag" },
		{ { .bo = p->out, .flags = PUMICE_BIND_UNMAP_ALL },
		  "bind 0: UNMAP_ALL takes no bo and no other flag" },
		{ { .bo = p->out, .va = AT, .size = PAGE, .flags = PUMICE_BIND_NULL },
		  "bind 0: NULL takes no bo" },
		{ { .bo_offset = PAGE, .va = AT, .size = PAGE, .flags = PUMICE_BIND_NULL },
		  "bind 0: bo_offset 0x1000 without a bo; set it to 0" },
		{ { .va = AT, .size = PAGE, .flags = PUMICE_BIND_READONLY },
		  "bind 0: flags 0x1 need a bo; unmapping takes no flags" },
		{ { .va = AT, .size = PAGE, .flags = 1u << 4 },
		  "bind 0: unknown flags 0x10; accepted: 0x1 (READONLY), 0x2 (NOEXEC), "
		  "0x4 (UNMAP_ALL), 0x8 (NULL)" },
		{ { .bo = p->out, .bo_offset = 12, .va = AT, .size = PAGE },
		  "bind 0: bo_offset 0xc is not a multiple of a page, 0x1000" },
		{ { .bo = p->out, .bo_offset = p->out_bytes, .va = AT, .size = PAGE },
		  "bind 0: bo_offset 0x100000, size 0x1000 is not within the bo's 0x100000 bytes" },
	};
	uint32_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(pumice_vm_bind(p->vm, &bad[i].op, 1, NULL), -EINVAL);
		assert_string_equal(pumice_device_error(p->dev), bad[i].text);
	}
	assert_int_equal(bind(p, AT, (16ull << 30) + PAGE, NULL, PUMICE_BIND_NULL), -E2BIG);
	assert_string_equal(pumice_device_error(p->dev),
			    "bind 0: NULL of size 0x400001000 is more than 16 GiB; split it");
	path_assert_works(p, p->context);
}

static void contradictory_flags_are_refused(void **state)
{
	(void)state;
	path_one(1, 0, refusals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_mapping_is_zero_for_loads_and_atomics),
		cmocka_unit_test(parts_of_a_null_mapping_may_be_bound_and_unmapped),
		cmocka_unit_test(unmap_all_does_not_affect_later_mappings),
		cmocka_unit_test(contradictory_flags_are_refused),
	};

	return cmocka_run_group_tests_name("path-null", tests, NULL, NULL);
}
