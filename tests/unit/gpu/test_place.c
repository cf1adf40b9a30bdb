// SPDX-License-Identifier: MIT
/* Registers PLACE of unit FIND: buffers that the host describes for findings of mode strict. */
#include <string.h>

#include "../../../qemu-device/gpu/gpu.h"
#include "../../../qemu-device/gpu/pumice_gpu_places.h"
#include "../../../qemu-device/gpu/regs/regs.h"
#include "job.h"

#define SPACE	0x2000u		/* catalogues */
#define OTHER	0x4000u
#define VA	0x200000u
#define PAGE	4096u
#define LIMIT	(1ull << PUMICE_MMU_VA_BITS)

static struct places_range range;
static struct places_removed removed;
static struct places_end end;

static struct fixture *create(void)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1 });

	fx_boot_proxy(fx);
	fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_STRICT);
	return fx;
}

static void write_label(struct fixture *fx, const char *label)
{
	const size_t bytes = strlen(label);

	for (u32 n = 0; n < PUMICE_FIND_PLACE_LABEL_COUNT; n++) {
		u64 word = 0;

		for (u32 b = 0; b < 8 && 8 * n + b < bytes; b++)
			word |= (u64)(u8)label[8 * n + b] << (8 * b);
		fx_write(fx, PUMICE_FIND_PLACE_LABEL(n), word);
	}
}

static void describe(struct fixture *fx, u32 op, u64 space, u64 va, u64 size)
{
	fx_write(fx, PUMICE_FIND_PLACE_CATALOGUE, space);
	fx_write(fx, PUMICE_FIND_PLACE_ADDR, va);
	fx_write(fx, PUMICE_FIND_PLACE_SIZE, size);
	fx_write(fx, PUMICE_FIND_PLACE_OP, op);
}

static void map_named(struct fixture *fx, u64 buffer, const char *label)
{
	fx_write(fx, PUMICE_FIND_PLACE_BUFFER, buffer);
	write_label(fx, label);
	describe(fx, PUMICE_PLACE_OP_MAP, SPACE, VA, 2 * PAGE);
}

static void mapping_has_its_range_name_and_end(void **state)
{
	struct fixture *fx = create();
	struct places *places = &fx->gpu->strict.places;

	(void)state;
	assert_int_equal(fx->gpu->strict.places.range_count, 0);
	fx_write(fx, PUMICE_FIND_PLACE_END, VA + PAGE + 8);
	map_named(fx, 7, "vertices of a hill");
	assert_int_equal(fx->gpu->strict.places.range_count, 1);
	assert_true(places_find_range(places, SPACE, VA + 2 * PAGE - 1, &range));
	assert_string_equal(range.label, "vertices of a hill");
	assert_false(places_find_range(places, SPACE, VA + 2 * PAGE, &range));
	assert_false(places_find_range(places, SPACE, VA - 1, &range));
	assert_false(places_find_range(places, OTHER, VA, &range));
	assert_false(places_find_range(places, mmu_space(1, SPACE), VA, &range));
	assert_true(places_find_end(places, SPACE, VA + PAGE + 8, 1, &end));
	assert_false(places_find_end(places, SPACE, VA + PAGE + 7, 1, &end));
	fx_destroy(fx);
}

/* As when the removal of the former mapping was not described. */
static void mapping_in_place_of_another_has_no_end_of_that(void **state)
{
	struct fixture *fx = create();

	(void)state;
	fx_write(fx, PUMICE_FIND_PLACE_END, VA + PAGE + 8);
	map_named(fx, 7, "short");
	assert_true(places_have_ends(&fx->gpu->strict.places));
	fx_write(fx, PUMICE_FIND_PLACE_END, VA + 2 * PAGE);
	map_named(fx, 8, "whole");
	assert_false(places_have_ends(&fx->gpu->strict.places));
	fx_destroy(fx);
}

