/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pumice GPU: state of the PCI device.
 */
#ifndef HW_PUMICE_H
#define HW_PUMICE_H

#include "qemu/thread.h"
#include "hw/pci/pci_device.h"
#include "qom/object.h"

#include "compat.h"
#include "gpu/log_limit.h"
#include "gpu/pumice_gpu.h"
#include "gpu/pumice_gpu_gdb.h"
#include "pumice_regs.h"

#define PUMICE_MMIO_BAR     0
#define PUMICE_MSIX_BAR     4

#define TYPE_PUMICE "pumice"
OBJECT_DECLARE_SIMPLE_TYPE(PumiceState, PUMICE)

#define TYPE_PUMICE_VGPU "pumice-vgpu"
OBJECT_DECLARE_SIMPLE_TYPE(PumiceVgpuState, PUMICE_VGPU)

/* Guest RAM of a PCI function, collected by a listener (memory.c). */
typedef struct PumiceMemory {
    MemoryListener listener;
    PumiceState *owner;
    unsigned int os;        /* index in the owner's memories */
    uint8_t oses;           /* bit n: it is memory of virtual GPU n */
    GArray *sections;       /* MemoryRegionSection: the GPU's current map */
    GArray *next;           /* the map under construction */
} PumiceMemory;

/* Findings that wait for the main loop to emit them as events (event.c). */
#define PUMICE_EVENTS LOG_LIMIT_LINES

typedef struct PumiceEvent {
    char *text;             /* of the finding */
    uint32_t suppressed;    /* findings before it without an event */
} PumiceEvent;

typedef struct PumiceEvents {
    QEMUBH *bh;
    QemuMutex lock;         /* protects the rest */
    struct log_limit limit;
    uint32_t suppressed;
    unsigned int count;
    PumiceEvent waiting[PUMICE_EVENTS];     /* the oldest first */
} PumiceEvents;

#define PUMICE_OF_PRESET UINT32_MAX
#define PUMICE_MODE_BYTES 16    /* of the name of a mode */

struct PumiceState {
    PCIDevice parent_obj;

    /* Properties */
    struct {
        char *preset;
        char *late;
        char *pixel_outputs;
        /* Sizes: PUMICE_OF_PRESET if not set; the GPU's when realized. */
        uint32_t cores;
        uint32_t uscs;
        uint32_t slots;
        uint32_t tasks;
        uint32_t waves;
        uint32_t batch;
        uint32_t unified_store_kib;
        uint32_t common_store_kib;
        uint32_t local_memory_kib;
        uint32_t slot_registers;
        uint32_t vpm_kib;
        uint32_t idx_fifo;
        uint32_t chunk_fifo;
        uint32_t tile_fifo;
        uint32_t tsp_vertices;
        uint32_t slc_kib;
        uint32_t data_l1_bytes;
        uint32_t data_l2_bytes;
        uint32_t texture_l1_bytes;
        uint32_t texture_l2_bytes;
        uint32_t threads;
        uint32_t virtual_gpus;
        bool fault_injection;
        char mode[PUMICE_MODE_BYTES];   /* until realized; empty: the default */
    } params;

    /* BAR 0: a page of registers for each virtual GPU */
    MemoryRegion mmio;

    struct pumice_gpu *gpu; /* NULL before it is realized, and once unplugged */
    PumiceMemory memory;    /* of this function */

    /* Functions of virtual GPUs other than 0 (vgpu.c), by number, or NULL. */
    PumiceVgpuState *vgpus[PUMICE_OS_COUNT];
    PumiceMemory *memories[PUMICE_OS_COUNT];    /* of 0 and of these */
    uint8_t own_oses;       /* bit n: page n is of this function's BAR 0 */

    /* Virtual GPUs whose vector the bottom half must signal. */
    uint32_t irq_pending;
    QEMUBH *irq_bh;

    QEMUTimer *poll_timer;  /* threads=0: runs the GPU */
    /* Lines logged because of the guest; any thread. */
    QemuMutex log_lock;
    struct log_limit log_limit;
    PumiceEvents events;

    /* GDB of the firmware (gdb.c); gdb is NULL without one */
    CharBackend gdb_chr;
    struct pumice_gpu_gdb *gdb;
    QEMUBH *gdb_bh;

    VMChangeStateEntry *vm_state;
    bool stopped;           /* parked: the machine is stopped */
};

/* The PCI function of one virtual GPU other than 0. */
struct PumiceVgpuState {
    PCIDevice parent_obj;

    /* Properties */
    PumiceState *gpu;
    uint32_t number;

    /* It uses the GPU; not after the unplug of either. */
    bool attached;
    MemoryRegion mmio;      /* BAR 0: its page of registers */
    PumiceMemory memory;
};

/*
 * Map the RAM of an address space to the GPU as that of virtual GPUs @oses, and
 * track its changes. @os: the function that it is of. Under the big lock.
 */
void pumice_memory_init(PumiceMemory *memory, PumiceState *owner,
                        unsigned int os, uint8_t oses, AddressSpace *as);
/* Change the virtual GPUs whose memory it is. */
void pumice_memory_set_oses(PumiceMemory *memory, uint8_t oses);
/* Unmap it from the GPU. */
void pumice_memory_exit(PumiceMemory *memory);

/* Detach it from its GPU, which is being unplugged. */
void pumice_vgpu_orphan(PumiceVgpuState *v);

/* Add the capabilities that both kinds of functions have. */
bool pumice_init_caps(PCIDevice *pdev, Error **errp);
/* Initialize a MSI-X table with @vectors, all in use, in a BAR of its own. */
bool pumice_init_msix(PCIDevice *pdev, unsigned int vectors, Error **errp);
void pumice_exit_msix(PCIDevice *pdev);

/* QMP events of findings. Exit once no thread of the GPU calls back. */
void pumice_event_init(PumiceState *s);
void pumice_event_exit(PumiceState *s);
void pumice_event_finding(PumiceState *s, const char *text);

/* Serve GDB on the property's character device, if there is one; big lock. */
bool pumice_gdb_init(PumiceState *s, Error **errp);
/* While there is a GPU. */
void pumice_gdb_exit(PumiceState *s);

#endif
