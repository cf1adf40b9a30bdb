/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Firmware interface: memory that host driver and firmware share.
 *
 * All structures are in MMU context 0, which the driver maps and the firmware
 * accesses through its window. An address of this interface ("fw address") is a
 * 32-bit virtual address of context 0 below 2 GiB; 0 is never valid. Every
 * structure is little endian, has no pointers and no implicit padding, and its
 * size and offsets are asserted where this header is included.
 *
 * Rings: an index counts entries, is kept below the ring's size by masking,
 * write == read means empty, and one entry stays free. The only writer of a
 * field is named at the field. Host and firmware do not trust each other's
 * data: each copies them once and validates the copy.
 *
 * Virtual GPUs: each has a boot structure, rings and contexts of its own. While several are active,
 * number n has the addresses of context 0 from n times PUMICE_OS_PART_SIZE on, with a catalogue of
 * its own, and all that it passes to the firmware is there; so it cannot name objects of another.
 * Number 0 boots the firmware. The others connect by registers of their page, OS_CATALOGUE,
 * OS_BOOT_ARG and OS_CTRL; the firmware replies in the boot structure's state as at boot. After it
 * has disconnected, OFF is written there, and nothing of that virtual GPU is used anymore. A host
 * that may have been connected before its own reset writes 0 to OS_CTRL and waits until
 * CONNECTED of it is 0 before it changes OS_CATALOGUE.
 *
 * Source: document 000, "Firmware Processor" and "Device Driver".
 */
#ifndef PUMICE_FWIF_H
#define PUMICE_FWIF_H

#include "pumice_types.h"

#define FWIF_IMAGE_MAGIC	0x57465550u	/* the bytes P, U, F, W */
#define FWIF_BOOT_MAGIC		0x544f4f42u	/* the bytes B, O, O, T */
#define FWIF_CONTEXT_MAGIC	0x54585443u	/* the bytes C, T, X, T */

/*
 * Interface version: both sides refuse a different major. Each compatible addition, such as a
 * command or a field in reserved space, increments the minor.
 */
#define FWIF_VERSION_MAJOR	1u
#define FWIF_VERSION_MINOR	14u
#define FWIF_VERSION		(FWIF_VERSION_MAJOR << 16 | FWIF_VERSION_MINOR)

/*
 * Minor versions of the register map and of this interface since which there are contexts of the
 * RDM, flips, a policy of the DMS that the host selects, and operations on caches.
 */
#define FWIF_RDM_SINCE_MAP	5u
#define FWIF_RDM_SINCE		9u
#define FWIF_FLIPS_SINCE_MAP	5u
#define FWIF_FLIPS_SINCE	9u
#define FWIF_DMS_POLICY_SINCE_MAP	4u
#define FWIF_DMS_POLICY_SINCE	11u
#define FWIF_CACHES_SINCE_MAP	9u
#define FWIF_CACHES_SINCE	12u
/* That of the register map since which there are performance counters of the memory hierarchy. */
#define FWIF_PERF_HIER_SINCE_MAP	16u
/* That of the register map since which the PDS shows which data masters get no room. */
#define FWIF_STARVED_SINCE_MAP	13u
/* The same, since which virtual GPUs other than 0 can connect. */
#define FWIF_OSES_SINCE_MAP	10u
#define FWIF_OSES_SINCE		13u

#define FWIF_BUILD_ID_BYTES	32u	/* text, NUL padded, always NUL terminated */

/*
 * Header of the firmware file pumice/pumice_fw.bin. The boot ROM copies the
 * payload that follows it to address 0 of the private memory.
 */
struct fwif_image_header {
	u32 magic;		/* FWIF_IMAGE_MAGIC */
	u32 version;		/* FWIF_VERSION */
	u32 file_bytes;		/* header and payload */
	u32 payload_bytes;	/* a multiple of 4, 1 to PUMICE_FW_RAM_SIZE */
	u32 entry;		/* even, below payload_bytes */
	u32 crc32;		/* IEEE 802.3, of the payload */
	u32 reserved[2];	/* zero */
	char build_id[FWIF_BUILD_ID_BYTES];
};

/* A ring's indices; its entries are stored separately. */
struct fwif_ring {
	u32 write;		/* by the producer */
	u32 read;		/* by the consumer */
	u32 count;		/* by the host before boot: entries, a power of two */
	u32 dropped;		/* by the producer: messages lost because the ring was full */
};

