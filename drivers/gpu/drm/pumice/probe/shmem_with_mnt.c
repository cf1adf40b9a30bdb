// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/shmem_fs.h>

struct file *probe(struct vfsmount *mount);
struct file *probe(struct vfsmount *mount)
{
	return shmem_file_setup_with_mnt(mount, "probe", PAGE_SIZE, VM_NORESERVE);
}
