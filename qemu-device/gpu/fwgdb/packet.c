// SPDX-License-Identifier: MIT
/*
 * GDB stub: packets "$contents#checksum", acknowledgements, and their parts. See fwgdb.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../number.h"
#include "internal.h"

#define INTERRUPT	0x03

static const char digits[] = "0123456789abcdef";

static bool digit(char c, u8 *value)
{
	if (c >= '0' && c <= '9')
		*value = (u8)(c - '0');
	else if (c >= 'a' && c <= 'f')
		*value = (u8)(c - 'a' + 10);
	else if (c >= 'A' && c <= 'F')
		*value = (u8)(c - 'A' + 10);
	else
		return false;
	return true;
}

bool fwgdb_number(const char **at, u32 *value)
{
	unsigned int n;
	u8 d;

	*value = 0;
	for (n = 0; digit(**at, &d); n++, ++*at) {
		if (*value >> 28)
			return false;
		*value = *value << 4 | d;
	}
	return n > 0;
}

bool fwgdb_byte(const char **at, u8 *value)
{
	u8 high, low;

	if (!digit((*at)[0], &high) || !digit((*at)[1], &low))
		return false;
	*value = (u8)(high << 4 | low);
	*at += 2;
	return true;
}

bool fwgdb_word(const char **at, u32 *value)
{
	unsigned int i;
	u8 byte;

	*value = 0;
	for (i = 0; i < 4; i++) {
		if (!fwgdb_byte(at, &byte))
			return false;
		*value |= (u32)byte << 8 * i;
	}
	return true;
}

bool fwgdb_char(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

/* The reply. */

void fwgdb_begin(struct fwgdb *g)
{
	g->out[0] = '$';
	g->out_bytes = 1;
}

void fwgdb_add_bytes(struct fwgdb *g, const void *data, size_t bytes)
{
	const size_t room = 1 + FWGDB_PACKET - g->out_bytes;

	bytes = min_u64(bytes, room);
	memcpy(g->out + g->out_bytes, data, bytes);
	g->out_bytes += bytes;
}

void fwgdb_add(struct fwgdb *g, const char *text)
{
	fwgdb_add_bytes(g, text, strlen(text));
}

void fwgdb_add_hex(struct fwgdb *g, const void *data, size_t bytes)
{
	const u8 *byte = data;
	size_t i;

	for (i = 0; i < bytes; i++)
		fwgdb_add_bytes(g, (char[]){ digits[byte[i] >> 4], digits[byte[i] & 15] }, 2);
}

void fwgdb_add_word(struct fwgdb *g, u32 value)
{
	const u8 bytes[] = { (u8)value, (u8)(value >> 8), (u8)(value >> 16), (u8)(value >> 24) };

	fwgdb_add_hex(g, bytes, sizeof(bytes));
}

void fwgdb_send(struct fwgdb *g)
{
	u8 sum = 0;
	size_t i;

	for (i = 1; i < g->out_bytes; i++)
		sum += (u8)g->out[i];
	g->out[g->out_bytes++] = '#';
	g->out[g->out_bytes++] = digits[sum >> 4];
	g->out[g->out_bytes++] = digits[sum & 15];
	g->target->send(g->opaque, g->out, g->out_bytes);
}

void fwgdb_reply(struct fwgdb *g, const char *text)
{
	fwgdb_begin(g);
	fwgdb_add(g, text);
	fwgdb_send(g);
}

void fwgdb_error(struct fwgdb *g, unsigned int number)
{
	const u8 byte = (u8)number;

	fwgdb_begin(g);
	fwgdb_add(g, "E");
	fwgdb_add_hex(g, &byte, 1);
	fwgdb_send(g);
}

/* The peer. */

static void acknowledge(struct fwgdb *g, const char *how)
{
	if (!g->no_ack)
		g->target->send(g->opaque, how, 1);
}

/*
 * A packet has ended; @good: with the right checksum. The peer retransmits a damaged packet
 * after a '-'; without one it waits for a reply.
 */
static void receive_end(struct fwgdb *g, bool good)
{
	g->receive = RECEIVE_IDLE;
	if (!good && !g->no_ack) {
		acknowledge(g, "-");
		return;
	}
	acknowledge(g, "+");
	g->in[g->in_bytes] = 0;
	if (!good || g->too_long)
		fwgdb_error(g, FWGDB_EINVAL);
	else
		fwgdb_command(g, g->in, g->in_bytes);
}

static void receive_idle(struct fwgdb *g, char c)
{
	switch (c) {
	case '$':
		g->receive = RECEIVE_CONTENTS;
		g->in_bytes = 0;
		g->too_long = false;
		g->sum = 0;
		break;
	case INTERRUPT:
		g->interrupted = g->waits = true;
		g->target->halt(g->opaque);
		fwgdb_poll(g);
		break;
	case '-':
		/* The last reply again, if there was one. */
		if (g->out_bytes && !g->no_ack)
			g->target->send(g->opaque, g->out, g->out_bytes);
		break;
	default:
		break;
	}
}

static void receive_contents(struct fwgdb *g, char c)
{
	if (c == '#') {
		g->receive = RECEIVE_SUM1;
		return;
	}
	g->sum += (u8)c;
	if (g->in_bytes < FWGDB_PACKET)
		g->in[g->in_bytes++] = c;
	else
		g->too_long = true;
}

static void receive(struct fwgdb *g, char c)
{
	u8 low = 0;

	switch (g->receive) {
	case RECEIVE_IDLE:
		receive_idle(g, c);
		break;
	case RECEIVE_CONTENTS:
		receive_contents(g, c);
		break;
	case RECEIVE_SUM1:
		if (digit(c, &g->sum_digit))
			g->receive = RECEIVE_SUM2;
		else
			receive_end(g, false);
		break;
	case RECEIVE_SUM2:
		receive_end(g, digit(c, &low) && (g->sum_digit << 4 | low) == g->sum);
		break;
	}
}

void fwgdb_input(struct fwgdb *g, const void *data, size_t bytes)
{
	const char *c = data;
	size_t i;

	/* A reply that cannot be sent may have ended the connection. */
	for (i = 0; i < bytes && g->connected; i++)
		receive(g, c[i]);
}

/* Beginning and end. */

struct fwgdb *fwgdb_create(const struct fwgdb_target *target, void *opaque)
{
	struct fwgdb *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->target = target;
	g->opaque = opaque;
	return g;
}

void fwgdb_destroy(struct fwgdb *g)
{
	if (!g)
		return;
	fwgdb_disconnect(g);
	free(g);
}

void fwgdb_connect(struct fwgdb *g)
{
	fwgdb_disconnect(g);
	g->connected = true;
	g->no_ack = g->mmio = g->waits = g->interrupted = false;
	g->receive = RECEIVE_IDLE;
	g->out_bytes = 0;
	g->target->attach(g->opaque);
}

void fwgdb_disconnect(struct fwgdb *g)
{
	if (!g->connected)
		return;
	g->connected = false;
	g->target->detach(g->opaque);
}
