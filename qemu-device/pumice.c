/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pumice GPU: the PCI device.
 *
 * Reference: hw/registers.xml of the Pumice project, and its Documentation/.
 *
 * Usage: add option -device pumice,<properties>
 *
 *   -device pumice,cores=4,threads=2
 *   -device pcie-root-port,id=gpu-port,chassis=1 -device pumice,bus=gpu-port
 *
 * - `cores`
 *   GPU cores, 1 to 16. Default 4. Each has two shading clusters.
 *
 * - `threads`
 *   Host threads that run the GPU, 0 to 64. Default 2. With 0 the GPU runs in
 *   QEMU's main loop, on the virtual clock, in a fixed order.
 *
 * - `virtual-gpus`
 *   Virtual GPUs, 1 to 8. Default 1. Those other than 0 can be PCI functions of
 *   their own: see vgpu.c.
 *
 * - `unified-store-kib`, `common-store-kib`, `local-memory-kib`
 *   Stores of one shading cluster, in KiB. Defaults 512, 576 and 64; at most
 *   4095, 1023 and 1023.
 *
 * - `pixel-outputs`
 *   Store of the pixel outputs of tiles: `common`, the default of most presets,
 *   or `partition`, which is of the unified store.
 *
 * - `slot-registers`
 *   Slot registers of a task slot, 0 to 8. Default 4. The rest of 8 are internal
 *   registers of each instance.
 *
 * - `vpm-kib`, `idx-fifo`, `chunk-fifo`, `tile-fifo`
 *   Vertex pipe memory of a core in KiB, and FIFOs in primitives, chunks of
 *   draws and tiles. Defaults 512, 1024, 1 and 4; at most 4096, 4096, 4, 64.
 *
 * - `tsp-vertices`
 *   Vertices in the cache of a core's TSP, a power of two from 4 to 1024.
 *   Default 128.
 *
 * - `slc-kib`, `data-l1-bytes`, `data-l2-bytes`, `texture-l1-bytes`,
 *   `texture-l2-bytes`
 *   Caches: of the GPU; of half a core and of a core. Powers of two, with at
 *   least a line for each way (hw/presets.h). They are reported, and modelled
 *   in mode counted.
 *
 * - `mode`
 *   fast; counted: every request of the GPU to memory passes the modelled
 *   caches; or strict: errors of programs are detected, too. Default fast.
 *   qom-set changes it at run time while no job runs.
 *
 * - `findings`
 *   Errors that mode strict has detected, for qom-get: a JSON array, see
 *   Documentation/strict.rst. Each new one is QMP event PUMICE_FINDING, too.
 *
 * - `fault-injection`
 *   Give the guest unit INJ, by which it may inject faults.
 *   Default off.
 *
 * - `inject`
 *   Request a fault, at run time: KIND[,where=WHERE][,bit=N][,us=N][,skip=N]
 *   [,count=N|endless], or none. See enum inject_kind of hw/registers.xml.
 *
 *     { "execute": "qom-set", "arguments": { "path": "/machine/peripheral/gpu",
 *       "property": "inject", "value": "unit-hang,where=cdm" } }
 *
 * - `fw-gdb`
 *   A character device on which GDB debugs the GPU's firmware; see gdb.c.
 *
 * Interface to the guest: PCI ID 1234:7075, class 0x0302 (3D controller). BAR 0
 * is one 64 KiB page of registers for each of 8 virtual GPUs, of which the
 * first `virtual-gpus` are active; BAR 4 holds the MSI-X table, one vector for
 * each.
 * Function-level reset; power states D0 and D3hot, which keep all state.
 *
 * Only this file, vgpu.c, memory.c, event.c and gdb.c depend on QEMU. gpu/pumice_gpu.h is the
 * interface of the GPU itself; its threads never take the big lock. They call
 * this file through PumiceOps only: an interrupt is stored in a bit mask for a
 * bottom half.
 *
 * Limits: not migratable. A virtual IOMMU between the GPU and guest RAM hides
 * that RAM from it.
 */

#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/log.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/resettable.h"
#include "migration/vmstate.h"
#include "system/reset.h"

#include "pumice.h"
#include "pumice_decode.h"
#include "pumice_names.h"
#include "pumice_regs.h"
#include "trace.h"

#define PUMICE_PM_OFFSET    0x60
#define PUMICE_EXP_OFFSET   0x80
#define PUMICE_MAX_THREADS  64
#define PUMICE_INJECT_BYTES 2048    /* size of the text of all requests */

/*
 * threads=0: maximum time of one run of the GPU, and minimum time until the
 * next.
 */
