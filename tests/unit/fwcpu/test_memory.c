// SPDX-License-Identifier: MIT
/*
 * Loads and stores: widths and signs, alignment, the edges of RAM, the firmware
 * bus, and the window with its TLB.
 */
#include <stdio.h>
#include <string.h>

#include "pair.h"
#include "rvasm.h"

#define LAST_WORD	(FX_RAM_SIZE - 4)
#define PAGE(n)		(FX_WINDOW_BASE + (n) * FX_PAGE_SIZE)

/* Run @raw alone with x5 = @address; returns mcause, 0 when there was no trap. */
static uint32_t access_at(struct pair *p, uint32_t raw, uint32_t address)
{
	snprintf(p->what, sizeof(p->what), "%#x at %#x", raw, address);
	pair_put32(p, PAIR_CODE, raw);
	pair_set_pc(p, PAIR_CODE);
	pair_set_x(p, 5, address);
	pair_run(p, 1);
	return p->cpu.arch.pc == PAIR_HANDLER ? p->cpu.arch.mcause : 0;
}

/* A new pair for each: a trap of the previous one may still be open. */
static uint32_t fresh_access(struct pair *p, uint32_t raw, uint32_t address)
{
	pair_restart(p);
	return access_at(p, raw, address);
}

static void every_load_and_store_agrees_at_every_edge(void **state)
{
	static const uint32_t bases[] = {
		0, 4, 0x100, 0xfff, LAST_WORD - 4, LAST_WORD, LAST_WORD + 4, LAST_WORD + 8,
		0x0ffffffc, FX_MMIO_BASE, FX_MMIO_BASE + 8,
		FX_MMIO_BASE + FX_MMIO_SIZE - 4, FX_MMIO_BASE + FX_MMIO_SIZE,
		0x7ffffffc, PAGE(0), PAGE(1) - 4, PAGE(1), PAGE(2), PAGE(3), PAGE(4) - 4, PAGE(4),
		0xfffffff8, 0xfffffffc,
	};
	struct pair *p = *state;
	unsigned int seen = 0;

	for (size_t i = 0; i < ref_ops32_count; i++) {
		const struct ref_op *op = &ref_ops32[i];

		if (op->format != REF_LOAD && op->format != REF_S)
			continue;
		seen++;
		for (size_t n = 0; n < sizeof(bases) / sizeof(bases[0]) * 8; n++) {
			uint32_t raw = op->format == REF_LOAD ? rv_i(op->match, 7, 5, -3)
							      : rv_s(op->match, 6, 5, -3);

			pair_restart(p);
			for (uint32_t at = 0; at < FX_RAM_SIZE; at += 4)
				pair_put32(p, at, at * 0x01030507 + 0x80);
			pair_set_x(p, 6, 0x8081f2f3);
			access_at(p, raw, bases[n / 8] + n % 8);
		}
	}
	assert_int_equal(seen, 8);
}

static void narrow_loads_extend_according_to_their_name(void **state)
{
	struct pair *p = *state;

	pair_put32(p, 0x100, 0x80fe8081);
	access_at(p, LB(7, 0, 5), 0x100);
	assert_int_equal(p->cpu.arch.x[7], 0xffffff81);
	access_at(p, rv_i(0x4003, 7, 5, 0), 0x100);
	assert_int_equal(p->cpu.arch.x[7], 0x81);
	access_at(p, rv_i(0x1003, 7, 5, 0), 0x100);
	assert_int_equal(p->cpu.arch.x[7], 0xffff8081);
	access_at(p, rv_i(0x5003, 7, 5, 2), 0x100);
	assert_int_equal(p->cpu.arch.x[7], 0x80fe);
}

static void misaligned_access_works_in_ram(void **state)
{
	struct pair *p = *state;

	pair_set_x(p, 6, 0x11223344);
	assert_int_equal(access_at(p, SW(6, 0, 5), 0x101), 0);
	assert_int_equal(pair_word(p, 0x100), 0x22334400);
	assert_int_equal(access_at(p, LW(7, 0, 5), 0x101), 0);
	assert_int_equal(p->cpu.arch.x[7], 0x11223344);
}

static void misaligned_access_traps_outside_ram(void **state)
{
	struct pair *p = *state;

	assert_int_equal(fresh_access(p, LW(7, 0, 5), FX_MMIO_BASE + 2), CAUSE_LOAD_MISALIGNED);
	assert_int_equal(p->cpu.arch.mtval, FX_MMIO_BASE + 2);
	assert_int_equal(fresh_access(p, SW(6, 0, 5), PAGE(0) + 1), CAUSE_STORE_MISALIGNED);
	assert_int_equal(p->cpu.arch.mtval, PAGE(0) + 1);
	assert_int_equal(fresh_access(p, SH(6, 0, 5), 0xffffffff), CAUSE_STORE_MISALIGNED);
	assert_int_equal(p->cpu_fixture.bus_accesses, 0);
}

