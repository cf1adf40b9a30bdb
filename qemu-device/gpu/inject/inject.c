// SPDX-License-Identifier: MIT
/* Fault injection. See inject.h. */
#include "inject.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pumice_names.h"

#define WHERE(name)	(1u << PUMICE_INJECT_WHERE_##name)
#define MASTERS		(WHERE(CDM) | WHERE(VDM) | WHERE(PDM) | WHERE(TDM) | WHERE(RDM))
#define TEXT_BYTES	160u

/* Units that each kind is valid for. */
static const u32 allowed[PUMICE_INJECT_KIND_COUNT] = {
	[PUMICE_INJECT_KIND_UNIT_HANG] = MASTERS,
	[PUMICE_INJECT_KIND_FW_LOCKUP] = WHERE(KICK) | WHERE(JOB) | WHERE(BOOT),
	[PUMICE_INJECT_KIND_FW_TRAP] = WHERE(KICK) | WHERE(JOB),
	[PUMICE_INJECT_KIND_FW_SILENCE] = WHERE(KICK) | WHERE(JOB) | WHERE(BOOT) | WHERE(KCCB) |
					  WHERE(FWCCB),
	[PUMICE_INJECT_KIND_LOST_IRQ] = MASTERS | WHERE(HOST_IRQ) | WHERE(KICK),
	[PUMICE_INJECT_KIND_SPURIOUS_IRQ] = MASTERS | WHERE(HOST_IRQ) | WHERE(HOST_FW) |
					    WHERE(HOST_LOCKUP),
	[PUMICE_INJECT_KIND_LATE_END] = MASTERS,
	[PUMICE_INJECT_KIND_FW_MESSAGE] = WHERE(MESSAGE) | WHERE(RING) | WHERE(STATUS) |
					  WHERE(HEARTBEAT),
	[PUMICE_INJECT_KIND_PAGE_TABLE] = WHERE(CATALOGUE) | WHERE(DIRECTORY) | WHERE(TABLE) |
					  WHERE(FW_TABLE),
	[PUMICE_INJECT_KIND_FREE_LIST] = WHERE(LIST),
	[PUMICE_INJECT_KIND_SLOW_MEMORY] = WHERE(USC),
};
_Static_assert((unsigned int)PUMICE_INJECT_KIND_COUNT <= PUMICE_INJ_LEFT_COUNT,
	       "registers for each kind");
_Static_assert((unsigned int)PUMICE_INJECT_WHERE_COUNT <= 32, "a bit for each place");

void inject_init(struct inject *in)
{
	memset(in, 0, sizeof(*in));
	pthread_mutex_init(&in->lock, NULL);
}

void inject_destroy(struct inject *in)
{
	pthread_mutex_destroy(&in->lock);
}

void inject_reset(struct inject *in)
{
	atomic_store(&in->hung, 0);
	in->late = 0;
}

bool inject_arm(struct inject *in, const struct inject_request *request)
{
	if ((u32)request->kind >= PUMICE_INJECT_KIND_COUNT ||
	    (u32)request->where >= PUMICE_INJECT_WHERE_COUNT ||
	    !(allowed[request->kind] & 1u << request->where) || !request->count)
		return false;
	pthread_mutex_lock(&in->lock);
	in->request[request->kind] = *request;
	atomic_fetch_or(&in->armed, 1u << request->kind);
	pthread_mutex_unlock(&in->lock);
	return true;
}

void inject_clear(struct inject *in)
{
	pthread_mutex_lock(&in->lock);
	memset(in->request, 0, sizeof(in->request));
	atomic_store(&in->armed, 0);
	pthread_mutex_unlock(&in->lock);
}

void inject_forget_guest(struct inject *in)
{
	u32 kind;

	pthread_mutex_lock(&in->lock);
	for (kind = 0; kind < PUMICE_INJECT_KIND_COUNT; kind++) {
		if (!in->request[kind].guest)
			continue;
		in->request[kind] = (struct inject_request){ 0 };
		atomic_fetch_and(&in->armed, ~(1u << kind));
	}
	pthread_mutex_unlock(&in->lock);
}

u32 inject_left(struct inject *in, u32 kind)
{
	u32 left;

	if (kind >= PUMICE_INJECT_KIND_COUNT)
		return 0;
	pthread_mutex_lock(&in->lock);
	left = in->request[kind].count;
	pthread_mutex_unlock(&in->lock);
	return left;
}

u32 inject_hits(struct inject *in, u32 kind)
{
	u32 hits;

	if (kind >= PUMICE_INJECT_KIND_COUNT)
		return 0;
	pthread_mutex_lock(&in->lock);
	hits = in->hits[kind];
	pthread_mutex_unlock(&in->lock);
	return hits;
}

bool inject_consume(struct inject *in, enum pumice_inject_kind kind,
		    enum pumice_inject_where where, struct inject_request *request)
{
	struct inject_request *r = &in->request[kind];
	bool happens = false;

