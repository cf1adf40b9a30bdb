// SPDX-License-Identifier: MIT
/*
 * The calls of the ioctl fuzzer. See calls.h.
 *
 * Most arguments are valid, so that deep states are reached; occasionally a field has an
 * arbitrary value. Objects are shared with other threads, which destroy them at any time:
 * every result is accepted.
 */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm.h>
#include <xf86drm.h>

#define MOST_BO_PAGES	256u
#define MOST_OPS	6u
#define MOST_JOBS	4u
#define MOST_SYNCS	4u
#define FRESH		4u	/* buffers of one call */
#define WAIT_NS		3000000ull

/* A call that a signal interrupts is not repeated: -EINTR is a result, too. */
static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

/* An array of @count elements, rarely corrupted. */
#define FUZZ_ARRAY(rng, elements, n) \
	corrupted(rng, (struct drm_pumice_array)ARRAY_OF(elements, n))

static struct drm_pumice_array corrupted(struct fuzz_rng *rng, struct drm_pumice_array array)
{
	if (!fuzz_chance(rng, 100))
		return array;
	switch (fuzz_below(rng, 4)) {
	case 0:
		array.stride = (u32)fuzz_random(rng) & 0x1ff;
		break;
	case 1:
		array.count = (u32)fuzz_random(rng);
		break;
	case 2:
		array.array = fuzz_random(rng);
		break;
	default:
		array.array += fuzz_below(rng, 64);
	}
	return array;
}

/* DEV_QUERY, PERF_COUNTER_GET. */

static int dev_query(struct fuzz *f, struct fuzz_rng *rng)
{
	u64 data[32];
	struct drm_pumice_dev_query args = {
		.type = fuzz_below(rng, 6), .size = fuzz_below(rng, sizeof(data)),
		.pointer = fuzz_chance(rng, 4) ? 0 : (uintptr_t)data,
	};

	return call(f->fd, DRM_IOCTL_PUMICE_DEV_QUERY, &args);
}

static int perf_counter_get(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_perf_counter_get args = { .counter = fuzz_below(rng, 64) };

	return call(f->fd, DRM_IOCTL_PUMICE_PERF_COUNTER_GET, &args);
}

/* Buffers. */

static int bo_close(struct fuzz *f, u32 handle)
{
	struct drm_gem_close args = { .handle = handle };

	return handle ? call(f->fd, DRM_IOCTL_GEM_CLOSE, &args) : -ENOENT;
}

static int bo_create(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_bo_create args = {
		.size = fuzz_pages(rng, MOST_BO_PAGES),
		.flags = fuzz_chance(rng, 2) ? fuzz_below(rng, 4) : fuzz_zero(rng),
		.exclusive_vm = fuzz_chance(rng, 3) ? fuzz_select(f, rng, FUZZ_VM) : 0,
		.pad = fuzz_zero(rng),
	};
	int ret = call(f->fd, DRM_IOCTL_PUMICE_BO_CREATE, &args);

	if (!ret)
		bo_close(f, fuzz_keep(f, rng, FUZZ_BO, args.handle));
	return ret;
}

static int bo_close_one(struct fuzz *f, struct fuzz_rng *rng)
{
	return bo_close(f, fuzz_take(f, rng, FUZZ_BO));
}

/* The mapping may outlive the handle. */
static int bo_mmap(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_bo_mmap_offset args = {
		.handle = fuzz_select(f, rng, FUZZ_BO), .pad = fuzz_zero(rng),
	};
	int ret = call(f->fd, DRM_IOCTL_PUMICE_BO_MMAP_OFFSET, &args);
	volatile u32 *cpu;

	if (ret)
		return ret;
	cpu = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, (off_t)args.offset);
	if (cpu == MAP_FAILED)
		return -errno;
	cpu[fuzz_below(rng, PAGE / 4)]++;
	munmap((void *)cpu, PAGE);
	return 0;
}

static int bo_set_label(struct fuzz *f, struct fuzz_rng *rng)
{
	static const char labels[][80] = { "", "label", "a longer label of a buffer" };
	struct drm_pumice_bo_set_label args = {
		.handle = fuzz_select(f, rng, FUZZ_BO), .pad = fuzz_zero(rng),
		.label = fuzz_chance(rng, 4) ? 0 : (uintptr_t)labels[fuzz_below(rng, 3)],
	};

	return call(f->fd, DRM_IOCTL_PUMICE_BO_SET_LABEL, &args);
}

