/* SPDX-License-Identifier: MIT */
/*
 * Heaps: layout of the address space of each VM by page size (document 000,
 * "Memory Hierarchy"). The range registers assign the size of each heap; addresses outside
 * of heaps have pages of 4 KiB.
 *
 * X(page_size, first_gib, gib)
 *
 *   page_size  suffix of enum pumice_page_size
 *   first_gib  first address, GiB
 *   gib        size, GiB
 *
 * The large heaps are between the addresses of programs that do not use heaps and those of
 * the parameter buffers, so that they overlap neither.
 */
#ifndef PUMICE_HEAPS_H
#define PUMICE_HEAPS_H

#define PUMICE_HEAPS(X) \
	X(16K, 768, 16) \
	X(64K, 784, 32) \
	X(256K, 816, 16) \
	X(1M, 832, 32) \
	X(2M, 864, 32)

#define PUMICE_HEAPS_START	(768ull << 30)	/* of the first heap */
#define PUMICE_HEAPS_END	(896ull << 30)	/* of the last one, exclusive */

#endif