	pthread_mutex_lock(&in->lock);
	if (r->count && r->where == where) {
		happens = !r->skip;
		if (!happens)
			r->skip--;
		else if (r->count != INJECT_ENDLESS)
			r->count--;
	}
	if (happens) {
		in->hits[kind]++;
		if (request)
			*request = *r;
	}
	if (!r->count)
		atomic_fetch_and(&in->armed, ~(1u << kind));
	pthread_mutex_unlock(&in->lock);
	return happens;
}

void inject_hold_back(struct inject *in, u32 events, u64 until)
{
	u32 i;

	in->late |= events;
	for (i = 0; i < INJECT_EVENTS; i++)
		if (events >> i & 1)
			in->late_until[i] = until;
}

u32 inject_due(struct inject *in, u64 now, u64 *next)
{
	u32 due = 0, i;

	*next = UINT64_MAX;
	for (i = 0; i < INJECT_EVENTS; i++) {
		if (!(in->late >> i & 1))
			continue;
		if (in->late_until[i] <= now)
			due |= 1u << i;
		else if (in->late_until[i] < *next)
			*next = in->late_until[i];
	}
	in->late &= ~due;
	return due;
}

static bool parse_number(const char *text, u32 *value)
{
	unsigned long long number;
	char *end;

	/* strtoull() accepts spaces and a sign. */
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || *end || number > UINT32_MAX)
		return false;
	*value = (u32)number;
	return true;
}

static bool parse_kind(const char *text, struct inject_request *request)
{
	u32 kind, where;

	for (kind = 0; kind < PUMICE_INJECT_KIND_COUNT; kind++)
		if (allowed[kind] && !strcmp(text, pumice_inject_kind_str(kind)))
			break;
	if (kind == PUMICE_INJECT_KIND_COUNT)
		return false;
	for (where = 0; !(allowed[kind] >> where & 1); where++)
		;
	*request = (struct inject_request){
		.kind = (enum pumice_inject_kind)kind, .where = (enum pumice_inject_where)where,
		.count = 1,
	};
	return true;
}

static bool parse_where(const char *text, struct inject_request *request)
{
	u32 where;

	for (where = 0; where < PUMICE_INJECT_WHERE_COUNT; where++) {
		if (strcmp(text, pumice_inject_where_str(where)))
			continue;
		request->where = (enum pumice_inject_where)where;
		return allowed[request->kind] >> where & 1;
	}
	return false;
}

/* KEY=VALUE */
static bool parse_option(char *text, struct inject_request *request)
{
	char *value = strchr(text, '=');

	if (!value)
		return false;
	*value++ = '\0';
	if (!strcmp(text, "where"))
		return parse_where(value, request);
	if (!strcmp(text, "bit"))
		return parse_number(value, &request->bit);
	if (!strcmp(text, "us"))
		return parse_number(value, &request->us);
	if (!strcmp(text, "skip"))
		return parse_number(value, &request->skip);
	if (strcmp(text, "count"))
		return false;
	if (!strcmp(value, "endless")) {
		request->count = INJECT_ENDLESS;
		return true;
	}
	return parse_number(value, &request->count) && request->count;
}

bool inject_parse(const char *text, struct inject_request *request)
{
	char copy[TEXT_BYTES], *at = copy, *word;

	if (strlen(text) >= sizeof(copy))
		return false;
	memcpy(copy, text, strlen(text) + 1);
	word = strsep(&at, ",");
	if (!parse_kind(word, request))
		return false;
	while ((word = strsep(&at, ",")))
		if (!parse_option(word, request))
			return false;
	return true;
}

__attribute__((format(printf, 4, 5))) static size_t append(char *text, size_t bytes, size_t used,
							   const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text + used, bytes - used, format, args);
	va_end(args);
	return length < 0 || (size_t)length >= bytes - used ? bytes - 1 : used + (size_t)length;
}

void inject_describe(struct inject *in, char *text, size_t bytes)
{
	struct inject_request request[PUMICE_INJECT_KIND_COUNT];
	size_t used = 0;
	u32 kind;

	pthread_mutex_lock(&in->lock);
	memcpy(request, in->request, sizeof(request));
	pthread_mutex_unlock(&in->lock);
	text[0] = '\0';
	for (kind = 0; kind < PUMICE_INJECT_KIND_COUNT; kind++) {
		const struct inject_request *r = &request[kind];

		if (!r->count)
			continue;
		used = append(text, bytes, used, "%s%s,where=%s,bit=%u,us=%u,skip=%u,",
			      used ? "\n" : "", pumice_inject_kind_str(kind),
			      pumice_inject_where_str(r->where), r->bit, r->us, r->skip);
		used = r->count == INJECT_ENDLESS ?
			       append(text, bytes, used, "count=endless") :
			       append(text, bytes, used, "count=%u", r->count);
	}
}
