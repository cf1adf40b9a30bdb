/* SPDX-License-Identifier: MIT */
/* Update objects: (address, value) pairs through which jobs wait for jobs. */
#ifndef FW_UFO_H
#define FW_UFO_H

#include "pumice_types.h"

enum ufo_state { UFO_BAD_ADDRESS, UFO_WAITING, UFO_REACHED };

/** ufo_check - test whether an object has reached a value. @object: fw address */
enum ufo_state ufo_check(u32 object, u32 value);

/** ufo_update - write an object, ordered after all earlier writes. False: bad address. */
bool ufo_update(u32 object, u32 value);

/*
 * Return the virtual GPUs, bit n for number n, whose objects may have changed since the blocked
 * contexts were checked last: by an update, or by the host, which kicks after it. ufo_set_changed()
 * is for the selected one. Interrupts off.
 */
void ufo_set_changed(void);
u32 ufo_changed(void);
void ufo_clear_changed(void);

#endif
