// SPDX-License-Identifier: MIT
/*
 * The GDB stub's protocol: packets that are right, wrong, cut short and too long, each with
 * the reply that the GDB manual demands. Checksums of replies are recomputed here.
 */
#include "cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "fake.h"

/* Return the contents of the only packet that was sent; check its frame. */
static const char *contents(struct fake *f)
{
	static char text[FWGDB_PACKET + 1];
	unsigned int sum, i;
	u8 counted = 0;

	assert_in_range(f->sent_bytes, 4, FWGDB_PACKET + 4);
	assert_int_equal(f->sent[0], '$');
	assert_int_equal(f->sent[f->sent_bytes - 3], '#');
	assert_int_equal(sscanf(f->sent + f->sent_bytes - 2, "%2x", &sum), 1);
	for (i = 1; i < f->sent_bytes - 3; i++)
		counted += (u8)f->sent[i];
	assert_int_equal(sum, counted);
	memcpy(text, f->sent + 1, f->sent_bytes - 4);
	text[f->sent_bytes - 4] = 0;
	return text;
}

/* A packet and its reply; NULL for none. */
struct exchange {
	const char *packet, *reply;
};

static void talk(struct fake *f, const struct exchange *e, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		fake_packet(f, e[i].packet);
		if (!e[i].reply)
			assert_int_equal(f->sent_bytes, 0);
		else if (strcmp(contents(f), e[i].reply))
			fail_msg("reply to %s is %s, not %s", e[i].packet, contents(f), e[i].reply);
	}
}

#define TALK(f, ...) talk(f, (const struct exchange[]){ __VA_ARGS__ }, \
			  sizeof((const struct exchange[]){ __VA_ARGS__ }) / \
			  sizeof(struct exchange))

static void packets_are_acknowledged_until_no_ack_mode(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f, true);
	fake_packet(&f, "qC");
	assert_string_equal(f.sent, "+$QC1#c5");
	fake_packet(&f, "QStartNoAckMode");
	assert_string_equal(f.sent, "+$OK#9a");
	fake_packet(&f, "qC");
	assert_string_equal(f.sent, "$QC1#c5");
	fake_end(&f);
}

static void a_damaged_packet_is_requested_again(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f, true);
	fwgdb_input(f.gdb, "$qC#b5", 6);
	assert_string_equal(f.sent, "-");
	fake_forget(&f);
	fwgdb_input(f.gdb, "$qC#zz", 6);
	assert_string_equal(f.sent, "-");
	fake_forget(&f);
	/* With the first digit of the packet before it would be right. */
	fwgdb_input(f.gdb, "$qC#z4", 6);
	assert_string_equal(f.sent, "-");
	fake_forget(&f);
	fwgdb_input(f.gdb, "$qC#b4", 6);
	assert_string_equal(f.sent, "+$QC1#c5");
	/* And so may the peer request a reply again. */
	fake_forget(&f);
	fwgdb_input(f.gdb, "-", 1);
	assert_string_equal(f.sent, "$QC1#c5");
	fake_end(&f);

	fake_start(&f, false);
	fwgdb_input(f.gdb, "$qC#b5", 6);
	assert_string_equal(contents(&f), "E16");
	fake_end(&f);
}

static void packets_may_come_byte_by_byte_and_several_at_once(void **state)
{
	static const char text[] = "xx$qC#b4+junk$qC#b4$qsThreadInfo#c8";
	struct fake f;
	size_t i;

	(void)state;
	fake_start(&f, false);
	for (i = 0; i < 8; i++)
		fwgdb_input(f.gdb, text + i, 1);
	assert_string_equal(contents(&f), "QC1");
	fake_forget(&f);
	fwgdb_input(f.gdb, text + i, sizeof(text) - 1 - i);
	assert_string_equal(f.sent, "$QC1#c5$l#6c");
	fake_end(&f);
}

static void packets_that_are_too_long_get_an_error(void **state)
{
	static char text[3 * FWGDB_PACKET];
	struct fake f;

	(void)state;
	fake_start(&f, false);
	memset(text, 'm', sizeof(text) - 1);
	memcpy(text, "qAttached:", 10);
	fake_packet(&f, text);
	assert_string_equal(contents(&f), "E16");
	/* The longest that fits is understood. */
	memcpy(text, "M1000,7f8:", 10);
	memset(text + 10, '5', 2 * 0x7f8);
	text[10 + 2 * 0x7f8] = 0;
	fake_packet(&f, text);
	assert_string_equal(contents(&f), "E0e");
	TALK(&f, { "qC", "QC1" });
	fake_end(&f);
}

