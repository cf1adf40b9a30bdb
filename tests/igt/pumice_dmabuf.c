// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * dma-bufs of the driver's buffers and the fences in their reservations.
 *
 * Synchronisation is explicit: a job's fence keeps memory in its place, and no user of the dma-buf
 * waits for it (first subtest). To share a buffer with a user with implicit synchronisation, a
 * process imports the job's sync file into the dma-buf. vgem, with fences and memory, is that user.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/dma-buf.h>

#include "igt_pumice.h"
#include "fixture.h"
#include "sync.h"
#include "system.h"

IGT_TEST_DESCRIPTION("dma-bufs: polling, sync files, and a second driver.");

#define POLL_MS		(WAIT_SECONDS * 1000)
#define BOTH		(POLLIN | POLLOUT)

/* vgem's ioctls, as far as they are used here. */
struct vgem_attach {
	__u32 handle;
	__u32 flags;
	__u32 fence;
	__u32 pad;
};

struct vgem_signal {
	__u32 fence;
	__u32 flags;
};

#define VGEM_ATTACH	DRM_IOWR(DRM_COMMAND_BASE + 1, struct vgem_attach)
#define VGEM_SIGNAL	DRM_IOW(DRM_COMMAND_BASE + 2, struct vgem_signal)
#define VGEM_WRITE	1u

static void release(struct fixture *fx)
{
	CHECK_OK(gpu_context_destroy(fx->fd, fx->context));
	need_wait(fx->fd, fx->sync, 0);
}

static int need_export(int fd, u32 handle)
{
	int dma_buf = -1;

	igt_assert_eq(drmPrimeHandleToFD(fd, handle, DRM_CLOEXEC | DRM_RDWR, &dma_buf), 0);
	return dma_buf;
}

/* Return which of POLLIN (no pending write) and POLLOUT (no pending use) are set. */
static short ready(int dma_buf)
{
	struct pollfd in = { .fd = dma_buf, .events = POLLIN };
	struct pollfd out = { .fd = dma_buf, .events = POLLOUT };

	igt_assert_lte(0, poll(&in, 1, 0));
	igt_assert_lte(0, poll(&out, 1, 0));
	return (in.revents | out.revents) & BOTH;
}

static void import(int dma_buf, int sync_file, __u32 flags)
{
	struct dma_buf_import_sync_file arg = { .flags = flags, .fd = sync_file };

	do_ioctl(dma_buf, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &arg);
	close(sync_file);
}

/* Export the fences that a user with this access must wait for, as a sync file. */
static int export(int dma_buf, __u32 flags)
{
	struct dma_buf_export_sync_file arg = { .flags = flags, .fd = -1 };

	do_ioctl(dma_buf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &arg);
	return arg.fd;
}

/* Export the data of a fixture whose job is running as a dma-buf. */
static int busy_buffer(struct fixture *fx)
{
	int dma_buf = need_export(fx->fd, fx->data.handle);

	fx_run_on(fx);
	return dma_buf;
}

static void import_job(const struct fixture *fx, int dma_buf, __u32 flags)
{
	import(dma_buf, need_sync_file(fx->fd, fx->sync), flags);
}

static void jobs_are_explicit(void)
{
	struct fixture fx = fx_open();
	int dma_buf = busy_buffer(&fx);

	igt_assert_eq(ready(dma_buf), BOTH);
	igt_assert_eq(sync_file_status(export(dma_buf, DMA_BUF_SYNC_RW)), 1);
	release(&fx);
}

static void poll_waits_for_a_writer(void)
{
	struct fixture fx = fx_open();
	int dma_buf = busy_buffer(&fx);

	import_job(&fx, dma_buf, DMA_BUF_SYNC_WRITE);
	igt_assert_eq(ready(dma_buf), 0);
	release(&fx);
	igt_assert_eq(ready(dma_buf), BOTH);
}

