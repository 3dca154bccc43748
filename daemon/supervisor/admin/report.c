#include "admin/report.h"

#include "admin/jobs.h"
#include "admin/trace.h"
#include "engine/placement.h"
#include "engine/engine.h"
#include "engine/control.h"
#include "base/log.h"
#include "admin/orders.h"
#include "admin/report_events.h"
#include "status.h"
#include "service/supervisor.h"
#include "account/tenant_forget.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	INQUIRIES_MAX = 64,
	INQUIRIES_PER_UID = 8,
	ENGINE_WAIT_MS = 1000,
	DISCOVERY_WAIT_MS = 20000,
};

static void on_inquiry_timer_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void inquiry_end(struct inquiry *inquiry)
{
	TAILQ_REMOVE(&inquiry->supervisor->inquiries->list, inquiry, link);
	asker_drop(&inquiry->asker);
	inquiry->poll = trace_poll_free(inquiry->poll);
	uv_close((uv_handle_t *)&inquiry->timer, on_inquiry_timer_closed);
}

static void inquiry_finish_when_complete(struct inquiry *inquiry)
{
	if (inquiry->awaited || inquiry->discovers || inquiry->awaits_user)
		return;
	if (inquiry->kind == INQUIRY_TRACE)
		trace_reply(inquiry);
	else
		report_reply(inquiry);
	inquiry_end(inquiry);
}

static void on_inquiry_late(uv_timer_t *timer)
{
	struct inquiry *inquiry = timer->data;
	inquiry->awaited = 0;
	inquiry->discovers = NULL;
	inquiry->awaits_user = false;
	inquiry_finish_when_complete(inquiry);
}

static void on_engines_late(uv_timer_t *timer)
{
	struct inquiry *inquiry = timer->data;
	inquiry->awaited = 0;
	if (inquiry->discovers || inquiry->awaits_user)
		(void)uv_timer_start(timer, on_inquiry_late, DISCOVERY_WAIT_MS, 0);
	inquiry_finish_when_complete(inquiry);
}

/* False: the engine has too many open requests, or accepts no message. It then counts as not
 * replying. */
static bool inquiry_request_engine(struct engine *engine, struct inquiry *inquiry, bool discover)
{
	for (unsigned i = 0; i < ENGINE_REQUESTS_MAX; i++) {
		if (engine->requests[i])
			continue;
		bool is_sent = false;
		if (inquiry->poll)
			is_sent = trace_query_engine(inquiry->poll, engine, inquiry->id);
		else if (engine->control >= 0)
			is_sent = engine_send_report_request(engine, inquiry->id, discover) == 0;
		if (is_sent) {
			engine->requests[i] = inquiry->id;
			engine->report_parts[i] = 0;
		}
		return is_sent;
	}
	return false;
}

static void inquiry_request_engines(struct inquiry *inquiry)
{
	struct tenant *tenant;
	struct engine *engine;
	TAILQ_FOREACH (tenant, &inquiry->supervisor->tenants, link) {
		if (!inquiry->asker.sees_all && tenant->uid != inquiry->asker.uid)
			continue;
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine->was_ready && engine != inquiry->discovers &&
			    (inquiry->poll || claims_may_request(&engine->claims, inquiry->id)) &&
			    inquiry_request_engine(engine, inquiry, false))
				inquiry->awaited++;
	}
}

static void inquiry_request_discovery(struct inquiry *inquiry)
{
	inquiry->discovery_asked = true;
	if (!inquiry_request_engine(inquiry->discovers, inquiry, true))
		inquiry->discovers = NULL;
}

/* The client's own engine looks devices up. It is started if necessary. */
static void inquiry_begin_discovery(struct inquiry *inquiry)
{
	struct supervisor *supervisor = inquiry->supervisor;
	struct refusal refusal = {.text = ""};
	struct engine *engine = NULL;
	int r = 0;
	if (supervisor->stopping || (!supervisor->privileged && inquiry->asker.uid != geteuid()))
		return;
	/* That engine is in no job. */
	if (supervisor->configuration.refuse_outside && !inquiry->asker.may_order) {
		(void)snprintf(
			inquiry->trouble, sizeof(inquiry->trouble),
			"only jobs may use the devices of this node (outside_jobs = refuse)");
		return;
	}
	struct tenant *tenant = tenant_get(supervisor, inquiry->asker.uid, &refusal);
	if (tenant) {
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (!engine->job &&
			    (engine->state == ENGINE_STARTING || engine->state == ENGINE_READY ||
			     tenant->current == engine))
				break;
		/* The standby is not used, because it is kept for a tenant with work. */
		if (!engine && (r = tenant_engine(tenant, NULL, false, &engine, &refusal)) < 0)
			engine = NULL;
	}
	inquiry->discovers = engine;
	inquiry->awaits_user = r == -EINPROGRESS;
	if (!engine && !inquiry->awaits_user)
		(void)snprintf(inquiry->trouble, sizeof(inquiry->trouble), "%.120s", refusal.text);
	if (engine && engine->was_ready)
		inquiry_request_discovery(inquiry);
}

