/* SPDX-License-Identifier: MIT */
/*
 * Observation of an in-process device by another process: the messages.
 *
 * A device opened with the option attach=1 listens on a socket, of which this names the path.
 * Its peers, ATTACH_PEERS at a time, send requests, one packet each, and receive one packet for
 * each; a further peer receives -EBUSY. One of them at a time can have the trace. Neither side
 * trusts the other: a packet has one of the sizes below, or the connection is closed. Only
 * processes of the same user, or of root, are served; and an observer accepts only the process
 * that it requested, of the same user, or of the owner of the folder if it is root.
 *
 * The interface is private: both sides are of the same version of the library.
 */
#ifndef PUMICE_ATTACH_H
#define PUMICE_ATTACH_H

#include <sys/un.h>

#include "../internal.h"
#include "pumice_formats.h"

#define ATTACH_MAGIC	0x50756d41u	/* "PumA" */
#define ATTACH_VERSION	2u
#define ATTACH_DEVICES	16u		/* of a process */
#define ATTACH_PEERS	4u		/* of a device */
#define ATTACH_NAME	"pumice-%u.%u"	/* of the socket: process, number of the device */
/*
 * The environment variable that names the process which pumice-trace has started: this process
 * listens without attach=1 also, and its device number 0 is not opened before its trace is, or
 * ATTACH_WAIT_SECONDS have passed. So the trace has the first job.
 */
#define ATTACH_WAIT	"PUMICE_ATTACH_WAIT"
#define ATTACH_WAIT_SECONDS 10
#define ATTACH_RECORDS	256u		/* of one reply */
#define ATTACH_RECORD_BYTES	(PUMICE_TRACE_RECORD_WORDS * (u32)sizeof(u32))

enum attach_op {
	ATTACH_HELLO = 1,	/* reply: struct attach_hello */
	ATTACH_STATS,		/* struct pumice_device_stats */
	ATTACH_TIMESTAMP,	/* u64[2]: GPU ticks, CLOCK_MONOTONIC */
	ATTACH_TRACE_OPEN,	/* value: entries. Nothing */
	ATTACH_TRACE_READ,	/* value: maximum number of records. Records */
	ATTACH_TRACE_CLOSE,	/* nothing */
	ATTACH_HIERARCHY,	/* value: row of HIER_SELECT. u64[PUMICE_HIER_VALUE_COUNT] */
};

struct attach_request {
	u32 magic, op, value, reserved;
};

/* A reply begins with this; its data follow. */
struct attach_reply {
	u32 magic;
	s32 error;	/* 0 or a negative errno; then there are no data */
	u64 lost;	/* TRACE_READ: events lost before the first record */
};

struct attach_hello {
	u32 version, pid;
	char name[64];	/* of the process */
	struct pumice_device_info info;
};

#define ATTACH_DATA	(ATTACH_RECORDS * ATTACH_RECORD_BYTES)
_Static_assert(sizeof(struct attach_hello) <= ATTACH_DATA &&
	       sizeof(struct pumice_device_stats) <= ATTACH_DATA, "data of a reply");

/*
 * Get the folder of the sockets, XDG_RUNTIME_DIR, and its owner. Return: 0, or a negative errno:
 * -EACCES if other users can write to it, or own it and this is not root.
 */
int attach_folder(const char **folder, uid_t *owner);

/* Return the reason of an error of attach_folder() or attach_path(), for messages. */
const char *attach_folder_problem(int err);

/*
 * Get the path of the socket of device @number of a process, and the folder's owner. Return: as
 * above.
 */
int attach_path(u32 pid, u32 number, struct sockaddr_un *address, uid_t *owner);

/*
 * Connect a socket that sends packets. With 0 @seconds it does not block; otherwise this is the
 * limit of connecting, sending and receiving. Return: the socket, or a negative errno;
 * -ETIMEDOUT if the process listens and does not accept.
 */
int attach_connect(const struct sockaddr_un *address, u32 seconds);

#endif
