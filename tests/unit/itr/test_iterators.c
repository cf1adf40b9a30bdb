// SPDX-License-Identifier: MIT
/*
 * The iterators against a model that rounds each operation separately, from random planes and
 * positions; the texture unit is emulated and records its requests.
 */
#include "../support/cmocka_all.h"

#include <math.h>
#include <string.h>

#include "../../../qemu-device/gpu/itr/titr.h"
#include "../../../qemu-device/gpu/itr/uitr.h"
#include "../support/number.h"

#define PRIMS	5u
#define PLANES	6u
#define RW	4u	/* plane of 1/w */
#define SPANS	19u	/* three waves, the last one not full */
#define LANES	(SPANS * USC_SPAN_LANES)
#define WAVES	3u
#define ROWS	3u	/* coordinates */

/* ------------------------------------------------------------ the emulated texture unit */

struct tag {
	u32 reads, faults_at;	/* number of the read that faults; 0: none */
	struct tag_request request[WAVES];
	u32 coord[WAVES][ROWS][PUMICE_LANES];
};

bool tag_read(struct tag *tag, const struct tag_request *request, u32 *out, struct gpu_fault *fault)
{
	assert_true(tag->reads < WAVES);
	tag->request[tag->reads] = *request;
	memcpy(tag->coord[tag->reads], request->coord, sizeof(tag->coord[0]));
	out[0] = 0xf00d + tag->reads;
	fault->fault = PUMICE_FAULT_TAG_STATE;
	return ++tag->reads != tag->faults_at;
}

/* ------------------------------------------------------------ a task */

static u64 seed = NUMBER_SEED;
static struct tsp_plane plane[PRIMS][PLANES];
static struct itr_prim prim[PRIMS];
static struct usc_span span[SPANS];
static struct itr_positions at;
static const struct itr_task task = { .span = span, .prim = prim, .instances = LANES, .rw = RW };

static float random_float(void)
{
	return ((float)number_random(&seed, 20001) - 10000) / 777;
}

static int make_task(void **state)
{
	u32 i, n;

	(void)state;
	for (i = 0; i < PRIMS; i++) {
		for (n = 0; n < PLANES; n++)
			plane[i][n] =
				(struct tsp_plane){ random_float(), random_float(),
						    random_float() };
		prim[i].plane = plane[i];
	}
	for (i = 0; i < SPANS; i++)
		span[i].prim = (u8)number_random(&seed, PRIMS);
	for (i = 0; i < LANES; i++) {
		at.x[i] = random_float();
		at.y[i] = random_float();
	}
	at.rw_known = false;
	return 0;
}

/* A plane at an instance; each operation rounds separately. */
static float value_of(u32 n, u32 instance)
{
	const struct tsp_plane *p = &plane[span[instance / USC_SPAN_LANES].prim][n];
	volatile float ax = p->a * at.x[instance], by = p->b * at.y[instance], sum = ax + by;

	return sum + p->c;
}

/* The nearest number with 16 significant bits, the even one of two. */
static float of_24_bits(float value)
{
	int exponent;
	double fraction = frexp((double)value, &exponent);

	return (float)ldexp(nearbyint(ldexp(fraction, 16)), exponent - 16);
}

/* ------------------------------------------------------------ tests */

static void uitr_values_are_those_of_the_plane(void **state)
{
	struct uitr uitr = { 0 };
	float out[ITR_LANES];
	u32 n, i;

	(void)state;
	for (n = 0; n < PLANES; n++) {
		uitr_iterate(&uitr, &task, &at, n, false, out);
		for (i = 0; i < LANES; i++)
			assert_int_equal(number_bits(out[i]), number_bits(value_of(n, i)));
	}
	assert_int_equal(activity_requests(&uitr.activity), PLANES);
	assert_int_equal(activity_busy_ns(&uitr.activity), 0);
}

static void uitr_values_are_divided_by_the_plane_of_w(void **state)
{
	struct uitr uitr = { 0 };
	float out[ITR_LANES];
	u32 n, i;

	(void)state;
	for (n = 0; n < PLANES; n++) {
		uitr_iterate(&uitr, &task, &at, n, true, out);
		for (i = 0; i < LANES; i++)
			assert_int_equal(number_bits(out[i]),
					 number_bits(value_of(n, i) / value_of(RW, i)));
	}
}

static struct titr_request request_of(u32 plane_number, bool perspective,
				      u32 texels[WAVES][4 * PUMICE_LANES])
{
	struct titr_request r = {
		.plane = plane_number, .rows = ROWS, .perspective = perspective,
		.read = { .op = 7, .dim = 3, .spans = true },
	};
	u32 i;

	for (i = 0; i < WAVES; i++)
		r.texels[i] = texels[i];
	return r;
}

