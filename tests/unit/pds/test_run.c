// SPDX-License-Identifier: MIT
/*
 * Values written by PDS programs: every operation, every source, both banks, for every
 * instance of the group; and bursts that fault half-way. Expected values are computed
 * from the instance's position, counted here with three loops.
 */
#include <string.h>

#include "fixture.h"

#define SX 10u
#define SY 7u
#define SZ 3u
#define INSTANCES (SX * SY * SZ)	/* 210: two tasks, the last wave with 18 lanes */

static const u32 id[3] = { 0x80000001, 5, 0xfffffffe };

static struct pds_launch launch_3d(void)
{
	struct pds_launch launch = fx_launch(SX, SY, SZ);

	launch.state.shared = 40;
	launch.state.attrs = 30;
	launch.state.temps = 3;
	launch.grid = (struct pumice_cdm_launch){
		.groups_x = 11, .groups_y = 12, .groups_z = 13,
		.base_x = 100, .base_y = 200, .base_z = 300,
	};
	return launch;
}

/* Launch one group of the program; it runs as group 0 of USC 0. */
static struct fixture *run(struct pds_launch *launch, const struct pumice_pds_insn *insns,
			   u16 count)
{
	struct fixture *fx = fx_create(1, NULL);

	fx_program(fx, launch, insns, count);
	assert_true(fx_begin(fx, launch));
	assert_int_equal(fx_group(fx, id[0], id[1], id[2], 77), PDS_STARTED);
	return fx;
}

/* The value of a source for an instance. */
static u32 expect(enum pumice_pds_source source, u32 instance)
{
	const u32 x = instance % SX, y = instance / SX % SY, z = instance / (SX * SY);

	switch (source) {
	case PUMICE_PDS_SOURCE_GROUP_X: return id[0];
	case PUMICE_PDS_SOURCE_GROUP_Y: return id[1];
	case PUMICE_PDS_SOURCE_GROUP_Z: return id[2];
	case PUMICE_PDS_SOURCE_GROUPS_X: return 11;
	case PUMICE_PDS_SOURCE_GROUPS_Y: return 12;
	case PUMICE_PDS_SOURCE_GROUPS_Z: return 13;
	case PUMICE_PDS_SOURCE_SIZE_X: return SX;
	case PUMICE_PDS_SOURCE_SIZE_Y: return SY;
	case PUMICE_PDS_SOURCE_SIZE_Z: return SZ;
	case PUMICE_PDS_SOURCE_TASK: return instance / 128;
	case PUMICE_PDS_SOURCE_LOCAL_X: return x;
	case PUMICE_PDS_SOURCE_LOCAL_Y: return y;
	case PUMICE_PDS_SOURCE_LOCAL_Z: return z;
	case PUMICE_PDS_SOURCE_LOCAL_LINEAR: return instance;
	case PUMICE_PDS_SOURCE_GLOBAL_X: return (u32)((u64)id[0] * SX + x);
	case PUMICE_PDS_SOURCE_GLOBAL_Y: return (u32)((u64)id[1] * SY + y);
	case PUMICE_PDS_SOURCE_GLOBAL_Z: return (u32)((u64)id[2] * SZ + z);
	default: break;
	}
	fail_msg("source %d", source);
	return 0;
}

static void every_source_reaches_every_instance(void **state)
{
	struct pumice_pds_insn insns[PUMICE_PDS_SOURCE_COUNT + 2] = { 0 };
	struct pds_launch launch = launch_3d();
	u32 source, instance;
	struct fixture *fx;
	u16 n = 0;

	(void)state;
	launch.state.attrs = PUMICE_PDS_SOURCE_VERTEX;	/* each has the register of its number */
	for (source = 0; source < PUMICE_PDS_SOURCE_VERTEX; source++) {
		if (!pumice_pds_source_valid(source))
			continue;
		insns[n++] = (struct pumice_pds_insn){
			.opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V, .reg = (u16)source,
			.source = (u8)source,
		};
	}
	insns[n++] = (struct pumice_pds_insn)TASK;
	insns[n++] = (struct pumice_pds_insn)END;
	fx = run(&launch, insns, n);
	for (source = 0; source < PUMICE_PDS_SOURCE_VERTEX; source++) {
		for (instance = 0; instance < INSTANCES; instance++) {
			u32 got = fake_usc_attr(fx->usc[0], 0, instance, source);

			if (!pumice_pds_source_valid(source))
				assert_int_equal(got, 0);
			else if (got != expect(source, instance))
				fail_msg("source %u instance %u: 0x%x", source, instance, got);
		}
	}
	fx_destroy(fx);
}