static void poll_waits_for_a_reader(void)
{
	struct fixture fx = fx_open();
	int dma_buf = busy_buffer(&fx);

	import_job(&fx, dma_buf, DMA_BUF_SYNC_READ);
	igt_assert_eq(ready(dma_buf), POLLIN);
	release(&fx);
	igt_assert_eq(ready(dma_buf), BOTH);
}

static void poll_wakes_another_process(void)
{
	struct fixture fx = fx_open();
	int dma_buf = busy_buffer(&fx), waits[2];
	struct igt_helper_process poller = {};
	struct pollfd both = { .fd = dma_buf, .events = BOTH };
	char byte = 1;

	import_job(&fx, dma_buf, DMA_BUF_SYNC_WRITE);
	igt_assert_eq(pipe(waits), 0);
	igt_pumice_fork_helper(&poller) {
		igt_assert_eq(poll(&both, 1, 0), 0);
		igt_assert_eq(write(waits[1], &byte, 1), 1);
		igt_assert_eq(poll(&both, 1, POLL_MS), 1);
	}
	close(waits[1]);
	igt_assert_eq(read(waits[0], &byte, 1), 1);
	release(&fx);
	igt_pumice_join(&poller);
}

static void export_of_an_idle_buffer(void)
{
	struct fixture fx = fx_open();
	int dma_buf = need_export(fx.fd, fx.data.handle);

	fx_check_works(&fx);
	igt_assert_eq(sync_file_status(export(dma_buf, DMA_BUF_SYNC_READ)), 1);
	igt_assert_eq(sync_file_status(export(dma_buf, DMA_BUF_SYNC_WRITE)), 1);
}

static void export_has_the_writer(void)
{
	struct fixture fx = fx_open();
	int dma_buf = busy_buffer(&fx), file;

	import_job(&fx, dma_buf, DMA_BUF_SYNC_WRITE);
	file = export(dma_buf, DMA_BUF_SYNC_READ);
	igt_assert_eq(sync_file_status(file), 0);
	release(&fx);
	igt_assert_eq(sync_file_status(file), -ECANCELED);
}

static void export_has_the_reader_for_writers(void)
{
	struct fixture fx = fx_open();
	int dma_buf = busy_buffer(&fx), file;

	import_job(&fx, dma_buf, DMA_BUF_SYNC_READ);
	igt_assert_eq(sync_file_status(export(dma_buf, DMA_BUF_SYNC_READ)), 1);
	file = export(dma_buf, DMA_BUF_SYNC_WRITE);
	igt_assert_eq(sync_file_status(file), 0);
	release(&fx);
	igt_assert_eq(sync_file_status(file), -ECANCELED);
}

/* Two readers: a writer waits for both. */
static void export_has_all_readers(void)
{
	struct fixture first = fx_open(), second = fx_open();
	int dma_buf = busy_buffer(&first), file;

	import_job(&first, dma_buf, DMA_BUF_SYNC_READ);
	fx_run_on(&second);
	import_job(&second, dma_buf, DMA_BUF_SYNC_READ);
	file = export(dma_buf, DMA_BUF_SYNC_WRITE);
	release(&second);
	igt_assert_eq(sync_file_status(file), 0);
	release(&first);
	igt_assert_neq(sync_file_status(file), 0);
}

/* Submit a job that waits for a sync file. */
static void submit_after(struct fixture *fx, u64 stream, int sync_file)
{
	u32 wait = need_sync(fx->fd);
	const struct drm_pumice_sync syncs[] = { wait_for(wait, 0), then_signal(fx->sync, 0) };
	const struct drm_pumice_job job = {
		.context = fx->context, .stream = stream, .syncs = ARRAY_OF(syncs, 2),
	};

	igt_assert_eq(drmSyncobjImportSyncFile(fx->fd, wait, sync_file), 0);
	close(sync_file);
	CHECK_OK(gpu_submit(fx->fd, &job, 1, NULL));
}