static void titr_coordinates_have_24_bits_before_the_division(void **state)
{
	u32 texels[WAVES][4 * PUMICE_LANES], row, i, perspective;
	u32 rounded = 0;

	(void)state;
	for (perspective = 0; perspective < 2; perspective++) {
		const struct titr_request r = request_of(1, perspective, texels);
		struct tag tag = { 0 };
		struct titr titr = { .tag = &tag };
		struct gpu_fault fault;

		assert_true(titr_read(&titr, &task, &at, &r, &fault));
		for (i = 0; i < WAVES * PUMICE_LANES; i++) {
			for (row = 0; row < ROWS; row++) {
				float want = i < LANES ? of_24_bits(value_of(1 + row, i)) : 0;

				rounded += i < LANES && want != value_of(1 + row, i);
				if (i < LANES && perspective)
					want /= of_24_bits(value_of(RW, i));
				assert_int_equal(tag.coord[i / PUMICE_LANES][row][i % PUMICE_LANES],
						 number_bits(want));
			}
		}
	}
	assert_true(rounded > LANES);
}

/* No bits of them are rounded: NaN would become infinity, or 0. */
static void titr_coordinates_that_are_not_finite_remain(void **state)
{
	static const u32 words[] = { 0x7f800000, 0xff800000, 0x7fc00001, 0x7fffffff, 0xffffffff };
	u32 texels[WAVES][4 * PUMICE_LANES], n, i;
	const struct titr_request r = request_of(0, false, texels);
	struct gpu_fault fault;

	(void)state;
	for (n = 0; n < sizeof(words) / sizeof(words[0]); n++) {
		struct tag tag = { 0 };
		struct titr titr = { .tag = &tag };

		for (i = 0; i < PRIMS; i++)
			memcpy(&plane[i][0].c, &words[n], sizeof(words[n]));
		assert_true(titr_read(&titr, &task, &at, &r, &fault));
		for (i = 0; i < LANES; i++)
			assert_int_equal(tag.coord[i / PUMICE_LANES][0][i % PUMICE_LANES],
					 number_bits(value_of(0, i)));
	}
}

static void each_wave_is_a_read_of_the_tag_of_the_half(void **state)
{
	u32 texels[WAVES][4 * PUMICE_LANES], i;
	const struct titr_request r = request_of(0, false, texels);
	struct tag tag = { 0 }, other = { 0 };
	struct titr titr[2] = { { .tag = &tag }, { .tag = &other } };
	struct gpu_fault fault;

	(void)state;
	assert_true(titr_read(&titr[0], &task, &at, &r, &fault));
	assert_int_equal(tag.reads, WAVES);
	assert_int_equal(other.reads, 0);
	for (i = 0; i < WAVES; i++) {
		assert_int_equal(tag.request[i].lanes,
				 i < WAVES - 1 ? UINT32_MAX : (1u << LANES % PUMICE_LANES) - 1);
		assert_int_equal(tag.request[i].op, 7);
		assert_int_equal(tag.request[i].dim, 3);
		assert_true(tag.request[i].spans);
		assert_int_equal(texels[i][0], 0xf00d + i);
	}
	assert_int_equal(activity_requests(&titr[0].activity), 1);
	assert_int_equal(atomic_load(&titr[0].reads), WAVES);
	assert_int_equal(activity_requests(&titr[1].activity), 0);
}

static void a_read_that_faults_is_the_last_one(void **state)
{
	u32 texels[WAVES][4 * PUMICE_LANES];
	const struct titr_request r = request_of(0, false, texels);
	struct tag tag = { .faults_at = 2 };
	struct titr titr = { .tag = &tag };
	struct gpu_fault fault = { 0 };

	(void)state;
	assert_false(titr_read(&titr, &task, &at, &r, &fault));
	assert_int_equal(tag.reads, 2);
	assert_int_equal(fault.fault, PUMICE_FAULT_TAG_STATE);
	assert_int_equal(atomic_load(&titr.reads), 2);
}

static void times_are_measured_with_detail(void **state)
{
	u32 texels[WAVES][4 * PUMICE_LANES], i;
	const struct titr_request r = request_of(0, true, texels);
	struct tag tag = { 0 };
	struct titr titr = { .tag = &tag };
	struct uitr uitr = { 0 };
	float out[ITR_LANES];
	struct gpu_fault fault;

	(void)state;
	activity_set_detail(&uitr.activity, true);
	activity_set_detail(&titr.activity, true);
	for (i = 0; i < 1000; i++) {
		tag.reads = 0;
		uitr_iterate(&uitr, &task, &at, 0, true, out);
		assert_true(titr_read(&titr, &task, &at, &r, &fault));
	}
	assert_true(activity_busy_ns(&uitr.activity) > 0);
	assert_true(activity_busy_ns(&titr.activity) > 0);
	activity_reset(&uitr.activity);
	assert_int_equal(activity_busy_ns(&uitr.activity), 0);
	assert_int_equal(activity_requests(&uitr.activity), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(uitr_values_are_those_of_the_plane, make_task),
		cmocka_unit_test_setup(uitr_values_are_divided_by_the_plane_of_w, make_task),
		cmocka_unit_test_setup(titr_coordinates_have_24_bits_before_the_division,
				       make_task),
		cmocka_unit_test_setup(titr_coordinates_that_are_not_finite_remain, make_task),
		cmocka_unit_test_setup(each_wave_is_a_read_of_the_tag_of_the_half, make_task),
		cmocka_unit_test_setup(a_read_that_faults_is_the_last_one, make_task),
		cmocka_unit_test_setup(times_are_measured_with_detail, make_task),
	};

	return cmocka_run_group_tests_name("iterators", tests, NULL, NULL);
}
