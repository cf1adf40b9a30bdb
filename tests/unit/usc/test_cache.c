// SPDX-License-Identifier: MIT
/*
 * The cache of predecoded programs: when two programs are the same, and which are
 * kept.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"
#include "program.h"
#include "fixture.h"

static const struct usc_program_limits limits = { .temps = 4, .attrs = 2, .shared = 2 };

/* insns - 1 movs of value and an end. */
static void write_code(u32 *code, u32 insns, u32 value)
{
	for (u32 n = 0; n + 1 < insns; n++)
		usc_put(code, n, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = value));
	usc_put(code, insns - 1, INSN(END));
}

static void usc_program_is_found_by_content_at_any_address(void **state)
{
	struct fixture *fx = *state;
	u32 code[2 * PUMICE_USC_WORDS];
	struct usc_program *a, *b;

	write_code(code, 2, 5);
	a = fx_program(fx, code, 2, &limits);
	memcpy(fx->code + 4096, code, sizeof(code));
	b = usc_program_get(fx->cache, &fx->mmu, &fx->tlb, FX_CTX, FX_CODE + 4096, 2, &limits,
			    &fx->fault);
	assert_non_null(a);
	assert_ptr_equal(a, b);
	fx_put(fx, a);
	fx_put(fx, b);
	assert_ptr_equal(fx_program(fx, code, 2, &limits), a);
	fx_put(fx, a);
}

static void usc_overwritten_code_is_another_program(void **state)
{
	struct fixture *fx = *state;
	u32 code[2 * PUMICE_USC_WORDS];
	struct usc_program *a, *b;

	write_code(code, 2, 5);
	a = fx_program(fx, code, 2, &limits);
	write_code(code, 2, 6);
	b = fx_program(fx, code, 2, &limits);
	assert_ptr_not_equal(a, b);
	assert_int_equal(a->pool[0], 5);
	assert_int_equal(b->pool[0], 6);
	fx_put(fx, a);
	fx_put(fx, b);
}

/* An operand that IDX0 is added to. */
static u32 indexed(enum pumice_usc_bank bank)
{
	const struct pumice_usc_operand v = { .bank = bank, .idx = 1 };
	u32 raw;

	pumice_usc_operand_pack(&raw, &v);
	return raw;
}

/*
 * Return whether a program with an instruction, made for one allocation, serves another one, too.
 */
static bool shared(struct fixture *fx, const struct pumice_usc_insn *insn, u32 number,
		   const struct usc_program_limits *made, const struct usc_program_limits *other)
{
	u32 code[3 * PUMICE_USC_WORDS];
	struct usc_program *a, *b;
	bool same;

	/* The number makes it a program that is not cached yet. */
	usc_put(code, 0, *insn);
	usc_put(code, 1, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = number));
	usc_put(code, 2, INSN(END));
	a = fx_program(fx, code, 3, made);
	b = fx_program(fx, code, 3, other);
	same = a == b;
	assert_non_null(a);
	assert_non_null(b);
	fx_put(fx, a);
	fx_put(fx, b);
	return same;
}

static void usc_program_serves_all_limits_that_it_fits(void **state)
{
	const struct {
		struct pumice_usc_insn insn;
		/* Check whether one more or fewer register of the bank makes another program. */
		bool temps, attrs, shared, coeffs, coeffs_alt;
	} cases[] = {
		{ INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = IMM, .imm = 7), 0, 0, 0, 0, 0 },
		{ INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = SH(1)), 0, 0, 0, 0, 0 },
		/* Attributes follow the temporaries, coefficients the shared registers. */
		{ INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = V(1)), 1, 0, 0, 0, 0 },
		{ INSN(MOV, .dst = R(1), .mask = ALWAYS,
		       .src0 = usc_operand(PUMICE_USC_BANK_CF, 1, false)), 0, 0, 1, 0, 0 },
		/* An index may reach the last existing register. */
		{ INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = indexed(PUMICE_USC_BANK_R)),
		  1, 0, 0, 0, 0 },
		{ INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = indexed(PUMICE_USC_BANK_V)),
		  1, 1, 0, 0, 0 },
		{ INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = indexed(PUMICE_USC_BANK_SH)),
		  0, 0, 1, 0, 0 },
		{ INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = indexed(PUMICE_USC_BANK_CF)),
		  0, 0, 1, 1, 0 },
		/* The place of the alternate set is not in the program. */
		{ INSN(MOV, .dst = R(1), .mask = ALWAYS,
		       .src0 = usc_operand(PUMICE_USC_BANK_CFA, 1, false)), 0, 0, 0, 0, 0 },
		{ INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = indexed(PUMICE_USC_BANK_CFA)),
		  0, 0, 0, 0, 1 },
	};
	const struct usc_program_limits base = {
		.temps = 4, .attrs = 2, .shared = 2, .coeffs = 2, .coeffs_alt = 2,
	};
	struct fixture *fx = *state;
	u32 number = 0;

	for (u32 n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		const bool made[5] = { cases[n].temps, cases[n].attrs, cases[n].shared,
				       cases[n].coeffs, cases[n].coeffs_alt };
		struct usc_program_limits more[5] = { base, base, base, base, base }, other = base;
		const struct pumice_usc_insn *insn = &cases[n].insn;

		more[0].temps++;
		more[1].attrs++;
		more[2].shared++;
		more[3].coeffs++;
		more[4].coeffs_alt++;
		other.stage = USC_STAGE_VERTEX;
		for (u32 bank = 0; bank < 5; bank++) {
			assert_int_equal(shared(fx, insn, number++, &base, &more[bank]),
					 !made[bank]);
			assert_int_equal(shared(fx, insn, number++, &more[bank], &base),
					 !made[bank]);
		}
		assert_false(shared(fx, insn, number++, &base, &other));
	}
}