static bool inquiries_have_room(const struct inquiries *inquiries, const struct uid_place *wanted)
{
	struct uid_places places = {.all = 0};
	const struct inquiry *inquiry;
	TAILQ_FOREACH (inquiry, &inquiries->list, link)
		uid_places_count(&places, &inquiry->place, wanted);
	return uid_places_have_room(&places, wanted, INQUIRIES_MAX, INQUIRIES_PER_UID);
}

static struct inquiry *inquiry_new(struct supervisor *supervisor, struct asker *asker,
				   enum inquiry_kind kind)
{
	/* Requests of other users must not keep operators from asking. */
	const struct uid_place place = *sp_peer_place(asker->peer);
	if (!inquiries_have_room(supervisor->inquiries, &place)) {
		admin_answer_error(asker, STATUS_QUOTA, "too many questions at one time");
		return NULL;
	}
	struct inquiry *inquiry = calloc(1, sizeof(*inquiry));
	struct trace_poll *poll = kind == INQUIRY_TRACE ? trace_poll_new(supervisor) : NULL;
	if (!inquiry || (kind == INQUIRY_TRACE && !poll)) {
		(void)trace_poll_free(poll);
		free(inquiry);
		admin_answer_error(asker, STATUS_MEMORY_ALLOCATION, "the service has no memory");
		return NULL;
	}
	inquiry->supervisor = supervisor;
	inquiry->kind = kind;
	inquiry->trace = supervisor->trace->terms.id;
	inquiry->poll = poll;
	inquiry->id = ++supervisor->inquiries->last;
	inquiry->asker = *asker;
	inquiry->place = place;
	asker->peer = NULL;
	(void)uv_timer_init(&supervisor->loop, &inquiry->timer);
	inquiry->timer.data = inquiry;
	TAILQ_INSERT_TAIL(&supervisor->inquiries->list, inquiry, link);
	return inquiry;
}

/* The requests that an inquiry answers. */
static const struct {
	Sycl__V1__AdminRequest__BodyCase request;
	enum inquiry_kind kind;
} inquiry_kinds[] = {
	{SYCL__V1__ADMIN_REQUEST__BODY_STATUS, INQUIRY_STATUS},
	{SYCL__V1__ADMIN_REQUEST__BODY_SESSIONS, INQUIRY_SESSIONS},
	{SYCL__V1__ADMIN_REQUEST__BODY_DEVICES, INQUIRY_DEVICES},
	{SYCL__V1__ADMIN_REQUEST__BODY_ACCOUNTS, INQUIRY_ACCOUNTS},
	{SYCL__V1__ADMIN_REQUEST__BODY_VERSION, INQUIRY_VERSION},
	{SYCL__V1__ADMIN_REQUEST__BODY_LIMITS, INQUIRY_LIMITS},
	{SYCL__V1__ADMIN_REQUEST__BODY_TRACE, INQUIRY_TRACE},
};

static int inquiry_kind_of(const Sycl__V1__AdminRequest *request, enum inquiry_kind *kind_out)
{
	for (size_t i = 0; i < sizeof(inquiry_kinds) / sizeof(*inquiry_kinds); i++) {
		if (inquiry_kinds[i].request == request->body_case) {
			*kind_out = inquiry_kinds[i].kind;
			return 0;
		}
	}
	return -EINVAL;
}

