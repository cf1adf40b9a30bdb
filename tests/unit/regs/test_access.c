// SPDX-License-Identifier: MIT
/*
 * Rules for every register, checked over the whole generated table: buses that may access
 * it, writable bits, halves, reset values, and accesses that match no register.
 */
#include "fixture.h"

#include "../../../qemu-device/gpu/regs/regs.h"

#define HOST	PUMICE_REG_BUS_HOST
#define FW	PUMICE_REG_BUS_FW
#define ONES	UINT64_MAX

/* Registers whose value is not their reset value in a GPU that is in reset. */
static bool has_own_value(u32 offset)
{
	return offset == PUMICE_SYS_CONFIG || offset == PUMICE_SYS_STORES ||
	       offset == PUMICE_SYS_CACHES || offset == PUMICE_SYS_UNITS ||
	       offset == PUMICE_SYS_CLOCK || offset == PUMICE_SYS_REGISTERS ||
	       offset == PUMICE_SYS_SHAPE || offset == PUMICE_OS_INFO ||
	       offset == PUMICE_INJ_CAPS;
}

static bool readable(const struct pumice_reg_info *info)
{
	return info->access == PUMICE_REG_RO || info->access == PUMICE_REG_RW;
}

/* The bus with full access to a register; the host's only if required. */
static enum pumice_reg_bus master(const struct pumice_reg_info *info)
{
	return info->bus & FW ? FW : HOST;
}

static u32 offset_of(const struct pumice_reg_info *info, u32 index)
{
	return info->offset + index * info->stride;
}

static u64 mask_of(const struct pumice_reg_info *info)
{
	return ONES >> (64 - info->bits);
}

/* Call f for every element of every register. */
static void each(struct fixture *fx,
		 void (*f)(struct fixture *fx, const struct pumice_reg_info *info, u32 offset))
{
	unsigned int i, index;

	for (i = 0; i < PUMICE_REG_TABLE_SIZE; i++)
		for (index = 0; index < pumice_reg_table[i].count; index++)
			f(fx, &pumice_reg_table[i], offset_of(&pumice_reg_table[i], index));
}

/* A GPU in the state after create(): the fixture's settings are undone. */
static struct fixture *fresh_fixture(void)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .fault_injection = true });

	pumice_gpu_reset(fx->gpu);
	return fx;
}

static void every_register_has_the_functions_of_its_access_kind(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < PUMICE_REG_TABLE_SIZE; i++) {
		const struct pumice_reg_info *info = &pumice_reg_table[i];
		const struct reg_binding *b = &reg_bindings[i];

		assert_int_equal(b->offset, info->offset);
		assert_int_equal(!!b->read, readable(info));
		assert_int_equal(!!b->write, info->access != PUMICE_REG_RO);
	}
}

static void check_reset_value(struct fixture *fx, const struct pumice_reg_info *info, u32 offset)
{
	u64 value = regs_read(fx->gpu, master(info), 0, offset, info->bits / 8);

	if (!readable(info))
		assert_int_equal(value, 0);
	else if (!has_own_value(info->offset))
		assert_int_equal(value, info->reset);
}

static void registers_have_their_reset_values_first(void **state)
{
	struct fixture *fx = fresh_fixture();

	(void)state;
	each(fx, check_reset_value);
	fx_destroy(fx);
}

static void scribble(struct fixture *fx, const struct pumice_reg_info *info, u32 offset)
{
	regs_write(fx->gpu, HOST, 0, offset, ONES, info->bits / 8);
	regs_write(fx->gpu, FW, 0, offset, ONES, info->bits / 8);
}

static void reset_restores_every_register_after_any_write(void **state)
{
	struct fixture *fx = fresh_fixture();

	(void)state;
	each(fx, scribble);
	fx_drain(fx);
	each(fx, scribble);
	fx_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
	each(fx, check_reset_value);
	assert_int_equal(fx_drain(fx), ONES);
	each(fx, check_reset_value);
	fx_destroy(fx);
}

static void check_writable_bits(struct fixture *fx, const struct pumice_reg_info *info, u32 offset)
{
	unsigned int bytes = info->bits / 8;

	/*
	 * A write to a peak stores the present number, for any value; one to the number of findings
	 * drops them; a mode may be refused; each end of a connection sets a bit for the other one.
	 */
	if (info->access != PUMICE_REG_RW || info->offset == PUMICE_PDS_PEAK_TASKS ||
	    info->offset == PUMICE_PDS_PEAK_OUTPUTS || info->offset == PUMICE_SYS_MODE ||
	    info->offset == PUMICE_FIND_COUNT || info->offset == PUMICE_OS_CTRL ||
	    info->offset == PUMICE_IC_OS_CTRL(0))
		return;
	regs_write(fx->gpu, master(info), 0, offset, ONES, bytes);
	assert_int_equal(regs_read(fx->gpu, master(info), 0, offset, bytes),
			 info->writable & mask_of(info));
	regs_write(fx->gpu, master(info), 0, offset, 0, bytes);
	assert_int_equal(regs_read(fx->gpu, master(info), 0, offset, bytes), 0);
}

static void writable_bits_store_writes_and_others_read_zero(void **state)
{
	struct fixture *fx = fresh_fixture();

	(void)state;
	each(fx, check_writable_bits);
	fx_destroy(fx);
}

