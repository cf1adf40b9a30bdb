/* SPDX-License-Identifier: MIT */
/* Internal definitions of the files of the firmware processor. */
#ifndef PUMICE_FWCPU_INTERNAL_H
#define PUMICE_FWCPU_INTERNAL_H

#include <string.h>

#include "fwcpu.h"
#include "insn.h"
#include "rv.h"

#define fwcpu_likely(c)		__builtin_expect(!!(c), 1)
#define fwcpu_unlikely(c)	__builtin_expect(!!(c), 0)

/* Size of the granules in which stores into decoded code are detected. */
#define FWCPU_GRANULE_SHIFT	8

/* The longest store; a granule is marked when one could reach its code. */
#define FWCPU_MAX_STORE		4

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define fwcpu_le16(v)	__builtin_bswap16(v)
#define fwcpu_le32(v)	__builtin_bswap32(v)
#else
#define fwcpu_le16(v)	(v)
#define fwcpu_le32(v)	(v)
#endif

/* Sign-extend the low @width bits. */
static inline uint32_t fwcpu_sext(uint32_t val, unsigned int width)
{
	uint32_t sign = 1u << (width - 1);

	return (val ^ sign) - sign;
}

/* Convert a distance in bytes to halfwords, keeping its sign. */
static inline uint32_t fwcpu_halfwords(uint32_t distance)
{
	return (uint32_t)((int32_t)distance >> 1);
}

/* Little-endian access at any alignment. */
static inline uint32_t fwcpu_get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return fwcpu_le16(v);
}

static inline uint32_t fwcpu_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return fwcpu_le32(v);
}

static inline void fwcpu_put16(uint8_t *p, uint32_t val)
{
	uint16_t v = fwcpu_le16((uint16_t)val);

	memcpy(p, &v, sizeof(v));
}

static inline void fwcpu_put32(uint8_t *p, uint32_t val)
{
	uint32_t v = fwcpu_le32(val);

	memcpy(p, &v, sizeof(v));
}

/* exec.c: execute @count units, fewer when the state changes or a poll is due. */
void fwcpu_exec(struct fwcpu *cpu, uint32_t count);

/* code.c: prepare the cache of decoded instructions; @at counts halfwords of RAM. */
int fwcpu_code_init(struct fwcpu *cpu);
void fwcpu_code_destroy(struct fwcpu *cpu);
void fwcpu_code_fill(struct fwcpu *cpu, uint32_t at);
void fwcpu_code_flush(struct fwcpu *cpu);
void fwcpu_code_written(struct fwcpu *cpu, uint32_t addr, uint32_t len);

/*
 * mem.c: loads and stores that are not entirely in RAM. On false the exception is in
 * fault_cause and fault_tval. Only the low @size bytes of a loaded value are valid.
 */
bool fwcpu_load_outside(struct fwcpu *cpu, uint32_t addr, unsigned int size, uint32_t *val);
bool fwcpu_store_outside(struct fwcpu *cpu, uint32_t addr, unsigned int size, uint32_t val);
void fwcpu_tlb_clear(struct fwcpu *cpu);

/* csr.c: return the row of a register for an access, or -1 when that access is illegal. */
int fwcpu_csr_row(uint32_t number, bool write);
/* Execute a CSR instruction; true when it wrote, so that interrupts must be polled. */
bool fwcpu_csr_execute(struct fwcpu *cpu, const struct fwcpu_insn *in);
/* Clear bits of registers that do not exist. */
void fwcpu_csr_legalise(struct fwcpu_arch *arch);

/* trap.c */
void fwcpu_exception(struct fwcpu *cpu, uint32_t cause, uint32_t tval);
void fwcpu_mret(struct fwcpu *cpu);
uint32_t fwcpu_pending(const struct fwcpu *cpu, uint64_t now);
bool fwcpu_poll(struct fwcpu *cpu);

#endif
