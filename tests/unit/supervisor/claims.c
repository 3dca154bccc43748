/* What is kept of an engine's claims, whatever it claims. Other parts of the engine are invented.
 */
#include "account/claims.h"

#include "account/account.h"
#include "account/claims_bound.h"
#include "admin/report_devices.h"
#include "service/engine_state.h"
#include "service/supervisor.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 1024, LONG = 60000 };

static struct engine *engine;
static struct session *sessions[SESSIONS];
static unsigned parts;

static void add_engine_session(uint64_t id)
{
	static const struct peer peer = {.uid = 7, .pidfd = -1};
	struct session *session = session_new(id, -1, &peer);
	cr_assert(ne(ptr, session, NULL));
	sessions[id - 1] = session;
	TAILQ_INSERT_TAIL(&engine->sessions, session, link);
	LIST_INSERT_HEAD(&engine->places[id % ENGINE_PLACES], session, same_place);
}

static void claims_begin(void)
{
	engine = calloc(1, sizeof(*engine));
	cr_assert(ne(ptr, engine, NULL));
	TAILQ_INIT(&engine->sessions);
}

static void claims_end(void)
{
	for (unsigned i = 0; i < SESSIONS; i++)
		(void)session_free(sessions[i]);
	engine_claims_fini(&engine->claims);
	free(engine);
}

TestSuite(claims, .init = claims_begin, .fini = claims_end, .timeout = 30);

static int claims_keep_part(const Sycl__V1__EngineReport *report)
{
	if (report->request != engine->claims.arriving)
		parts = 0;
	return claims_keep_report(engine, report, &parts);
}

/* Returns a text of that length, which the caller frees. */
static char *long_text(size_t length)
{
	char *text = calloc(length + 1, 1);
	cr_assert(ne(ptr, text, NULL));
	memset(text, 'x', length);
	return text;
}

/* The platform's facts would be kept for each of its devices. */
Test(claims, a_platforms_long_name_is_not_kept_for_each_device)
{
	Sycl__V1__PlatformFacts platform = SYCL__V1__PLATFORM_FACTS__INIT,
				*platforms[] = {&platform};
	Sycl__V1__DeviceFacts facts[CLAIMS_DEVICES_MAX], *list[CLAIMS_DEVICES_MAX];
	Sycl__V1__Topology topology = SYCL__V1__TOPOLOGY__INIT;
	Sycl__V1__EngineReport report = SYCL__V1__ENGINE_REPORT__INIT;
	for (unsigned i = 0; i < CLAIMS_DEVICES_MAX; i++) {
		list[i] = &facts[i];
		sycl__v1__device_facts__init(list[i]);
	}
	platform.name = long_text(LONG);
	topology.platforms = platforms;
	topology.n_platforms = 1;
	topology.devices = list;
	topology.n_devices = CLAIMS_DEVICES_MAX;
	report.request = 1;
	report.topology = &topology;
	cr_assert(eq(int, claims_keep_part(&report), 1));
	cr_assert(eq(uint, engine->claims.device_count, (unsigned)CLAIMS_DEVICES_MAX));
	size_t sum = 0;
	for (unsigned i = 0; i < CLAIMS_DEVICES_MAX; i++)
		sum += engine->claims.devices[i].size;
	cr_expect(lt(sz, sum, PACKET_BYTES_MAX));
	cr_expect(eq(sz, strlen(engine->claims.devices[0].platform_name),
		     (size_t)CLAIMS_NAME_BYTES_MAX));
	free(platform.name);
}

