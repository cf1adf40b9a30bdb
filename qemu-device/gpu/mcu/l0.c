// SPDX-License-Identifier: MIT
/*
 * MCU L0: DMA engine and read caches of a USC.
 *
 * Source: document 000, "MCU L0".
 */
#include "l0.h"

#include <stdlib.h>
#include <string.h>

#include "pumice_format_table.h"

#define WORD_BITS	64u
#define WORDS		(L0_MAX_LINE / WORD_BITS)

/* Writes that are combined. */
struct open_line {
	bool open;
	struct level_request first;	/* the write that opened the line */
	u64 line;			/* address of the line */
	u64 written[WORDS];		/* bit of each byte of the line */
};

struct l0 {
	struct level_config config;	/* constant */
	struct level *part[L0_PARTITIONS];
	struct open_line line[L0_PARTITIONS];
};

enum l0_partition l0_partition_of(u32 client)
{
	if (pumice_client_table[client].unit == PUMICE_UNIT_PDS)
		return L0_PDS;
	return pumice_client_table[client].access == PUMICE_ACCESS_EXEC ? L0_CODE : L0_DATA;
}

struct l0 *l0_create(const struct level_config *config, const char **error)
{
	struct l0 *l0;
	u32 i;

	if (config->cache.line_bytes > L0_MAX_LINE) {
		*error = "lines of an MCU L0 must have at most 128 bytes";
		return NULL;
	}
	l0 = calloc(1, sizeof(*l0));
	if (!l0) {
		*error = "no memory for an MCU L0";
		return NULL;
	}
	l0->config = *config;
	for (i = 0; i < L0_PARTITIONS; i++) {
		l0->part[i] = level_create(config, error);
		if (!l0->part[i]) {
			l0_destroy(l0);
			return NULL;
		}
	}
	return l0;
}

void l0_destroy(struct l0 *l0)
{
	u32 i;

	if (!l0)
		return;
	for (i = 0; i < L0_PARTITIONS; i++)
		level_destroy(l0->part[i]);
	free(l0);
}

void l0_reset(struct l0 *l0)
{
	u32 i;

	for (i = 0; i < L0_PARTITIONS; i++)
		level_reset(l0->part[i]);
	memset(l0->line, 0, sizeof(l0->line));
}

static bool is_written(const struct open_line *line, u32 byte)
{
	return line->written[byte / WORD_BITS] >> (byte % WORD_BITS) & 1;
}

/* Number of written bytes of a segment, of which the first and the one after the last in *range. */
static u32 count_written(const struct open_line *line, u32 from, u32 bytes, u32 range[2])
{
	u32 count = 0, byte;

	for (byte = from; byte < from + bytes; byte++) {
		if (!is_written(line, byte))
			continue;
		if (!count++)
			range[0] = byte;
		range[1] = byte + 1;
	}
	return count;
}

/*
 * Pass on an open line: a write for each run of consecutive segments that have written bytes, from
 * the first to the last one of these. Only written bytes are counted.
 */
static void pass_line(struct l0 *l0, enum l0_partition part)
{
	const u32 segment = l0->config.cache.segment_bytes;
	struct open_line *line = &l0->line[part];
	struct level_request run = line->first;
	u32 at, range[2] = { 0, 0 };

	if (!line->open)
		return;
	line->open = false;
	run.bytes = 0;
	run.used = 0;
	run.covered = 0;
	for (at = 0; at < l0->config.cache.line_bytes; at += segment) {
		u32 count = count_written(line, at, segment, range);

		if (count && !run.bytes)
			run.addr = line->line + range[0];
		if (count)
			run.bytes = (u32)(line->line + range[1] - run.addr);
		run.used += count;
		if (count == segment)
			run.covered |= 1u << (at / segment);
		if (run.bytes && (!count || at + segment == l0->config.cache.line_bytes)) {
			level_pass(l0->part[part], &run);
			run.bytes = 0;
			run.used = 0;
			run.covered = 0;
		}
	}
}

static void write_line(struct l0 *l0, enum l0_partition part, const struct level_request *request)
{
	struct open_line *line = &l0->line[part];
	u64 addr = cache_line_addr(level_cache(l0->part[part]), request->addr);
	u32 byte;

	if (line->open && line->line == addr && line->first.ctx == request->ctx &&
	    line->first.client == request->client) {
		level_combine(l0->part[part], request);
	} else {
		pass_line(l0, part);
		level_update(l0->part[part], request);
		*line = (struct open_line){ .open = true, .first = *request, .line = addr };
	}
	byte = (u32)(request->addr - addr);
	for (; byte < request->addr - addr + request->bytes; byte++)
		line->written[byte / WORD_BITS] |= 1ull << (byte % WORD_BITS);
}

/* Pass on the open line of a partition if it is that of a request. */
static void pass_same_line(struct l0 *l0, enum l0_partition part,
			   const struct level_request *request)
{
	const struct open_line *line = &l0->line[part];

	if (line->first.ctx == request->ctx &&
	    line->line == cache_line_addr(level_cache(l0->part[part]), request->addr))
		pass_line(l0, part);
}

static void one_line(struct l0 *l0, const struct level_request *request)
{
	enum l0_partition part = l0_partition_of(request->client), other;

	if (request->kind == LEVEL_WRITE) {
		write_line(l0, part, request);
		return;
	}
	if (request->kind == LEVEL_ATOMIC) {
		for (other = 0; other < L0_PARTITIONS; other++) {
			pass_same_line(l0, other, request);
			level_drop_line(l0->part[other], request->ctx, request->addr);
		}
	}
	pass_same_line(l0, part, request);
	level_request(l0->part[part], request);
}

void l0_request(struct l0 *l0, u32 usc, const struct mem_request *request)
{
	struct mem_request rest = *request;
	struct level_request part;

	while (level_split(l0->part[0], &rest, usc, &part))
		one_line(l0, &part);
}

void l0_flush(struct l0 *l0)
{
	enum l0_partition part;

	for (part = 0; part < L0_PARTITIONS; part++)
		pass_line(l0, part);
}

void l0_invalidate(struct l0 *l0, const struct cache_range *range, struct level_swept *sum)
{
	enum l0_partition part;

	for (part = 0; part < L0_PARTITIONS; part++)
		level_invalidate(l0->part[part], range, sum);
}

const struct level *l0_level(const struct l0 *l0, enum l0_partition partition)
{
	return l0->part[partition];
}
