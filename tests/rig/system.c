// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Debugfs counters, module parameters, the PCI device. See system.h. */
#include "system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "pumice_regs.h"
#include "sync.h"

#define PCI_DEVICES	"/sys/bus/pci/devices"
#define PCI_DRIVER	"/sys/bus/pci/drivers/pumice"
#define MODULE		"/sys/module/pumice"
#define SETTLE_NS	(30 * 1000000000ull)	/* until running work has ended */
#define POLL_US		2000

/* Whether a folder of DRM in debugfs is that of a PCI device. */
static bool is_folder_of(const char *folder, const char *device)
{
	char path[256], line[256] = "", mark[80];
	FILE *file;

	snprintf(path, sizeof(path), "%s/name", folder);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	snprintf(mark, sizeof(mark), " dev=%s", device);
	return strstr(line, mark);
}

/* Several folders may point to one device's. */
bool debugfs_path(const char *name, char *path, unsigned int bytes)
{
	char device[64];
	bool found = false;
	glob_t folders;
	size_t i;

	if (gpu_pci_name(device, sizeof(device)) ||
	    glob("/sys/kernel/debug/dri/*", 0, NULL, &folders))
		return false;
	for (i = 0; i < folders.gl_pathc && !found; i++) {
		snprintf(path, bytes, "%s/%s", folders.gl_pathv[i], name);
		found = is_folder_of(folders.gl_pathv[i], device) && !access(path, F_OK);
	}
	globfree(&folders);
	return found;
}

static FILE *open_debugfs(const char *name)
{
	char path[256];
	FILE *file = NULL;

	if (debugfs_path(name, path, sizeof(path)))
		file = fopen(path, "re");
	if (!file)
		test_fail(__FILE__, __LINE__, "no file \"%s\" of the driver in debugfs", name);
	return file;
}

static int in_flight(void)
{
	FILE *file = open_debugfs("contexts");
	char line[512];
	int sum = 0, jobs;

	while (fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, "in flight ");

		if (at && sscanf(at, "in flight %d", &jobs) == 1)
			sum += jobs;
	}
	fclose(file);
	return sum;
}

void need_in_flight(int jobs)
{
	u64 deadline = now_ns() + SETTLE_NS;

	while (in_flight() != jobs && now_ns() < deadline)
		usleep(POLL_US);
	CHECK_EQUAL(in_flight(), jobs);
}

struct counts need_counts(void)
{
	struct counts counts = { .bos = -1, .vms = -1, .contexts = -1, .jobs = -1, .fences = -1,
				 .free_lists = -1, .hwrts = -1 };
	FILE *file = open_debugfs("state");
	char line[256];

	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "bos: %d", &counts.bos);
		sscanf(line, "vms: %d", &counts.vms);
		sscanf(line, "contexts: %d", &counts.contexts);
		sscanf(line, "jobs: %d", &counts.jobs);
		sscanf(line, "fences: %d", &counts.fences);
		sscanf(line, "free lists: %d", &counts.free_lists);
		sscanf(line, "data sets: %d", &counts.hwrts);
		sscanf(line, "resets: %d", &counts.resets);
	}
	fclose(file);
	return counts;
}

int need_free_lists_grown(void)
{
	FILE *file = open_debugfs("free_lists");
	char line[256];
	int sum = 0, times;

	while (fgets(line, sizeof(line), file)) {
		const char *at = strstr(line, "grown ");

		if (at && sscanf(at, "grown %d", &times) == 1)
			sum += times;
	}
	fclose(file);
	return sum;
}

struct list_pages need_list_pages(void)
{
	FILE *file = open_debugfs("free_lists");
	struct list_pages sum = { 0 }, list;
	char line[256];

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "free list %*x: %d pages of %*d, %d free, min %d",
			   &list.pages, &list.free, &list.min_free) != 3)
			continue;
		sum.pages += list.pages;
		sum.free += list.free;
		sum.min_free += list.min_free;
	}
	fclose(file);
	return sum;
}