#define FWIF_RING_MAX		1024u	/* largest count of any ring */

/* State of the firmware, by the firmware. */
enum fwif_state {
	FWIF_STATE_OFF		= 0,	/* not booted (initial value, by the
					 * host), or disconnected */
	FWIF_STATE_READY	= 1,
	FWIF_STATE_REFUSED	= 2,	/* see boot.error */
	FWIF_STATE_FATAL	= 3,	/* stopped by an internal error: see boot.error */
};

/* Reasons for which the firmware refused to boot or stopped. */
enum fwif_error {
	FWIF_ERROR_NONE		= 0,
	FWIF_ERROR_MAGIC	= 1,	/* boot.magic */
	FWIF_ERROR_VERSION	= 2,	/* boot.version has a different major */
	FWIF_ERROR_RING		= 3,	/* a ring's count or address */
	FWIF_ERROR_DEVICE	= 4,	/* not the register map it was built for */
	FWIF_ERROR_TRAP		= 5,	/* unexpected trap: boot.error_info is
					 * mcause, error_pc mepc */
	FWIF_ERROR_CLIENT_CCB	= 6,	/* in a message only: see FWIF_CONTEXT_BROKEN */
};

/*
 * Boot structure, which the host places in context 0 before boot. The register
 * FW_BOOT_ARG has its fw address.
 */
struct fwif_boot {
	/* by the host */
	u32 magic;		/* FWIF_BOOT_MAGIC */
	u32 version;		/* FWIF_VERSION */
	u32 kccb_ring;		/* fw address of struct fwif_ring */
	u32 kccb;		/* fw address of struct fwif_kccb_cmd[count] */
	u32 kccb_status;	/* fw address of u32[count]: enum fwif_status of each entry */
	u32 fwccb_ring;		/* fw address of struct fwif_ring */
	u32 fwccb;		/* fw address of struct fwif_fwccb_msg[count] */
	u32 log_ring;		/* fw address of struct fwif_ring; the
				 * firmware never waits on read */
	u32 log;		/* fw address of struct fwif_log_entry[count] */
	u32 log_level;		/* maximum level of entries; may change at run time */
	u32 slice_us;		/* time slice; 0 is FWIF_SLICE_US. May change at run time */
	u32 split_prims;	/* for VDM_SPLIT; 0 is PUMICE_SPLIT_PRIMS. May change at run time */
	/*
	 * Not 0: log events of every level are also written to the event trace (TRACE_FW_EVENT).
	 * May change at run time; 0 for devices before register map 2.3. Since version 1.6.
	 */
	u32 trace;
	/*
	 * Byte n: share of data master n, CDM to PDM, and byte FWIF_PDS_SHARE_BYTE_RDM: of the RDM,
	 * of the slots and stores of each USC while two of them have jobs, in 1/256; while n have,
	 * each is limited to 2/n of its share. 255: no limit, 0: FWIF_PDS_SHARE_*. May change at
	 * run time: it applies from the next start or end of a job. Since version 1.7, that
	 * of the RDM since 1.9.
	 */
	u32 pds_shares;
	/*
	 * Policy of the data master selector of every core, enum pumice_dms_policy; invalid values
	 * are 0. May change at run time: it applies from the next start or end of a job. Devices
	 * before register map 2.4 have none. Since version 1.11.
	 */
	u32 dms_policy;
	/*
	 * Of virtual GPU 0, for all: microseconds for which a job that cannot be switched out may
	 * hold a data master that another virtual GPU waits for, or one task keep a job of another
	 * one from a USC; then its context is killed. 0 is FWIF_OS_HOLD_US. May change at run time.
	 * Since version 1.13.
	 */
	u32 os_hold_us;

	/* by the firmware */
	u32 state;		/* enum fwif_state; written last */
	u32 error;		/* enum fwif_error */
	u32 error_info;
	u32 error_pc;
	u32 fw_version;		/* FWIF_VERSION it was built with */
	u32 jobs_started;	/* counters since boot, wrapping */
	u32 jobs_done;
	u32 jobs_faulted;
	u32 jobs_killed;
	u32 commands;		/* KCCB commands processed */
	u32 active_context;	/* id of the context on the CDM, or FWIF_NO_CONTEXT */
	u32 queued_contexts;	/* contexts with work that is not finished */
	u32 heartbeat;		/* passes of the background loop */
	u32 switches;		/* jobs switched out */
	u32 boosts;		/* times that a starved context ran before a higher priority */
	u32 partials;		/* partial renders */
	char build_id[FWIF_BUILD_ID_BYTES];
};

