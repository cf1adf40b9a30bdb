/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Performance counters: the events that each register PERF_COUNTER(n) counts.
 *
 * The device, the driver's descriptions of counters for user space, tools and
 * documentation all use this table. The numbers are part of the hardware: new
 * counters are appended.
 */
#ifndef PUMICE_PERF_H
#define PUMICE_PERF_H

/* Categories: the block that counts. */
enum pumice_perf_category {
	PUMICE_PERF_CDM,
	PUMICE_PERF_PDS,
	PUMICE_PERF_USC,
	PUMICE_PERF_MMU,
	PUMICE_PERF_VDM,
	PUMICE_PERF_TA,
	PUMICE_PERF_PM,
	PUMICE_PERF_PDM,
	PUMICE_PERF_TAG,
	PUMICE_PERF_TDM,
	PUMICE_PERF_RTU,
	PUMICE_PERF_VPM,
	PUMICE_PERF_RDM,
	PUMICE_PERF_HIER,
	PUMICE_PERF_CATEGORY_COUNT
};

/*
 * Blocks that data masters share: while a job runs, their counters include the work
 * for other jobs. All other blocks belong to one data master, which has one job at a
 * time.
 */
#define PUMICE_PERF_SHARED \
	(1u << PUMICE_PERF_PDS | 1u << PUMICE_PERF_USC | 1u << PUMICE_PERF_MMU | \
	 1u << PUMICE_PERF_TAG | 1u << PUMICE_PERF_RTU | 1u << PUMICE_PERF_VPM | \
	 1u << PUMICE_PERF_HIER)

/*
 * Counters of the memory hierarchy: those counts of hw/hier.h from which hit rates by client and
 * bytes by level follow, since register map 2.16. They are the values that unit HIER has: in mode
 * FAST those of the last mode that counted, from 0 when a mode that counts is entered.
 *
 * R(X, kind, row, column, unit, description): column of kind CLIENT or LEVEL, of a row of
 * enum pumice_mem_client or enum pumice_cache. A client has the counters of the caches that may
 * keep its lines: REQUESTS are of all clients, SLC_* of those that hw/clients.xml has as cached,
 * FIRST_* of those with a path through data or texture caches. Data caches pass atomic
 * operations on, so that USC_ATOMIC has no FIRST_*. Texture caches do not write.
 *
 * The rows are written here rather than generated, since a change of a client's policy must not
 * change numbers of counters; tests/unit/gpu/test_hier.c compares them with the
 * policies. Counters of a further client are appended, as all others.
 */
