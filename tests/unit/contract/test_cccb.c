// SPDX-License-Identifier: MIT
/*
 * Client CCBs (hw/cccb.h): commands of random sizes, appended by the functions and read by a
 * reader of this test, which follows the rules of fwif.h.
 */
#include <stdlib.h>
#include <string.h>

#include "cccb.h"
#include "cmocka_all.h"

#define RING		256u
#define ROUNDS		100000u
#define LONGEST		48u
#define FREE		0xffu

struct fixture {
	u8 ring[RING];
	bool used[RING];	/* written and not yet read */
	u32 write, read;
	u32 written, seen;	/* commands, by their number */
};

static u32 random_below(u32 n)
{
	return (u32)rand() % n;
}

/* Mark the bytes between two offsets as used; none may be used already. */
static void mark_used(struct fixture *f, u32 from, u32 to)
{
	for (; from != to; from = (from + 1) % RING) {
		assert_false(f->used[from]);
		f->used[from] = true;
	}
}

static u32 count_used(const struct fixture *f)
{
	u32 i, used = 0;

	for (i = 0; i < RING; i++)
		used += f->used[i];
	return used;
}

/* A command whose words after the header are its number. */
static void append(struct fixture *f, u32 bytes)
{
	u32 cmd[LONGEST / 4] = { FWIF_CCCB_WAIT, bytes }, i, at;

	for (i = 2; i < bytes / 4; i++)
		cmd[i] = f->written;
	at = pumice_cccb_pad(f->ring, RING, f->write, bytes);
	assert_true(at + bytes <= RING);
	assert_true(at == f->write || at == 0);
	mark_used(f, f->write, at);
	f->write = pumice_cccb_write(f->ring, RING, at, cmd, bytes);
	mark_used(f, at, (at + bytes) % RING);
	f->written++;
}

static u32 word(const struct fixture *f, u32 at)
{
	u32 value;

	assert_true(at + 4 <= RING);
	memcpy(&value, f->ring + at, 4);
	return value;
}

/* Read one command, or a filler. */
static void read_one(struct fixture *f)
{
	const u32 type = word(f, f->read), bytes = word(f, f->read + 4);
	u32 i;

	assert_true(bytes >= 8 && bytes % 8 == 0 && f->read + bytes <= RING);
	if (type == FWIF_CCCB_PAD) {
		assert_int_equal(f->read + bytes, RING);
	} else {
		assert_int_equal(type, FWIF_CCCB_WAIT);
		for (i = 8; i < bytes; i += 4)
			assert_int_equal(word(f, f->read + i), f->seen);
		f->seen++;
	}
	memset(f->used + f->read, 0, bytes * sizeof(f->used[0]));
	memset(f->ring + f->read, FREE, bytes);
	f->read = (f->read + bytes) % RING;
}

static void reader_receives_every_command(void **state)
{
	struct fixture f = { .write = 0 };
	u32 i, bytes, refused = 0;

	(void)state;
	srand(1);
	for (i = 0; i < ROUNDS; i++) {
		bytes = 8 + 8 * random_below(LONGEST / 8);
		assert_int_equal(pumice_cccb_room(RING, f.write, f.read),
				 RING - 8 - count_used(&f));
		if (random_below(2) && f.read != f.write) {
			read_one(&f);
		} else if (pumice_cccb_room(RING, f.write, f.read) >=
			   pumice_cccb_needs(RING, f.write, bytes)) {
			append(&f, bytes);
			assert_int_not_equal(f.read, f.write);
		} else {
			refused++;
			read_one(&f);
		}
	}
	while (f.read != f.write)
		read_one(&f);
	assert_int_equal(f.seen, f.written);
	assert_true(refused > ROUNDS / 100);
}

static void needs_count_the_filler(void **state)
{
	(void)state;
	assert_int_equal(pumice_cccb_needs(RING, 0, 48), 48);
	assert_int_equal(pumice_cccb_needs(RING, RING - 48, 48), 48);
	assert_int_equal(pumice_cccb_needs(RING, RING - 40, 48), 40 + 48);
	assert_int_equal(pumice_cccb_needs(RING, RING - 8, 16), 8 + 16);
	assert_int_equal(pumice_cccb_tail(RING, RING - 8), 8);
}

static void empty_and_full_rings_differ(void **state)
{
	(void)state;
	assert_int_equal(pumice_cccb_room(RING, 64, 64), RING - 8);
	assert_int_equal(pumice_cccb_room(RING, 64, 72), 0);
	assert_int_equal(pumice_cccb_room(RING, RING - 8, 0), 0);
	assert_int_equal(pumice_cccb_room(RING, 0, RING - 8), RING - 16);
}

/* A fragment job follows its geometry job, which has invalidated the SLC. */
static void jobs_have_the_operations_of_their_data_master(void **state)
{
	u32 dm;

	(void)state;
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		assert_int_equal(pumice_cccb_caches(dm, FWIF_VERSION, true),
				 dm == FWIF_DM_PDM ? FWIF_CACHES_START_CORES | FWIF_CACHES_END :
						     FWIF_CACHES_ALL);
}

/* It would break the context of a command with flags. */
static void older_firmware_is_given_no_operations(void **state)
{
	(void)state;
	assert_int_equal(pumice_cccb_caches(FWIF_DM_CDM, 1u << 16 | 11, true), 0);
	assert_int_equal(pumice_cccb_caches(FWIF_DM_CDM, 1u << 16 | 12, true), FWIF_CACHES_ALL);
	assert_int_equal(pumice_cccb_caches(FWIF_DM_CDM, 1u << 16 | 13, true), FWIF_CACHES_ALL);
}

static void jobs_without_cached_pages_have_no_operations(void **state)
{
	u32 dm;

	(void)state;
	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		assert_int_equal(pumice_cccb_caches(dm, FWIF_VERSION, false), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reader_receives_every_command),
		cmocka_unit_test(needs_count_the_filler),
		cmocka_unit_test(empty_and_full_rings_differ),
		cmocka_unit_test(jobs_have_the_operations_of_their_data_master),
		cmocka_unit_test(older_firmware_is_given_no_operations),
		cmocka_unit_test(jobs_without_cached_pages_have_no_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