static bool same(const struct counts *a, const struct counts *b)
{
	return a->bos == b->bos && a->vms == b->vms && a->contexts == b->contexts &&
	       a->jobs == b->jobs && a->fences == b->fences &&
	       a->free_lists == b->free_lists && a->hwrts == b->hwrts;
}

void need_left(struct counts want)
{
	u64 deadline = now_ns() + SETTLE_NS;
	struct counts got = need_counts();

	while (!same(&got, &want) && now_ns() < deadline) {
		usleep(POLL_US);
		got = need_counts();
	}
	if (!same(&got, &want))
		test_fail(__FILE__, __LINE__,
			  "left: %d BOs, %d VMs, %d contexts, %d jobs, %d fences, %d free lists, "
			  "%d data sets; should be %d, %d, %d, %d, %d, %d, %d", got.bos, got.vms,
			  got.contexts, got.jobs, got.fences, got.free_lists, got.hwrts, want.bos,
			  want.vms, want.contexts, want.jobs, want.fences, want.free_lists,
			  want.hwrts);
}

void need_nothing_left(void)
{
	need_left((struct counts){ 0 });
}

/* The text after "@key:" in the fdinfo of an open file. */
static void fdinfo_value(int fd, const char *key, char *value, unsigned int bytes)
{
	char path[64], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	CHECK(file);
	while (!found && fgets(line, sizeof(line), file))
		found = !strncmp(line, key, strlen(key)) && line[strlen(key)] == ':';
	fclose(file);
	if (!found)
		test_fail(__FILE__, __LINE__, "no %s in %s", key, path);
	snprintf(value, bytes, "%s", line + strlen(key) + 1);
}

u64 fdinfo_number(int fd, const char *key)
{
	char value[64];

	fdinfo_value(fd, key, value, sizeof(value));
	return strtoull(value, NULL, 10);
}

u64 fdinfo_bytes(int fd, const char *key)
{
	char value[64], *unit;
	u64 number;

	fdinfo_value(fd, key, value, sizeof(value));
	number = strtoull(value, &unit, 10);
	if (!strcmp(unit, " KiB\n"))
		return number * 1024;
	if (!strcmp(unit, " MiB\n"))
		return number * MIB;
	CHECK(!strcmp(unit, "\n"));
	return number;
}

/* The number in a file of sysfs, or -errno. */
static long read_number(const char *path)
{
	char text[32] = "";
	int fd, err;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = read(fd, text, sizeof(text) - 1) < 0 ? -errno : 0;
	close(fd);
	return err ? err : strtol(text, NULL, 10);
}

void need_module_unused(void)
{
	u64 deadline = now_ns() + SETTLE_NS;

	while (read_number(MODULE "/refcnt") > 0 && now_ns() < deadline)
		usleep(POLL_US);
	CHECK_EQUAL(read_number(MODULE "/refcnt"), 0);
}

long module_parameter(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), MODULE "/parameters/%s", name);
	return read_number(path);
}

int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return err;
}

int set_module_parameter(const char *name, long value)
{
	char path[256], text[32];

	snprintf(path, sizeof(path), MODULE "/parameters/%s", name);
	snprintf(text, sizeof(text), "%ld", value);
	return write_file(path, text);
}

/* A hexadecimal number in a file of a PCI device; 0 if there is none. */
static unsigned long device_number(const char *device, const char *attribute)
{
	char path[512], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), PCI_DEVICES "/%s/%s", device, attribute);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return strtoul(text, NULL, 16);
}

/* The chosen device, if it exists. */
static int chosen_pci_name(char *name, unsigned int bytes)
{
	char path[512];

	snprintf(path, sizeof(path), PCI_DEVICES "/%s", gpu_chosen());
	if (access(path, F_OK))
		return -ENODEV;
	snprintf(name, bytes, "%s", gpu_chosen());
	return 0;
}