Test(claims, texts_and_lists_and_unknown_fields_of_devices_are_cut)
{
	static uint64_t sizes[LONG];
	static uint8_t bytes[LONG];
	ProtobufCMessageUnknownField unknown = {
		.tag = 999, .wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, .len = LONG};
	Sycl__V1__DeviceFacts facts = SYCL__V1__DEVICE_FACTS__INIT, *list[] = {&facts};
	Sycl__V1__Topology topology = SYCL__V1__TOPOLOGY__INIT;
	Sycl__V1__EngineReport report = SYCL__V1__ENGINE_REPORT__INIT;
	char *name = facts.name = long_text(LONG), *extensions = facts.extensions = long_text(LONG);
	facts.max_work_item_sizes = sizes;
	facts.n_max_work_item_sizes = LONG;
	facts.uuid = (ProtobufCBinaryData){LONG, bytes};
	unknown.data = bytes;
	facts.base.n_unknown_fields = 1;
	facts.base.unknown_fields = &unknown;
	topology.devices = list;
	topology.n_devices = 1;
	report.request = 1;
	report.topology = &topology;
	cr_assert(eq(int, claims_keep_part(&report), 1));
	const Sycl__V1__DeviceFacts *kept = engine->claims.devices[0].facts;
	cr_expect(eq(sz, strlen(kept->name), (size_t)CLAIMS_NAME_BYTES_MAX));
	cr_expect(eq(sz, strlen(kept->extensions), (size_t)CLAIMS_TEXT_BYTES_MAX));
	cr_expect(eq(sz, kept->n_max_work_item_sizes, (size_t)CLAIMS_VALUES_MAX));
	cr_expect(eq(sz, kept->uuid.len, (size_t)CLAIMS_VALUES_MAX));
	cr_expect(eq(uint, kept->base.n_unknown_fields, 0u));
	free(name);
	free(extensions);
}

static const Sycl__V1__EngineReport *report_of(uint64_t request, uint64_t session,
					       const Sycl__V1__DeviceUsage *usage, size_t usages)
{
	static Sycl__V1__DeviceUsage used, *devices[2 * ACCOUNT_DEVICES_MAX];
	static Sycl__V1__SessionReport row, *rows[] = {&row};
	static Sycl__V1__EngineReport report;
	sycl__v1__session_report__init(&row);
	sycl__v1__engine_report__init(&report);
	for (size_t i = 0; i < usages; i++)
		devices[i] = &used;
	used = *usage;
	row.session = session;
	row.devices = devices;
	row.n_devices = usages;
	report.request = request;
	report.sessions = rows;
	report.n_sessions = 1;
	return &report;
}

Test(claims, of_a_sessions_use_only_what_an_account_counts_is_kept)
{
	static uint64_t delays[LONG];
	static uint8_t bytes[LONG];
	ProtobufCMessageUnknownField unknown = {
		.tag = 999, .wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, .len = LONG};
	Sycl__V1__DeviceUsage usage = SYCL__V1__DEVICE_USAGE__INIT;
	unknown.data = bytes;
	usage.base.n_unknown_fields = 1;
	usage.base.unknown_fields = &unknown;
	usage.delays = delays;
	usage.n_delays = LONG;
	add_engine_session(1);
	cr_assert(eq(int,
		     claims_keep_part(report_of(1, 1, &usage, (size_t)2 * ACCOUNT_DEVICES_MAX)),
		     1));
	const struct session_figures *claim = claims_of_session(engine, sessions[0]);
	cr_assert(ne(ptr, (void *)(uintptr_t)claim, NULL));
	struct decode_arena arena;
	cr_assert(eq(int, decode_arena_init(&arena, 1 << 20), 0));
	const Sycl__V1__SessionReport *kept = claims_devices(claim, &arena);
	cr_assert(ne(ptr, (void *)(uintptr_t)kept, NULL));
	cr_expect(eq(sz, kept->n_devices, (size_t)ACCOUNT_DEVICES_MAX));
	cr_expect(eq(sz, kept->devices[0]->n_delays, (size_t)DELAY_BUCKETS));
	cr_expect(eq(uint, kept->devices[0]->base.n_unknown_fields, 0u));
	decode_arena_fini(&arena);
}

Test(claims, figures_of_a_session_that_a_later_report_omits_are_dropped)
{
	Sycl__V1__DeviceUsage usage = SYCL__V1__DEVICE_USAGE__INIT;
	usage.commands = 5;
	add_engine_session(1);
	add_engine_session(2);
	cr_assert(eq(int, claims_keep_part(report_of(1, 1, &usage, 1)), 1));
	cr_assert(ne(ptr, sessions[0]->figures.devices, NULL));
	cr_assert(eq(int, claims_keep_part(report_of(2, 2, &usage, 1)), 1));
	cr_expect(eq(ptr, sessions[0]->figures.devices, NULL));
	cr_expect(ne(ptr, sessions[1]->figures.devices, NULL));
	cr_expect(eq(sz, engine->claims.devices_bytes, sessions[1]->figures.devices_bytes));
}