#define FWIF_NO_CONTEXT	0xffffffffu

/*
 * Kernel CCB: host to firmware.
 *
 * Commands complete in order: a slow one (CONTEXT_KILL) delays those that follow
 * it, and the ring's read index stays at it until its status is written. Killing,
 * releasing or changing the priority of a context, or releasing a VM, that the
 * firmware has not seen yet returns FWIF_STATUS_OK.
 */
enum fwif_kccb_type {
	FWIF_KCCB_PING		= 1,	/* completes at once */
	FWIF_KCCB_KICK		= 2,	/* a client CCB has new commands */
	FWIF_KCCB_MMU_INVALIDATE = 3,	/* a VM's mappings changed */
	FWIF_KCCB_VM_RELEASE	= 4,	/* release the state of a VM; BUSY while a job uses it */
	/* end a context's running and queued jobs as KILLED; completes when they have ended */
	FWIF_KCCB_CONTEXT_KILL	= 5,
	FWIF_KCCB_CONTEXT_RELEASE = 6,	/* release the state of a context; BUSY while it has work */
	/* reply to FREE_LIST_GROW: new number of pages; the old one if the list cannot grow */
	FWIF_KCCB_FREE_LIST_GROWN = 7,
	/* free the pages of a scene that no job will render; BUSY while a job uses it */
	FWIF_KCCB_SCENE_RELEASE	= 8,
	/* change the priority of a context, including its queued and running jobs */
	FWIF_KCCB_CONTEXT_PRIORITY = 9,
};

/* Status word of a KCCB command, by the firmware; the host zeroes it first. */
enum fwif_status {
	FWIF_STATUS_PENDING	= 0,
	FWIF_STATUS_OK		= 1,
	FWIF_STATUS_INVALID	= 2,	/* unknown type, or a field out of range */
	FWIF_STATUS_BUSY	= 3,
	FWIF_STATUS_NO_SPACE	= 4,	/* more contexts than the firmware can hold */
};

struct fwif_kccb_cmd {
	/* enum fwif_kccb_type. In mode STRICT the firmware changes it when it completes one */
	u32 type;
	u32 context;		/* KICK, CONTEXT_*: fw address of struct fwif_context */
	u32 write;		/* KICK: new write offset of its client CCB, bytes */
	u32 object;		/* FREE_LIST_GROWN: fw address of the free_list;
				 * SCENE_RELEASE: of the scene; else zero */
	u64 catalogue;		/* MMU_INVALIDATE, VM_RELEASE: bus address of the page catalogue */
	u64 start;		/* MMU_INVALIDATE: first GPU virtual address, 4 KiB aligned */
	u64 end;		/* MMU_INVALIDATE: last byte, 4 KiB aligned less
				 * 1; start > end: the whole context */
	u32 pages;		/* FREE_LIST_GROWN: pages of the list */
	u32 priority;		/* CONTEXT_PRIORITY: below FWIF_PRIORITIES; else zero */
	u64 reserved2[2];	/* zero */
};

/* Firmware CCB: firmware to host. Notifications only; a job's data are in its result. */
enum fwif_fwccb_type {
	FWIF_FWCCB_JOB_FAULT	= 1,	/* a job faulted: see its result */
	FWIF_FWCCB_ERROR	= 2,	/* the firmware detected an error: code */
	/*
	 * A free list (code: fw address of the free_list) is short of pages or empty: the host
	 * replies with FREE_LIST_GROWN. One request per list at a time.
	 */
	FWIF_FWCCB_FREE_LIST_GROW = 3,
};

struct fwif_fwccb_msg {
	u32 type;		/* enum fwif_fwccb_type */
	u32 context_id;
	u32 seqno;
	u32 code;		/* JOB_FAULT: enum pumice_fault; ERROR: enum fwif_error */
	u64 addr;		/* JOB_FAULT: fault address; CLIENT_CCB: offset of the command */
	u64 time;		/* GPU clock */
	u32 reserved[8];
};

/* Data masters that have contexts. */
enum fwif_dm {
	FWIF_DM_CDM		= 0,
	FWIF_DM_VDM		= 1,	/* geometry jobs of a render context */
	FWIF_DM_PDM		= 2,	/* fragment jobs of a render context */
	FWIF_DM_TDM		= 3,
	FWIF_DM_RDM		= 4,
	FWIF_DM_COUNT
};