static void check_halves(struct fixture *fx, const struct pumice_reg_info *info, u32 offset)
{
	u64 high = info->writable >> 32 << 32, low = (u32)info->writable;

	if (info->access != PUMICE_REG_RW || info->bits != 64)
		return;
	regs_write(fx->gpu, master(info), 0, offset, 0, 8);
	regs_write(fx->gpu, master(info), 0, offset + 4, ONES, 4);
	assert_int_equal(regs_read(fx->gpu, master(info), 0, offset, 8), high);
	assert_int_equal(regs_read(fx->gpu, master(info), 0, offset + 4, 4), high >> 32);
	assert_int_equal(regs_read(fx->gpu, master(info), 0, offset, 4), 0);
	regs_write(fx->gpu, master(info), 0, offset, ONES, 4);
	assert_int_equal(regs_read(fx->gpu, master(info), 0, offset, 8), high | low);
	regs_write(fx->gpu, master(info), 0, offset + 4, 0, 4);
	assert_int_equal(regs_read(fx->gpu, master(info), 0, offset, 8), low);
}

static void halves_of_wide_registers_are_accessed_separately(void **state)
{
	struct fixture *fx = fresh_fixture();

	(void)state;
	each(fx, check_halves);
	fx_destroy(fx);
}

static void check_wrong_bus(struct fixture *fx, const struct pumice_reg_info *info, u32 offset)
{
	enum pumice_reg_bus wrong = info->bus == HOST ? FW : HOST;

	if (info->bus == PUMICE_REG_BUS_BOTH)
		return;
	assert_int_equal(regs_read(fx->gpu, wrong, 0, offset, info->bits / 8), 0);
	fx->log[0] = 0;
	regs_write(fx->gpu, wrong, 0, offset, ONES, info->bits / 8);
	assert_true(fx->log[0]);
	check_reset_value(fx, info, offset);
}

static void the_wrong_bus_reads_zero_and_changes_nothing(void **state)
{
	struct fixture *fx = fresh_fixture();

	(void)state;
	each(fx, check_wrong_bus);
	fx_destroy(fx);
}

static void check_read_only(struct fixture *fx, const struct pumice_reg_info *info, u32 offset)
{
	u64 before;

	if (info->access != PUMICE_REG_RO || info->offset == PUMICE_SYS_CLOCK)
		return;
	before = regs_read(fx->gpu, master(info), 0, offset, info->bits / 8);
	regs_write(fx->gpu, master(info), 0, offset, ~before, info->bits / 8);
	assert_int_equal(regs_read(fx->gpu, master(info), 0, offset, info->bits / 8), before);
}

static void read_only_registers_ignore_writes(void **state)
{
	struct fixture *fx = fresh_fixture();

	(void)state;
	each(fx, check_read_only);
	fx_destroy(fx);
}

static void malformed_accesses_read_zero_and_change_nothing(void **state)
{
	static const struct {
		u32 offset;
		unsigned int os, size;
	} cases[] = {
		{ PUMICE_FW_ENTRY, 0, 1 },	   { PUMICE_FW_ENTRY, 0, 2 },
		{ PUMICE_FW_ENTRY + 2, 0, 4 },	   { PUMICE_FW_IMAGE_SIZE, 0, 8 },
		{ PUMICE_FW_ENTRY, 0, 8 },	   { PUMICE_FW_IMAGE_ADDR + 4, 0, 8 },
		{ PUMICE_FW_ENTRY, 0, 0 },	   { PUMICE_FW_ENTRY, 0, 16 },
		{ PUMICE_FW_ENTRY, 1, 4 },	   { PUMICE_FW_ENTRY, 8, 4 },
		{ PUMICE_FW_ENTRY, 0xffffffff, 4 }, { PUMICE_OS_PAGE_SIZE - 4, 0, 4 },
		{ PUMICE_OS_PAGE_SIZE, 0, 4 },	   { 0xfffffffc, 0, 4 },
		{ PUMICE_OS_IRQ_ENABLE, 1, 4 },
	};
	struct fixture *fx = fresh_fixture();
	unsigned int i;

	(void)state;
	fx_write(fx, PUMICE_FW_IMAGE_ADDR, 0x1122334455667788);
	fx_write(fx, PUMICE_FW_IMAGE_SIZE, 0x12345678);
	fx_write(fx, PUMICE_FW_ENTRY, 0x9abcdef0);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fx->log[0] = 0;
		assert_int_equal(pumice_gpu_mmio_read(fx->gpu, cases[i].os, cases[i].offset,
						      cases[i].size), 0);
		assert_true(fx->log[0]);
		pumice_gpu_mmio_write(fx->gpu, cases[i].os, cases[i].offset, 0, cases[i].size);
	}
	assert_int_equal(fx_read(fx, PUMICE_FW_IMAGE_ADDR), 0x1122334455667788);
	assert_int_equal(fx_read(fx, PUMICE_FW_IMAGE_SIZE), 0x12345678);
	assert_int_equal(fx_read(fx, PUMICE_FW_ENTRY), 0x9abcdef0);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_register_has_the_functions_of_its_access_kind),
		cmocka_unit_test(registers_have_their_reset_values_first),
		cmocka_unit_test(reset_restores_every_register_after_any_write),
		cmocka_unit_test(writable_bits_store_writes_and_others_read_zero),
		cmocka_unit_test(halves_of_wide_registers_are_accessed_separately),
		cmocka_unit_test(the_wrong_bus_reads_zero_and_changes_nothing),
		cmocka_unit_test(read_only_registers_ignore_writes),
		cmocka_unit_test(malformed_accesses_read_zero_and_change_nothing),
	};

	return cmocka_run_group_tests_name("register access", tests, NULL, NULL);
}
