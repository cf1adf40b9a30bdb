// SPDX-License-Identifier: MIT
/*
 * Atomic operations: stored and returned values, supported operations, order of lanes,
 * faults, and atomicity between the USC and the host.
 */
#include "access.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define NAN_BITS 0x7fc00000u

#define ATOMIC(f, t)								\
	INSN(GLOBAL_ATOMIC, .func = PUMICE_USC_ATOMIC_##f, .type = (t), .dst = R(0),	\
	     .mask = ALWAYS, .src2 = SH(0), .src0 = V(0), .src1 = V(1))

/* Memory, and the units of its addresses. */
enum where { GLOBAL, LOCAL, LOCAL_IN_WORDS, WHERES };

/* Let the access do the same operation on local memory, at addresses of bytes or words. */
static void set_place(struct access *a, enum where where)
{
	if (where == GLOBAL)
		return;
	a->insn.opcode = where == LOCAL ? PUMICE_USC_OP_LOCAL_ATOMIC :
					  PUMICE_USC_OP_LOCAL_ATOMICW;
	a->insn.src2 = 0;
	if (where == LOCAL)
		return;
	a->insn.disp /= 4;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a->off[l] /= 4;
}

struct result {
	u32 func, type, old, value, expected, left;
};

#define RESULT(f, t, ...) { PUMICE_USC_ATOMIC_##f, t, __VA_ARGS__ }

/* Computed manually. */
static const struct result results[] = {
	RESULT(ADD, U32, 0xffffffff, 2, 0, 1),
	RESULT(ADD, I32, 0x7fffffff, 1, 0, 0x80000000),
	RESULT(ADD, F32, 0x3f800000, 0x40000000, 0, 0x40400000),	/* 1 + 2 */
	RESULT(ADD, F32, 0x4b800000, 0x3f800000, 0, 0x4b800000),	/* 2^24 + 1: a tie, to
									 * even */
	RESULT(ADD, F32, 0x4b800001, 0x3f800000, 0, 0x4b800002),	/* 2^24 + 2 + 1: a tie,
									 * to even */
	RESULT(ADD, F32, 0x00000001, 0x00000001, 0, 0x00000002),	/* denormals */
	RESULT(ADD, F32, 0x7f800000, 0xff800000, 0, NAN_BITS),		/* infinity less infinity */
	RESULT(ADD, F32, 0xffc12345, 0x3f800000, 0, NAN_BITS),
	RESULT(ADD, F32, 0x80000000, 0x80000000, 0, 0x80000000),	/* -0 + -0 */
	RESULT(ADD, F32, 0x80000000, 0x00000000, 0, 0x00000000),
	RESULT(MIN, U32, 0x80000000, 1, 0, 1),
	RESULT(MIN, I32, 0x80000000, 1, 0, 0x80000000),
	RESULT(MIN, U32, 3, 7, 0, 3),
	RESULT(MAX, U32, 0x80000000, 1, 0, 0x80000000),
	RESULT(MAX, I32, 0x80000000, 1, 0, 1),
	RESULT(MAX, I32, 9, 7, 0, 9),
	RESULT(AND, U32, 0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00),
	RESULT(OR, U32, 0xff00ff00, 0x0ff00ff0, 0, 0xfff0fff0),
	RESULT(XOR, U32, 0xff00ff00, 0x0ff00ff0, 0, 0xf0f0f0f0),
	RESULT(XCHG, U32, 5, 6, 0, 6),
	RESULT(CMPXCHG, U32, 5, 6, 5, 6),
	RESULT(CMPXCHG, U32, 5, 6, 4, 5),
};

static void run_result(struct fixture *fx, const struct result *r)
{
	struct access a = { .insn = ATOMIC(ADD, r->type) };

	a.insn.func = r->func;
	access_plain(fx, &a, 4);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		data_words(fx)[l] = r->old;
		a.data[0][l] = r->value;
		a.data[1][l] = r->expected;
	}
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		if (data_words(fx)[l] != r->left || a.result[0][l] != r->old)
			fail_msg("operation %u of type %u on %#x with %#x: stored %#x, gave %#x",
				 r->func, r->type, r->old, r->value, data_words(fx)[l],
				 a.result[0][l]);
	}
}

