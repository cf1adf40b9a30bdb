// SPDX-License-Identifier: MIT
/*
 * Vertex attributes: fetched from memory and converted, a wave at a time.
 *
 * Source: document 004, "PDS" (de-indexing, DMA of attributes); hw/isa.xml, operation attr;
 * hw/formats.xml, enum attr_kind.
 *
 * Whole elements are read once to a buffer; neighbours are mostly in one grain of the MMU,
 * which is looked up once. Normalised values are one division of whole numbers in f32, which
 * rounds correctly.
 */
#include "attr.h"

#include <string.h>

#include "program.h"

#define ELEMENT_BYTES	16u	/* of the longest element */
#define GRAIN_BYTES	(1u << MMU_GRAIN_SHIFT)
#define F32_ONE		0x3f800000u
#define ATTRIBUTES	MMU_SECOND(PUMICE_UNIT_PDS)

/* Elements of a wave as stored in memory. */
struct elements {
	u8 byte[PUMICE_LANES][ELEMENT_BYTES];
};

static u32 component_bytes(enum pumice_attr_kind kind)
{
	switch (kind) {
	case PUMICE_ATTR_KIND_UNORM8:
	case PUMICE_ATTR_KIND_SNORM8:
	case PUMICE_ATTR_KIND_UINT8:
	case PUMICE_ATTR_KIND_SINT8:
		return 1;
	case PUMICE_ATTR_KIND_F16:
	case PUMICE_ATTR_KIND_UNORM16:
	case PUMICE_ATTR_KIND_SNORM16:
	case PUMICE_ATTR_KIND_UINT16:
	case PUMICE_ATTR_KIND_SINT16:
		return 2;
	default:
		return 4;
	}
}

static bool packed(enum pumice_attr_kind kind)
{
	return kind >= PUMICE_ATTR_KIND_UNORM10_2 && kind <= PUMICE_ATTR_KIND_SINT10_2;
}

/* Value of a fourth component that is not in memory. */
static u32 default_w(enum pumice_attr_kind kind)
{
	switch (kind) {
	case PUMICE_ATTR_KIND_UINT8:
	case PUMICE_ATTR_KIND_SINT8:
	case PUMICE_ATTR_KIND_UINT16:
	case PUMICE_ATTR_KIND_SINT16:
	case PUMICE_ATTR_KIND_UINT32:
	case PUMICE_ATTR_KIND_SINT32:
	case PUMICE_ATTR_KIND_UINT10_2:
	case PUMICE_ATTR_KIND_SINT10_2:
		return 1;
	default:
		return F32_ONE;
	}
}