#define PUMICE_POLL_BUDGET_NS   1000000
#define PUMICE_POLL_GAP_NS      20000

/* Services of QEMU for the core. Any thread, with or without the big lock. */
static void pumice_raise_irq(void *opaque, unsigned int os)
{
    PumiceState *s = opaque;

    qatomic_or(&s->irq_pending, 1u << os);
    qemu_bh_schedule(s->irq_bh);
}

/* The virtual clock is read under a sequence lock: any thread may. */
static uint64_t pumice_now(void *opaque)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static void pumice_kick(void *opaque)
{
    PumiceState *s = opaque;

    timer_mod(s->poll_timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
}

/* Rate limited: a guest can cause millions of lines per second. */
static void pumice_log_guest_error(PumiceState *s, const char *text)
{
    uint64_t now = qemu_clock_get_ns(QEMU_CLOCK_REALTIME);
    uint32_t dropped;
    bool allowed;

    if (!qemu_loglevel_mask(LOG_GUEST_ERROR)) {
        return;
    }
    qemu_mutex_lock(&s->log_lock);
    allowed = log_limit_allow(&s->log_limit, now, &dropped);
    qemu_mutex_unlock(&s->log_lock);
    if (!allowed) {
        return;
    }
    if (dropped) {
        qemu_log_mask(LOG_GUEST_ERROR, "pumice: %u lines suppressed\n",
                      dropped);
    }
    qemu_log_mask(LOG_GUEST_ERROR, "pumice: %s\n", text);
}

static void pumice_log(void *opaque, enum pumice_log_level level,
                       const char *text)
{
    if (level == PUMICE_LOG_GUEST_ERROR) {
        pumice_log_guest_error(opaque, text);
    } else {
        trace_pumice_log(text);
    }
}

/*
 * A finding of mode strict. The GPU reports a bounded number of them, but again
 * whenever the guest selects the mode.
 */
static void pumice_log_finding(void *opaque, const char *text)
{
    g_autofree char *line = g_strdup_printf("finding %s", text);

    trace_pumice_finding(text);
    pumice_event_finding(opaque, text);
    pumice_log_guest_error(opaque, line);
}

/* QEMU's log is accessed under RCU, and traces are written to it. */
static void pumice_thread_start(void *opaque)
{
    rcu_register_thread();
}

static void pumice_thread_end(void *opaque)
{
    rcu_unregister_thread();
}

static void pumice_trace_line(void *opaque, u64 offset, const char *line)
{
    trace_pumice_decode(offset, line);
}

/* Trace one register access, as numbers and as text. */
static void pumice_trace_mmio(bool write, uint64_t offset, uint64_t value,
                              unsigned int os, unsigned int size)
{
    if (write) {
        trace_pumice_mmio_write(os, offset, size, value);
    } else {
        trace_pumice_mmio_read(os, offset, size, value);
    }
    if (trace_event_get_state_backends(TRACE_PUMICE_DECODE)) {
        pumice_decode_reg(offset, size * 8, write, value, pumice_trace_line,
                          NULL);
    }
}

static const char *pumice_render_str(uint64_t partial)
{
    return partial ? "partial render" : "render";
}

/* Trace starts and ends of jobs. */
static void pumice_trace_job(enum pumice_trace_event event, uint64_t a,
                             uint64_t b, uint64_t c)
{
    switch (event) {
    case PUMICE_TRACE_CDM_START:
        trace_pumice_cdm_start(c ? "resumed" : "started", a, b);
        break;
    case PUMICE_TRACE_CDM_END:
        trace_pumice_cdm_end(c ? "switched out" : "ended", pumice_fault_str(a),
                             b);
        break;
    case PUMICE_TRACE_VDM_START:
        trace_pumice_vdm_start(a, b);
        break;
    case PUMICE_TRACE_VDM_MEMORY:
        trace_pumice_vdm_memory(a);
        break;
    case PUMICE_TRACE_VDM_END:
        trace_pumice_vdm_end(pumice_fault_str(a), b);
        break;
    case PUMICE_TRACE_PDM_START:
        trace_pumice_pdm_start(pumice_render_str(c), a, b);
        break;
    case PUMICE_TRACE_PDM_END:
        trace_pumice_pdm_end(pumice_render_str(c), pumice_fault_str(a), b);
        break;
    case PUMICE_TRACE_TDM_START:
        trace_pumice_tdm_start(a, b);
        break;
    case PUMICE_TRACE_TDM_END:
        trace_pumice_tdm_end(pumice_fault_str(a), b);
        break;
    case PUMICE_TRACE_RDM_START:
        trace_pumice_rdm_start(a, b);
        break;
    case PUMICE_TRACE_RDM_END:
        trace_pumice_rdm_end(pumice_fault_str(a), b);
        break;
    default:
        g_assert_not_reached();
    }
}

static void pumice_trace(void *opaque, enum pumice_trace_event event,
                         uint64_t a, uint64_t b, uint64_t c)
{
    switch (event) {
    case PUMICE_TRACE_MMIO_READ:
    case PUMICE_TRACE_MMIO_WRITE:
        pumice_trace_mmio(event == PUMICE_TRACE_MMIO_WRITE, a, b, c & 0xff,
                          c >> 8);
        break;
    case PUMICE_TRACE_FW_BOOT:
        trace_pumice_fw_boot(a, b, c);
        break;
    case PUMICE_TRACE_FW_LOCKUP:
        trace_pumice_fw_lockup(a, b);
        break;
    case PUMICE_TRACE_CDM_START:
    case PUMICE_TRACE_CDM_END:
    case PUMICE_TRACE_VDM_START:
    case PUMICE_TRACE_VDM_MEMORY:
    case PUMICE_TRACE_VDM_END:
    case PUMICE_TRACE_PDM_START:
    case PUMICE_TRACE_PDM_END:
    case PUMICE_TRACE_TDM_START:
    case PUMICE_TRACE_TDM_END:
    case PUMICE_TRACE_RDM_START:
    case PUMICE_TRACE_RDM_END:
        pumice_trace_job(event, a, b, c);
        break;
    case PUMICE_TRACE_FAULT:
        trace_pumice_fault(a, pumice_fault_str(b), pumice_unit_str(c));
        break;
    case PUMICE_TRACE_TLB_INVALIDATE:
        trace_pumice_tlb_invalidate(a, b);
        break;
    case PUMICE_TRACE_RING:
        trace_pumice_ring(a, b, c);
        break;
    case PUMICE_TRACE_IRQ:
        trace_pumice_irq(a);
        break;
    }
}

static const struct pumice_gpu_ops pumice_ops = {
    .raise_irq = pumice_raise_irq,
    .now = pumice_now,
    .kick = pumice_kick,
    .log = pumice_log,
    .finding = pumice_log_finding,
    .trace = pumice_trace,
    .thread_start = pumice_thread_start,
    .thread_end = pumice_thread_end,
};

/* Signal the vectors that pumice_raise_irq() stored. */
static void pumice_irq_bh(void *opaque)
{
    PumiceState *s = opaque;
    uint32_t pending = qatomic_xchg(&s->irq_pending, 0);

    while (pending) {
        unsigned int os = ctz32(pending);

        pending &= pending - 1;
        if (s->vgpus[os]) {
            msix_notify(PCI_DEVICE(s->vgpus[os]), 0);
        } else if (s->own_oses >> os & 1) {
            msix_notify(PCI_DEVICE(s), os);
        }
    }
}

/* threads=0: run the GPU, and set the timer for its next run. */
static void pumice_poll(void *opaque)
{
    PumiceState *s = opaque;
    uint64_t wait = pumice_gpu_poll(s->gpu, PUMICE_POLL_BUDGET_NS);
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    if (wait == UINT64_MAX) {
        return;
    }
    wait = MAX(wait, PUMICE_POLL_GAP_NS);
    timer_mod(s->poll_timer, now + MIN(wait, (uint64_t)INT64_MAX - now));
}

/* Log an access to a page that a function of its own has; return whether. */
static bool pumice_page_moved(PumiceState *s, hwaddr addr)
{
    unsigned int os = addr / PUMICE_OS_PAGE_SIZE;

    /* Pages from virtual-gpus on have no function; the core refuses them. */
    if (os >= s->params.virtual_gpus || s->own_oses >> os & 1) {
        return false;
    }
    pumice_log_guest_error(s, "access to the page of a virtual GPU that is a "
                           "function of its own");
    return true;
}

/*
 * A processor may have looked up the region before the device was unplugged,
 * and take the big lock only after that: then the GPU no longer exists,
 * and reads return the value of an empty slot.
 */
static uint64_t pumice_mmio_read(void *opaque, hwaddr addr, unsigned size)
{
    PumiceState *s = opaque;

    if (!s->gpu) {
        return UINT64_MAX;
    }
    if (pumice_page_moved(s, addr)) {
        return 0;
    }
    return pumice_gpu_mmio_read(s->gpu, addr / PUMICE_OS_PAGE_SIZE,
                                addr % PUMICE_OS_PAGE_SIZE, size);
}

static void pumice_mmio_write(void *opaque, hwaddr addr, uint64_t value,
                              unsigned size)
{
    PumiceState *s = opaque;

    if (s->gpu && !pumice_page_moved(s, addr)) {
        pumice_gpu_mmio_write(s->gpu, addr / PUMICE_OS_PAGE_SIZE,
                              addr % PUMICE_OS_PAGE_SIZE, value, size);
    }
}

static const MemoryRegionOps pumice_mmio_ops = {
    .read = pumice_mmio_read,
    .write = pumice_mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 8 },
    .impl = { .min_access_size = 4, .max_access_size = 8 },
};

