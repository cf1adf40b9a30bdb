/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Memory cgroups (version 2): accounting of memory, and the effect of limits. */
#ifndef FX_CGROUP_H
#define FX_CGROUP_H

#include <stdbool.h>

#include "gpu.h"

/** struct cgroup - one below the root; removed by cgroup_remove() */
struct cgroup {
	char path[96];
};

/** can_limit_memory - whether the kernel has memory cgroups. */
bool can_limit_memory(void);

/** need_cgroup - create one; an empty one of the same name is removed first. */
struct cgroup need_cgroup(const char *name);

/** cgroup_enter - move this process into it. @cgroup: or NULL for the root */
void cgroup_enter(const struct cgroup *cgroup);

/** cgroup_limit - bytes that may be charged to it from now on; existing charges remain. */
void cgroup_limit(const struct cgroup *cgroup, u64 bytes);

/** cgroup_charged - bytes that are charged to it. */
u64 cgroup_charged(const struct cgroup *cgroup);

/** cgroup_remove - remove one without processes. */
void cgroup_remove(const struct cgroup *cgroup);

#endif