/* Mappings of the virtual GPU begin anew; its removals, and mappings of others, remain. */
static void all_mappings_are_described_again(void **state)
{
	struct fixture *fx = create();
	struct places *places = &fx->gpu->strict.places;
	const u64 of_another = mmu_space(1, SPACE);
	static const char buffer;

	(void)state;
	fx_write(fx, PUMICE_FIND_PLACE_END, VA + PAGE + 8);
	map_named(fx, 7, "b");
	describe(fx, PUMICE_PLACE_OP_UNMAP, SPACE, VA, PAGE);
	pumice_gpu_note_map(fx->gpu, of_another, VA, PAGE, &buffer, "c");
	pumice_gpu_add_end(fx->gpu, of_another, VA + 8, &buffer, "c");
	fx_write(fx, PUMICE_FIND_PLACE_OP, PUMICE_PLACE_OP_BEGIN);
	assert_false(places_find_range(places, SPACE, VA + PAGE, &range));
	assert_false(places_find_end(places, SPACE, VA + PAGE + 8, 1, &end));
	assert_true(places_find_removed(places, SPACE, VA, &removed));
	assert_true(places_find_range(places, of_another, VA, &range));
	assert_true(places_find_end(places, of_another, VA + 8, 1, &end));
	fx_destroy(fx);
}

/* Of 64 bytes without an end the first 63 are kept. */
static void longest_name_is_cut(void **state)
{
	char label[PLACES_LABEL_BYTES + 1];
	struct fixture *fx = create();

	(void)state;
	memset(label, 'x', PLACES_LABEL_BYTES);
	label[PLACES_LABEL_BYTES] = '\0';
	map_named(fx, 7, label);
	assert_true(places_find_range(&fx->gpu->strict.places, SPACE, VA, &range));
	label[PLACES_LABEL_BYTES - 1] = '\0';
	assert_string_equal(range.label, label);
	fx_destroy(fx);
}

/* Ends outside of the mapping, and those of buffers that fill their last page. */
static void other_ends_are_none(void **state)
{
	static const u64 ends[] = {
		0, VA, VA - 8, VA + PAGE, VA + 2 * PAGE, VA + 2 * PAGE + 8, UINT64_MAX,
	};
	struct fixture *fx = create();
	u32 n;

	(void)state;
	for (n = 0; n < sizeof(ends) / sizeof(ends[0]); n++) {
		fx_write(fx, PUMICE_FIND_PLACE_END, ends[n]);
		map_named(fx, 7, "b");
		assert_false(places_have_ends(&fx->gpu->strict.places));
	}
	fx_destroy(fx);
}

static void removal_has_its_operation_process_and_time(void **state)
{
	struct fixture *fx = create();
	struct places *places = &fx->gpu->strict.places;
	const u64 before = fx_read(fx, PUMICE_SYS_CLOCK);

	(void)state;
	fx_write(fx, PUMICE_FIND_PLACE_END, VA + PAGE + 8);
	map_named(fx, 7, "victim");
	fx_write(fx, PUMICE_FIND_PLACE_NUMBER, 1ull << 40);
	fx_write(fx, PUMICE_FIND_PLACE_PROCESS, 4711);
	describe(fx, PUMICE_PLACE_OP_UNMAP, SPACE, VA + PAGE, PAGE);
	assert_true(places_find_range(places, SPACE, VA + PAGE - 1, &range));
	assert_false(places_find_range(places, SPACE, VA + PAGE, &range));
	assert_false(places_have_ends(places));
	assert_false(places_find_removed(places, SPACE, VA + PAGE - 1, &removed));
	assert_false(places_find_removed(places, OTHER, VA + PAGE, &removed));
	assert_true(places_find_removed(places, SPACE, VA + PAGE, &removed));
	assert_string_equal(removed.label, "victim");
	assert_int_equal(removed.number, 1ull << 40);
	assert_int_equal(removed.process, 4711);
	assert_true(removed.clock >= before && removed.clock <= fx_read(fx, PUMICE_SYS_CLOCK));
	assert_false(removed.freed);
	fx_write(fx, PUMICE_FIND_PLACE_BUFFER, 8);
	fx_write(fx, PUMICE_FIND_PLACE_OP, PUMICE_PLACE_OP_FREE);
	assert_true(places_find_removed(places, SPACE, VA + PAGE, &removed));
	assert_false(removed.freed);
	fx_write(fx, PUMICE_FIND_PLACE_BUFFER, 7);
	fx_write(fx, PUMICE_FIND_PLACE_OP, PUMICE_PLACE_OP_FREE);
	assert_true(places_find_removed(places, SPACE, VA + PAGE, &removed));
	assert_true(removed.freed);
	fx_destroy(fx);
}

