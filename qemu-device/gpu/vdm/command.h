/* SPDX-License-Identifier: MIT */
/*
 * Commands of the vertex control stream, and draw state: fetched, checked, unpacked.
 *
 * Source: document 001, "GL Shader State"; hw/formats.xml, stream "vdm" and vdm_state. Each word
 * is read from memory once; all further code uses the copy.
 */
#ifndef PUMICE_GPU_VDM_COMMAND_H
#define PUMICE_GPU_VDM_COMMAND_H

#include <stdbool.h>

#include "../dm/flush.h"
#include "../fault.h"
#include "../mmu/mmu.h"
#include "../record.h"
#include "pumice_formats.h"


/* A validated draw; the counts of an indirect one are not read yet. */
struct vdm_draw {
	u8 topology;		/* enum pumice_topology */
	bool after;		/* begins when all tasks without instances before it have ended */
	bool indexed, restart;
	u8 index_shift;		/* log2 of the bytes of an index */
	u64 indices;		/* GPU virtual address */
	u32 index_count;	/* in the buffer; indices beyond read as 0 */
	u32 count;		/* vertices or indices to draw */
	u32 first;		/* vertex, or position in the index buffer */
	u32 base_vertex;	/* added to indices, modulo 2^32 */
	u32 instances, base_instance;
};

/* One validated command. */
struct vdm_command {
	u8 type;		/* enum pumice_vdm_type */
	u8 words;
	u64 addr;		/* of a record, of counts, or of the stream to continue at */
	struct vdm_draw draw;	/* of draws */
	struct dm_flush flush;	/* of FLUSH */
};

/* Check and unpack one command. Returns PUMICE_FAULT_NONE with *out filled, or the reason. */
enum pumice_fault vdm_command_decode(const u32 *words, struct vdm_command *out);
/* Fetch and decode the command at addr. Returns false with all of *fault filled in. */
bool vdm_command_fetch(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx, u64 addr,
		       struct vdm_command *out, struct gpu_fault *fault);
/*
 * Read the counts of an indirect draw into cmd->draw. Returns false with all of *fault filled
 * in.
 */
bool vdm_command_counts(struct mmu *mmu, struct mmu_tlb *tlb, unsigned int ctx,
			struct vdm_command *cmd, struct gpu_fault *fault);

/* Draw state: a record and its stages. */
struct vdm_record {
	struct pumice_vdm_state state;
	struct pumice_stage vertex, coordinate;	/* coordinate.pds_insns is 0 if there is none */
	struct pumice_vdm_attribute attribute[PUMICE_MAX_ATTRIBUTES];	/* attribute_count of
									 * them */
};
#define VDM_POSITION_WORDS	4u	/* VO0 to VO3 */

/*
 * Return the number of vertex output registers of the vertex program: position, point size,
 * varyings, others.
 */
static inline u32 vdm_record_vo(const struct vdm_record *record)
{
	return VDM_POSITION_WORDS + record->state.point_size + record->state.varyings +
	       record->state.more_vo;
}

/*
 * Return those of the coordinate program: with deferred vertices it is the source of the size, too.
 */
static inline u32 vdm_record_coordinate_vo(const struct vdm_record *record)
{
	return VDM_POSITION_WORDS + (record->state.deferred && record->state.point_size);
}

/*
 * Return the words of positions that a vertex has in the VPM in addition to its outputs: a
 * coordinate program that culls writes them, and they are freed with the piece.
 */
static inline u32 vdm_record_kept_positions(const struct vdm_record *record)
{
	return record->coordinate.pds_insns && !record->state.deferred ? VDM_POSITION_WORDS : 0;
}

/* Check and unpack a record. Returns PUMICE_FAULT_NONE with *out filled, or the reason. */
enum pumice_fault vdm_record_decode(const u32 *words, struct vdm_record *out);
/* Check and unpack an entry of its attribute table, likewise. */
enum pumice_fault vdm_attribute_decode(const u32 *words, struct pumice_vdm_attribute *out);
/* Fetch and decode a record and its table. Returns false with all of *fault filled in. */
bool vdm_record_fetch(const struct gpu_record *from, struct vdm_record *out,
		      struct gpu_fault *fault);

#endif
