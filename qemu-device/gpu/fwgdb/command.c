// SPDX-License-Identifier: MIT
/*
 * GDB stub: packets that read, write, run and stop. See fwgdb.h.
 */
#include <string.h>

#include "../number.h"
#include "internal.h"

/* Bytes of memory that a reply holds. */
#define READ_BYTES	(FWGDB_PACKET / 2)
#define SENT_REGISTERS	(FWGDB_REG_PC + 1)	/* in packets g and G */

/* Stop replies; the numbers are GDB's of SIGINT, SIGTRAP and SIGSEGV. */
static const char *stop_reply(const struct fwgdb *g, enum fwgdb_stop why)
{
	if (why == FWGDB_STOP_LOCKUP)
		return "T0bthread:1;";
	return why == FWGDB_STOP_REQUEST && g->interrupted ? "T02thread:1;" : "T05thread:1;";
}

void fwgdb_poll(struct fwgdb *g)
{
	enum fwgdb_stop why;

	if (!g->connected || !g->waits)
		return;
	why = g->target->stopped(g->opaque);
	if (why == FWGDB_RUNNING)
		return;
	g->waits = false;
	fwgdb_reply(g, stop_reply(g, why));
	g->interrupted = false;
}

/* Reply with an error unless the processor is halted. */
static bool halted(struct fwgdb *g)
{
	if (g->target->stopped(g->opaque) != FWGDB_RUNNING)
		return true;
	fwgdb_error(g, FWGDB_EPERM);
	return false;
}

static void reply_ok(struct fwgdb *g, bool good, unsigned int error)
{
	if (good)
		fwgdb_reply(g, "OK");
	else
		fwgdb_error(g, error);
}

/* ? */
static void why_halted(struct fwgdb *g)
{
	g->waits = true;
	g->target->halt(g->opaque);
	fwgdb_poll(g);
}

/* Continue; the peer waits for the next halt. */
static void resume(struct fwgdb *g, bool step)
{
	if (!halted(g))
		return;
	g->waits = true;
	g->interrupted = false;
	g->target->resume(g->opaque, step);
}

/* c [addr], s [addr]; C sig[;addr], S sig[;addr]: signals mean nothing here. */
static void resume_at(struct fwgdb *g, const char *at, bool step, bool signal)
{
	u32 number, pc;
	bool good = true, has_pc = *at;

	if (signal) {
		good = fwgdb_number(&at, &number);
		has_pc = good && fwgdb_char(&at, ';');
	}
	if (good && has_pc)
		good = fwgdb_number(&at, &pc);
	if (!good || *at) {
		fwgdb_error(g, FWGDB_EINVAL);
		return;
	}
	if (has_pc && !g->target->set(g->opaque, FWGDB_REG_PC, pc))
		fwgdb_error(g, FWGDB_EPERM);
	else
		resume(g, step);
}

/* vCont;action[:thread]…: the first action is that of the one thread. */
static void resume_threads(struct fwgdb *g, const char *at)
{
	switch (*at) {
	case 'c':
	case 'C':
		resume(g, false);
		break;
	case 's':
	case 'S':
		resume(g, true);
		break;
	default:
		fwgdb_error(g, FWGDB_EINVAL);
	}
}

/* g */
static void read_registers(struct fwgdb *g)
{
	u32 number, value;
	bool good = true;

	fwgdb_begin(g);
	for (number = 0; good && number < SENT_REGISTERS; number++) {
		good = g->target->get(g->opaque, number, &value);
		if (good)
			fwgdb_add_word(g, value);
	}
	if (good)
		fwgdb_send(g);
	else
		fwgdb_error(g, FWGDB_EPERM);
}

/* G: all or none. */
static void write_registers(struct fwgdb *g, const char *at)
{
	u32 number, value[SENT_REGISTERS];
	bool good = true;

	for (number = 0; good && number < SENT_REGISTERS; number++)
		good = fwgdb_word(&at, &value[number]);
	if (!good || *at) {
		fwgdb_error(g, FWGDB_EINVAL);
		return;
	}
	for (number = 0; good && number < SENT_REGISTERS; number++)
		good = g->target->set(g->opaque, number, value[number]);
	reply_ok(g, good, FWGDB_EPERM);
}

/* p number */
static void read_register(struct fwgdb *g, const char *at)
{
	u32 number, value;

	if (!fwgdb_number(&at, &number) || *at) {
		fwgdb_error(g, FWGDB_EINVAL);
	} else if (halted(g)) {
		if (!g->target->get(g->opaque, number, &value)) {
			fwgdb_error(g, FWGDB_EINVAL);
			return;
		}
		fwgdb_begin(g);
		fwgdb_add_word(g, value);
		fwgdb_send(g);
	}
}