#define FWIF_PRIORITIES	3u	/* 0 low, 1 normal, 2 high */

/*
 * Shares of the data masters, struct fwif_boot pds_shares. Fragment jobs complete frames: they have
 * most.
 */
#define FWIF_PDS_SHARE_CDM	128u
#define FWIF_PDS_SHARE_VDM	128u
#define FWIF_PDS_SHARE_PDM	192u
#define FWIF_PDS_SHARE_RDM	128u
#define FWIF_PDS_SHARE_BYTE_RDM	3u	/* the TDM has no tasks */

/*
 * Time slices. A job is switched out at a work-group boundary when its slice has
 * expired and a context of its priority is ready, and immediately when one of a
 * higher priority is. A context that has been ready for FWIF_STARVE_SLICES slices
 * runs for one slice regardless of its priority, so that none starves.
 */
#define FWIF_SLICE_US		2000u	/* default slice */
#define FWIF_SLICE_MIN_US	100u	/* shorter values are clamped to this */
#define FWIF_SLICE_MAX_US	1000000u	/* longer values are clamped to this */
#define FWIF_STARVE_SLICES	64u
#define FWIF_MAX_CONTEXTS	256u	/* contexts the firmware holds at once, of virtual GPU 0 */
#define FWIF_MAX_OS_CONTEXTS	64u	/* for each other virtual GPU */
#define FWIF_OS_HOLD_US		10000000u	/* struct fwif_boot os_hold_us */

/* State of a context, by the firmware. */
enum fwif_context_state {
	FWIF_CONTEXT_UNKNOWN	= 0,	/* initial value, by the host */
	FWIF_CONTEXT_OK		= 1,
	FWIF_CONTEXT_KILLED	= 2,	/* by the host, or see os_hold_us; runs no further jobs */
	FWIF_CONTEXT_BROKEN	= 3,	/* its client CCB was malformed; as KILLED */
};

/*
 * A context of one data master, with its client CCB. The firmware uses it from
 * its first KICK until CONTEXT_RELEASE; the host keeps it mapped in between.
 */
struct fwif_context {
	/*
	 * By the host, constant from the first KICK, except priority, which the firmware
	 * reads at the first KICK only.
	 */
	u32 magic;		/* FWIF_CONTEXT_MAGIC */
	u32 id;			/* for messages and logs */
	u32 dm;			/* enum fwif_dm */
	u32 priority;		/* below FWIF_PRIORITIES */
	u64 catalogue;		/* bus address of the VM's page catalogue, 8 KiB aligned */
	u32 cccb;		/* fw address of the client CCB */
	u32 cccb_bytes;		/* a power of two, FWIF_CCCB_MIN to FWIF_CCCB_MAX */
	u32 results;		/* fw address of struct fwif_job_result[result_count] */
	u32 result_count;	/* a power of two, at most FWIF_RING_MAX */
	u32 save;		/* fw address of 32 words for a job that is
				 * switched out (cdm_save of
				 * formats.xml), 8-byte aligned; the firmware and the CDM alone use
				 * them
				 */
	u32 stuck;		/* fw address of struct fwif_stuck, 8-byte aligned; or 0 */
	u32 flips;		/* TDM: fw address of struct fwif_flips, 8-byte
				 * aligned; or 0. Since version 1.9 */
	u32 reserved[3];	/* zero */

	/* by the firmware */
	u32 cccb_read;		/* bytes below this offset have been consumed */
	u32 state;		/* enum fwif_context_state */
	u64 run_ticks;		/* ticks of its jobs on the data master; updated after a slice */
	u64 slice_start;	/* GPU clock when the running slice
				 * began; 0 while it does not run */
	u64 job_ticks;		/* as run_ticks, of the job in progress; 0 between jobs */
	u32 job_seqno;		/* of that job */
	u32 slices;		/* slices it has run, wrapping */
	/*
	 * A geometry job that is out of pages is stopped until other jobs free some, or the
	 * host replies; that time does not count as its own. Of the job that has started:
	 */
	u64 stop_ticks;		/* stopped ticks within job_ticks and the running slice */
	u64 stop_start;		/* GPU clock when it was stopped; 0 while it is not stopped */
	u32 renders_partial;	/* 1 while the PDM runs or is reserved for its partial render */
	/*
	 * Changes with each update of the fields from run_ticks on, and is odd while they are
	 * written: words of 32 bits, in any order. Since version 1.10; earlier firmware leaves 0.
	 */
	u32 times_version;
};

