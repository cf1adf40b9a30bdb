// SPDX-License-Identifier: MIT
/* Shared state and random values of the ioctl fuzzer. See state.h. */
#include "state.h"

#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "heaps.h"

#define RARELY	24	/* 1/N: probability of an invalid value */

/* SplitMix64. */
u64 fuzz_random(struct fuzz_rng *rng)
{
	u64 z = rng->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

u32 fuzz_below(struct fuzz_rng *rng, u32 limit)
{
	return (u32)(fuzz_random(rng) % limit);
}

bool fuzz_chance(struct fuzz_rng *rng, u32 times)
{
	return !fuzz_below(rng, times);
}

/* Values at limits, where errors are likely. */
static u64 odd_value(struct fuzz_rng *rng)
{
	static const u64 values[] = {
		0, 1, 2, 3, 0xfff, 0x1001, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffff000, 0xffffffffffffffff,
		DRM_PUMICE_MAX_BO_SIZE, DRM_PUMICE_MAX_BO_SIZE + 1, 1ull << 39, 1ull << 40,
	};

	if (fuzz_chance(rng, 3))
		return fuzz_random(rng);
	return values[fuzz_below(rng, sizeof(values) / sizeof(values[0]))];
}

u32 fuzz_flags(struct fuzz_rng *rng, u32 known)
{
	return (u32)(fuzz_chance(rng, RARELY) ? odd_value(rng) : fuzz_random(rng) & known);
}

u32 fuzz_zero(struct fuzz_rng *rng)
{
	return fuzz_flags(rng, 0);
}

/* Binding a BO of the maximum size would exhaust the guest's memory. */
u64 fuzz_pages(struct fuzz_rng *rng, u32 most)
{
	u64 odd;

	if (!fuzz_chance(rng, RARELY))
		return PAGE * (1ull + fuzz_below(rng, most));
	odd = odd_value(rng);
	return odd > PAGE * most && odd <= DRM_PUMICE_MAX_BO_SIZE ? PAGE - 1 : odd;
}

/* Includes addresses next to borders of page tables and directories. */
u64 fuzz_va(struct fuzz_rng *rng)
{
	static const u64 bases[] = {
		FX_FREE, FX_FREE + 2 * MIB, FX_FREE + GIB - 8 * PAGE, FX_FREE + 6 * GIB,
		FX_DATA,
		/* Heaps of large pages, and the borders of the first and of the last one. */
		PUMICE_HEAPS_START, PUMICE_HEAPS_START - 8 * PAGE, PUMICE_HEAPS_END - 8 * PAGE,
		PUMICE_HEAPS_END - 2 * MIB,
	};

	if (fuzz_chance(rng, RARELY))
		return odd_value(rng);
	return bases[fuzz_below(rng, sizeof(bases) / sizeof(bases[0]))] +
	       PAGE * (u64)fuzz_below(rng, 16);
}

/* Programs and streams of the fixture, mapped in every VM of the fuzzer. */
static void place_streams(struct fuzz *f)
{
	struct fixture *fx = &f->render.fx;
	u64 *streams = f->streams;

	streams[0] = fx_empty_stream(fx);
	streams[1] = fx_store_stream(fx, FX_DATA, 1);
	streams[2] = fx_copy_stream(fx, FX_DATA + PAGE, FX_DATA, 1);
	streams[3] = fx_store_stream(fx, FX_FREE, 1);
	streams[4] = transfer_fill_stream(fx, FX_DATA, 7, 64);
	streams[5] = transfer_copy_stream(fx, FX_DATA + PAGE, FX_DATA, PAGE);
	streams[6] = fx_loop_stream(fx);
	streams[7] = geometry_loop_stream(fx);
}

struct fuzz fuzz_open(void)
{
	struct fuzz f = { .render = render_open() };
	u32 i;

	f.fd = f.render.fx.fd;
	place_streams(&f);
	for (i = 0; i < FUZZ_LIVE; i++)
		f.files[i] = -1;
	f.live[FUZZ_VM][0] = f.render.fx.vm;
	f.live[FUZZ_CONTEXT][0] = f.render.fx.context;
	f.live[FUZZ_RENDER][0] = f.render.context;
	f.live[FUZZ_FREE_LIST][0] = f.render.list;
	f.live[FUZZ_HWRT][0] = f.render.hwrt;
	for (i = 0; i < FUZZ_LIVE / 2; i++)
		f.live[FUZZ_SYNC][i] = need_signaled_sync(f.fd);
	return f;
}

void fuzz_close(struct fuzz *f)
{
	u32 i;

	for (i = 0; i < FUZZ_LIVE; i++)
		if (f->files[i] >= 0)
			close(f->files[i]);
	fx_close(&f->render.fx);
}

static u32 *slot_of(struct fuzz *f, struct fuzz_rng *rng, enum fuzz_kind kind)
{
	return &f->live[kind][fuzz_below(rng, FUZZ_LIVE)];
}

u32 fuzz_select(struct fuzz *f, struct fuzz_rng *rng, enum fuzz_kind kind)
{
	u32 tries, handle;

	if (fuzz_chance(rng, RARELY))
		return (u32)odd_value(rng);
	for (tries = 0; tries < 2 * FUZZ_LIVE; tries++) {
		handle = __atomic_load_n(slot_of(f, rng, kind), __ATOMIC_RELAXED);
		if (handle)
			return handle;
	}
	return 0;
}

u32 fuzz_keep(struct fuzz *f, struct fuzz_rng *rng, enum fuzz_kind kind, u32 handle)
{
	return __atomic_exchange_n(slot_of(f, rng, kind), handle, __ATOMIC_RELAXED);
}

u32 fuzz_take(struct fuzz *f, struct fuzz_rng *rng, enum fuzz_kind kind)
{
	u32 tries, handle = 0;

	for (tries = 0; !handle && tries < FUZZ_LIVE / 2; tries++)
		handle = fuzz_keep(f, rng, kind, 0);
	return handle;
}

int fuzz_swap_file(struct fuzz *f, struct fuzz_rng *rng, int file)
{
	return __atomic_exchange_n(&f->files[fuzz_below(rng, FUZZ_LIVE)], file,
				   __ATOMIC_RELAXED);
}
