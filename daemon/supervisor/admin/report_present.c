#include "admin/report_present.h"

#include "account/claims.h"
#include "admin/report.h"
#include "admin/report_sensors.h"
#include "engine/engine.h"
#include "service/supervisor.h"
#include "share_page.h"

#include <stdlib.h>

bool report_present_begin(struct report_present *present, size_t sessions, size_t engines)
{
	present->devices = calloc(REPORT_PRESENT_MAX, sizeof(*present->devices));
	present->list = calloc(REPORT_PRESENT_MAX, sizeof(void *));
	present->sessions = calloc(sessions + 1, sizeof(*present->sessions));
	/* Each session, the user of each engine, and the service may have one. */
	present->origins = calloc(sessions + engines + 1, sizeof(*present->origins));
	return present->devices && present->list && present->sessions && present->origins;
}

void report_present_fini(struct report_present *present)
{
	free(present->devices);
	free((void *)present->list);
	free(present->sessions);
	free(present->origins);
}

Sycl__V1__OrderOrigin *report_present_origin(struct report_present *present,
					     const struct order_origin *origin)
{
	if (origin->since_unix_seconds == 0)
		return NULL;
	Sycl__V1__OrderOrigin *row = &present->origins[present->origin_count++];
	sycl__v1__order_origin__init(row);
	row->uid = origin->uid;
	row->since_unix_seconds = origin->since_unix_seconds;
	return row;
}

void report_present_session(struct report_present *present, const struct session *session,
			    const struct session_figures *claim, Sycl__V1__SessionFacts *facts_out)
{
	if (claim->paused)
		facts_out->paused_by = report_present_origin(present, &session->paused_by);
	if (!claim->has_present)
		return;
	Sycl__V1__SessionPresent *row = &present->sessions[present->session_count++];
	*row = claim->present;
	row->running = (char *)(uintptr_t)claim->running;
	/* No command of a session can have run for longer than the session exists. */
	if (row->running_ns > facts_out->age_ns)
		row->running_ns = facts_out->age_ns;
	facts_out->present = row;
	/* An engine of an earlier release reports none of the last minute. */
	facts_out->delays = row->delays;
	facts_out->delay_p50_ns = row->delay_p50_ns;
	facts_out->delay_p99_ns = row->delay_p99_ns;
}

static Sycl__V1__DevicePresent *present_row(struct report_present *present,
					    const Sycl__V1__DevicePresent *claim,
					    Sycl__V1__AdminReply *reply)
{
	for (size_t i = 0; i < reply->n_present; i++)
		if (present->devices[i].backend == claim->backend &&
		    present->devices[i].index == claim->index)
			return &present->devices[i];
	if (reply->n_present == REPORT_PRESENT_MAX)
		return NULL;
	Sycl__V1__DevicePresent *row = &present->devices[reply->n_present];
	sycl__v1__device_present__init(row);
	row->device = claim->device;
	row->backend = claim->backend;
	row->index = claim->index;
	present->list[reply->n_present++] = row;
	return row;
}

/* Engines may claim any number, so a sum that overflows becomes the largest number. */
static void present_add_claim(Sycl__V1__DevicePresent *row, const Sycl__V1__DevicePresent *claim)
{
	row->sensors = report_sensors_join(row->sensors, claim->sensors);
	row->busy_permille += claim->busy_permille;
	if (row->busy_permille > SHARE_WHOLE)
		row->busy_permille = SHARE_WHOLE;
	if (__builtin_add_overflow(row->commands, claim->commands, &row->commands))
		row->commands = UINT32_MAX;
	if (__builtin_add_overflow(row->held_bytes, claim->held_bytes, &row->held_bytes))
		row->held_bytes = UINT64_MAX;
}

void report_present_devices(struct report_present *present, const struct inquiry *inquiry,
			    bool (*visible)(const struct inquiry *inquiry,
					    const struct engine *engine),
			    Sycl__V1__AdminReply *reply)
{
	const struct tenant *tenant;
	const struct engine *engine;
	reply->present = present->list;
	TAILQ_FOREACH (tenant, &inquiry->supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			for (unsigned i = 0;
			     visible(inquiry, engine) && i < engine->claims.present_count; i++) {
				Sycl__V1__DevicePresent *row =
					present_row(present, &engine->claims.present[i], reply);
				if (row)
					present_add_claim(row, &engine->claims.present[i]);
			}
}
