// SPDX-License-Identifier: MIT
/*
 * Reference model: control and status registers (privileged ISA 20211203,
 * chapter 2 and section 3.1). See ref.h.
 */
#include "ref.h"

/* mhpmcounter3..31, their high halves, mhpmevent3..31: all zero. */
static bool is_event_counter(uint32_t number)
{
	uint32_t index = number % 32;
	uint32_t group = number - index;

	return index >= 3 && (group == 0xb00 || group == 0xb80 || group == 0x320);
}

/* The trap registers; return false for any other. */
static bool read_trap_register(const struct ref *r, uint32_t number, uint32_t *val)
{
	switch (number) {
	case 0x300:
		*val = 0x1800 | (uint32_t)r->mpie_bit << 7 | (uint32_t)r->mie_bit << 3;
		return true;
	case 0x304:
		*val = r->mie;
		return true;
	case 0x305:
		*val = r->mtvec;
		return true;
	case 0x340:
		*val = r->mscratch;
		return true;
	case 0x341:
		*val = r->mepc;
		return true;
	case 0x342:
		*val = r->mcause;
		return true;
	case 0x343:
		*val = r->mtval;
		return true;
	case 0x344:
		*val = (uint32_t)r->irq << 11 | (uint32_t)(r->mtime >= r->mtimecmp) << 7;
		return true;
	default:
		return false;
	}
}

/* Cycle, time and retired instructions: bit 7 of the number is the high half. */
static bool read_counter(const struct ref *r, uint32_t number, uint32_t *val)
{
	unsigned int shift = number & 0x80 ? 32 : 0;

	switch (number & ~0x80u) {
	case 0xb00:
	case 0xc00:
		*val = (uint32_t)(r->mcycle >> shift);
		return true;
	case 0xc01:
		*val = (uint32_t)(r->mtime >> shift);
		return true;
	case 0xb02:
	case 0xc02:
		*val = (uint32_t)(r->minstret >> shift);
		return true;
	default:
		return false;
	}
}

/* Registers that never change. */
static bool read_constant(const struct ref *r, uint32_t number, uint32_t *val)
{
	*val = 0;
	switch (number) {
	case 0x301:
		*val = 0x40001104;
		return true;
	case 0xf14:
		*val = r->hart_id;
		return true;
	case 0x306: /* mcounteren */
	case 0x310: /* mstatush */
	case 0x320: /* mcountinhibit */
	case 0xf11: /* mvendorid, marchid, mimpid, mconfigptr */
	case 0xf12:
	case 0xf13:
	case 0xf15:
		return true;
	default:
		return is_event_counter(number);
	}
}

bool ref_csr_read(struct ref *r, uint32_t number, uint32_t *val)
{
	return read_trap_register(r, number, val) || read_counter(r, number, val) ||
	       read_constant(r, number, val);
}

static void write_low(uint64_t *counter, uint32_t val)
{
	*counter = (*counter & 0xffffffff00000000ull) + val;
}

static void write_high(uint64_t *counter, uint32_t val)
{
	*counter = (*counter & 0xffffffffull) + ((uint64_t)val << 32);
}

static void write_counter(struct ref *r, uint32_t number, uint32_t val)
{
	bool cycle = number == 0xb00 || number == 0xb80;
	uint64_t *counter = cycle ? &r->mcycle : &r->minstret;

	if (cycle)
		r->wrote_mcycle = true;
	else
		r->wrote_minstret = true;
	if (number < 0xb80)
		write_low(counter, val);
	else
		write_high(counter, val);
}

/* Only called for registers that ref_csr_read() accepts. */
bool ref_csr_write(struct ref *r, uint32_t number, uint32_t val)
{
	if (number / 0x400 == 3)
		return false;
	switch (number) {
	case 0x300:
		r->mie_bit = val >> 3 & 1;
		r->mpie_bit = val >> 7 & 1;
		break;
	case 0x304:
		r->mie = val & 0x880;
		break;
	case 0x305:
		r->mtvec = val & 0xfffffffd;
		break;
	case 0x340:
		r->mscratch = val;
		break;
	case 0x341:
		r->mepc = val & 0xfffffffe;
		r->handler_open = false;
		break;
	case 0x342:
		r->mcause = val;
		break;
	case 0x343:
		r->mtval = val;
		break;
	case 0xb00:
	case 0xb02:
	case 0xb80:
	case 0xb82:
		write_counter(r, number, val);
		break;
	default:
		break;
	}
	return true;
}
