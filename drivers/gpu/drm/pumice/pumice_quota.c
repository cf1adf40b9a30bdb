// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Shares of what all users of a GPU have in common: the firmware's context ids and
 * the 2 GiB of MMU context 0.
 *
 * Three limits keep one user from taking either away from all others:
 *
 * - A file has at most so much, whoever uses it: a leak in one program ends there.
 * - A user, over all files, has at most half of the ids and an eighth of the memory.
 *   So opening more files or starting more processes gains nothing.
 * - All users together leave a reserve. Only who has CAP_SYS_RESOURCE, the kernel's
 *   capability for reserved space and limits, or CAP_SYS_NICE, which a compositor
 *   has for its priority, passes this limit and that of a user. DRM master does
 *   not count: on a device without outputs it goes to whoever comes first.
 *
 * The user is the caller of the ioctl, as with RLIMIT_MEMLOCK, not who opened the
 * file. Ids that a user has delegated to themselves in a user namespace count as that
 * user: the namespace's owner is charged.
 *
 * What a user destroys is charged until a worker has freed it. A call that would be refused
 * first waits for these workers (pumice_quota_settle()), so that one who creates and destroys
 * in turn never reaches a limit. What jobs in flight use stays charged.
 *
 * The driver's own memory (boot structure, rings, traces) is not charged.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "pumice_device.h"
#include "pumice_quota.h"

static const struct limits {
	/* For the message. */
	const char *name;
	/* There is so much of it; of that for the privileged alone. */
	u32 total, reserve;
	/* A user, and a file, may have so much. */
	u32 user, file;
} limits[PUMICE_RESOURCE_COUNT] = {
	[PUMICE_RESOURCE_CONTEXTS] = {
		.name = "context ids",
		.total = FWIF_MAX_CONTEXTS,
		.reserve = FWIF_MAX_CONTEXTS / 8,
		.user = FWIF_MAX_CONTEXTS / 2,
		.file = DRM_PUMICE_MAX_FILE_QUEUES,
	},
	[PUMICE_RESOURCE_MEMORY] = {
		.name = "bytes of firmware memory",
		.total = PUMICE_FW_WINDOW_SIZE,
		.reserve = PUMICE_FW_WINDOW_SIZE / 8,
		.user = PUMICE_FW_WINDOW_SIZE / 8,
		.file = DRM_PUMICE_MAX_FILE_SHARED,
	},
};

/* A file has a share of a user, and users leave the reserve alone. */
static_assert(DRM_PUMICE_MAX_FILE_QUEUES <= FWIF_MAX_CONTEXTS / 2);
static_assert(DRM_PUMICE_MAX_FILE_SHARED <= PUMICE_FW_WINDOW_SIZE / 8);

/**
 * pumice_quota_init - nothing is used
 * @pdev: device
 */
void pumice_quota_init(struct pumice_device *pdev)
{
	mutex_init(&pdev->quota.lock);
	xa_init(&pdev->quota.users);
}

/**
 * pumice_quota_fini - all files are closed and all that they had is gone
 * @pdev: device
 */
void pumice_quota_fini(struct pumice_device *pdev)
{
	drm_WARN_ON(&pdev->drm, !xa_empty(&pdev->quota.users));
	xa_destroy(&pdev->quota.users);
	mutex_destroy(&pdev->quota.lock);
}

/**
 * pumice_quota_open - share of a file
 *
 * Returns it, for pumice_quota_close(), or NULL without memory.
 */
struct pumice_share *pumice_quota_open(void)
{
	struct pumice_share *share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);

	if (share)
		share->refs = 1;
	return share;
}

static void put_file_locked(struct pumice_share *share)
{
	if (!--share->refs)
		kfree(share);
}

/**
 * pumice_quota_close - a file is closed; what it had may live a little longer
 * @pdev: device
 * @share: share of the file
 */
void pumice_quota_close(struct pumice_device *pdev, struct pumice_share *share)
{
	mutex_lock(&pdev->quota.lock);
	put_file_locked(share);
	mutex_unlock(&pdev->quota.lock);
}

static void put_user_locked(struct pumice_quota *quota, u32 uid, struct pumice_share *share)
{
	lockdep_assert_held(&quota->lock);
	if (--share->refs)
		return;
	xa_erase(&quota->users, uid);
	kfree(share);
}

/*
 * Who is charged for what the caller does. The ids of a user namespace are all its
 * holder's to take, so that they count as one user: as the namespace's owner, or where root
 * has made it for another user, as a container's, as its root. The outermost one holds.
 */
static u32 charged_uid(void)
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

/* Share of a user, with a reference, or NULL without memory. */
static struct pumice_share *get_user_locked(struct pumice_quota *quota, u32 uid)
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

/* Whether so much more is too much. */
static bool exceeds(u32 used, u32 amount, u32 limit)
{
	return amount > limit || used > limit - amount;
}