static void sources_of_the_task_reach_its_shared_registers(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		MOV(SH, 0, GROUP_X), MOV(SH, 1, GROUP_Y), MOV(SH, 2, GROUP_Z),
		MOV(SH, 3, GROUPS_X), MOV(SH, 4, GROUPS_Y), MOV(SH, 5, GROUPS_Z),
		MOV(SH, 6, SIZE_X), MOV(SH, 7, SIZE_Y), MOV(SH, 8, SIZE_Z), MOV(SH, 9, TASK),
		LDI(SH, 39, 0xcafef00d), TASK, END,
	};
	struct pds_launch launch = launch_3d();
	struct fixture *fx = run(&launch, insns, sizeof(insns) / sizeof(insns[0]));
	u32 task, reg;

	(void)state;
	for (task = 0; task < 2; task++) {
		for (reg = 0; reg < 40; reg++) {
			u32 want = reg <= 9 ? expect(reg, task * 128) :
				   reg == 39 ? 0xcafef00d : 0;

			assert_int_equal(fake_usc_shared(fx->usc[0], 0, task * 128, reg), want);
		}
	}
	fx_destroy(fx);
}

/* After the shared registers of the same task only. */
static void values_of_the_task_reach_its_coefficient_registers(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		MOV(CF, 0, GROUP_X), MOV(CF, 24, TASK), LDI(CF, 1, 0x3f800000),
		LDI(SH, 39, 7), DMA(CF, 2, 4, FX_DATA, 0), TASK, END,
	};
	struct pds_launch launch = launch_3d();
	struct fixture *fx = fx_create(1, NULL);
	u32 task, reg;

	(void)state;
	launch.state.coeffs = 25;
	memset(fx->data, 0x55, 16);
	fx_program(fx, &launch, insns, sizeof(insns) / sizeof(insns[0]));
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, id[0], id[1], id[2], 0), PDS_STARTED);
	for (task = 0; task < 2; task++) {
		for (reg = 0; reg < 25; reg++) {
			u32 want = reg == 0 ? id[0] : reg == 1 ? 0x3f800000 :
				   reg < 6 ? 0x55555555 : reg == 24 ? task : 0;

			assert_int_equal(fake_usc_coeff(fx->usc[0], 0, task * 128, reg), want);
		}
		assert_int_equal(fake_usc_shared(fx->usc[0], 0, task * 128, 39), 7);
	}
	fx_destroy(fx);
}

/* After the other coefficients of the same task only. */
static void values_of_the_task_reach_the_alternate_set(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		MOV(CFA, 0, GROUP_X), MOV(CFA, 24, TASK), LDI(CFA, 1, 0x3f800000),
		LDI(CF, 2, 7), DMA(CFA, 2, 4, FX_DATA, 0), TASK, END,
	};
	struct pds_launch launch = launch_3d();
	struct fixture *fx = fx_create(1, NULL);
	u32 task, reg;

	(void)state;
	launch.state.coeffs = 3;
	launch.state.coeffs_alt = 25;
	memset(fx->data, 0x55, 16);
	fx_program(fx, &launch, insns, sizeof(insns) / sizeof(insns[0]));
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, id[0], id[1], id[2], 0), PDS_STARTED);
	for (task = 0; task < 2; task++) {
		for (reg = 0; reg < 25; reg++) {
			u32 want = reg == 0 ? id[0] : reg == 1 ? 0x3f800000 :
				   reg < 6 ? 0x55555555 : reg == 24 ? task : 0;

			assert_int_equal(fake_usc_coeff_alt(fx->usc[0], 0, task * 128, reg), want);
		}
		assert_int_equal(fake_usc_coeff(fx->usc[0], 0, task * 128, 2), 7);
		assert_int_equal(fake_usc_coeff(fx->usc[0], 0, task * 128, 0), 0);
	}
	fx_destroy(fx);
}

