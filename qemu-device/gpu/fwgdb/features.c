// SPDX-License-Identifier: MIT
/*
 * GDB stub: the target description, by which GDB finds the registers of the firmware processor
 * (GDB manual, appendix "Target Descriptions", features of RISC-V).
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

#define REG(name, type)	"<reg name=\"" name "\" bitsize=\"32\" type=\"" type "\"/>\n"

static const char head[] =
	"<?xml version=\"1.0\"?>\n"
	"<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
	"<target>\n"
	"<architecture>riscv:rv32</architecture>\n"
	/* Without this GDB assumes the host's ABI, for which it steps by breakpoints of its own. */
	"<osabi>none</osabi>\n"
	"<feature name=\"org.gnu.gdb.riscv.cpu\">\n"
	REG("zero", "int") REG("ra", "code_ptr") REG("sp", "data_ptr") REG("gp", "data_ptr")
	REG("tp", "data_ptr") REG("t0", "int") REG("t1", "int") REG("t2", "int")
	REG("fp", "data_ptr") REG("s1", "int") REG("a0", "int") REG("a1", "int")
	REG("a2", "int") REG("a3", "int") REG("a4", "int") REG("a5", "int")
	REG("a6", "int") REG("a7", "int") REG("s2", "int") REG("s3", "int")
	REG("s4", "int") REG("s5", "int") REG("s6", "int") REG("s7", "int")
	REG("s8", "int") REG("s9", "int") REG("s10", "int") REG("s11", "int")
	REG("t3", "int") REG("t4", "int") REG("t5", "int") REG("t6", "int")
	REG("pc", "code_ptr")
	"</feature>\n"
	"<feature name=\"org.gnu.gdb.riscv.csr\">\n";

/* CSRs that firmware uses, by the numbers of the privileged ISA, table 2.5. */
static const struct {
	const char *name;
	u32 number;
} csrs[] = {
	{ "mstatus", 0x300 }, { "misa", 0x301 }, { "mie", 0x304 }, { "mtvec", 0x305 },
	{ "mscratch", 0x340 }, { "mepc", 0x341 }, { "mcause", 0x342 }, { "mtval", 0x343 },
	{ "mip", 0x344 }, { "mcycle", 0xb00 }, { "minstret", 0xb02 }, { "mcycleh", 0xb80 },
	{ "minstreth", 0xb82 }, { "time", 0xc01 }, { "timeh", 0xc81 }, { "mhartid", 0xf14 },
};

static const char tail[] = "</feature>\n</target>\n";

#define CSR_FORMAT	"<reg name=\"%s\" bitsize=\"32\" regnum=\"%u\" type=\"int\"/>\n"

/* A window onto the description: text in it is copied, the rest only counted. */
struct window {
	size_t from, bytes, at, copied;
	char *to;
};

static void put(struct window *w, const char *text)
{
	for (; *text; text++, w->at++) {
		if (w->at >= w->from && w->copied < w->bytes)
			w->to[w->copied++] = *text;
	}
}

static void describe(struct window *w)
{
	char line[128];
	size_t i;

	put(w, head);
	for (i = 0; i < sizeof(csrs) / sizeof(csrs[0]); i++) {
		snprintf(line, sizeof(line), CSR_FORMAT, csrs[i].name,
			 FWGDB_REG_CSR0 + csrs[i].number);
		put(w, line);
	}
	put(w, tail);
}

size_t fwgdb_features(size_t from, char *to, size_t bytes)
{
	struct window w = { .from = from, .bytes = bytes, .to = to };

	describe(&w);
	return w.copied;
}

size_t fwgdb_features_bytes(void)
{
	struct window w = { 0 };

	describe(&w);
	return w.at;
}
