// SPDX-License-Identifier: MIT
/* Fixture of the tests of the PTLA. See rig.h. */
#include "rig.h"

#include <string.h>

#include "pumice_names.h"

static void ended(void *opaque, enum dm_end end)
{
	struct rig *rig = opaque;

	assert_true(rig->locked);
	rig->ends++;
	rig->end = end;
}

static u64 now(void *opaque)
{
	struct rig *rig = opaque;

	assert_true(rig->locked);
	return rig->clock += 10;
}

static void lock(void *opaque)
{
	struct rig *rig = opaque;

	pthread_mutex_lock(&rig->mutex);
	assert_false(rig->locked);
	rig->locked = true;
}

static void unlock(void *opaque)
{
	struct rig *rig = opaque;

	assert_true(rig->locked);
	rig->locked = false;
	pthread_mutex_unlock(&rig->mutex);
}

static void wake(void *opaque, unsigned int unit)
{
	struct rig *rig = opaque;

	assert_true(unit < PTLA_UNITS);
	rig->wakes[unit]++;
}

static const struct dm_ops ops = {
	.ended = ended, .now = now, .lock = lock, .unlock = unlock, .wake = wake,
};

void rig_setup(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	pthread_mutex_init(&rig->mutex, NULL);
	rig->tm = testmem_create(TESTMEM_SIZE);
	testmem_bind(rig->tm, &rig->mmu);
	rig->stream = testmem_map(rig->tm, CTX, STREAM, 4096, PUMICE_PAGE_SIZE_4K, 0);
	rig->structures = testmem_map(rig->tm, CTX, STATE, 4096, PUMICE_PAGE_SIZE_4K, 0);
	rig->data = testmem_map(rig->tm, CTX, DATA, BYTES, PUMICE_PAGE_SIZE_4K, 0);
	rig->ptla = ptla_create(&rig->mmu, &ops, rig);
	assert_non_null(rig->ptla);
	rig->seed = 1;
}

void rig_teardown(struct rig *rig)
{
	ptla_destroy(rig->ptla);
	testmem_destroy(rig->tm);
	pthread_mutex_destroy(&rig->mutex);
}

u32 *rig_command(struct rig *rig, u32 words)
{
	u32 *at = rig->stream + rig->words;

	rig->words += words;
	assert_true(rig->words <= 1024);
	return at;
}

void rig_halt(struct rig *rig)
{
	const struct pumice_tdm_halt halt = { 0 };

	pumice_tdm_halt_pack(rig_command(rig, PUMICE_TDM_HALT_WORDS), &halt);
}

void rig_copy(struct rig *rig, u64 dst, u64 src, u32 bytes)
{
	const struct pumice_tdm_copy copy = { .src = src, .dst = dst, .bytes = bytes };

	pumice_tdm_copy_pack(rig_command(rig, PUMICE_TDM_COPY_WORDS), &copy);
}

u64 rig_texture(struct rig *rig, u32 n, const struct pumice_texture *texture)
{
	pumice_texture_pack(rig->structures + n * PUMICE_TEXTURE_WORDS, texture);
	return STATE + n * PUMICE_TEXTURE_WORDS * sizeof(u32);
}

void rig_start(struct rig *rig)
{
	const struct dm_job job = { .ctx = CTX, .stream = STREAM, .tag = 1 };

	rig->ends = 0;
	lock(rig);
	assert_true(ptla_start(rig->ptla, &job));
	assert_true(ptla_status(rig->ptla)->busy);
	assert_false(ptla_start(rig->ptla, &job));
	unlock(rig);
}

void rig_run(struct rig *rig)
{
	static const _Atomic bool stop;
	u32 steps = 0;

	rig_start(rig);
	while (!rig->ends) {
		ptla_step(rig->ptla, steps % PTLA_UNITS, &stop);
		assert_true(++steps < 1000000);
	}
	assert_int_equal(rig->ends, 1);
	for (u32 unit = 0; unit < PTLA_UNITS; unit++)
		assert_false(ptla_step(rig->ptla, unit, &stop));
	assert_int_equal(rig->ends, 1);
	rig->words = 0;
}

const struct gpu_fault *rig_fault(const struct rig *rig)
{
	return &ptla_status(rig->ptla)->fault;
}

void rig_expect(struct rig *rig, enum pumice_fault fault, u64 addr, const char *what)
{
	rig_run(rig);
	if (rig->end != DM_FAULT || rig_fault(rig)->fault != fault)
		fail_msg("%s: end %d, %s, not %s", what, rig->end,
			 pumice_fault_str(rig_fault(rig)->fault), pumice_fault_str(fault));
	assert_int_equal(rig_fault(rig)->unit, PUMICE_UNIT_PTLA);
	assert_int_equal(rig_fault(rig)->ctx, CTX);
	assert_int_equal(rig_fault(rig)->addr, addr);
	assert_false(ptla_status(rig->ptla)->busy);
}

void rig_expect_done(struct rig *rig)
{
	rig_run(rig);
	if (rig->end != DM_DONE)
		fail_msg("end %d: %s at %llx", rig->end, pumice_fault_str(rig_fault(rig)->fault),
			 (unsigned long long)rig_fault(rig)->addr);
	assert_int_equal(rig_fault(rig)->fault, PUMICE_FAULT_NONE);
}