/* The same on local memory, which a store has set to the old value. */
static void run_local_result(struct fixture *fx, const struct result *r, enum where where)
{
	const struct fx_group group = {
		.tasks = 1, .instances = { 1 }, .local_bytes = 64,
		.limits = { .temps = 6, .attrs = 0, .shared = 0 },
	};
	const bool words = where == LOCAL_IN_WORDS;
	const struct pumice_usc_insn code[] = {
		INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = IMM, .imm = r->old),
		INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = IMM, .imm = r->value),
		INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = IMM, .imm = r->expected),
		INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = R(0), .src1 = R(1), .disp = 8),
		{
			.opcode = words ? PUMICE_USC_OP_LOCAL_ATOMICW : PUMICE_USC_OP_LOCAL_ATOMIC,
			.func = r->func, .type = r->type, .dst = R(4), .mask = ALWAYS,
			.src0 = R(0), .src1 = R(2), .disp = words ? 2 : 8,
		},
		INSN(LOCAL_LOAD32, .dst = R(5), .mask = ALWAYS, .src0 = R(0), .disp = 8),
		INSN(END),
	};
	struct usc_program *program;

	program = fx_program_insns(fx, code, sizeof(code) / sizeof(code[0]), &group.limits);
	assert_non_null(program);
	fx_run_group(fx, &group, program);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(fx->usc->unified[4 * PUMICE_LANES], r->old);
	assert_int_equal(fx->usc->unified[5 * PUMICE_LANES], r->left);
	fx_put(fx, program);
}

static void check_results(struct fixture *fx)
{
	for (u32 n = 0; n < sizeof(results) / sizeof(results[0]); n++) {
		run_result(fx, &results[n]);
		run_local_result(fx, &results[n], LOCAL);
		run_local_result(fx, &results[n], LOCAL_IN_WORDS);
	}
}

static void usc_atomic_stores_the_result_and_returns_the_old_value(void **state)
{
	(void)state;
	at_each_level(check_results);
}

static bool exists(u32 func, u32 type)
{
	if (func == PUMICE_USC_ATOMIC_ADD)
		return type != 3;
	if (func == PUMICE_USC_ATOMIC_MIN || func == PUMICE_USC_ATOMIC_MAX)
		return type == U32 || type == I32;
	return type == U32;
}

static void usc_atomic_of_a_type_that_does_not_exist_is_refused(void **state)
{
	struct fixture *fx = fx_create(DATA_BYTES);

	(void)state;
	for (u32 n = 0; n < WHERES * PUMICE_USC_ATOMIC_COUNT * 4; n++) {
		const u32 type = n / WHERES % 4, func = n / WHERES / 4;
		struct access a = { .insn = ATOMIC(ADD, type) };
		struct usc_program *program;

		a.insn.func = func;
		set_place(&a, n % WHERES);
		program = access_program(fx, &a);
		assert_int_equal(program != NULL, exists(func, type));
		if (program)
			fx_put(fx, program);
		else
			assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_TYPE);
	}
	fx_destroy(fx);
}

/* All lanes on one word: each reads the result of the lanes below it. */
static void check_order(struct fixture *fx)
{
	for (enum where where = GLOBAL; where < WHERES; where++) {
		struct access a = { .insn = ATOMIC(ADD, U32) };
		u32 sum = 0, before;

		access_plain(fx, &a, 0);
		before = where != GLOBAL ? 0 : data_words(fx)[2];
		a.insn.disp = 8;
		set_place(&a, where);
		access_run(fx, &a);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			assert_int_equal(a.result[0][l], before + sum);
			sum += a.data[0][l];
		}
		assert_int_equal(where != GLOBAL ? *(u32 *)(void *)(fx->usc->local + 8) :
						   data_words(fx)[2], before + sum);
	}
}

/* Lane l exchanges l for l + 1: every one succeeds, in ascending order only. */
static void check_chain(struct fixture *fx)
{
	for (enum where where = GLOBAL; where < WHERES; where++) {
		struct access a = { .insn = ATOMIC(CMPXCHG, U32) };

		access_plain(fx, &a, 0);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			a.data[1][l] = l;	/* data[0] is l + 1 */
		set_place(&a, where);
		access_run(fx, &a);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			assert_int_equal(a.result[0][l], l);
		assert_int_equal(where != GLOBAL ? *(u32 *)(void *)fx->usc->local :
						   data_words(fx)[0], PUMICE_LANES);
	}
}

static void usc_atomic_lanes_run_in_ascending_order(void **state)
{
	(void)state;
	at_each_level(check_order);
	at_each_level(check_chain);
}

/* Lanes excluded by the mask or the task neither access memory nor get a result. */
static void check_left_out(struct fixture *fx)
{
	struct access a = { .insn = ATOMIC(ADD, U32), .instances = 20 };

	access_plain(fx, &a, 4);
	a.insn.mask = (u16)IF(MASK_K(CH2));
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		bool active = l < 20 && l % 4 < 2;

		assert_int_equal(data_words(fx)[l], l + (active ? l + 1 : 0));
		assert_int_equal(a.result[0][l], active ? l : BEFORE);
	}
}

static void usc_atomic_touches_active_lanes_only(void **state)
{
	(void)state;
	at_each_level(check_left_out);
}

