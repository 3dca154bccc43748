#include "admin/report_present.h"

#include "account/claims.h"
#include "admin/report.h"
#include "admin/report_sensors.h"
#include "delay_histogram.h"
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

/* Sums the delays of all devices. */
static void fill_delays(const Sycl__V1__SessionReport *devices, Sycl__V1__SessionFacts *facts)
{
	struct delay_histogram sum = {{0}};
	for (size_t i = 0; devices && i < devices->n_devices; i++)
		delay_add(&sum, devices->devices[i]->first_delay, devices->devices[i]->delays,
			  devices->devices[i]->n_delays);
	facts->delays = delay_total(&sum);
	facts->delay_p50_ns = delay_quantile(&sum, 500);
	facts->delay_p99_ns = delay_quantile(&sum, 990);
}

void report_present_session(struct report_present *present, const struct engine *engine,
			    const struct session *session, const struct session_figures *claim,
			    Sycl__V1__SessionFacts *facts_out)
{
	fill_delays(claims_devices(claim, &engine->tenant->supervisor->arena), facts_out);
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
static void add_claim(Sycl__V1__DevicePresent *row, const Sycl__V1__DevicePresent *claim)
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
					add_claim(row, &engine->claims.present[i]);
			}
}
