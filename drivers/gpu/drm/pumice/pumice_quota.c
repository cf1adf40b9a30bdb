// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Shares of the resources common to all users of a GPU: the firmware's context ids and
 * the 2 GiB of MMU context 0, or those of a virtual GPU of several.
 *
 * Three limits prevent one user from exhausting either resource for all others:
 *
 * - A limit per file, for any user: it bounds the effect of a leak in one program.
 * - A user, over all files, has at most half of the ids and an eighth of the memory.
 *   So opening more files or starting more processes gains nothing.
 * - All users together leave a reserve. Only a process with CAP_SYS_RESOURCE, the kernel's
 *   capability for reserved space and limits, or with CAP_SYS_NICE, which a compositor
 *   has for its priority, may exceed this limit and that of a user. DRM master does
 *   not count: on a device without outputs the first process to open it becomes master.
 *
 * The user is the caller of the ioctl, as with RLIMIT_MEMLOCK, not the opener of the
 * file. Ids that a user has delegated to themselves in a user namespace count as that
 * user: the namespace's owner is charged.
 *
 * Destroyed objects are charged until a worker has freed them. A call that would be refused
 * first waits for these workers (pumice_quota_settle()), so that a process which creates and
 * destroys alternately never reaches a limit. Resources of jobs in flight stay charged.
 *
 * The driver's own memory (boot structure, rings, traces) is not charged.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "pumice_device.h"
#include "pumice_process.h"
#include "pumice_quota.h"

struct limits {
	/* Name in the log message. */
	const char *name;
	/* Total amount; reserve for privileged processes, included in it. */
	u32 total, reserve;
	/* Limit of a user, and of a file. */
	u32 user, file;
};

#define CONTEXT_LIMITS(ids) { \
	.name = "context ids", \
	.total = (ids), \
	.reserve = (ids) / 8, \
	.user = (ids) / 2, \
	.file = MIN_T(u32, DRM_PUMICE_MAX_FILE_QUEUES, (ids) / 2), \
}

#define MEMORY_LIMITS(bytes) { \
	.name = "bytes of firmware memory", \
	.total = (bytes), \
	.reserve = (bytes) / 8, \
	.user = (bytes) / 8, \
	.file = DRM_PUMICE_MAX_FILE_SHARED, \
}

/* Of a GPU with one virtual GPU. */
static const struct limits limits[PUMICE_RESOURCE_COUNT] = {
	[PUMICE_RESOURCE_CONTEXTS] = CONTEXT_LIMITS(FWIF_MAX_CONTEXTS),
	[PUMICE_RESOURCE_MEMORY] = MEMORY_LIMITS(PUMICE_FW_WINDOW_SIZE),
};

/* Of number 0 of several. */
static const struct limits limits_of_first[PUMICE_RESOURCE_COUNT] = {
	[PUMICE_RESOURCE_CONTEXTS] = CONTEXT_LIMITS(FWIF_MAX_CONTEXTS),
	[PUMICE_RESOURCE_MEMORY] = MEMORY_LIMITS(PUMICE_OS_PART_SIZE),
};

/* Of each other one. */
static const struct limits limits_of_other[PUMICE_RESOURCE_COUNT] = {
	[PUMICE_RESOURCE_CONTEXTS] = CONTEXT_LIMITS(FWIF_MAX_OS_CONTEXTS),
	[PUMICE_RESOURCE_MEMORY] = MEMORY_LIMITS(PUMICE_OS_PART_SIZE),
};

/* The limit of a file is at most that of a user, and that leaves the reserve free. */
static_assert(DRM_PUMICE_MAX_FILE_QUEUES <= FWIF_MAX_CONTEXTS / 2);
static_assert(DRM_PUMICE_MAX_FILE_SHARED <= PUMICE_OS_PART_SIZE / 8);

static const struct limits *quota_limits(const struct pumice_device *pdev, u32 resource)
{
	if (pdev->os)
		return &limits_of_other[resource];
	return pdev->oses > 1 ? &limits_of_first[resource] : &limits[resource];
}

/**
 * pumice_quota_init - initialize the quota; nothing is used
 * @pdev: device
 */
void pumice_quota_init(struct pumice_device *pdev)
{
	mutex_init(&pdev->quota.lock);
	xa_init(&pdev->quota.users);
}

/**
 * pumice_quota_fini - free the quota; all files were closed and their objects freed
 * @pdev: device
 */
void pumice_quota_fini(struct pumice_device *pdev)
{
	drm_WARN_ON(&pdev->drm, !xa_empty(&pdev->quota.users));
	xa_destroy(&pdev->quota.users);
	mutex_destroy(&pdev->quota.lock);
}