/*
 * Location of a job that failed on its data master, by the firmware, before its result.
 * For a fault: the program and instruction, as one place, if there is one. For a job
 * that CONTEXT_KILL stops while it runs: its waves, before it is stopped. Waves at the
 * same instruction of the same program are one place. At most FWIF_STUCK_SAMPLES waves are
 * sampled, spread evenly over all; only the first FWIF_STUCK_PLACES places are kept, so that
 * the sampled waves at others are counted in @sampled only.
 */
#define FWIF_STUCK_PLACES	16u
#define FWIF_STUCK_SAMPLES	256u

struct fwif_place {
	u64 code;		/* GPU virtual address of the program */
	u32 pc;			/* instruction index: the next one, or the barrier */
	u32 waves;		/* sampled waves at this place */
	u32 lanes;		/* of the first wave */
	u8 usc;			/* of the first wave: USC over all cores */
	u8 slot;
	u8 wave;		/* of its task */
	u8 state;		/* enum pumice_wave_state */
};

struct fwif_stuck {
	u32 seqno;		/* the job; written last, 0 before */
	u32 unit;		/* enum pumice_unit: unit that was busy with it, or faulted */
	u32 waves;		/* in flight; 0 for a fault */
	u32 sampled;		/* of these; those at a place of place[] are counted there */
	u32 places;		/* entries of place[] */
	u32 busy;		/* data masters with a job: bit n is enum fwif_dm n */
	u8 known;		/* of a fault: FWIF_KNOWN_*, location fields
				 * that the device reported; else 0 */
	u8 lane;		/* FWIF_KNOWN_LANE: the lowest lane that faulted */
	u16 instance;		/* FWIF_KNOWN_LANE: its instance, a linear
				 * number in the work-group or task */
	u32 reserved;
	struct fwif_place place[FWIF_STUCK_PLACES];
	/* Since version 1.5; the firmware writes no further for an older host. */
	u32 group[3];		/* FWIF_KNOWN_GROUP: work-group id, base included */
	u32 reserved2;
};

#define FWIF_KNOWN_WAVE		0x1u	/* lanes, slot and wave of the place */
#define FWIF_KNOWN_LANE		0x2u
#define FWIF_KNOWN_GROUP	0x4u
/* Bytes of struct fwif_stuck before version 1.5. */
#define FWIF_STUCK_BYTES_1_4	416u

/*
 * Flips of a context's present jobs, by the firmware, each before the result of its job. The host
 * announces no more at once than fit: the firmware does not wait for it to read them.
 */
#define FWIF_FLIPS	64u	/* a power of two */

struct fwif_flip {
	u32 job;		/* sequence number of the job */
	u32 frame;		/* of the command PRESENT */
	u64 addr;		/* GPU virtual address of the destination */
	u64 time;		/* GPU clock when the copy was complete and visible */
};

struct fwif_flips {
	u32 write;		/* flips so far, wrapping: flip n is entry n & (FWIF_FLIPS - 1) */
	u32 reserved;
	struct fwif_flip flip[FWIF_FLIPS];
};

#define FWIF_CCCB_MIN	4096u
#define FWIF_CCCB_MAX	65536u

/*
 * Client CCB: a ring of bytes with commands of 8-byte multiples that never wrap
 * (PAD fills up to the end). Written by the host up to the offset in KICK; the
 * write offset stays at least 8 bytes below the read offset, modulo the size.
 */
enum fwif_cccb_type {
	FWIF_CCCB_PAD		= 1,	/* skip */
	FWIF_CCCB_WAIT		= 2,	/* wait until an update object has reached a value */
	FWIF_CCCB_COMPUTE	= 3,	/* run a compute control stream */
	FWIF_CCCB_UPDATE	= 4,	/* write an update object, then notify the host */
	FWIF_CCCB_GEOMETRY	= 5,	/* run a vertex control stream into a
					 * scene; contexts of the VDM */
	FWIF_CCCB_FRAGMENT	= 6,	/* render a scene; contexts of the PDM */
	FWIF_CCCB_TRANSFER	= 7,	/* run a transfer control stream: struct
					 * fwif_cccb_compute; contexts of the TDM */
	FWIF_CCCB_RAYS		= 8,	/* run a ray control stream: struct fwif_cccb_compute;
					 * contexts of the RDM. Since version 1.9 */
	FWIF_CCCB_PRESENT	= 9,	/* the same with PRESENT commands; contexts
					 * with flips. Since version 1.9 */
};

