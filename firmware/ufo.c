// SPDX-License-Identifier: MIT
/* Update objects: fwif.h defines when a value is reached. */
#include "csr.h"
#include "os.h"
#include "strict.h"
#include "ufo.h"
#include "window.h"

static u32 changed;	/* bit n: of virtual GPU n */

void ufo_set_changed(void)
{
	changed |= 1u << os_number;
}

u32 ufo_changed(void)
{
	return changed;
}

void ufo_clear_changed(void)
{
	changed = 0;
}

enum ufo_state ufo_check(u32 object, u32 value)
{
	u32 now;

	if (!window_valid(object, sizeof(u32), 4) || !window_read32(object, &now))
		return UFO_BAD_ADDRESS;
	return (s32)(now - value) >= 0 ? UFO_REACHED : UFO_WAITING;
}

bool ufo_update(u32 object, u32 value)
{
	if (!window_valid(object, sizeof(u32), 4))
		return false;
	if (strict_is_on())
		strict_update(object, value);
	ufo_set_changed();
	fence_writes();
	return window_write32(object, value);
}
