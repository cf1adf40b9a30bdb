// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Tests of the connection of a virtual GPU. Part of pumice_vgpu.c.
 *
 * Registers are plain memory: a read returns the last value written. The test acts as the firmware,
 * and has its reply in memory before the driver requests it.
 */
#include <kunit/device.h>
#include <kunit/test.h>

#define TEST_BUILD	"build of the test"
#define TEST_BOOT_ADDR	0x10010000u

struct vgpu_fixture {
	struct pumice_device pdev;
	struct pumice_fw_shared shared;
	struct pumice_fw_obj obj;
};

/* Create virtual GPU 1, whose firmware has replied with this state. */
static struct vgpu_fixture *vgpu_fixture(struct kunit *test, u32 state)
{
	struct vgpu_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "pumice-vgpu");

	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	dev->dma_mask = &dev->coherent_dma_mask;
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(dev, DMA_BIT_MASK(48)), 0);
	f->pdev.drm.dev = dev;
	f->pdev.os = 1;
	f->pdev.oses = 2;
	f->pdev.regs = (void __iomem *)kunit_kzalloc(test, SZ_64K, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, (void __force *)f->pdev.regs);
	f->pdev.fw_mem.mmu = pumice_mmu_create(&f->pdev);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->pdev.fw_mem.mmu);
	f->obj.addr = TEST_BOOT_ADDR;
	f->pdev.fw.shared = &f->shared;
	f->pdev.fw.shared_obj = &f->obj;
	f->shared.boot.state = state;
	f->shared.boot.fw_version = FWIF_VERSION_MAJOR << 16 | 7;
	strscpy(f->shared.boot.build_id, TEST_BUILD, sizeof(f->shared.boot.build_id));
	pumice_vgpu_init(&f->pdev);
	test->priv = f;
	return f;
}

static void vgpu_exit(struct kunit *test)
{
	struct vgpu_fixture *f = test->priv;

	if (f && !IS_ERR_OR_NULL(f->pdev.fw_mem.mmu))
		pumice_mmu_destroy(f->pdev.fw_mem.mmu);
}

/* Return OS_CATALOGUE as it has to be while the memory is enabled. */
static u64 enabled(const struct vgpu_fixture *f)
{
	return pumice_mmu_catalogue(f->pdev.fw_mem.mmu) | PUMICE_OS_CATALOGUE__ENABLE__MASK;
}

static void connection_begins_with_memory_and_boot_structure(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_READY);

	KUNIT_EXPECT_EQ(test, pumice_vgpu_connect(&f->pdev), 0);
	KUNIT_EXPECT_EQ(test, pumice_read64(&f->pdev, PUMICE_OS_CATALOGUE), enabled(f));
	KUNIT_EXPECT_EQ(test, pumice_read(&f->pdev, PUMICE_OS_BOOT_ARG), TEST_BOOT_ADDR);
	KUNIT_EXPECT_EQ(test, pumice_read(&f->pdev, PUMICE_OS_CTRL),
			PUMICE_OS_CTRL__CONNECT__MASK);
	KUNIT_EXPECT_EQ(test, f->pdev.fw.header.version, FWIF_VERSION_MAJOR << 16 | 7);
	KUNIT_EXPECT_STREQ(test, f->pdev.fw.header.build_id, TEST_BUILD);
	KUNIT_EXPECT_TRUE(test, f->pdev.vgpu.was_connected);
}

static void connection_that_the_firmware_refuses_fails(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_REFUSED);

	f->shared.boot.error = FWIF_ERROR_VERSION;
	KUNIT_EXPECT_EQ(test, pumice_vgpu_connect(&f->pdev), -EIO);
	KUNIT_EXPECT_FALSE(test, f->pdev.vgpu.was_connected);
}

static void firmware_of_another_major_version_is_refused(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_READY);

	f->shared.boot.fw_version += 1 << 16;
	KUNIT_EXPECT_EQ(test, pumice_vgpu_connect(&f->pdev), -EIO);
	KUNIT_EXPECT_FALSE(test, f->pdev.vgpu.was_connected);
}

static void firmware_is_not_replaced_by_an_older_one(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_READY);

	KUNIT_ASSERT_EQ(test, pumice_vgpu_connect(&f->pdev), 0);
	f->shared.boot.fw_version -= 1;
	KUNIT_EXPECT_EQ(test, pumice_vgpu_connect(&f->pdev), -EIO);
	f->shared.boot.fw_version += 2;
	KUNIT_EXPECT_EQ(test, pumice_vgpu_connect(&f->pdev), 0);
	KUNIT_EXPECT_EQ(test, f->pdev.fw.header.version, FWIF_VERSION_MAJOR << 16 | 8);
}