struct fwif_cccb_header {
	/*
	 * Bits of FWIF_CCCB_TYPE: enum fwif_cccb_type; of a job also FWIF_CACHES_*, since version
	 * 1.12. Other bits: zero.
	 */
	u32 type;
	u32 bytes;		/* of the command, header included; a multiple of 8 */
};

#define FWIF_CCCB_TYPE	0xffffu

/*
 * Operations on the caches of the GPU for a job, whose lines are selected by its VM. Those of
 * geometry and fragment jobs that include the SLC are also on lines that are shared with the
 * firmware, which caches of cores do not have. All but END write dirty lines and drop them. Devices
 * before register map 2.9 have no caches: the firmware ignores the flags there.
 *
 * START_CORES	before the first slice, in the caches of the cores: the job reads what other jobs
 *		of the GPU have written; and before each partial render
 * START_SYSTEM	the same, and in the SLC: also what the CPU, other devices or jobs of other VMs
 *		have written
 * END		when the job has ended, also with a fault, before its result, messages and UPDATE:
 *		write dirty lines to memory, where all of these see them
 */
#define FWIF_CACHES_START_CORES		0x10000u
#define FWIF_CACHES_START_SYSTEM	0x20000u
#define FWIF_CACHES_END			0x40000u
#define FWIF_CACHES_ALL			(FWIF_CACHES_START_CORES | FWIF_CACHES_START_SYSTEM | \
					 FWIF_CACHES_END)

/*
 * Update object: a u32 that counts up. It has reached value v when
 * (s32)(object - v) >= 0.
 */
struct fwif_cccb_wait {
	struct fwif_cccb_header header;
	u32 object;		/* fw address, 4-byte aligned */
	u32 value;
};

struct fwif_cccb_compute {
	struct fwif_cccb_header header;
	u64 stream;		/* GPU virtual address of the CDM control stream */
	u32 seqno;		/* result goes to results[seqno & (result_count - 1)] */
	u32 perf;		/* fw address of struct fwif_perf, 8-byte aligned; or 0 */
};

/* PRESENT. The stream may have at most @presents commands PRESENT. */
struct fwif_cccb_present {
	struct fwif_cccb_header header;
	u64 stream;		/* as in struct fwif_cccb_compute, as the next two */
	u32 seqno;
	u32 perf;
	u32 presents;		/* 1 to PUMICE_TDM_MAX_PRESENTS */
	u32 reserved;		/* zero */
};

/*
 * GEOMETRY and FRAGMENT. If a geometry job runs out of pages and its free lists
 * cannot grow, the PDM renders the primitives that are binned so far, with
 * @render, as a partial render; then the geometry job continues.
 */
struct fwif_cccb_render {
	struct fwif_cccb_header header;
	u64 stream;		/* GEOMETRY: GPU virtual address of the vertex control stream;
				 * FRAGMENT: of the render control list or pdm_render */
	u32 seqno;		/* as in struct fwif_cccb_compute */
	u32 perf;		/* as in struct fwif_cccb_compute */
	u32 scene;		/* fw address of the scene structure (formats.xml)
				 * with its chains, 16-byte aligned */
	u32 reserved;		/* zero */
	u64 render;		/* GEOMETRY: stream of the fragment job
				 * that follows; FRAGMENT: zero */
	/*
	 * GEOMETRY: a partial render runs before the fragment job, but not before the dependencies
	 * of the fragment job in its own queue: no partial render is started until this update
	 * object has reached this value. 0, 0: no dependency. FRAGMENT: zero.
	 */
	u32 before;		/* fw address, 4-byte aligned */
	u32 before_value;
};

/*
 * Counts of jobs: the firmware adds each slice's difference of every counter
 * (hw/perf.h), before the job's result is written. Detailed counters are enabled
 * while a job that names such a structure runs.
 */
struct fwif_perf {
	u64 value[256];		/* by enum pumice_perf_counter */
};

/* Bytes of struct fwif_perf before version 1.8, and before version 1.14. */
#define FWIF_PERF_BYTES_1_7	512u
#define FWIF_PERF_BYTES_1_13	768u

struct fwif_cccb_update {
	struct fwif_cccb_header header;
	u32 object;		/* fw address, 4-byte aligned */
	u32 value;
};