/* Registers without a write, and lanes without an instance, are zero, not stale. */
static void no_state_of_an_earlier_task_remains(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		LDI(V, 29, 0x1234), MOV(V, 28, LOCAL_LINEAR), MOV(V, 27, GLOBAL_Y),
		MOV(V, 26, SIZE_X), DMA(V, 25, 1, FX_DATA, 4), TASK, END,
	};
	struct pds_launch launch = launch_3d();
	struct fixture *fx = fx_create(1, NULL);
	u32 reg, lane;

	launch.state.coeffs = 5;
	launch.state.coeffs_alt = 6;
	memset(fx->data, 0x77, FX_DATA_BYTES);
	fx_program(fx, &launch, insns, sizeof(insns) / sizeof(insns[0]));
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 1, 1, 1, 0), PDS_STARTED);

	(void)state;
	for (reg = 0; reg < 40; reg++)
		assert_int_equal(fake_usc_shared(fx->usc[0], 0, 0, reg), 0);
	for (reg = 0; reg < 5; reg++)
		assert_int_equal(fake_usc_coeff(fx->usc[0], 0, 0, reg), 0);
	for (reg = 0; reg < 6; reg++)
		assert_int_equal(fake_usc_coeff_alt(fx->usc[0], 0, 0, reg), 0);
	for (reg = 0; reg < 30; reg++) {
		for (lane = 0; lane < 32; lane++) {
			/* The last wave: instances 192 to 209. */
			bool written = reg >= 25 && lane < 18;
			u32 got = fake_usc_attr_lane(fx->usc[0], 0, 1, 2, lane, reg);

			assert_true(written ? got != 0 && got != FAKE_POISON : got == 0);
		}
	}
	fx_destroy(fx);
}

/* The PDS does not write temporaries, nor resources of other groups. */
static void a_program_writes_only_its_own_registers(void **state)
{
	static const struct pumice_pds_insn insns[] = { LDI(V, 0, 1), LDI(SH, 0, 1), TASK, END };
	struct pds_launch launch = launch_3d();
	struct fixture *fx = run(&launch, insns, 4);
	struct usc *usc = fx->usc[0];
	u32 i, rows = 0, words = 0;

	(void)state;
	for (i = 0; i < usc->rows * USC_ROW_WORDS; i++)
		rows += usc->unified[i] != FAKE_POISON;
	for (i = 0; i < usc->words; i++)
		words += usc->common[i] != FAKE_POISON;
	assert_int_equal(rows, 7 * 30 * 32);	/* 7 waves, 30 attributes */
	assert_int_equal(words, 2 * 40);
	fx_destroy(fx);
}

static void later_writes_win(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		LDI(SH, 3, 1), MOV(SH, 3, SIZE_X), LDI(V, 3, 9), MOV(V, 3, LOCAL_Y), LDI(V, 4, 1),
		LDI(V, 4, 2), TASK, LDI(SH, 5, 6), END,
	};
	struct pds_launch launch = launch_3d();
	struct fixture *fx = run(&launch, insns, sizeof(insns) / sizeof(insns[0]));

	(void)state;
	assert_int_equal(fake_usc_shared(fx->usc[0], 0, 0, 3), SX);
	assert_int_equal(fake_usc_attr(fx->usc[0], 0, 205, 3), 205 / SX % SY);
	assert_int_equal(fake_usc_attr(fx->usc[0], 0, 0, 4), 2);
	/* The task starts at the end of the program, so writes after the task instruction apply. */
	assert_int_equal(fake_usc_shared(fx->usc[0], 0, 0, 5), 6);
	fx_destroy(fx);
}

