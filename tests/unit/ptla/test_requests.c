// SPDX-License-Identifier: MIT
/* Requests of the PTLA in detailed modes: those of copies are of the bytes that are copied. */
#include "fixture.h"
#include "requests.h"

static struct requests made;

/* Copy, and assert that each byte of the ranges is requested, once. */
static void check_copy(u64 dst, u64 src, u32 bytes)
{
	struct fixture fx;
	struct requests_sum read, write, stream;

	fx_setup(&fx);
	fx_copy(&fx, dst, src, bytes);
	fx_halt(&fx);
	requests_record(&made, &fx.mmu);
	fx_expect_done(&fx);
	requests_end(&fx.mmu);
	read = requests_of(&made, PUMICE_MEM_CLIENT_PTLA_READ);
	write = requests_of(&made, PUMICE_MEM_CLIENT_PTLA_WRITE);
	stream = requests_of(&made, PUMICE_MEM_CLIENT_PTLA_STREAM);
	assert_int_equal(read.bytes, bytes);
	assert_int_equal(write.bytes, bytes);
	assert_int_equal(requests_cover(&made, PUMICE_MEM_CLIENT_PTLA_READ, src, bytes), bytes);
	assert_int_equal(requests_cover(&made, PUMICE_MEM_CLIENT_PTLA_WRITE, dst, bytes), bytes);
	/* It does not belong to a core. */
	assert_int_equal(read.places | write.places | stream.places, 1);
	assert_true(stream.bytes);
	fx_teardown(&fx);
}

static void copies_request_the_bytes_that_they_copy(void **state)
{
	(void)state;
	check_copy(DATA + (1u << 20), DATA, 16);
	check_copy(DATA + (1u << 20) + 4000, DATA + 100, 9000);
	/* Backwards, since the ranges overlap. */
	check_copy(DATA + 8, DATA, 32);
	check_copy(DATA + 2000, DATA + 1000, 10001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_request_the_bytes_that_they_copy),
	};

	return cmocka_run_group_tests_name("ptla requests", tests, NULL, NULL);
}
