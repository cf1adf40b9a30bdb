/* SPDX-License-Identifier: MIT */
/*
 * Observation of an in-process device by another process: the messages.
 *
 * A device opened with the option attach=1 listens on a socket, of which this names the path.
 * Its peer sends requests, one packet each, and receives one packet for each. Neither side
 * trusts the other: a packet has one of the sizes below, or the connection is closed. Only
 * processes of the same user, or of root, are served.
 *
 * The interface is private: both sides are of the same version of the library.
 */
#ifndef PUMICE_ATTACH_H
#define PUMICE_ATTACH_H

#include <sys/un.h>

#include "../internal.h"
#include "pumice_formats.h"

#define ATTACH_MAGIC	0x50756d41u	/* "PumA" */
#define ATTACH_VERSION	1u
#define ATTACH_DEVICES	16u		/* of a process */
#define ATTACH_RECORDS	256u		/* of one reply */
#define ATTACH_RECORD_BYTES	(PUMICE_TRACE_RECORD_WORDS * (u32)sizeof(u32))

enum attach_op {
	ATTACH_HELLO = 1,	/* reply: struct attach_hello */
	ATTACH_STATS,		/* struct pumice_device_stats */
	ATTACH_TIMESTAMP,	/* u64[2]: GPU ticks, CLOCK_MONOTONIC */
	ATTACH_TRACE_OPEN,	/* value: entries. Nothing */
	ATTACH_TRACE_READ,	/* value: at most so many records. Records */
	ATTACH_TRACE_CLOSE,	/* nothing */
};

struct attach_request {
	u32 magic, op, value, reserved;
};

/* A reply begins with this; its data follow. */
struct attach_reply {
	u32 magic;
	s32 error;	/* 0 or a negative errno; then there are no data */
	u64 lost;	/* TRACE_READ: events */
};

struct attach_hello {
	u32 version, pid;
	char name[16];	/* of the process */
	struct pumice_device_info info;
};

#define ATTACH_DATA	(ATTACH_RECORDS * ATTACH_RECORD_BYTES)
_Static_assert(sizeof(struct attach_hello) <= ATTACH_DATA &&
	       sizeof(struct pumice_device_stats) <= ATTACH_DATA, "data of a reply");

/*
 * Path of the socket of device @number of a process. Return: 0, or a negative errno if
 * XDG_RUNTIME_DIR is not set or too long.
 */
int attach_path(u32 pid, u32 number, struct sockaddr_un *address);

/* A socket that sends packets, connected to this address; or a negative errno. */
int attach_connect(const struct sockaddr_un *address);

#endif