static void access_across_the_end_of_ram_faults_at_the_end(void **state)
{
	struct pair *p = *state;

	assert_int_equal(fresh_access(p, LW(7, 0, 5), LAST_WORD), 0);
	assert_int_equal(fresh_access(p, LW(7, 0, 5), LAST_WORD + 1), CAUSE_LOAD_ACCESS);
	assert_int_equal(p->cpu.arch.mtval, FX_RAM_SIZE);
	assert_int_equal(fresh_access(p, SH(6, 0, 5), LAST_WORD + 3), CAUSE_STORE_ACCESS);
	assert_int_equal(p->cpu.arch.mtval, FX_RAM_SIZE);
	assert_int_equal(fresh_access(p, SB(6, 0, 5), LAST_WORD + 3), 0);
	assert_int_equal(fresh_access(p, SB(6, 0, 5), LAST_WORD + 4), CAUSE_STORE_ACCESS);
	assert_int_equal(p->cpu.arch.mtval, FX_RAM_SIZE);
}

static void holes_fault_without_a_bus_access(void **state)
{
	static const uint32_t holes[] = {
		FX_RAM_SIZE, 0x0ffffffc, FX_MMIO_BASE + FX_MMIO_SIZE, 0x7ffffffc,
	};
	struct pair *p = *state;

	for (size_t i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		assert_int_equal(fresh_access(p, LW(7, 0, 5), holes[i]), CAUSE_LOAD_ACCESS);
		assert_int_equal(p->cpu.arch.mtval, holes[i]);
		assert_int_equal(fresh_access(p, SW(6, 0, 5), holes[i]), CAUSE_STORE_ACCESS);
		assert_int_equal(p->cpu_fixture.bus_accesses, 0);
	}
}

static void the_bus_may_refuse_an_access_width(void **state)
{
	struct pair *p = *state;

	assert_int_equal(fresh_access(p, SW(6, 0, 5), FX_MMIO_BASE + 8), 0);
	assert_int_equal(fresh_access(p, SB(6, 0, 5), FX_MMIO_BASE + 8), CAUSE_STORE_ACCESS);
	assert_int_equal(fresh_access(p, LB(7, 0, 5), FX_MMIO_BASE + 8), CAUSE_LOAD_ACCESS);
	assert_int_equal(p->cpu.arch.mtval, FX_MMIO_BASE + 8);
	assert_int_equal(p->cpu.arch.x[7], 0);
}

static bool load_all_ones(void *opaque, uint32_t addr, unsigned int size, uint32_t *val)
{
	(void)opaque, (void)addr, (void)size;
	*val = 0xffffffff;
	return true;
}

static bool record_store(void *opaque, uint32_t addr, unsigned int size, uint32_t val)
{
	*(uint32_t *)opaque = val;
	return addr != 0 && size != 0;
}

static void bus_values_have_no_more_bits_than_the_access(void **state)
{
	struct pair *p = *state;
	uint32_t seen = 0;

	p->cpu.cfg.bus.load = load_all_ones;
	p->cpu.cfg.bus.store = record_store;
	p->cpu.cfg.bus.opaque = &seen;
	PAIR_PROGRAM(p, rv_i(0x4003, 7, 5, 0), rv_i(0x5003, 8, 5, 0), SB(7, 0, 5), SB(6, 0, 5));
	p->cpu.arch.x[5] = FX_MMIO_BASE;
	p->cpu.arch.x[6] = 0x12345678;
	fwcpu_run(&p->cpu, 4, 0);
	assert_int_equal(p->cpu.arch.x[7], 0xff);
	assert_int_equal(p->cpu.arch.x[8], 0xffff);
	assert_int_equal(seen, 0x78);
}

static void the_window_reads_and_writes_gpu_memory(void **state)
{
	struct pair *p = *state;

	pair_set_x(p, 6, 0xcafef00d);
	assert_int_equal(access_at(p, SW(6, 0, 5), PAGE(1) + 0xffc), 0);
	assert_int_equal(p->cpu_fixture.pages[1][0xffc], 0x0d);
	assert_int_equal(p->cpu_fixture.pages[1][0xfff], 0xca);
	assert_int_equal(access_at(p, LW(7, 0, 5), PAGE(1) + 0xffc), 0);
	assert_int_equal(p->cpu.arch.x[7], 0xcafef00d);
	assert_int_equal(p->cpu_fixture.bus_accesses, 0);
}

static void a_window_page_is_requested_once_until_the_flush(void **state)
{
	struct pair *p = *state;

	for (uint32_t i = 0; i < 10; i++)
		access_at(p, LW(7, 0, 5), PAGE(0) + 4 * i);
	assert_int_equal(p->cpu_fixture.handed_out, 1);
	fwcpu_window_flush(&p->cpu);
	for (uint32_t i = 0; i < 10; i++)
		access_at(p, LW(7, 0, 5), PAGE(0) + 4 * i);
	assert_int_equal(p->cpu_fixture.handed_out, 2);
}