/* A cached program for more registers must not be used with fewer. */
static void usc_cached_program_that_does_not_fit_is_refused(void **state)
{
	struct usc_program_limits fewer = limits;
	struct fixture *fx = *state;
	u32 code[2 * PUMICE_USC_WORDS];
	struct usc_program *a;

	write_code(code, 2, 5);
	fewer.temps = 0;
	a = fx_program(fx, code, 2, &limits);
	assert_non_null(a);
	assert_null(fx_program(fx, code, 2, &fewer));
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_REGISTER);
	fx_put(fx, a);
}

/* The same for each bank: with one register too few. */
static void usc_cached_program_is_refused_without_its_last_register(void **state)
{
	const struct {
		u32 stage;
		size_t of;	/* of the bank, in the limits */
		struct pumice_usc_insn insn;
	} cases[] = {
		{ USC_STAGE_COMPUTE, offsetof(struct usc_program_limits, temps),
		  INSN(MOV, .dst = R(3), .mask = ALWAYS, .src0 = IMM) },
		{ USC_STAGE_COMPUTE, offsetof(struct usc_program_limits, temps),
		  INSN(MOV, .dst = R(0), .mask = IF(MASK_R(3)), .src0 = IMM) },
		{ USC_STAGE_COMPUTE, offsetof(struct usc_program_limits, attrs),
		  INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = V(3)) },
		{ USC_STAGE_COMPUTE, offsetof(struct usc_program_limits, shared),
		  INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = SH(3)) },
		{ USC_STAGE_COMPUTE, offsetof(struct usc_program_limits, coeffs),
		  INSN(MOV, .dst = R(0), .mask = ALWAYS,
		       .src0 = usc_operand(PUMICE_USC_BANK_CF, 3, false)) },
		{ USC_STAGE_COMPUTE, offsetof(struct usc_program_limits, coeffs_alt),
		  INSN(MOV, .dst = R(0), .mask = ALWAYS,
		       .src0 = usc_operand(PUMICE_USC_BANK_CFA, 3, false)) },
		{ USC_STAGE_VERTEX, offsetof(struct usc_program_limits, vo),
		  INSN(UVSW, .dst = usc_operand(PUMICE_USC_BANK_VO, 3, false), .src0 = R(0)) },
		{ USC_STAGE_FRAGMENT, offsetof(struct usc_program_limits, outputs),
		  INSN(MOV, .dst = usc_operand(PUMICE_USC_BANK_O, 3, false), .mask = ALWAYS,
		       .src0 = IMM) },
	};
	struct fixture *fx = *state;
	u32 code[2 * PUMICE_USC_WORDS];

	for (u32 n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		struct usc_program_limits enough = {
			.temps = 4, .attrs = 4, .shared = 4, .coeffs = 4, .coeffs_alt = 4, .vo = 4,
			.outputs = 4, .stage = cases[n].stage,
		}, fewer = enough;
		struct usc_program *program;

		usc_put(code, 0, cases[n].insn);
		usc_put(code, 1, INSN(END));
		program = fx_program(fx, code, 2, &enough);
		assert_non_null(program);
		--*(u32 *)(void *)((char *)&fewer + cases[n].of);
		assert_null(fx_program(fx, code, 2, &fewer));
		assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_REGISTER);
		fx_put(fx, program);
	}
}

