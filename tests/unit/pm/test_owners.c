// SPDX-License-Identifier: MIT
/*
 * Owners of pages in mode strict: the PM, with lists, links and scenes that a host has damaged, or
 * uses in the wrong order.
 */
#include <string.h>

#include "pb_fixture.h"

#define PAGES	24u
#define MANY	1000u

static const struct pumice_scene small = { .width = 256, .height = 256, .cores = 1 };

struct owners_fixture {
	struct pb_fixture *fx;
	struct pm_scene scene[2];
};

/* Two scenes. The threshold permits no spare pages unless a list has more pages than PAGES. */
static void set_up_pages(struct owners_fixture *w, bool tables, u32 pages)
{
	u32 i;

	w->fx = tables ? pbfx_create_tables(pages, 0) : pbfx_create(pages, 0);
	owner_set(&w->fx->owner, true);
	pbfx_list(w->fx, 0, pages, PAGES);
	for (i = 0; i < 2; i++)
		w->scene[i] = pbfx_load(w->fx, i, &small);
}

static void set_up(struct owners_fixture *w, bool tables)
{
	set_up_pages(w, tables, PAGES);
}

static void tear_down(struct owners_fixture *w)
{
	pbfx_destroy(w->fx);
}

/* Allocate a page for a macro tile; returns its number. */
static u32 alloc(struct owners_fixture *w, u32 scene, u32 macro_tile)
{
	struct pumice_pb_ref at;
	struct gpu_fault fault;
	u32 ref;

	assert_int_equal(pm_alloc(w->fx->pm, 0, &w->scene[scene], macro_tile, &ref, &fault), PM_OK);
	pumice_pb_ref_unpack(&ref, &at);
	return at.offset / (PUMICE_PM_PAGE_SIZE / 16);
}

static bool free_macro_tile(struct owners_fixture *w, u32 scene, u32 macro_tile)
{
	struct gpu_fault fault;

	return pm_free_macro_tile(w->fx->pm, 0, &w->scene[scene], macro_tile, &fault);
}

/* Read a page as the IPF does, for a scene. */
static void read_page(struct owners_fixture *w, u32 scene, u32 page)
{
	pm_check_owner(&w->scene[scene], pbfx_page_va(w->fx, 0, page) + 64,
		       MMU_SECOND(PUMICE_UNIT_IPF), PUMICE_ACCESS_READ);
}

/* The only finding: its page and user, and the state and user of the other side. */
static void is_finding(const struct owners_fixture *w, const struct strict_finding *expected)
{
	const struct strict_finding *f = &w->fx->finding[0];

	assert_int_equal(w->fx->findings, 1);
	assert_int_equal(f->kind, expected->kind);
	assert_true(f->page.known);
	assert_int_equal(f->page.list, PBFX_LIST(0));
	assert_int_equal(f->page.page, expected->page.page);
	assert_int_equal(f->page.scene, expected->page.scene);
	assert_int_equal(f->page.macro_tile, expected->page.macro_tile);
	assert_int_equal(f->page.other.state, expected->page.other.state);
	assert_int_equal(f->page.other.list, PBFX_LIST(0));
	assert_int_equal(f->page.other.page, expected->page.other.page);
	assert_int_equal(f->page.other.scene, expected->page.other.scene);
	assert_int_equal(f->page.other.macro_tile, expected->page.other.macro_tile);
}

/* Pages are given, used as spare ones, read and freed, by macro tile and by scene. */
static void owners_that_free_their_pages_have_no_finding(void **state)
{
	struct owners_fixture w;
	struct gpu_fault fault;
	u32 tables, i;

	(void)state;
	for (tables = 0; tables < 2; tables++) {
		set_up_pages(&w, tables, MANY);
		for (i = 0; i < 40; i++) {
			read_page(&w, i / 2 & 1, alloc(&w, i / 2 & 1, i % 5));
			if (i % 3 == 2)
				assert_true(free_macro_tile(&w, i & 1, i % 5));
			if (i % 8 == 7)
				assert_true(pm_free_scene(w.fx->pm, &w.scene[0], &fault) &&
					    pm_free_scene(w.fx->pm, &w.scene[1], &fault));
		}
		assert_true(pm_from_spares(w.fx->pm));
		assert_int_equal(w.fx->findings, 0);
		tear_down(&w);
	}
}