/* Producer and consumer share only the dma-buf. */
static void job_waits_for_an_export(void)
{
	struct fixture producer = fx_open(), consumer = fx_open();
	int dma_buf = busy_buffer(&producer);

	import_job(&producer, dma_buf, DMA_BUF_SYNC_WRITE);
	submit_after(&consumer, fx_store_stream(&consumer, consumer.data.va, 7),
		     export(dma_buf, DMA_BUF_SYNC_READ));
	fx_check_held(consumer.fd, consumer.sync, 0);
	igt_assert_eq_u32(consumer.data.cpu[1], 0);
	release(&producer);
	igt_assert_eq(fx_wait(&consumer), 1);
	fx_check_words(consumer.data.cpu, 7);
}

/* The fence belongs to the memory, independent of its users. */
static void fence_outlives_the_file(void)
{
	struct fixture fx = fx_open();
	int dma_buf = busy_buffer(&fx), file;

	import_job(&fx, dma_buf, DMA_BUF_SYNC_WRITE);
	igt_assert_eq(ready(dma_buf), 0);
	file = export(dma_buf, DMA_BUF_SYNC_RW);
	igt_assert_eq(sync_file_status(file), 0);
	fx_close(&fx);
	while (ready(dma_buf) != BOTH)
		usleep(1000);
	igt_assert_eq(sync_file_status(file), -ECANCELED);
	igt_assert_eq(sync_file_status(export(dma_buf, DMA_BUF_SYNC_RW)), 1);
}

/* ---------------------------------------------------------------- second driver */

static int vgem = -1;

static u32 vgem_import(int dma_buf)
{
	u32 handle = 0;

	igt_assert_eq(drmPrimeFDToHandle(vgem, dma_buf, &handle), 0);
	return handle;
}

static int vgem_attach(u32 handle, u32 flags, u32 *fence)
{
	struct vgem_attach arg = { .handle = handle, .flags = flags };
	int err = gpu_ioctl(vgem, VGEM_ATTACH, &arg);

	*fence = arg.fence;
	return err;
}

static void vgem_signal(u32 fence)
{
	struct vgem_signal arg = { .fence = fence };

	do_ioctl(vgem, VGEM_SIGNAL, &arg);
}

static void vgem_sees_a_writer(void)
{
	struct fixture fx = fx_open();
	int dma_buf = busy_buffer(&fx);
	u32 handle = vgem_import(dma_buf), fence;

	import_job(&fx, dma_buf, DMA_BUF_SYNC_WRITE);
	igt_assert_eq(vgem_attach(handle, 0, &fence), -EBUSY);
	igt_assert_eq(vgem_attach(handle, VGEM_WRITE, &fence), -EBUSY);
	release(&fx);
	igt_assert_eq(vgem_attach(handle, VGEM_WRITE, &fence), 0);
	vgem_signal(fence);
}

static void vgem_sees_a_reader(void)
{
	struct fixture fx = fx_open();
	int dma_buf = busy_buffer(&fx);
	u32 handle = vgem_import(dma_buf), fence;

	import_job(&fx, dma_buf, DMA_BUF_SYNC_READ);
	igt_assert_eq(vgem_attach(handle, VGEM_WRITE, &fence), -EBUSY);
	igt_assert_eq(vgem_attach(handle, 0, &fence), 0);
	vgem_signal(fence);
	release(&fx);
}

/* A job waits for the fence of the other driver, then reads the data written before it. */
static void job_waits_for_vgem(void)
{
	struct fixture fx = fx_open();
	int dma_buf = need_export(fx.fd, fx.data.handle);
	u32 handle = vgem_import(dma_buf), fence, i;

	igt_assert_eq(vgem_attach(handle, VGEM_WRITE, &fence), 0);
	igt_assert_eq(ready(dma_buf), 0);
	submit_after(&fx, fx_copy_stream(&fx, fx_data(&fx, 32), fx.data.va, 1),
		     export(dma_buf, DMA_BUF_SYNC_READ));
	igt_assert(sync_is_pending(fx.fd, fx.sync, 0));
	for (i = 0; i < 32; i++)
		fx.data.cpu[i] = 500 + i;
	vgem_signal(fence);
	igt_assert_eq(fx_wait(&fx), 1);
	fx_check_words(fx.data.cpu + 32, 501);
	igt_assert_eq(ready(dma_buf), BOTH);
}

