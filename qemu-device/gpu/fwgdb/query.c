// SPDX-License-Identifier: MIT
/*
 * GDB stub: queries and settings. See fwgdb.h.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define MONITOR_BYTES	64u

/* If the packet has this prefix, set *at after it. */
static bool begins(const char *packet, const char *with, const char **at)
{
	size_t bytes = strlen(with);

	if (strncmp(packet, with, bytes))
		return false;
	*at = packet + bytes;
	return true;
}

static void supported(struct fwgdb *g)
{
	char text[96];

	snprintf(text, sizeof(text), "PacketSize=%x;QStartNoAckMode+;qXfer:features:read+",
		 FWGDB_PACKET);
	fwgdb_reply(g, text);
}

/* qXfer:features:read:target.xml:offset,length */
static void features(struct fwgdb *g, const char *at)
{
	char text[FWGDB_PACKET - 1];
	u32 from, bytes;
	size_t got;

	if (!fwgdb_number(&at, &from) || !fwgdb_char(&at, ',') ||
	    !fwgdb_number(&at, &bytes) || *at) {
		fwgdb_error(g, FWGDB_EINVAL);
		return;
	}
	got = fwgdb_features(from, text, bytes < sizeof(text) ? bytes : sizeof(text));
	fwgdb_begin(g);
	fwgdb_add(g, from + got < fwgdb_features_bytes() ? "m" : "l");
	fwgdb_add_bytes(g, text, got);
	fwgdb_send(g);
}

static void put_console_text(struct fwgdb *g, const char *text)
{
	fwgdb_begin(g);
	fwgdb_add_hex(g, text, strlen(text));
	fwgdb_send(g);
}

/* qRcmd,command: `monitor` of GDB, in hexadecimal both ways. */
static void monitor(struct fwgdb *g, const char *at)
{
	char command[MONITOR_BYTES];
	size_t n = 0;
	u8 byte;

	while (*at && n + 1 < sizeof(command)) {
		if (!fwgdb_byte(&at, &byte)) {
			fwgdb_error(g, FWGDB_EINVAL);
			return;
		}
		command[n++] = (char)byte;
	}
	command[n] = 0;
	if (!*at && !strcmp(command, "mmio on")) {
		g->mmio = true;
		put_console_text(g, "words of the firmware bus are read; reading may change a register\n");
	} else if (!*at && !strcmp(command, "mmio off")) {
		g->mmio = false;
		put_console_text(g, "the firmware bus is not read\n");
	} else {
		put_console_text(g, "monitor mmio on|off: whether words of the firmware bus are read\n");
	}
}

void fwgdb_query(struct fwgdb *g, const char *packet)
{
	const char *at;

	if (begins(packet, "qSupported", &at)) {
		supported(g);
	} else if (begins(packet, "qXfer:features:read:target.xml:", &at)) {
		features(g, at);
	} else if (begins(packet, "qRcmd,", &at)) {
		monitor(g, at);
	} else if (!strcmp(packet, "QStartNoAckMode")) {
		fwgdb_reply(g, "OK");
		g->no_ack = true;
	} else if (!strcmp(packet, "qfThreadInfo")) {
		fwgdb_reply(g, "m1");
	} else if (!strcmp(packet, "qsThreadInfo")) {
		fwgdb_reply(g, "l");
	} else if (!strcmp(packet, "qC")) {
		fwgdb_reply(g, "QC1");
	} else if (begins(packet, "qAttached", &at)) {
		fwgdb_reply(g, "1");
	} else if (!strcmp(packet, "vCont?")) {
		fwgdb_reply(g, "vCont;c;C;s;S");
	} else {
		fwgdb_reply(g, "");
	}
}