/* A free page links to one that a scene has. */
static void a_page_with_an_owner_that_is_given_is_found(void **state)
{
	struct owners_fixture w;
	struct gpu_fault fault;
	u32 owned, freed, ref;

	(void)state;
	set_up(&w, false);
	owned = alloc(&w, 1, 3);
	freed = alloc(&w, 0, 1);
	alloc(&w, 0, 1);
	assert_true(free_macro_tile(&w, 0, 1));
	w.fx->links[0][pbfx_read_list(w.fx, 0).head] = owned;
	assert_int_equal(pm_alloc(w.fx->pm, 0, &w.scene[0], 7, &ref, &fault), PM_FAULT);
	assert_int_equal(freed, owned + 1);
	is_finding(&w, &(struct strict_finding){
		.kind = PUMICE_FINDING_PAGE_TWICE,
		.page = { .page = owned, .scene = PBFX_SCENE(0), .macro_tile = 7,
			  .other = { .state = STRICT_PAGE_OWNED, .page = owned,
				     .scene = PBFX_SCENE(1), .macro_tile = 3 } } });
	tear_down(&w);
}

/* The host has entered the bus address of a page in use for another page, too. */
static void memory_of_two_pages_is_found(void **state)
{
	struct owners_fixture w;
	u32 first, second;

	(void)state;
	set_up(&w, true);
	first = alloc(&w, 0, 2);
	w.fx->frames[0][first + 1] = w.fx->frames[0][first];
	second = alloc(&w, 1, 4);
	is_finding(&w, &(struct strict_finding){
		.kind = PUMICE_FINDING_PAGE_TWICE,
		.page = { .page = second, .scene = PBFX_SCENE(1), .macro_tile = 4,
			  .other = { .state = STRICT_PAGE_OWNED, .page = first,
				     .scene = PBFX_SCENE(0), .macro_tile = 2 } } });
	tear_down(&w);
}

/* The same while the first page is free. It is given after the second, with the same memory. */
static void memory_of_a_free_page_has_no_owner(void **state)
{
	struct owners_fixture w;
	u32 first, second;

	(void)state;
	set_up(&w, true);
	first = alloc(&w, 0, 2);
	second = alloc(&w, 0, 3);
	assert_true(free_macro_tile(&w, 0, 2));
	assert_true(free_macro_tile(&w, 0, 3));
	w.fx->frames[0][second] = w.fx->frames[0][first];
	assert_int_equal(alloc(&w, 1, 4), second);
	assert_int_equal(w.fx->findings, 0);
	assert_int_equal(alloc(&w, 1, 4), first);
	assert_int_equal(w.fx->findings, 1);
	assert_int_equal(w.fx->finding[0].page.other.page, second);
	tear_down(&w);
}

/* A macro tile's chain continues with a page that another one has freed. */
static void a_page_that_is_freed_twice_is_found(void **state)
{
	struct owners_fixture w;
	u32 freed, page;

	(void)state;
	set_up(&w, false);
	freed = alloc(&w, 1, 3);
	alloc(&w, 0, 1);
	page = alloc(&w, 0, 1);
	assert_true(free_macro_tile(&w, 1, 3));
	w.fx->links[0][page] = freed;
	assert_false(free_macro_tile(&w, 0, 1));
	is_finding(&w, &(struct strict_finding){
		.kind = PUMICE_FINDING_PAGE_FREED_TWICE,
		.page = { .page = freed, .scene = PBFX_SCENE(0), .macro_tile = 1,
			  .other = { .state = STRICT_PAGE_FREE, .page = freed,
				     .scene = PBFX_SCENE(1), .macro_tile = 3 } } });
	tear_down(&w);
}

/* Chains of two macro tiles are exchanged: all links are right. Other modes do not detect it. */
static void a_page_that_another_macro_tile_frees_is_found(void **state)
{
	const u32 words = PUMICE_SCENE_CHAIN_WORDS;
	struct owners_fixture w;
	u32 page, *chain;

	(void)state;
	set_up(&w, false);
	page = alloc(&w, 0, 1);
	chain = w.fx->scene[0] + PUMICE_SCENE_WORDS;
	memcpy(chain + 6 * PUMICE_PM_LISTS * words, chain + 1 * PUMICE_PM_LISTS * words, 4 * words);
	assert_true(free_macro_tile(&w, 0, 6));
	is_finding(&w, &(struct strict_finding){
		.kind = PUMICE_FINDING_PAGE_FREED_BY_OTHER,
		.page = { .page = page, .scene = PBFX_SCENE(0), .macro_tile = 6,
			  .other = { .state = STRICT_PAGE_OWNED, .page = page,
				     .scene = PBFX_SCENE(0), .macro_tile = 1 } } });
	tear_down(&w);
}