/* A piece of a load of FX_CODE, for a stage; the code may be another one than in former loads. */
static enum usc_load_result load_for(struct fixture *fx, u32 stage, u32 insns,
				     struct usc_load **state, struct usc_program **program)
{
	struct usc_program_limits made = limits;

	made.stage = stage;
	if (!*state)
		mmu_drop_code(&fx->mmu, FX_CTX);
	return usc_program_load(fx->cache, &fx->mmu, &fx->tlb, FX_CTX, FX_CODE, insns, &made,
				state, program, &fx->fault);
}

static enum usc_load_result load(struct fixture *fx, u32 insns, struct usc_load **state,
				 struct usc_program **program)
{
	return load_for(fx, USC_STAGE_COMPUTE, insns, state, program);
}

/* No caller waits for more than a piece: the calls are counted. */
static void usc_long_program_is_loaded_in_pieces(void **state)
{
	const u32 fetches = PUMICE_USC_MAX_INSNS / USC_FETCH_PIECE;
	const u32 decodes = PUMICE_USC_MAX_INSNS / USC_DECODE_PIECE;
	struct fixture *fx = *state;
	struct usc_load *under_way = NULL;
	struct usc_program *program = NULL, *again = NULL;
	u32 calls = 1;

	write_code((u32 *)(void *)fx->code, PUMICE_USC_MAX_INSNS, 3);
	while (load(fx, PUMICE_USC_MAX_INSNS, &under_way, &program) == USC_LOAD_MORE)
		calls++;
	assert_non_null(program);
	assert_null(under_way);
	/* The last piece of the code and the first one that is decoded are one call. */
	assert_int_equal(calls, fetches + decodes - 1);
	/* It is cached now: only fetched. */
	for (calls = 1; load(fx, PUMICE_USC_MAX_INSNS, &under_way, &again) == USC_LOAD_MORE;
	     calls++)
		;
	assert_ptr_equal(again, program);
	assert_int_equal(calls, fetches);
	fx_put(fx, program);
	fx_put(fx, again);
}

static void usc_cancelled_load_leaves_no_state(void **state)
{
	struct fixture *fx = *state;
	struct usc_load *under_way = NULL;
	struct usc_program *program = NULL;
	u32 n, calls;

	write_code((u32 *)(void *)fx->code, PUMICE_USC_MAX_INSNS, 4);
	for (calls = 1; calls < 40; calls++) {
		for (n = 0; n < calls; n++)
			assert_int_equal(load(fx, PUMICE_USC_MAX_INSNS, &under_way, &program),
					 USC_LOAD_MORE);
		assert_true(usc_program_cache_bytes(fx->cache) > 0);
		usc_load_drop(fx->cache, under_way);
		under_way = NULL;
		usc_cache_sweep(fx->cache);
		assert_int_equal(usc_program_cache_bytes(fx->cache), 0);
	}
}

/* A clock, and callbacks for free memory. */
struct host {
	u64 now, deadline;
	u32 waits, rooms;
};

static u64 host_now(void *opaque)
{
	return ((struct host *)opaque)->now;
}

static void host_wait(void *opaque, u64 deadline)
{
	struct host *host = opaque;

	host->deadline = deadline;
	host->waits++;
}

static void host_room(void *opaque)
{
	((struct host *)opaque)->rooms++;
}

static const struct usc_cache_ops host_ops = {
	.now = host_now, .wait = host_wait, .room = host_room,
};

static long resident_mib(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long all = 0, resident = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%ld %ld", &all, &resident) != 2)
		resident = 0;
	fclose(file);
	return resident * 4 / 1024;
}

#define MANY 64u