/* Memory of the other driver, through this one's MMU. */
static void job_stores_to_vgem(void)
{
	struct drm_mode_create_dumb create = { .width = 1024, .height = 16, .bpp = 32 };
	struct fixture fx = fx_open();
	u32 handle, *cpu;
	int dma_buf;

	do_ioctl(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &create);
	dma_buf = need_export(vgem, create.handle);
	igt_assert_eq(drmPrimeFDToHandle(fx.fd, dma_buf, &handle), 0);
	need_map(fx.fd, fx.vm, handle, 0, FX_FREE, create.size, 0);
	igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, FX_FREE + create.size - 128, 9)), 1);
	cpu = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, dma_buf, 0);
	igt_assert(cpu != MAP_FAILED);
	fx_check_words(cpu + create.size / 4 - 32, 9);
}

/* Importing returns the existing handle without a new mapping, and the job's fence stays. */
static void job_is_seen_by_vgem_after_import(void)
{
	struct fixture fx = fx_open();
	int dma_buf = busy_buffer(&fx);
	u32 fence;

	import_job(&fx, dma_buf, DMA_BUF_SYNC_WRITE);
	igt_assert_eq(vgem_attach(vgem_import(dma_buf), VGEM_WRITE, &fence), -EBUSY);
	release(&fx);
}

int igt_main()
{
	igt_fixture()
		igt_pumice_require(IGT_PUMICE_PATIENT);

	igt_pumice_subtest("jobs-are-explicit", "no user of a dma-buf waits for a job implicitly",
			   jobs_are_explicit);
	igt_pumice_subtest("poll-waits-for-a-writer",
			   "an imported fence of a writer delays all users",
			   poll_waits_for_a_writer);
	igt_pumice_subtest("poll-waits-for-a-reader",
			   "an imported fence of a reader delays writers",
			   poll_waits_for_a_reader);
	igt_pumice_subtest("poll-wakes-another-process",
			   "the completion of a job wakes a polling process",
			   poll_wakes_another_process);
	igt_pumice_subtest("export-of-an-idle-buffer",
			   "without fences the exported file is signaled",
			   export_of_an_idle_buffer);
	igt_pumice_subtest("export-has-the-writer", "an exported file has the writer's fence",
			   export_has_the_writer);
	igt_pumice_subtest("export-has-the-reader-for-writers",
			   "an export for a writer has the reader's fence, too",
			   export_has_the_reader_for_writers);
	igt_pumice_subtest("export-has-all-readers",
			   "an export for a writer has every reader's fence",
			   export_has_all_readers);
	igt_pumice_subtest("job-waits-for-an-export",
			   "a job of another file waits for the fence of the dma-buf",
			   job_waits_for_an_export);
	igt_pumice_subtest("fence-outlives-the-file", "a dma-buf keeps the fence of a closed file",
			   fence_outlives_the_file);

	igt_describe("A second driver");
	igt_subtest_group() {
		igt_fixture()
			vgem = drm_open_driver(DRIVER_VGEM);

		igt_pumice_subtest("vgem-sees-a-writer", "another driver finds a writer's fence",
				   vgem_sees_a_writer);
		igt_pumice_subtest("vgem-sees-a-reader", "another driver finds a reader's fence",
				   vgem_sees_a_reader);
		igt_pumice_subtest("vgem-sees-it-after-import",
				   "a fence added before the import is found, too",
				   job_is_seen_by_vgem_after_import);
		igt_pumice_subtest("job-waits-for-vgem", "a job waits for another driver's fence",
				   job_waits_for_vgem);
		igt_pumice_subtest("job-stores-to-vgem", "a job writes another driver's memory",
				   job_stores_to_vgem);

		igt_fixture()
			drm_close_driver(vgem);
	}
}