static void a_read_of_a_freed_page_is_found(void **state)
{
	struct owners_fixture w;
	u32 page;

	(void)state;
	set_up(&w, false);
	page = alloc(&w, 0, 1);
	read_page(&w, 0, page);
	pm_check_owner(&w.scene[0], PBFX_REGIONS, PUMICE_UNIT_IPF, PUMICE_ACCESS_READ);
	assert_true(free_macro_tile(&w, 0, 1));
	assert_int_equal(w.fx->findings, 0);
	read_page(&w, 0, page);
	is_finding(&w, &(struct strict_finding){
		.kind = PUMICE_FINDING_PAGE_AFTER_FREE,
		.page = { .page = page, .scene = PBFX_SCENE(0),
			  .macro_tile = STRICT_NO_MACRO_TILE,
			  .other = { .state = STRICT_PAGE_FREE, .page = page,
				     .scene = PBFX_SCENE(0), .macro_tile = 1 } } });
	assert_int_equal(w.fx->finding[0].unit, PUMICE_UNIT_IPF);
	assert_int_equal(w.fx->finding[0].ctx, PBFX_CTX);
	assert_int_equal(w.fx->finding[0].addr, pbfx_page_va(w.fx, 0, page) + 64);
	tear_down(&w);
}

static void a_read_of_a_page_of_another_scene_is_found(void **state)
{
	struct owners_fixture w;
	u32 page;

	(void)state;
	set_up(&w, false);
	page = alloc(&w, 1, 5);
	read_page(&w, 0, page);
	is_finding(&w, &(struct strict_finding){
		.kind = PUMICE_FINDING_PAGE_AFTER_FREE,
		.page = { .page = page, .scene = PBFX_SCENE(0),
			  .macro_tile = STRICT_NO_MACRO_TILE,
			  .other = { .state = STRICT_PAGE_OWNED, .page = page,
				     .scene = PBFX_SCENE(1), .macro_tile = 5 } } });
	tear_down(&w);
}

/* A page that a DPM has as a spare one has no data. */
static void a_read_of_a_spare_page_is_found(void **state)
{
	struct owners_fixture w;
	u32 page;

	(void)state;
	set_up_pages(&w, false, MANY);
	page = alloc(&w, 0, 1);
	read_page(&w, 0, page + 1);
	is_finding(&w, &(struct strict_finding){
		.kind = PUMICE_FINDING_PAGE_AFTER_FREE,
		.page = { .page = page + 1, .scene = PBFX_SCENE(0),
			  .macro_tile = STRICT_NO_MACRO_TILE,
			  .other = { .state = STRICT_PAGE_SPARE, .page = page + 1,
				     .scene = PBFX_SCENE(0), .macro_tile = STRICT_SPARE } } });
	tear_down(&w);
}

/* The host initializes a list that a scene uses. */
static void a_list_that_is_new_again_has_no_owners(void **state)
{
	struct owners_fixture w;
	struct pm_scene scene;
	struct gpu_fault fault;
	u32 page;

	(void)state;
	set_up(&w, false);
	page = alloc(&w, 0, 1);
	pbfx_list(w.fx, 0, PAGES, PAGES);
	assert_true(pm_scene_load(w.fx->pm, PBFX_SCENE(1), PBFX_CTX, &scene, &fault));
	read_page(&w, 0, page);
	is_finding(&w, &(struct strict_finding){
		.kind = PUMICE_FINDING_PAGE_AFTER_FREE,
		.page = { .page = page, .scene = PBFX_SCENE(0),
			  .macro_tile = STRICT_NO_MACRO_TILE,
			  .other = { .state = STRICT_PAGE_FREE, .page = page } } });
	tear_down(&w);
}

/* Pages that were allocated in another mode, or before a reset, have an owner that is unknown. */
static void pages_of_the_time_before_have_no_finding(void **state)
{
	struct owners_fixture w;
	u32 page, other;

	(void)state;
	set_up(&w, false);
	owner_set(&w.fx->owner, false);
	page = alloc(&w, 0, 1);
	read_page(&w, 1, page);
	owner_set(&w.fx->owner, true);
	other = alloc(&w, 1, 2);
	read_page(&w, 1, page);
	assert_int_equal(w.fx->findings, 0);
	read_page(&w, 0, other);
	assert_int_equal(w.fx->findings, 1);
	pm_reset(w.fx->pm);
	read_page(&w, 0, other);
	assert_true(free_macro_tile(&w, 0, 1));
	assert_int_equal(w.fx->findings, 1);
	tear_down(&w);
}

/* More lists than there are records for: the one of the oldest use has none. */
static void records_of_the_oldest_list_are_replaced(void **state)
{
	const struct owner_user user = { .scene = 16, .macro_tile = 1 };
	struct owners_fixture w;
	u32 n;

	(void)state;
	set_up(&w, false);
	for (n = 0; n <= OWNER_LISTS; n++) {
		owner_open(&w.fx->owner, 0x100 + n, 0x1000, 8, true);
		owner_give(&w.fx->owner, 0x100 + n, 2, &user, true);
	}
	owner_give(&w.fx->owner, 0x100, 2, &user, true);
	assert_int_equal(w.fx->findings, 0);
	owner_give(&w.fx->owner, 0x101, 2, &user, true);
	assert_int_equal(w.fx->findings, 1);
	tear_down(&w);
}

