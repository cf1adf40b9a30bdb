// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Shares of the data masters, and the policy of their selector: pds_shares in debugfs.
 *
 * While several data masters have jobs, the firmware limits each to its share of the slots and
 * stores of each USC, and sets the policy by which they wait for each other (struct fwif_boot).
 * Root may change them; they are those of the whole GPU.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>

#include "pumice_device.h"
#include "pumice_fw.h"
#include "pumice_names.h"
#include "pumice_pm.h"
#include "pumice_shares.h"

#define SHARE_BITS	8
#define SHARE_ONE	256
#define SHARE_NONE	255	/* no limit */
#define TEXT_BYTES	128
#define POLICY		"policy="

static const struct {
	const char *name;
	u32 initial;		/* share of the firmware */
	u32 first;		/* register of its first limit */
	bool local;		/* has local memory */
} masters[] = {
	[FWIF_DM_CDM] = { "cdm", FWIF_PDS_SHARE_CDM, PUMICE_PDS_CDM_TASKS, true },
	[FWIF_DM_VDM] = { "vdm", FWIF_PDS_SHARE_VDM, PUMICE_PDS_VDM_TASKS, false },
	[FWIF_DM_PDM] = { "pdm", FWIF_PDS_SHARE_PDM, PUMICE_PDS_PDM_TASKS, false },
	[FWIF_PDS_SHARE_BYTE_RDM] = { "rdm", FWIF_PDS_SHARE_RDM, PUMICE_PDS_RDM_TASKS, false },
};

static const char *const resources[] = { "tasks", "unified", "common", "local" };

/* Return whether device and firmware have this data master: the RDM is newer than the others. */
static bool shares_has_master(const struct pumice_device *pdev, u32 dm)
{
	return dm != FWIF_PDS_SHARE_BYTE_RDM ||
	       pumice_device_supports(pdev, FWIF_RDM_SINCE_MAP, FWIF_RDM_SINCE);
}

/* Print the limits that the firmware has set, of one USC. */
static void shares_print_limits(struct seq_file *m, struct pumice_device *pdev, u32 dm)
{
	u32 i, limit, count = ARRAY_SIZE(resources) - !masters[dm].local;

	for (i = 0; i < count; i++) {
		limit = pumice_read(pdev, masters[dm].first + 4 * i);
		if (limit)
			seq_printf(m, ", %s %u", resources[i], limit);
		else
			seq_printf(m, ", %s all", resources[i]);
	}
}

/* Return whether device and firmware have a policy that the driver selects. */
static bool shares_has_policy(const struct pumice_device *pdev)
{
	return pumice_device_supports(pdev, FWIF_DMS_POLICY_SINCE_MAP, FWIF_DMS_POLICY_SINCE);
}

/* Print the policy, and the one that the firmware has set. */
static void shares_print_policy(struct seq_file *m, struct pumice_device *pdev, bool awake)
{
	u32 set;

	seq_printf(m, "policy: %s", pumice_dms_policy_str(READ_ONCE(pdev->fw.dms_policy)));
	if (awake && shares_has_policy(pdev)) {
		set = pumice_read(pdev, PUMICE_PDS_DMS_POLICY);
		set = PUMICE_FIELD_GET(PUMICE_PDS_DMS_POLICY__POLICY, set);
		seq_printf(m, ", now %s", pumice_dms_policy_str(set));
	}
	seq_putc(m, '\n');
}

/* Print the share of each data master, and if @awake what the firmware has set. */
static void shares_print(struct seq_file *m, struct pumice_device *pdev, bool awake)
{
	u32 dm, share, shares = READ_ONCE(pdev->fw.pds_shares);

	for (dm = 0; dm < ARRAY_SIZE(masters); dm++) {
		if (!shares_has_master(pdev, dm))
			continue;
		share = shares >> dm * SHARE_BITS & SHARE_NONE;
		if (share == SHARE_NONE)
			seq_printf(m, "%s: none", masters[dm].name);
		else
			seq_printf(m, "%s: %u/%u%s", masters[dm].name,
				   share ?: masters[dm].initial, SHARE_ONE,
				   share ? "" : " (default)");
		if (awake)
			shares_print_limits(m, pdev, dm);
		seq_putc(m, '\n');
	}
	shares_print_policy(m, pdev, awake);
}