/*
 * The virtual clock is stopped with the machine, so the GPU must be stopped as
 * well.
 */
static void pumice_vm_state_change(void *opaque, bool running, RunState state)
{
    PumiceState *s = opaque;

    if (running && s->stopped) {
        s->stopped = false;
        pumice_gpu_unpark(s->gpu);
    } else if (!running && !s->stopped) {
        s->stopped = true;
        pumice_gpu_park(s->gpu);
    }
}

/* A property of the GPU's size, and its field in the core's configuration. */
typedef struct PumiceSize {
    const char *name;
    uint32_t *property;
    uint32_t min;
    uint32_t max;
    unsigned int *size;
} PumiceSize;

#define PUMICE_SIZES 20

static void pumice_list_sizes(PumiceState *s, struct pumice_gpu_config *c,
                              PumiceSize list[PUMICE_SIZES])
{
    const PumiceSize sizes[] = {
        { "cores", &s->params.cores, 1, PUMICE_MAX_CORES, &c->cores },
        { "uscs", &s->params.uscs, 1, PUMICE_MAX_USCS_PER_CORE,
          &c->uscs_per_core },
        { "slots", &s->params.slots, 1, PUMICE_USC_SLOTS, &c->slots },
        { "tasks", &s->params.tasks, 1, PUMICE_USC_TASKS, &c->tasks },
        { "waves", &s->params.waves, 1, 192, &c->waves },
        { "batch", &s->params.batch, 16, PUMICE_TASK_INSTANCES, &c->batch },
        { "unified-store-kib", &s->params.unified_store_kib, 1, 4095,
          &c->unified_kib },
        { "common-store-kib", &s->params.common_store_kib, 1, 1023,
          &c->common_kib },
        { "local-memory-kib", &s->params.local_memory_kib, 1, 1023,
          &c->local_kib },
        { "slot-registers", &s->params.slot_registers, 0, PUMICE_USC_OWN_REGS,
          &c->slot_registers },
        { "vpm-kib", &s->params.vpm_kib, 1, 4096, &c->vpm_kib },
        { "idx-fifo", &s->params.idx_fifo, 1, 4096, &c->idx_fifo },
        { "chunk-fifo", &s->params.chunk_fifo, 1, 4, &c->chunk_fifo },
        { "tile-fifo", &s->params.tile_fifo, 1, 64, &c->tile_fifo },
        { "tsp-vertices", &s->params.tsp_vertices, 4, 1024, &c->tsp_vertices },
        { "slc-kib", &s->params.slc_kib, PUMICE_MIN_SLC_KIB,
          PUMICE_MAX_SLC_KIB, &c->slc_kib },
        { "data-l1-bytes", &s->params.data_l1_bytes,
          PUMICE_MIN_CACHE_BYTES, PUMICE_MAX_CACHE_BYTES, &c->data_l1_bytes },
        { "data-l2-bytes", &s->params.data_l2_bytes,
          PUMICE_MIN_CACHE_BYTES, PUMICE_MAX_CACHE_BYTES, &c->data_l2_bytes },
        { "texture-l1-bytes", &s->params.texture_l1_bytes,
          PUMICE_MIN_CACHE_BYTES, PUMICE_MAX_CACHE_BYTES,
          &c->texture_l1_bytes },
        { "texture-l2-bytes", &s->params.texture_l2_bytes,
          PUMICE_MIN_CACHE_BYTES, PUMICE_MAX_CACHE_BYTES,
          &c->texture_l2_bytes },
    };

    QEMU_BUILD_BUG_ON(ARRAY_SIZE(sizes) != PUMICE_SIZES);
    memcpy(list, sizes, sizeof(sizes));
}

