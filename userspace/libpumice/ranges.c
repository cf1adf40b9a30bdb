// SPDX-License-Identifier: MIT
/* Ordered ranges of addresses: see ranges.h. */
#include "ranges.h"

#include <stddef.h>

static int compare(const struct range *a, const struct range *b)
{
	return a->va < b->va ? -1 : a->va > b->va;
}

RB_GENERATE_INTERNAL(ranges, range, link, compare, __attribute__((unused)) static)

void ranges_add(struct ranges *ranges, struct range *range)
{
	RB_INSERT(ranges, ranges, range);
}

void ranges_remove(struct ranges *ranges, struct range *range)
{
	RB_REMOVE(ranges, ranges, range);
}

struct range *ranges_find(struct ranges *ranges, u64 va)
{
	struct range at = { .va = va };
	struct range *after = RB_NFIND(ranges, ranges, &at);
	struct range *before = after ? RB_PREV(ranges, ranges, after) : RB_MAX(ranges, ranges);

	return before && range_end(before) > va ? before : after;
}

struct range *ranges_first(struct ranges *ranges)
{
	return RB_MIN(ranges, ranges);
}

struct range *ranges_next(struct range *range)
{
	return RB_NEXT(ranges, NULL, range);
}