/* Programs that are all in use, until there is no memory for one more. */
static void usc_programs_in_use_are_bounded(void **state)
{
	const u32 insns = PUMICE_USC_MAX_INSNS / 4;
	struct usc_program *held[MANY], *more = NULL;
	struct usc_load *under_way = NULL;
	enum usc_load_result result = USC_LOAD_DONE;
	struct host host = { .now = 1000 };
	struct fixture *fx = *state;
	long before = resident_mib();
	u32 count = 0;

	usc_program_cache_set_ops(fx->cache, &host_ops, &host);
	while (count < MANY) {
		write_code((u32 *)(void *)fx->code, insns, count);
		do
			result = load(fx, insns, &under_way, &held[count]);
		while (result == USC_LOAD_MORE);
		assert_true(usc_program_cache_bytes(fx->cache) <= USC_CACHE_CDM_BYTES);
		if (result != USC_LOAD_DONE)
			break;
		count++;
	}
	assert_int_equal(result, USC_LOAD_WAIT);
	assert_int_equal(host.waits, 1);
	assert_int_equal(host.deadline, host.now + USC_LOAD_PATIENCE_NS);
	print_message("%u programs of 256 KiB in use: %llu MiB accounted, %ld MiB resident\n",
		      count, (unsigned long long)usc_program_cache_bytes(fx->cache) >> 20,
		      resident_mib() - before);
	/* It waits until a program is released, then continues. */
	host.now += USC_LOAD_PATIENCE_NS - 1;
	assert_int_equal(load(fx, insns, &under_way, &more), USC_LOAD_WAIT);
	assert_int_equal(host.rooms, 0);
	fx_put(fx, held[--count]);
	fx_put(fx, held[--count]);
	assert_true(host.rooms > 0);
	do
		result = load(fx, insns, &under_way, &more);
	while (result == USC_LOAD_MORE);
	assert_int_equal(result, USC_LOAD_DONE);
	held[count++] = more;

	/* None is released: a specific fault. */
	do {
		write_code((u32 *)(void *)fx->code, insns, 1000 + count);
		do
			result = load(fx, insns, &under_way, &held[count]);
		while (result == USC_LOAD_MORE);
	} while (result == USC_LOAD_DONE && ++count < MANY);
	assert_int_equal(result, USC_LOAD_WAIT);
	host.now += USC_LOAD_PATIENCE_NS;
	assert_int_equal(load(fx, insns, &under_way, &more), USC_LOAD_FAULT);
	assert_int_equal(fx->fault.fault, PUMICE_FAULT_USC_MEMORY);
	assert_null(under_way);
	while (count)
		fx_put(fx, held[--count]);
}

/* A load waits on if each ending program frees too little: the job proceeds. */
static void usc_load_waits_as_long_as_programs_end(void **state)
{
	const u32 insns = PUMICE_USC_MAX_INSNS / 4;
	u32 code[2 * PUMICE_USC_WORDS], i;
	struct host host = { .now = 1000 };
	struct usc_load *under_way = NULL;
	struct usc_program *small, *more;
	struct fixture *fx = *state;
	bool waits = false;
	u64 rest;

	usc_program_cache_set_ops(fx->cache, &host_ops, &host);
	write_code(code, 2, 5);
	small = fx_program(fx, code, 2, &limits);
	rest = USC_CACHE_CDM_BYTES - small->bytes;
	assert_int_equal(usc_cache_reserve(fx->cache, USC_STAGE_COMPUTE, rest, &waits),
			 USC_LOAD_DONE);
	for (i = 0; i < 3; i++) {
		assert_int_equal(load(fx, insns, &under_way, &more), USC_LOAD_WAIT);
		host.now += USC_LOAD_PATIENCE_NS - 1;
		fx_put(fx, small);
		assert_int_equal(load(fx, insns, &under_way, &more), USC_LOAD_WAIT);
		assert_int_equal(host.deadline, host.now + USC_LOAD_PATIENCE_NS);
		small = fx_program(fx, code, 2, &limits);
	}
	fx_put(fx, small);
	usc_load_drop(fx->cache, under_way);
	usc_cache_release(fx->cache, USC_STAGE_COMPUTE, rest);
}

/* A complete share. */
static void take_share(struct fixture *fx, u32 stage, u64 bytes)
{
	bool waits = false;

	assert_int_equal(usc_cache_reserve(fx->cache, stage, bytes, &waits), USC_LOAD_DONE);
	assert_false(waits);
}

/* Load distinct programs of maximum length for a stage. */
static u32 load_longest(struct fixture *fx, u32 stage, struct usc_program **held, u32 most)
{
	enum usc_load_result result = USC_LOAD_DONE;
	struct usc_load *under_way = NULL;
	u32 n;

	for (n = 0; n < most && result == USC_LOAD_DONE; n += result == USC_LOAD_DONE) {
		write_code((u32 *)(void *)fx->code, PUMICE_USC_MAX_INSNS, stage << 8 | n);
		do
			result = load_for(fx, stage, PUMICE_USC_MAX_INSNS, &under_way, &held[n]);
		while (result == USC_LOAD_MORE);
	}
	usc_load_drop(fx->cache, under_way);
	return n;
}

