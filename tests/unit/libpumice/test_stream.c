// SPDX-License-Identifier: MIT
/* The builder of control streams: its words, read back field by field. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "progfile.h"
#include "pumice/pumice.h"
#include "pumice/pumice_gfx.h"
#include "pumice/pumice_tasks.h"

static struct pumice_device *dev;
static struct pumice_vm *vm;
static struct pumice_kernel *kernel;

/* A kernel with 3 uniform words. */
static int make_kernel(void **state)
{
	const struct pumice_usc_insn end = { .opcode = PUMICE_USC_OP_END };
	const struct pumice_pds_insn dma = {
		.opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH, .reg = 1, .count = 2,
		.addr = 4,
	};
	struct pumice_program *program;
	struct progfile p;
	u32 words[512];

	(void)state;
	progfile_init(&p);
	p.header.shared = 5;
	p.header.coeffs = 3;
	p.header.coeffs_alt = 7;
	p.header.coeffs_alt_high = 2;
	p.header.attrs = 6;
	p.header.temps = 7;
	p.header.local_bytes = 64;
	p.header.size_x = 8;
	p.header.size_y = 9;
	p.header.size_z = 10;
	p.header.uniform_words = 3;
	progfile_usc(&p, &end);
	progfile_reloc(&p, 0, PUMICE_PDS_RELOC_UNIFORMS);
	progfile_pds(&p, &dma);
	progfile_start(&p);
	if (pumice_device_open("inproc:preset=default,cores=1,threads=0,ram=64", &dev, NULL, 0) ||
	    pumice_vm_create(dev, &vm) ||
	    pumice_program_parse(words, progfile_write(&p, words, sizeof(words)), &program, NULL,
				 0) ||
	    pumice_kernel_create(vm, program, &kernel))
		return 1;
	/* The kernel copies its program. */
	pumice_program_destroy(program);
	return 0;
}

static int drop_kernel(void **state)
{
	(void)state;
	pumice_kernel_destroy(kernel);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	return 0;
}

/* The stream's memory, located through data at its end. */
static u8 *stream_memory(struct pumice_stream *s, uint64_t va)
{
	uint64_t data_va;
	void *cpu;

	assert_int_equal(pumice_stream_data(s, 4, 4, &cpu, &data_va), 0);
	return (u8 *)cpu - (data_va - va);
}

static void dispatch_emits_state_and_launch_with_program_and_uniforms(void **state)
{
	const u32 uniforms[3] = { 11, 22, 33 };
	const struct pumice_dispatch d = {
		.kernel = kernel, .groups = { 1, 2, 3 }, .base = { 4, 5, 6 },
		.uniforms = uniforms, .uniform_words = 3,
	};
	struct pumice_cdm_state st;
	struct pumice_cdm_launch launch;
	struct pumice_pds_insn insn;
	struct pumice_stream *s;
	uint64_t start, va;
	u32 *words, *pds;
	u8 *base;

	(void)state;
	assert_int_equal(pumice_stream_create(vm, 4096, &s), 0);
	start = pumice_stream_va(s);
	assert_int_equal(pumice_stream_dispatch(s, &d), 0);
	assert_int_equal(pumice_stream_fence(s), 0);
	assert_int_equal(pumice_stream_end(s, &va), 0);
	assert_int_equal(va, start);
	assert_int_equal(pumice_stream_va(s) - start, (6 + 7 + 1 + 1) * 4);
	base = stream_memory(s, start);
	words = (u32 *)base;
	assert_int_equal(pumice_cdm_state_unpack(words, &st), PUMICE_UNPACK_OK);
	assert_int_equal(st.pds_insns, 3);
	assert_int_equal(st.shared, 5);
	assert_int_equal(st.attrs, 6);
	assert_int_equal(st.temps, 7);
	assert_int_equal(st.local_bytes, 64);
	assert_int_equal(st.size_x * 10000 + st.size_y * 100 + st.size_z, 80910);
	assert_int_equal(pumice_cdm_launch_unpack(words + 6, &launch), PUMICE_UNPACK_OK);
	assert_int_equal(launch.groups_x * 100 + launch.groups_y * 10 + launch.groups_z, 123);
	assert_int_equal(launch.base_x * 100 + launch.base_y * 10 + launch.base_z, 456);
	assert_int_equal(words[13], 5u << 28);
	assert_int_equal(words[14], 6u << 28);

	/* The PDS program, relocated: offset 4 of the uniform block, and the code. */
	pds = (u32 *)(base + (st.pds_addr - start));
	pumice_pds_unpack(pds, &insn);
	assert_memory_equal(base + (insn.addr - 4 - start), uniforms, sizeof(uniforms));
	pumice_pds_unpack(pds + 4, &insn);
	assert_int_equal(insn.addr, pumice_kernel_code_va(kernel));
	pumice_stream_destroy(s);
}