static int bo_madvise(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_bo_madvise args = {
		.handle = fuzz_select(f, rng, FUZZ_BO), .advice = fuzz_below(rng, 3),
		.pad = fuzz_zero(rng),
	};

	return call(f->fd, DRM_IOCTL_PUMICE_BO_MADVISE, &args);
}

static void keep_file(struct fuzz *f, struct fuzz_rng *rng, int file)
{
	int old = fuzz_swap_file(f, rng, file);

	if (old >= 0)
		close(old);
}

static int export_bo(struct fuzz *f, struct fuzz_rng *rng, u32 handle)
{
	struct drm_prime_handle args = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	int ret = call(f->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &args);

	if (!ret)
		keep_file(f, rng, args.fd);
	return ret;
}

static int prime_export(struct fuzz *f, struct fuzz_rng *rng)
{
	return export_bo(f, rng, fuzz_select(f, rng, FUZZ_BO));
}

/* Export a new buffer: the existing ones may be exclusive to a VM and not exportable. */
static int create_and_export(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_bo_create args = { .size = fuzz_pages(rng, MOST_BO_PAGES) };
	int ret = call(f->fd, DRM_IOCTL_PUMICE_BO_CREATE, &args);

	if (ret)
		return ret;
	ret = export_bo(f, rng, args.handle);
	bo_close(f, fuzz_keep(f, rng, FUZZ_BO, args.handle));
	return ret;
}

/* Importing may return an existing handle; then close it only once. */
static int prime_import(struct fuzz *f, struct fuzz_rng *rng)
{
	int file = fuzz_swap_file(f, rng, -1), ret;
	struct drm_prime_handle args = { .fd = file };

	if (file < 0)
		return -ENOENT;
	ret = call(f->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &args);
	if (!ret)
		bo_close(f, fuzz_keep(f, rng, FUZZ_BO, args.handle));
	close(file);
	return ret;
}

/*
 * A dumb buffer. Render nodes cannot create one: it is created on the primary node by a separate
 * file, closed immediately, and imported by PRIME.
 */
