// SPDX-License-Identifier: MIT
/* Fixture of the tests of the PTLA. See fixture.h. */
#include "fixture.h"

#include <string.h>

#include "pumice_names.h"

static void ended(void *opaque, enum dm_end end)
{
	struct fixture *fx = opaque;

	assert_true(fx->locked);
	fx->ends++;
	fx->end = end;
}

static void flipped(void *opaque)
{
	struct fixture *fx = opaque;

	assert_true(fx->locked);
	fx->flips++;
	if (fx->at_flip)
		fx->at_flip(fx);
}

static u64 now(void *opaque)
{
	struct fixture *fx = opaque;

	assert_true(fx->locked);
	return fx->clock += 10;
}

static void lock(void *opaque)
{
	struct fixture *fx = opaque;

	pthread_mutex_lock(&fx->mutex);
	assert_false(fx->locked);
	fx->locked = true;
}

static void unlock(void *opaque)
{
	struct fixture *fx = opaque;

	assert_true(fx->locked);
	fx->locked = false;
	pthread_mutex_unlock(&fx->mutex);
}

static void wake(void *opaque, unsigned int unit)
{
	struct fixture *fx = opaque;

	assert_true(unit < PTLA_UNITS);
	fx->wakes[unit]++;
}

static const struct dm_ops ops = {
	.ended = ended, .flipped = flipped, .now = now, .lock = lock, .unlock = unlock,
	.wake = wake,
};

void fx_setup(struct fixture *fx)
{
	memset(fx, 0, sizeof(*fx));
	pthread_mutex_init(&fx->mutex, NULL);
	fx->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(fx->tm, &fx->mmu);
	fx->stream = testmem_map(fx->tm, CTX, STREAM, 4096, PUMICE_PAGE_SIZE_4K, 0);
	fx->structures = testmem_map(fx->tm, CTX, STATE, 4096, PUMICE_PAGE_SIZE_4K, 0);
	fx->data = testmem_map(fx->tm, CTX, DATA, BYTES, PUMICE_PAGE_SIZE_4K, 0);
	fx->ptla = ptla_create(&fx->mmu, &ops, fx, NULL);
	assert_non_null(fx->ptla);
	fx->seed = 1;
}

void fx_teardown(struct fixture *fx)
{
	ptla_destroy(fx->ptla);
	testmem_destroy(fx->tm);
	pthread_mutex_destroy(&fx->mutex);
}

u32 *fx_command(struct fixture *fx, u32 words)
{
	u32 *at = fx->stream + fx->words;

	fx->words += words;
	assert_true(fx->words <= 1024);
	return at;
}

void fx_halt(struct fixture *fx)
{
	const struct pumice_tdm_halt halt = { 0 };

	pumice_tdm_halt_pack(fx_command(fx, PUMICE_TDM_HALT_WORDS), &halt);
}

void fx_copy(struct fixture *fx, u64 dst, u64 src, u32 bytes)
{
	const struct pumice_tdm_copy copy = { .src = src, .dst = dst, .bytes = bytes };

	pumice_tdm_copy_pack(fx_command(fx, PUMICE_TDM_COPY_WORDS), &copy);
}

u64 fx_texture(struct fixture *fx, u32 n, const struct pumice_texture *texture)
{
	pumice_texture_pack(fx->structures + n * PUMICE_TEXTURE_WORDS, texture);
	return STATE + n * PUMICE_TEXTURE_WORDS * sizeof(u32);
}

void fx_lock(struct fixture *fx)
{
	lock(fx);
}

void fx_unlock(struct fixture *fx)
{
	unlock(fx);
}

void fx_start(struct fixture *fx)
{
	const struct dm_job job = {
		.ctx = CTX, .stream = STREAM, .tag = 1, .presents = fx->presents,
	};

	fx->ends = 0;
	lock(fx);
	assert_true(ptla_start(fx->ptla, &job));
	assert_true(ptla_status(fx->ptla)->busy);
	assert_false(ptla_start(fx->ptla, &job));
	unlock(fx);
}

void fx_run(struct fixture *fx)
{
	static const _Atomic bool stop;
	u32 steps = 0;

	fx_start(fx);
	while (!fx->ends) {
		ptla_step(fx->ptla, steps % PTLA_UNITS, &stop);
		assert_true(++steps < 1000000);
	}
	assert_int_equal(fx->ends, 1);
	for (u32 unit = 0; unit < PTLA_UNITS; unit++)
		assert_false(ptla_step(fx->ptla, unit, &stop));
	assert_int_equal(fx->ends, 1);
	fx->words = 0;
}

const struct gpu_fault *fx_fault(const struct fixture *fx)
{
	return &ptla_status(fx->ptla)->fault;
}

void fx_expect(struct fixture *fx, enum pumice_fault fault, u64 addr, const char *what)
{
	fx_run(fx);
	if (fx->end != DM_FAULT || fx_fault(fx)->fault != fault)
		fail_msg("%s: end %d, %s, not %s", what, fx->end,
			 pumice_fault_str(fx_fault(fx)->fault), pumice_fault_str(fault));
	assert_int_equal(fx_fault(fx)->unit, PUMICE_UNIT_PTLA);
	assert_int_equal(fx_fault(fx)->ctx, CTX);
	assert_int_equal(fx_fault(fx)->addr, addr);
	assert_false(ptla_status(fx->ptla)->busy);
}

void fx_expect_done(struct fixture *fx)
{
	fx_run(fx);
	if (fx->end != DM_DONE)
		fail_msg("end %d: %s at %llx", fx->end, pumice_fault_str(fx_fault(fx)->fault),
			 (unsigned long long)fx_fault(fx)->addr);
	assert_int_equal(fx_fault(fx)->fault, PUMICE_FAULT_NONE);
}
