// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Findings of mode strict: file findings in debugfs.
 *
 * Source: findings.xml, unit FIND. Reading returns a line for each finding, a JSON object, and
 * {"lost": N} after them if there was no room for N further ones. Writing anything drops all.
 *
 * Findings are stored in the device, and remain when the GPU is reset, as when it goes to sleep.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>

#include "pumice_device.h"
#include "pumice_findings.h"
#include "pumice_pm.h"

#define SINCE_MINOR	12	/* minimum minor number of SYS_VERSION */
#define MAX_FINDINGS	256	/* that are read: as many as a device stores */

/* Guards FIND_SELECT until the text is read. Held for one finding at a time. */
static DEFINE_MUTEX(select_lock);

/* Print the text of a finding; nothing if there is none, or the device was removed. */
static void findings_print(struct seq_file *m, struct pumice_device *pdev, u32 number)
{
	__le64 words[PUMICE_FIND_TEXT_COUNT + 1] = { 0 };
	const char *text = (const char *)words;
	u32 n;

	mutex_lock(&select_lock);
	pumice_write(pdev, PUMICE_FIND_SELECT, number);
	for (n = 0; n < PUMICE_FIND_TEXT_COUNT; n++) {
		const u64 word = pumice_read64(pdev, PUMICE_FIND_TEXT(n));

		words[n] = cpu_to_le64(word);
		if (!(word >> 56) || word == U64_MAX)
			break;
	}
	mutex_unlock(&select_lock);
	if (text[0] == '{')
		seq_printf(m, "%s\n", text);
}

static int findings_show(struct seq_file *m, void *data)
{
	struct pumice_device *pdev = m->private;
	int ret, idx;
	u64 lost;
	u32 i, count;

	ret = pumice_pm_enter(pdev, &idx);
	if (ret)
		return ret;
	count = pumice_read(pdev, PUMICE_FIND_COUNT);
	if (count == U32_MAX)
		count = 0;	/* the GPU was removed */
	count = min_t(u32, count, MAX_FINDINGS);
	for (i = 0; i < count; i++)
		findings_print(m, pdev, i);
	lost = pumice_read64(pdev, PUMICE_FIND_LOST);
	if (lost && lost != U64_MAX)
		seq_printf(m, "{\"lost\": %llu}\n", lost);
	pumice_pm_leave(pdev, idx);
	return 0;
}

static ssize_t findings_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
	struct pumice_device *pdev = ((struct seq_file *)file->private_data)->private;
	int ret, idx;

	ret = pumice_pm_enter(pdev, &idx);
	if (ret)
		return ret;
	pumice_write(pdev, PUMICE_FIND_COUNT, 0);
	pumice_pm_leave(pdev, idx);
	return bytes;
}

/* The size avoids that the registers are read again with a larger buffer. */
static int findings_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, findings_show, inode->i_private, SZ_256K);
}

static const struct file_operations findings_fops = {
	.owner = THIS_MODULE,
	.open = findings_open,
	.read = seq_read,
	.write = findings_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * pumice_findings_init - create the file if the GPU has the registers
 * @pdev: device
 * @root: its directory in debugfs
 */
void pumice_findings_init(struct pumice_device *pdev, struct dentry *root)
{
	if (PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, pdev->version) >= SINCE_MINOR)
		debugfs_create_file("findings", 0600, root, pdev, &findings_fops);
}