static bool pumice_check_range(const char *name, uint32_t value, uint32_t min,
                               uint32_t max, Error **errp)
{
    if (value < min || value > max) {
        error_setg(errp, "pumice: property '%s' must be %u to %u, not %u",
                   name, min, max, value);
        return false;
    }
    return true;
}

/* Store the properties that are set; in the core's configuration 0 is unset. */
static bool pumice_read_sizes(PumiceState *s, struct pumice_gpu_config *config,
                              Error **errp)
{
    PumiceSize list[PUMICE_SIZES];
    int i;

    pumice_list_sizes(s, config, list);
    for (i = 0; i < PUMICE_SIZES; i++) {
        const PumiceSize *p = &list[i];

        if (*p->property == PUMICE_OF_PRESET) {
            continue;
        }
        if (!pumice_check_range(p->name, *p->property, p->min, p->max, errp)) {
            return false;
        }
        *p->size = *p->property ?: PUMICE_NO_REGISTERS;
    }
    return true;
}

/* Show the GPU's sizes as values of the properties. */
static void pumice_show_sizes(PumiceState *s)
{
    struct pumice_gpu_config config;
    PumiceSize list[PUMICE_SIZES];
    int i;

    pumice_gpu_get_config(s->gpu, &config);
    pumice_list_sizes(s, &config, list);
    for (i = 0; i < PUMICE_SIZES; i++) {
        *list[i].property =
            *list[i].size == PUMICE_NO_REGISTERS ? 0 : *list[i].size;
    }
}

