// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Fault injection: the debugfs file inject.
 *
 * Source: registers.xml, unit INJ. Writing to the file requests a fault from the GPU:
 *
 *	KIND[,where=WHERE][,bit=N][,us=N][,skip=N][,count=N|endless]
 *
 * or, with "none", disarms all faults. Names are those of enum inject_kind and inject_where in
 * lower case, with - for _. Reading lists the kinds, with the remaining occasions of each and
 * the number of times that it has occurred.
 *
 * Limits: exists only on GPUs with fault injection for tests (INJ_CAPS).
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "pumice_device.h"
#include "pumice_inject.h"
#include "pumice_names.h"
#include "pumice_pm.h"

#define TEXT_BYTES	160
#define SINCE_MINOR	1	/* minimum minor number of SYS_VERSION */
#define ENDLESS		U32_MAX
#define FIRST_ALLOWED	U32_MAX	/* value of where, unless specified */

/* A request, in the format of the registers. */
struct request {
	u32 kind;
	u32 where;
	u32 bit;
	u32 us;
	u32 skip;
	u32 count;
};

/* Return the number of a name, or -EINVAL. */
static int inject_find_name(const char *name, const char *(*text_of)(u32 value), u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (!strcmp(name, text_of(i)))
			return i;
	return -EINVAL;
}

/* Parse KEY=VALUE. */
static int inject_parse_option(char *text, struct request *request)
{
	char *value = strchr(text, '=');
	int where;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(text, "bit"))
		return kstrtou32(value, 0, &request->bit);
	if (!strcmp(text, "us"))
		return kstrtou32(value, 0, &request->us);
	if (!strcmp(text, "skip"))
		return kstrtou32(value, 0, &request->skip);
	if (!strcmp(text, "count") && !strcmp(value, "endless")) {
		request->count = ENDLESS;
		return 0;
	}
	if (!strcmp(text, "count"))
		return kstrtou32(value, 0, &request->count);
	if (strcmp(text, "where"))
		return -EINVAL;
	where = inject_find_name(value, pumice_inject_where_str, PUMICE_INJECT_WHERE_COUNT);
	request->where = where;
	return where < 0 ? where : 0;
}

static int inject_parse(char *text, struct request *request)
{
	char *word = strsep(&text, ",");
	int ret = inject_find_name(word, pumice_inject_kind_str, PUMICE_INJECT_KIND_COUNT);

	*request = (struct request){ .kind = ret, .where = FIRST_ALLOWED, .count = 1 };
	if (ret > 0)
		ret = 0;
	while (!ret && (word = strsep(&text, ",")))
		ret = inject_parse_option(word, request);
	return ret;
}

static bool inject_try_where(struct pumice_device *pdev, u32 where)
{
	pumice_write(pdev, PUMICE_INJ_WHERE, where);
	pumice_write(pdev, PUMICE_INJ_CTRL, PUMICE_INJ_CTRL__ARM__MASK);
	return pumice_read(pdev, PUMICE_INJ_STATUS) & PUMICE_INJ_STATUS__ARMED__MASK;
}

/* Arm a fault. Resets of the GPU clear these registers, but not what is armed. */
static int inject_arm_locked(struct pumice_device *pdev, const struct request *request)
{
	u32 where;

	lockdep_assert_held(&pdev->reset.lock);
	pumice_write(pdev, PUMICE_INJ_KIND, request->kind);
	pumice_write(pdev, PUMICE_INJ_BIT, request->bit);
	pumice_write(pdev, PUMICE_INJ_TIME, request->us);
	pumice_write(pdev, PUMICE_INJ_SKIP, request->skip);
	pumice_write(pdev, PUMICE_INJ_COUNT, request->count);
	if (request->where != FIRST_ALLOWED)
		return inject_try_where(pdev, request->where) ? 0 : -EINVAL;
	for (where = 0; where < PUMICE_INJECT_WHERE_COUNT; where++)
		if (inject_try_where(pdev, where))
			return 0;
	return -EINVAL;
}

/* Arm @request, or with NULL disarm all faults. */
static int inject_send(struct pumice_device *pdev, const struct request *request)
{
	int ret, idx;

	ret = pumice_pm_enter(pdev, &idx);
	if (ret)
		return ret;
	mutex_lock(&pdev->reset.lock);
	if (request)
		ret = inject_arm_locked(pdev, request);
	else
		pumice_write(pdev, PUMICE_INJ_CTRL, PUMICE_INJ_CTRL__CLEAR__MASK);
	mutex_unlock(&pdev->reset.lock);
	pumice_pm_leave(pdev, idx);
	return ret;
}

static ssize_t inject_write(struct file *file, const char __user *from, size_t bytes, loff_t *pos)
{
	struct pumice_device *pdev = ((struct seq_file *)file->private_data)->private;
	char text[TEXT_BYTES];
	struct request request;
	int ret;

	if (bytes >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, bytes))
		return -EFAULT;
	text[bytes] = '\0';
	strim(text);
	if (!strcmp(text, "none")) {
		ret = inject_send(pdev, NULL);
	} else {
		ret = inject_parse(text, &request);
		if (!ret)
			ret = inject_send(pdev, &request);
	}
	return ret ? ret : bytes;
}

static int inject_show(struct seq_file *m, void *data)
{
	struct pumice_device *pdev = m->private;
	int ret, idx;
	u32 kind;

	ret = pumice_pm_enter(pdev, &idx);
	if (ret)
		return ret;
	for (kind = 1; kind < PUMICE_INJECT_KIND_COUNT; kind++)
		seq_printf(m, "%s: %u left, %u times\n", pumice_inject_kind_str(kind),
			   pumice_read(pdev, PUMICE_INJ_LEFT(kind)),
			   pumice_read(pdev, PUMICE_INJ_HITS(kind)));
	pumice_pm_leave(pdev, idx);
	return 0;
}

static int inject_open(struct inode *inode, struct file *file)
{
	return single_open(file, inject_show, inode->i_private);
}

static const struct file_operations inject_fops = {
	.owner = THIS_MODULE,
	.open = inject_open,
	.read = seq_read,
	.write = inject_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* Return whether the GPU has the unit; a GPU with an older register map does not. */
static bool inject_can_inject(struct pumice_device *pdev)
{
	return PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, pdev->version) >= SINCE_MINOR &&
	       pumice_read(pdev, PUMICE_INJ_CAPS) & PUMICE_INJ_CAPS__ENABLED__MASK;
}

/**
 * pumice_inject_init - create the file if the GPU supports fault injection
 * @pdev: device, awake
 * @root: its directory in debugfs
 */
void pumice_inject_init(struct pumice_device *pdev, struct dentry *root)
{
	if (inject_can_inject(pdev))
		debugfs_create_file("inject", 0600, root, pdev, &inject_fops);
}
