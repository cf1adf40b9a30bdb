/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Counts of the memory hierarchy: the columns that registers HIER_VALUE(n) have for a client
 * (enum pumice_mem_client) and for a level of caches (enum pumice_cache).
 *
 * The device, the driver, the library and the documentation all use these tables. The numbers are
 * part of the hardware: new columns are appended, up to PUMICE_HIER_VALUE_COUNT.
 */
#ifndef PUMICE_HIER_H
#define PUMICE_HIER_H

/*
 * X(name, description) of a client. The first and second level are those of the data or of the
 * texture caches, by its path. Requests of a cache that are neither hits, misses nor combined are
 * atomic operations, which it passes on.
 */
#define PUMICE_HIER_CLIENT_COLUMNS(X) \
	X(REQUESTS, "requests, as units made them") \
	X(BYTES, "bytes of these") \
	X(FIRST_REQUESTS, "requests of lines of the first level") \
	X(FIRST_HITS, "those whose line the first level held") \
	X(FIRST_MISSES, "those whose line it did not hold") \
	X(FIRST_COMBINED, "writes that it combined with an earlier one") \
	X(SECOND_REQUESTS, "requests of lines of the second level") \
	X(SECOND_HITS, "those whose line the second level held") \
	X(SECOND_MISSES, "those whose line it did not hold") \
	X(SECOND_COMBINED, "writes that it combined with an earlier one; no preset has such a cache") \
	X(SLC_HITS, "requests whose line the SLC held") \
	X(SLC_MISSES, "requests whose line it did not hold") \
	X(SLC_BYPASSES, "requests for which it allocates no line") \
	X(READ_BYTES, "bytes that the SLC read from memory") \
	X(WRITTEN_BYTES, "bytes that the SLC wrote to memory")

/* X(name, description) of a level: sums over all of its caches. */
#define PUMICE_HIER_LEVEL_COLUMNS(X) \
	X(REQUESTS, "requests of lines") \
	X(BYTES, "bytes of these") \
	X(HITS, "requests whose line was held") \
	X(MISSES, "requests whose line was not held") \
	X(ATOMICS, "atomic operations that were passed on; of the SLC 0: hits or misses") \
	X(COMBINED, "writes that were combined with an earlier one") \
	X(BYPASSES, "requests for which no line was allocated; SLC only") \
	X(EVICTIONS, "lines that were replaced") \
	X(DROPPED, "lines that an atomic operation or an invalidation dropped") \
	X(FILLS, "reads of lines from the next level, or memory; of the SLC without bypasses") \
	X(READ_BYTES, "bytes read from the next level, or memory, also by bypasses") \
	X(WRITES, "writes to the next level; of the SLC lines written back, without bypasses") \
	X(WRITTEN_BYTES, "bytes written to the next level, or memory, also by bypasses")

#define PUMICE_HIER_CLIENT_ENUM_(name, description) PUMICE_HIER_CLIENT_##name,
enum pumice_hier_client_column {
	PUMICE_HIER_CLIENT_COLUMNS(PUMICE_HIER_CLIENT_ENUM_)
	PUMICE_HIER_CLIENT_NUMBER	/* of columns */
};

#define PUMICE_HIER_LEVEL_ENUM_(name, description) PUMICE_HIER_LEVEL_##name,
enum pumice_hier_level_column {
	PUMICE_HIER_LEVEL_COLUMNS(PUMICE_HIER_LEVEL_ENUM_)
	PUMICE_HIER_LEVEL_NUMBER	/* of columns */
};

#endif
