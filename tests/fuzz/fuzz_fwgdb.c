// SPDX-License-Identifier: MIT
/*
 * Arbitrary bytes from a peer to the GDB stub, in pieces of any size, while the processor halts
 * at any moment.
 *
 * Rules: the stub sends only acknowledgements and packets, each with its checksum and of at
 * most FWGDB_PACKET bytes, and at most one packet and one acknowledgement for each received
 * byte; afterwards a valid packet has its reply, and without a peer there is no breakpoint.
 */
#include <string.h>

#include "fake.h"
#include "fuzz.h"

#define PIECE	64u

static u8 value(char c)
{
	return (u8)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Check the packet at @at. Return the end of it. */
static const char *check_packet(const char *at, const char *end)
{
	const char *hash = memchr(at, '#', (size_t)(end - at));
	u8 sum = 0;

	FUZZ_CHECK(hash && end - hash >= 3, "a packet without an end");
	FUZZ_CHECK(hash - at - 1 <= (long)FWGDB_PACKET, "a packet of %ld bytes", hash - at - 1);
	for (at++; at < hash; at++)
		sum += (u8)*at;
	FUZZ_CHECK(sum == (value(hash[1]) << 4 | value(hash[2])), "a wrong checksum");
	return hash + 3;
}

static void check_sent(struct fake *f)
{
	const char *at = f->sent, *end = f->sent + f->sent_bytes;

	FUZZ_CHECK(f->sent_bytes < FAKE_SENT, "too much was sent");
	while (at < end) {
		if (*at == '+' || *at == '-')
			at++;
		else if (*at == '$')
			at = check_packet(at, end);
		else
			fuzz_fail(__FILE__, __LINE__, "byte %d is sent", *at);
	}
	fake_forget(f);
}

/* Send a packet that begins as the stub expects, and continues with random bytes. */
static void send_packet(struct fake *f, struct fuzz *fuzz)
{
	static const char *const begins[] = {
		"?", "g", "G", "p", "P", "m1000,", "m", "M1000,", "M", "c", "s", "C", "S", "vCont;",
		"Z0,", "z0,", "Z", "D", "k", "H", "T", "qSupported", "qXfer:features:read:target.xml:",
		"qRcmd,", "qRcmd,6d6d696f206f6e", "m10000000,4", "QStartNoAckMode", "qfThreadInfo",
	};
	static const char some[] = "0123456789abcdef,;:=-#$}";
	char text[PIECE + 48];
	size_t at, more;

	strcpy(text, begins[fuzz_below(fuzz, sizeof(begins) / sizeof(begins[0]))]);
	at = strlen(text);
	for (more = fuzz_below(fuzz, PIECE); more; more--)
		text[at++] = some[fuzz_below(fuzz, sizeof(some) - 1)];
	text[at] = 0;
	check_sent(f);
	fake_packet(f, text);
}

static void send_bytes(struct fake *f, struct fuzz *fuzz)
{
	u8 bytes[PIECE];

	fwgdb_input(f->gdb, bytes, fuzz_bytes(fuzz, bytes, fuzz_below(fuzz, PIECE)));
}

static void act(struct fake *f, struct fuzz *fuzz)
{
	switch (fuzz_below(fuzz, 6)) {
	case 0:
		send_bytes(f, fuzz);
		break;
	case 1:
		fake_halt(f, (enum fwgdb_stop)(1 + fuzz_below(fuzz, FWGDB_STOP_LOCKUP)));
		break;
	case 2:
		if (!fuzz_below(fuzz, 8))
			fwgdb_connect(f->gdb);
		break;
	default:
		send_packet(f, fuzz);
		break;
	}
	check_sent(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz fuzz = { data, size };
	static struct fake f;

	fake_start(&f, fuzz_below(&fuzz, 2));
	while (fuzz_more(&fuzz))
		act(&f, &fuzz);
	/* Terminate a partial packet; it may or may not be replied to. */
	fwgdb_input(f.gdb, "#00#00", 6);
	fake_packet(&f, "qC");
	FUZZ_CHECK(strstr(f.sent, "$QC1#c5"), "no reply to a valid packet");
	fwgdb_disconnect(f.gdb);
	FUZZ_CHECK(!f.breakpoint_count && !f.attached, "breakpoints without a peer");
	fake_end(&f);
	return 0;
}