#define PUMICE_PERF_HIER_READ_(R, X, level) \
	R(X, LEVEL, level, READ_BYTES, "bytes", "bytes that level " #level " read from the next level, or memory; unchanged in mode fast")
#define PUMICE_PERF_HIER_LEVEL_(R, X, level) \
	PUMICE_PERF_HIER_READ_(R, X, level) \
	R(X, LEVEL, level, WRITTEN_BYTES, "bytes", "bytes that level " #level " wrote to the next level, or memory; unchanged in mode fast")
#define PUMICE_PERF_HIER_REQUESTS_(R, X, client) \
	R(X, CLIENT, client, REQUESTS, "requests", "requests of client " #client ", as its unit made them; unchanged in mode fast")
#define PUMICE_PERF_HIER_SLC_(R, X, client) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, client) \
	R(X, CLIENT, client, SLC_HITS, "requests", "requests of client " #client " whose line the SLC held; unchanged in mode fast") \
	R(X, CLIENT, client, SLC_MISSES, "requests", "requests of client " #client " whose line the SLC did not hold; unchanged in mode fast")
#define PUMICE_PERF_HIER_FIRST_(R, X, client) \
	PUMICE_PERF_HIER_SLC_(R, X, client) \
	R(X, CLIENT, client, FIRST_HITS, "requests", "requests of client " #client " whose line the first level held; unchanged in mode fast") \
	R(X, CLIENT, client, FIRST_MISSES, "requests", "requests of client " #client " whose line the first level did not hold; unchanged in mode fast")

#define PUMICE_PERF_HIER_ROWS(R, X) \
	PUMICE_PERF_HIER_LEVEL_(R, X, SLC) \
	PUMICE_PERF_HIER_LEVEL_(R, X, DATA_L1) \
	PUMICE_PERF_HIER_LEVEL_(R, X, DATA_L2) \
	PUMICE_PERF_HIER_READ_(R, X, TEXTURE_L1) \
	PUMICE_PERF_HIER_READ_(R, X, TEXTURE_L2) \
	PUMICE_PERF_HIER_SLC_(R, X, MMU_TABLE) \
	PUMICE_PERF_HIER_SLC_(R, X, MMU_TABLE_WRITE) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, FW_READ) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, FW_WRITE) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, CDM_STREAM) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, CDM_WRITE) \
	PUMICE_PERF_HIER_SLC_(R, X, PDS_CODE) \
	PUMICE_PERF_HIER_FIRST_(R, X, PDS_CONSTANT) \
	PUMICE_PERF_HIER_FIRST_(R, X, ATTRIBUTE) \
	PUMICE_PERF_HIER_FIRST_(R, X, USC_CODE) \
	PUMICE_PERF_HIER_FIRST_(R, X, USC_LOAD) \
	PUMICE_PERF_HIER_FIRST_(R, X, USC_STORE) \
	PUMICE_PERF_HIER_SLC_(R, X, USC_ATOMIC) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, VDM_STREAM) \
	PUMICE_PERF_HIER_SLC_(R, X, INDEX) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, VDM_WRITE) \
	PUMICE_PERF_HIER_SLC_(R, X, MTE_STATE) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, TE_WRITE) \
	PUMICE_PERF_HIER_SLC_(R, X, PM_READ) \
	PUMICE_PERF_HIER_SLC_(R, X, PM_WRITE) \
	PUMICE_PERF_HIER_SLC_(R, X, IPF_READ) \
	PUMICE_PERF_HIER_SLC_(R, X, IPF_PRIM) \
	PUMICE_PERF_HIER_SLC_(R, X, PB_READ) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, PB_WRITE) \
	PUMICE_PERF_HIER_SLC_(R, X, ISP_STATE) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, DEPTH_READ) \
	PUMICE_PERF_HIER_SLC_(R, X, ISP_RESULT) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, DEPTH_WRITE) \
	PUMICE_PERF_HIER_SLC_(R, X, TSP_STATE) \
	PUMICE_PERF_HIER_FIRST_(R, X, TEXTURE) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, PBE_WRITE) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, PTLA_STREAM) \
	PUMICE_PERF_HIER_SLC_(R, X, PTLA_READ) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, PTLA_WRITE) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, PDM_STREAM) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, PDM_WRITE) \
	PUMICE_PERF_HIER_FIRST_(R, X, RTU_NODE) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, RDM_STREAM) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, RDM_RAY) \
	PUMICE_PERF_HIER_REQUESTS_(R, X, RDM_WRITE)