int gpu_pci_name(char *name, unsigned int bytes)
{
	struct dirent *entry;
	int err = -ENODEV;
	DIR *devices;

	if (gpu_chosen())
		return chosen_pci_name(name, bytes);
	devices = opendir(PCI_DEVICES);

	if (!devices)
		return -ENODEV;
	while (err && (entry = readdir(devices))) {
		if (device_number(entry->d_name, "vendor") != PUMICE_PCI_VENDOR ||
		    device_number(entry->d_name, "device") != PUMICE_PCI_DEVICE)
			continue;
		snprintf(name, bytes, "%s", entry->d_name);
		err = 0;
	}
	closedir(devices);
	return err;
}

/* Write to a file of the PCI device itself. */
static void write_device(const char *attribute)
{
	char name[64], path[512];

	CHECK_OK(gpu_pci_name(name, sizeof(name)));
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/%s", name, attribute);
	CHECK_OK(write_file(path, "1"));
}

static bool is_bound(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), PCI_DRIVER "/%s", name);
	return !access(path, F_OK);
}

/* The node appears shortly after the device is bound. */
static void need_node(void)
{
	u64 deadline = now_ns() + SETTLE_NS;
	char path[64];

	while (gpu_node(path) && now_ns() < deadline)
		usleep(POLL_US);
	CHECK_OK(gpu_node(path));
}

void need_bound(void)
{
	char name[64];

	CHECK_OK(gpu_pci_name(name, sizeof(name)));
	if (!is_bound(name))
		CHECK_OK(write_file(PCI_DRIVER "/bind", name));
	need_node();
}

void need_unbound(void)
{
	char name[64];

	CHECK_OK(gpu_pci_name(name, sizeof(name)));
	if (is_bound(name))
		CHECK_OK(write_file(PCI_DRIVER "/unbind", name));
	CHECK(!is_bound(name));
}

/* The build id of a build with a defect ends with its name. */
static bool has_firmware(const char *name)
{
	struct drm_pumice_query_fw fw;
	u32 size = sizeof(fw);
	const char *end;
	int fd = need_gpu();

	CHECK_OK(gpu_query(fd, DRM_PUMICE_QUERY_FW, &fw, &size));
	close(fd);
	end = strrchr((const char *)fw.build_id, '-');
	return end && !strcmp(end + 1, name);
}

/*
 * While a removed device still has a firmware of this file name, because its last reference
 * is dropped late, the kernel returns that firmware for the next device, too.
 */
void need_firmware(const char *name)
{
	u64 deadline = now_ns() + SETTLE_NS;
	char path[128];

	snprintf(path, sizeof(path), "/lib/firmware%s%s", name ? "/pumice-test/" : "",
		 name ? name : "");
	CHECK_OK(write_file("/sys/module/firmware_class/parameters/path", path));
	need_bound();
	do {
		need_unbound();
		need_bound();
	} while (name && !has_firmware(name) && now_ns() < deadline);
	CHECK(!name || has_firmware(name));
}

void need_firmware_stopped(void)
{
	char name[64], path[128];
	volatile u32 *regs;
	int fd;

	CHECK_OK(gpu_pci_name(name, sizeof(name)));
	snprintf(path, sizeof(path), PCI_DEVICES "/%s/resource0", name);
	fd = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
	CHECK(fd >= 0);
	regs = mmap(NULL, PUMICE_OS_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	CHECK(regs != MAP_FAILED);
	CHECK_EQUAL(regs[PUMICE_SYS_ID / 4], PUMICE_SYS_ID__RESET);
	regs[PUMICE_FW_CTRL / 4] = 0;
	munmap((void *)(uintptr_t)regs, PUMICE_OS_PAGE_SIZE);
}

void need_flr(void)
{
	write_device("reset");
}

void need_removed(void)
{
	write_device("remove");
}

void need_rescanned(void)
{
	CHECK_OK(write_file("/sys/bus/pci/rescan", "1"));
	need_node();
}
