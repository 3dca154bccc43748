/* Builds the reply of an inquiry from the supervisor's own data and the engines' claims. */
#include "account/account.h"
#include "clock.h"
#include "control.pb-c.h"
#include "engine/standby.h"
#include "engine/engine.h"
#include "protocol_limits.h"
#include "base/log.h"
#include "admin/report.h"
#include "admin/report_devices.h"
#include "admin/report_limits.h"
#include "admin/report_present.h"
#include "engine/sharing.h"
#include "status.h"
#include "service/supervisor.h"
#include "service/tenant_share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENDPOINT_BYTES = 160, SHARES_OF_ENGINE_MAX = 16 };

struct reply {
	const struct inquiry *inquiry;
	Sycl__V1__AdminReply message;
	Sycl__V1__ServiceFacts service;
	char endpoint[ENDPOINT_BYTES];
	char *endpoints[1];
	unsigned engine_capacity; /* capacity of every array below */
	unsigned session_capacity;
	Sycl__V1__EngineFacts *engines;
	Sycl__V1__EngineFacts **engine_list;
	Sycl__V1__SessionFacts *sessions;
	Sycl__V1__SessionFacts **session_list;
	Sycl__V1__Usage *session_usages;
	struct report_devices devices;
	struct report_present present;
	Sycl__V1__AccountFacts
		*accounts; /* engine_capacity: there is one for each tenant at most */
	Sycl__V1__AccountFacts **account_list;
	Sycl__V1__Usage *usages;
	Sycl__V1__ShareFacts
		*shares; /* SHARES_OF_ENGINE_MAX for each engine; those beyond are not shown */
	Sycl__V1__ShareFacts **share_list;
	struct account_query query;
	struct report_limits limits;
};

static bool is_visible_to(const struct inquiry *inquiry, const struct tenant *tenant)
{
	return inquiry->asker.sees_all || tenant->uid == inquiry->asker.uid;
}

/* Older reports must not appear as new ones. */
static bool engine_has_answered(const struct reply *reply, const struct engine *engine)
{
	return claims_answer(&engine->claims, reply->inquiry->id);
}

/* True if the engine has answered this inquiry, and the requesting user may see its claims. */
static bool is_present_of(const struct inquiry *inquiry, const struct engine *engine)
{
	return is_visible_to(inquiry, engine->tenant) &&
	       claims_answer(&engine->claims, inquiry->id);
}

/* Counts the largest number of rows of each kind. */
static void reply_count_capacities(struct reply *reply)
{
	const struct tenant *tenant;
	const struct engine *engine;
	TAILQ_FOREACH (tenant, &reply->inquiry->supervisor->tenants, link) {
		if (!is_visible_to(reply->inquiry, tenant))
			continue;
		reply->engine_capacity++; /* a tenant without an engine has a row too */
		reply->session_capacity += tenant->arriving_count;
		TAILQ_FOREACH (engine, &tenant->engines, link) {
			reply->engine_capacity++;
			reply->session_capacity += engine->waiting_count + engine->sessions_count;
		}
	}
}

/* Each array has one element more than needed, so that none is empty. */
static bool reply_allocate_rows(struct reply *reply)
{
	size_t engines = reply->engine_capacity + 1u;
	size_t sessions = reply->session_capacity + 1u;
	reply->engines = calloc(engines, sizeof(*reply->engines));
	reply->engine_list = calloc(engines, sizeof(void *));
	reply->sessions = calloc(sessions, sizeof(*reply->sessions));
	reply->session_list = calloc(sessions, sizeof(void *));
	reply->session_usages = calloc(sessions, sizeof(*reply->session_usages));
	reply->accounts = calloc(engines, sizeof(*reply->accounts));
	reply->account_list = calloc(engines, sizeof(void *));
	reply->usages = calloc(engines, sizeof(*reply->usages));
	reply->shares = calloc(engines * SHARES_OF_ENGINE_MAX, sizeof(*reply->shares));
	reply->share_list = calloc(engines * SHARES_OF_ENGINE_MAX, sizeof(void *));
	return report_present_begin(&reply->present, sessions, engines) && reply->shares &&
	       reply->share_list && reply->accounts && reply->account_list && reply->usages &&
	       reply->engines && reply->engine_list && reply->sessions && reply->session_list &&
	       reply->session_usages;
}

