/* SPDX-License-Identifier: MIT */
/*
 * A target of the GDB stub without a processor: registers, 64 bytes of memory, breakpoints,
 * and the bytes that the stub has sent. Halts on request of the test.
 */
#ifndef PUMICE_TEST_FWGDB_FAKE_H
#define PUMICE_TEST_FWGDB_FAKE_H

#include "fwgdb.h"

#define FAKE_MEMORY	0x1000u	/* address */
#define FAKE_BYTES	64u
#define FAKE_BUS	0x10000000u
#define FAKE_SENT	(4 * FWGDB_PACKET)

struct fake {
	struct fwgdb *gdb;
	bool attached;
	bool halt_wanted, stepped;
	enum fwgdb_stop stop;
	u32 reg[FWGDB_REG_PC + 1];
	u32 mscratch;
	u8 memory[FAKE_BYTES];
	u32 breakpoints[4];
	u32 breakpoint_count;
	u32 resumes, detaches;
	size_t sent_bytes;	/* since fake_forget(); the rest is dropped */
	char sent[FAKE_SENT + 1];
};

extern const struct fwgdb_target fake_target;

/* A stub with a connection, in no-acknowledgement mode unless @acks. */
void fake_start(struct fake *f, bool acks);
void fake_end(struct fake *f);
/* Forget all sent bytes; send a packet with its checksum. */
void fake_packet(struct fake *f, const char *contents);
/* The processor halts. */
void fake_halt(struct fake *f, enum fwgdb_stop why);
void fake_forget(struct fake *f);

#endif
