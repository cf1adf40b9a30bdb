// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The mode of the GPU: file mode in debugfs.
 *
 * The register changes it only while no data master has a job. The GPU keeps it while it sleeps
 * and over resets.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "pumice_device.h"
#include "pumice_mode.h"
#include "pumice_names.h"
#include "pumice_places.h"
#include "pumice_pm.h"

#define SINCE_MINOR	8	/* minimum minor number of SYS_VERSION */
#define TEXT_BYTES	16

static int mode_write_register(struct pumice_device *pdev, u32 mode)
{
	u32 value;

	pumice_write(pdev, PUMICE_SYS_MODE, mode);
	value = pumice_read(pdev, PUMICE_SYS_MODE);
	/* A device that was removed reads as all ones. */
	if (value == ~0u)
		return -EIO;
	switch (PUMICE_FIELD_GET(PUMICE_SYS_MODE__REFUSED, value)) {
	case PUMICE_MODE_REFUSAL_NONE:
		return 0;
	case PUMICE_MODE_REFUSAL_BUSY:
		return -EBUSY;
	case PUMICE_MODE_REFUSAL_MEMORY:
		return -ENOMEM;
	default:
		return -EOPNOTSUPP;
	}
}

static int mode_set(struct pumice_device *pdev, u32 mode)
{
	int ret, idx;

	ret = pumice_pm_enter(pdev, &idx);
	if (ret)
		return ret;
	/* Two writers must not read the result of each other. */
	mutex_lock(&pdev->reset.lock);
	ret = mode_write_register(pdev, mode);
	mutex_unlock(&pdev->reset.lock);
	pumice_places_update(pdev);
	pumice_places_flush(pdev);
	pumice_pm_leave(pdev, idx);
	return ret;
}

static ssize_t mode_write(struct file *file, const char __user *from, size_t bytes, loff_t *pos)
{
	struct pumice_device *pdev = ((struct seq_file *)file->private_data)->private;
	char text[TEXT_BYTES];
	u32 mode;
	int ret;

	if (bytes >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, bytes))
		return -EFAULT;
	text[bytes] = '\0';
	for (mode = 0; mode < PUMICE_MODE_COUNT; mode++) {
		if (!sysfs_streq(text, pumice_mode_str(mode)))
			continue;
		ret = mode_set(pdev, mode);
		return ret ? ret : bytes;
	}
	return -EINVAL;
}

static int mode_show(struct seq_file *m, void *data)
{
	struct pumice_device *pdev = m->private;
	int ret, idx;
	u32 value;

	ret = pumice_pm_enter(pdev, &idx);
	if (ret)
		return ret;
	value = pumice_read(pdev, PUMICE_SYS_MODE);
	pumice_pm_leave(pdev, idx);
	seq_printf(m, "%s\n", pumice_mode_str(PUMICE_FIELD_GET(PUMICE_SYS_MODE__MODE, value)));
	return 0;
}

static int mode_open(struct inode *inode, struct file *file)
{
	return single_open(file, mode_show, inode->i_private);
}

static const struct file_operations mode_fops = {
	.owner = THIS_MODULE,
	.open = mode_open,
	.read = seq_read,
	.write = mode_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * pumice_mode_init - create the file if the GPU has modes
 * @pdev: device
 * @root: its directory in debugfs
 */
void pumice_mode_init(struct pumice_device *pdev, struct dentry *root)
{
	if (PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, pdev->version) >= SINCE_MINOR)
		debugfs_create_file("mode", 0600, root, pdev, &mode_fops);
}
