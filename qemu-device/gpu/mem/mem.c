// SPDX-License-Identifier: MIT
/*
 * Memory map: sorted tables of the regions of guest memory. See mem.h.
 */
#include "mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_regions(const void *a, const void *b)
{
	const struct pumice_mem_region *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static bool region_valid(const struct pumice_mem_region *r)
{
	return r->size && !(r->addr % MEM_ALIGN) && !(r->size % MEM_ALIGN) && r->host &&
	       !((uintptr_t)r->host % MEM_ALIGN) && r->size - 1 <= UINT64_MAX - r->addr;
}

/* Return whether every region is valid and after the previous one. */
static bool table_valid(const struct pumice_mem_region *table, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!region_valid(&table[i]))
			return false;
		if (i && table[i].addr - table[i - 1].addr < table[i - 1].size)
			return false;
	}
	return true;
}

void mem_map_clear(struct mem_map *map)
{
	free(map->region);
	*map = (struct mem_map){ 0 };
}

static bool os_may_access(const struct pumice_mem_region *r, unsigned int os)
{
	return !r->oses || r->oses >> os & 1;
}

/* Copy the regions of a virtual GPU to a table. Return: their number. */
static unsigned int copy_regions(struct pumice_mem_region *table,
				 const struct pumice_mem_region *regions, unsigned int count,
				 unsigned int os)
{
	unsigned int i, own = 0;

	for (i = 0; i < count; i++)
		if (os_may_access(&regions[i], os))
			table[own++] = regions[i];
	return own;
}

int mem_map_set(struct mem_map *map, const struct pumice_mem_region *regions,
		unsigned int count)
{
	unsigned int os, own;

	mem_map_clear(map);
	if (!count)
		return 0;

	map->region = calloc((size_t)count * PUMICE_OS_COUNT, sizeof(*map->region));
	if (!map->region)
		return -ENOMEM;
	for (os = 0; os < PUMICE_OS_COUNT; os++) {
		struct pumice_mem_region *table = map->region + map->first[os];

		own = copy_regions(table, regions, count, os);
		qsort(table, own, sizeof(*table), compare_regions);
		if (!table_valid(table, own)) {
			mem_map_clear(map);
			return -EINVAL;
		}
		map->first[os + 1] = map->first[os] + own;
	}
	return 0;
}

/* Return the region of a virtual GPU that contains addr, or NULL. */
static const struct pumice_mem_region *find_region(const struct mem_map *map, unsigned int os,
						   u64 addr)
{
	unsigned int low, high;

	if (os >= PUMICE_OS_COUNT)
		return NULL;
	low = map->first[os];
	high = map->first[os + 1];
	while (low < high) {
		unsigned int mid = low + (high - low) / 2;
		const struct pumice_mem_region *r = &map->region[mid];

		if (addr < r->addr)
			high = mid;
		else if (addr - r->addr >= r->size)
			low = mid + 1;
		else
			return r;
	}
	return NULL;
}

u8 *mem_map_lookup(const struct mem_map *map, unsigned int os, u64 addr, u64 len, bool *readonly)
{
	const struct pumice_mem_region *r = find_region(map, os, addr);

	if (!r || len > r->size - (addr - r->addr))
		return NULL;
	if (readonly)
		*readonly = r->readonly;
	return r->host + (addr - r->addr);
}

bool mem_map_read(const struct mem_map *map, u64 addr, void *buf, u64 len)
{
	u8 *to = buf;

	while (len) {
		const struct pumice_mem_region *r = find_region(map, 0, addr);
		u64 part;

		if (!r)
			return false;
		part = r->size - (addr - r->addr);
		if (part > len)
			part = len;
		memcpy(to, r->host + (addr - r->addr), part);
		to += part;
		len -= part;
		addr += part;
	}
	return true;
}