static void a_flush_hides_the_old_page_from_the_next_access(void **state)
{
	struct pair *p = *state;

	p->cpu_fixture.pages[0][0] = 1;
	p->ref_fixture.pages[0][0] = 1;
	access_at(p, LB(7, 0, 5), PAGE(0));
	assert_int_equal(p->cpu.arch.x[7], 1);

	/* Unmapped without notifying the TLB: effective after the flush only. */
	p->cpu_fixture.no_direct = true;
	access_at(p, LB(7, 0, 5), PAGE(0));
	assert_int_equal(p->cpu_fixture.bus_accesses, 0);
	fwcpu_window_flush(&p->cpu);
	access_at(p, LB(7, 0, 5), PAGE(0));
	assert_int_equal(p->cpu_fixture.bus_accesses, 1);
}

static void a_page_translated_for_reading_is_requested_again_for_writing(void **state)
{
	struct pair *p = *state;

	access_at(p, LW(7, 0, 5), PAGE(0));
	access_at(p, SW(6, 0, 5), PAGE(0));
	assert_int_equal(p->cpu_fixture.handed_out, 2);
	access_at(p, SW(6, 4, 5), PAGE(0));
	access_at(p, LW(7, 4, 5), PAGE(0));
	assert_int_equal(p->cpu_fixture.handed_out, 2);
}

static void a_read_only_page_can_be_read_and_refuses_stores(void **state)
{
	struct pair *p = *state;

	assert_int_equal(access_at(p, LW(7, 0, 5), PAGE(FX_PAGE_READ_ONLY)), 0);
	assert_int_equal(access_at(p, SW(6, 0, 5), PAGE(FX_PAGE_READ_ONLY)),
			 CAUSE_STORE_ACCESS);
	assert_int_equal(p->cpu.arch.mtval, PAGE(FX_PAGE_READ_ONLY));
}

static void pages_that_share_a_tlb_entry_do_not_mix(void **state)
{
	struct pair *p = *state;
	uint32_t far = PAGE(FWCPU_TLB_ENTRIES);

	assert_int_equal(access_at(p, LW(7, 0, 5), PAGE(0)), 0);
	assert_int_equal(access_at(p, LW(7, 0, 5), far), CAUSE_LOAD_ACCESS);
	assert_int_equal(p->cpu.arch.mtval, far);
}

static void a_page_with_a_partial_host_pointer_uses_the_bus(void **state)
{
	struct pair *p = *state;

	p->cpu_fixture.short_run = FX_PAGE_SIZE - 1;
	assert_int_equal(access_at(p, LW(7, 0, 5), PAGE(0)), 0);
	assert_int_equal(p->cpu_fixture.bus_accesses, 1);
}

static void without_window_pointers_all_accesses_use_the_bus(void **state)
{
	struct pair *p = *state;

	p->cpu.cfg.bus.window_ptr = NULL;
	pair_set_x(p, 6, 0x1234);
	assert_int_equal(access_at(p, SW(6, 0, 5), PAGE(0)), 0);
	assert_int_equal(access_at(p, LW(7, 0, 5), PAGE(0)), 0);
	assert_int_equal(p->cpu.arch.x[7], 0x1234);
	assert_int_equal(p->cpu_fixture.bus_accesses, 2);
}

static void reset_drops_the_window(void **state)
{
	struct pair *p = *state;

	access_at(p, LW(7, 0, 5), PAGE(0));
	pair_restart(p);
	access_at(p, LW(7, 0, 5), PAGE(0));
	assert_int_equal(p->cpu_fixture.handed_out, 1);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_load_and_store_agrees_at_every_edge),
		TEST(narrow_loads_extend_according_to_their_name),
		TEST(misaligned_access_works_in_ram),
		TEST(misaligned_access_traps_outside_ram),
		TEST(access_across_the_end_of_ram_faults_at_the_end),
		TEST(holes_fault_without_a_bus_access),
		TEST(the_bus_may_refuse_an_access_width),
		TEST(bus_values_have_no_more_bits_than_the_access),
		TEST(the_window_reads_and_writes_gpu_memory),
		TEST(a_window_page_is_requested_once_until_the_flush),
		TEST(a_flush_hides_the_old_page_from_the_next_access),
		TEST(a_page_translated_for_reading_is_requested_again_for_writing),
		TEST(a_read_only_page_can_be_read_and_refuses_stores),
		TEST(pages_that_share_a_tlb_entry_do_not_mix),
		TEST(a_page_with_a_partial_host_pointer_uses_the_bus),
		TEST(without_window_pointers_all_accesses_use_the_bus),
		TEST(reset_drops_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