static void check_faults(struct fixture *fx)
{
	struct access a = { .insn = ATOMIC(ADD, U32) };

	/* Lane 20 is misaligned, lane 9 unmapped; then lane 20 alone: those below have added. */
	access_plain(fx, &a, 4);
	a.off[20] = 2;
	a.off[9] = DATA_BYTES;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_ACCESS_WRITE, FX_DATA + DATA_BYTES);
	access_plain(fx, &a, 4);
	a.off[20] = 2;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_USC_GLOBAL_ALIGN, PUMICE_ACCESS_WRITE, FX_DATA + 2);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(data_words(fx)[l], l < 20 ? 2 * l + 1 : l);
	set_place(&a, LOCAL);
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_ALIGN, 2);
	a.off[20] = LOCAL_BYTES;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, LOCAL_BYTES);
}

static void usc_atomic_faults_as_other_accesses_do(void **state)
{
	(void)state;
	at_each_level(check_faults);
}

/*
 * At word addresses each is aligned; the last word, one beyond, and addresses whose bytes exceed
 * 32 bits, in the lane of which they are. A lane that is not active has any address.
 */
static void check_word_addresses(struct fixture *fx)
{
	struct access a = { .insn = ATOMIC(ADD, U32) };
	u32 last = LOCAL_BYTES / 4 - 1;

	access_plain(fx, &a, 0);
	set_place(&a, LOCAL_IN_WORDS);
	a.insn.disp = 3;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a.off[l] = last - 3 - l;
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		assert_int_equal(((u32 *)(void *)fx->usc->local)[last - l], l + 1);
	a.off[9] = last - 2;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, LOCAL_BYTES);
	assert_int_equal(fx->fault.lane, 9);
	/* 4 * 0x40000000 is 0 in 32 bits: it is reported as the last word below 4 GiB. */
	a.off[9] = 0x40000000u;
	access_run(fx, &a);
	check_local_fault(fx, PUMICE_FAULT_USC_LOCAL_BOUNDS, 0xfffffffcull + 3 * 4);
	assert_int_equal(fx->fault.lane, 9);
	a.insn.mask = (u16)IF_NOT(MASK_K(CH2));	/* without lane 9 */
	access_run(fx, &a);
	assert_int_equal(fx->faults, 0);
}

static void usc_atomic_at_word_addresses_reports_bytes_beyond_the_allocation(void **state)
{
	(void)state;
	at_each_level(check_word_addresses);
}

/* An atomic operation writes: a read-only page faults, even if nothing would change. */
static void usc_atomic_on_a_read_only_page_faults_as_a_write(void **state)
{
	const u64 va = FX_DATA + 0x100000;
	struct access a = { .insn = ATOMIC(OR, U32), .base = va };
	struct fixture *fx = fx_create(DATA_BYTES);
	u32 *page = testmem_map(fx->mem, FX_CTX, va, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);

	(void)state;
	page[0] = 77;
	access_run(fx, &a);
	check_fault(fx, PUMICE_FAULT_MMU_READ_ONLY, PUMICE_ACCESS_WRITE, va);
	assert_int_equal(page[0], 77);
	fx_destroy(fx);
}

/*
 * The destination may be the offsets, the value, or the value to compare with, which is the
 * previous content: l of global memory, 0 of local memory.
 */
static void check_own_operands(struct fixture *fx)
{
	for (u32 n = 0; n < 3 * WHERES; n++) {
		const u32 which = n % 3;
		const enum where where = n / 3;
		const u32 *memory = where == GLOBAL ? data_words(fx) :
						      (u32 *)(void *)fx->usc->local;
		struct access a = { .insn = ATOMIC(CMPXCHG, U32) };
		struct usc_task *task = usc_task(fx->usc, 0);

		access_plain(fx, &a, 4);
		for (u32 l = 0; l < PUMICE_LANES; l++)
			a.data[1][l] = where == GLOBAL ? l : 0;
		a.insn.dst = V(which);
		set_place(&a, where);
		access_run(fx, &a);
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			assert_int_equal(memory[l], l + 1);
			assert_int_equal(usc_attr(fx->usc, task, 0, which)[l],
					 where == GLOBAL ? l : 0);
		}
	}
}

static void usc_atomic_may_overwrite_its_operands(void **state)
{
	(void)state;
	at_each_level(check_own_operands);
}

/* ------------------------------------------------------------ in parallel with the host */

#define ROUNDS		2000u		/* of the program's loop */
#define EXACT		(1u << 23)	/* additions of 1.0 by the host; with the USC's exact */
/*
 * Additions of the host between which the USC has added: an addition that is not atomic loses some.
 * Two processors that run both threads at the same time reach this number in milliseconds.
 */
#define INTERLEAVED	20000u
#define MAX_RUNS	1000u		/* if they do not: that takes seconds */

/* A host thread that adds to words 0 and 2 while the USC does. */
struct adder {
	u32 *words;
	_Atomic u32 added;	/* to word 0, the number of times */
	_Atomic bool stop;
	u32 added_f32, interleaved;
};