/* Otherwise each of many would be copied. */
Test(claims, of_two_claims_of_one_session_in_one_report_the_first_is_kept)
{
	Sycl__V1__DeviceUsage usage = SYCL__V1__DEVICE_USAGE__INIT;
	add_engine_session(1);
	cr_assert(eq(int, claims_keep_part(report_of(1, 1, &usage, 1)), 1));
	const void *kept = sessions[0]->figures.devices;
	size_t bytes = sessions[0]->figures.devices_bytes;
	cr_assert(eq(int, claims_keep_part(report_of(1, 1, &usage, 2)), 1));
	cr_expect(eq(ptr, (void *)(uintptr_t)kept, sessions[0]->figures.devices));
	cr_expect(eq(sz, sessions[0]->figures.devices_bytes, bytes));
}

static size_t kept_bytes(void)
{
	size_t sum = 0;
	for (unsigned i = 0; i < SESSIONS; i++)
		sum += sessions[i]->figures.devices_bytes;
	return sum;
}

/* It is more than fits into a report, and arrives in many that do not end. */
Test(claims, the_sum_for_an_engine_is_bounded)
{
	static uint64_t delays[DELAY_BUCKETS];
	Sycl__V1__DeviceUsage usage = SYCL__V1__DEVICE_USAGE__INIT;
	int r = 0;
	memset(delays, 0xff, sizeof(delays));
	usage.delays = delays;
	usage.n_delays = DELAY_BUCKETS;
	for (uint64_t id = 1; id <= SESSIONS; id++)
		add_engine_session(id);
	for (uint64_t id = 1; id <= SESSIONS && r >= 0; id++) {
		Sycl__V1__EngineReport report = *report_of(id, id, &usage, ACCOUNT_DEVICES_MAX);
		report.more = true;
		r = claims_keep_part(&report);
		cr_assert(
			le(sz, kept_bytes(), (size_t)CLAIMS_DEVICES_BYTES_MAX + PACKET_BYTES_MAX));
	}
	cr_expect(eq(int, r, -EINVAL));
}

/* A query of accounts reads what is kept of all engines, in one turn of the service's loop. */
Test(claims, few_delays_are_kept_of_an_engine_whose_user_is_not_known)
{
	enum { REPORTED = 100 };
	static uint64_t delays[DELAY_BUCKETS];
	Sycl__V1__DeviceUsage usage = SYCL__V1__DEVICE_USAGE__INIT;
	struct decode_arena arena;
	memset(delays, 0xff, sizeof(delays));
	usage.commands = 5;
	usage.delays = delays;
	usage.n_delays = DELAY_BUCKETS;
	engine->claims.delays_bytes_most = claims_delays_bytes_most(false, 256);
	for (uint64_t id = 1; id <= SESSIONS; id++)
		add_engine_session(id);
	for (uint64_t id = 1; id <= REPORTED; id++) {
		Sycl__V1__EngineReport report = *report_of(1, id, &usage, ACCOUNT_DEVICES_MAX);
		report.more = id < REPORTED;
		parts = 0;
		cr_assert(ge(int, claims_keep_part(&report), 0));
	}
	cr_expect(lt(sz, kept_bytes(), engine->claims.delays_bytes_most * 2));
	cr_assert(eq(int, decode_arena_init(&arena, 1 << 20), 0));
	const Sycl__V1__SessionReport *first = claims_devices(&sessions[0]->figures, &arena);
	cr_expect(eq(sz, first->devices[0]->n_delays, (size_t)DELAY_BUCKETS));
	const Sycl__V1__SessionReport *last =
		claims_devices(&sessions[REPORTED - 1]->figures, &arena);
	cr_assert(eq(sz, last->n_devices, (size_t)ACCOUNT_DEVICES_MAX));
	cr_expect(eq(u64, last->devices[0]->commands, 5), "what counts for accounts is kept");
	cr_expect(zero(sz, last->devices[0]->n_delays));
	decode_arena_fini(&arena);
}

Test(claims, engines_of_unknown_users_share_a_bound_and_others_have_none)
{
	cr_expect(eq(sz, claims_delays_bytes_most(true, 256), (size_t)0));
	cr_expect(eq(sz, 64 * claims_delays_bytes_most(false, 256), (size_t)CLAIMS_UNKNOWN_BYTES));
	cr_expect(eq(sz, claims_delays_bytes_most(false, 1), (size_t)CLAIMS_UNKNOWN_BYTES));
	cr_expect(eq(sz, claims_delays_bytes_most(false, 1000000),
		     (size_t)CLAIMS_UNKNOWN_LEAST_BYTES));
}