/* If one stage uses all it can get, the others still have room for their needs. */
static void usc_programs_of_one_data_master_do_not_use_shares_of_others(void **state)
{
	enum { SHARES = 5 };
	static const u32 stage[SHARES] = {
		USC_STAGE_COMPUTE, USC_STAGE_VERTEX, USC_STAGE_FRAGMENT, USC_STAGE_DEFERRED,
		USC_STAGE_HIT,
	};
	static const u32 longest[SHARES] = { 1, 2, 3, 1, 3 };
	struct host host = { .now = 1000 };
	struct fixture *fx = *state;
	u32 last, n, i;

	usc_program_cache_set_ops(fx->cache, &host_ops, &host);
	for (last = 0; last < SHARES; last++) {
		struct usc_program *held[SHARES][MANY];
		u32 count[SHARES];

		for (i = 1; i <= SHARES; i++) {
			n = (last + i) % SHARES;
			host.waits = 0;
			count[n] = load_longest(fx, stage[n], held[n],
						n == last ? longest[n] : MANY);
			assert_in_range(count[n], longest[n], MANY - 1);
			assert_int_equal(host.waits, n != last);
			assert_true(usc_program_cache_bytes(fx->cache) <= USC_CACHE_BYTES);
		}
		/* End-of-tile programs count for the PDM. */
		host.waits = 0;
		if (last != 2)
			load_longest(fx, USC_STAGE_TILE, held[last] + count[last], 1);
		assert_int_equal(host.waits, last != 2);
		for (n = 0; n < SHARES; n++)
			while (count[n])
				fx_put(fx, held[n][--count[n]]);
	}
}

/* A load without room is notified of room freed before it starts to wait. */
static void usc_room_is_reported_to_all_failed_loads(void **state)
{
	struct host host = { .now = 1000 };
	bool first = false, second = false;
	struct fixture *fx = *state;

	usc_program_cache_set_ops(fx->cache, &host_ops, &host);
	take_share(fx, USC_STAGE_COMPUTE, USC_CACHE_CDM_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_COMPUTE, 1);
	assert_int_equal(host.rooms, 0);
	assert_int_equal(usc_cache_reserve(fx->cache, USC_STAGE_COMPUTE, 2, &first),
			 USC_LOAD_WAIT);
	assert_int_equal(usc_cache_reserve(fx->cache, USC_STAGE_COMPUTE, 2, &second),
			 USC_LOAD_WAIT);
	assert_true(first && second);
	usc_cache_release(fx->cache, USC_STAGE_COMPUTE, 1);
	assert_int_equal(host.rooms, 1);
	assert_int_equal(usc_cache_reserve(fx->cache, USC_STAGE_COMPUTE, 2, &first),
			 USC_LOAD_DONE);
	assert_false(first);
	/* One still waits; then none. */
	usc_cache_release(fx->cache, USC_STAGE_COMPUTE, 1);
	assert_int_equal(host.rooms, 2);
	usc_cache_wait_end(fx->cache);
	usc_cache_release(fx->cache, USC_STAGE_COMPUTE, USC_CACHE_CDM_BYTES - 1);
	assert_int_equal(host.rooms, 2);
	assert_int_equal(usc_program_cache_bytes(fx->cache), 0);
}

/* Room for the words, not for the program: others could have the room for words. */
static void usc_waiting_load_reserves_nothing(void **state)
{
	const u64 taken = USC_CACHE_CDM_BYTES - (2u << 20);
	struct host host = { .now = 1000 };
	struct usc_program *program = NULL;
	struct usc_load *under_way = NULL;
	struct fixture *fx = *state;
	enum usc_load_result result;
	bool waits = false;

	usc_program_cache_set_ops(fx->cache, &host_ops, &host);
	usc_cache_reserve(fx->cache, USC_STAGE_COMPUTE, taken, &waits);
	write_code((u32 *)(void *)fx->code, PUMICE_USC_MAX_INSNS, 5);
	do
		result = load(fx, PUMICE_USC_MAX_INSNS, &under_way, &program);
	while (result == USC_LOAD_MORE);
	assert_int_equal(result, USC_LOAD_WAIT);
	assert_int_equal(usc_program_cache_bytes(fx->cache), taken);
	usc_cache_release(fx->cache, USC_STAGE_COMPUTE, taken);
	do
		result = load(fx, PUMICE_USC_MAX_INSNS, &under_way, &program);
	while (result == USC_LOAD_MORE);
	assert_int_equal(result, USC_LOAD_DONE);
	assert_int_equal(usc_program_cache_bytes(fx->cache), program->bytes);
	fx_put(fx, program);
}

#define SMALL 2000u

/*
 * A reservation requires the eviction of many small programs. The numbers evicted and freed per
 * call are counted, since holders of the device lock wait for it.
 */
