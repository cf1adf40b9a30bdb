/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of the GDB stub: packet.c frames, command.c and query.c execute packets,
 * features.c describes the registers.
 */
#ifndef PUMICE_GPU_FWGDB_INTERNAL_H
#define PUMICE_GPU_FWGDB_INTERNAL_H

#include "fwgdb.h"

/* "$", "#" and two digits around the contents. */
#define FRAME_BYTES	4u

/* State of the receiver. */
enum receive {
	RECEIVE_IDLE,		/* outside of packets */
	RECEIVE_CONTENTS,
	RECEIVE_SUM1,		/* the first digit of the checksum */
	RECEIVE_SUM2,
};

struct fwgdb {
	const struct fwgdb_target *target;
	void *opaque;

	bool connected;
	bool no_ack;		/* QStartNoAckMode */
	bool mmio;		/* `monitor mmio on` */
	bool waits;		/* the peer waits for a halt */
	bool interrupted;	/* by 0x03, so that the halt is a SIGINT */

	/* The packet that is being received; contents end with NUL when it is complete. */
	enum receive receive;
	bool too_long;
	u8 sum, sum_digit;
	size_t in_bytes;
	char in[FWGDB_PACKET + 1];

	/* The reply: the frame's start, the contents, and after fwgdb_send() the rest. */
	size_t out_bytes;
	char out[FRAME_BYTES + FWGDB_PACKET];
};

/* Errors of replies, as GDB shows them; the numbers are those of errno.h. */
enum {
	FWGDB_EPERM = 1,	/* the processor runs */
	FWGDB_EFAULT = 14,
	FWGDB_EINVAL = 22,
	FWGDB_ENOSPC = 28,
};

/* packet.c: the reply. Begin, add, send; text beyond its size is left out. */
void fwgdb_begin(struct fwgdb *g);
void fwgdb_add(struct fwgdb *g, const char *text);
void fwgdb_add_bytes(struct fwgdb *g, const void *data, size_t bytes);	/* as they are */
void fwgdb_add_hex(struct fwgdb *g, const void *data, size_t bytes);
void fwgdb_add_word(struct fwgdb *g, u32 value);	/* hexadecimal, in the target's order */
void fwgdb_send(struct fwgdb *g);
void fwgdb_reply(struct fwgdb *g, const char *text);
void fwgdb_error(struct fwgdb *g, unsigned int number);

/*
 * packet.c: read arguments of a packet; each advances *at past the characters read.
 * Return: false when something else is there; a number has 1 to 8 digits.
 */
bool fwgdb_number(const char **at, u32 *value);
bool fwgdb_byte(const char **at, u8 *value);
bool fwgdb_word(const char **at, u32 *value);	/* in the target's order */
bool fwgdb_char(const char **at, char c);

/* command.c: execute a complete packet of @bytes bytes and a NUL. */
void fwgdb_command(struct fwgdb *g, const char *packet, size_t bytes);

/* query.c: execute packets that begin with q, Q and v, but for vCont. */
void fwgdb_query(struct fwgdb *g, const char *packet);

/* features.c: copy up to @bytes of the target description from @from on. Return: their number */
size_t fwgdb_features(size_t from, char *to, size_t bytes);
/* Return the number of its bytes. */
size_t fwgdb_features_bytes(void);

#endif
