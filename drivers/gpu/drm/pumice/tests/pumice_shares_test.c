// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of pds_shares on older devices and firmware. Part of pumice_shares.c. */
#include <kunit/test.h>

struct shares_fixture {
	struct pumice_device pdev;
	struct pumice_fw_shared shared;
	struct seq_file m;
	char text[512];
};

/* Minor versions of register map and firmware interface. The GPU sleeps: no register is read. */
static struct shares_fixture *shares_fixture(struct kunit *test, u32 map_minor, u32 fw_minor)
{
	struct shares_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->pdev.version = PUMICE_FIELD_PREP(PUMICE_SYS_VERSION__MAJOR, 2) |
			  PUMICE_FIELD_PREP(PUMICE_SYS_VERSION__MINOR, map_minor);
	f->pdev.fw.header.version = 7 << 16 | fw_minor;
	f->pdev.fw.shared = &f->shared;
	mutex_init(&f->pdev.fw.settings_lock);
	f->m.buf = f->text;
	f->m.size = sizeof(f->text) - 1;
	return f;
}

static int shares_test_change(struct shares_fixture *f, const char *words)
{
	char text[TEXT_BYTES];
	int err;

	strscpy(text, words, sizeof(text));
	mutex_lock(&f->pdev.fw.settings_lock);
	err = shares_change(&f->pdev, text);
	mutex_unlock(&f->pdev.fw.settings_lock);
	return err;
}

static const char *shares_test_show(struct shares_fixture *f)
{
	f->m.count = 0;
	memset(f->text, 0, sizeof(f->text));
	shares_print(&f->m, &f->pdev, false);
	return f->text;
}

/* There are contexts of the RDM since register map 2.5 and firmware interface 1.9. */
static void rays_have_a_share_where_they_are_supported(struct kunit *test)
{
	static const struct {
		u32 map_minor, fw_minor;
		bool supported;
	} cases[] = { { 5, 9, true }, { 6, 11, true }, { 4, 9, false }, { 5, 8, false } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct shares_fixture *f = shares_fixture(test, cases[i].map_minor,
							  cases[i].fw_minor);
		const char *text = shares_test_show(f);
		int err = -EOPNOTSUPP;
		u32 cdm = 0, rdm = 0;

		if (cases[i].supported) {
			err = 0;
			cdm = 32;
			rdm = 64;
		}
		KUNIT_EXPECT_NOT_NULL(test, strstr(text, "pdm: 192/256 (default)\n"));
		KUNIT_EXPECT_EQ(test, !!strstr(f->text, "rdm:"), cases[i].supported);
		KUNIT_EXPECT_EQ(test, shares_test_change(f, "rdm=64"), err);
		KUNIT_EXPECT_EQ(test, shares_test_change(f, "rdm=none"), err);
		KUNIT_EXPECT_EQ(test, shares_test_change(f, "rdm=default"), 0);
		KUNIT_EXPECT_EQ(test, shares_test_change(f, "rdm=64 cdm=32"), err);
		KUNIT_EXPECT_EQ(test, f->pdev.fw.pds_shares >> 8 * FWIF_PDS_SHARE_BYTE_RDM, rdm);
		KUNIT_EXPECT_EQ(test, f->pdev.fw.pds_shares & 255, cdm);
		KUNIT_EXPECT_EQ(test, shares_test_change(f, "pdm=16 vdm=none"), 0);
		KUNIT_EXPECT_EQ(test, f->shared.boot.pds_shares, f->pdev.fw.pds_shares);
	}
}

/* The host selects a policy since register map 2.4 and firmware interface 1.11. */
static void policies_are_refused_where_they_are_not_supported(struct kunit *test)
{
	static const struct {
		u32 map_minor, fw_minor;
		int err;
	} cases[] = { { 4, 11, 0 }, { 3, 11, -EOPNOTSUPP }, { 4, 10, -EOPNOTSUPP } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct shares_fixture *f = shares_fixture(test, cases[i].map_minor,
							  cases[i].fw_minor);
		u32 policy = PUMICE_DMS_POLICY_ROUND_ROBIN, vdm = 32;

		if (cases[i].err) {
			policy = 0;
			vdm = 0;
		}
		KUNIT_EXPECT_EQ(test, shares_test_change(f, "policy=graphics"), 0);
		KUNIT_EXPECT_EQ(test, shares_test_change(f, "policy=round-robin vdm=32"),
				cases[i].err);
		KUNIT_EXPECT_EQ(test, f->shared.boot.dms_policy, policy);
		KUNIT_EXPECT_EQ(test, f->pdev.fw.dms_policy, policy);
		KUNIT_EXPECT_EQ(test, f->shared.boot.pds_shares >> 8 & 255, vdm);
	}
}

static struct kunit_case shares_cases[] = {
	KUNIT_CASE(rays_have_a_share_where_they_are_supported),
	KUNIT_CASE(policies_are_refused_where_they_are_not_supported),
	{}
};

static struct kunit_suite shares_suite = {
	.name = "pumice_shares",
	.test_cases = shares_cases,
};

kunit_test_suite(shares_suite);
