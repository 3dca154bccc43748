#include "account.h"

#include "engine.h"
#include "packet.h"
#include "succession.h"
#include "supervisor.h"

/* What engines say is a claim, and a large one must not become a small one. */
static void add(uint64_t *sum, uint64_t more)
{
	*sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}

static void add_usage(struct service_state_account *account, const Sycl__V1__Usage *usage)
{
	if (!usage)
		return;
	add(&account->groups_submitted, usage->groups_submitted);
	add(&account->groups_completed, usage->groups_completed);
	add(&account->groups_failed, usage->groups_failed);
	add(&account->device_ns, usage->device_ns);
	add(&account->bytes_to_device, usage->bytes_to_device);
	add(&account->bytes_to_host, usage->bytes_to_host);
}

void account_session_ended(struct tenant *tenant, const Sycl__V1__Usage *usage)
{
	add(&tenant->account.sessions, 1);
	add_usage(&tenant->account, usage);
	succession_changes(tenant->supervisor);
}

void account_add_report(struct service_state_account *account, struct engine *engine,
			const Sycl__V1__EngineReport *report)
{
	for (size_t i = 0; i < report->n_sessions; i++)
		if (engine_session(engine, report->sessions[i]->session))
			add_usage(account, report->sessions[i]->usage);
}

void account_engine_ended(struct engine *engine, bool has_failed)
{
	struct tenant *tenant = engine->tenant;
	struct decode_arena *arena = &tenant->supervisor->arena;
	for (unsigned i = 0; engine->sessions_count && i < engine->report.count; i++) {
		ProtobufCMessage *message = NULL;
		if (message_unpack(&sycl__v1__engine_report__descriptor, arena, engine->report.parts[i].bytes,
				   engine->report.parts[i].size, &message) == 0)
			account_add_report(&tenant->account, engine, (const Sycl__V1__EngineReport *)message);
	}
	add(&tenant->account.sessions, engine->sessions_count);
	add(&tenant->account.engines_failed, has_failed);
}

bool account_is_empty(const struct service_state_account *account)
{
	return account->sessions == 0 && account->engines_failed == 0;
}

void account_fill(const struct service_state_account *account, Sycl__V1__Usage *usage_out)
{
	sycl__v1__usage__init(usage_out);
	usage_out->groups_submitted = account->groups_submitted;
	usage_out->groups_completed = account->groups_completed;
	usage_out->groups_failed = account->groups_failed;
	usage_out->device_ns = account->device_ns;
	usage_out->bytes_to_device = account->bytes_to_device;
	usage_out->bytes_to_host = account->bytes_to_host;
}
