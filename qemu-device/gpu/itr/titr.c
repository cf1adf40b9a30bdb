// SPDX-License-Identifier: MIT
/* TAG iterator. See titr.h. */
#include "titr.h"

#include <string.h>

#include "../number.h"

/* Round to a float of 24 bits, 15 after the leading one, to nearest even. */
static itr_f32 round_24(itr_f32 value)
{
	const itr_u32 word = (itr_u32)value;
	const itr_u32 finite = (itr_u32)((word & 0x7f800000) != 0x7f800000);
	const itr_u32 rounded = (word + 0x7f + (word >> 8 & 1)) & ~0xffu;

	return (itr_f32)((rounded & finite) | (word & ~finite));
}

/* Set lanes after those of a wave, of rows: 0. */
static void zero_rest(u32 lanes, u32 rows, u32 *out)
{
	u32 row;

	for (row = 0; lanes < PUMICE_LANES && row < rows; row++)
		memset(&out[row * PUMICE_LANES + lanes], 0, (PUMICE_LANES - lanes) * sizeof(*out));
}

/*
 * Compute coordinates: rows for each wave follow each other. The texture unit uses all lanes of
 * them, also those without an instance.
 */
static void iterate(const struct itr_task *task, struct itr_positions *at,
		    const struct titr_request *r, u32 *out)
{
	const float *rw = r->perspective ? itr_rw(task, at) : NULL;
	float value[ITR_LANES];
	u32 row, n;

	for (row = 0; row < r->rows; row++) {
		itr_evaluate(task, at, r->plane + row, value);
		for (n = 0; n < task->instances; n += USC_SPAN_LANES) {
			itr_f32 v = round_24(itr_load(value, n));

			if (rw)
				v /= round_24(itr_load(rw, n));
			memcpy(&out[(n / PUMICE_LANES * r->rows + row) * PUMICE_LANES +
				    n % PUMICE_LANES], &v, sizeof(v));
		}
	}
}

/* Iterate, and read wave by wave. */
static bool process(struct titr *titr, const struct itr_task *task, struct itr_positions *at,
		    const struct titr_request *r, struct gpu_fault *fault)
{
	u32 coords[ITR_LANES * 4], wave, first;
	struct tag_request read = r->read;

	iterate(task, at, r, coords);
	for (wave = first = 0; first < task->instances; wave++, first += PUMICE_LANES) {
		const u32 lanes = min_u32(task->instances - first, PUMICE_LANES);
		u32 *const rows = coords + wave * r->rows * PUMICE_LANES;

		zero_rest(lanes, r->rows, rows);
		read.lanes = lanes < PUMICE_LANES ? (1u << lanes) - 1 : UINT32_MAX;
		read.coord = rows;
		count_add(&titr->reads, 1);
		if (!tag_read(titr->tag, &read, r->texels[wave], fault))
			return false;
	}
	return true;
}

bool titr_read(struct titr *titr, const struct itr_task *task, struct itr_positions *at,
	       const struct titr_request *request, struct gpu_fault *fault)
{
	const u64 began = activity_begin(&titr->activity);
	bool ok;

	activity_count(&titr->activity);
	ok = process(titr, task, at, request, fault);
	activity_end(&titr->activity, began);
	return ok;
}