void report_inquire(struct supervisor *supervisor, struct asker *asker,
		    const Sycl__V1__AdminRequest *request)
{
	if (request->body_case == SYCL__V1__ADMIN_REQUEST__BODY_ORDER) {
		orders_take(supervisor, asker, request->order);
		return;
	}
	if (request->body_case == SYCL__V1__ADMIN_REQUEST__BODY_JOB) {
		jobs_take(supervisor, asker, request->job);
		return;
	}
	if (request->body_case == SYCL__V1__ADMIN_REQUEST__BODY_JOBS) {
		jobs_report(supervisor, asker);
		return;
	}
	if (request->body_case == SYCL__V1__ADMIN_REQUEST__BODY_EVENTS) {
		report_events(asker, request->events);
		return;
	}
	enum inquiry_kind kind;
	if (inquiry_kind_of(request, &kind) < 0) {
		admin_answer_error(asker, STATUS_INVALID, "this service has no such request");
		return;
	}
	struct account_terms terms = {.by = 0};
	const char *wrong =
		kind == INQUIRY_ACCOUNTS ? account_terms_read(request->accounts, &terms) : NULL;
	if (wrong) {
		admin_answer_error(asker, STATUS_INVALID, wrong);
		return;
	}
	if (kind == INQUIRY_TRACE && !trace_inquire(supervisor, asker, request->trace))
		return;
	bool discover = kind == INQUIRY_DEVICES && request->devices->discover;
	struct inquiry *inquiry = inquiry_new(supervisor, asker, kind);
	if (!inquiry)
		return;
	inquiry->terms = terms;
	if (discover)
		inquiry_begin_discovery(inquiry);
	struct tenant *tenant = discover ? tenant_find(supervisor, inquiry->asker.uid) : NULL;
	if (tenant)
		tenant_review(tenant);
	if (kind != INQUIRY_VERSION && kind != INQUIRY_LIMITS)
		inquiry_request_engines(inquiry);
	(void)uv_timer_start(&inquiry->timer, on_engines_late, ENGINE_WAIT_MS, 0);
	inquiry_finish_when_complete(inquiry);
}

struct inquiry *report_find(struct supervisor *supervisor, uint64_t id)
{
	struct inquiry *inquiry;
	TAILQ_FOREACH (inquiry, &supervisor->inquiries->list, link)
		if (inquiry->id == id)
			return inquiry;
	return NULL;
}

static void inquiry_engine_done(struct engine *engine, uint64_t request)
{
	struct inquiry *inquiry = report_find(engine->tenant->supervisor, request);
	if (!inquiry)
		return; /* the reply was sent without this engine */
	if (inquiry->discovers == engine)
		inquiry->discovers = NULL;
	else if (inquiry->awaited)
		inquiry->awaited--;
	inquiry_finish_when_complete(inquiry);
}

void report_arrived(struct engine *engine, uint64_t request)
{
	inquiry_engine_done(engine, request);
}

void report_tenant_identified(const struct tenant *tenant)
{
	struct inquiry *inquiry = TAILQ_FIRST(&tenant->supervisor->inquiries->list);
	while (inquiry) {
		struct inquiry *next = TAILQ_NEXT(inquiry, link);
		if (inquiry->awaits_user && inquiry->asker.uid == tenant->uid) {
			inquiry_begin_discovery(inquiry);
			inquiry_finish_when_complete(inquiry);
		}
		inquiry = next;
	}
}

void report_engine_ready(struct engine *engine)
{
	struct inquiry *inquiry = TAILQ_FIRST(&engine->tenant->supervisor->inquiries->list);
	while (inquiry) {
		struct inquiry *next = TAILQ_NEXT(inquiry, link);
		if (inquiry->discovers == engine && !inquiry->discovery_asked) {
			inquiry_request_discovery(inquiry);
			inquiry_finish_when_complete(inquiry);
		}
		inquiry = next;
	}
}

void report_engine_ended(struct engine *engine)
{
	for (unsigned i = 0; i < ENGINE_REQUESTS_MAX; i++)
		if (engine->requests[i])
			inquiry_engine_done(engine, engine->requests[i]);
	struct inquiry *inquiry = TAILQ_FIRST(&engine->tenant->supervisor->inquiries->list);
	while (inquiry) {
		struct inquiry *next = TAILQ_NEXT(inquiry, link);
		if (inquiry->discovers == engine) {
			(void)snprintf(inquiry->trouble, sizeof(inquiry->trouble),
				       "the engine could not start");
			inquiry->discovers = NULL;
			inquiry_finish_when_complete(inquiry);
		}
		inquiry = next;
	}
}

void report_drop_all(struct supervisor *supervisor)
{
	struct inquiry *inquiry;
	while ((inquiry = TAILQ_FIRST(&supervisor->inquiries->list)))
		inquiry_end(inquiry);
}