static int pumice_shares_show(struct seq_file *m, void *data)
{
	struct pumice_device *pdev = m->private;
	bool awake;
	int idx;

	if (!drm_dev_enter(&pdev->drm, &idx))
		return -ENODEV;
	awake = pumice_pm_get_if_awake(pdev);
	shares_print(m, pdev, awake);
	if (awake)
		pumice_pm_put(pdev);
	drm_dev_exit(idx);
	return 0;
}

/* Parse "none", "default" or 1 to 254. Return: the share, or a negative error. */
static int shares_parse_value(const char *text)
{
	u8 share;
	int err;

	if (!strcmp(text, "default"))
		return 0;
	if (!strcmp(text, "none"))
		return SHARE_NONE;
	err = kstrtou8(text, 10, &share);
	return err ?: !share || share == SHARE_NONE ? -EINVAL : share;
}

/* Parse the name of a policy. */
static int shares_parse_policy(const char *name, u32 *policy)
{
	u32 i;

	for (i = 0; i < PUMICE_DMS_POLICY_COUNT; i++) {
		if (strcmp(name, pumice_dms_policy_str(i)))
			continue;
		*policy = i;
		return 0;
	}
	return -EINVAL;
}

/* Apply one "NAME=VALUE" to the shares or the policy. */
static int shares_parse(char *word, u32 *shares, u32 *policy)
{
	char *value = strchr(word, '=');
	int share;
	u32 dm;

	if (strstarts(word, POLICY))
		return shares_parse_policy(word + strlen(POLICY), policy);
	if (!value)
		return -EINVAL;
	*value++ = '\0';
	for (dm = 0; dm < ARRAY_SIZE(masters); dm++)
		if (!strcmp(word, masters[dm].name))
			break;
	share = shares_parse_value(value);
	if (dm == ARRAY_SIZE(masters) || share < 0)
		return -EINVAL;
	*shares &= ~((u32)SHARE_NONE << dm * SHARE_BITS);
	*shares |= (u32)share << dm * SHARE_BITS;
	return 0;
}

/* Return whether the firmware, which may be older, applies all that differs from the default. */
static bool shares_supported(const struct pumice_device *pdev, u32 shares, u32 policy)
{
	u32 dm;

	for (dm = 0; dm < ARRAY_SIZE(masters); dm++)
		if (shares >> dm * SHARE_BITS & SHARE_NONE && !shares_has_master(pdev, dm))
			return false;
	return !policy || shares_has_policy(pdev);
}

/* Apply all words, or none if one is not accepted. */
static int shares_change(struct pumice_device *pdev, char *text)
{
	u32 shares = pdev->fw.pds_shares, policy = pdev->fw.dms_policy;
	char *word;
	int err;

	lockdep_assert_held(&pdev->fw.settings_lock);
	while ((word = strsep(&text, "\n "))) {
		err = *word ? shares_parse(word, &shares, &policy) : 0;
		if (err)
			return err;
	}
	if (!shares_supported(pdev, shares, policy))
		return -EOPNOTSUPP;
	WRITE_ONCE(pdev->fw.pds_shares, shares);
	WRITE_ONCE(pdev->fw.dms_policy, policy);
	/* Read by the firmware when a job begins or ends; each boot sets them again. */
	WRITE_ONCE(pdev->fw.shared->boot.pds_shares, shares);
	WRITE_ONCE(pdev->fw.shared->boot.dms_policy, policy);
	return 0;
}

static ssize_t pumice_shares_write(struct file *file, const char __user *from, size_t bytes,
				   loff_t *offset)
{
	struct pumice_device *pdev = file_inode(file)->i_private;
	char text[TEXT_BYTES];
	int err, idx;

	if (bytes >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, bytes))
		return -EFAULT;
	text[bytes] = '\0';
	if (!drm_dev_enter(&pdev->drm, &idx))
		return -ENODEV;
	mutex_lock(&pdev->fw.settings_lock);
	err = shares_change(pdev, text);
	mutex_unlock(&pdev->fw.settings_lock);
	drm_dev_exit(idx);
	return err ?: bytes;
}

DEFINE_SHOW_STORE_ATTRIBUTE(pumice_shares);

/**
 * pumice_shares_init - create the file
 * @pdev: device
 * @root: its folder in debugfs
 *
 * Context: Process context.
 */
void pumice_shares_init(struct pumice_device *pdev, struct dentry *root)
{
	debugfs_create_file("pds_shares", 0600, root, pdev, &pumice_shares_fops);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_shares_test.c"
#endif
