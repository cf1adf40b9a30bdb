/* SPDX-License-Identifier: MIT */
/*
 * Halves of a core, whose USCs share units and caches.
 *
 * Source: document 004, "TAG" to "TITR", "DCU" and "TCU": two of each a core, each shared by two of
 * four pipes. A core of one USC has one half, others have two: the first ones of its USCs share the
 * first.
 */
#ifndef PUMICE_GPU_SHARE_H
#define PUMICE_GPU_SHARE_H

#define HALVES_PER_CORE	2u	/* at most */

/*
 * Return the half of a core that a USC belongs to. in_core: its
 * number in the core; uscs: of the core
 */
static inline unsigned int half_of_usc(unsigned int in_core, unsigned int uscs)
{
	return in_core >= (uscs + 1) / 2;
}

#endif