static void usc_memory_is_evicted_in_pieces(void **state)
{
	struct fixture *fx = *state;
	u32 code[2 * PUMICE_USC_WORDS], calls = 0, n;
	struct usc_program *p = NULL, *newest;
	enum usc_load_result result;
	bool waits = false;
	u64 idle, bytes, one;

	for (n = 0; n < SMALL; n++) {
		write_code(code, 2, n);
		p = fx_program(fx, code, 2, &limits);
		assert_non_null(p);
		fx_put(fx, p);
	}
	newest = p;
	one = p->bytes;
	assert_int_equal(usc_program_cache_idle(fx->cache), SMALL * one);
	take_share(fx, USC_STAGE_COMPUTE, USC_CACHE_CDM_BYTES);
	take_share(fx, USC_STAGE_VERTEX, USC_CACHE_VDM_BYTES);
	take_share(fx, USC_STAGE_DEFERRED, USC_CACHE_DEFERRED_BYTES);
	take_share(fx, USC_STAGE_HIT, USC_CACHE_RDM_BYTES);
	do {
		bytes = usc_program_cache_bytes(fx->cache);
		usc_cache_sweep(fx->cache);
		assert_true(bytes - usc_program_cache_bytes(fx->cache) <= USC_CACHE_PIECE * one);
		idle = usc_program_cache_idle(fx->cache);
		result = usc_cache_reserve(fx->cache, USC_STAGE_TILE, USC_CACHE_PDM_BYTES, &waits);
		assert_true(idle - usc_program_cache_idle(fx->cache) <= USC_CACHE_PIECE * one);
		calls++;
		/* The most recently used ones are kept longest, and are found. */
		if (calls == SMALL / USC_CACHE_PIECE / 2) {
			assert_ptr_equal(usc_cache_find(fx->cache, newest->hash, newest->words, 2,
							&limits), newest);
			fx_put(fx, newest);
		}
	} while (result == USC_LOAD_MORE);
	assert_int_equal(result, USC_LOAD_DONE);
	assert_int_equal(calls, (SMALL + USC_CACHE_PIECE - 1) / USC_CACHE_PIECE + 1);
	assert_int_equal(usc_program_cache_bytes(fx->cache), USC_CACHE_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_COMPUTE, USC_CACHE_CDM_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_VERTEX, USC_CACHE_VDM_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_DEFERRED, USC_CACHE_DEFERRED_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_HIT, USC_CACHE_RDM_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_TILE, USC_CACHE_PDM_BYTES);
}

/*
 * Only as many as necessary are evicted; here the most recently created ones, which are
 * the first in their buckets. They are freed in pieces, for any number of them.
 */
static void usc_eviction_is_limited_to_the_necessary_programs(void **state)
{
	struct fixture *fx = *state;
	struct usc_program *made[SMALL];
	u32 code[2 * PUMICE_USC_WORDS], n;
	enum usc_load_result result;
	bool waits = false;
	u64 one, hash[SMALL];

	for (n = 0; n < SMALL; n++) {
		write_code(code, 2, n);
		made[n] = fx_program(fx, code, 2, &limits);
		assert_non_null(made[n]);
		hash[n] = made[n]->hash;
	}
	one = made[0]->bytes;
	for (n = SMALL; n--;)
		fx_put(fx, made[n]);
	take_share(fx, USC_STAGE_COMPUTE, USC_CACHE_CDM_BYTES);
	take_share(fx, USC_STAGE_VERTEX, USC_CACHE_VDM_BYTES);
	take_share(fx, USC_STAGE_DEFERRED, USC_CACHE_DEFERRED_BYTES);
	take_share(fx, USC_STAGE_HIT, USC_CACHE_RDM_BYTES);
	/* 10 have to be evicted. */
	result = usc_cache_reserve(fx->cache, USC_STAGE_TILE,
				   USC_CACHE_PDM_BYTES - (SMALL - 10) * one, &waits);
	assert_int_equal(result, USC_LOAD_MORE);
	assert_int_equal(usc_program_cache_idle(fx->cache), (SMALL - 10) * one);
	/* Half of them are; nothing is freed meanwhile, so it takes no effect. */
	for (n = 10; n < SMALL / 2; n += 10) {
		result = usc_cache_reserve(fx->cache, USC_STAGE_TILE,
					   USC_CACHE_PDM_BYTES - (SMALL - 10) * one, &waits);
		assert_int_equal(result, USC_LOAD_MORE);
	}
	for (n = SMALL / 2; n; n -= n < USC_CACHE_PIECE ? n : USC_CACHE_PIECE) {
		assert_int_equal(usc_program_cache_bytes(fx->cache),
				 USC_CACHE_BYTES - USC_CACHE_PDM_BYTES + (SMALL / 2 + n) * one);
		usc_cache_sweep(fx->cache);
	}
	for (n = 0; n < SMALL / 2; n++) {
		write_code(code, 2, n);
		assert_ptr_equal(usc_cache_find(fx->cache, hash[n], code, 2, &limits), made[n]);
		fx_put(fx, made[n]);
	}
	/* The other half is evicted too. */
	while (usc_cache_reserve(fx->cache, USC_STAGE_TILE, USC_CACHE_PDM_BYTES, &waits) ==
	       USC_LOAD_MORE)
		usc_cache_sweep(fx->cache);
	for (n = 0; n < SMALL; n++) {
		write_code(code, 2, n);
		assert_null(usc_cache_find(fx->cache, hash[n], code, 2, &limits));
	}
	assert_int_equal(usc_program_cache_bytes(fx->cache), USC_CACHE_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_COMPUTE, USC_CACHE_CDM_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_VERTEX, USC_CACHE_VDM_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_DEFERRED, USC_CACHE_DEFERRED_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_HIT, USC_CACHE_RDM_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_TILE, USC_CACHE_PDM_BYTES);
}