/* Whether the caller may pass the limits of users, and use what is reserved. */
bool pumice_quota_privileged(void)
{
	return capable(CAP_SYS_RESOURCE) || capable(CAP_SYS_NICE);
}

/* A limit that a charge would exceed. */
struct refusal {
	const char *whose;
	u32 used, most;
};

/*
 * The limit that refuses a charge; .whose is NULL if none does. Capabilities are asked for
 * only where they make a difference.
 */
static struct refusal look_locked(struct pumice_device *pdev, const struct pumice_charge *charge)
{
	const struct limits *limit = &limits[charge->resource];
	const u32 r = charge->resource, amount = charge->amount;
	const u32 all = pdev->quota.used[r], open = limit->total - limit->reserve;
	const u32 of_file = charge->file->used[r], of_user = charge->user->used[r];
	struct refusal refusal = { 0 };

	if (exceeds(of_file, amount, limit->file))
		return (struct refusal){ "a file", of_file, limit->file };
	if (exceeds(of_user, amount, limit->user))
		refusal = (struct refusal){ "a user", of_user, limit->user };
	else if (exceeds(all, amount, open))
		refusal = (struct refusal){ "all users without CAP_SYS_RESOURCE or CAP_SYS_NICE",
					    all, open };
	if (!refusal.whose || !pumice_quota_privileged())
		return refusal;
	if (exceeds(all, amount, limit->total))
		return (struct refusal){ "all users", all, limit->total };
	return (struct refusal){ 0 };
}

/* 0, or -ENOSPC with a line in the kernel's log. */
static int check_locked(struct pumice_device *pdev, const struct pumice_charge *charge)
{
	const struct refusal refusal = look_locked(pdev, charge);

	if (!refusal.whose)
		return 0;
	dev_notice_ratelimited(pdev->drm.dev,
			       "%s[%d], uid %u: limit of %s of %s: %u of %u used, %u requested\n",
			       current->comm, task_pid_nr(current), charge->uid,
			       limits[charge->resource].name, refusal.whose, refusal.used,
			       refusal.most, charge->amount);
	return -ENOSPC;
}

/* Whether a charge would be refused as things are. */
static bool is_refused(struct pumice_file *file, enum pumice_resource resource, u32 amount)
{
	struct pumice_quota *quota = &file->pdev->quota;
	struct pumice_share nothing = { 0 };
	struct pumice_charge charge = {
		.file = file->share, .resource = resource, .amount = amount,
	};
	bool refused;

	mutex_lock(&quota->lock);
	charge.user = xa_load(&quota->users, charged_uid()) ?: &nothing;
	refused = look_locked(file->pdev, &charge).whose;
	mutex_unlock(&quota->lock);
	return refused;
}

/**
 * pumice_quota_settle - before a charge: let workers free what was destroyed, if it matters
 * @file: file of the ioctl, which is the caller's
 * @resource: what will be charged
 * @amount: how much, not less
 *
 * Not between drm_dev_enter() and drm_dev_exit(), which the workers may wait for, and without
 * locks.
 */
void pumice_quota_settle(struct pumice_file *file, enum pumice_resource resource, u32 amount)
{
	u32 i;

	/* The last reference to a free list may be put by the worker that frees a data set. */
	for (i = 0; i < 2 && is_refused(file, resource, amount); i++)
		flush_workqueue(pumice_cleanup_wq);
}

/**
 * pumice_quota_charge - account for the use of a resource, if it is allowed
 * @file: file of the ioctl, which is the caller's; NULL: the driver itself, free of charge
 * @resource: what
 * @amount: how much, not 0
 * @charge: filled on success, for pumice_quota_uncharge()
 *
 * Returns 0; -ENOSPC, with a line in the kernel's log; -ENOMEM.
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
	c.uid = charged_uid();
	c.file = file->share;
	mutex_lock(&quota->lock);
	c.user = get_user_locked(quota, c.uid);
	if (c.user)
		ret = check_locked(file->pdev, &c);
	if (!ret) {
		c.file->refs++;
		c.file->used[resource] += amount;
		c.user->used[resource] += amount;
		quota->used[resource] += amount;
		*charge = c;
	} else if (c.user) {
		put_user_locked(quota, c.uid, c.user);
	}
	mutex_unlock(&quota->lock);
	return ret;
}

/**
 * pumice_quota_uncharge - the use of a resource ended
 * @pdev: device
 * @charge: of the use; all zero after it
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
	put_file_locked(charge->file);
	put_user_locked(quota, charge->uid, charge->user);
	mutex_unlock(&quota->lock);
	*charge = (struct pumice_charge){ 0 };
}

/* How much of a resource is kept for the privileged. */
u32 pumice_quota_reserve(enum pumice_resource resource)
{
	return limits[resource].reserve;
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_quota_test.c"
#endif