#define PUMICE_PERF_HIER_COUNTER_(X, kind, row, column, unit, description) \
	X(HIER_##row##_##column, HIER, 0, unit, description)

/*
 * X(name, category, detailed, unit, description); detailed ones count only while
 * PERF_CTRL.DETAIL is set. unit: name of one count.
 */
#define PUMICE_PERF_COUNTERS(X) \
	X(CDM_BUSY, CDM, 0, "ns", "time in which the compute data master had a job") \
	X(CDM_COMMANDS, CDM, 0, "commands", "commands of control streams") \
	X(CDM_GROUPS, CDM, 0, "work-groups", "work-groups dispatched to the PDS") \
	X(PDS_TASKS, PDS, 0, "tasks", "tasks started") \
	X(PDS_WAITS, PDS, 0, "waits", "number of waits for resources that began, of work-groups and tasks; a task of rays waits on each core that refuses it") \
	X(PDS_OCCUPANCY, PDS, 0, "tasks * ns", "tasks in slots, summed over time") \
	X(PDS_DMA_BYTES, PDS, 0, "bytes", "bytes read from memory by PDS programs") \
	X(USC_BUSY, USC, 0, "ns", "time in which USCs ran waves, summed over USCs") \
	X(USC_WAVES, USC, 0, "waves", "waves started") \
	X(USC_ISSUED, USC, 0, "instructions", "wave instructions issued") \
	X(USC_STALLED, USC, 0, "slots", "issue slots in which all waves of a work-group waited for memory") \
	X(USC_BARRIERS, USC, 0, "barriers", "barriers that whole work-groups have passed") \
	X(USC_INSN_MOVE, USC, 1, "instructions", "moves, selects and conversions") \
	X(USC_INSN_FLOAT, USC, 1, "instructions", "floating-point arithmetic") \
	X(USC_INSN_INTEGER, USC, 1, "instructions", "integer arithmetic and logic") \
	X(USC_INSN_SPECIAL, USC, 1, "instructions", "reciprocals, roots and transcendental functions") \
	X(USC_INSN_CROSS, USC, 1, "instructions", "cross-lane operations: shuffles, reductions, scans, ballots") \
	X(USC_INSN_SCALAR, USC, 1, "instructions", "instructions of the scalar unit") \
	X(USC_INSN_LOCAL, USC, 1, "instructions", "local-memory loads and stores") \
	X(USC_INSN_GLOBAL, USC, 1, "instructions", "global-memory loads, stores, bursts and copies, texture reads, ray queries") \
	X(USC_INSN_ATOMIC, USC, 1, "instructions", "atomic operations, local and global") \
	X(USC_INSN_FLOW, USC, 1, "instructions", "branches, barriers, fences and signals") \
	X(USC_LOAD_BYTES, USC, 1, "bytes", "bytes loaded from memory by active lanes") \
	X(USC_STORE_BYTES, USC, 1, "bytes", "bytes stored to memory by active lanes") \
	X(USC_LOCAL_CONFLICTS, USC, 1, "cycles", "further cycles of local-memory accesses because of bank conflicts") \
	X(USC_PROGRAMS, USC, 0, "programs", "shader programs fetched and decoded") \
	X(MMU_TLB_HITS, MMU, 1, "requests", "requests of USCs that hit a TLB") \
	X(MMU_TLB_MISSES, MMU, 0, "requests", "requests that walked the translation tables") \
	X(MMU_FAULTS, MMU, 0, "faults", "requests that faulted") \
	X(MMU_INVALIDATIONS, MMU, 0, "invalidations", "TLB invalidations") \
	X(VDM_BUSY, VDM, 0, "ns", "time in which the vertex data master had a job") \
	X(VDM_PRIMITIVES, VDM, 0, "primitives", "primitives of draws") \
	X(VDM_INDICES, VDM, 0, "indices", "indices read") \
	X(VDM_VERTICES, VDM, 0, "vertices", "vertices shaded, after the vertex cache") \
	X(TA_CULLED, TA, 0, "primitives", "primitives culled by the MTE") \
	X(TA_CLIPPED, TA, 0, "primitives", "primitives that were clipped") \
	X(TA_BLOCKS, TA, 0, "blocks", "primitive blocks written") \
	X(TA_TILE_ENTRIES, TA, 0, "entries", "primitives in tile lists, over all tiles") \
	X(PM_ALLOCATED, PM, 0, "pages", "parameter-buffer pages allocated") \
	X(PM_FREED, PM, 0, "pages", "parameter-buffer pages freed") \
	X(PM_PARTIALS, PM, 0, "renders", "partial renders") \
	X(PDM_BUSY, PDM, 0, "ns", "time in which the pixel data master had a job") \
	X(PDM_TILES, PDM, 0, "tiles", "tiles rendered") \
	X(PDM_PRIMITIVES, PDM, 0, "primitives", "primitives rasterised, over all tiles") \
	X(PDM_COVERED, PDM, 0, "fragments", "pixels that primitives covered") \
	X(PDM_SHADED, PDM, 0, "fragments", "pixels that fragment programs ran for") \
	X(PDM_PASSES, PDM, 0, "passes", "flushes of visible pixels to the shaders") \
	X(PDM_TASKS, PDM, 0, "tasks", "fragment tasks started") \
	X(TAG_READS, TAG, 0, "reads", "texture reads of waves") \
	X(TDM_BUSY, TDM, 0, "ns", "time in which the transfer data master had a job") \
	X(TDM_BYTES, TDM, 0, "bytes", "bytes written by transfers") \
	X(TDM_SCALED, TDM, 0, "texels", "texels written by scaling copies") \
	X(PDM_PLANES, PDM, 0, "planes", "planes of varyings set up by the TSP") \
	X(PDM_COMMANDS, PDM, 0, "commands", "commands of render control lists, also of generated ones") \
	X(USC_DC_WINDOWS, USC, 0, "windows", "windows of dynamic constants fetched by instances") \
	X(PM_SPARES, PM, 0, "pages", "parameter-buffer pages allocated from spare pages of a core") \
	X(PM_MAPPED, PM, 0, "pages", "parameter-buffer pages mapped by the MMU") \
	X(PDM_VERTICES, PDM, 0, "vertices", "vertices shaded while tiles are rendered: deferred vertex shading") \
	X(RTU_RAYS, RTU, 0, "rays", "rays traced") \
	X(RTU_NODES, RTU, 0, "nodes", "nodes of acceleration structures visited") \
	X(RTU_LEAVES, RTU, 0, "leaves", "triangles and instances visited") \
	X(VPM_WAITS, VPM, 0, "waits", "number of waits for vertex pipe memory that began, of tasks and copies; a task of rays waits on each core that refuses it") \
	X(VPM_OCCUPANCY, VPM, 0, "rows * ns", "rows of vertex pipe memory in use, summed over time") \
	X(VDM_IDX_WAITS, VDM, 0, "waits", "pieces of draws that had to wait for room in the IDX FIFO") \
	X(VDM_IDX_OCCUPANCY, VDM, 0, "primitives * ns", "primitives in the IDX FIFOs, summed over time") \
	X(VDM_FIFO_OCCUPANCY, VDM, 0, "chunks * ns", "chunks in the FIFOs of cores, summed over time") \
	X(PDM_FIFO_WAITS, PDM, 0, "waits", "tiles that had to wait for room in the FIFO of their core") \
	X(PDM_FIFO_OCCUPANCY, PDM, 0, "tiles * ns", "tiles in the FIFOs of the cores, summed over time") \
	X(PDS_SLOT_WAITS, PDS, 0, "tasks", "tasks that were ready before as many slots were free") \
	X(PDS_SLOT_WAIT_TIME, PDS, 0, "tasks * ns", "tasks that waited for slots, summed over time") \
	X(PDM_OUTPUT_WAITS, PDM, 0, "waits", "tiles that had to wait for room for their pixel outputs") \
	X(PDM_OUTPUT_OCCUPANCY, PDM, 0, "bytes * ns", "pixel outputs in stores of USCs, summed over time") \
	X(TAG_WAITS, TAG, 0, "waits", "texture reads that had to wait for the TAG of their half of a core") \
	X(TAG_BUSY, TAG, 1, "ns", "time in which TAGs had a request, summed over TAGs") \
	X(TAG_TF_RESULTS, TAG, 0, "results", "results of texture filters: of a wave's read each") \
	X(TAG_TF_BUSY, TAG, 1, "ns", "time in which texture filters expanded and filtered, summed over filters") \
	X(PDM_UITR_REQUESTS, PDM, 0, "requests", "varyings that UITRs iterated for a task") \
	X(PDM_UITR_BUSY, PDM, 1, "ns", "time in which UITRs iterated, summed over UITRs") \
	X(PDM_TITR_REQUESTS, PDM, 0, "requests", "texture reads that TITRs iterated coordinates of a task for") \
	X(PDM_TITR_BUSY, PDM, 1, "ns", "time in which TITRs had a request, summed over TITRs") \
	X(PDM_TSP_HITS, PDM, 0, "vertices", "vertices of visible primitives that were in the vertex cache of the TSP") \
	X(PDM_TSP_MISSES, PDM, 0, "vertices", "vertices of visible primitives that the TSP read from the parameter buffer") \
	X(RDM_BUSY, RDM, 0, "ns", "time in which the ray-tracing data master had a job") \
	X(RDM_RAYS, RDM, 0, "rays", "rays of launches, traced by the walker of the data master") \
	X(RDM_HITS, RDM, 0, "rays", "rays of launches that hit") \
	X(RDM_TASKS, RDM, 0, "tasks", "tasks that generate rays, and of hits and misses") \
	X(TAG_TCU0_REQUESTS, TAG, 0, "requests", "requests through interface 0 of SPUs; each is for a texel of every lane of a wave") \
	X(TAG_TCU1_REQUESTS, TAG, 0, "requests", "requests through interface 1 of SPUs; each is for a texel of every lane of a wave") \
	X(TAG_TCU2_REQUESTS, TAG, 0, "requests", "requests through interface 2 of SPUs; each is for a texel of every lane of a wave") \
	X(TAG_TCU3_REQUESTS, TAG, 0, "requests", "requests through interface 3 of SPUs; each is for a texel of every lane of a wave") \
	X(PDM_SCOREBOARD_WAITS, PDM, 0, "tasks", "fragment tasks that had to wait for samples that a task of an earlier pass had locked") \
	X(PDM_SCOREBOARD_ISP_WAITS, PDM, 0, "triangles", "triangles that had to wait for tasks that decide on depth, stencil or mask near them") \
	PUMICE_PERF_HIER_ROWS(PUMICE_PERF_HIER_COUNTER_, X)

#define PUMICE_PERF_ENUM_(name, category, detailed, unit, description) PUMICE_PERF_##name,
enum pumice_perf_counter {
	PUMICE_PERF_COUNTERS(PUMICE_PERF_ENUM_)
	PUMICE_PERF_NUMBER	/* of counters; there are registers for more */
};

#endif