static void buffers_are_renamed_and_spaces_forgotten(void **state)
{
	struct fixture *fx = create();
	struct places *places = &fx->gpu->strict.places;

	(void)state;
	map_named(fx, 7, "first");
	describe(fx, PUMICE_PLACE_OP_MAP, OTHER, VA, PAGE);
	write_label(fx, "second");
	fx_write(fx, PUMICE_FIND_PLACE_OP, PUMICE_PLACE_OP_LABEL);
	assert_true(places_find_range(places, SPACE, VA, &range));
	assert_string_equal(range.label, "second");
	fx_write(fx, PUMICE_FIND_PLACE_CATALOGUE, SPACE);
	fx_write(fx, PUMICE_FIND_PLACE_OP, PUMICE_PLACE_OP_FORGET);
	assert_false(places_find_range(places, SPACE, VA, &range));
	assert_true(places_find_range(places, OTHER, VA, &range));
	fx_destroy(fx);
}

static void mappings_that_cannot_be_do_nothing(void **state)
{
	static const struct {
		u64 va, size;
	} bad[] = {
		{ VA, 0 }, { LIMIT, PAGE }, { LIMIT - PAGE, PAGE + 1 }, { VA, LIMIT },
		{ UINT64_MAX, 1 }, { UINT64_MAX - PAGE + 1, PAGE }, { PAGE, UINT64_MAX },
	};
	struct fixture *fx = create();
	struct places *places = &fx->gpu->strict.places;
	u32 n;

	(void)state;
	for (n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		describe(fx, PUMICE_PLACE_OP_MAP, SPACE, bad[n].va, bad[n].size);
		describe(fx, PUMICE_PLACE_OP_UNMAP, SPACE, bad[n].va, bad[n].size);
		assert_int_equal(fx->gpu->strict.places.range_count, 0);
		assert_false(places_find_removed(places, SPACE, bad[n].va, &removed));
	}
	describe(fx, PUMICE_PLACE_OP_COUNT, SPACE, VA, PAGE);
	describe(fx, 255, SPACE, VA, PAGE);
	assert_int_equal(fx->gpu->strict.places.range_count, 0);
	describe(fx, PUMICE_PLACE_OP_MAP, SPACE, LIMIT - PAGE, PAGE);
	assert_int_equal(fx->gpu->strict.places.range_count, 1);
	fx_destroy(fx);
}

/* The host describes its buffers anew when they were dropped. */
static void descriptions_are_of_mode_strict(void **state)
{
	struct fixture *fx = create();
	u64 drops;

	(void)state;
	map_named(fx, 7, "b");
	regs_write(fx->gpu, PUMICE_REG_BUS_FW, 0, PUMICE_FIND_PLACE_OP, PUMICE_PLACE_OP_FORGET, 4);
	drops = fx_read(fx, PUMICE_FIND_PLACE_DROPS);
	pumice_gpu_reset(fx->gpu);
	assert_int_equal(fx->gpu->strict.places.range_count, 1);
	assert_int_equal(fx_read(fx, PUMICE_FIND_PLACE_DROPS), drops);
	fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_FAST);
	assert_int_equal(fx->gpu->strict.places.range_count, 0);
	assert_int_equal(fx_read(fx, PUMICE_FIND_PLACE_DROPS), drops + 1);
	map_named(fx, 7, "b");
	assert_int_equal(fx->gpu->strict.places.range_count, 0);
	fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_STRICT);
	assert_int_equal(fx->gpu->strict.places.range_count, 0);
	fx_destroy(fx);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(mapping_has_its_range_name_and_end),
		cmocka_unit_test(mapping_in_place_of_another_has_no_end_of_that),
		cmocka_unit_test(all_mappings_are_described_again),
		cmocka_unit_test(longest_name_is_cut),
		cmocka_unit_test(other_ends_are_none),
		cmocka_unit_test(removal_has_its_operation_process_and_time),
		cmocka_unit_test(buffers_are_renamed_and_spaces_forgotten),
		cmocka_unit_test(mappings_that_cannot_be_do_nothing),
		cmocka_unit_test(descriptions_are_of_mode_strict),
	};

	return cmocka_run_group_tests_name("descriptions of buffers", tests, NULL, NULL);
}