/* Write a distinct value to every word of the data. */
static void number_data(struct fixture *fx)
{
	u32 i, word;

	for (i = 0; i < FX_DATA_BYTES; i += 4) {
		word = 0xd0000000 | i;
		memcpy(fx->data + i, &word, 4);
	}
}

static u32 data_word(u64 addr)
{
	return 0xd0000000 | (u32)(addr - FX_DATA);
}

/* Shared bursts: within a page, over the 2 MiB and 1 GiB boundary, 4096 words. */
static void shared_bursts_read_consecutive_words_across_pages(void **state)
{
	static const struct {
		u16 reg, count;
		u64 addr;
	} cases[] = {
		{ 0, 1, FX_DATA }, { 7, 33, FX_DATA + 4 }, { 0, 2, FX_DATA + 0xffc },
		{ 100, 3000, FX_DATA + 0xff8 }, { 0, 4096, FX_DATA + 0x800 },
	};
	u32 i, reg;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pumice_pds_insn insns[] = {
			DMA(SH, cases[i].reg, cases[i].count, cases[i].addr, 0), TASK, END,
		};
		struct fixture *fx = fx_create(1, NULL);
		struct pds_launch launch = fx_launch(1, 1, 1);

		number_data(fx);
		launch.state.shared = 4096;
		fx_program(fx, &launch, insns, 3);
		assert_true(fx_begin(fx, &launch));
		assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
		for (reg = 0; reg < 4096; reg++) {
			bool in = reg >= cases[i].reg && reg < cases[i].reg + cases[i].count;

			assert_int_equal(fake_usc_shared(fx->usc[0], 0, 0, reg),
					 in ? data_word(cases[i].addr + 4 * (reg - cases[i].reg)) :
					      0);
		}
		fx_destroy(fx);
	}
}

/* Attribute bursts: the same words for all, overlapping, dense, with gaps. */
static void attribute_bursts_read_each_instances_own_words(void **state)
{
	static const struct {
		u16 reg, count, stride;
		u64 addr;
	} cases[] = {
		{ 0, 1, 0, FX_DATA + 8 }, { 5, 25, 0, FX_DATA + 0xff0 },
		{ 0, 1, 4, FX_DATA + 0xf80 }, { 0, 8, 4, FX_DATA },
		{ 2, 3, 12, FX_DATA + 0xff4 }, { 0, 30, 120, FX_DATA + 0x1000 },
		{ 29, 1, 8, FX_DATA + 0x804 }, { 1, 2, 148, FX_DATA + 0xffc },
	};
	u32 i, instance, reg;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pumice_pds_insn insns[] = {
			DMA(V, cases[i].reg, cases[i].count, cases[i].addr, cases[i].stride),
			TASK, END,
		};
		struct fixture *fx = fx_create(1, NULL);
		struct pds_launch launch = launch_3d();

		number_data(fx);
		fx_program(fx, &launch, insns, 3);
		assert_true(fx_begin(fx, &launch));
		assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
		for (instance = 0; instance < INSTANCES; instance++) {
			for (reg = 0; reg < 30; reg++) {
				bool in = reg >= cases[i].reg &&
					  reg < cases[i].reg + cases[i].count;
				u64 at = cases[i].addr + (u64)instance * cases[i].stride +
					 4u * (reg - cases[i].reg);

				assert_int_equal(fake_usc_attr(fx->usc[0], 0, instance, reg),
						 in ? data_word(at) : 0);
			}
		}
		fx_destroy(fx);
	}
}

