// SPDX-License-Identifier: MIT
/*
 * A GPU with threads, and a second processor of the guest that modifies memory concurrently with
 * the GPU's reads: control streams, state, programs, page tables, free lists, scenes, client
 * CCBs and contexts. Each word changes to another value and back, so that jobs make progress,
 * and a double fetch returns different values. Meanwhile the host kicks, reads registers, parks,
 * resets and boots.
 *
 * Rules: those of oracle.h, no report of a sanitizer, and finally, after SYS_RESET,
 * the real firmware boots on the same GPU and runs a job. The results of jobs are not checked,
 * and runs are not deterministic.
 *
 * The files of this program are compiled without ThreadSanitizer, since the guest is
 * another machine: only the device is instrumented, and libraries of tests (oracle.c, testmem.c).
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "frame.h"
#include "oracle.h"

#define AREAS		24u
#define JOBS		3u
#define MAX_STEPS	64u	/* of the host, in one input */
#define NAP_NS		20000u

/* Words that the other processor changes. */
struct area {
	u32 *word;
	u32 words;
};

struct race {
	struct fixture *r;
	struct frame frame;
	struct fx_vm vm[JOBS];
	struct fx_context job[JOBS];
	struct area area[AREAS];
	u32 areas;
	u64 random;
	_Atomic bool stop;
	pthread_t mutator;
};

/* xorshift64* */
static u32 random32(struct race *race)
{
	race->random ^= race->random >> 12;
	race->random ^= race->random << 25;
	race->random ^= race->random >> 27;
	return (u32)(race->random * 0x2545f4914f6cdd1dull >> 32);
}

/* Return a value for a word: some of its bits changed, a limit, or another word of the area. */
static u32 other(struct race *race, const struct area *a, u32 old)
{
	switch (random32(race) % 4) {
	case 0:
		return old ^ 1u << random32(race) % 32;
	case 1:
		return random32(race) % 2 ? UINT32_MAX : 0;
	case 2:
		return __atomic_load_n(&a->word[random32(race) % a->words], __ATOMIC_RELAXED);
	default:
		return random32(race);
	}
}

static void *mutate(void *opaque)
{
	struct race *race = opaque;

	while (!atomic_load_explicit(&race->stop, memory_order_relaxed)) {
		const struct area *a = &race->area[random32(race) % race->areas];
		u32 *word = &a->word[random32(race) % a->words], times = random32(race) % 64;
		const u32 old = __atomic_load_n(word, __ATOMIC_RELAXED);
		const u32 bad = other(race, a, old);

		while (times--) {
			__atomic_store_n(word, bad, __ATOMIC_RELAXED);
			__atomic_store_n(word, old, __ATOMIC_RELAXED);
		}
		if (random32(race) % 16 == 0)
			__atomic_store_n(word, bad, __ATOMIC_RELAXED);
		sched_yield();
	}
	return NULL;
}

static void add(struct race *race, void *word, u32 bytes)
{
	FUZZ_CHECK(race->areas < AREAS, "more areas");
	race->area[race->areas++] = (struct area){ word, bytes / 4 };
}

static void add_all(struct race *race)
{
	struct frame *f = &race->frame;
	u32 i;

	add(race, f->vm.stream, 64);
	add(race, f->vm.code, 4096);
	add(race, f->page[FRAME_STATE], (FRAME_LIST + 1) * FRAME_RECORD_BYTES);
	add(race, f->page[FRAME_DATA], 4096);
	add(race, f->page[FRAME_TEXELS], 1024);
	add(race, f->page[FRAME_REGIONS], 64);
	add(race, f->page[FRAME_BUFFER], 4 * 4096);
	add(race, f->vm.pt, FRAME_VM_PAGES * 8);
	add(race, f->list, PUMICE_FREE_LIST_WORDS * 4);
	add(race, f->links, FRAME_PAGES * 4);
	add(race, f->scene, PUMICE_SCENE_WORDS * 4);
	add(race, f->geometry.f, sizeof(*f->geometry.f));
	add(race, f->fragment.cccb, 256);
	for (i = 0; i < JOBS; i++) {
		add(race, race->vm[i].stream, 64);
		add(race, race->vm[i].code, 128);
		add(race, race->job[i].cccb, 256);
	}
}