/* Two of three are evicted: by last use, not by creation. */
static void usc_program_that_was_used_again_is_evicted_last(void **state)
{
	struct fixture *fx = *state;
	u32 code[2 * PUMICE_USC_WORDS], n;
	struct usc_program *made[3], *again;
	bool waits = false;
	u64 one, hash[3];

	for (n = 0; n < 3; n++) {
		write_code(code, 2, n);
		made[n] = fx_program(fx, code, 2, &limits);
		assert_non_null(made[n]);
		hash[n] = made[n]->hash;
		fx_put(fx, made[n]);
	}
	one = made[0]->bytes;
	write_code(code, 2, 0);
	again = fx_program(fx, code, 2, &limits);
	assert_ptr_equal(again, made[0]);
	fx_put(fx, again);
	take_share(fx, USC_STAGE_COMPUTE, USC_CACHE_CDM_BYTES);
	take_share(fx, USC_STAGE_VERTEX, USC_CACHE_VDM_BYTES);
	take_share(fx, USC_STAGE_DEFERRED, USC_CACHE_DEFERRED_BYTES);
	take_share(fx, USC_STAGE_HIT, USC_CACHE_RDM_BYTES);
	assert_int_equal(usc_cache_reserve(fx->cache, USC_STAGE_TILE, USC_CACHE_PDM_BYTES - one,
					   &waits), USC_LOAD_MORE);
	for (n = 0; n < 3; n++) {
		write_code(code, 2, n);
		again = usc_cache_find(fx->cache, hash[n], code, 2, &limits);
		assert_ptr_equal(again, n ? NULL : made[0]);
		if (again)
			fx_put(fx, again);
	}
	usc_cache_sweep(fx->cache);
	usc_cache_release(fx->cache, USC_STAGE_COMPUTE, USC_CACHE_CDM_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_VERTEX, USC_CACHE_VDM_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_DEFERRED, USC_CACHE_DEFERRED_BYTES);
	usc_cache_release(fx->cache, USC_STAGE_HIT, USC_CACHE_RDM_BYTES);
}

/* Neither load finds the other's program in its first lookup. */
static void usc_programs_that_are_loaded_at_the_same_time_have_one_body(void **state)
{
	struct fixture *fx = *state;
	const u32 insns = 4 * USC_FETCH_PIECE;
	struct usc_load *under_way[2] = { NULL, NULL };
	struct usc_program *program[2] = { NULL, NULL };
	enum usc_load_result result[2];
	u64 before = usc_program_cache_bytes(fx->cache);
	u32 n;

	write_code((u32 *)(void *)fx->code, insns, 3);
	do {
		for (n = 0; n < 2; n++)
			result[n] = program[n] ? USC_LOAD_DONE :
				    load(fx, insns, &under_way[n], &program[n]);
	} while (result[0] == USC_LOAD_MORE || result[1] == USC_LOAD_MORE);
	assert_non_null(program[0]);
	assert_ptr_equal(program[0], program[1]);
	assert_int_equal(usc_program_cache_bytes(fx->cache), before + program[0]->bytes);
	fx_put(fx, program[0]);
	assert_int_equal(usc_program_cache_idle(fx->cache), 0);
	fx_put(fx, program[1]);
	assert_int_equal(usc_program_cache_idle(fx->cache), program[0]->bytes);
}

