/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pumice GPU: guest RAM for the GPU core.
 *
 * The core reads and writes guest RAM through plain pointers, from threads that
 * never take the big lock. A listener on the device's bus-master address space
 * collects every RAM section, and passes a new map to the core when it changes;
 * the core stops its threads during the change. The map has the sections of all
 * functions of the GPU (vgpu.c), each for the virtual GPUs of that function.
 * While the bus-master bit is off that address space is empty, and so is the map.
 *
 * The old sections are released only after the core has stopped using them.
 *
 * Limits: RAM only. Other devices' registers, mapped host devices and ROM
 * devices are not memory for the GPU; accesses to them fault. The GPU's stores
 * do not enter QEMU's dirty logs: the device is unmigratable, and code or
 * display memory that a GPU writes is not detected by the translator or the
 * display.
 */

#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/units.h"

#include "pumice.h"
#include "trace.h"

#define PUMICE_MEM_ALIGN (4 * KiB)

static bool pumice_section_usable(const MemoryRegionSection *section)
{
    MemoryRegion *mr = section->mr;

    return memory_region_is_ram(mr) && !memory_region_is_ram_device(mr);
}

/* Return the whole 4 KiB pages of a section; false when there is none. */
static bool pumice_section_region(const MemoryRegionSection *section,
                                  struct pumice_mem_region *region)
{
    uint64_t addr = section->offset_within_address_space;
    uint64_t head = ROUND_UP(addr, PUMICE_MEM_ALIGN) - addr;
    uint64_t size = int128_get64(section->size);

    if (size < head) {
        return false;
    }
    region->addr = addr + head;
    region->size = QEMU_ALIGN_DOWN(size - head, PUMICE_MEM_ALIGN);
    region->host = (uint8_t *)memory_region_get_ram_ptr(section->mr) +
                   section->offset_within_region + head;
    region->readonly = section->readonly || section->mr->readonly;
    return region->size && QEMU_PTR_IS_ALIGNED(region->host, PUMICE_MEM_ALIGN);
}

static GArray *pumice_sections_new(void)
{
    return g_array_new(false, false, sizeof(MemoryRegionSection));
}

/* Free a list and the references that it holds. */
static void pumice_sections_free(GArray *sections)
{
    guint i;

    for (i = 0; i < sections->len; i++) {
        memory_region_unref(g_array_index(sections, MemoryRegionSection, i).mr);
    }
    g_array_free(sections, true);
}

/*
 * Return whether two sections are the same memory at the same address.
 * MemoryRegionSection_eq() cannot be used: it also compares the flat view,
 * which differs after every change of the memory map.
 */
static bool pumice_section_equal(const MemoryRegionSection *a,
                                 const MemoryRegionSection *b)
{
    return a->mr == b->mr &&
           a->offset_within_region == b->offset_within_region &&
           a->offset_within_address_space == b->offset_within_address_space &&
           int128_eq(a->size, b->size) && a->readonly == b->readonly;
}

static bool pumice_sections_equal(GArray *a, GArray *b)
{
    guint i;

    if (a->len != b->len) {
        return false;
    }
    for (i = 0; i < a->len; i++) {
        if (!pumice_section_equal(
                &g_array_index(a, MemoryRegionSection, i),
                &g_array_index(b, MemoryRegionSection, i))) {
            return false;
        }
    }
    return true;
}

static void pumice_memory_begin(MemoryListener *listener)
{
    PumiceMemory *m = container_of(listener, PumiceMemory, listener);

    pumice_sections_free(m->next);
    m->next = pumice_sections_new();
}

static void pumice_memory_add(MemoryListener *listener,
                              MemoryRegionSection *section)
{
    PumiceMemory *m = container_of(listener, PumiceMemory, listener);

    if (pumice_section_usable(section)) {
        memory_region_ref(section->mr);
        g_array_append_val(m->next, *section);
    }
}

/* Append the regions of one function; return their number. */
static unsigned int pumice_memory_regions(const PumiceMemory *m,
                                          struct pumice_mem_region *regions)
{
    unsigned int count = 0;
    guint i;

    for (i = 0; m->oses && i < m->sections->len; i++) {
        if (pumice_section_region(
                &g_array_index(m->sections, MemoryRegionSection, i),
                &regions[count])) {
            regions[count].oses = m->oses;
            trace_pumice_memory(regions[count].addr, regions[count].size,
                                regions[count].readonly);
            count++;
        }
    }
    return count;
}

/* Set the sections of all functions as memory map of the core. */
static void pumice_memory_publish(PumiceState *s)
{
    g_autofree struct pumice_mem_region *regions = NULL;
    unsigned int os, count = 0, most = 1;
    int ret;

    /* The device with the GPU can be unplugged before the other functions. */
    if (!s->gpu) {
        return;
    }
    for (os = 0; os < PUMICE_OS_COUNT; os++) {
        most += s->memories[os] ? s->memories[os]->sections->len : 0;
    }
    regions = g_new0(struct pumice_mem_region, most);
    for (os = 0; os < PUMICE_OS_COUNT; os++) {
        if (s->memories[os]) {
            count += pumice_memory_regions(s->memories[os], regions + count);
        }
    }
    trace_pumice_memory_commit(count);
    ret = pumice_gpu_set_memory(s->gpu, regions, count);
    if (ret) {
        error_report("pumice: guest memory is not usable: %s", strerror(-ret));
    }
}

static void pumice_memory_commit(MemoryListener *listener)
{
    PumiceMemory *m = container_of(listener, PumiceMemory, listener);
    GArray *old = m->sections;

    if (pumice_sections_equal(m->sections, m->next)) {
        return;
    }
    m->sections = m->next;
    m->next = pumice_sections_new();
    pumice_memory_publish(m->owner);
    pumice_sections_free(old);
}

void pumice_memory_set_oses(PumiceMemory *m, uint8_t oses)
{
    if (m->oses != oses) {
        m->oses = oses;
        pumice_memory_publish(m->owner);
    }
}

void pumice_memory_init(PumiceMemory *m, PumiceState *owner, unsigned int os,
                        uint8_t oses, AddressSpace *as)
{
    m->owner = owner;
    m->os = os;
    m->oses = oses;
    owner->memories[os] = m;
    m->sections = pumice_sections_new();
    m->next = pumice_sections_new();
    m->listener = (MemoryListener) {
        .name = "pumice",
        .begin = pumice_memory_begin,
        .commit = pumice_memory_commit,
        .region_add = pumice_memory_add,
        .region_nop = pumice_memory_add,
    };
    memory_listener_register(&m->listener, as);
}

void pumice_memory_exit(PumiceMemory *m)
{
    memory_listener_unregister(&m->listener);
    m->owner->memories[m->os] = NULL;
    pumice_memory_publish(m->owner);
    pumice_sections_free(m->sections);
    pumice_sections_free(m->next);
}