static void reply_free_rows(struct reply *reply)
{
	free(reply->engines);
	free((void *)reply->engine_list);
	free(reply->sessions);
	free((void *)reply->session_list);
	free(reply->session_usages);
	report_devices_fini(&reply->devices);
	free(reply->accounts);
	free((void *)reply->account_list);
	free(reply->usages);
	free(reply->shares);
	free((void *)reply->share_list);
	account_query_fini(&reply->query);
	report_limits_fini(&reply->limits);
	report_present_fini(&reply->present);
}

/* The standby has no user yet. It is shown to users that may see everything, and to the only user
 * of a service. */
static void reply_add_standby(const struct reply *reply, Sycl__V1__ServiceFacts *service)
{
	static const Sycl__V1__EngineState states[] = {
		[STANDBY_NONE] = SYCL__V1__ENGINE_STATE__ENGINE_STATE_NONE,
		[STANDBY_STARTING] = SYCL__V1__ENGINE_STATE__ENGINE_STATE_STARTING,
		[STANDBY_READY] = SYCL__V1__ENGINE_STATE__ENGINE_STATE_READY,
		[STANDBY_ENDING] = SYCL__V1__ENGINE_STATE__ENGINE_STATE_STOPPING,
	};
	const struct supervisor *supervisor = reply->inquiry->supervisor;
	pid_t pid = 0;
	uint64_t since_ns = 0;
	if (!reply->inquiry->asker.sees_all && supervisor->privileged)
		return;
	enum standby_state state = standby_describe(supervisor, &pid, &since_ns);
	if (state == STANDBY_NONE)
		return;
	service->standby_pid = (uint32_t)pid;
	service->standby_state = states[state];
	service->standby_age_ns = clock_now_ns() - since_ns;
}

static void reply_add_service(struct reply *reply)
{
	struct supervisor *supervisor = reply->inquiry->supervisor;
	Sycl__V1__ServiceFacts *service = &reply->service;
	sycl__v1__service_facts__init(service);
	service->pid = (uint32_t)getpid();
	service->uid = geteuid();
	service->version = (char *)(uintptr_t)SYCLD_VERSION;
	service->protocol = PROTOCOL_VERSION;
	service->since_unix_seconds = supervisor->since_unix_seconds;
	service->uptime_ns = clock_now_ns() - supervisor->since_ns;
	service->mode = supervisor->options.user ? SYCL__V1__SERVICE_MODE__SERVICE_MODE_USER
						 : SYCL__V1__SERVICE_MODE__SERVICE_MODE_SYSTEM;
	service->runtime_directory = supervisor->directory.path;
	(void)snprintf(reply->endpoint, sizeof(reply->endpoint), "unix:%s",
		       supervisor->session_path);
	reply->endpoints[0] = reply->endpoint;
	service->n_endpoints = 1;
	service->endpoints = reply->endpoints;
	service->stopping = supervisor->stopping;
	service->drained = supervisor->drained;
	if (supervisor->drained)
		service->drained_by =
			report_present_origin(&reply->present, &supervisor->drained_by);
	if (supervisor->sharing->is_on)
		service->share_mode = supervisor->configuration.shares.exclusive
					      ? SYCL__V1__SHARE_MODE__SHARE_MODE_EXCLUSIVE
					      : SYCL__V1__SHARE_MODE__SHARE_MODE_CONCURRENT;
	service->filtered = !reply->inquiry->asker.sees_all;
	reply_add_standby(reply, service);
	reply->message.service = service;
}

static Sycl__V1__EngineState engine_state_of(const struct reply *reply, const struct engine *engine)
{
	switch (engine->state) {
	case ENGINE_STARTING:
		return SYCL__V1__ENGINE_STATE__ENGINE_STATE_STARTING;
	case ENGINE_STOPPING:
		return SYCL__V1__ENGINE_STATE__ENGINE_STATE_STOPPING;
	default:
		return engine_has_answered(reply, engine)
			       ? SYCL__V1__ENGINE_STATE__ENGINE_STATE_READY
			       : SYCL__V1__ENGINE_STATE__ENGINE_STATE_NOT_ANSWERING;
	}
}