static u32 bits(float value)
{
	u32 word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

/* bytes is a constant for the common sizes, which then need one or two moves. */
static inline __attribute__((always_inline)) bool
fetch_sized(struct pds_fill *fill, const struct pumice_pds_insn *insn, const u32 *index, u32 lanes,
	    struct elements *out, u32 bytes, struct gpu_fault *fault)
{
	const u8 *grain = NULL;
	u64 grain_number = UINT64_MAX;
	u32 lane;

	for (lane = 0; lane < lanes; lane++) {
		u64 addr = insn->addr + (u64)index[lane] * insn->stride;
		u32 at = (u32)addr % GRAIN_BYTES;
		u8 *to = out->byte[lane];

		if (index[lane] >= insn->elements) {
			memset(to, 0, bytes);
			continue;
		}
		if (at + bytes > GRAIN_BYTES) {
			fill->reads++;
			if (!mmu_read(fill->mmu, fill->tlb, fill->ctx, addr, to, bytes,
				      PUMICE_ACCESS_READ, ATTRIBUTES, fault))
				return false;
			continue;
		}
		if (addr >> MMU_GRAIN_SHIFT != grain_number) {
			const u8 *host = mmu_translate(fill->mmu, fill->tlb, fill->ctx, addr, bytes,
						       PUMICE_ACCESS_READ, ATTRIBUTES, fault);

			fill->reads++;
			if (!host)
				return false;
			grain = host - at;
			if (!mmu_is_detailed(fill->mmu))
				grain_number = addr >> MMU_GRAIN_SHIFT;
		}
		memcpy(to, grain + at, bytes);
	}
	fill->dma_bytes += (u64)lanes * bytes;
	return true;
}

static bool fetch(struct pds_fill *fill, const struct pumice_pds_insn *insn, const u32 *index,
		  u32 lanes, struct elements *out, u32 bytes, struct gpu_fault *fault)
{
	switch (bytes) {
	case 4:
		return fetch_sized(fill, insn, index, lanes, out, 4, fault);
	case 8:
		return fetch_sized(fill, insn, index, lanes, out, 8, fault);
	case 12:
		return fetch_sized(fill, insn, index, lanes, out, 12, fault);
	case 16:
		return fetch_sized(fill, insn, index, lanes, out, 16, fault);
	default:
		return fetch_sized(fill, insn, index, lanes, out, bytes, fault);
	}
}

/* Convert f16 to f32, exactly; a NaN stays a NaN. */
static u32 half_to_float(u32 half)
{
	u32 sign = (half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 0x3ff;

	if (exponent == 31)
		return sign | 0x7f800000 | mantissa << 13;
	if (exponent)
		return sign | (exponent + 112) << 23 | mantissa << 13;
	return sign | bits((float)mantissa * 0x1p-24f);
}

static u32 snorm(s32 value, float max)
{
	float f = (float)value / max;

	return bits(f < -1.0f ? -1.0f : f);
}

/* Sign-extend the low width bits of a value. */
static s32 signed_bits(u32 value, u32 width)
{
	return (s32)(value << (32 - width)) >> (32 - width);
}

/* Convert one component of a kind that is not packed, from its bytes with zeroes above. */
static inline __attribute__((always_inline)) u32 convert(enum pumice_attr_kind kind, u32 raw)
{
	switch (kind) {
	case PUMICE_ATTR_KIND_F16:
		return half_to_float(raw);
	case PUMICE_ATTR_KIND_UNORM8:
		return bits((float)raw / 255.0f);
	case PUMICE_ATTR_KIND_SNORM8:
		return snorm((s8)raw, 127.0f);
	case PUMICE_ATTR_KIND_SINT8:
		return (u32)(s8)raw;
	case PUMICE_ATTR_KIND_UNORM16:
		return bits((float)raw / 65535.0f);
	case PUMICE_ATTR_KIND_SNORM16:
		return snorm((s16)raw, 32767.0f);
	case PUMICE_ATTR_KIND_SINT16:
		return (u32)(s16)raw;
	default:
		return raw;
	}
}

/* Convert one component of a packed element: 10, 10, 10 and 2 bits. */
static u32 convert_packed(enum pumice_attr_kind kind, u32 word, u32 comp)
{
	const u32 width = comp == 3 ? 2 : 10;
	const u32 value = word >> comp * 10 & ((1u << width) - 1);

	switch (kind) {
	case PUMICE_ATTR_KIND_UNORM10_2:
		return bits((float)value / (float)((1u << width) - 1));
	case PUMICE_ATTR_KIND_SNORM10_2:
		return snorm(signed_bits(value, width), (float)((1u << (width - 1)) - 1));
	case PUMICE_ATTR_KIND_SINT10_2:
		return (u32)signed_bits(value, width);
	default:
		return value;
	}
}

/* Convert one component of all lanes; callers pass a constant size. */
static inline __attribute__((always_inline)) void
convert_row(enum pumice_attr_kind kind, const struct elements *in, u32 comp, u32 size, u32 lanes,
	    u32 *row)
{
	u32 lane;

	for (lane = 0; lane < lanes; lane++) {
		u32 raw = 0;

		memcpy(&raw, &in->byte[lane][comp * size], size);
		row[lane] = convert(kind, raw);
	}
}

static void convert_component(enum pumice_attr_kind kind, const struct elements *in, u32 comp,
			      u32 lanes, u32 *row)
{
	u32 lane, word;

	if (packed(kind)) {
		for (lane = 0; lane < lanes; lane++) {
			memcpy(&word, in->byte[lane], sizeof(word));
			row[lane] = convert_packed(kind, word, comp);
		}
		return;
	}
	switch (component_bytes(kind)) {
	case 1:
		convert_row(kind, in, comp, 1, lanes, row);
		break;
	case 2:
		convert_row(kind, in, comp, 2, lanes, row);
		break;
	default:
		convert_row(PUMICE_ATTR_KIND_F32, in, comp, 4, lanes, row);
		break;
	}
}

bool pds_attr_wave(struct pds_fill *fill, const struct pumice_pds_insn *insn, const u32 *index,
		   u32 lanes, u32 *rows, struct gpu_fault *fault)
{
	const enum pumice_attr_kind kind = (enum pumice_attr_kind)insn->kind;
	const u32 bytes = packed(kind) ? 4 : component_bytes(kind) * insn->comps;
	struct elements elements;
	u32 comp, lane;

	if (!fetch(fill, insn, index, lanes, &elements, bytes, fault))
		return false;
	for (comp = 0; comp < PDS_ATTR_COMPS; comp++) {
		u32 *row = rows + comp * USC_ROW_WORDS;
		u32 missing = comp == 3 ? default_w(kind) : 0;

		if (comp < insn->comps) {
			convert_component(kind, &elements, comp, lanes, row);
			continue;
		}
		for (lane = 0; lane < lanes; lane++)
			row[lane] = missing;
	}
	return true;
}
