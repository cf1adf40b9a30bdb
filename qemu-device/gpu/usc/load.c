// SPDX-License-Identifier: MIT
/*
 * Loads of USC programs: fetch, look up in the cache, check and predecode; a piece in each
 * call.
 *
 * The words are copied once, and the copy is hashed, checked and run. Memory for the copy is
 * reserved first, and, unless the program is in the cache, memory for the largest form of
 * this number of instructions; unused memory is returned afterwards. So loads are charged,
 * too, and a program in use can be loaded again even if it occupies all memory.
 *
 * In mode fast a program that was loaded from the same source before is not fetched at all, until
 * the code may have changed (struct usc_source). In detailed modes each fetch is a request.
 *
 * A waiting load has no memory: one without room for the second part drops its copy, and then
 * needs room for both at once.
 *
 * Limits: two units that load the same program at the same time both decode it; the second
 * one uses the first one's result.
 */
#include <stdlib.h>

#include "program.h"

struct usc_load {
	struct usc_source source;
	u64 reserved;		/* bytes, 0: none yet */
	bool whole;		/* for the program, too */
	bool waits;		/* waits for memory; recorded in the cache */
	u64 deadline;		/* of the wait, or 0 */
	u64 ended;		/* programs that had become idle at the start of the wait */
	u32 *words;		/* the copy; owned by the program once that is complete */
	u32 fetched;		/* fetched instructions */
	u64 seed, hash;		/* hash of those */
	struct usc_program *program;	/* under construction */
	u32 decoded;		/* decoded instructions */
};