static void claim_device(struct engine *of, uint32_t number, uint64_t bytes)
{
	Sycl__V1__DeviceFacts facts[CLAIMS_DEVICES_MAX], *list[CLAIMS_DEVICES_MAX];
	Sycl__V1__Topology topology = SYCL__V1__TOPOLOGY__INIT;
	Sycl__V1__EngineReport report = SYCL__V1__ENGINE_REPORT__INIT;
	unsigned of_one = 0;
	for (unsigned i = 0; i < CLAIMS_DEVICES_MAX; i++) {
		list[i] = &facts[i];
		sycl__v1__device_facts__init(list[i]);
		facts[i].device = number;
		facts[i].global_mem_bytes = bytes + i;
	}
	topology.devices = list;
	topology.n_devices = bytes ? CLAIMS_DEVICES_MAX : 1;
	report.request = 1;
	report.topology = &topology;
	cr_assert(eq(int, claims_keep_report(of, &report, &of_one), 1));
}

enum { ENGINES = REPORT_DEVICES_MAX / CLAIMS_DEVICES_MAX + 1, TWICE = 2 * ENGINES };

/* The engines of one user invent more facts about device 0 than a reply has room for. Engine i is
 * of uids[i] and repeats the inventions of engine i % different. The last one has device 1. */
static bool reply_has_device_1(const struct tenant *of, unsigned engine_count, unsigned different)
{
	static struct supervisor supervisor;
	static struct tenant tenants[TWICE + 1];
	static struct engine engines[TWICE + 1];
	struct inquiry inquiry = {.supervisor = &supervisor, .asker = {.sees_all = true}};
	struct report_devices devices = {.claimed_count = 0};
	Sycl__V1__AdminReply reply = SYCL__V1__ADMIN_REPLY__INIT;
	bool is_there = false;
	TAILQ_INIT(&supervisor.tenants);
	for (unsigned i = 0; i < engine_count; i++) {
		bool is_last = i + 1 == engine_count;
		tenants[i] = of[i];
		TAILQ_INIT(&tenants[i].engines);
		TAILQ_INSERT_TAIL(&supervisor.tenants, &tenants[i], link);
		TAILQ_INIT(&engines[i].sessions);
		TAILQ_INSERT_TAIL(&tenants[i].engines, &engines[i], link);
		claim_device(&engines[i], is_last,
			     is_last ? 0 : 1 + (uint64_t)(i % different) * CLAIMS_DEVICES_MAX);
	}
	cr_assert(report_devices_add(&inquiry, &devices, &reply));
	cr_assert(eq(sz, reply.n_devices, (size_t)REPORT_DEVICES_MAX));
	for (size_t i = 0; i < reply.n_devices; i++)
		is_there |= reply.devices[i]->facts->device == 1;
	report_devices_fini(&devices);
	for (unsigned i = 0; i < engine_count; i++)
		engine_claims_fini(&engines[i].claims);
	return is_there;
}

Test(claims, inventions_push_no_device_of_others_out_of_a_reply)
{
	struct tenant of[ENGINES + 1] = {[ENGINES] = {.uid = 8}};
	for (unsigned i = 0; i < ENGINES; i++)
		of[i] = (struct tenant){.uid = 7};
	cr_expect(reply_has_device_1(of, ENGINES + 1, ENGINES), "the only one of the other user");
}

/* The user database does not have the uids, which are in one block of 65,536. They seem to be many
 * users when each invents something, and when two invent the same. */
Test(claims, inventions_of_subordinate_uids_push_no_device_of_others_out_of_a_reply)
{
	struct tenant of[TWICE + 1] = {[TWICE] = {.uid = 300000, .was_found = true}};
	for (unsigned i = 0; i < TWICE; i++)
		of[i] = (struct tenant){.uid = 200000 + i};
	cr_expect(reply_has_device_1(of, TWICE + 1, ENGINES), "two report the same");
	of[ENGINES] = of[TWICE];
	cr_expect(reply_has_device_1(of, ENGINES + 1, ENGINES), "each reports something else");
}