/* Both messages have the engine's figures under the same names. Only numbers are copied. */
static void row_add_claims(const Sycl__V1__EngineReport *claim, Sycl__V1__EngineFacts *facts)
{
	const ProtobufCMessageDescriptor *type = &sycl__v1__engine_report__descriptor;
	for (unsigned i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *from = &type->fields[i];
		const ProtobufCFieldDescriptor *to =
			protobuf_c_message_descriptor_get_field_by_name(
				&sycl__v1__engine_facts__descriptor, from->name);
		if (!to || to->type != from->type || to->label != from->label)
			continue;
		size_t size = to->type == PROTOBUF_C_TYPE_UINT64   ? sizeof(uint64_t)
			      : to->type == PROTOBUF_C_TYPE_UINT32 ? sizeof(uint32_t)
								   : 0;
		memcpy((uint8_t *)facts + to->offset, (const uint8_t *)claim + from->offset, size);
	}
	facts->reported = true;
}

/* `engine` may be NULL. Its claims come first, and the supervisor's own data replaces them. */
static Sycl__V1__EngineFacts *reply_add_engine_row(struct reply *reply, struct tenant *tenant,
						   const struct engine *engine)
{
	size_t index = reply->message.n_engines++;
	Sycl__V1__EngineFacts *facts = &reply->engines[index];
	sycl__v1__engine_facts__init(facts);
	if (engine && engine_has_answered(reply, engine))
		row_add_claims(&engine->claims.facts, facts);
	facts->uid = tenant->uid;
	facts->last_failure = tenant->last_failure;
	facts->drained = tenant->drained;
	if (tenant->drained)
		facts->drained_by = report_present_origin(&reply->present, &tenant->drained_by);
	reply->engine_list[index] = facts;
	return facts;
}

static Sycl__V1__EngineRetired engine_retired_of(const struct engine *engine)
{
	if (engine->is_refused)
		return SYCL__V1__ENGINE_RETIRED__ENGINE_RETIRED_REFUSED;
	if (engine->is_older)
		return SYCL__V1__ENGINE_RETIRED__ENGINE_RETIRED_RELEASE;
	return engine->is_retired ? SYCL__V1__ENGINE_RETIRED__ENGINE_RETIRED_DEVICES
				  : SYCL__V1__ENGINE_RETIRED__ENGINE_RETIRED_UNSPECIFIED;
}

/* A claim: an engine may name a state that does not exist. */
static Sycl__V1__FilterState engine_filter_of(const struct engine *engine)
{
	Sycl__V1__FilterState claimed = engine->claims.facts.filter;
	return (unsigned)claimed <= SYCL__V1__FILTER_STATE__FILTER_STATE_STRICT
		       ? claimed
		       : SYCL__V1__FILTER_STATE__FILTER_STATE_UNSPECIFIED;
}

static void reply_add_engine(struct reply *reply, const struct engine *engine)
{
	Sycl__V1__EngineFacts *facts = reply_add_engine_row(reply, engine->tenant, engine);
	facts->engine_pid = (uint32_t)engine->pid;
	facts->job = engine->job ? engine->job->number : 0;
	facts->state = engine_state_of(reply, engine);
	facts->since_unix_seconds = engine->since_unix_seconds;
	facts->age_ns = clock_now_ns() - engine->since_ns;
	facts->sessions = engine->sessions_count;
	facts->sessions_waiting = engine->waiting_count;
	facts->retired = engine_retired_of(engine);
	if (facts->reported)
		facts->filter = engine_filter_of(engine);
}

static void reply_add_engines(struct reply *reply)
{
	struct tenant *tenant;
	const struct engine *engine;
	TAILQ_FOREACH (tenant, &reply->inquiry->supervisor->tenants, link) {
		if (!is_visible_to(reply->inquiry, tenant) || tenant->uid == TENANT_OTHERS)
			continue;
		if (TAILQ_EMPTY(&tenant->engines))
			reply_add_engine_row(reply, tenant, NULL)->state =
				SYCL__V1__ENGINE_STATE__ENGINE_STATE_NONE;
		TAILQ_FOREACH (engine, &tenant->engines, link)
			reply_add_engine(reply, engine);
	}
	reply->message.engines = reply->engine_list;
}

static void reply_add_account(struct reply *reply, const struct tenant *tenant)
{
	struct service_state_account total = tenant->account;
	const struct engine *engine;
	TAILQ_FOREACH (engine, &tenant->engines, link)
		if (engine_has_answered(reply, engine))
			account_add_claims(&total, engine);
	size_t index = reply->message.n_accounts++;
	Sycl__V1__AccountFacts *facts = &reply->accounts[index];
	sycl__v1__account_facts__init(facts);
	facts->uid = tenant->uid;
	facts->sessions_ended = total.sessions;
	facts->engines_failed = total.engines_failed;
	account_fill_usage(&total, &reply->usages[index]);
	facts->usage = &reply->usages[index];
	reply->account_list[index] = facts;
}

