/* SPDX-License-Identifier: MIT */
/* Fixture of the tests of the PTLA: a PTLA, memory, a stream, and a checked device lock. */
#ifndef PUMICE_TEST_PTLA_RIG_H
#define PUMICE_TEST_PTLA_RIG_H

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

struct rig {
	struct testmem *tm;
	struct mmu mmu;
	struct ptla *ptla;
	u64 seed;
	u32 *stream, *structures;
	u8 *data;
	u32 words;		/* of the stream so far */

	/* Recorded callbacks. */
	pthread_mutex_t mutex;
	bool locked;
	u32 wakes[PTLA_UNITS];
	u32 ends;
	enum dm_end end;
	u64 clock;
};

void rig_setup(struct rig *rig);
void rig_teardown(struct rig *rig);

/* Append a command; HALT ends the stream. */
u32 *rig_command(struct rig *rig, u32 words);
void rig_halt(struct rig *rig);
void rig_copy(struct rig *rig, u64 dst, u64 src, u32 bytes);
/* Write texture structure number n; return its address. */
u64 rig_texture(struct rig *rig, u32 n, const struct pumice_texture *texture);

/* Start the stream. */
void rig_start(struct rig *rig);
/* Step the units round robin until the job has ended; then empty the stream. */
void rig_run(struct rig *rig);
const struct gpu_fault *rig_fault(const struct rig *rig);
/* Run and expect a fault of the PTLA. */
void rig_expect(struct rig *rig, enum pumice_fault fault, u64 addr, const char *what);
/* Run and expect success. */
void rig_expect_done(struct rig *rig);

#endif
