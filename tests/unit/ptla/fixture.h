/* SPDX-License-Identifier: MIT */
/* Fixture of the tests of the PTLA: a PTLA, memory, a stream, and a checked device lock. */
#ifndef PUMICE_TEST_PTLA_FIXTURE_H
#define PUMICE_TEST_PTLA_FIXTURE_H

#include "cmocka_all.h"

#include <pthread.h>

#include "../../../qemu-device/gpu/ptla/ptla.h"
#include "../tag/model.h"
#include "../tag/rand.h"
#include "testmem.h"

#define CTX 2u
#define STREAM 0x100000ull	/* a page of commands */
#define STATE 0x101000ull	/* a page of texture structures */
#define DATA 0x800000ull	/* BYTES of data */
#define BYTES (6u << 20)

struct fixture {
	struct testmem *tm;
	struct mmu mmu;
	struct ptla *ptla;
	u64 seed;
	u32 *stream, *structures;
	u8 *data;
	u32 words;		/* of the stream so far */
	u32 presents;		/* that the next job announces */

	/* Recorded callbacks. */
	pthread_mutex_t mutex;
	bool locked;
	u32 wakes[PTLA_UNITS];
	u32 ends;
	enum dm_end end;
	u32 flips;
	void (*at_flip)(struct fixture *fx);	/* with the lock held; or NULL */
	u64 clock;
};

void fx_setup(struct fixture *fx);
void fx_teardown(struct fixture *fx);

/* Append a command; HALT ends the stream. */
u32 *fx_command(struct fixture *fx, u32 words);
void fx_halt(struct fixture *fx);
void fx_copy(struct fixture *fx, u64 dst, u64 src, u32 bytes);
/* Write texture structure number n; return its address. */
u64 fx_texture(struct fixture *fx, u32 n, const struct pumice_texture *texture);

/* X(field, value): values that make a twiddled 2D texture malformed. */
#define FX_MALFORMED(X) \
	X(format, PUMICE_FORMAT_NONE) \
	X(format, PUMICE_FORMAT_COUNT) \
	X(layout, 3) \
	X(dim, 7) \
	X(dim, PUMICE_TEXTURE_DIM_CUBE) \
	X(levels, 0) \
	X(levels, 8) \
	X(width, 8192) \
	X(height, 8192) \
	X(depth, 2048) \
	X(stride, 256) \
	X(swizzle_r, 6) \
	X(swizzle_g, 6) \
	X(swizzle_b, 6) \
	X(swizzle_a, 6)

/* Acquire and release the device lock. */
void fx_lock(struct fixture *fx);
void fx_unlock(struct fixture *fx);
/* Start the stream. */
void fx_start(struct fixture *fx);
/* Step the units round robin until the job has ended; then empty the stream. */
void fx_run(struct fixture *fx);
const struct gpu_fault *fx_fault(const struct fixture *fx);
/* Run and expect a fault of the PTLA. */
void fx_expect(struct fixture *fx, enum pumice_fault fault, u64 addr, const char *what);
/* Run and expect success. */
void fx_expect_done(struct fixture *fx);

#endif
