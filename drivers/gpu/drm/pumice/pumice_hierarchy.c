// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Counts of the memory hierarchy: file hierarchy in debugfs.
 *
 * Source: registers.xml, unit HIER; hw/hier.h has the columns. The file has a line of names and a
 * line for each client, an empty line, and the same for each level of caches. Values are decimal.
 *
 * A reset clears the counts, and a GPU that goes to sleep is reset: they are added to sums before.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>

#include "hier.h"
#include "pumice_device.h"
#include "pumice_hierarchy.h"
#include "pumice_names.h"
#include "pumice_pm.h"

#define SINCE_MINOR	9	/* minimum minor number of SYS_VERSION */
#define SLC_ROW		(PUMICE_MEM_CLIENT_COUNT + PUMICE_CACHE_SLC)

static_assert(PUMICE_HIER_CLIENT_NUMBER <= PUMICE_HIER_VALUE_COUNT);
static_assert(PUMICE_HIER_LEVEL_NUMBER <= PUMICE_HIER_VALUE_COUNT);

#define COLUMN(name, description) " " #name
static const char client_columns[] = "client" PUMICE_HIER_CLIENT_COLUMNS(COLUMN) "\n";
static const char level_columns[] = "level" PUMICE_HIER_LEVEL_COLUMNS(COLUMN) "\n";
#undef COLUMN

static bool hierarchy_is_counted(const struct pumice_device *pdev)
{
	return PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, pdev->version) >= SINCE_MINOR;
}

/* Select a row by its index in struct pumice_hierarchy: clients, then levels. */
static void hierarchy_select(struct pumice_device *pdev, u32 row)
{
	if (row >= PUMICE_MEM_CLIENT_COUNT)
		row += PUMICE_HIER_FIRST_LEVEL - PUMICE_MEM_CLIENT_COUNT;
	pumice_write(pdev, PUMICE_HIER_SELECT, row);
}

/* Return a value of the selected row; 0 if the device was removed, which reads as all ones. */
static u64 hierarchy_read(struct pumice_device *pdev, u32 column)
{
	u64 value = pumice_read64(pdev, PUMICE_HIER_VALUE(column));

	return value == U64_MAX ? 0 : value;
}

/**
 * pumice_hierarchy_keep - add the counts to their sums before the GPU is reset
 * @pdev: device, under reset.lock or where the file is not read
 *
 * Reads two registers if nothing has been counted, as in mode fast.
 */
void pumice_hierarchy_keep(struct pumice_device *pdev)
{
	u32 row, n;

	if (!hierarchy_is_counted(pdev))
		return;
	hierarchy_select(pdev, SLC_ROW);
	if (!hierarchy_read(pdev, PUMICE_HIER_LEVEL_REQUESTS))
		return;
	for (row = 0; row < ARRAY_SIZE(pdev->hierarchy.sum); row++) {
		hierarchy_select(pdev, row);
		for (n = 0; n < PUMICE_HIER_VALUE_COUNT; n++)
			pdev->hierarchy.sum[row][n] += hierarchy_read(pdev, n);
	}
}

static void hierarchy_print_row_locked(struct seq_file *m, struct pumice_device *pdev,
				       const char *name, u32 row, u32 columns)
{
	u32 n;

	lockdep_assert_held(&pdev->reset.lock);
	hierarchy_select(pdev, row);
	seq_puts(m, name);
	for (n = 0; n < columns; n++)
		seq_printf(m, " %llu", pdev->hierarchy.sum[row][n] + hierarchy_read(pdev, n));
	seq_putc(m, '\n');
}

static int hierarchy_show(struct seq_file *m, void *data)
{
	struct pumice_device *pdev = m->private;
	int ret, idx;
	u32 i;

	ret = pumice_pm_enter(pdev, &idx);
	if (ret)
		return ret;
	/* Two readers must not change the selection of each other, nor a reset the sums. */
	mutex_lock(&pdev->reset.lock);
	seq_puts(m, client_columns);
	for (i = 0; i < PUMICE_MEM_CLIENT_COUNT; i++)
		hierarchy_print_row_locked(m, pdev, pumice_mem_client_str(i), i,
					   PUMICE_HIER_CLIENT_NUMBER);
	seq_putc(m, '\n');
	seq_puts(m, level_columns);
	for (i = 0; i < PUMICE_CACHE_COUNT; i++)
		hierarchy_print_row_locked(m, pdev, pumice_cache_str(i),
					   PUMICE_MEM_CLIENT_COUNT + i, PUMICE_HIER_LEVEL_NUMBER);
	mutex_unlock(&pdev->reset.lock);
	pumice_pm_leave(pdev, idx);
	return 0;
}

/* The size avoids that the registers are read again with a larger buffer. */
static int hierarchy_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, hierarchy_show, inode->i_private, SZ_16K);
}

static const struct file_operations hierarchy_fops = {
	.owner = THIS_MODULE,
	.open = hierarchy_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * pumice_hierarchy_init - create the file if the GPU has the counts
 * @pdev: device
 * @root: its directory in debugfs
 */
void pumice_hierarchy_init(struct pumice_device *pdev, struct dentry *root)
{
	if (hierarchy_is_counted(pdev))
		debugfs_create_file("hierarchy", 0400, root, pdev, &hierarchy_fops);
}