/* The longest stride over a whole wave: all of it is one page, mapped repeatedly. */
static void attribute_bursts_accept_the_longest_stride(void **state)
{
	static const struct pumice_pds_insn insns[] = {
		DMA(V, 0, 2, 0x10000000, 65532), TASK, END,
	};
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = fx_launch(64, 1, 1);
	u32 instance;
	u64 va;

	(void)state;
	number_data(fx);
	for (va = 0x10000000; va < 0x10400000; va += 0x1000)
		testmem_map_bus(fx->tm, FX_CTX, va, testmem_bus(fx->tm, fx->data), 0x1000,
				PUMICE_PAGE_SIZE_4K, 0);
	launch.state.attrs = 2;
	fx_program(fx, &launch, insns, 3);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	for (instance = 0; instance < 64; instance++) {
		u32 at = instance * 65532 % 0x1000;

		assert_int_equal(fake_usc_attr(fx->usc[0], 0, instance, 0),
				 data_word(FX_DATA + at));
		assert_int_equal(fake_usc_attr(fx->usc[0], 0, instance, 1),
				 data_word(FX_DATA + (at + 4) % 0x1000));
	}
	fx_destroy(fx);
}

/* Only the words of instances are read: not the gaps, nor those of a 211th. */
static void attribute_bursts_read_only_the_instances_words(void **state)
{
	/* The words of instances 0 and 1 end the pages 0 and 2; a third would be on page 4. */
	static const struct pumice_pds_insn insns[] = {
		DMA(V, 0, 1, FX_DATA + 0xffc, 0x2000), TASK, END,
	};
	struct fixture *fx = fx_create(1, NULL);
	struct pds_launch launch = fx_launch(2, 1, 1);

	(void)state;
	number_data(fx);
	testmem_unmap(fx->tm, FX_CTX, FX_DATA + 0x1000, 0x1000);
	testmem_unmap(fx->tm, FX_CTX, FX_DATA + 0x3000, 0x2000);
	launch.state.attrs = 1;
	fx_program(fx, &launch, insns, 3);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
	assert_int_equal(fake_usc_attr(fx->usc[0], 0, 0, 0), data_word(FX_DATA + 0xffc));
	assert_int_equal(fake_usc_attr(fx->usc[0], 0, 1, 0), data_word(FX_DATA + 0x2ffc));
	fx_destroy(fx);
}

/* Up to the last mapped byte a burst works; one more word faults at the first byte after it. */
static void bursts_fault_at_the_first_address_that_is_not_mapped(void **state)
{
	const u64 end = FX_DATA + FX_DATA_BYTES;
	const struct {
		struct pumice_pds_insn insn;
		u64 addr;	/* 0: no fault */
	} cases[] = {
		{ DMA(SH, 0, 40, end - 160, 0), 0 },
		{ DMA(SH, 0, 40, end - 156, 0), end },
		{ DMA(SH, 0, 1, end + 0x100, 0), end + 0x100 },
		{ DMA(V, 0, 2, end - 8 * INSTANCES, 8), 0 },
		{ DMA(V, 0, 2, end - 8 * (INSTANCES - 1), 8), end },
		{ DMA(V, 0, 1, end - 64 * 150, 64), end },
		{ DMA(V, 0, 3, end - 64 * 150 - 8, 64), end },
	};
	struct pds_launch launch = launch_3d();
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pumice_pds_insn insns[] = { LDI(SH, 0, 1), cases[i].insn, TASK, END };
		struct fixture *fx = fx_create(1, NULL);

		fx_program(fx, &launch, insns, 4);
		assert_true(fx_begin(fx, &launch));
		if (!cases[i].addr) {
			assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_STARTED);
		} else {
			assert_int_equal(fx_group(fx, 0, 0, 0, 0), PDS_FAULT);
			fx_expect_fault(fx, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_PDS,
					cases[i].addr, 1);
			assert_int_equal(fx->fault.access, PUMICE_ACCESS_READ);
			assert_int_equal(pds_groups(fx->pds), 0);
			assert_int_equal(fx_load(fx).tasks, 0);
			assert_int_equal(fx->usc[0]->started, 0);
		}
		fx_destroy(fx);
	}
}

