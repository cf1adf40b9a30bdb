// SPDX-License-Identifier: MIT
/*
 * Presents through the registers of the TDM: the firmware reads the FIFO of flips and removes the
 * oldest one by FLIP_CTRL.POP; other writes remove none.
 */
#include "job.h"

#define FLIPS		3u
#define SIZE		8u			/* of a square surface */
#define FRAME		0x1234u			/* of the first present */
#define SOURCE		(JOB_DATA + (1u << 20))
#define TEXTURES	(JOB_DATA + (2u << 20))	/* the words of both textures */
#define EVENTS		(PUMICE_IC_PENDING__TDM_DONE__MASK | PUMICE_IC_PENDING__TDM_FAULT__MASK)

/* Return the address of surface n, a target of a present. */
static u64 target(u32 n)
{
	return JOB_DATA + n * SIZE * SIZE * 4;
}

/* Write the words of a texture; return their address. */
static u64 put_texture(u32 *data, u32 n, u64 addr)
{
	const struct pumice_texture texture = {
		.addr = addr, .format = PUMICE_FORMAT_RGBA8_UNORM, .dim = PUMICE_TEXTURE_DIM_2D,
		.levels = 1, .width = SIZE - 1, .height = SIZE - 1, .swizzle_g = 1, .swizzle_b = 2,
		.swizzle_a = 3,
	};
	const u64 at = TEXTURES + n * PUMICE_TEXTURE_WORDS * 4;

	pumice_texture_pack(data + (at - JOB_DATA) / 4, &texture);
	return at;
}

/* Run a job of presents, each to a surface of its own. */
static void run_presents(struct fixture *fx, u32 *data)
{
	u32 *at = job_stream(fx), n;

	for (n = 0; n < FLIPS; n++, at += PUMICE_TDM_PRESENT_WORDS) {
		const struct pumice_tdm_present present = {
			.src = put_texture(data, FLIPS, SOURCE),
			.dst = put_texture(data, n, target(n)),
			.src_width = SIZE, .src_height = SIZE, .dst_width = SIZE,
			.dst_height = SIZE, .frame = FRAME + n,
		};

		pumice_tdm_present_pack(at, &present);
	}
	pumice_tdm_halt_pack(at, &(struct pumice_tdm_halt){ 0 });
	fx_fw_write64(fx, PUMICE_MMU_CTX(JOB_CTX), testmem_ctx_reg(fx->tm, JOB_CTX));
	fx_fw_write64(fx, PUMICE_TDM_STREAM_BASE, JOB_STREAM);
	fx_fw_write(fx, PUMICE_TDM_MMU_CTX, JOB_CTX);
	fx_fw_write(fx, PUMICE_TDM_PRESENTS, FLIPS);
	fx_fw_write(fx, PUMICE_TDM_CTRL, PUMICE_TDM_CTRL__START__MASK);
	assert_int_equal(fx_fw_wait(fx, EVENTS), PUMICE_IC_PENDING__TDM_DONE__MASK);
}

/* The FIFO has this number of flips, of the last presents. */
static void assert_flips(struct fixture *fx, u32 count)
{
	const u32 oldest = FLIPS - count;

	assert_int_equal(fx_fw_read(fx, PUMICE_TDM_FLIP_STATUS), count);
	assert_int_equal(fx_fw_read(fx, PUMICE_TDM_FLIP_FRAME), count ? FRAME + oldest : 0);
	assert_int_equal(fx_fw_read64(fx, PUMICE_TDM_FLIP_ADDR), count ? target(oldest) : 0);
	assert_int_equal(fx_fw_read64(fx, PUMICE_TDM_FLIP_TIME) != 0, count != 0);
}

static void flips_are_removed_by_pop_alone(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1 });
	u32 *data = job_map(fx), n;

	(void)state;
	fx_boot_proxy(fx);
	run_presents(fx, data);
	for (n = FLIPS; n; n--) {
		assert_flips(fx, n);
		fx_fw_write(fx, PUMICE_TDM_FLIP_CTRL, 0);
		fx_fw_write(fx, PUMICE_TDM_FLIP_CTRL, ~PUMICE_TDM_FLIP_CTRL__POP__MASK);
		assert_flips(fx, n);
		fx_fw_write(fx, PUMICE_TDM_FLIP_CTRL, PUMICE_TDM_FLIP_CTRL__POP__MASK);
	}
	assert_flips(fx, 0);
	fx_fw_write(fx, PUMICE_TDM_FLIP_CTRL, PUMICE_TDM_FLIP_CTRL__POP__MASK);
	assert_flips(fx, 0);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flips_are_removed_by_pop_alone),
	};

	return cmocka_run_group_tests_name("present", tests, NULL, NULL);
}
