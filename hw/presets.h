/* SPDX-License-Identifier: MIT */
/*
 * Presets: the sizes of the GPUs that the source documents describe (enum preset of
 * registers.xml). A device property overrides its column.
 *
 * X(name, cores, uscs, slots, tasks, waves, batch, unified, common, local, slot_registers, vpm,
 *   idx, chunks, tiles, outputs, tsp)
 *
 *   cores           cores
 *   uscs            USCs of a core (other names: pipes, compute units, QPUs)
 *   slots           task slots of a USC
 *   tasks           tasks that a USC manages, those in slots included
 *   waves           waves of 32 lanes in flight on a USC
 *   batch           most vertices or fragments of a task, 16 or a multiple of 32
 *   unified         unified store of a USC, KiB
 *   common          common store of a USC, KiB
 *   local           local memory of a USC, KiB
 *   slot_registers  slot registers of a slot; the rest of 8 are internal registers
 *   vpm             vertex pipe memory of a core, KiB
 *   idx             primitives in the IDX FIFO of a core
 *   chunks          chunks of draws between the master VDM and a core
 *   tiles           tiles between the master IPF and a core
 *   outputs         store of pixel outputs (enum output_store of registers.xml): common or
 *                   partition
 *   tsp             vertices in the TSP's cache of a core
 *
 * DEFAULT       four small cores, on which the project's own tests run. The common store has 64 KiB
 *               for registers, and 512 KiB for the pixel outputs of the largest tile: 32x32 pixels
 *               of four samples of 32 registers.
 * VOLCANIC      document 000: four texture interfaces and so four USCs in an SPU, 512 KiB of
 *               unified store ("USC Register Stores"), at most 8192 words of local memory
 *               ("Local Memory Store"). The 128 instances of that example are not a limit: they
 *               follow from its 1024 registers an instance, of which there are at most 496 here.
 * WAVES         document 002, "Our own architecture": 32 compute units of 2 waves with 48
 *               registers of 32 lanes a wave, and 64 KiB of local memory.
 * SGX543MP4     document 004, "Specifications": four cores of four pipes. "USSE": output registers
 *               are in the unified store of a pipe, which has the 512 KiB for them here, and the
 *               common store has not.
 * VIDEOCORE4    document 001, "Binning Pass": tasks of 16 vertices. It has no number of cores or
 *               QPUs: one core of four USCs, the most that a core can have, is this project's own
 *               choice.
 *
 * Where a document gives no size, it is that of DEFAULT; the tasks of WAVES are two for each slot.
 */
#ifndef PUMICE_PRESETS_H
#define PUMICE_PRESETS_H

#define PUMICE_PRESETS(X) \
	X(DEFAULT, 4, 2, 48, 64, 192, 128, 512, 576, 64, 4, 512, 1024, 1, 4, common, 128) \
	X(VOLCANIC, 4, 4, 48, 64, 192, 128, 512, 576, 32, 4, 512, 1024, 1, 4, common, 128) \
	X(WAVES, 16, 2, 2, 4, 2, 64, 12, 576, 64, 4, 512, 1024, 1, 4, common, 128) \
	X(SGX543MP4, 4, 4, 48, 64, 192, 128, 1024, 64, 64, 4, 512, 1024, 1, 4, partition, 128) \
	X(VIDEOCORE4, 1, 4, 48, 64, 192, 16, 512, 576, 64, 4, 512, 1024, 1, 4, common, 128)

/*
 * Their caches. X(name, slc, data_l1, data_l2, texture_l1, texture_l2)
 *
 *   slc         system level cache of the GPU, all banks, KiB
 *   data_l1     first data cache, bytes: of one half of a core (DCU), or each of the three
 *               partitions of one USC (MCU L0)
 *   data_l2     data cache of a core, bytes
 *   texture_l1  first texture cache, bytes: of one half of a core (DCU), or of one USC (MCU)
 *   texture_l2  texture cache of a core, bytes
 *
 * Only document 004 gives sizes ("SLC", "DCU", "TCU"): those of SGX543MP4. The others have as many
 * lines, which are four times as long, and the same 64 KiB of SLC for each core. In fast mode they
 * have no effect.
 */
#define PUMICE_PRESET_CACHES(X) \
	X(DEFAULT, 256, 2048, 4096, 2048, 32768) \
	X(VOLCANIC, 256, 2048, 4096, 2048, 32768) \
	X(WAVES, 1024, 2048, 4096, 2048, 32768) \
	X(SGX543MP4, 256, 512, 1024, 512, 8192) \
	X(VIDEOCORE4, 64, 2048, 4096, 2048, 32768)

/*
 * The hierarchy that they form. X(name, style, line, segment, data_ways, texture_ways, slc_ways)
 *
 *   style         data caches (enum pumice_cache_style of pumice_gpu.h): MCU, an L0 for each USC
 *                 and an L1 for the core, or DCU, an L1 for each half of a core
 *                 and an L2 for the core. Texture caches are shared likewise.
 *   line          bytes of a line
 *   segment       bytes of the aligned part of a line in which memory is accessed
 *   data_ways     ways of the data caches, except of the MCU L0, all of whose lines form one set
 *   texture_ways  ways of the texture caches
 *   slc_ways      ways of a bank of the SLC
 *
 * Document 000, "System Memory Access": lines of 128 bytes on segments of 64 bytes. Document 004,
 * "DCU", "TCU" and "SLC": lines of 256 bits, 4 ways of the TCU and 16 of the SLC. Documents 001 and
 * 002 describe no caches, and no document gives the ways of data caches: they have those of the
 * TCU.
 */
#define PUMICE_PRESET_HIERARCHY(X) \
	X(DEFAULT, MCU, 128, 64, 4, 4, 16) \
	X(VOLCANIC, MCU, 128, 64, 4, 4, 16) \
	X(WAVES, MCU, 128, 64, 4, 4, 16) \
	X(SGX543MP4, DCU, 32, 32, 4, 4, 16) \
	X(VIDEOCORE4, MCU, 128, 64, 4, 4, 16)

#endif