/* The reservation of a load covers its program, also the shortest ones. */
static void usc_no_program_exceeds_its_reservation(void **state)
{
	const struct pumice_usc_insn insns[] = {
		INSN(END),
		INSN(MOV, .dst = R(1), .mask = ALWAYS, .src0 = IMM, .imm = 7),
		INSN(MOV, .dst = R(1), .mask = IF(0), .src0 = IMM, .imm = 7),
	};
	struct fixture *fx = *state;
	u32 n;

	for (n = 0; n < sizeof(insns) / sizeof(*insns); n++) {
		u64 before = usc_program_cache_bytes(fx->cache);
		struct usc_program *p = fx_program_insns(fx, &insns[n], 1, &limits);

		assert_non_null(p);
		assert_true(p->bytes <= usc_predecode_bytes(1));
		assert_int_equal(usc_program_cache_bytes(fx->cache), before + p->bytes);
		fx_put(fx, p);
	}
}

/* 60 launches that differ in their shared registers alone: one body. */
static void usc_limits_do_not_multiply_memory(void **state)
{
	const u32 insns = PUMICE_USC_MAX_INSNS;
	u32 *code = calloc(insns * PUMICE_USC_WORDS, 4);
	struct usc_program *held[60];
	struct fixture *fx = *state;
	u64 one;

	assert_non_null(code);
	write_code(code, insns, 9);
	held[0] = fx_program(fx, code, insns, &limits);
	one = usc_program_cache_bytes(fx->cache);
	for (u32 n = 1; n < 60; n++) {
		struct usc_program_limits other = limits;

		other.shared += n;
		held[n] = fx_program(fx, code, insns, &other);
		assert_ptr_equal(held[n], held[0]);
	}
	assert_int_equal(usc_program_cache_bytes(fx->cache), one);
	for (u32 n = 0; n < 60; n++)
		fx_put(fx, held[n]);
	free(code);
}

static void usc_cache_is_bounded_and_keeps_programs_in_use(void **state)
{
	const u32 insns = 60000;
	u32 *code = calloc(insns * PUMICE_USC_WORDS, 4);
	struct fixture *fx = *state;
	struct usc_program *held;

	assert_non_null(code);
	write_code(code, insns, 0);
	held = fx_program(fx, code, insns, &limits);
	assert_non_null(held);
	/* Several times the capacity of the cache, which must keep some, and not exceed it. */
	for (u32 n = 1; n < 20; n++) {
		struct usc_program *p;

		write_code(code, insns, n);
		p = fx_program(fx, code, insns, &limits);
		assert_non_null(p);
		fx_put(fx, p);
		assert_true(usc_program_cache_idle(fx->cache) <= USC_CACHE_IDLE_BYTES);
	}
	assert_true(usc_program_cache_idle(fx->cache) > 0);
	assert_int_equal(held->pool[insns - 2], 0);
	write_code(code, insns, 0);
	assert_ptr_equal(fx_program(fx, code, insns, &limits), held);
	fx_put(fx, held);
	fx_put(fx, held);
	free(code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(usc_program_is_found_by_content_at_any_address),
		FX_TEST(usc_overwritten_code_is_another_program),
		FX_TEST(usc_program_serves_all_limits_that_it_fits),
		FX_TEST(usc_cached_program_that_does_not_fit_is_refused),
		FX_TEST(usc_cached_program_is_refused_without_its_last_register),
		FX_TEST(usc_long_program_is_loaded_in_pieces),
		FX_TEST(usc_cancelled_load_leaves_no_state),
		FX_TEST(usc_programs_in_use_are_bounded),
		FX_TEST(usc_load_waits_as_long_as_programs_end),
		FX_TEST(usc_programs_of_one_data_master_do_not_use_shares_of_others),
		FX_TEST(usc_room_is_reported_to_all_failed_loads),
		FX_TEST(usc_waiting_load_reserves_nothing),
		FX_TEST(usc_memory_is_evicted_in_pieces),
		FX_TEST(usc_eviction_is_limited_to_the_necessary_programs),
		FX_TEST(usc_program_that_was_used_again_is_evicted_last),
		FX_TEST(usc_programs_that_are_loaded_at_the_same_time_have_one_body),
		FX_TEST(usc_no_program_exceeds_its_reservation),
		FX_TEST(usc_limits_do_not_multiply_memory),
		FX_TEST(usc_cache_is_bounded_and_keeps_programs_in_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