/* Write a command if the ring has space; its contents may be arbitrary by now. */
static void put(struct fixture *r, const struct fwif_kccb_cmd *cmd)
{
	const u32 entry = __atomic_load_n(&r->kccb_ring->write, __ATOMIC_RELAXED) % FX_KCCB;
	const u32 next = (entry + 1) % FX_KCCB;

	if (next == __atomic_load_n(&r->kccb_ring->read, __ATOMIC_ACQUIRE))
		return;
	r->kccb[entry] = *cmd;
	__atomic_store_n(&r->kccb_ring->write, next, __ATOMIC_RELEASE);
	fx_kick(r);
}

static void nap(u32 times)
{
	const struct timespec t = { .tv_nsec = (long)NAP_NS * times };

	nanosleep(&t, NULL);
}

/* Submit one more job of a context, or kill the context. */
static void command(struct race *race, struct fuzz *f)
{
	struct fx_context *c = &race->job[fuzz_below(f, JOBS)];
	struct fwif_kccb_cmd cmd = { .type = FWIF_KCCB_KICK, .context = c->addr };

	if (fuzz_below(f, 8) == 1) {
		cmd.type = FWIF_KCCB_CONTEXT_KILL;
	} else {
		fx_compute(c, FX_STREAM_VA, fuzz_u8(f));
		cmd.write = c->write;
	}
	put(race->r, &cmd);
}

static void boot(struct fixture *r)
{
	const u32 off = 0, run = PUMICE_FW_CTRL__RUN__MASK;

	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_FW_CTRL, off, 4);
	pumice_gpu_mmio_write(r->gpu, 0, PUMICE_FW_CTRL, run, 4);
}

static void host_does(struct race *race, struct fuzz *f)
{
	struct fixture *r = race->r;

	switch (fuzz_below(f, 12)) {
	case 0:
		pumice_gpu_park(r->gpu);
		pumice_gpu_unpark(r->gpu);
		break;
	case 1:
		boot(r);
		break;
	case 2:
		pumice_gpu_set_memory(r->gpu, testmem_region(r->tm), 1);
		break;
	case 3:
		pumice_gpu_mmio_write(r->gpu, 0, PUMICE_MMU_INVAL, 1, 4);
		break;
	case 4:
		pumice_gpu_mmio_write(r->gpu, 0, PUMICE_WAVE_CTRL, PUMICE_WAVE_CTRL__CDM__MASK, 4);
		break;
	case 5:
		pumice_gpu_mmio_read(r->gpu, 0, PUMICE_DBG_CDM_STATUS, 4);
		break;
	case 6:
	case 7:
	case 8:
		command(race, f);
		break;
	default:
		nap(fuzz_below(f, 16));
		break;
	}
}

static void create(struct race *race, struct fuzz *f)
{
	const u32 threads = 1 + fuzz_below(f, 3);
	struct fixture *r = fx_create_threads(threads);
	u32 i;

	race->r = r;
	race->random = fuzz_u32(f) | 1;
	FUZZ_CHECK(fx_boot(r) == FWIF_STATE_READY, "the firmware does not boot");
	frame_make(r, &race->frame, FRAME_PAGES);
	for (i = 0; i < JOBS; i++) {
		fx_vm(r, &race->vm[i]);
		if (i)
			fx_vm_groups(&race->vm[i], 64, fuzz_u8(f), fuzz_below(f, 4) == 1);
		else
			fx_vm_endless(&race->vm[i]);
		fx_context(r, &race->vm[i], fuzz_below(f, 3), &race->job[i]);
	}
	add_all(race);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	struct race race = { 0 };
	u32 steps = 0;

	create(&race, &f);
	frame_submit(race.r, &race.frame);
	frame_open(race.r, &race.frame);
	FUZZ_CHECK(!pthread_create(&race.mutator, NULL, mutate, &race), "no thread");
	while (fuzz_more(&f) && steps++ < MAX_STEPS)
		host_does(&race, &f);
	nap(50);
	atomic_store(&race.stop, true);
	pthread_join(race.mutator, NULL);
	host_check_recovery(race.r->gpu, race.r->threads);
	fx_destroy(race.r);
	return 0;
}