static bool pumice_create_gpu(PumiceState *s, Error **errp)
{
    struct pumice_gpu_config config = {
        .preset = s->params.preset,
        .late = s->params.late,
        .mode = s->params.mode[0] ? s->params.mode : NULL,
        .pixel_outputs = s->params.pixel_outputs,
        .threads = s->params.threads,
        .oses = s->params.virtual_gpus,
        .fault_injection = s->params.fault_injection,
    };
    const char *why;

    if (!pumice_check_range("threads", config.threads, 0, PUMICE_MAX_THREADS,
                            errp) ||
        !pumice_check_range("virtual-gpus", config.oses, 1, PUMICE_OS_COUNT,
                            errp) ||
        !pumice_read_sizes(s, &config, errp)) {
        return false;
    }
    s->gpu = pumice_gpu_create(&config, &pumice_ops, s, &why);
    if (!s->gpu) {
        error_setg(errp, "pumice: %s", why);
        return false;
    }
    pumice_show_sizes(s);
    return true;
}

bool pumice_init_msix(PCIDevice *pdev, unsigned int vectors, Error **errp)
{
    unsigned int i;

    if (msix_init_exclusive_bar(pdev, vectors, PUMICE_MSIX_BAR, errp) < 0) {
        return false;
    }
    for (i = 0; i < vectors; i++) {
        msix_vector_use(pdev, i);
    }
    return true;
}

void pumice_exit_msix(PCIDevice *pdev)
{
    msix_unuse_all_vectors(pdev);
    msix_uninit_exclusive_bar(pdev);
}

bool pumice_init_caps(PCIDevice *pdev, Error **errp)
{
    if (pci_pm_init(pdev, PUMICE_PM_OFFSET, errp) < 0) {
        return false;
    }
    pci_set_word(pdev->config + PUMICE_PM_OFFSET + PCI_PM_PMC,
                 PCI_PM_CAP_VER_1_2);
    pci_set_word(pdev->config + PUMICE_PM_OFFSET + PCI_PM_CTRL,
                 PCI_PM_CTRL_NO_SOFT_RESET);
    pci_set_word(pdev->wmask + PUMICE_PM_OFFSET + PCI_PM_CTRL,
                 PCI_PM_CTRL_STATE_MASK);

    if (pcie_endpoint_cap_init(pdev, PUMICE_EXP_OFFSET) < 0) {
        error_setg(errp, "pumice: no space for the PCI Express capability");
        return false;
    }
    pcie_cap_flr_init(pdev);
    return true;
}

/* Of the machine; pumice_reset_hold() is called as well, and for resets of the function alone. */
static void pumice_machine_reset(void *opaque)
{
    PumiceState *s = opaque;

    pumice_gpu_machine_reset(s->gpu);
}

static void pumice_exit(PCIDevice *pdev)
{
    PumiceState *s = PUMICE(pdev);
    unsigned int os;

    for (os = 1; os < PUMICE_OS_COUNT; os++) {
        if (s->vgpus[os]) {
            pumice_vgpu_orphan(s->vgpus[os]);
        }
    }
    qemu_unregister_reset(pumice_machine_reset, s);
    qemu_del_vm_change_state_handler(s->vm_state);
    pumice_memory_exit(&s->memory);
    pumice_gdb_exit(s);
    /* After this no thread of the GPU calls back. */
    pumice_gpu_destroy(s->gpu);
    s->gpu = NULL;
    timer_free(s->poll_timer);
    qemu_bh_delete(s->irq_bh);
    pumice_event_exit(s);
    qemu_mutex_destroy(&s->log_lock);
    pcie_cap_exit(pdev);
    pumice_exit_msix(pdev);
}

