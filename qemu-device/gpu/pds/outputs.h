/* SPDX-License-Identifier: MIT */
/*
 * PDS: pixel outputs of the tiles in flight.
 *
 * Source: document 003, "Pixel Output Registers": they are allocated from the partition store if
 * tiles are assigned to USCs, else from the common store. The property pixel-outputs selects one
 * for the GPU: with "partition" they are in the unified store of one USC, on which all tasks of
 * fragments of the tile run; with "common" in the common store of one USC of the core, and the
 * tasks run on any.
 *
 * A tile of w x h pixels of s samples with n registers has w h s n words. It claims them when it
 * begins, waits if there is no room, and frees them when it is stored.
 *
 * Tiles that wait for tasks, whose room is occupied by the outputs of others, would wait for ever.
 * So outputs leave room for a task of each stage of the PDM: see pds_output_reserve().
 */
#ifndef PUMICE_GPU_PDS_OUTPUTS_H
#define PUMICE_GPU_PDS_OUTPUTS_H

#include "gfx.h"

/* The outputs of a tile; zero: none. */
struct pds_outputs {
	u32 *word;		/* the memory, or NULL; aligned to the words of a row */
	unsigned int usc;	/* over all cores */
	u32 piece;
	u8 tile;		/* number of the tile in its core, less
				 * than PDS_WAITERS; the owner's */
};

/* Return whether this number of words of outputs, a multiple of PUMICE_LANES, can ever fit. */
bool pds_outputs_fit(const struct pds *pds, u32 words);

/*
 * Claim room for a tile's outputs on a core. The words keep the values of the previous owner.
 * PDS_WAIT: as that of pds_task_claim(); they fit.
 */
enum pds_result pds_outputs_claim(struct pds *pds, unsigned int core, u32 words, unsigned int ctx,
				  struct pds_outputs *out);
/*
 * Claim room for a task of the PDM, a vertex or fragment task for a tile that has outputs: as
 * pds_task_claim(), on the USC of the outputs if these are in its partition.
 */
enum pds_result pds_tile_task_claim(struct pds *pds, const struct pds_outputs *outputs,
				    const struct pds_stage *stage, u32 instances, u32 prims,
				    struct pds_place *place, struct gpu_fault *fault);
/* Free a tile's outputs, if it has any; no task of the tile runs. Notifies the PDM. */
void pds_outputs_free(struct pds *pds, struct pds_outputs *outputs);

#endif