static void registers_are_read_and_written(void **state)
{
	char all[1 + 8 * 33 + 3] = "G";
	struct fake f;
	u32 i;

	(void)state;
	fake_start(&f, false);
	TALK(&f, { "p0", "00000000" }, { "p1", "01010101" }, { "p20", "20202020" },
	     { "P5=78563412", "OK" }, { "p5", "78563412" }, { "p21", "E16" }, { "p", "E16" },
	     { "p1ffffffff", "E16" }, { "p1z", "E16" }, { "P5=7856341", "E16" },
	     { "P5=785634122", "E16" }, { "P5", "E16" }, { "P5:78563412", "E16" },
	     { "P381=78563412", "OK" }, { "p381", "78563412" });
	assert_int_equal(f.reg[5], 0x12345678);
	assert_int_equal(f.mscratch, 0x12345678);
	fake_packet(&f, "g");
	assert_int_equal(strlen(contents(&f)), 8 * 33);
	assert_memory_equal(contents(&f) + 8 * 4, "0404040478563412", 16);
	for (i = 0; i < 33; i++)
		sprintf(all + 1 + 8 * i, "%02x000000", i + 1);
	fake_packet(&f, all);
	assert_string_equal(contents(&f), "OK");
	assert_int_equal(f.reg[FWGDB_REG_PC], 33);
	strcat(all, "00");
	fake_packet(&f, all);
	assert_string_equal(contents(&f), "E16");
	all[strlen(all) - 3] = 0;
	fake_packet(&f, all);
	assert_string_equal(contents(&f), "E16");
	fake_end(&f);
}

static void memory_is_read_and_written(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f, false);
	TALK(&f, { "m1000,4", "00010203" }, { "m103e,4", "3e3f" }, { "m1040,4", "E0e" },
	     { "m0,4", "E0e" }, { "mffffffff,ffffffff", "E0e" }, { "m1000,0", "" },
	     { "m1000", "E16" }, { "m1000,", "E16" }, { "m,4", "E16" }, { "m1000,4,", "E16" },
	     { "m100000000,4", "E16" }, { "m1000,123456789", "E16" },
	     { "M1002,2:aabb", "OK" }, { "m1000,6", "0001aabb0405" },
	     { "M1002,2:ccd", "E16" }, { "M1002,2:ccddee", "E16" }, { "M1002,2:ccxx", "E16" },
	     { "M1002,2", "E16" }, { "M1002,ffffffff:00", "E16" }, { "M0,1:00", "E0e" },
	     { "m1000,6", "0001aabb0405" }, { "X1000,0:", "" });
	/* A reply is at most one packet, whatever the length in the request. */
	fake_packet(&f, "m1000,ffffffff");
	assert_int_equal(strlen(contents(&f)), 2 * FAKE_BYTES);
	fake_end(&f);
}

static void the_bus_is_read_on_request_only(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f, false);
	TALK(&f, { "m10000000,4", "E0e" });
	fake_packet(&f, "qRcmd,6d6d696f206f6e");	/* mmio on */
	TALK(&f, { "m10000000,4", "11223344" }, { "m10000000,2", "E0e" },
	     { "m10000000,8", "E0e" }, { "M10000000,4:00000000", "E0e" });
	fake_packet(&f, "qRcmd,6d6d696f206f6666");	/* mmio off */
	TALK(&f, { "m10000000,4", "E0e" }, { "qRcmd,6", "E16" }, { "qRcmd,zz", "E16" });
	fake_end(&f);
}