/* Memory is read again for each group: writes of the guest between two groups take effect. */
static void bursts_read_memory_for_every_group(void **state)
{
	static const struct pumice_pds_insn insns[] = { DMA(SH, 0, 1, FX_DATA, 0), TASK, END };
	struct pds_launch launch = launch_3d();
	struct fixture *fx = run(&launch, insns, 3);

	(void)state;
	number_data(fx);
	assert_int_equal(fx_group(fx, 0, 0, 0, 1), PDS_STARTED);
	assert_int_equal(fake_usc_shared(fx->usc[0], 0, 0, 0), 0);
	assert_int_equal(fake_usc_shared(fx->usc[0], 1, 0, 0), data_word(FX_DATA));
	fx_destroy(fx);
}

/* The program is checked once: later writes of the guest are not executed. */
static void a_program_that_changes_while_running_is_not_read_again(void **state)
{
	static const struct pumice_pds_insn insns[] = { LDI(SH, 0, 1), TASK, END };
	static const u32 garbage[3 * PUMICE_PDS_WORDS] = { 0xffffffff };
	struct pds_launch launch = launch_3d();
	struct fixture *fx = run(&launch, insns, 3);

	(void)state;
	fx_program_words(fx, &launch, garbage, 3);
	assert_int_equal(fx_group(fx, 0, 0, 0, 1), PDS_STARTED);
	assert_int_equal(fake_usc_shared(fx->usc[0], 1, 0, 0), 1);
	fx_destroy(fx);
}

/* The cost of a launch is proportional to the filled registers, to bound a step. */
static void cost_grows_with_the_words_written(void **state)
{
	static struct pumice_pds_insn heavy[202];
	struct pds_launch launch = fx_launch(1024, 1, 1);
	struct fixture *fx = fx_create(1, NULL);
	u32 i;

	(void)state;
	fx_program_empty(fx, &launch);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(pds_launch_cost(fx->pds), 1);
	fx_end(fx);
	/* Registers that the program does not write are cleared: 8 tasks of 128 instances. */
	launch.state.attrs = 100;
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(pds_launch_cost(fx->pds), 1 + 8 * 100 * 128 / 4 / 4096);
	fx_end(fx);
	launch.state.shared = 2000;
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(pds_launch_cost(fx->pds), 2 + 8 * 100 * 128 / 4 / 4096);
	fx_end(fx);
	launch.state.shared = 0;
	launch.state.coeffs = 2000;
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(pds_launch_cost(fx->pds), 2 + 8 * 100 * 128 / 4 / 4096);
	fx_end(fx);
	launch.state.coeffs = 0;
	for (i = 0; i < 200; i++)
		heavy[i] = (struct pumice_pds_insn)DMA(V, 0, 100, FX_DATA, 0);
	heavy[200] = (struct pumice_pds_insn)TASK;
	heavy[201] = (struct pumice_pds_insn)END;
	fx_program(fx, &launch, heavy, 202);
	assert_true(fx_begin(fx, &launch));
	assert_in_range(pds_launch_cost(fx->pds), 200 * 100 * 1024 / 4096, 200 * 100 * 1024 / 1024);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_source_reaches_every_instance),
		cmocka_unit_test(sources_of_the_task_reach_its_shared_registers),
		cmocka_unit_test(values_of_the_task_reach_its_coefficient_registers),
		cmocka_unit_test(values_of_the_task_reach_the_alternate_set),
		cmocka_unit_test(no_state_of_an_earlier_task_remains),
		cmocka_unit_test(a_program_writes_only_its_own_registers),
		cmocka_unit_test(later_writes_win),
		cmocka_unit_test(shared_bursts_read_consecutive_words_across_pages),
		cmocka_unit_test(attribute_bursts_read_each_instances_own_words),
		cmocka_unit_test(attribute_bursts_accept_the_longest_stride),
		cmocka_unit_test(attribute_bursts_read_only_the_instances_words),
		cmocka_unit_test(bursts_fault_at_the_first_address_that_is_not_mapped),
		cmocka_unit_test(bursts_read_memory_for_every_group),
		cmocka_unit_test(a_program_that_changes_while_running_is_not_read_again),
		cmocka_unit_test(cost_grows_with_the_words_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
