#include "admin/orders_sessions.h"

#include "base/configuration.h"
#include "base/log.h"
#include "service/engine_state.h"
#include "service/session.h"
#include "service/supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAUSES_MAX = 8192, LIMITS_MAX = 8192 };

void kept_origin_fill(Sycl__V1__OrderOrigin *row, const struct order_origin *by)
{
	sycl__v1__order_origin__init(row);
	row->uid = by->uid;
	row->since_unix_seconds = by->since_unix_seconds;
}

struct order_origin kept_origin_read(const Sycl__V1__OrderOrigin *row)
{
	if (!row)
		return (struct order_origin){.since_unix_seconds = 0};
	return (struct order_origin){(uid_t)row->uid, row->since_unix_seconds};
}

/* ----------------------------------- to the file --------------------------------------- */

static void kept_of_sessions_add_pause(struct kept_of_sessions *kept, uint64_t session,
				       const struct order_origin *by)
{
	size_t at = kept->pause_count;
	if (at == kept->pause_room || by->since_unix_seconds == 0)
		return;
	Sycl__V1__KeptPause *row = &kept->pauses[at];
	sycl__v1__kept_pause__init(row);
	kept_origin_fill(&kept->origins[at], by);
	row->session = session;
	row->by = &kept->origins[at];
	kept->pause_list[at] = row;
	kept->pause_count++;
}

static void kept_of_sessions_add_limit(struct kept_of_sessions *kept,
				       const struct kept_session_limit *limit)
{
	size_t at = kept->limit_count;
	if (at == kept->limit_room || limit->value == 0)
		return;
	Sycl__V1__LimitFacts *row = &kept->limits[at];
	Sycl__V1__OrderOrigin *by = &kept->origins[kept->pause_room + at];
	sycl__v1__limit_facts__init(row);
	kept_origin_fill(by, &limit->by);
	row->name = (char *)(uintptr_t)configuration_limit_names[limit->index];
	row->value = limit->value;
	row->session = limit->session;
	row->ordered_by = by;
	kept->limit_list[at] = row;
	kept->limit_count++;
}

static void kept_of_sessions_add(struct kept_of_sessions *kept, const struct session *session)
{
	kept_of_sessions_add_pause(kept, session->id, &session->paused_by);
	for (unsigned i = 0; session->limits && i < CONFIGURATION_LIMITS; i++) {
		const struct kept_session_limit limit = {session->id, i, session->limits[i].value,
							 session->limits[i].by};
		kept_of_sessions_add_limit(kept, &limit);
	}
}

/* Returns true if an engine of the last service may still come back. */
static bool kept_of_sessions_add_engines(struct kept_of_sessions *kept,
					 const struct supervisor *supervisor)
{
	const struct tenant *tenant;
	const struct engine *engine;
	const struct session *session;
	bool may_return = false;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link) {
			may_return |= engine->state == ENGINE_RETURNING;
			TAILQ_FOREACH (session, &engine->sessions, link)
				kept_of_sessions_add(kept, session);
		}
	return may_return;
}

/* The number of sessions that have limits of their own. */
static size_t sessions_with_limits(const struct supervisor *supervisor)
{
	const struct tenant *tenant;
	const struct engine *engine;
	const struct session *session;
	size_t count = 0;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			TAILQ_FOREACH (session, &engine->sessions, link)
				count += session->limits != NULL;
	return count;
}

static int kept_of_sessions_reserve(struct kept_of_sessions *kept,
				    const struct supervisor *supervisor)
{
	size_t pauses = supervisor->session_count + (size_t)supervisor->pause_count;
	size_t limits = sessions_with_limits(supervisor) * CONFIGURATION_LIMITS +
			supervisor->session_limit_count;
	kept->pause_room = pauses < PAUSES_MAX ? pauses : PAUSES_MAX;
	kept->limit_room = limits < LIMITS_MAX ? limits : LIMITS_MAX;
	kept->origins = calloc(kept->pause_room + kept->limit_room + 1, sizeof(*kept->origins));
	kept->pauses = calloc(kept->pause_room + 1, sizeof(*kept->pauses));
	kept->pause_list = calloc(kept->pause_room + 1, sizeof(void *));
	kept->limits = calloc(kept->limit_room + 1, sizeof(*kept->limits));
	kept->limit_list = calloc(kept->limit_room + 1, sizeof(void *));
	if (!kept->origins || !kept->pauses || !kept->pause_list || !kept->limits ||
	    !kept->limit_list)
		return -ENOMEM;
	return 0;
}

int kept_of_sessions_collect(const struct supervisor *supervisor, struct kept_of_sessions *kept)
{
	int r = kept_of_sessions_reserve(kept, supervisor);
	if (r < 0 || !kept_of_sessions_add_engines(kept, supervisor))
		return r;
	for (uint32_t i = 0; i < supervisor->pause_count; i++)
		kept_of_sessions_add_pause(kept, supervisor->pauses[i].session,
					   &supervisor->pauses[i].by);
	for (uint32_t i = 0; i < supervisor->session_limit_count; i++)
		kept_of_sessions_add_limit(kept, &supervisor->session_limits[i]);
	return 0;
}