static void dispatch_refuses_another_number_of_uniforms(void **state)
{
	const u32 uniforms[4] = { 0 };
	struct pumice_dispatch d = {
		.kernel = kernel, .groups = { 1, 1, 1 }, .uniforms = uniforms,
	};
	struct pumice_stream *s;

	(void)state;
	assert_int_equal(pumice_stream_create(vm, 4096, &s), 0);
	for (d.uniform_words = 0; d.uniform_words < 5; d.uniform_words++)
		assert_int_equal(pumice_stream_dispatch(s, &d),
				 d.uniform_words == 3 ? 0 : -EINVAL);
	d.uniform_words = 3;
	d.uniforms = NULL;
	assert_int_equal(pumice_stream_dispatch(s, &d), -EINVAL);
	pumice_stream_destroy(s);
}

static void full_stream_refuses_and_is_unchanged(void **state)
{
	const u32 uniforms[3] = { 1, 2, 3 };
	const struct pumice_dispatch d = {
		.kernel = kernel, .groups = { 1, 1, 1 }, .uniforms = uniforms, .uniform_words = 3,
	};
	struct pumice_stream *s;
	uint64_t at;
	u32 count = 0, word = 0, round, first = 0;

	(void)state;
	assert_int_equal(pumice_stream_create(vm, 4096, &s), 0);
	for (round = 0; round < 2; round++) {
		for (count = 0; !pumice_stream_dispatch(s, &d); count++)
			;
		assert_non_null(strstr(pumice_device_error(dev), "no room"));
		at = pumice_stream_va(s);
		assert_int_equal(pumice_stream_dispatch(s, &d), -ENOSPC);
		assert_int_equal(pumice_stream_va(s), at);
		/* The remaining room accepts single words, to the last. */
		while (!pumice_stream_emit(s, &word, 1))
			at += 4;
		assert_int_equal(pumice_stream_va(s), at);
		assert_int_equal(pumice_stream_end(s, NULL), -ENOSPC);
		if (round)
			assert_int_equal(count, first);
		first = count;
		pumice_stream_reset(s);
	}
	assert_in_range(count, 20, 40);
	/* A stream of commands alone: to the last word, and no more. */
	for (count = 0; !pumice_stream_emit(s, &word, 1); count++)
		;
	assert_int_equal(count, 4096 / 4);
	/* A dispatch whose uniforms fit but whose commands do not: it uses no room. */
	pumice_stream_reset(s);
	for (count = 0; count < (4096 - 128) / 4; count++)
		assert_int_equal(pumice_stream_emit(s, &word, 1), 0);
	assert_int_equal(pumice_stream_dispatch(s, &d), -ENOSPC);
	for (count = 0; !pumice_stream_emit(s, &word, 1); count++)
		;
	assert_int_equal(count, 128 / 4);
	pumice_stream_destroy(s);
}

