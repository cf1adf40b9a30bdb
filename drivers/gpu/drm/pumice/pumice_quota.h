/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shares of the resources common to all users of a GPU. */
#ifndef PUMICE_QUOTA_H
#define PUMICE_QUOTA_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/xarray.h>

struct pumice_device;
struct pumice_file;

/**
 * enum pumice_resource - limited resources
 */
enum pumice_resource {
	/** @PUMICE_RESOURCE_CONTEXTS: context ids of the firmware */
	PUMICE_RESOURCE_CONTEXTS,
	/** @PUMICE_RESOURCE_MEMORY: memory shared with the firmware, bytes */
	PUMICE_RESOURCE_MEMORY,
	PUMICE_RESOURCE_COUNT
};

/**
 * struct pumice_share - resources used by one file or one user; under pumice_quota.lock
 */
struct pumice_share {
	/** @refs: one for the file (none for a user), and one for each charge */
	u32 refs;
	/** @used: amount of each resource */
	u32 used[PUMICE_RESOURCE_COUNT];
};

/**
 * struct pumice_quota - use of the common resources of a GPU
 */
struct pumice_quota {
	/** @lock: guards all fields and all shares; no lock is acquired inside */
	struct mutex lock;
	/** @used: amount of each resource in use by users */
	u32 used[PUMICE_RESOURCE_COUNT];
	/** @users: struct pumice_share by user id, of users with a charge */
	struct xarray users;
};

/**
 * struct pumice_charge - one use of a resource; all zero: nothing is charged
 */
struct pumice_charge {
	/** @file: share of the file, with a reference; NULL: nothing is charged */
	struct pumice_share *file;
	/** @user: share of the user, with a reference */
	struct pumice_share *user;
	/** @uid: key of @user */
	u32 uid;
	/** @resource: enum pumice_resource */
	u32 resource;
	/** @amount: amount of @resource */
	u32 amount;
};

void pumice_quota_init(struct pumice_device *pdev);
void pumice_quota_fini(struct pumice_device *pdev);
struct pumice_share *pumice_quota_open(void);
void pumice_quota_close(struct pumice_device *pdev, struct pumice_share *share);

void pumice_quota_settle(struct pumice_file *file, enum pumice_resource resource, u32 amount);
int pumice_quota_charge(struct pumice_file *file, enum pumice_resource resource, u32 amount,
			struct pumice_charge *charge);
void pumice_quota_uncharge(struct pumice_device *pdev, struct pumice_charge *charge);
bool pumice_quota_privileged(void);
u32 pumice_quota_total(const struct pumice_device *pdev, enum pumice_resource resource);
u32 pumice_quota_reserve(const struct pumice_device *pdev, enum pumice_resource resource);

#endif
