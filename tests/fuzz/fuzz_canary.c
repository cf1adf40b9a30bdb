// SPDX-License-Identifier: MIT
/*
 * One user's words in every store of the GPU, and another user who searches for them: the
 * input determines how and when the first one's jobs end, and what the second one reads.
 *
 * Rules: canary.h. With an empty input the second user reads every store.
 */
#include "canary.h"

#define STEPS	8000u	/* at most, of the first user's jobs */
#define LOOKS	4u

/* Read every store once, after jobs that were stopped in the middle. */
static void look_everywhere(struct canary *c)
{
	struct canary_look look = { .rotate = 8, .points = true };
	u32 store;

	canary_fill(c, CANARY_RESET, 0, STEPS / 2);
	for (store = 0; store < CANARY_PROBES; store++) {
		look.store = (enum canary_store)store;
		canary_probe(c, &look);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	struct canary *c = canary_open();
	u32 fills = 0, looks;

	if (!size)
		look_everywhere(c);
	while (fuzz_more(&f) && fills++ < 2) {
		enum canary_end end = (enum canary_end)fuzz_below(&f, CANARY_ENDS);
		u32 variant = fuzz_u8(&f);

		canary_fill(c, end, variant, fuzz_u16(&f) % STEPS);
		for (looks = 0; fuzz_more(&f) && looks < LOOKS; looks++) {
			const u8 what = fuzz_u8(&f);
			const struct canary_look look = {
				.store = (enum canary_store)(what % CANARY_PROBES),
				.points = what >= 128, .number = fuzz_u8(&f),
				.rotate = fuzz_u8(&f), .output = fuzz_below(&f, 4),
				.instances = fuzz_u8(&f), .groups = fuzz_below(&f, 4),
			};

			canary_probe(c, &look);
		}
	}
	canary_close(c);
	return 0;
}