void kept_of_sessions_fill(const struct kept_of_sessions *kept, Sycl__V1__KeptOrders *orders)
{
	orders->pauses = kept->pause_list;
	orders->n_pauses = kept->pause_count;
	orders->session_limits = kept->limit_list;
	orders->n_session_limits = kept->limit_count;
}

void kept_of_sessions_fini(struct kept_of_sessions *kept)
{
	free(kept->origins);
	free(kept->pauses);
	free((void *)kept->pause_list);
	free(kept->limits);
	free((void *)kept->limit_list);
}

/* ---------------------------------- from the file -------------------------------------- */

static int kept_pauses_compare(const void *left, const void *right)
{
	const struct kept_pause *a = left, *b = right;
	return (a->session > b->session) - (a->session < b->session);
}

static int kept_limits_compare(const void *left, const void *right)
{
	const struct kept_session_limit *a = left, *b = right;
	if (a->session != b->session)
		return a->session > b->session ? 1 : -1;
	return (a->index > b->index) - (a->index < b->index);
}

static void kept_pauses_restore(struct supervisor *supervisor, const Sycl__V1__KeptOrders *kept)
{
	size_t count = kept->n_pauses < PAUSES_MAX ? kept->n_pauses : PAUSES_MAX;
	supervisor->pauses = calloc(count + 1, sizeof(*supervisor->pauses));
	for (size_t i = 0; supervisor->pauses && i < count; i++)
		supervisor->pauses[supervisor->pause_count++] = (struct kept_pause){
			kept->pauses[i]->session, kept_origin_read(kept->pauses[i]->by)};
}

/* Skips a limit that this release does not have: another release may have written the file. */
static void kept_session_limit_restore(struct supervisor *supervisor,
				       const Sycl__V1__LimitFacts *row)
{
	unsigned i = 0;
	while (i < CONFIGURATION_LIMITS && strcmp(row->name, configuration_limit_names[i]) != 0)
		i++;
	if (i == CONFIGURATION_LIMITS || row->value > configuration_limit_most[i])
		return;
	supervisor->session_limits[supervisor->session_limit_count++] = (struct kept_session_limit){
		row->session, i, row->value, kept_origin_read(row->ordered_by)};
}

static void kept_session_limits_restore(struct supervisor *supervisor,
					const Sycl__V1__KeptOrders *kept)
{
	size_t count = kept->n_session_limits < LIMITS_MAX ? kept->n_session_limits : LIMITS_MAX;
	supervisor->session_limits = calloc(count + 1, sizeof(*supervisor->session_limits));
	for (size_t i = 0; supervisor->session_limits && i < count; i++)
		kept_session_limit_restore(supervisor, kept->session_limits[i]);
}

void kept_of_sessions_restore(struct supervisor *supervisor, const Sycl__V1__KeptOrders *kept)
{
	kept_pauses_restore(supervisor, kept);
	kept_session_limits_restore(supervisor, kept);
	/* An engine may return with thousands of sessions, and each is looked up here. */
	if (supervisor->pauses)
		qsort(supervisor->pauses, supervisor->pause_count, sizeof(*supervisor->pauses),
		      kept_pauses_compare);
	if (supervisor->session_limits)
		qsort(supervisor->session_limits, supervisor->session_limit_count,
		      sizeof(*supervisor->session_limits), kept_limits_compare);
}

/* What is known of the session itself again is not written from here any more: it may be revoked
 * while other engines have not come back. */
static void session_recall_pause(struct session *session, struct supervisor *supervisor)
{
	const struct kept_pause wanted = {.session = session->id};
	struct kept_pause *found =
		supervisor->pause_count == 0
			? NULL
			: bsearch(&wanted, supervisor->pauses, supervisor->pause_count,
				  sizeof(*supervisor->pauses), kept_pauses_compare);
	if (!found)
		return;
	session->paused_by = found->by;
	found->by = (struct order_origin){.since_unix_seconds = 0};
}

static void session_recall_limits(struct session *session, struct supervisor *supervisor)
{
	for (unsigned i = 0; supervisor->session_limit_count > 0 && i < CONFIGURATION_LIMITS; i++) {
		const struct kept_session_limit wanted = {.session = session->id, .index = i};
		struct kept_session_limit *found = bsearch(
			&wanted, supervisor->session_limits, supervisor->session_limit_count,
			sizeof(*supervisor->session_limits), kept_limits_compare);
		if (!found)
			continue;
		if (session_keep_limit(session, i, found->value, found->by) < 0)
			log_warning("order", "no memory to show the limits of session %llu",
				    (unsigned long long)session->id);
		found->value = 0;
	}
}

void kept_of_sessions_recall(struct engine *engine)
{
	struct supervisor *supervisor = engine->tenant->supervisor;
	struct session *session;
	TAILQ_FOREACH (session, &engine->sessions, link) {
		session_recall_pause(session, supervisor);
		session_recall_limits(session, supervisor);
	}
}

void kept_of_sessions_forget(struct supervisor *supervisor)
{
	free(supervisor->pauses);
	free(supervisor->session_limits);
	supervisor->pauses = NULL;
	supervisor->session_limits = NULL;
	supervisor->pause_count = 0;
	supervisor->session_limit_count = 0;
}
