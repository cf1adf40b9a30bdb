/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pumice GPU: one virtual GPU other than number 0, as a PCI function.
 *
 * Usage: add
 *
 *   -device pumice,id=gpu0,virtual-gpus=2
 *   -device pumice-vgpu,parent-gpu=gpu0,number=1
 *
 * - `parent-gpu`
 *   The device with the GPU, by its id.
 *
 * - `number`
 *   Number of the virtual GPU, 1 to one less than its property `virtual-gpus`.
 *
 * Interface to the guest: PCI ID 1234:7076, class 0x0302. BAR 0 is the 64 KiB
 * page of registers of the virtual GPU, BAR 4 has an MSI-X table of one vector.
 * Memory that it shares with the GPU is accessed through the address space of
 * this function, while its bus-master bit is set. Function-level reset.
 *
 * Once a number has been a function, page and vector of that number of the
 * device with the GPU are no longer used, so that unplugging gives that
 * device no access.
 *
 * Reset and unplug disconnect from the firmware, which ends all jobs, and take
 * the memory from the virtual GPU before they return. When the device with the
 * GPU is unplugged first, registers of this one read as all ones.
 *
 * Limits: not migratable. A virtual IOMMU between it and guest RAM hides that
 * RAM from the GPU.
 *
 * Everything here runs under the big lock.
 */

#include "qemu/osdep.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/resettable.h"
#include "migration/vmstate.h"

#include "pumice.h"
#include "pumice_regs.h"
#include "trace.h"

/*
 * Return the GPU, or NULL when it or this function has been unplugged: until the
 * guest's memory map is updated, processors may still access the registers.
 */
static struct pumice_gpu *pumice_vgpu_gpu(PumiceVgpuState *v)
{
    return v->attached ? v->gpu->gpu : NULL;
}

static uint64_t pumice_vgpu_read(void *opaque, hwaddr addr, unsigned size)
{
    PumiceVgpuState *v = opaque;

    if (!pumice_vgpu_gpu(v)) {
        return UINT64_MAX;
    }
    return pumice_gpu_mmio_read(pumice_vgpu_gpu(v), v->number, addr, size);
}

static void pumice_vgpu_write(void *opaque, hwaddr addr, uint64_t value,
                              unsigned size)
{
    PumiceVgpuState *v = opaque;

    if (pumice_vgpu_gpu(v)) {
        pumice_gpu_mmio_write(pumice_vgpu_gpu(v), v->number, addr, value, size);
    }
}

static const MemoryRegionOps pumice_vgpu_mmio_ops = {
    .read = pumice_vgpu_read,
    .write = pumice_vgpu_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 8 },
    .impl = { .min_access_size = 4, .max_access_size = 8 },
};

/*
 * Put the registers back. Without OS_CATALOGUE, jobs that still run can access
 * no memory: they fault until the firmware has ended them.
 */
static void pumice_vgpu_disconnect(PumiceVgpuState *v)
{
    struct pumice_gpu *gpu = pumice_vgpu_gpu(v);

    if (!gpu) {
        return;
    }
    pumice_gpu_mmio_write(gpu, v->number, PUMICE_OS_CTRL, 0, 4);
    pumice_gpu_mmio_write(gpu, v->number, PUMICE_OS_CATALOGUE, 0, 8);
    pumice_gpu_mmio_write(gpu, v->number, PUMICE_OS_BOOT_ARG, 0, 4);
    pumice_gpu_mmio_write(gpu, v->number, PUMICE_OS_IRQ_ENABLE, 0, 4);
    pumice_gpu_mmio_write(gpu, v->number, PUMICE_OS_IRQ_CLEAR,
                          PUMICE_OS_IRQ_CLEAR__WRITABLE, 4);
}

/* Follow the bus-master bit, which QEMU's core does not at a reset. */
static void pumice_vgpu_update_memory(PumiceVgpuState *v)
{
    bool on = pci_get_word(PCI_DEVICE(v)->config + PCI_COMMAND) &
              PCI_COMMAND_MASTER;

    if (pumice_vgpu_gpu(v)) {
        pumice_memory_set_oses(&v->memory, on ? 1u << v->number : 0);
    }
}

static void pumice_vgpu_write_config(PCIDevice *pdev, uint32_t addr,
                                     uint32_t value, int len)
{
    pci_default_write_config(pdev, addr, value, len);
    pcie_cap_flr_write_config(pdev, addr, value, len);
    pumice_vgpu_update_memory(PUMICE_VGPU(pdev));
}

/*
 * Bus reset, FLR, and power-on. QEMU's core clears the command register only
 * afterwards, and without a write that pumice_vgpu_update_memory() would follow.
 */
static void pumice_vgpu_reset_hold(Object *obj, ResetType type)
{
    PumiceVgpuState *v = PUMICE_VGPU(obj);

    trace_pumice_vgpu_reset(v->number);
    pumice_vgpu_disconnect(v);
    if (pumice_vgpu_gpu(v)) {
        pumice_memory_set_oses(&v->memory, 0);
    }
}