static void data_is_aligned_and_checked(void **state)
{
	static const uint64_t bad[][2] = { { 0, 4 }, { 4, 0 }, { 4, 3 }, { 4, 8192 } };
	struct pumice_stream *s;
	uint64_t va, align;
	void *cpu;
	size_t i;

	(void)state;
	assert_int_equal(pumice_stream_create(vm, 65536, &s), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(pumice_stream_data(s, bad[i][0], bad[i][1], &cpu, &va), -EINVAL);
	for (align = 1; align <= 4096; align *= 2) {
		assert_int_equal(pumice_stream_data(s, 5, align, &cpu, &va), 0);
		assert_int_equal(va % align, 0);
	}
	assert_int_equal(pumice_stream_data(s, UINT64_MAX, 4, &cpu, &va), -ENOSPC);
	pumice_stream_destroy(s);
}

/* Commands since the stream was empty. */
static const u32 *built_words(struct pumice_stream *s, uint64_t start)
{
	return (const u32 *)stream_memory(s, start);
}

static void an_indirect_dispatch_emits_state_and_the_address_of_its_counts(void **state)
{
	const u32 uniforms[3] = { 1, 2, 3 };
	const struct pumice_dispatch d = {
		.kernel = kernel, .groups = { 7, 7, 7 }, .base = { 4, 5, 6 },
		.uniforms = uniforms, .uniform_words = 3,
	};
	struct pumice_cdm_launch_indirect launch;
	struct pumice_cdm_state st;
	struct pumice_stream *s;
	const u32 *words;
	uint64_t start;

	(void)state;
	assert_int_equal(pumice_stream_create(vm, 4096, &s), 0);
	start = pumice_stream_va(s);
	assert_int_equal(pumice_stream_dispatch_indirect(s, &d, 0x123456789cull), 0);
	words = built_words(s, start);
	assert_int_equal(pumice_cdm_state_unpack(words, &st), PUMICE_UNPACK_OK);
	assert_int_equal(st.coeffs, 3);
	assert_int_equal(st.coeffs_alt, 519);
	assert_int_equal(pumice_cdm_launch_indirect_unpack(words + 6, &launch), PUMICE_UNPACK_OK);
	assert_int_equal(launch.addr, 0x123456789cull);
	assert_int_equal(launch.base_x * 100 + launch.base_y * 10 + launch.base_z, 456);
	assert_int_equal(pumice_stream_dispatch_indirect(s, &d, 2), -EINVAL);
	assert_int_equal(pumice_stream_dispatch_indirect(s, &d, 1ull << 40), -EINVAL);
	pumice_stream_destroy(s);
}

static void a_dispatch_after_tasks_differs_in_its_launch_only(void **state)
{
	const u32 uniforms[3] = { 1, 2, 3 };
	struct pumice_dispatch d = {
		.kernel = kernel, .groups = { 1, 2, 3 }, .uniforms = uniforms, .uniform_words = 3,
	};
	struct pumice_cdm_launch launch;
	struct pumice_cdm_state st;
	struct pumice_stream *s;
	const u32 *words;
	uint64_t start;

	(void)state;
	assert_int_equal(pumice_stream_create(vm, 4096, &s), 0);
	start = pumice_stream_va(s);
	assert_int_equal(pumice_stream_dispatch(s, &d), 0);
	assert_int_equal(pumice_stream_task(s), 0);
	assert_int_equal(pumice_stream_dispatch_after(s, &d), 0);
	words = built_words(s, start);
	assert_int_equal(words[6], 2u << 28);
	assert_int_equal(words[13], 12u << 28);
	assert_int_equal(pumice_cdm_state_unpack(words + 14, &st), PUMICE_UNPACK_OK);
	assert_int_equal(words[20], 2u << 28 | 1);
	assert_int_equal(pumice_cdm_launch_unpack(words + 20, &launch), PUMICE_UNPACK_OK);
	assert_int_equal(launch.groups_x * 100 + launch.groups_y * 10 + launch.groups_z, 123);
	d.groups[1] = 0;
	assert_int_equal(pumice_stream_dispatch_after(s, &d), -EINVAL);
	assert_int_equal(pumice_stream_dispatch_after(s, NULL), -EINVAL);
	pumice_stream_destroy(s);
}

/* Each flag is a field, in the command of each stream. */
#define ASSERT_FLUSH(type, words, flags, reach)						\
	do {										\
		struct pumice_##type##_flush got;					\
											\
		assert_int_equal(pumice_##type##_flush_unpack(words, &got),		\
				 PUMICE_UNPACK_OK);					\
		assert_int_equal(got.data, ((flags) & PUMICE_FLUSH_DATA) != 0);		\
		assert_int_equal(got.code, ((flags) & PUMICE_FLUSH_CODE) != 0);		\
		assert_int_equal(got.clean, ((flags) & PUMICE_FLUSH_CLEAN) != 0);	\
		assert_int_equal(got.invalidate, ((flags) & PUMICE_FLUSH_INVALIDATE) != 0); \
		assert_int_equal(got.scope, reach);					\
	} while (0)

static void flushes_of_all_streams_contain_their_flags(void **state)
{
	static const struct {
		uint32_t flags;
		u8 scope;
	} rows[] = {
		{ PUMICE_FLUSH_DATA, PUMICE_MEM_SCOPE_SYSTEM },
		{ PUMICE_FLUSH_CODE | PUMICE_FLUSH_GPU, PUMICE_MEM_SCOPE_GPU },
		{ PUMICE_FLUSH_CLEAN | PUMICE_FLUSH_CORE, PUMICE_MEM_SCOPE_CORE },
		{ PUMICE_FLUSH_INVALIDATE | PUMICE_FLUSH_GROUP, PUMICE_MEM_SCOPE_GROUP },
	};
	struct pumice_stream *s;
	const u32 *words;
	uint64_t start;
	u32 n;

	(void)state;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		assert_int_equal(pumice_stream_create(vm, 4096, &s), 0);
		start = pumice_stream_va(s);
		assert_int_equal(pumice_stream_flush(s, rows[n].flags), 0);
		assert_int_equal(pumice_stream_vdm_flush(s, rows[n].flags), 0);
		assert_int_equal(pumice_stream_pdm_flush(s, rows[n].flags), 0);
		assert_int_equal(pumice_stream_tdm_flush(s, rows[n].flags), 0);
		assert_int_equal(pumice_stream_tdm_flush(s, 0x400), -EINVAL);
		assert_int_equal(pumice_stream_vdm_flush(s, 0x10), -EINVAL);
		assert_int_equal(pumice_stream_pdm_flush(s, ~0u), -EINVAL);
		words = built_words(s, start);
		ASSERT_FLUSH(cdm, words, rows[n].flags, rows[n].scope);
		ASSERT_FLUSH(vdm, words + 1, rows[n].flags, rows[n].scope);
		ASSERT_FLUSH(pdm, words + 2, rows[n].flags, rows[n].scope);
		ASSERT_FLUSH(tdm, words + 3, rows[n].flags, rows[n].scope);
		pumice_stream_destroy(s);
	}
}