static void add_f32(u32 *word)
{
	u32 old = __atomic_load_n(word, __ATOMIC_RELAXED), sum;

	do {
		float f;

		memcpy(&f, &old, sizeof(f));
		f += 1;
		memcpy(&sum, &f, sizeof(sum));
	} while (!__atomic_compare_exchange_n(word, &old, sum, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
}

static void *add_on_host(void *opaque)
{
	struct adder *adder = opaque;
	u32 next = 0;

	while (!atomic_load_explicit(&adder->stop, memory_order_relaxed)) {
		const u32 old = __atomic_fetch_add(&adder->words[0], 1, __ATOMIC_RELAXED);

		adder->interleaved += old != next;
		next = old + 1;
		if (adder->added_f32 < EXACT) {
			add_f32(&adder->words[2]);
			adder->added_f32++;
		}
		atomic_fetch_add_explicit(&adder->added, 1, memory_order_relaxed);
	}
	return NULL;
}

/* Run the program while the host adds. Returns the number of interleaved additions. */
static u32 run_with_host(struct fixture *fx, const struct fx_group *group,
			 struct usc_program *program)
{
	struct adder adder = { .words = data_words(fx) };
	pthread_t thread;
	float sum;

	adder.words[0] = adder.words[2] = 0;
	fx_clear(fx);
	fx_fill(fx, 0, group, program);
	fx_set_base(fx, 0, FX_DATA);
	assert_int_equal(pthread_create(&thread, NULL, add_on_host, &adder), 0);
	while (!atomic_load(&adder.added))
		sched_yield();
	usc_group_start(fx->usc, 0);
	fx_run(fx, 1u << 20);
	atomic_store(&adder.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(fx->faults, 0);
	assert_int_equal(adder.words[0], ROUNDS * PUMICE_LANES + adder.added);
	memcpy(&sum, &adder.words[2], sizeof(sum));
	assert_true(sum == (float)(ROUNDS * PUMICE_LANES / 2 + adder.added_f32));
	return adder.interleaved;
}

/* Every lane adds 1, and half of them the f32 1.0, ROUNDS times. */
static void usc_atomic_is_atomic_with_the_host(void **state)
{
	const struct fx_group group = {
		.tasks = 1, .instances = { PUMICE_LANES },
		.limits = { .temps = 6, .attrs = 0, .shared = 2 },
	};
	const struct pumice_usc_insn code[] = {
		INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = IMM, .imm = 1),
		INSN(MOV, .dst = R(2), .mask = ALWAYS, .src0 = IMM, .imm = 0x3f800000),
		INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(3), .src0 = IMM, .imm = ROUNDS),
		INSN(GLOBAL_ATOMIC, .func = PUMICE_USC_ATOMIC_ADD, .dst = R(4), .mask = ALWAYS,
		     .src2 = SH(0), .src0 = R(0), .src1 = R(1)),
		INSN(GLOBAL_ATOMIC, .func = PUMICE_USC_ATOMIC_ADD, .type = F32, .dst = R(5),
		     .mask = IF(MASK_K(LO16)), .src2 = SH(0), .src0 = R(0),
		     .src1 = R(2), .disp = 8),
		INSN(SUB, .form = SCALAR_FORM, .dst = R_ELEM(3), .src0 = R_ELEM(3), .src1 = IMM,
		     .imm = 1),
		INSN(BRNZ, .target = 3, .src0 = R_ELEM(3)),
		INSN(END),
	};
	struct fixture *fx = fx_create(DATA_BYTES);
	struct usc_program *program;
	u32 interleaved = 0, runs;

	(void)state;
	program = fx_program_insns(fx, code, sizeof(code) / sizeof(code[0]), &group.limits);
	assert_non_null(program);
	for (runs = 0; runs < MAX_RUNS && interleaved < INTERLEAVED; runs++)
		interleaved += run_with_host(fx, &group, program);
	print_message("%u interleaved additions in %u runs\n", interleaved, runs);
	fx_put(fx, program);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_atomic_stores_the_result_and_returns_the_old_value),
		cmocka_unit_test(usc_atomic_of_a_type_that_does_not_exist_is_refused),
		cmocka_unit_test(usc_atomic_lanes_run_in_ascending_order),
		cmocka_unit_test(usc_atomic_touches_active_lanes_only),
		cmocka_unit_test(usc_atomic_faults_as_other_accesses_do),
		cmocka_unit_test(usc_atomic_at_word_addresses_reports_bytes_beyond_the_allocation),
		cmocka_unit_test(usc_atomic_on_a_read_only_page_faults_as_a_write),
		cmocka_unit_test(usc_atomic_may_overwrite_its_operands),
		cmocka_unit_test(usc_atomic_is_atomic_with_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
