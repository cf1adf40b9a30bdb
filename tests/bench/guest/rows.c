// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>

#include "rows.h"

void samples_add(struct samples *s, u64 ns)
{
	s->us[s->count++] = (double)ns / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double samples_median(struct samples *s)
{
	qsort(s->us, s->count, sizeof(s->us[0]), compare);
	return s->us[s->count / 2];
}

void row_print(const struct row *row)
{
	static bool more;
	const double ratio = row->rate ? row->ours / row->peer : row->peer / row->ours;

	printf("%s  {\"name\": \"%s\", \"unit\": \"%s\", \"ours\": %.4g, ", more ? ",\n" : "",
	       row->name, row->unit, row->ours);
	more = true;
	if (row->peer_name)
		printf("\"peer\": %.4g, \"peer_name\": \"%s\", \"ratio\": %.4g, ", row->peer,
		       row->peer_name, ratio);
	else
		printf("\"peer\": null, \"peer_name\": null, \"ratio\": null, ");
	if (row->goal > 0)
		printf("\"goal\": %g, \"limit\": null, \"met\": %s}", row->goal,
		       ratio >= row->goal ? "true" : "false");
	else if (row->limit > 0)
		printf("\"goal\": null, \"limit\": %g, \"met\": %s}", row->limit,
		       row->ours <= row->limit ? "true" : "false");
	else
		printf("\"goal\": null, \"limit\": null, \"met\": null}");
	fflush(stdout);
}

void row_print_limit(const char *name, const char *unit, double ours, double limit)
{
	row_print(&(struct row){ .name = name, .unit = unit, .ours = ours, .limit = limit });
}