static void pumice_realize(PCIDevice *pdev, Error **errp)
{
    PumiceState *s = PUMICE(pdev);

    /* State that callbacks of the core use must exist before the core. */
    qemu_mutex_init(&s->log_lock);
    pumice_event_init(s);
    s->irq_bh = qemu_bh_new_guarded(pumice_irq_bh, s,
                                    &DEVICE(s)->mem_reentrancy_guard);
    s->poll_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, pumice_poll, s);
    if (!pumice_create_gpu(s, errp)) {
        goto free_callbacks;
    }

    memory_region_init_io(&s->mmio, OBJECT(s), &pumice_mmio_ops, s, "pumice",
                          PUMICE_OS_COUNT * PUMICE_OS_PAGE_SIZE);
    pci_register_bar(pdev, PUMICE_MMIO_BAR,
                     PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64, &s->mmio);
    if (!pumice_init_msix(pdev, PUMICE_OS_COUNT, errp)) {
        goto destroy_gpu;
    }
    if (!pumice_init_caps(pdev, errp) || !pumice_gdb_init(s, errp)) {
        goto uninit_msix;
    }
    s->own_oses = (1u << s->params.virtual_gpus) - 1;
    pumice_memory_init(&s->memory, s, 0, s->own_oses,
                       pci_get_address_space(pdev));
    s->vm_state = pumice_add_vm_change_state_handler(DEVICE(s),
                                                     pumice_vm_state_change, s);
    qemu_register_reset(pumice_machine_reset, s);
    return;

uninit_msix:
    pumice_exit_msix(pdev);
destroy_gpu:
    pumice_gpu_destroy(s->gpu);
    s->gpu = NULL;
free_callbacks:
    timer_free(s->poll_timer);
    qemu_bh_delete(s->irq_bh);
    pumice_event_exit(s);
    qemu_mutex_destroy(&s->log_lock);
}

/* Bus reset, FLR, and power-on: the core's threads are stopped during it. */
static void pumice_reset_hold(Object *obj, ResetType type)
{
    PumiceState *s = PUMICE(obj);

    trace_pumice_reset();
    timer_del(s->poll_timer);
    pumice_gpu_reset(s->gpu);
    qatomic_set(&s->irq_pending, 0);
}

static void pumice_write_config(PCIDevice *pdev, uint32_t addr, uint32_t value,
                                int len)
{
    pci_default_write_config(pdev, addr, value, len);
    pcie_cap_flr_write_config(pdev, addr, value, len);
}