static void count(void *opaque, const struct strict_finding *finding)
{
	struct strict_finding *last = opaque;
	const u32 times = last->times + 1;

	*last = *finding;
	last->times = times;
}

/* Give pages of a new list to a user, with memory. */
static void give_pages(struct owner *o, const u64 *frame, u32 pages, const struct owner_user *user)
{
	u32 n;

	owner_open(o, PBFX_LIST(0), PBFX_BASE(0), pages, true);
	for (n = 0; n < pages; n++) {
		owner_map(o, PBFX_LIST(0), n, frame[n]);
		owner_give(o, PBFX_LIST(0), n, user, true);
	}
}

/* A host may give the memory of one page to all: each is given and freed in some steps. */
static void pages_with_the_same_memory_take_no_longer(void **state)
{
	const struct owner_user user = { .scene = PBFX_SCENE(0), .macro_tile = 1 };
	struct strict_finding last = { .times = 0 };
	static u64 frame[4096];
	const u32 pages = 4096;
	struct owner o;
	u32 n;

	(void)state;
	owner_init(&o, count, &last);
	owner_set(&o, true);
	for (n = 0; n < pages; n++)
		frame[n] = 0x7000;
	give_pages(&o, frame, pages, &user);
	assert_int_equal(last.times, pages - 1);
	for (n = 0; n < pages; n += 2)
		owner_free(&o, PBFX_LIST(0), n, &user, false);
	owner_map(&o, PBFX_LIST(0), 0, frame[0]);
	owner_give(&o, PBFX_LIST(0), 0, &user, true);
	assert_int_equal(last.times, pages);
	assert_int_equal(last.page.other.page, pages - 1);
	owner_free(&o, PBFX_LIST(0), 0, &user, false);
	for (n = 1; n < pages; n += 2)
		owner_free(&o, PBFX_LIST(0), n, &user, false);
	assert_true(o.compared <= 2 * pages + 2);
	/* No other page is left in the chain. */
	o.compared = 0;
	owner_map(&o, PBFX_LIST(0), 0, frame[0]);
	owner_give(&o, PBFX_LIST(0), 0, &user, true);
	assert_int_equal(last.times, pages);
	assert_int_equal(o.compared, 1);
	owner_destroy(&o);
}

/* Return the bucket that the records use for a page of memory, of 4096. */
static u32 bucket_of(u64 number)
{
	return (u32)(number * 0x9e3779b97f4a7c15ull >> 32) % 4096;
}

static void pages_with_the_same_hash_of_memory_take_no_longer(void **state)
{
	const struct owner_user user = { .scene = PBFX_SCENE(0), .macro_tile = 1 };
	struct strict_finding last = { .times = 0 };
	static u64 frame[4096];
	const u32 pages = 4096;
	struct owner o;
	u64 number = 1;
	u32 n;

	(void)state;
	owner_init(&o, count, &last);
	owner_set(&o, true);
	for (n = 0; n < pages; number++)
		if (bucket_of(number) == 5)
			frame[n++] = number << 12;
	give_pages(&o, frame, pages, &user);
	assert_int_equal(last.times, 0);
	assert_true(o.compared <= pages * OWNER_CHAIN);
	assert_true(o.compared > pages * (OWNER_CHAIN - 1));
	owner_destroy(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_that_free_their_pages_have_no_finding),
		cmocka_unit_test(a_page_with_an_owner_that_is_given_is_found),
		cmocka_unit_test(memory_of_two_pages_is_found),
		cmocka_unit_test(memory_of_a_free_page_has_no_owner),
		cmocka_unit_test(a_page_that_is_freed_twice_is_found),
		cmocka_unit_test(a_page_that_another_macro_tile_frees_is_found),
		cmocka_unit_test(a_read_of_a_freed_page_is_found),
		cmocka_unit_test(a_read_of_a_page_of_another_scene_is_found),
		cmocka_unit_test(a_read_of_a_spare_page_is_found),
		cmocka_unit_test(a_list_that_is_new_again_has_no_owners),
		cmocka_unit_test(pages_of_the_time_before_have_no_finding),
		cmocka_unit_test(records_of_the_oldest_list_are_replaced),
		cmocka_unit_test(pages_with_the_same_memory_take_no_longer),
		cmocka_unit_test(pages_with_the_same_hash_of_memory_take_no_longer),
	};

	return cmocka_run_group_tests_name("pm owners", tests, NULL, NULL);
}
