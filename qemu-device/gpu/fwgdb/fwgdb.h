/* SPDX-License-Identifier: MIT */
/*
 * GDB stub of the firmware processor: the remote serial protocol of GDB, as specified in the
 * GDB manual, appendix "Remote Serial Protocol". Bytes of the peer in, bytes for the peer out.
 * The owner provides the transport and the target (struct fwgdb_target).
 *
 * Understood: ? c C D g G H k m M p P s S T vCont Z0 Z1 z0 z1 and 0x03; qAttached qC qfThreadInfo
 * qRcmd qsThreadInfo qSupported qXfer:features:read QStartNoAckMode. One process with one
 * thread, 1. All else gets the empty reply, which reports the command as unsupported.
 *
 * The peer is not trusted: packets are bounded by FWGDB_PACKET; longer, truncated or unknown
 * packets get an error reply, and no input causes more than one reply of that size. GDB halts
 * the processor by ? when it connects and by 0x03; a connection alone does not affect it.
 *
 * Limits: no watchpoints, no files, no non-stop mode, no run-length encoding. Addresses of the
 * firmware bus are refused, because reading a register may change it, until `monitor mmio on`;
 * then words are read, never written.
 *
 * Locking: none; one thread at a time. The target's functions are called on that thread.
 */
#ifndef PUMICE_GPU_FWGDB_H
#define PUMICE_GPU_FWGDB_H

#include <stdbool.h>
#include <stddef.h>

#include "pumice_types.h"

/* Bytes of a packet's contents, either way; GDB is informed of it. */
#define FWGDB_PACKET	4096u

/* Registers by the numbers of the target description. */
#define FWGDB_REG_PC	32u
#define FWGDB_REG_CSR0	65u	/* and the CSR's number */

/* Reason of a halt of the processor. */
enum fwgdb_stop {
	FWGDB_RUNNING,	/* it is not halted */
	FWGDB_STOP_REQUEST,
	FWGDB_STOP_STEP,
	FWGDB_STOP_BREAKPOINT,
	FWGDB_STOP_LOCKUP,
};

/* Target. Functions return false, or fewer bytes, for a register or memory that does not exist. */
struct fwgdb_target {
	/* A peer has connected, has disconnected. The latter removes breakpoints and runs. */
	void (*attach)(void *opaque);
	void (*detach)(void *opaque);
	/* Request a halt; fwgdb_poll() is due when it has happened. */
	void (*halt)(void *opaque);
	void (*resume)(void *opaque, bool step);
	enum fwgdb_stop (*stopped)(void *opaque);
	bool (*get)(void *opaque, u32 number, u32 *value);
	bool (*set)(void *opaque, u32 number, u32 value);
	size_t (*read)(void *opaque, u32 addr, void *to, size_t bytes);
	size_t (*write)(void *opaque, u32 addr, const void *from, size_t bytes);
	/* A register of the firmware bus; only after `monitor mmio on`. */
	bool (*read_bus)(void *opaque, u32 addr, u32 *value);
	bool (*add_breakpoint)(void *opaque, u32 addr);
	bool (*remove_breakpoint)(void *opaque, u32 addr);
	/* Bytes for the peer; if not all bytes are accepted, close the connection. */
	void (*send)(void *opaque, const char *data, size_t bytes);
};

struct fwgdb;

/* Return: NULL without memory. */
struct fwgdb *fwgdb_create(const struct fwgdb_target *target, void *opaque);
/* Disconnects first. */
void fwgdb_destroy(struct fwgdb *g);

/* The peer has connected, has disconnected; the latter may be called twice. */
void fwgdb_connect(struct fwgdb *g);
void fwgdb_disconnect(struct fwgdb *g);

/* Process bytes of the peer. */
void fwgdb_input(struct fwgdb *g, const void *data, size_t bytes);
/* The processor may have halted: send the pending stop reply. */
void fwgdb_poll(struct fwgdb *g);

#endif