/* Result of a job; by the firmware, before the job's UPDATE. */
struct fwif_job_result {
	u32 seqno;
	u8 fault;		/* enum pumice_fault; 0 is success */
	u8 unit;		/* enum pumice_unit; KILLED while running: unit busy with it */
	u8 access;		/* enum pumice_access */
	u8 mmu_context;
	u64 addr;		/* see CDM_FAULT_ADDR; KILLED: instruction of the
				 * first place of struct fwif_stuck */
	u32 pc;			/* see CDM_FAULT_INFO; KILLED: as addr */
	u32 usc;
	u64 time_start;		/* GPU clock */
	u64 time_end;
	u64 groups;		/* work-groups, primitives, tiles or commands
				 * finished, by the data master */
	u64 run_ticks;		/* GPU clock ticks on the data master, all slices */
	u32 slices;		/* number of slices; 1 if it was never switched out */
	u32 partials;		/* partial renders of a geometry job */
};

/*
 * Log ring: the firmware overwrites the oldest entries; write counts up
 * without masking. Texts: FWIF_LOG_EVENTS; pumice_log_text() of fwlog.h prints them.
 */
struct fwif_log_entry {
	u64 time;		/* GPU clock */
	u32 event;		/* enum fwif_log_event */
	u32 args[3];
	u32 sequence;		/* low 32 bits of the entry's number plus 1; written last */
	u32 reserved;
};

enum fwif_log_level {
	FWIF_LOG_ERROR	= 0,
	FWIF_LOG_INFO	= 1,
	FWIF_LOG_DEBUG	= 2,
};

/*
 * X(name, level, format). A format has up to three arguments, in the order of args[]:
 *
 *	%u	number
 *	%x	address or offset, hexadecimal
 *	%A	number of a page of 4 KiB, printed as its address
 *	%F	enum pumice_fault
 *	%P	priority
 *	%K	enum fwif_kccb_type
 *	%S	enum fwif_status
 *	%E	enum fwif_error
 *	%M	enum fwif_fwccb_type
 *	%C	enum fwif_cccb_type
 *	%T	mcause of an exception
 */
#define FWIF_LOG_EVENTS(X) \
	X(BOOT,		INFO,	"boot: interface %u.%u") \
	X(REFUSED,	ERROR,	"did not boot: %E") \
	X(KCCB_INVALID,	ERROR,	"kccb: entry %u, %K, refused: %S") \
	X(CONTEXT_NEW,	INFO,	"context %u: new, priority %P") \
	X(CONTEXT_RELEASED, INFO, "context %u: released") \
	X(CONTEXT_KILL,	INFO,	"context %u: killed at seqno %u") \
	X(CONTEXT_BROKEN, ERROR, "context %u: malformed client command at offset %x, type %C") \
	X(JOB_WAIT,	DEBUG,	"context %u: waits for object %x to reach %u") \
	X(JOB_START,	DEBUG,	"context %u: job %u starts in mmu context %u") \
	X(JOB_DONE,	DEBUG,	"context %u: job %u done") \
	X(JOB_FAULT,	INFO,	"context %u: job %u fault %F") \
	X(JOB_SWITCH,	DEBUG,	"context %u: job %u switched out after %u us") \
	X(JOB_RESUME,	DEBUG,	"context %u: job %u resumes in mmu context %u") \
	X(CONTEXT_BOOST, INFO,	"context %u: waited %u us, runs before priority %P") \
	X(MMU_BIND,	DEBUG,	"mmu context %u bound for context %u") \
	X(MMU_INVALIDATE, DEBUG, "mmu context %u invalidated, pages %A to %A") \
	X(FWCCB_FULL,	ERROR,	"fwccb full: message %M dropped") \
	X(PARTIAL,	INFO,	"context %u: job %u out of pages, partial render %u") \
	X(FREE_LIST_GROW, INFO,	"free list %x: requests more than %u pages") \
	X(FREE_LIST_GROWN, INFO, "free list %x: %u pages") \
	X(TRAP,		ERROR,	"trap: %T at %x, value %x") \
	X(CONTEXT_PRIORITY, INFO, "context %u: priority %P, was %P") \
	X(PREEMPT_SLICE, DEBUG,	"context %u: job %u preempted, its slice of %u us has expired") \
	X(PREEMPT_PRIORITY, DEBUG, "context %u: job %u preempted by a context of priority %P") \
	X(PAGES_STALL,	DEBUG,	"context %u: job %u stalls, no page is free") \
	X(PAGES_WAIT,	DEBUG,	"context %u: job %u waits for pages of other jobs") \
	X(PAGES_RESUME,	DEBUG,	"context %u: job %u continues") \
	X(PARTIAL_REQUEST, INFO, "context %u: job %u requests partial render %u") \
	X(FLIP,		DEBUG,	"context %u: job %u flips to frame %u") \
	X(OS_CONNECTED,	INFO,	"virtual gpu %u: connected, interface %u.%u") \
	X(OS_ENDED,	INFO,	"virtual gpu %u: disconnected, memory lost: %u") \
	X(OS_HOLD,	ERROR,	"context %u: job %u has held its data master for %u us, killed")