/* Number 0 resets the GPU before each boot. */
static void request_that_a_reset_discarded_is_repeated(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_OFF);

	KUNIT_EXPECT_FALSE(test, vgpu_has_reply(&f->pdev));
	KUNIT_EXPECT_EQ(test, pumice_read64(&f->pdev, PUMICE_OS_CATALOGUE), enabled(f));
	KUNIT_EXPECT_EQ(test, pumice_read(&f->pdev, PUMICE_OS_BOOT_ARG), TEST_BOOT_ADDR);
	KUNIT_EXPECT_EQ(test, pumice_read(&f->pdev, PUMICE_OS_CTRL),
			PUMICE_OS_CTRL__CONNECT__MASK);
	/* One that the firmware has not seen yet is not. */
	pumice_write(&f->pdev, PUMICE_OS_BOOT_ARG, 0);
	KUNIT_EXPECT_FALSE(test, vgpu_has_reply(&f->pdev));
	KUNIT_EXPECT_EQ(test, pumice_read(&f->pdev, PUMICE_OS_BOOT_ARG), 0);
	f->shared.boot.state = FWIF_STATE_READY;
	KUNIT_EXPECT_TRUE(test, vgpu_has_reply(&f->pdev));
}

/* CTRL is the last write of a request: a reset before it leaves CTRL alone. */
static void request_that_a_reset_cut_is_repeated(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_OFF);

	pumice_write(&f->pdev, PUMICE_OS_CTRL, PUMICE_OS_CTRL__CONNECT__MASK);
	KUNIT_EXPECT_FALSE(test, vgpu_has_reply(&f->pdev));
	KUNIT_EXPECT_EQ(test, pumice_read64(&f->pdev, PUMICE_OS_CATALOGUE), enabled(f));
	KUNIT_EXPECT_EQ(test, pumice_read(&f->pdev, PUMICE_OS_BOOT_ARG), TEST_BOOT_ADDR);
}

static void removed_gpu_is_not_awaited(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_OFF);

	pumice_write(&f->pdev, PUMICE_OS_CTRL, U32_MAX);
	KUNIT_EXPECT_TRUE(test, vgpu_has_reply(&f->pdev));
	f->pdev.drm.unplugged = true;
	pumice_write(&f->pdev, PUMICE_OS_CTRL, PUMICE_OS_CTRL__CONNECT__MASK);
	KUNIT_EXPECT_TRUE(test, vgpu_has_reply(&f->pdev));
	KUNIT_EXPECT_EQ(test, pumice_vgpu_connect(&f->pdev), -ENODEV);
}

static void end_of_the_connection_disables_the_memory(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_READY);

	KUNIT_ASSERT_EQ(test, pumice_vgpu_connect(&f->pdev), 0);
	KUNIT_EXPECT_EQ(test, pumice_vgpu_disconnect(&f->pdev), 0);
	KUNIT_EXPECT_EQ(test, pumice_read64(&f->pdev, PUMICE_OS_CATALOGUE), 0);
	KUNIT_EXPECT_EQ(test, pumice_read(&f->pdev, PUMICE_OS_CTRL), 0);
}

static void connection_ends_when_the_firmware_uses_nothing(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_READY);

	pumice_write(&f->pdev, PUMICE_OS_CTRL, PUMICE_OS_CTRL__CONNECTED__MASK);
	KUNIT_EXPECT_FALSE(test, vgpu_is_disconnected(&f->pdev));
	pumice_write(&f->pdev, PUMICE_OS_CTRL, 0);
	KUNIT_EXPECT_TRUE(test, vgpu_is_disconnected(&f->pdev));
	pumice_write(&f->pdev, PUMICE_OS_CTRL, U32_MAX);
	KUNIT_EXPECT_TRUE(test, vgpu_is_disconnected(&f->pdev));
}

