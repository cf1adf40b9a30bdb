// SPDX-License-Identifier: MIT
/*
 * Register accesses, control streams and structures as text. Instructions are decoded in
 * pumice_decode_isa.c.
 *
 * Source: the generated tables of hw/registers.xml and hw/formats.xml.
 *
 * Limits: see pumice_decode.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pumice_decode.h"

const struct pumice_reg_info *pumice_reg_find(u32 offset, u32 *index)
{
	const u32 word = offset / sizeof(u32);
	const struct pumice_reg_info *reg;

	if (word >= PUMICE_REG_WORDS || !pumice_reg_words[word])
		return NULL;
	reg = &pumice_reg_table[pumice_reg_words[word] - 1];
	/* Without a division for plain registers: the firmware waits for this. */
	if (index)
		*index = reg->count == 1 ? 0 : (offset - reg->offset) / reg->stride;
	return reg;
}

const struct pumice_format_info *pumice_format_find(const char *name)
{
	for (u32 i = 0; i < PUMICE_FORMAT_TABLE_SIZE; i++) {
		if (strcmp(pumice_format_table[i].name, name) == 0)
			return &pumice_format_table[i];
	}
	return NULL;
}

/* Convert the bits of a float to its value. */
static double float_value(u32 bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return (double)value;
}

/* Format the value of a field as text. */
static void field_value(const struct pumice_field_info *field, u64 raw, char *out, size_t size)
{
	u64 value = raw << field->shift;

	switch (field->type) {
	case PUMICE_FIELD_BOOL:
		snprintf(out, size, "%s", raw ? "true" : "false");
		break;
	case PUMICE_FIELD_ENUM:
		snprintf(out, size, "%s (%" PRIu64 ")", field->text((u32)raw), raw);
		break;
	case PUMICE_FIELD_INT: {
		u64 sign = 1ULL << (field->width - 1);

		snprintf(out, size, "%" PRId64, (s64)((raw ^ sign) - sign));
		break;
	}
	case PUMICE_FIELD_FLOAT:
		snprintf(out, size, "%.9g (0x%08" PRIx64 ")", float_value((u32)raw), raw);
		break;
	case PUMICE_FIELD_ADDRESS:
		snprintf(out, size, "0x%010" PRIx64, value);
		break;
	default:
		snprintf(out, size, value > 9 ? "%" PRIu64 " (0x%" PRIx64 ")" : "%" PRIu64, value,
			 value);
		break;
	}
}

/* Describe the error in the value of a field, or return "". */
static const char *field_problem(const struct pumice_field_info *field, u64 raw)
{
	if (field->type == PUMICE_FIELD_RESERVED && raw)
		return ": reserved bits are set";
	if (field->type == PUMICE_FIELD_CONST && raw != field->value)
		return ": not the constant it should be";
	if (field->type == PUMICE_FIELD_ENUM && !field->valid((u32)raw))
		return ": no such value";
	return "";
}

/*
 * Emit a line for each field of @dw within bits [first, first + bits). Constants and reserved bits
 * are shown only if they are wrong.
 */
static void decode_fields(const struct pumice_field_info *fields, u32 nr, const u32 *dw, u32 first,
			  u32 bits, u64 addr, pumice_decode_fn fn, void *data)
{
	char line[PUMICE_DECODE_LINE], value[128];

	for (u32 i = 0; i < nr; i++) {
		const struct pumice_field_info *field = &fields[i];
		bool quiet = field->type == PUMICE_FIELD_RESERVED ||
			     field->type == PUMICE_FIELD_CONST;

		for (u32 n = 0; n < field->count; n++) {
			u32 bit = field->bit + n * field->width;
			u64 raw;
			const char *problem;

			if (bit + field->width <= first || bit >= first + bits)
				continue;
			raw = pumice_bits(dw, bit, field->width);
			problem = field_problem(field, raw);
			if (quiet && !*problem)
				continue;
			field_value(field, raw, value, sizeof(value));
			if (field->count > 1)
				snprintf(line, sizeof(line), "  %s[%u] = %s%s", field->name, n,
					 value, problem);
			else
				snprintf(line, sizeof(line), "  %s = %s%s",
					 field->name ? field->name : "(reserved)", value, problem);
			fn(data, addr, line);
		}
	}
}

void pumice_decode_reg(u32 offset, u32 bits, bool write, u64 value, pumice_decode_fn fn,
		       void *data)
{
	char line[PUMICE_DECODE_LINE], element[16] = "";
	u32 index, first, dw[3] = { 0 };
	const struct pumice_reg_info *reg = pumice_reg_find(offset, &index);
	const char *verb = write ? "write" : "read";

	if (!reg) {
		snprintf(line, sizeof(line), "%s of unknown register 0x%04x: 0x%" PRIx64, verb,
			 offset, value);
		fn(data, offset, line);
		return;
	}
	if (reg->count > 1)
		snprintf(element, sizeof(element), "[%u]", index);
	first = (offset - reg->offset - index * reg->stride) * 8;
	snprintf(line, sizeof(line), "%s %s%s%s = 0x%0*" PRIx64, verb, reg->name, element,
		 bits >= reg->bits ? "" : first ? " (high half)" : " (low half)", (int)bits / 4,
		 value);
	fn(data, offset, line);
	pumice_set_bits(dw, first < 64 ? first : 0, bits > 32 && !first ? 64 : 32, value);
	decode_fields(reg->fields, reg->nr_fields, dw, first, bits, offset, fn, data);
}

void pumice_decode_format(const struct pumice_format_info *format, u64 va, const u32 *dw,
			  pumice_decode_fn fn, void *data)
{
	fn(data, va, format->name);
	decode_fields(format->fields, format->nr_fields, dw, 0, format->words * 32u, va, fn, data);
}

size_t pumice_decode_stream(const struct pumice_stream_info *stream, u64 va, const u32 *dw,
			    size_t words, pumice_decode_fn fn, void *data)
{
	char line[PUMICE_DECODE_LINE];
	size_t at = 0;

	while (at < words) {
		u64 type = pumice_bits(&dw[at], stream->type_bit, stream->type_width);
		const struct pumice_format_info *format = NULL;

		for (u32 i = 0; i < stream->nr_cmds; i++) {
			if (stream->cmds[i].type == type)
				format = stream->cmds[i].format;
		}
		if (!format) {
			snprintf(line, sizeof(line), "unknown %s command 0x%08x", stream->name,
				 dw[at]);
			fn(data, va + at * 4, line);
			break;
		}
		if (format->words > words - at) {
			snprintf(line, sizeof(line), "%s cut off after %zu of %u words",
				 format->name, words - at, format->words);
			fn(data, va + at * 4, line);
			break;
		}
		pumice_decode_format(format, va + at * 4, &dw[at], fn, data);
		at += format->words;
	}
	return at;
}