static bool pumice_vgpu_check(PumiceVgpuState *v, Error **errp)
{
    PumiceState *s = v->gpu;

    if (!s) {
        error_setg(errp, "pumice-vgpu: property 'parent-gpu' must be the id "
                   "of a pumice device");
        return false;
    }
    if (!s->gpu) {
        error_setg(errp, "pumice-vgpu: the device of property 'parent-gpu' "
                   "is not plugged");
        return false;
    }
    if (s->params.virtual_gpus < 2) {
        error_setg(errp, "pumice-vgpu: the device of property 'parent-gpu' "
                   "has no virtual GPU other than 0: set its property "
                   "'virtual-gpus'");
        return false;
    }
    if (!v->number || v->number >= s->params.virtual_gpus) {
        error_setg(errp, "pumice-vgpu: property 'number' must be 1 to %u, not "
                   "%u", s->params.virtual_gpus - 1, v->number);
        return false;
    }
    if (s->vgpus[v->number]) {
        error_setg(errp, "pumice-vgpu: another device is virtual GPU %u",
                   v->number);
        return false;
    }
    return true;
}

/* Take the number's page, vector and memory from the device with the GPU. */
static void pumice_vgpu_attach(PumiceVgpuState *v)
{
    PumiceState *s = v->gpu;

    s->own_oses &= ~(1u << v->number);
    pumice_memory_set_oses(&s->memory, s->own_oses);
    s->vgpus[v->number] = v;
    v->attached = true;
    pumice_vgpu_disconnect(v);
    pumice_memory_init(&v->memory, s, v->number, 0,
                       pci_get_address_space(PCI_DEVICE(v)));
}

static void pumice_vgpu_realize(PCIDevice *pdev, Error **errp)
{
    PumiceVgpuState *v = PUMICE_VGPU(pdev);

    if (!pumice_vgpu_check(v, errp)) {
        return;
    }
    memory_region_init_io(&v->mmio, OBJECT(v), &pumice_vgpu_mmio_ops, v,
                          "pumice-vgpu", PUMICE_OS_PAGE_SIZE);
    pci_register_bar(pdev, PUMICE_MMIO_BAR,
                     PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64, &v->mmio);
    if (!pumice_init_msix(pdev, 1, errp)) {
        return;
    }
    if (!pumice_init_caps(pdev, errp)) {
        pumice_exit_msix(pdev);
        return;
    }
    pumice_vgpu_attach(v);
}

/* Unless it has been done: the device with the GPU is unplugged first. */
static void pumice_vgpu_detach(PumiceVgpuState *v)
{
    if (!v->attached) {
        return;
    }
    pumice_vgpu_disconnect(v);
    pumice_memory_exit(&v->memory);
    v->gpu->vgpus[v->number] = NULL;
    v->attached = false;
}

void pumice_vgpu_orphan(PumiceVgpuState *v)
{
    PumiceState *s = v->gpu;

    pumice_vgpu_detach(v);
    /* The link's reference: its property releases none that is NULL. */
    v->gpu = NULL;
    object_unref(OBJECT(s));
}

static void pumice_vgpu_exit(PCIDevice *pdev)
{
    pumice_vgpu_detach(PUMICE_VGPU(pdev));
    pcie_cap_exit(pdev);
    pumice_exit_msix(pdev);
}

static const Property pumice_vgpu_properties[] = {
    DEFINE_PROP_LINK("parent-gpu", PumiceVgpuState, gpu, TYPE_PUMICE,
                     PumiceState *),
    DEFINE_PROP_UINT32("number", PumiceVgpuState, number, 1),
};

static const VMStateDescription pumice_vgpu_vmstate = {
    .name = TYPE_PUMICE_VGPU,
    .unmigratable = 1,
};

static void pumice_vgpu_class_init(ObjectClass *klass, PUMICE_CLASS_DATA *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    pc->realize = pumice_vgpu_realize;
    pc->exit = pumice_vgpu_exit;
    pc->config_write = pumice_vgpu_write_config;
    pc->vendor_id = PUMICE_PCI_VENDOR;
    pc->device_id = PUMICE_PCI_DEVICE_VGPU;
    pc->class_id = PCI_CLASS_DISPLAY_3D;
    rc->phases.hold = pumice_vgpu_reset_hold;
    dc->desc = "Virtual GPU of a Pumice GPU";
    dc->vmsd = &pumice_vgpu_vmstate;
    device_class_set_props(dc, pumice_vgpu_properties);
    object_class_property_set_description(klass, "parent-gpu",
        "id of the pumice device with the GPU");
    object_class_property_set_description(klass, "number",
        "number of the virtual GPU, 1 to one less than virtual-gpus");
    set_bit(DEVICE_CATEGORY_DISPLAY, dc->categories);
}

static const TypeInfo pumice_vgpu_types[] = {
    {
        .name = TYPE_PUMICE_VGPU,
        .parent = TYPE_PCI_DEVICE,
        .instance_size = sizeof(PumiceVgpuState),
        .class_init = pumice_vgpu_class_init,
        .interfaces = (InterfaceInfo[]) {
            { INTERFACE_PCIE_DEVICE },
            { }
        },
    },
};

DEFINE_TYPES(pumice_vgpu_types)