static void invalidation_does_not_enable_memory(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_READY);

	pumice_vgpu_invalidate(&f->pdev);
	KUNIT_EXPECT_EQ(test, pumice_read64(&f->pdev, PUMICE_OS_CATALOGUE), 0);
	KUNIT_ASSERT_EQ(test, pumice_vgpu_connect(&f->pdev), 0);
	/* The write is the operation, whatever the value was before. */
	pumice_write64(&f->pdev, PUMICE_OS_CATALOGUE, 0);
	pumice_vgpu_invalidate(&f->pdev);
	KUNIT_EXPECT_EQ(test, pumice_read64(&f->pdev, PUMICE_OS_CATALOGUE), enabled(f));
	KUNIT_ASSERT_EQ(test, pumice_vgpu_disconnect(&f->pdev), 0);
	pumice_vgpu_invalidate(&f->pdev);
	KUNIT_EXPECT_EQ(test, pumice_read64(&f->pdev, PUMICE_OS_CATALOGUE), 0);
}

static void connection_is_lost_when_others_ended_it(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_READY);

	KUNIT_ASSERT_EQ(test, pumice_vgpu_connect(&f->pdev), 0);
	/* Not before the driver uses the connection. */
	pumice_write(&f->pdev, PUMICE_OS_CTRL, 0);
	KUNIT_EXPECT_FALSE(test, pumice_vgpu_is_lost(&f->pdev));
	f->pdev.fw.ready = true;
	KUNIT_EXPECT_TRUE(test, pumice_vgpu_is_lost(&f->pdev));
	pumice_write(&f->pdev, PUMICE_OS_CTRL, PUMICE_OS_CTRL__CONNECT__MASK);
	KUNIT_EXPECT_FALSE(test, pumice_vgpu_is_lost(&f->pdev));
	pumice_write(&f->pdev, PUMICE_OS_CTRL, U32_MAX);
	KUNIT_EXPECT_TRUE(test, pumice_vgpu_is_lost(&f->pdev));
	/* Number 0 resets the GPU itself. */
	f->pdev.os = 0;
	KUNIT_EXPECT_FALSE(test, pumice_vgpu_is_lost(&f->pdev));
}

/* Set registers that describe a virtual GPU, and return whether the driver supports it. */
static int identify(struct vgpu_fixture *f, u32 minor, u32 os, u32 oses)
{
	f->pdev.version = PUMICE_FIELD_PREP(PUMICE_SYS_VERSION__MINOR, minor);
	pumice_write(&f->pdev, PUMICE_OS_INFO, PUMICE_FIELD_PREP(PUMICE_OS_INFO__NUMBER, os) |
		     PUMICE_FIELD_PREP(PUMICE_OS_INFO__OSES, oses));
	return pumice_vgpu_identify(&f->pdev);
}

static void function_must_be_one_of_several(struct kunit *test)
{
	struct vgpu_fixture *f = vgpu_fixture(test, FWIF_STATE_OFF);

	KUNIT_EXPECT_EQ(test, identify(f, SYS_SINCE, 1, 2), 0);
	KUNIT_EXPECT_EQ(test, identify(f, SYS_SINCE, PUMICE_OS_COUNT - 1, PUMICE_OS_COUNT), 0);
	KUNIT_EXPECT_EQ(test, identify(f, SYS_SINCE - 1, 1, 2), -ENODEV);
	KUNIT_EXPECT_EQ(test, identify(f, SYS_SINCE, 0, 2), -ENODEV);
	KUNIT_EXPECT_EQ(test, identify(f, SYS_SINCE, 2, 2), -ENODEV);
	KUNIT_EXPECT_EQ(test, identify(f, SYS_SINCE, 1, PUMICE_OS_COUNT + 1), -ENODEV);
}

static struct kunit_case vgpu_cases[] = {
	KUNIT_CASE(connection_begins_with_memory_and_boot_structure),
	KUNIT_CASE(connection_that_the_firmware_refuses_fails),
	KUNIT_CASE(firmware_of_another_major_version_is_refused),
	KUNIT_CASE(firmware_is_not_replaced_by_an_older_one),
	KUNIT_CASE(request_that_a_reset_discarded_is_repeated),
	KUNIT_CASE(request_that_a_reset_cut_is_repeated),
	KUNIT_CASE(removed_gpu_is_not_awaited),
	KUNIT_CASE(end_of_the_connection_disables_the_memory),
	KUNIT_CASE(connection_ends_when_the_firmware_uses_nothing),
	KUNIT_CASE(invalidation_does_not_enable_memory),
	KUNIT_CASE(connection_is_lost_when_others_ended_it),
	KUNIT_CASE(function_must_be_one_of_several),
	{}
};

static struct kunit_suite vgpu_suite = {
	.name = "pumice_vgpu",
	.exit = vgpu_exit,
	.test_cases = vgpu_cases,
};

kunit_test_suite(vgpu_suite);