static void reply_add_accounts(struct reply *reply)
{
	const struct tenant *tenant;
	TAILQ_FOREACH (tenant, &reply->inquiry->supervisor->tenants, link)
		if (is_visible_to(reply->inquiry, tenant))
			reply_add_account(reply, tenant);
	reply->message.accounts = reply->account_list;
}

static void query_add_engine(struct account_query *query, const struct engine *engine)
{
	const struct session *session;
	TAILQ_FOREACH (session, &engine->sessions, link) {
		const struct session_figures *figures = claims_of_session(engine, session);
		if (figures)
			account_query_add_session(
				query, session,
				claims_devices(figures, &engine->tenant->supervisor->arena));
	}
}

/* False: no memory. */
static bool reply_query_accounts(struct reply *reply)
{
	const struct tenant *tenant;
	struct engine *engine;
	reply->query.terms = reply->inquiry->terms;
	TAILQ_FOREACH (tenant, &reply->inquiry->supervisor->tenants, link) {
		if (!is_visible_to(reply->inquiry, tenant))
			continue;
		account_query_begin_tenant(&reply->query, tenant);
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (engine_has_answered(reply, engine))
				query_add_engine(&reply->query, engine);
	}
	return account_query_finish(&reply->query, &reply->message);
}

static void reply_add_share(struct reply *reply, const struct engine *engine, uint32_t slot,
			    uint64_t used_ns, bool wants)
{
	const struct division_party *party = &engine->share->parties[slot];
	struct configuration_share share = engine_share_configured(engine);
	size_t index = reply->message.n_shares++;
	Sycl__V1__ShareFacts *facts = &reply->shares[index];
	sycl__v1__share_facts__init(facts);
	facts->uid = engine->tenant->uid;
	facts->engine_pid = (uint32_t)engine->pid;
	facts->backend = (Sycl__V1__Backend)(slot / SHARE_DEVICES);
	facts->index = slot % SHARE_DEVICES;
	facts->min_percent = share.least;
	facts->max_percent = share.most;
	facts->granted_permille = party->granted;
	facts->used_ns = used_ns;
	facts->wants = wants;
	reply->share_list[index] = facts;
}

/* Returns for how long commands have run there that the engine has not charged yet. So a kernel
 * counts that never ends. No command can have run for longer than its session exists. */
static uint64_t engine_runs_ns(const struct engine *engine, uint32_t slot, uint64_t now_ns)
{
	const struct session *session;
	uint64_t sum_ns = 0;
	TAILQ_FOREACH (session, &engine->sessions, link) {
		const struct session_figures *claim = claims_of_session(engine, session);
		const Sycl__V1__SessionPresent *present =
			claim && claim->has_present ? &claim->present : NULL;
		if (!present || present->backend != (Sycl__V1__Backend)(slot / SHARE_DEVICES) ||
		    present->index != slot % SHARE_DEVICES ||
		    present->activity != SYCL__V1__SESSION_ACTIVITY__SESSION_ACTIVITY_RUNNING)
			continue;
		uint64_t age_ns = now_ns - session->since_ns;
		sum_ns += present->running_ns < age_ns ? present->running_ns : age_ns;
	}
	return sum_ns;
}

static void reply_add_shares_of(struct reply *reply, const struct engine *engine)
{
	unsigned count = 0;
	uint64_t used_ns = 0;
	bool wants = false;
	for (uint32_t slot = 0; slot < SHARE_SLOTS && count < SHARES_OF_ENGINE_MAX; slot++) {
		if (!sharing_claim(engine, slot, &used_ns, &wants))
			continue;
		if (engine_has_answered(reply, engine))
			used_ns += engine_runs_ns(engine, slot, clock_now_ns());
		reply_add_share(reply, engine, slot, used_ns, wants);
		count++;
	}
}

static void reply_add_shares(struct reply *reply)
{
	const struct supervisor *supervisor = reply->inquiry->supervisor;
	const struct tenant *tenant;
	const struct engine *engine;
	if (!supervisor->sharing->is_on)
		return;
	TAILQ_FOREACH (tenant, &supervisor->tenants, link)
		TAILQ_FOREACH (engine, &tenant->engines, link)
			if (is_visible_to(reply->inquiry, tenant))
				reply_add_shares_of(reply, engine);
	reply->message.shares = reply->share_list;
}