static void the_processor_runs_steps_and_halts(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f, false);
	TALK(&f, { "?", "T05thread:1;" }, { "c", NULL }, { "g", "E01" }, { "p0", "E01" },
	     { "m1000,4", "E01" }, { "M1000,1:00", "E01" }, { "s", "E01" }, { "Z0,1000,4", "E01" });
	assert_false(f.stepped);
	fake_forget(&f);
	fake_halt(&f, FWGDB_STOP_BREAKPOINT);
	assert_string_equal(contents(&f), "T05thread:1;");
	/* Once. */
	fake_forget(&f);
	fwgdb_poll(f.gdb);
	assert_int_equal(f.sent_bytes, 0);

	TALK(&f, { "s1234", NULL });
	assert_true(f.stepped);
	assert_int_equal(f.reg[FWGDB_REG_PC], 0x1234);
	fake_halt(&f, FWGDB_STOP_STEP);
	TALK(&f, { "vCont;s:1;c", NULL });
	assert_true(f.stepped);
	fake_halt(&f, FWGDB_STOP_LOCKUP);
	assert_string_equal(contents(&f), "T0bthread:1;");
	TALK(&f, { "C05;1238", NULL });
	assert_false(f.stepped);
	assert_int_equal(f.reg[FWGDB_REG_PC], 0x1238);
	fake_halt(&f, FWGDB_STOP_STEP);
	TALK(&f, { "cx", "E16" }, { "C", "E16" }, { "C05;", "E16" }, { "S05:1", "E16" },
	     { "vCont;", "E16" }, { "vCont;t", "E16" }, { "vCont", "" },
	     { "vCont?", "vCont;c;C;s;S" });
	assert_int_equal(f.resumes, 4);
	fake_end(&f);
}

static void the_peer_interrupts(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f, false);
	TALK(&f, { "c", NULL });
	fwgdb_input(f.gdb, "\x03", 1);
	assert_true(f.halt_wanted);
	assert_int_equal(f.sent_bytes, 0);
	fake_halt(&f, FWGDB_STOP_REQUEST);
	assert_string_equal(contents(&f), "T02thread:1;");
	/* The next halt on request is none by an interrupt. */
	TALK(&f, { "c", NULL }, { "?", NULL });
	fake_halt(&f, FWGDB_STOP_REQUEST);
	assert_string_equal(contents(&f), "T05thread:1;");
	fake_end(&f);
}

static void breakpoints_are_added_and_removed(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f, false);
	TALK(&f, { "Z0,1000,4", "OK" }, { "Z1,1004,2", "OK" }, { "z1,1004,2", "OK" },
	     { "z0,1004,2", "E1c" }, { "Z2,1000,4", "" }, { "Z4,1000,4", "" }, { "Z0,1000", "E16" },
	     { "Z0", "E16" }, { "Z", "E16" }, { "Zx,1000,4", "E16" }, { "Z0,1000,4;X1,0", "E16" });
	assert_int_equal(f.breakpoint_count, 1);
	assert_int_equal(f.breakpoints[0], 0x1000);
	fake_end(&f);
}

static void detach_kill_and_disconnection_let_the_processor_run(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f, false);
	TALK(&f, { "Z0,1000,4", "OK" }, { "D", "OK" });
	assert_int_equal(f.detaches, 1);
	assert_int_equal(f.breakpoint_count, 0);
	assert_true(f.attached);
	f.stop = FWGDB_STOP_REQUEST;
	TALK(&f, { "k", NULL });
	assert_int_equal(f.detaches, 2);
	fwgdb_disconnect(f.gdb);
	fwgdb_disconnect(f.gdb);
	assert_int_equal(f.detaches, 3);
	assert_false(f.attached);
	/* A late packet gets no reply; a new peer begins with acknowledgements. */
	fake_packet(&f, "qC");
	assert_int_equal(f.sent_bytes, 0);
	fwgdb_connect(f.gdb);
	fake_packet(&f, "qC");
	assert_string_equal(f.sent, "+$QC1#c5");
	fake_end(&f);
}

static void a_new_peer_gets_nothing_of_the_former_one(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f, true);
	/* One ends within a packet, and within a checksum. */
	fwgdb_input(f.gdb, "$m1000,4", 8);
	fwgdb_disconnect(f.gdb);
	fwgdb_connect(f.gdb);
	fake_packet(&f, "qC");
	assert_string_equal(f.sent, "+$QC1#c5");
	fwgdb_input(f.gdb, "$qC#b", 5);
	fwgdb_disconnect(f.gdb);
	fwgdb_connect(f.gdb);
	fake_packet(&f, "qsThreadInfo");
	assert_string_equal(f.sent, "+$l#6c");
	/* The next requests a reply again that it has not received. */
	fwgdb_disconnect(f.gdb);
	fwgdb_connect(f.gdb);
	fake_forget(&f);
	fwgdb_input(f.gdb, "-", 1);
	assert_int_equal(f.sent_bytes, 0);
	fake_end(&f);
}

