/* Whether a user is served while the user database fails. This test answers the look-ups. */
#include "account/tenant_identity.h"

#include "account/tenant_forget.h"
#include "base/log.h"
#include "base/user_lookup.h"
#include "base/user_names.h"
#include "clock.h"
#include "service/observer.h"
#include "service/supervisor.h"
#include "service/tenant.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { UID = 1000 };

struct user_lookup {
	user_lookup_answered *answered;
	void *context;
};

static struct supervisor supervisor;
static struct tenant tenant;
static struct refusal refusal;
static struct user_lookup lookup;
static unsigned begun;
static int begin_error;
static bool begun_as_found; /* the question says that the user was found before */

void log_write(enum log_level level, const char *topic, const char *format, ...)
{
	(void)level;
	(void)topic;
	(void)format;
}

bool user_question_needs_database(const struct user_question *question)
{
	(void)question;
	return true;
}

void user_question_answer(const struct user_question *question, struct user_answer *answer_out)
{
	(void)question;
	(void)answer_out;
	abort();
}

int user_lookup_begin(const struct user_question *question, user_lookup_answered *answered,
		      void *context, struct user_lookup **lookup_out)
{
	begun_as_found = question->was_found;
	if (begin_error < 0)
		return begin_error;
	begun++;
	lookup = (struct user_lookup){.answered = answered, .context = context};
	*lookup_out = &lookup;
	return 0;
}

struct user_lookup *user_lookup_drop(struct user_lookup *dropped)
{
	(void)dropped;
	return NULL;
}

void tenants_merge_unknown(const struct tenant *newcomer)
{
	(void)newcomer;
}

static void on_tenant_identified(struct tenant *identified)
{
	(void)identified;
}

static const struct service_observer observer = {.tenant_identified = on_tenant_identified};

/* The configuration restricts devices of one group. */
static void begin_identity(void)
{
	struct configuration_people *people = &supervisor.configuration.people;
	supervisor.observer = &observer;
	tenant.uid = UID;
	tenant.supervisor = &supervisor;
	people->owners.count = 1;
	people->owners.list[0].whose = SHARE_OF_GROUP;
	people->settings[0].devices.given = true;
}

TestSuite(tenant_identity, .timeout = 20, .init = begin_identity);

static void answer(const struct user_answer *with)
{
	cr_assert(eq(ptr, tenant.lookup, &lookup), "a look-up runs");
	lookup.answered(lookup.context, with);
}

static void must_wait(void)
{
	cr_expect(eq(int, tenant_identify(&tenant, &refusal), -EINPROGRESS));
}

static void must_refuse(int r, const char *words)
{
	memset(&refusal, 0, sizeof(refusal));
	cr_expect(eq(int, tenant_identify(&tenant, &refusal), r));
	cr_expect(ne(ptr, strstr(refusal.text, words), NULL), "%s", refusal.text);
}

static void must_serve(bool has_restriction)
{
	cr_expect(zero(int, tenant_identify(&tenant, &refusal)), "%s", refusal.text);
	cr_expect(eq(int, tenant.settings.devices.given, has_restriction));
}

static const struct user_answer in_group = {.is_known = true, .sections = 1};
static const struct user_answer no_group = {.is_known = true};
static const struct user_answer no_user = {.has_failed = true, .sections_failed = true};
static const struct user_answer no_groups = {.is_known = true, .sections_failed = true};

Test(tenant_identity, a_user_whose_settings_are_not_known_is_refused)
{
	must_wait();
	answer(&no_user);
	must_refuse(-EAGAIN, "settings of uid 1000 in the configuration are not known");
	cr_expect(eq(uint, begun, 1u), "who waited for the look-up starts no other");
	tenant.failed_ns = 1; /* long ago */
	must_wait();
	answer(&no_groups);
	must_refuse(-EAGAIN, "settings of uid 1000 in the configuration are not known");
	tenant.failed_ns = 1;
	must_wait();
	answer(&in_group);
	must_serve(true);
}

Test(tenant_identity, a_failed_look_up_keeps_earlier_settings)
{
	must_wait();
	answer(&in_group);
	tenant.identified_ns = 0;
	must_serve(true);
	answer(&no_groups);
	must_serve(true);
	answer(&no_user);
	must_serve(true);
	answer(&no_group);
	must_serve(false);
}

Test(tenant_identity, without_settings_of_names_a_failed_look_up_refuses_nobody)
{
	static const struct user_answer failed = {.has_failed = true};
	supervisor.configuration.people.owners.count = 0;
	must_wait();
	answer(&failed);
	must_serve(false);
}

Test(tenant_identity, a_reload_with_sections_of_names_waits_for_the_database)
{
	must_wait();
	answer(&no_group);
	must_serve(false);
	tenant_identify_again(&tenant);
	must_wait();
	answer(&no_groups);
	must_refuse(-EAGAIN, "settings of uid 1000 in the configuration are not known");
	tenant.failed_ns = 1; /* long ago */
	must_wait();
	answer(&in_group);
	must_serve(true);
}

/* It is bounded as a user then, and not with the unknown uids of its block. */
Test(tenant_identity, a_user_that_was_found_stays_known_over_a_reload)
{
	must_wait();
	cr_expect(not(begun_as_found));
	cr_expect(not(tenant.was_found));
	answer(&no_group);
	cr_expect(tenant.was_found);
	tenant.is_identified = false; /* a reload, and the user has no engine */
	must_wait();
	cr_expect(begun_as_found, "its look-up waits for those of unknown uids");
	cr_expect(tenant.was_found);
	answer(&no_user);
	cr_expect(tenant.was_found);
}

Test(tenant_identity, a_uid_that_was_never_found_stays_unknown_over_a_reload)
{
	static const struct user_answer unknown = {.is_known = false};
	must_wait();
	answer(&unknown);
	tenant.is_identified = false;
	must_wait();
	answer(&unknown);
	cr_expect(not(begun_as_found));
	cr_expect(not(tenant.was_found));
}

Test(tenant_identity, a_reload_refuses_new_sessions_if_no_look_up_starts)
{
	must_wait();
	answer(&no_group);
	begin_error = -EAGAIN;
	tenant_identify_again(&tenant);
	must_refuse(-EAGAIN, "too many users wait for the user database");
	begin_error = 0;
	must_wait();
	answer(&in_group);
	must_serve(true);
}

Test(tenant_identity, a_reload_without_sections_of_names_waits_for_nothing)
{
	struct configuration_people *people = &supervisor.configuration.people;
	must_wait();
	answer(&no_group);
	people->owners.list[0] = (struct configuration_owner){.whose = SHARE_OF_UID, .uid = UID};
	tenant_identify_again(&tenant);
	must_serve(true);
	people->owners.count = 0;
	tenant_identify_again(&tenant);
	must_serve(false);
	begin_error = -EAGAIN;
	tenant_identify_again(&tenant);
	must_serve(false);
}

Test(tenant_identity, a_look_up_finds_the_name_for_the_log)
{
	const struct user_answer alice = {.is_known = true, .name = "alice"};
	cr_expect(eq(ptr, (void *)(uintptr_t)user_names_find(UID), NULL));
	must_wait();
	answer(&alice);
	cr_assert(ne(ptr, (void *)(uintptr_t)user_names_find(UID), NULL));
	cr_expect(eq(str, (char *)(uintptr_t)user_names_find(UID), "alice"));
}