/**
 * pumice_quota_open - create the share of a file
 *
 * Context: May sleep.
 *
 * Return: the share, for pumice_quota_close(), or NULL without memory.
 */
struct pumice_share *pumice_quota_open(void)
{
	struct pumice_share *share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);

	if (share)
		share->refs = 1;
	return share;
}

static void quota_put_file_locked(struct pumice_share *share)
{
	if (!--share->refs)
		kfree(share);
}

/**
 * pumice_quota_close - release the share of a closed file, whose objects may still exist
 * @pdev: device
 * @share: share of the file
 *
 * Context: May sleep. Acquires quota.lock.
 */
void pumice_quota_close(struct pumice_device *pdev, struct pumice_share *share)
{
	mutex_lock(&pdev->quota.lock);
	quota_put_file_locked(share);
	mutex_unlock(&pdev->quota.lock);
}

static void quota_put_user_locked(struct pumice_quota *quota, u32 uid, struct pumice_share *share)
{
	lockdep_assert_held(&quota->lock);
	if (--share->refs)
		return;
	xa_erase(&quota->users, uid);
	kfree(share);
}

/*
 * Return the user that is charged for the caller. All ids of a user namespace are available to
 * its holder, so they count as one user: the namespace's owner or, if root created it for
 * another user, as for a container, its root. The outermost user namespace decides.
 */
static u32 quota_charged_uid(void)
{
	const struct cred *cred = current_cred();
	struct user_namespace *ns;
	kuid_t uid = cred->euid, holder;

	for (ns = cred->user_ns; ns != &init_user_ns; ns = ns->parent) {
		holder = uid_eq(ns->owner, GLOBAL_ROOT_UID) ? make_kuid(ns, 0) : ns->owner;
		if (uid_valid(holder))
			uid = holder;
	}
	return __kuid_val(uid);
}

/* Get or create the share of a user, with a reference. Returns NULL without memory. */
static struct pumice_share *quota_get_user_locked(struct pumice_quota *quota, u32 uid)
{
	struct pumice_share *share = xa_load(&quota->users, uid);

	lockdep_assert_held(&quota->lock);
	if (!share) {
		share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);
		if (!share || xa_err(xa_store(&quota->users, uid, share, GFP_KERNEL_ACCOUNT))) {
			kfree(share);
			return NULL;
		}
	}
	share->refs++;
	return share;
}

/* Return true if @amount more would exceed the limit. */
static bool quota_exceeds(u32 used, u32 amount, u32 limit)
{
	return amount > limit || used > limit - amount;
}

/**
 * pumice_quota_privileged - check whether the caller is exempt from the limits of users
 *
 * Such a caller may also use the reserve. The limit of a file applies to all callers.
 *
 * Context: Process context of the caller that is charged.
 *
 * Return: true with CAP_SYS_RESOURCE or CAP_SYS_NICE.
 */
bool pumice_quota_privileged(void)
{
	return capable(CAP_SYS_RESOURCE) || capable(CAP_SYS_NICE);
}

/* A limit that a charge would exceed. */
struct refusal {
	const char *scope;
	u32 used, max;
};

/*
 * Find the limit that refuses a charge; .scope is NULL if none does. Capabilities are checked
 * only if the result depends on them.
 */
static struct refusal quota_find_refusal_locked(struct pumice_device *pdev,
						const struct pumice_charge *charge)
{
	const struct limits *limit = quota_limits(pdev, charge->resource);
	const u32 r = charge->resource, amount = charge->amount;
	const u32 all = pdev->quota.used[r], open = limit->total - limit->reserve;
	const u32 of_file = charge->file->used[r], of_user = charge->user->used[r];
	struct refusal refusal = { 0 };

	if (quota_exceeds(of_file, amount, limit->file))
		return (struct refusal){ "a file", of_file, limit->file };
	if (quota_exceeds(of_user, amount, limit->user))
		refusal = (struct refusal){ "a user", of_user, limit->user };
	else if (quota_exceeds(all, amount, open))
		refusal = (struct refusal){ "all users without CAP_SYS_RESOURCE or CAP_SYS_NICE",
					    all, open };
	if (!refusal.scope || !pumice_quota_privileged())
		return refusal;
	if (quota_exceeds(all, amount, limit->total))
		return (struct refusal){ "all users", all, limit->total };
	return (struct refusal){ 0 };
}

/* Check all limits. Returns 0, or -ENOSPC with a message in the kernel's log. */
static int quota_check_locked(struct pumice_device *pdev, const struct pumice_charge *charge)
{
	const struct refusal refusal = quota_find_refusal_locked(pdev, charge);
	char text[PUMICE_PROCESS_TEXT];
	struct pumice_process process;

	if (!refusal.scope)
		return 0;
	pumice_process_note(&process);
	dev_notice_ratelimited(pdev->drm.dev,
			       "%s, uid %u: limit of %s of %s reached: %u of %u used, %u requested\n",
			       pumice_process_text(&process, text), charge->uid,
			       limits[charge->resource].name, refusal.scope, refusal.used,
			       refusal.max, charge->amount);
	return -ENOSPC;
}