#define FWIF_LOG_ENUM_(name, level, format) FWIF_LOG_##name,
enum fwif_log_event {
	FWIF_LOG_EVENTS(FWIF_LOG_ENUM_)
	FWIF_LOG_EVENT_COUNT
};

#define FWIF_SIZE_(type, size) _Static_assert(sizeof(type) == (size), #type)
#define FWIF_AT_(type, field, at) _Static_assert(__builtin_offsetof(type, field) == (at), \
						 #type "." #field)
FWIF_SIZE_(struct fwif_image_header, 64);
FWIF_AT_(struct fwif_image_header, build_id, 32);
FWIF_SIZE_(struct fwif_ring, 16);
FWIF_SIZE_(struct fwif_boot, 160);
FWIF_AT_(struct fwif_boot, log_level, 36);
FWIF_AT_(struct fwif_boot, slice_us, 40);
FWIF_AT_(struct fwif_boot, trace, 48);
FWIF_AT_(struct fwif_boot, state, 64);
FWIF_AT_(struct fwif_boot, heartbeat, 112);
FWIF_AT_(struct fwif_boot, build_id, 128);
FWIF_SIZE_(struct fwif_kccb_cmd, 64);
FWIF_AT_(struct fwif_kccb_cmd, catalogue, 16);
FWIF_AT_(struct fwif_kccb_cmd, end, 32);
FWIF_SIZE_(struct fwif_fwccb_msg, 64);
FWIF_AT_(struct fwif_fwccb_msg, addr, 16);
FWIF_SIZE_(struct fwif_context, 128);
FWIF_AT_(struct fwif_context, catalogue, 16);
FWIF_AT_(struct fwif_context, results, 32);
FWIF_AT_(struct fwif_context, save, 40);
FWIF_AT_(struct fwif_context, stuck, 44);
FWIF_AT_(struct fwif_context, flips, 48);
FWIF_AT_(struct fwif_context, cccb_read, 64);
FWIF_AT_(struct fwif_context, run_ticks, 72);
FWIF_AT_(struct fwif_context, job_seqno, 96);
FWIF_AT_(struct fwif_context, stop_ticks, 104);
FWIF_AT_(struct fwif_context, renders_partial, 120);
FWIF_SIZE_(struct fwif_place, 24);
FWIF_SIZE_(struct fwif_stuck, 432);
FWIF_AT_(struct fwif_stuck, known, 24);
FWIF_AT_(struct fwif_stuck, group, FWIF_STUCK_BYTES_1_4);
FWIF_AT_(struct fwif_stuck, place, 32);
FWIF_SIZE_(struct fwif_perf, 2048);
FWIF_SIZE_(struct fwif_flip, 24);
FWIF_SIZE_(struct fwif_flips, 8 + 24 * FWIF_FLIPS);
FWIF_SIZE_(struct fwif_cccb_header, 8);
FWIF_SIZE_(struct fwif_cccb_wait, 16);
FWIF_SIZE_(struct fwif_cccb_compute, 24);
FWIF_SIZE_(struct fwif_cccb_update, 16);
FWIF_SIZE_(struct fwif_cccb_present, 32);
FWIF_SIZE_(struct fwif_cccb_render, 48);
FWIF_SIZE_(struct fwif_job_result, 64);
FWIF_AT_(struct fwif_job_result, addr, 8);
FWIF_AT_(struct fwif_job_result, time_start, 24);
FWIF_AT_(struct fwif_job_result, groups, 40);
FWIF_AT_(struct fwif_job_result, slices, 56);
FWIF_SIZE_(struct fwif_log_entry, 32);

#endif
