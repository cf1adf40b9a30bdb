/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The dump file: state of a GPU, its firmware and one job when the job failed or
 * the GPU was reset. The kernel driver provides it as a devcoredump, libpumice writes
 * it to a file for a GPU in process; pumice-dump reads both.
 *
 * A file is struct pumice_dump_header and then sections, each struct
 * pumice_dump_section followed by its data, padded with zeros to a multiple of 8
 * bytes. Everything is little endian and at a multiple of 8 bytes. A reader skips
 * sections of unknown types and ignores unknown fields at the end of a structure:
 * new fields are appended, so that an element's size is that of the section divided
 * by its count. Unavailable data are omitted, and there may be several MEMORY and
 * WALK sections.
 *
 * A reader validates everything in a file.
 */
#ifndef PUMICE_DUMPFILE_H
#define PUMICE_DUMPFILE_H

#include "fwif.h"
#include "pumice_regs.h"
#include "pumice_types.h"

#define PUMICE_DUMP_MAGIC	0x00504d55444d5550ull	/* the bytes P, U, M, D, U, M, P, 0 */
#define PUMICE_DUMP_VERSION	1u		/* of the layout */

/* First of the file. */
struct pumice_dump_header {
	u64 magic;		/* PUMICE_DUMP_MAGIC */
	u32 version;		/* PUMICE_DUMP_VERSION */
	u32 header_bytes;	/* of this structure: where the first section is */
	u64 bytes;		/* of the file */
	u32 sections;		/* in the file */
	u32 dropped;		/* sections omitted for lack of space */
};

enum pumice_dump_type {
	PUMICE_DUMP_INFO	= 1,	/* text: lines of a key, a colon, a blank and a value */
	PUMICE_DUMP_REASON	= 2,	/* struct pumice_dump_reason */
	PUMICE_DUMP_REGISTERS	= 3,	/* struct pumice_dump_register: host-readable ones */
	PUMICE_DUMP_WAVES	= 4,	/* struct pumice_dump_wave: all in flight, of all jobs */
	PUMICE_DUMP_STUCK	= 5,	/* struct fwif_stuck: location of the job */
	PUMICE_DUMP_FW_BOOT	= 6,	/* struct fwif_boot: state of the firmware */
	PUMICE_DUMP_FW_LOG	= 7,	/* struct fwif_log_entry: the ring; addr: entries written */
	PUMICE_DUMP_CONTEXT	= 8,	/* struct fwif_context: the job's */
	PUMICE_DUMP_MEMORY	= 9,	/* bytes; addr: GPU virtual address,
					 * role: enum pumice_dump_role */
	PUMICE_DUMP_WALK	= 10,	/* struct pumice_dump_walk, from the catalogue
					 * on; addr: GPU virtual address */
	PUMICE_DUMP_RESULT	= 11,	/* struct fwif_job_result: the job's */
};

/* Contents of a MEMORY section. */
enum pumice_dump_role {
	PUMICE_DUMP_ROLE_STREAM	= 1,	/* starting at the job's control stream, or render record */
	PUMICE_DUMP_ROLE_FAULT	= 2,	/* around the address of a fault */
	PUMICE_DUMP_ROLE_CODE	= 3,	/* USC instructions around the PCs of waves */
	PUMICE_DUMP_ROLE_RENDER	= 4,	/* of a geometry job: the stream of its fragment job */
};

struct pumice_dump_section {
	u32 type;		/* enum pumice_dump_type */
	u32 role;		/* of MEMORY; else zero */
	u64 bytes;		/* of the data, padding not included */
	u64 addr;		/* see the type */
	u32 count;		/* elements, of sections that hold some */
	u32 late;		/* 1: captured after the GPU or its firmware had continued */
};

enum pumice_dump_kind {
	PUMICE_DUMP_KIND_FAULT	= 1,	/* a job faulted */
	PUMICE_DUMP_KIND_TIMEOUT = 2,	/* a job took too long and was, or is to be, killed */
	PUMICE_DUMP_KIND_RESET	= 3,	/* the GPU is to be reset: text has the reason */
	PUMICE_DUMP_KIND_USER	= 4,	/* requested by the user */
};

struct pumice_dump_reason {
	u32 kind;		/* enum pumice_dump_kind */
	u32 dm;			/* enum fwif_dm of the job */
	u32 context;		/* firmware id of its context; FWIF_NO_CONTEXT without a job */
	u32 seqno;		/* the job, as the firmware numbers it */
	u64 job;		/* the job, as its context's user numbers it */
	u64 stream;		/* GPU virtual address of its control stream or render record */
	u64 catalogue;		/* bus address of its VM's page catalogue */
	u64 time;		/* GPU clock */
	u32 pid;		/* of the process that created the context */
	u32 uapi_context;	/* its number in its file */
	char process[16];	/* its name, NUL padded */
	char text[64];		/* reason, NUL terminated */
};

struct pumice_dump_register {
	u32 offset;		/* in the page of virtual GPU 0 */
	u32 bits;		/* 32 or 64 */
	u64 value;
};

/* One wave, from the registers of unit WAVE. */
struct pumice_dump_wave {
	u64 code;		/* WAVE_CODE */
	u32 pc;			/* WAVE_PC */
	u32 lanes;		/* WAVE_LANES */
	u32 where;		/* WAVE_WHERE */
	u32 reserved;		/* zero */
};

/* One level of a page-table walk. */
struct pumice_dump_walk {
	u64 table;		/* bus address of the table */
	u64 entry;		/* entry for the address; 0 if there is no table */
	u32 level;		/* 0 page catalogue, 1 page directory, 2 page table */
	u32 index;		/* of the entry */
};

#define PUMICE_DUMP_ALIGN	8u

/*
 * Count a wave at its place, as the firmware does for a job that it stops; only the first
 * FWIF_STUCK_PLACES places are kept. The caller sets stuck->waves and stuck->sampled.
 */
static inline void pumice_dump_count_wave(struct fwif_stuck *stuck,
					  const struct pumice_dump_wave *wave)
{
	struct fwif_place *p = stuck->place;

	for (; p < stuck->place + stuck->places; p++) {
		if (p->code == wave->code && p->pc == wave->pc) {
			p->waves++;
			return;
		}
	}
	if (stuck->places == FWIF_STUCK_PLACES)
		return;
	stuck->places++;
	*p = (struct fwif_place){
		.code = wave->code,
		.pc = wave->pc,
		.waves = 1,
		.lanes = wave->lanes,
		.usc = PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__USC, wave->where),
		.slot = PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__SLOT, wave->where),
		.wave = PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__WAVE, wave->where),
		.state = PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__STATE, wave->where),
	};
}

FWIF_SIZE_(struct pumice_dump_header, 32);
FWIF_SIZE_(struct pumice_dump_section, 32);
FWIF_SIZE_(struct pumice_dump_reason, 136);
FWIF_SIZE_(struct pumice_dump_register, 16);
FWIF_SIZE_(struct pumice_dump_wave, 24);
FWIF_SIZE_(struct pumice_dump_walk, 24);

#endif