static int dumb_create(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_mode_create_dumb args = {
		.width = 1 + fuzz_below(rng, 64), .height = 1 + fuzz_below(rng, 64),
		.bpp = fuzz_chance(rng, 8) ? fuzz_below(rng, 40) : 32, .flags = fuzz_zero(rng),
	};
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	int card = drmOpenWithType("pumice", NULL, DRM_NODE_PRIMARY), ret;

	if (card < 0)
		return card;
	ret = call(card, DRM_IOCTL_MODE_CREATE_DUMB, &args);
	prime.handle = args.handle;
	if (!ret)
		ret = call(card, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
	close(card);
	if (ret)
		return ret;
	ret = call(f->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	if (!ret)
		bo_close(f, fuzz_keep(f, rng, FUZZ_BO, prime.handle));
	close(prime.fd);
	return ret;
}

/* Address spaces. */

static int vm_destroy(struct fuzz *f, u32 id)
{
	struct drm_pumice_vm_destroy args = { .id = id };

	if (!id || id == f->render.fx.vm)
		return -ENOENT;
	return call(f->fd, DRM_IOCTL_PUMICE_VM_DESTROY, &args);
}

/* Create a VM with the streams and data mapped at their usual addresses. */
static int vm_create(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_vm_create args = { .flags = fuzz_zero(rng) };
	const struct fixture *fx = &f->render.fx;
	const struct drm_pumice_bind_op ops[] = {
		bind_map(fx->code.handle, 0, FX_CODE, FX_CODE_BYTES, 0),
		bind_map(fx->data.handle, 0, FX_DATA, FX_DATA_BYTES, 0),
	};
	struct drm_pumice_vm_bind bind = { .ops = ARRAY_OF(ops, 2) };
	int ret = call(f->fd, DRM_IOCTL_PUMICE_VM_CREATE, &args);

	if (ret)
		return ret;
	bind.vm = args.id;
	ret = call(f->fd, DRM_IOCTL_PUMICE_VM_BIND, &bind);
	vm_destroy(f, fuzz_keep(f, rng, FUZZ_VM, args.id));
	return ret;
}

static int vm_destroy_one(struct fuzz *f, struct fuzz_rng *rng)
{
	return vm_destroy(f, fuzz_take(f, rng, FUZZ_VM));
}

static int vm_get_state(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_vm_get_state args = { .id = fuzz_select(f, rng, FUZZ_VM) };

	return call(f->fd, DRM_IOCTL_PUMICE_VM_GET_STATE, &args);
}

static int vm_get_faults(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_vm_fault faults[DRM_PUMICE_VM_FAULTS];
	struct drm_pumice_vm_get_faults args = {
		.vm = fuzz_select(f, rng, FUZZ_VM), .flags = fuzz_zero(rng),
		.after = fuzz_below(rng, 32),
	};

	/* The kernel writes to it: not corrupted. */
	args.faults = (struct drm_pumice_array)ARRAY_OF(faults, DRM_PUMICE_VM_FAULTS);
	return call(f->fd, DRM_IOCTL_PUMICE_VM_GET_FAULTS, &args);
}

static struct drm_pumice_bind_op bind_op(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_bind_op op = {
		.type = fuzz_below(rng, 2), .pad = fuzz_zero(rng), .va = fuzz_va(rng),
		.size = fuzz_pages(rng, fuzz_chance(rng, 4) ? MOST_BO_PAGES : 4),
	};

	if (fuzz_chance(rng, 30))
		op.type = fuzz_below(rng, 6);
	if (op.type == DRM_PUMICE_BIND_UNMAP)
		return op;
	op.flags = fuzz_flags(rng, DRM_PUMICE_BIND_READONLY | DRM_PUMICE_BIND_NOEXEC |
				   DRM_PUMICE_BIND_NULL);
	if (op.flags & DRM_PUMICE_BIND_NULL && !fuzz_chance(rng, 10))
		return op;
	op.handle = fuzz_select(f, rng, FUZZ_BO);
	op.bo_offset = fuzz_chance(rng, 3) ? fuzz_pages(rng, 4) : 0;
	return op;
}

static struct drm_pumice_sync make_sync(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_sync sync = {
		.flags = fuzz_flags(rng, DRM_PUMICE_SYNC_SIGNAL | DRM_PUMICE_SYNC_TIMELINE),
		.handle = fuzz_select(f, rng, FUZZ_SYNC),
	};

	if (!(sync.flags & DRM_PUMICE_SYNC_TIMELINE))
		sync.value = fuzz_zero(rng);
	else if (sync.flags & DRM_PUMICE_SYNC_SIGNAL)
		sync.value = __atomic_add_fetch(&f->points, 1, __ATOMIC_RELAXED);
	else
		sync.value = 1 + fuzz_below(rng, 1 + (u32)f->points);
	return sync;
}

static u32 make_syncs(struct fuzz *f, struct fuzz_rng *rng, struct drm_pumice_sync *syncs)
{
	u32 count = fuzz_below(rng, MOST_SYNCS + 1), i;

	for (i = 0; i < count; i++)
		syncs[i] = make_sync(f, rng);
	return count;
}

static int vm_bind(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_bind_op ops[MOST_OPS];
	struct drm_pumice_sync syncs[MOST_SYNCS];
	struct drm_pumice_vm_bind args = {
		.vm = fuzz_select(f, rng, FUZZ_VM),
		.flags = fuzz_flags(rng, DRM_PUMICE_VM_BIND_ASYNC),
	};
	u32 count = fuzz_below(rng, MOST_OPS + 1), i;

	for (i = 0; i < count; i++)
		ops[i] = bind_op(f, rng);
	args.ops = FUZZ_ARRAY(rng, ops, count);
	if (args.flags & DRM_PUMICE_VM_BIND_ASYNC)
		args.syncs = FUZZ_ARRAY(rng, syncs, make_syncs(f, rng, syncs));
	return call(f->fd, DRM_IOCTL_PUMICE_VM_BIND, &args);
}

/* Like all calls here, not repeated after a signal. */
static int bind_ops(struct fuzz *f, u32 vm, const struct drm_pumice_bind_op *ops, u32 count)
{
	struct drm_pumice_vm_bind args = { .vm = vm, .ops = ARRAY_OF(ops, count) };

	return call(f->fd, DRM_IOCTL_PUMICE_VM_BIND, &args);
}

/*
 * Bind new buffers in two VMs and unbind them immediately. Their reservations have never held a
 * fence, so a submission that did not reserve a fence slot is detected. Unbind one at a time
 * under the VM's reservation, which a submission that backs off releases.
 */
static int bind_and_unbind(struct fuzz *f, struct fuzz_rng *rng)
{
	const u32 vms[2] = { fuzz_select(f, rng, FUZZ_VM), fuzz_select(f, rng, FUZZ_VM) };
	const u64 va = fuzz_va(rng);
	struct drm_pumice_bo_create bos[FRESH] = { 0 };
	struct drm_pumice_bind_op ops[FRESH + 1];
	int ret = 0;
	u32 i;

	for (i = 0; i < FRESH && !ret; i++) {
		bos[i].size = PAGE;
		ret = call(f->fd, DRM_IOCTL_PUMICE_BO_CREATE, &bos[i]);
		ops[i] = bind_map(bos[i].handle, 0, va + i * PAGE, PAGE, 0);
	}
	ops[FRESH] = bind_unmap(va, FRESH * PAGE);
	if (!ret)
		ret = bind_ops(f, vms[0], ops, FRESH);
	if (!ret)
		ret = bind_ops(f, vms[1], ops, FRESH + 1);
	ret = bind_ops(f, vms[0], &ops[FRESH], 1) ?: ret;
	for (i = 0; i < FRESH; i++)
		bo_close(f, bos[i].handle);
	return ret;
}

/* Contexts. */

static int context_destroy(struct fuzz *f, u32 id)
{
	struct drm_pumice_context_destroy args = { .id = id };

	return id ? call(f->fd, DRM_IOCTL_PUMICE_CONTEXT_DESTROY, &args) : -ENOENT;
}

static enum fuzz_kind context_kind(struct fuzz_rng *rng)
{
	return fuzz_chance(rng, 3) ? FUZZ_RENDER : FUZZ_CONTEXT;
}

static int context_create(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_context_create args = {
		.type = fuzz_below(rng, 5), .priority = fuzz_below(rng, 4),
		.vm = fuzz_chance(rng, 2) ? f->render.fx.vm : fuzz_select(f, rng, FUZZ_VM),
		.flags = fuzz_zero(rng), .pad = fuzz_zero(rng),
	};
	int ret = call(f->fd, DRM_IOCTL_PUMICE_CONTEXT_CREATE, &args);
	enum fuzz_kind kind = args.type == DRM_PUMICE_CONTEXT_RENDER ? FUZZ_RENDER : FUZZ_CONTEXT;

	if (!ret)
		context_destroy(f, fuzz_keep(f, rng, kind, args.id));
	return ret;
}

static int context_destroy_one(struct fuzz *f, struct fuzz_rng *rng)
{
	return context_destroy(f, fuzz_take(f, rng, context_kind(rng)));
}

static int context_get_state(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_context_get_state args = {
		.id = fuzz_select(f, rng, context_kind(rng)),
	};

	return call(f->fd, DRM_IOCTL_PUMICE_CONTEXT_GET_STATE, &args);
}

static int context_set_priority(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_context_set_priority args = {
		.id = fuzz_select(f, rng, context_kind(rng)), .priority = fuzz_below(rng, 4),
	};

	return call(f->fd, DRM_IOCTL_PUMICE_CONTEXT_SET_PRIORITY, &args);
}

static int file_get_resets(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_file_get_resets args = { 0 };

	(void)rng;
	return call(f->fd, DRM_IOCTL_PUMICE_FILE_GET_RESETS, &args);
}

static int job_get_result(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_job_get_result args = {
		.context = fuzz_select(f, rng, context_kind(rng)), .job = fuzz_below(rng, 8),
	};

	return call(f->fd, DRM_IOCTL_PUMICE_JOB_GET_RESULT, &args);
}

/* Jobs. */

/* Rarely an endless one: each occupies the GPU until it times out. */
static u64 stream(struct fuzz *f, struct fuzz_rng *rng)
{
	if (fuzz_chance(rng, 200))
		return f->streams[fuzz_below(rng, FUZZ_STREAMS)];
	if (fuzz_chance(rng, 20))
		return fuzz_va(rng);
	return f->streams[fuzz_below(rng, FUZZ_STREAMS - 2)];
}

static u32 perfmon(struct fuzz *f, struct fuzz_rng *rng)
{
	return fuzz_chance(rng, 4) ? fuzz_select(f, rng, FUZZ_PERFMON) : 0;
}

static struct drm_pumice_job job(struct fuzz *f, struct fuzz_rng *rng)
{
	return (struct drm_pumice_job){
		.context = fuzz_select(f, rng, FUZZ_CONTEXT), .flags = fuzz_zero(rng),
		.stream = stream(f, rng), .perfmon = perfmon(f, rng),
		.type = fuzz_chance(rng, 30) ? fuzz_below(rng, 4) : 0,
	};
}

static int submit(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_sync syncs[MOST_JOBS][MOST_SYNCS];
	struct drm_pumice_job jobs[MOST_JOBS];
	struct drm_pumice_submit args = { .flags = fuzz_zero(rng), .pad = fuzz_zero(rng) };
	u32 count = fuzz_below(rng, MOST_JOBS + 1), i;

	for (i = 0; i < count; i++) {
		jobs[i] = job(f, rng);
		jobs[i].syncs = FUZZ_ARRAY(rng, syncs[i], make_syncs(f, rng, syncs[i]));
	}
	args.jobs = FUZZ_ARRAY(rng, jobs, count);
	return call(f->fd, DRM_IOCTL_PUMICE_SUBMIT, &args);
}

/* Wait until the jobs of a call have ended, so that the rings have space for other calls. */
static void wait_and_destroy(struct fuzz *f, u32 sync, bool submitted)
{
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&sync, .count_handles = 1,
		.timeout_nsec = (s64)(now_ns() + 100 * WAIT_NS),
	};
	struct drm_syncobj_destroy destroy = { .handle = sync };

	if (submitted)
		call(f->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
	call(f->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
}

/*
 * Submit an empty job to every other context; in t_pairs, where contexts alternate between two
 * VMs, these are all of one VM. Each job adds a fence to each buffer of its VM.
 */
static int submit_many(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_job jobs[FUZZ_LIVE / 2] = { 0 };
	struct drm_syncobj_create sync = { 0 };
	struct drm_pumice_submit args;
	struct drm_pumice_sync done;
	u32 at, count = 0;
	int ret;

	for (at = fuzz_below(rng, 2); at < FUZZ_LIVE; at += 2) {
		jobs[count].context = __atomic_load_n(&f->live[FUZZ_CONTEXT][at], __ATOMIC_RELAXED);
		jobs[count].stream = f->streams[0];
		count += !!jobs[count].context;
	}
	ret = count ? call(f->fd, DRM_IOCTL_SYNCOBJ_CREATE, &sync) : -ENOENT;
	if (ret)
		return ret;
	done = (struct drm_pumice_sync){ .flags = DRM_PUMICE_SYNC_SIGNAL, .handle = sync.handle };
	jobs[count - 1].syncs = (struct drm_pumice_array)ARRAY_OF(&done, 1);
	args = (struct drm_pumice_submit){ .jobs = ARRAY_OF(jobs, count) };
	ret = call(f->fd, DRM_IOCTL_PUMICE_SUBMIT, &args);
	wait_and_destroy(f, sync.handle, !ret);
	return ret;
}

/* A geometry job and its fragment job. */
static int submit_pair(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_sync syncs[2][MOST_SYNCS];
	struct drm_pumice_job jobs[2];
	struct drm_pumice_submit args;
	u32 i;

	render_pair(&f->render, fuzz_below(rng, 2), jobs);
	if (fuzz_chance(rng, 200))
		jobs[0].stream = f->streams[FUZZ_STREAMS - 1];
	jobs[0].context = fuzz_select(f, rng, FUZZ_RENDER);
	jobs[1].context = jobs[0].context;
	if (fuzz_chance(rng, 2))
		jobs[0].hwrt = fuzz_select(f, rng, FUZZ_HWRT);
	jobs[1].hwrt = jobs[0].hwrt;
	for (i = 0; i < 2; i++)
		jobs[i].syncs = FUZZ_ARRAY(rng, syncs[i], make_syncs(f, rng, syncs[i]));
	args = (struct drm_pumice_submit){ .jobs = FUZZ_ARRAY(rng, jobs, 2) };
	return call(f->fd, DRM_IOCTL_PUMICE_SUBMIT, &args);
}

/* Free lists and data sets. */

static int free_list_destroy(struct fuzz *f, u32 id)
{
	struct drm_pumice_free_list_destroy args = { .id = id };

	if (!id || id == f->render.list)
		return -ENOENT;
	return call(f->fd, DRM_IOCTL_PUMICE_FREE_LIST_DESTROY, &args);
}

static int free_list_create(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_free_list_create args = {
		.vm = fuzz_select(f, rng, FUZZ_VM), .initial_pages = fuzz_below(rng, 65),
		.max_pages = fuzz_below(rng, 257), .grow_pages = fuzz_below(rng, 33),
		.threshold = fuzz_below(rng, 104), .flags = fuzz_zero(rng), .pad = fuzz_zero(rng),
	};
	int ret = call(f->fd, DRM_IOCTL_PUMICE_FREE_LIST_CREATE, &args);

	if (!ret)
		free_list_destroy(f, fuzz_keep(f, rng, FUZZ_FREE_LIST, args.id));
	return ret;
}

static int free_list_destroy_one(struct fuzz *f, struct fuzz_rng *rng)
{
	return free_list_destroy(f, fuzz_take(f, rng, FUZZ_FREE_LIST));
}

static int hwrt_destroy(struct fuzz *f, u32 id)
{
	struct drm_pumice_hwrt_destroy args = { .id = id };

	if (!id || id == f->render.hwrt)
		return -ENOENT;
	return call(f->fd, DRM_IOCTL_PUMICE_HWRT_DESTROY, &args);
}

static int hwrt_create(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_pumice_hwrt_create args = render_hwrt_args(f->render.fx.vm, f->render.list);
	int ret;

	if (fuzz_chance(rng, 2)) {
		args.vm = fuzz_select(f, rng, FUZZ_VM);
		args.free_lists[0] = fuzz_select(f, rng, FUZZ_FREE_LIST);
	}
	if (fuzz_chance(rng, 3))
		args.free_lists[1] = fuzz_select(f, rng, FUZZ_FREE_LIST);
	args.width = fuzz_below(rng, 300);
	args.height = fuzz_below(rng, 300);
	args.samples = 1u << fuzz_below(rng, 4);
	args.tile_size = fuzz_below(rng, 4);
	args.flags = fuzz_zero(rng);
	args.spill = fuzz_chance(rng, 2) ? FX_FREE : 0;
	args.spill_bytes = args.spill ? fuzz_pages(rng, 16) : 0;
	ret = call(f->fd, DRM_IOCTL_PUMICE_HWRT_CREATE, &args);
	if (!ret)
		hwrt_destroy(f, fuzz_keep(f, rng, FUZZ_HWRT, args.id));
	return ret;
}

static int hwrt_destroy_one(struct fuzz *f, struct fuzz_rng *rng)
{
	return hwrt_destroy(f, fuzz_take(f, rng, FUZZ_HWRT));
}

/* Performance monitors. */

static int perfmon_destroy(struct fuzz *f, u32 id)
{
	struct drm_pumice_perfmon_destroy args = { .id = id };

	return id ? call(f->fd, DRM_IOCTL_PUMICE_PERFMON_DESTROY, &args) : -ENOENT;
}

static int perfmon_create(struct fuzz *f, struct fuzz_rng *rng)
{
	u32 counters[4], count = 1 + fuzz_below(rng, 4), i;
	struct drm_pumice_perfmon_create args = { .flags = fuzz_zero(rng) };
	int ret;

	for (i = 0; i < count; i++)
		counters[i] = fuzz_below(rng, 8);
	args.counters = FUZZ_ARRAY(rng, counters, count);
	ret = call(f->fd, DRM_IOCTL_PUMICE_PERFMON_CREATE, &args);
	if (!ret)
		perfmon_destroy(f, fuzz_keep(f, rng, FUZZ_PERFMON, args.id));
	return ret;
}

static int perfmon_destroy_one(struct fuzz *f, struct fuzz_rng *rng)
{
	return perfmon_destroy(f, fuzz_take(f, rng, FUZZ_PERFMON));
}

static int perfmon_get_values(struct fuzz *f, struct fuzz_rng *rng)
{
	u64 values[DRM_PUMICE_MAX_PERF_COUNTERS];
	struct drm_pumice_perfmon_get_values args = {
		.id = fuzz_select(f, rng, FUZZ_PERFMON),
		.flags = fuzz_flags(rng, DRM_PUMICE_PERFMON_RESET), .values = (uintptr_t)values,
	};

	return call(f->fd, DRM_IOCTL_PUMICE_PERFMON_GET_VALUES, &args);
}

/* Syncobjs. */

static int sync_create(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_syncobj_create args = {
		.flags = fuzz_below(rng, 2) ? DRM_SYNCOBJ_CREATE_SIGNALED : 0,
	};
	struct drm_syncobj_destroy old = { 0 };
	int ret = call(f->fd, DRM_IOCTL_SYNCOBJ_CREATE, &args);

	if (ret)
		return ret;
	old.handle = fuzz_keep(f, rng, FUZZ_SYNC, args.handle);
	if (old.handle)
		call(f->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &old);
	return 0;
}

static int sync_destroy_one(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_syncobj_destroy args = { .handle = fuzz_take(f, rng, FUZZ_SYNC) };

	return args.handle ? call(f->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &args) : -ENOENT;
}

static int sync_change(struct fuzz *f, struct fuzz_rng *rng)
{
	u32 handle = fuzz_select(f, rng, FUZZ_SYNC);
	struct drm_syncobj_array args = { .handles = (uintptr_t)&handle, .count_handles = 1 };

	return call(f->fd, fuzz_below(rng, 2) ? DRM_IOCTL_SYNCOBJ_RESET :
		    DRM_IOCTL_SYNCOBJ_SIGNAL, &args);
}

static int sync_wait_briefly(struct fuzz *f, struct fuzz_rng *rng)
{
	u32 handle = fuzz_select(f, rng, FUZZ_SYNC);
	struct drm_syncobj_wait args = {
		.handles = (uintptr_t)&handle, .count_handles = 1,
		.timeout_nsec = (s64)(now_ns() + WAIT_NS),
		.flags = fuzz_below(rng, 2) ? DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT : 0,
	};

	return call(f->fd, DRM_IOCTL_SYNCOBJ_WAIT, &args);
}

/* A point that was already used, or a later point. */
static u64 point(struct fuzz *f, struct fuzz_rng *rng)
{
	return fuzz_below(rng, 2 + (u32)__atomic_load_n(&f->points, __ATOMIC_RELAXED));
}

static int timeline_wait_briefly(struct fuzz *f, struct fuzz_rng *rng)
{
	u32 handle = fuzz_select(f, rng, FUZZ_SYNC);
	u64 at = point(f, rng);
	struct drm_syncobj_timeline_wait args = {
		.handles = (uintptr_t)&handle, .points = (uintptr_t)&at, .count_handles = 1,
		.timeout_nsec = (s64)(now_ns() + WAIT_NS),
		.flags = fuzz_below(rng, 2) ? DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT : 0,
	};

	return call(f->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &args);
}

static int timeline_signal(struct fuzz *f, struct fuzz_rng *rng)
{
	u64 next = __atomic_add_fetch(&f->points, 1, __ATOMIC_RELAXED);
	u32 handle = fuzz_select(f, rng, FUZZ_SYNC);
	struct drm_syncobj_timeline_array args = {
		.handles = (uintptr_t)&handle, .points = (uintptr_t)&next, .count_handles = 1,
	};

	return call(f->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &args);
}

/* From a point, or a binary syncobj, to another. */
static int sync_transfer(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_syncobj_transfer args = {
		.src_handle = fuzz_select(f, rng, FUZZ_SYNC),
		.dst_handle = fuzz_select(f, rng, FUZZ_SYNC),
		.src_point = fuzz_below(rng, 2) ? point(f, rng) : 0,
	};

	if (fuzz_below(rng, 2))
		args.dst_point = __atomic_add_fetch(&f->points, 1, __ATOMIC_RELAXED);
	return call(f->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &args);
}

/* Export a fence as a sync file, which outlives its syncobj and context. */
static int sync_export(struct fuzz *f, struct fuzz_rng *rng)
{
	struct drm_syncobj_handle args = {
		.handle = fuzz_select(f, rng, FUZZ_SYNC), .fd = -1,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};
	int ret = call(f->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &args);

	if (!ret)
		keep_file(f, rng, args.fd);
	return ret;
}

/* Map a buffer of the shared file into a VM of another file. */
static int map_in(struct fuzz *f, int to, u32 vm, u32 handle, u64 va, u64 bytes)
{
	struct drm_prime_handle prime = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	struct drm_pumice_bind_op op;
	int ret = call(f->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);

	if (ret)
		return ret;
	ret = call(to, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	close(prime.fd);
	op = bind_map(prime.handle, 0, va, bytes, 0);
	return ret ?: gpu_bind(to, vm, &op, 1, NULL);
}

/* Map streams and data in another file, submit a job, and close the file while it may run. */
static int use_and_close(struct fuzz *f, int file, struct fuzz_rng *rng)
{
	const struct fixture *fx = &f->render.fx;
	struct drm_pumice_vm_create vm = { 0 };
	struct drm_pumice_context_create context = {
		.type = DRM_PUMICE_CONTEXT_COMPUTE, .priority = DRM_PUMICE_PRIORITY_NORMAL,
	};
	struct drm_pumice_job job = { .stream = f->streams[fuzz_below(rng, 4)] };
	int ret = call(file, DRM_IOCTL_PUMICE_VM_CREATE, &vm);

	if (!ret)
		ret = map_in(f, file, vm.id, fx->code.handle, FX_CODE, FX_CODE_BYTES);
	if (!ret)
		ret = map_in(f, file, vm.id, fx->data.handle, FX_DATA, FX_DATA_BYTES);
	context.vm = vm.id;
	if (!ret)
		ret = call(file, DRM_IOCTL_PUMICE_CONTEXT_CREATE, &context);
	job.context = context.id;
	if (!ret)
		ret = gpu_submit(file, &job, 1, NULL);
	close(file);
	return ret;
}

static int close_file(struct fuzz *f, struct fuzz_rng *rng)
{
	char path[64];
	int file, ret = gpu_node(path);

	if (ret)
		return ret;
	file = open(path, O_RDWR | O_CLOEXEC);
	return file < 0 ? -errno : use_and_close(f, file, rng);
}

/* Read a file of debugfs, which reads all objects while they change. */
static int read_file(struct fuzz *f, struct fuzz_rng *rng)
{
	static const char *const names[] = {
		"bos", "contexts", "free_lists", "fw_log", "state", "vms", "gem_names",
	};
	u32 which = fuzz_below(rng, sizeof(names) / sizeof(names[0]) + 1);
	char path[64], buffer[4096];
	int file;

	if (which == sizeof(names) / sizeof(names[0]))
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", f->fd);
	else
		snprintf(path, sizeof(path), "/sys/kernel/debug/dri/128/%s", names[which]);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -errno;
	while (read(file, buffer, sizeof(buffer)) > 0)
		;
	close(file);
	return 0;
}

const struct fuzz_call fuzz_calls[] = {
	{ "DEV_QUERY", dev_query, 1, NULL },
	{ "PERF_COUNTER_GET", perf_counter_get, 1, NULL },
	{ "BO_CREATE", bo_create, 6, NULL },
	{ "GEM_CLOSE", bo_close_one, 3, bo_create },
	{ "MODE_CREATE_DUMB", dumb_create, 1, NULL },
	{ "BO_MMAP_OFFSET", bo_mmap, 3, NULL },
	{ "BO_SET_LABEL", bo_set_label, 1, NULL },
	{ "BO_MADVISE", bo_madvise, 3, NULL },
	{ "PRIME_HANDLE_TO_FD", prime_export, 2, NULL },
	{ "PRIME_FD_TO_HANDLE", prime_import, 2, create_and_export },
	{ "VM_CREATE", vm_create, 2, NULL },
	{ "VM_DESTROY", vm_destroy_one, 1, vm_create },
	{ "VM_BIND", vm_bind, 16, NULL },
	{ "VM_BIND and unbind", bind_and_unbind, 4, NULL },
	{ "VM_GET_STATE", vm_get_state, 1, NULL },
	{ "VM_GET_FAULTS", vm_get_faults, 1, NULL },
	{ "CONTEXT_CREATE", context_create, 4, NULL },
	{ "CONTEXT_DESTROY", context_destroy_one, 2, context_create },
	{ "CONTEXT_GET_STATE", context_get_state, 1, NULL },
	{ "CONTEXT_SET_PRIORITY", context_set_priority, 2, NULL },
	{ "FILE_GET_RESETS", file_get_resets, 1, NULL },
	{ "JOB_GET_RESULT", job_get_result, 2, NULL },
	{ "SUBMIT", submit, 14, NULL },
	{ "SUBMIT of many", submit_many, 4, NULL },
	{ "SUBMIT of a pair", submit_pair, 6, NULL },
	{ "FREE_LIST_CREATE", free_list_create, 2, NULL },
	{ "FREE_LIST_DESTROY", free_list_destroy_one, 1, free_list_create },
	{ "HWRT_CREATE", hwrt_create, 3, NULL },
	{ "HWRT_DESTROY", hwrt_destroy_one, 2, hwrt_create },
	{ "PERFMON_CREATE", perfmon_create, 2, NULL },
	{ "PERFMON_DESTROY", perfmon_destroy_one, 1, perfmon_create },
	{ "PERFMON_GET_VALUES", perfmon_get_values, 2, NULL },
	{ "SYNCOBJ_CREATE", sync_create, 2, NULL },
	{ "SYNCOBJ_DESTROY", sync_destroy_one, 1, sync_create },
	{ "SYNCOBJ_RESET and SIGNAL", sync_change, 2, NULL },
	{ "SYNCOBJ_WAIT", sync_wait_briefly, 2, NULL },
	{ "SYNCOBJ_TIMELINE_WAIT", timeline_wait_briefly, 2, NULL },
	{ "SYNCOBJ_TIMELINE_SIGNAL", timeline_signal, 2, NULL },
	{ "SYNCOBJ_TRANSFER", sync_transfer, 2, NULL },
	{ "SYNCOBJ_HANDLE_TO_FD", sync_export, 2, NULL },
	{ "closing a file", close_file, 1, NULL },
	{ "reading files", read_file, 1, NULL },
};

const u32 fuzz_call_count = sizeof(fuzz_calls) / sizeof(fuzz_calls[0]);