/* P number=value */
static void write_register(struct fwgdb *g, const char *at)
{
	u32 number, value;

	if (!fwgdb_number(&at, &number) || !fwgdb_char(&at, '=') || !fwgdb_word(&at, &value) || *at)
		fwgdb_error(g, FWGDB_EINVAL);
	else if (halted(g))
		reply_ok(g, g->target->set(g->opaque, number, value), FWGDB_EINVAL);
}

/* m addr,length: return the readable prefix; an error if there is none. */
static void read_memory(struct fwgdb *g, const char *at)
{
	u8 data[READ_BYTES];
	u32 addr, bytes, word;
	size_t got;

	if (!fwgdb_number(&at, &addr) || !fwgdb_char(&at, ',') ||
	    !fwgdb_number(&at, &bytes) || *at) {
		fwgdb_error(g, FWGDB_EINVAL);
		return;
	}
	if (!halted(g))
		return;
	bytes = min_u32(bytes, READ_BYTES);
	got = g->target->read(g->opaque, addr, data, bytes);
	if (!got && bytes == sizeof(word) && g->mmio &&
	    g->target->read_bus(g->opaque, addr, &word)) {
		fwgdb_begin(g);
		fwgdb_add_word(g, word);
		fwgdb_send(g);
		return;
	}
	if (!got && bytes) {
		fwgdb_error(g, FWGDB_EFAULT);
		return;
	}
	fwgdb_begin(g);
	fwgdb_add_hex(g, data, got);
	fwgdb_send(g);
}

/* M addr,length:data: nothing is written unless the packet is complete. */
static void write_memory(struct fwgdb *g, const char *at)
{
	u8 data[READ_BYTES];
	u32 addr, bytes, i;
	bool good;

	good = fwgdb_number(&at, &addr) && fwgdb_char(&at, ',') && fwgdb_number(&at, &bytes) &&
	       fwgdb_char(&at, ':') && bytes <= sizeof(data);
	for (i = 0; good && i < bytes; i++)
		good = fwgdb_byte(&at, &data[i]);
	if (!good || *at)
		fwgdb_error(g, FWGDB_EINVAL);
	else if (halted(g))
		reply_ok(g, g->target->write(g->opaque, addr, data, bytes) == bytes, FWGDB_EFAULT);
}

/* Z type,addr,kind and z: types 0 and 1 are the same here; the kind is the instruction's length. */
static void breakpoint(struct fwgdb *g, const char *at, bool add)
{
	u32 type, addr, kind;

	if (!fwgdb_number(&at, &type) || !fwgdb_char(&at, ',') || !fwgdb_number(&at, &addr) ||
	    !fwgdb_char(&at, ',') || !fwgdb_number(&at, &kind) || *at)
		fwgdb_error(g, FWGDB_EINVAL);
	else if (type > 1)
		fwgdb_reply(g, "");
	else if (halted(g))
		reply_ok(g, add ? g->target->add_breakpoint(g->opaque, addr) :
				  g->target->remove_breakpoint(g->opaque, addr), FWGDB_ENOSPC);
}

/* H op thread, T thread: any (0), all (-1), or the one. */
static void thread(struct fwgdb *g, const char *at)
{
	reply_ok(g, !strcmp(at, "0") || !strcmp(at, "-1") || !strcmp(at, "1"), FWGDB_EINVAL);
}

/* D and k: the processor runs on without breakpoints; the device is not ended by a debugger. */
static void let_go(struct fwgdb *g)
{
	g->waits = g->interrupted = false;
	g->target->detach(g->opaque);
	g->target->attach(g->opaque);
}

void fwgdb_command(struct fwgdb *g, const char *packet, size_t bytes)
{
	const char *at = packet + 1;

	/* A NUL or a binary byte is in no packet that is understood. */
	if (strlen(packet) != bytes) {
		fwgdb_error(g, FWGDB_EINVAL);
		return;
	}
	switch (packet[0]) {
	case '?':
		why_halted(g);
		break;
	case 'c':
	case 's':
		resume_at(g, at, packet[0] == 's', false);
		break;
	case 'C':
	case 'S':
		resume_at(g, at, packet[0] == 'S', true);
		break;
	case 'g':
		read_registers(g);
		break;
	case 'G':
		write_registers(g, at);
		break;
	case 'p':
		read_register(g, at);
		break;
	case 'P':
		write_register(g, at);
		break;
	case 'm':
		read_memory(g, at);
		break;
	case 'M':
		write_memory(g, at);
		break;
	case 'Z':
	case 'z':
		breakpoint(g, at, packet[0] == 'Z');
		break;
	case 'H':
		thread(g, *at ? at + 1 : at);
		break;
	case 'T':
		thread(g, at);
		break;
	case 'D':
		let_go(g);
		fwgdb_reply(g, "OK");
		break;
	case 'k':
		let_go(g);
		break;
	default:
		if (!strncmp(packet, "vCont;", 6))
			resume_threads(g, packet + 6);
		else
			fwgdb_query(g, packet);
	}
}