/* Return true if a charge would currently be refused. */
static bool quota_is_refused(struct pumice_file *file, enum pumice_resource resource, u32 amount)
{
	struct pumice_quota *quota = &file->pdev->quota;
	struct pumice_share nothing = { 0 };
	struct pumice_charge charge = {
		.file = file->share, .resource = resource, .amount = amount,
	};
	bool refused;

	mutex_lock(&quota->lock);
	charge.user = xa_load(&quota->users, quota_charged_uid()) ?: &nothing;
	refused = quota_find_refusal_locked(file->pdev, &charge).scope;
	mutex_unlock(&quota->lock);
	return refused;
}

/**
 * pumice_quota_settle - before a charge: wait for workers to free destroyed objects, if needed
 * @file: file of the ioctl, which is the caller's
 * @resource: resource to be charged
 * @amount: amount to be charged, or more
 *
 * Must not be called between drm_dev_enter() and drm_dev_exit(), which the workers may wait
 * for, nor with locks held.
 */
void pumice_quota_settle(struct pumice_file *file, enum pumice_resource resource, u32 amount)
{
	u32 i;

	/* Two passes: the worker that frees a data set may queue the freeing of a free list. */
	for (i = 0; i < 2 && quota_is_refused(file, resource, amount); i++)
		flush_workqueue(pumice_cleanup_wq);
}

/**
 * pumice_quota_charge - charge the use of a resource, if it is permitted
 * @file: file of the ioctl, which is the caller's; NULL: the driver itself, not charged
 * @resource: resource
 * @amount: amount, not 0
 * @charge: filled on success, for pumice_quota_uncharge()
 *
 * Context: May sleep. Acquires quota.lock.
 *
 * Return: 0; -ENOSPC, with a message in the kernel's log; -ENOMEM.
 */
int pumice_quota_charge(struct pumice_file *file, enum pumice_resource resource, u32 amount,
			struct pumice_charge *charge)
{
	struct pumice_charge c = { .resource = resource, .amount = amount };
	struct pumice_quota *quota;
	int ret = -ENOMEM;

	*charge = (struct pumice_charge){ 0 };
	if (!file)
		return 0;
	quota = &file->pdev->quota;
	c.uid = quota_charged_uid();
	c.file = file->share;
	mutex_lock(&quota->lock);
	c.user = quota_get_user_locked(quota, c.uid);
	if (c.user)
		ret = quota_check_locked(file->pdev, &c);
	if (!ret) {
		c.file->refs++;
		c.file->used[resource] += amount;
		c.user->used[resource] += amount;
		quota->used[resource] += amount;
		*charge = c;
	} else if (c.user) {
		quota_put_user_locked(quota, c.uid, c.user);
	}
	mutex_unlock(&quota->lock);
	return ret;
}

/**
 * pumice_quota_uncharge - release the charge of a resource that is no longer used
 * @pdev: device
 * @charge: charge; all zero afterwards
 *
 * Context: May sleep. Acquires quota.lock.
 */
void pumice_quota_uncharge(struct pumice_device *pdev, struct pumice_charge *charge)
{
	struct pumice_quota *quota = &pdev->quota;
	const u32 r = charge->resource;

	if (!charge->file)
		return;
	mutex_lock(&quota->lock);
	charge->file->used[r] -= charge->amount;
	charge->user->used[r] -= charge->amount;
	quota->used[r] -= charge->amount;
	quota_put_file_locked(charge->file);
	quota_put_user_locked(quota, charge->uid, charge->user);
	mutex_unlock(&quota->lock);
	*charge = (struct pumice_charge){ 0 };
}

/**
 * pumice_quota_total - return the total amount of a resource
 * @pdev: device
 * @resource: resource
 *
 * Context: Any.
 *
 * Return: the amount, in the unit of @resource.
 */
u32 pumice_quota_total(const struct pumice_device *pdev, enum pumice_resource resource)
{
	return quota_limits(pdev, resource)->total;
}

/**
 * pumice_quota_reserve - return the amount of a resource reserved for privileged processes
 * @pdev: device
 * @resource: resource
 *
 * Context: Any.
 *
 * Return: the amount, in the unit of @resource.
 */
u32 pumice_quota_reserve(const struct pumice_device *pdev, enum pumice_resource resource)
{
	return quota_limits(pdev, resource)->reserve;
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_quota_test.c"
#endif