/* Mix every word into 64 bits. The hash only spreads: equality is always compared in full. */
static u64 hash_words(u64 hash, const u32 *words, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		hash = (hash ^ words[n]) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

static u64 code_bytes(u32 insns)
{
	return (u64)insns * PUMICE_USC_WORDS * sizeof(u32);
}

void usc_load_drop(struct usc_program_cache *cache, struct usc_load *load)
{
	if (!load)
		return;
	if (load->waits)
		usc_cache_wait_end(cache);
	/* The device lock may be held: large memory is freed later. */
	if (load->program) {
		load->program->words = load->words;
		usc_cache_free_later(cache, load->program, load->reserved);
	} else {
		free(load->words);
		if (load->reserved)
			usc_cache_release(cache, load->source.limits.stage, load->reserved);
	}
	free(load);
}

static enum usc_load_result refuse(struct gpu_fault *fault, enum pumice_fault why)
{
	fault->fault = (u8)why;
	return USC_LOAD_FAULT;
}

/* Reserve and allocate the copy of the words. MORE: call again. */
static enum usc_load_result reserve(struct usc_program_cache *cache, struct usc_load *load,
				    u32 insns, struct gpu_fault *fault)
{
	const u64 bytes = load->whole ? usc_predecode_bytes(insns) : code_bytes(insns);
	const u64 ended = usc_cache_ended(cache, load->source.limits.stage);
	enum usc_load_result result;
	bool late;

	/*
	 * The job proceeds: another core may have reserved the memory, or it may not suffice
	 * yet.
	 */
	if (ended != load->ended)
		load->deadline = 0;
	load->ended = ended;
	late = load->deadline && usc_cache_late(cache, load->deadline);
	result = usc_cache_reserve(cache, load->source.limits.stage, bytes, &load->waits);
	if (result == USC_LOAD_WAIT) {
		if (!late)
			load->deadline = usc_cache_wait(cache, load->deadline);
		if (late || !load->deadline)
			return refuse(fault, PUMICE_FAULT_USC_MEMORY);
	}
	if (result != USC_LOAD_DONE)
		return result;
	load->reserved = bytes;
	load->fetched = 0;
	load->hash = load->seed;
	load->words = malloc(code_bytes(insns));
	return load->words ? USC_LOAD_MORE : refuse(fault, PUMICE_FAULT_USC_MEMORY);
}

/*
 * Reserve memory for the program in addition to its words. DONE, or MORE: call again, from
 * the start.
 */
static enum usc_load_result reserve_rest(struct usc_program_cache *cache, struct usc_load *load,
					 u32 insns)
{
	const u64 bytes = usc_predecode_bytes(insns) - load->reserved;

	if (load->whole)
		return USC_LOAD_DONE;
	switch (usc_cache_reserve(cache, load->source.limits.stage, bytes, &load->waits)) {
	case USC_LOAD_DONE:
		load->reserved += bytes;
		load->whole = true;
		return USC_LOAD_DONE;
	case USC_LOAD_WAIT:
		/* It does not wait yet; the next call waits. */
		usc_cache_wait_end(cache);
		load->waits = false;
		free(load->words);
		load->words = NULL;
		usc_cache_release(cache, load->source.limits.stage, load->reserved);
		load->reserved = 0;
		load->whole = true;
		break;
	default:
		break;
	}
	return USC_LOAD_MORE;
}

struct place {
	struct mmu *mmu;
	struct mmu_tlb *tlb;
	unsigned int ctx;
	u64 addr;
	u32 insns;
};

static enum usc_load_result fetch(struct usc_load *load, const struct place *at,
				  struct gpu_fault *fault)
{
	u32 *to = load->words + (size_t)load->fetched * PUMICE_USC_WORDS;
	u32 count = at->insns - load->fetched;

	if (count > USC_FETCH_PIECE)
		count = USC_FETCH_PIECE;
	if (!mmu_read(at->mmu, at->tlb, at->ctx, at->addr + code_bytes(load->fetched), to,
		      code_bytes(count), PUMICE_ACCESS_EXEC, PUMICE_UNIT_USC_CODE, fault))
		return USC_LOAD_FAULT;
	load->hash = hash_words(load->hash, to, (size_t)count * PUMICE_USC_WORDS);
	load->fetched += count;
	return USC_LOAD_MORE;
}

static enum usc_load_result decode(struct usc_load *load, const struct place *at,
				   struct gpu_fault *fault)
{
	u32 end = at->insns - load->decoded > USC_DECODE_PIECE ? load->decoded + USC_DECODE_PIECE :
								 at->insns;
	enum pumice_fault why = usc_predecode(load->program, load->words, &load->decoded, end);

	if (why == PUMICE_FAULT_NONE)
		return USC_LOAD_MORE;
	fault->pc = load->decoded;
	fault->addr = at->addr + code_bytes(load->decoded);
	return refuse(fault, why);
}

/* The whole code is fetched: look it up in the cache, else begin decoding. */
static enum usc_load_result look_up(struct usc_program_cache *cache, struct usc_load *load,
				    const struct place *at,
				    const struct usc_program_limits *limits,
				    struct usc_program **program, struct gpu_fault *fault)
{
	*program = usc_cache_find(cache, load->hash, load->words, at->insns, limits);
	if (*program)
		return USC_LOAD_DONE;
	if (reserve_rest(cache, load, at->insns) != USC_LOAD_DONE)
		return USC_LOAD_MORE;
	load->program = usc_predecode_begin(at->insns, limits);
	if (!load->program)
		return refuse(fault, PUMICE_FAULT_USC_MEMORY);
	load->program->hash = load->hash;
	return USC_LOAD_MORE;
}

static enum usc_load_result piece(struct usc_program_cache *cache, struct usc_load *load,
				  const struct place *at, const struct usc_program_limits *limits,
				  struct usc_program **program, struct gpu_fault *fault)
{
	enum usc_load_result result = USC_LOAD_MORE;
	u64 reserved;

	if (!load->words)
		result = reserve(cache, load, at->insns, fault);
	if (!load->words)
		return result;
	if (result == USC_LOAD_MORE && load->fetched < at->insns)
		result = fetch(load, at, fault);
	if (result == USC_LOAD_MORE && load->fetched == at->insns && !load->program)
		result = look_up(cache, load, at, limits, program, fault);
	if (result != USC_LOAD_MORE || !load->program)
		return result;
	result = decode(load, at, fault);
	if (result != USC_LOAD_MORE || load->decoded < at->insns)
		return result;
	usc_predecode_end(load->program, load->words);
	reserved = load->reserved;
	*program = load->program;
	load->program = NULL;
	load->words = NULL;
	load->reserved = 0;
	*program = usc_cache_insert(cache, *program, reserved);
	return USC_LOAD_DONE;
}

/* Return the source of a program as it is now: before its words are fetched. */
static struct usc_source source_of(const struct place *at, const struct usc_program_limits *limits)
{
	return (struct usc_source){
		.addr = at->addr, .ctx = at->ctx, .insns = at->insns, .limits = *limits,
		.gen = mmu_generation(at->mmu, at->ctx), .code = mmu_code_count(at->mmu, at->ctx),
	};
}

static struct usc_load *begin(const struct usc_program_cache *cache,
			      const struct usc_source *source)
{
	const u32 key[] = { source->insns, source->limits.stage };
	struct usc_load *load = calloc(1, sizeof(*load));

	if (!load)
		return NULL;
	load->source = *source;
	load->seed = hash_words(usc_cache_seed(cache), key, 2);
	return load;
}

enum usc_load_result usc_program_load(struct usc_program_cache *cache, struct mmu *mmu,
				      struct mmu_tlb *tlb, unsigned int ctx, u64 addr, u32 insns,
				      const struct usc_program_limits *limits,
				      struct usc_load **load, struct usc_program **program,
				      struct gpu_fault *fault)
{
	const struct place at = { .mmu = mmu, .tlb = tlb, .ctx = ctx, .addr = addr,
				  .insns = insns };
	const bool fast = !mmu_is_detailed(mmu);
	enum usc_load_result result;

	*fault = (struct gpu_fault){ .unit = PUMICE_UNIT_USC_CODE, .access = PUMICE_ACCESS_EXEC,
				     .ctx = (u8)ctx, .addr = addr };
	if (addr % (PUMICE_USC_WORDS * sizeof(u32)) || insns == 0 || insns > PUMICE_USC_MAX_INSNS)
		return refuse(fault, PUMICE_FAULT_USC_PROGRAM);
	if (!*load) {
		const struct usc_source source = source_of(&at, limits);

		*program = fast ? usc_cache_recall(cache, &source) : NULL;
		if (*program)
			return USC_LOAD_DONE;
		*load = begin(cache, &source);
		if (!*load)
			return refuse(fault, PUMICE_FAULT_USC_MEMORY);
	}
	usc_cache_sweep(cache);
	result = piece(cache, *load, &at, limits, program, fault);
	if (result == USC_LOAD_DONE && fast)
		usc_cache_note(cache, &(*load)->source, *program);
	if (result == USC_LOAD_DONE || result == USC_LOAD_FAULT) {
		usc_load_drop(cache, *load);
		*load = NULL;
	}
	return result;
}

struct usc_program *usc_program_get(struct usc_program_cache *cache, struct mmu *mmu,
				    struct mmu_tlb *tlb, unsigned int ctx, u64 addr, u32 insns,
				    const struct usc_program_limits *limits,
				    struct gpu_fault *fault)
{
	struct usc_program *program = NULL;
	struct usc_load *load = NULL;
	enum usc_load_result result;

	do
		result = usc_program_load(cache, mmu, tlb, ctx, addr, insns, limits,
					  &load, &program, fault);
	while (result == USC_LOAD_MORE);
	if (result == USC_LOAD_WAIT) {
		usc_load_drop(cache, load);
		fault->fault = PUMICE_FAULT_USC_MEMORY;
	}
	return result == USC_LOAD_DONE ? program : NULL;
}