static void link_flush_timestamp_and_marker_contain_their_arguments(void **state)
{
	struct pumice_cdm_timestamp timestamp;
	struct pumice_cdm_marker marker;
	struct pumice_cdm_flush flush;
	struct pumice_cdm_link link;
	struct pumice_stream *s;
	const u32 *words;
	uint64_t start;

	(void)state;
	assert_int_equal(pumice_stream_create(vm, 4096, &s), 0);
	start = pumice_stream_va(s);
	assert_int_equal(pumice_stream_flush(s, PUMICE_FLUSH_CODE), 0);
	assert_int_equal(pumice_stream_timestamp(s, 0xfffffffff8ull, true), 0);
	assert_int_equal(pumice_stream_marker(s, 0x1004, 0xdeadbeef, false), 0);
	assert_int_equal(pumice_stream_link(s, 0x8000000004ull), 0);
	words = built_words(s, start);
	assert_int_equal(pumice_cdm_flush_unpack(words, &flush), PUMICE_UNPACK_OK);
	assert_false(flush.data);
	assert_true(flush.code);
	assert_int_equal(pumice_cdm_timestamp_unpack(words + 1, &timestamp), PUMICE_UNPACK_OK);
	assert_true(timestamp.wait);
	assert_int_equal(timestamp.addr, 0xfffffffff8ull);
	assert_int_equal(pumice_cdm_marker_unpack(words + 4, &marker), PUMICE_UNPACK_OK);
	assert_false(marker.wait);
	assert_int_equal(marker.addr, 0x1004);
	assert_int_equal(marker.value, 0xdeadbeef);
	assert_int_equal(pumice_cdm_link_unpack(words + 8, &link), PUMICE_UNPACK_OK);
	assert_int_equal(link.addr, 0x8000000004ull);
	pumice_stream_destroy(s);
}

static void commands_refuse_addresses_and_flags_out_of_range(void **state)
{
	struct pumice_stream *s;
	uint64_t at;

	(void)state;
	assert_int_equal(pumice_stream_create(vm, 4096, &s), 0);
	at = pumice_stream_va(s);
	assert_int_equal(pumice_stream_timestamp(s, 4, true), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "timestamp: address 0x4"));
	assert_int_equal(pumice_stream_timestamp(s, 1ull << 40, true), -EINVAL);
	assert_int_equal(pumice_stream_marker(s, 6, 1, true), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "marker: address 0x6"));
	assert_int_equal(pumice_stream_marker(s, UINT64_MAX - 3, 1, true), -EINVAL);
	assert_int_equal(pumice_stream_link(s, 1), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "link: address 0x1"));
	assert_int_equal(pumice_stream_flush(s, 0x14), -EINVAL);
	assert_non_null(strstr(pumice_device_error(dev), "flush: unknown flags 0x10"));
	assert_int_equal(pumice_stream_va(s), at);
	pumice_stream_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dispatch_emits_state_and_launch_with_program_and_uniforms),
		cmocka_unit_test(dispatch_refuses_another_number_of_uniforms),
		cmocka_unit_test(full_stream_refuses_and_is_unchanged),
		cmocka_unit_test(data_is_aligned_and_checked),
		cmocka_unit_test(an_indirect_dispatch_emits_state_and_the_address_of_its_counts),
		cmocka_unit_test(a_dispatch_after_tasks_differs_in_its_launch_only),
		cmocka_unit_test(flushes_of_all_streams_contain_their_flags),
		cmocka_unit_test(link_flush_timestamp_and_marker_contain_their_arguments),
		cmocka_unit_test(commands_refuse_addresses_and_flags_out_of_range),
	};

	return cmocka_run_group_tests(tests, make_kernel, drop_kernel);
}