static void queries_have_their_replies(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f, false);
	TALK(&f, { "qSupported:multiprocess+", "PacketSize=1000;QStartNoAckMode+;"
					       "qXfer:features:read+" },
	     { "qfThreadInfo", "m1" }, { "qsThreadInfo", "l" }, { "qAttached", "1" },
	     { "qC", "QC1" }, { "Hg0", "OK" }, { "Hc-1", "OK" }, { "Hg1", "OK" }, { "Hg2", "E16" },
	     { "H", "E16" }, { "T1", "OK" }, { "T2", "E16" }, { "qSymbol::", "" },
	     { "vMustReplyEmpty", "" }, { "", "" }, { "!", "" }, { "qXfer:memory-map:read::0,9", "" });
	fake_end(&f);
}

static void the_target_description_can_be_read_in_pieces(void **state)
{
	char all[3 * FWGDB_PACKET] = "", request[64];
	struct fake f;
	u32 at = 0;

	(void)state;
	fake_start(&f, false);
	do {
		snprintf(request, sizeof(request), "qXfer:features:read:target.xml:%x,65", at);
		fake_packet(&f, request);
		strcat(all, contents(&f) + 1);
		at += 0x65;
	} while (contents(&f)[0] == 'm');
	assert_int_equal(contents(&f)[0], 'l');
	assert_non_null(strstr(all, "<architecture>riscv:rv32</architecture>"));
	assert_non_null(strstr(all, "<osabi>none</osabi>"));
	assert_non_null(strstr(all, "<reg name=\"pc\""));
	assert_non_null(strstr(all, "<reg name=\"mscratch\" bitsize=\"32\" regnum=\"897\""));
	assert_non_null(strstr(all, "</feature>\n</target>\n"));
	/* Nothing in it needs to be escaped. */
	assert_null(strpbrk(all, "#$}*"));
	TALK(&f, { "qXfer:features:read:target.xml:ffffffff,ffffffff", "l" },
	     { "qXfer:features:read:target.xml:0", "E16" },
	     { "qXfer:features:read:target.xml:0,x", "E16" },
	     { "qXfer:features:read:other.xml:0,9", "" });
	fake_packet(&f, "qXfer:features:read:target.xml:0,ffffffff");
	assert_int_equal(contents(&f)[0], strlen(all) < FWGDB_PACKET ? 'l' : 'm');
	fake_end(&f);
}

static void binary_packets_get_an_error(void **state)
{
	struct fake f;

	(void)state;
	fake_start(&f, false);
	fwgdb_input(f.gdb, "$m1000,4\0\0#57", 13);
	assert_true(f.sent_bytes);
	assert_string_equal(contents(&f), "E16");
	/* The part before the NUL is a packet with the right checksum. */
	fake_forget(&f);
	fwgdb_input(f.gdb, "$qC\0#b4", 7);
	assert_string_equal(contents(&f), "E16");
	fake_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_acknowledged_until_no_ack_mode),
		cmocka_unit_test(a_damaged_packet_is_requested_again),
		cmocka_unit_test(packets_may_come_byte_by_byte_and_several_at_once),
		cmocka_unit_test(packets_that_are_too_long_get_an_error),
		cmocka_unit_test(registers_are_read_and_written),
		cmocka_unit_test(memory_is_read_and_written),
		cmocka_unit_test(the_bus_is_read_on_request_only),
		cmocka_unit_test(the_processor_runs_steps_and_halts),
		cmocka_unit_test(the_peer_interrupts),
		cmocka_unit_test(breakpoints_are_added_and_removed),
		cmocka_unit_test(detach_kill_and_disconnection_let_the_processor_run),
		cmocka_unit_test(a_new_peer_gets_nothing_of_the_former_one),
		cmocka_unit_test(queries_have_their_replies),
		cmocka_unit_test(the_target_description_can_be_read_in_pieces),
		cmocka_unit_test(binary_packets_get_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
