/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Interfaces of the system: debugfs counters, module
 * parameters, the PCI device in sysfs.
 */
#ifndef FX_SYSTEM_H
#define FX_SYSTEM_H

#include <stdbool.h>

#include "gpu.h"

/** struct counts - the driver's live objects, from debugfs */
struct counts {
	int bos;
	int vms;
	int contexts;
	int jobs;
	int fences;
	int free_lists;
	int hwrts;
	int resets;	/* of the GPU, since it was probed */
};

/** need_in_flight - wait until the firmware has this many jobs of all contexts together. */
void need_in_flight(int jobs);

/** need_counts - read them, without opening the GPU. */
struct counts need_counts(void);

/** need_free_lists_grown - number of growths of all existing free lists together. */
int need_free_lists_grown(void);

/** struct list_pages - of all free lists together, from debugfs */
struct list_pages {
	int pages;
	int free;	/* now */
	int min_free;	/* minimum since each list was created or the GPU was reset */
};

/** need_list_pages - read them. */
struct list_pages need_list_pages(void);

/**
 * need_nothing_left - wait until all objects are released
 *
 * The driver frees some of them shortly after the call that ended their use.
 */
void need_nothing_left(void);

/** need_left - as need_nothing_left(), for given numbers; .resets is ignored. */
void need_left(struct counts want);

/**
 * need_module_unused - wait until the module can be unloaded
 *
 * Includes objects that an unplugged device no longer counts.
 */
void need_module_unused(void);

/** fdinfo_number - the number after "@key:" in the fdinfo of an open file of this process. */
u64 fdinfo_number(int fd, const char *key);

/** fdinfo_bytes - the same for an amount of memory, which is printed with its unit. */
u64 fdinfo_bytes(int fd, const char *key);

/** module_parameter - read a parameter of the driver. Return: its value, or -errno. */
long module_parameter(const char *name);

/** set_module_parameter - write one. Return: 0 or -errno. */
int set_module_parameter(const char *name, long value);

/**
 * debugfs_path - path of a file of the GPU in debugfs
 *
 * Return: whether it has such a file.
 */
bool debugfs_path(const char *name, char *path, unsigned int bytes);

/** write_file - write a text to an existing file. Return: 0 or -errno. */
int write_file(const char *path, const char *text);

/**
 * gpu_pci_name - the chosen GPU's PCI device, such as 0000:01:00.0, bound or not
 *
 * Return: 0 or -ENODEV.
 */
int gpu_pci_name(char *name, unsigned int bytes);

/** need_bound - make sure that the driver is bound to the device; wait for its node. */
void need_bound(void);

/** need_unbound - make sure that no driver is bound to the device. */
void need_unbound(void);

/**
 * need_firmware - bind the device again, with a build of the firmware that has a defect
 * @name: the defect (TEST of firmware/Makefile); NULL for the usual firmware
 *
 * Not within ten seconds of a sleep of the system, when the kernel has the file in a cache.
 */
void need_firmware(const char *name);

/**
 * need_firmware_stopped - stop the firmware processor without notifying the driver
 *
 * Running jobs continue. The driver detects it at the next time-out of a job, or when a
 * command is not answered.
 */
void need_firmware_stopped(void);

/** need_flr - let the PCI core reset the function. */
void need_flr(void);

/** need_removed - remove the PCI device from the bus. */
void need_removed(void);

/** need_rescanned - look for PCI devices; wait for the GPU's node. */
void need_rescanned(void);

#endif
