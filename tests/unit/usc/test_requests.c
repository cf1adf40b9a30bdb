// SPDX-License-Identifier: MIT
/*
 * Requests of programs in detailed modes, client by client: lanes of accesses to global memory,
 * none of those to local memory, copies and bursts in either direction, and whole windows of
 * dynamic constants and of uniforms.
 */
#include "access.h"
#include "requests.h"

#include <string.h>

#define USC_BIT	(1u << FX_NUMBER)

static struct requests made;

static void assert_data(u64 loaded, u64 stored, u64 atomics)
{
	const struct requests_sum load = requests_of(&made, PUMICE_MEM_CLIENT_USC_LOAD);
	const struct requests_sum store = requests_of(&made, PUMICE_MEM_CLIENT_USC_STORE);
	const struct requests_sum atomic = requests_of(&made, PUMICE_MEM_CLIENT_USC_ATOMIC);

	assert_int_equal(load.bytes, loaded);
	assert_int_equal(store.bytes, stored);
	assert_int_equal(atomic.bytes, atomics);
	assert_int_equal(load.uscs | store.uscs | atomic.uscs, loaded || stored || atomics ?
			 USC_BIT : 0);
}

static void usc_requests_are_those_of_global_memory(void **state)
{
	const struct {
		struct pumice_usc_insn insn;
		u64 loaded, stored, atomics;
	} rows[] = {
		{ LOAD(32), 128, 0, 0 },
		{ STORE(16), 0, 64, 0 },
		{ INSN(GLOBAL_ATOMIC, .func = PUMICE_USC_ATOMIC_ADD, .mask = ALWAYS, .src2 = SH(0),
		       .src0 = V(0), .src1 = V(1), .dst = R(0)), 0, 0, 128 },
		{ LOCAL_LOAD(32), 0, 0, 0 },
		{ LOCAL_STORE(32), 0, 0, 0 },
		{ INSN(LOCAL_ATOMIC, .func = PUMICE_USC_ATOMIC_ADD, .mask = ALWAYS, .src0 = V(0),
		       .src1 = V(1), .dst = R(0)), 0, 0, 0 },
		{ BURST_LOAD(4), 512, 0, 0 },
		{ BURST_STORE(4), 0, 512, 0 },
	};
	struct fixture *fx = fx_create(DATA_BYTES);
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct access a = { .insn = rows[i].insn };

		access_plain(fx, &a, 16);
		requests_record(&made, &fx->mmu);
		access_run(fx, &a);
		requests_end(&fx->mmu);
		assert_int_equal(fx->faults, 0);
		assert_data(rows[i].loaded, rows[i].stored, rows[i].atomics);
	}
	fx_destroy(fx);
}

/* Run a program of one task of a stage. SH0 and SH1 are the base, SH2 the offset 0. */
static void run(struct fixture *fx, const struct pumice_usc_insn *code, u32 insns,
		const struct usc_gfx *gfx)
{
	const struct usc_program_limits limits = {
		.temps = 8, .shared = 20, .stage = gfx ? gfx->stage : USC_STAGE_COMPUTE,
	};
	const struct fx_group group = {
		.tasks = 1, .instances = { PUMICE_LANES }, .limits = limits, .local_bytes = 4096,
		.gfx = gfx,
	};
	struct usc_program *program = fx_program_insns(fx, code, insns, &limits);

	assert_non_null(program);
	fx_clear(fx);
	fx_fill(fx, 0, &group, program);
	fx_set_base(fx, 0, FX_DATA);
	requests_record(&made, &fx->mmu);
	usc_group_start(fx->usc, 0);
	fx_run(fx, 1000);
	requests_end(&fx->mmu);
	assert_int_equal(fx->faults, 0);
	fx_put(fx, program);
}

#define COPY(op, n) INSN(op, .src0 = SH(2), .src2 = SH(0), .words = (n))

/* Across a page, of which each part is a request. */
static void usc_copies_are_requests_of_their_words(void **state)
{
	const struct pumice_usc_insn load[] = {
		COPY(GROUP_LOAD, 1000), INSN(SIG_WAIT, .dst = R_ELEM(1)), INSN(END),
	};
	const struct pumice_usc_insn store[] = {
		COPY(GROUP_STORE, 1000), INSN(SIG_WAIT, .dst = R_ELEM(1)), INSN(END),
	};
	struct fixture *fx = fx_create(DATA_BYTES);

	(void)state;
	run(fx, load, 3, NULL);
	assert_data(4000, 0, 0);
	run(fx, store, 3, NULL);
	assert_data(0, 4000, 0);
	fx_destroy(fx);
}

static void usc_uniforms_are_requests_of_their_windows(void **state)
{
	const struct pumice_usc_insn code[] = {
		INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SR(UNIFORM)),
		INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SR(UNIFORM)),
		INSN(END),
	};
	const struct usc_gfx gfx = {
		.stage = USC_STAGE_VERTEX, .uniforms = FX_DATA + 256, .uniform_words = 40,
	};
	struct fixture *fx = fx_create(DATA_BYTES);

	(void)state;
	run(fx, code, 3, &gfx);
	assert_data(USC_UNIFORM_WINDOW * sizeof(u32), 0, 0);
	assert_int_equal(requests_cover(&made, PUMICE_MEM_CLIENT_USC_LOAD, FX_DATA + 256,
					USC_UNIFORM_WINDOW * sizeof(u32)),
			 USC_UNIFORM_WINDOW * sizeof(u32));
	fx_destroy(fx);
}

/* All lanes read the same window, which is requested once. */
static void usc_dynamic_constants_are_requests_of_their_windows(void **state)
{
	const struct pumice_usc_operand constant = { .bank = PUMICE_USC_BANK_DC, .num = 3,
						     .idx = 1 };
	struct pumice_usc_insn code[] = {
		INSN(MOV, .dst = usc_operand(PUMICE_USC_BANK_IDX, 0, false), .mask = ALWAYS,
		     .src0 = IMM),
		INSN(DC_WINDOW, .src2 = SH(0), .words = 64),
		INSN(MOV, .dst = R(0), .mask = ALWAYS),
		INSN(END),
	};
	struct fixture *fx = fx_create(DATA_BYTES);

	(void)state;
	pumice_usc_operand_pack(&code[2].src0, &constant);
	run(fx, code, 4, NULL);
	assert_data(PUMICE_USC_DC_WINDOW * sizeof(u32), 0, 0);
	assert_int_equal(requests_of(&made, PUMICE_MEM_CLIENT_USC_LOAD).requests, 1);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_requests_are_those_of_global_memory),
		cmocka_unit_test(usc_copies_are_requests_of_their_words),
		cmocka_unit_test(usc_uniforms_are_requests_of_their_windows),
		cmocka_unit_test(usc_dynamic_constants_are_requests_of_their_windows),
	};

	return cmocka_run_group_tests_name("usc requests", tests, NULL, NULL);
}
