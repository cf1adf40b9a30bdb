// SPDX-License-Identifier: MIT
/* Scoreboard of a tile. See scoreboard.h. */
#include "scoreboard.h"

#include <string.h>

void pdm_scoreboard_reset(struct pdm_scoreboard *board)
{
	memset(board, 0, sizeof(*board));
}

bool pdm_scoreboard_holds(const struct pdm_scoreboard *board, const struct usc_span *span,
			  u32 spans)
{
	u32 i;

	for (i = 0; i < spans; i++)
		if (board->locked[span[i].quad] & span[i].samples)
			return true;
	return false;
}

void pdm_scoreboard_lock(struct pdm_scoreboard *board, const struct usc_span *span, u32 spans,
			 bool late)
{
	u32 i;

	for (i = 0; i < spans; i++)
		board->locked[span[i].quad] |= span[i].samples;
	if (!late)
		return;
	board->late_tasks++;
	for (i = 0; i < spans; i++)
		board->late[span[i].quad] |= span[i].samples;
}

void pdm_scoreboard_unlock(struct pdm_scoreboard *board, const struct usc_span *span, u32 spans,
			   bool late)
{
	u32 i;

	for (i = 0; i < spans; i++)
		board->locked[span[i].quad] &= (u16)~span[i].samples;
	if (!late)
		return;
	board->late_tasks--;
	for (i = 0; i < spans; i++)
		board->late[span[i].quad] &= (u16)~span[i].samples;
}