static const Property pumice_properties[] = {
    DEFINE_PROP_STRING("preset", PumiceState, params.preset),
    DEFINE_PROP_UINT32("cores", PumiceState, params.cores, PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("uscs", PumiceState, params.uscs, PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("slots", PumiceState, params.slots, PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("tasks", PumiceState, params.tasks, PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("waves", PumiceState, params.waves, PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("batch", PumiceState, params.batch, PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("threads", PumiceState, params.threads, 2),
    DEFINE_PROP_UINT32("virtual-gpus", PumiceState, params.virtual_gpus, 1),
    DEFINE_PROP_UINT32("unified-store-kib", PumiceState,
                       params.unified_store_kib, PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("common-store-kib", PumiceState,
                       params.common_store_kib, PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("local-memory-kib", PumiceState,
                       params.local_memory_kib, PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("slot-registers", PumiceState, params.slot_registers,
                       PUMICE_OF_PRESET),
    DEFINE_PROP_STRING("late", PumiceState, params.late),
    DEFINE_PROP_STRING("pixel-outputs", PumiceState, params.pixel_outputs),
    DEFINE_PROP_UINT32("vpm-kib", PumiceState, params.vpm_kib,
                       PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("idx-fifo", PumiceState, params.idx_fifo,
                       PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("chunk-fifo", PumiceState, params.chunk_fifo,
                       PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("tile-fifo", PumiceState, params.tile_fifo,
                       PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("tsp-vertices", PumiceState, params.tsp_vertices,
                       PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("slc-kib", PumiceState, params.slc_kib,
                       PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("data-l1-bytes", PumiceState, params.data_l1_bytes,
                       PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("data-l2-bytes", PumiceState, params.data_l2_bytes,
                       PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("texture-l1-bytes", PumiceState,
                       params.texture_l1_bytes, PUMICE_OF_PRESET),
    DEFINE_PROP_UINT32("texture-l2-bytes", PumiceState,
                       params.texture_l2_bytes, PUMICE_OF_PRESET),
    DEFINE_PROP_BOOL("fault-injection", PumiceState, params.fault_injection,
                     false),
    DEFINE_PROP_CHR("fw-gdb", PumiceState, gdb_chr),
};

static const VMStateDescription pumice_vmstate = {
    .name = TYPE_PUMICE,
    .unmigratable = 1,
};

#define PUMICE_CACHE_RANGE \
    "a power of two from " PUMICE_LIMIT_TEXT(PUMICE_MIN_CACHE_BYTES) " to " \
    PUMICE_LIMIT_TEXT(PUMICE_MAX_CACHE_BYTES) ", at least a line for each way " \
    "of the preset; modelled in mode counted"

/* Set the descriptions for "-device pumice,help". */
static void pumice_describe_properties(ObjectClass *klass)
{
    object_class_property_set_description(klass, "preset",
        "sizes of default, volcanic, waves, sgx543mp4 or videocore4");
    object_class_property_set_description(klass, "cores",
        "GPU cores, 1 to 16 (default: of the preset, as for all sizes)");
    object_class_property_set_description(klass, "uscs",
        "unified shading clusters of one core, 1 to 4");
    object_class_property_set_description(klass, "slots",
        "task slots of one shading cluster, 1 to 48");
    object_class_property_set_description(klass, "tasks",
        "tasks that one shading cluster manages, as many as slots to 64");
    object_class_property_set_description(klass, "waves",
        "waves in flight on one shading cluster, 1 to 192");
    object_class_property_set_description(klass, "batch",
        "vertices or fragments of a task: 16, 32, 64, 96 or 128");
    object_class_property_set_description(klass, "threads",
        "host threads that run the GPU, 0 (main loop) to 64");
    object_class_property_set_description(klass, "virtual-gpus",
        "virtual GPUs, each with a page of registers and a vector, 1 to 8");
    object_class_property_set_description(klass, "unified-store-kib",
        "unified store of one shading cluster, KiB");
    object_class_property_set_description(klass, "common-store-kib",
        "common store of one shading cluster, KiB");
    object_class_property_set_description(klass, "local-memory-kib",
        "local memory of one shading cluster, KiB");
    object_class_property_set_description(klass, "slot-registers",
        "slot registers of a task slot, 0 to 8; the rest are internal registers");
    object_class_property_set_description(klass, "late",
        "when data of loads arrive: early, data (when they are complete) or "
        "poison (a program that does not wait faults)");
    object_class_property_set_description(klass, "mode",
        "fast, counted (all requests pass the modelled caches), or strict "
        "(errors of programs are reported, too); also at run time");
    object_class_property_set_description(klass, "pixel-outputs",
        "store of the pixel outputs of tiles: common or partition");
    object_class_property_set_description(klass, "vpm-kib",
        "vertex pipe memory of one core, KiB");
    object_class_property_set_description(klass, "idx-fifo",
        "primitives between vertex data master and tiling accelerator of a core");
    object_class_property_set_description(klass, "chunk-fifo",
        "chunks of draws between the master VDM and a core, 1 to 4");
    object_class_property_set_description(klass, "tile-fifo",
        "tiles between the master IPF and a core, 1 to 64");
    object_class_property_set_description(klass, "tsp-vertices",
        "vertices in the cache of a core's TSP, a power of two from 4 to 1024");
    object_class_property_set_description(klass, "slc-kib",
        "system level cache, KiB, a power of two from "
        PUMICE_LIMIT_TEXT(PUMICE_MIN_SLC_KIB) " to "
        PUMICE_LIMIT_TEXT(PUMICE_MAX_SLC_KIB) ", at least a line for each way "
        "of each bank; modelled in mode counted");
    object_class_property_set_description(klass, "data-l1-bytes",
        "data cache of half a core, bytes, " PUMICE_CACHE_RANGE);
    object_class_property_set_description(klass, "data-l2-bytes",
        "data cache of a core, bytes, " PUMICE_CACHE_RANGE);
    object_class_property_set_description(klass, "texture-l1-bytes",
        "texture cache of half a core, bytes, " PUMICE_CACHE_RANGE);
    object_class_property_set_description(klass, "texture-l2-bytes",
        "texture cache of a core, bytes, " PUMICE_CACHE_RANGE);
    object_class_property_set_description(klass, "fault-injection",
        "whether the guest may inject faults");
    object_class_property_set_description(klass, "fw-gdb",
        "character device on which GDB debugs the GPU's firmware");
    object_class_property_set_description(klass, "findings",
        "errors that mode strict has detected, as JSON");
    object_class_property_set_description(klass, "inject",
        "inject a fault, at run time, or none");
}

/* Return the pending requests. */
static char *pumice_get_inject(Object *obj, Error **errp)
{
    PumiceState *s = PUMICE(obj);
    char text[PUMICE_INJECT_BYTES] = "";

    if (s->gpu) {
        pumice_gpu_injected(s->gpu, text, sizeof(text));
    }
    return g_strdup(text);
}

static void pumice_set_inject(Object *obj, const char *value, Error **errp)
{
    PumiceState *s = PUMICE(obj);

    if (!s->gpu) {
        error_setg(errp, "pumice: faults can be injected at run time only");
    } else if (pumice_gpu_inject(s->gpu, value)) {
        error_setg(errp, "pumice: '%s' is not a valid fault request", value);
    }
}

#define PUMICE_DEFAULT_MODE "fast"  /* of pumice_gpu_config.mode */
#define PUMICE_MODES "pumice: mode must be fast, counted or strict"

static char *pumice_get_mode(Object *obj, Error **errp)
{
    PumiceState *s = PUMICE(obj);

    if (s->gpu) {
        return g_strdup(pumice_gpu_mode(s->gpu));
    }
    return g_strdup(s->params.mode[0] ? s->params.mode : PUMICE_DEFAULT_MODE);
}

static void pumice_set_mode(Object *obj, const char *value, Error **errp)
{
    PumiceState *s = PUMICE(obj);

    if (!value[0]) {
        error_setg(errp, PUMICE_MODES);
        return;
    }
    if (!s->gpu) {
        /* A name that is too long is refused with all that are unknown. */
        g_strlcpy(s->params.mode, value, sizeof(s->params.mode));
        return;
    }
    switch (pumice_gpu_set_mode(s->gpu, value)) {
    case 0:
        break;
    case -EBUSY:
        error_setg(errp, "pumice: the mode cannot change while a job runs");
        break;
    case -ENOMEM:
        error_setg(errp, "pumice: out of memory for mode %s", value);
        break;
    default:
        error_setg(errp, PUMICE_MODES);
        break;
    }
}

/* Return the findings of mode strict, and how many had no room. */
static char *pumice_get_findings(Object *obj, Error **errp)
{
    PumiceState *s = PUMICE(obj);
    GString *all = g_string_new("[");
    char text[PUMICE_FINDING_BYTES];
    unsigned int n;

    for (n = 0; s->gpu && pumice_gpu_finding(s->gpu, n, text); n++) {
        g_string_append_printf(all, "%s%s", n ? "," : "", text);
    }
    if (s->gpu && pumice_gpu_findings_lost(s->gpu)) {
        g_string_append_printf(all, ",{\"lost\":%" PRIu64 "}",
                               pumice_gpu_findings_lost(s->gpu));
    }
    g_string_append(all, "]");
    return g_string_free(all, FALSE);
}

static void pumice_class_init(ObjectClass *klass, PUMICE_CLASS_DATA *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    pc->realize = pumice_realize;
    pc->exit = pumice_exit;
    pc->config_write = pumice_write_config;
    pc->vendor_id = PUMICE_PCI_VENDOR;
    pc->device_id = PUMICE_PCI_DEVICE;
    pc->class_id = PCI_CLASS_DISPLAY_3D;
    rc->phases.hold = pumice_reset_hold;
    dc->desc = "Pumice tile-based GPU";
    dc->vmsd = &pumice_vmstate;
    device_class_set_props(dc, pumice_properties);
    object_class_property_add_str(klass, "inject", pumice_get_inject,
                                  pumice_set_inject);
    object_class_property_add_str(klass, "mode", pumice_get_mode,
                                  pumice_set_mode);
    object_class_property_add_str(klass, "findings", pumice_get_findings, NULL);
    pumice_describe_properties(klass);
    set_bit(DEVICE_CATEGORY_DISPLAY, dc->categories);
}

static const TypeInfo pumice_types[] = {
    {
        .name = TYPE_PUMICE,
        .parent = TYPE_PCI_DEVICE,
        .instance_size = sizeof(PumiceState),
        .class_init = pumice_class_init,
        .interfaces = (InterfaceInfo[]) {
            { INTERFACE_PCIE_DEVICE },
            { }
        },
    },
};

DEFINE_TYPES(pumice_types)