static void reply_add_session(struct reply *reply, const struct engine *engine,
			      struct session *session)
{
	static const Sycl__V1__SessionPhase phases[] = {
		[SESSION_WAITING] = SYCL__V1__SESSION_PHASE__SESSION_PHASE_WAITING,
		[SESSION_HANDSHAKE] = SYCL__V1__SESSION_PHASE__SESSION_PHASE_HANDSHAKE,
		[SESSION_OPEN] = SYCL__V1__SESSION_PHASE__SESSION_PHASE_OPEN,
		[SESSION_OVER] = SYCL__V1__SESSION_PHASE__SESSION_PHASE_OVER,
	};
	size_t index = reply->message.n_sessions++;
	Sycl__V1__SessionFacts *facts = &reply->sessions[index];
	sycl__v1__session_facts__init(facts);
	reply->session_list[index] = facts;
	facts->session = session->id;
	facts->uid = session->peer.uid;
	facts->pid = (uint32_t)session->peer.pid;
	facts->job = session->job;
	facts->command = session->peer.command;
	facts->phase = phases[session->phase];
	facts->since_unix_seconds = session->since_unix_seconds;
	facts->age_ns = clock_now_ns() - session->since_ns;
	if (!engine)
		return; /* the session waits until an engine can be started */
	facts->engine_pid = (uint32_t)engine->pid;
	const struct session_figures *claim =
		engine_has_answered(reply, engine) ? claims_of_session(engine, session) : NULL;
	if (!claim)
		return;
	facts->reported = true;
	facts->queues = claim->queues;
	facts->buffers = claim->buffers;
	facts->objects = claim->objects;
	reply->session_usages[index] = claim->usage;
	if (claim->has_usage)
		facts->usage = &reply->session_usages[index];
	facts->paused = claim->paused;
	facts->ended = claim->ended;
	facts->session_class = claim->session_class;
	facts->weight = claim->weight;
	report_present_session(&reply->present, session, claim, facts);
}

static void reply_add_sessions(struct reply *reply)
{
	const struct tenant *tenant;
	const struct engine *engine;
	struct session *session;
	TAILQ_FOREACH (tenant, &reply->inquiry->supervisor->tenants, link) {
		if (!is_visible_to(reply->inquiry, tenant))
			continue;
		TAILQ_FOREACH (session, &tenant->arriving, link)
			reply_add_session(reply, NULL, session);
		TAILQ_FOREACH (engine, &tenant->engines, link) {
			TAILQ_FOREACH (session, &engine->sessions, link)
				reply_add_session(reply, engine, session);
			TAILQ_FOREACH (session, &engine->waiting, link)
				reply_add_session(reply, engine, session);
			TAILQ_FOREACH (session, &engine->silent, link)
				reply_add_session(reply, engine, session);
		}
	}
	reply->message.sessions = reply->session_list;
}

void report_reply(struct inquiry *inquiry)
{
	struct reply reply = {.inquiry = inquiry};
	sycl__v1__admin_reply__init(&reply.message);
	reply_count_capacities(&reply);
	enum inquiry_kind kind = inquiry->kind;
	bool has_devices = kind == INQUIRY_STATUS || kind == INQUIRY_DEVICES;
	if (!reply_allocate_rows(&reply) ||
	    (has_devices && !report_devices_add(inquiry, &reply.devices, &reply.message)) ||
	    (kind == INQUIRY_LIMITS &&
	     !report_limits_add(inquiry, &reply.limits, &reply.message)) ||
	    (kind == INQUIRY_ACCOUNTS && !reply_query_accounts(&reply))) {
		reply_free_rows(&reply);
		admin_answer_error(&inquiry->asker, STATUS_MEMORY_ALLOCATION,
				   "the service has no memory");
		return;
	}
	reply_add_service(&reply);
	if (has_devices || kind == INQUIRY_SESSIONS) {
		reply_add_shares(&reply);
		report_present_devices(&reply.present, inquiry, is_present_of, &reply.message);
	}
	if (kind == INQUIRY_STATUS) {
		reply_add_engines(&reply);
		reply_add_accounts(&reply);
	}
	if (kind == INQUIRY_STATUS || kind == INQUIRY_SESSIONS)
		reply_add_sessions(&reply);
	if (kind == INQUIRY_DEVICES && reply.message.n_devices == 0 && inquiry->trouble[0])
		admin_answer_error(&inquiry->asker, STATUS_CONNECTION_LOST, inquiry->trouble);
	else
		admin_answer(&inquiry->asker, &reply.message);
	reply_free_rows(&reply);
}
