/* The values that Prometheus reads. */
#include "exporter/answers.h"
#include "metrics.h"
#include "view.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(exporter_metrics, .timeout = 20);

static char *label(const char *value)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	metrics_write_label(value, to);
	(void)fclose(to);
	return text;
}

static void expect_label(const char *value, const char *expected)
{
	char *text = label(value);
	cr_expect(eq(str, text, (char *)(uintptr_t)expected));
	free(text);
}

Test(exporter_metrics, labels_end_where_they_should)
{
	expect_label("plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82",
		     "plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x99\x82");
	expect_label("a\"} 1\nevil 2", "a\\\"} 1?evil 2");
	expect_label("\\", "\\\\");
	expect_label("\x01\x7f\xff\xc0\xaf", "?????");
	expect_label("cut \xe2\x82", "cut ??");
	expect_label("\xed\xa0\x80", "???");
	expect_label("\xf4\x90\x80\x80", "????");
}

Test(exporter_metrics, labels_are_not_long)
{
	char value[1000];
	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	char *text = label(value);
	cr_expect(eq(sz, strlen(text), 128));
	free(text);
	/* No character is cut at the end. */
	for (size_t i = 0; i + 2 < sizeof(value); i += 3)
		memcpy(&value[i], "\xe2\x82\xac", 3);
	text = label(value);
	cr_expect(eq(sz, strlen(text), 126));
	free(text);
}

static char *written(bool open_metrics, unsigned most_users)
{
	struct sample *sample = answers_sample();
	struct users users;
	struct tally_users known = {.most = most_users};
	char *text = NULL;
	size_t size;
	cr_assert(eq(int, users_init(&users), 0));
	tally_users_follow(&known, sample->status.reply);
	struct tally *tally =
		tally_make(sample->status.reply, sample->by_user.reply, &known, &users);
	const struct metrics_facts facts = {
		.is_up = true, .sees_all = true, .status = sample->status.reply, .tally = tally};
	FILE *to = open_memstream(&text, &size);
	cr_assert(eq(int, metrics_write(&facts, open_metrics, to), 0));
	(void)fclose(to);
	tally_free(tally);
	users_fini(&users);
	return text;
}

static void expect_part(const char *text, const char *part)
{
	cr_expect(ne(ptr, strstr(text, part), NULL), "no %s in %s", part, text);
}

Test(exporter_metrics, units_are_base_units)
{
	char *text = written(false, 10);
	expect_part(text, "\n# TYPE sycld_device_time_seconds_total counter\n");
	expect_part(text, "\nsycld_device_time_seconds_total{device=\"cuda:0\",user=\"4000000001\","
			  "uid=\"4000000001\"} 2.5\n");
	expect_part(text, "\nsycld_share_granted_ratio{device=\"cuda:0\",user=\"4000000002\","
			  "uid=\"4000000002\"} 0.5\n");
	expect_part(text, "\nsycld_device_busy_ratio{device=\"cuda:0\"} 0.25\n");
	expect_part(text, "\nsycld_device_power_watts{device=\"cuda:0\"} 61.5\n");
	expect_part(text, "\nsycld_device_sm_occupancy_ratio{device=\"cuda:0\"} 0.137\n");
	cr_expect(eq(ptr, strstr(text, "\nsycld_device_clock_hertz{"), NULL));
	expect_part(text, ",quantile=\"0.99\"} 0.02\n");
	expect_part(text, "\nsycld_command_wait_seconds_count{");
	expect_part(text, ",state=\"open\"} 1\n");
	expect_part(text,
		    "\nsycld_device_info{device=\"cuda:0\",name=\"</script><b>\\\"\\\\???\",");
	cr_expect(eq(ptr, strstr(text, "# EOF"), NULL));
	free(text);
}

Test(exporter_metrics, open_metrics_names_families_without_total_and_ends)
{
	char *text = written(true, 10);
	expect_part(text, "\n# TYPE sycld_device_time_seconds counter\n");
	expect_part(text, "\n# UNIT sycld_device_time_seconds seconds\n");
	expect_part(text, "\nsycld_device_time_seconds_total{device=");
	cr_expect(eq(str, text + strlen(text) - 6, "# EOF\n"));
	free(text);
}

/* Sessions of "(others)" are of several users. */
Test(exporter_metrics, recent_waits_are_the_largest_of_a_users_sessions)
{
	struct sample *sample = answers_sample();
	char *text = written(false, 10);
	expect_part(text, "\nsycld_user_recent_wait_p99_seconds{user=\"4000000001\","
			  "uid=\"4000000001\"} 1.5\n");
	expect_part(text, "\nsycld_user_recent_wait_p99_seconds{user=\"4000000002\","
			  "uid=\"4000000002\"} 1\n");
	expect_part(text, "\nsycld_user_recent_wait_p50_seconds{user=\"4000000001\","
			  "uid=\"4000000001\"} 0.25\n");
	free(text);

	struct users users;
	struct tally_users known = {.most = 0};
	cr_assert(eq(int, users_init(&users), 0));
	struct tally *tally =
		tally_make(sample->status.reply, sample->by_user.reply, &known, &users);
	cr_assert(eq(uint, tally->user_count, 1));
	cr_expect(eq(dbl, tally->users[0].recent_commands, 8));
	cr_expect(eq(dbl, tally->users[0].recent_wait_p99, 1.5));
	tally_free(tally);
	users_fini(&users);
}

Test(exporter_metrics, users_beyond_the_bound_are_one_row)
{
	char *text = written(false, 1);
	expect_part(text, "\nsycld_user_sessions_ended_total{user=\"4000000001\",");
	expect_part(text, "\nsycld_user_engine_failures_total{user=\"(others)\",uid=\"\"} 1\n");
	cr_expect(eq(ptr, strstr(text, "4000000002"), NULL));
	free(text);
}

Test(exporter_metrics, a_fault_is_a_users_and_of_no_device)
{
	char *text = written(false, 10);
	expect_part(text, "\nsycld_user_faults_total{user=\"4000000002\",uid=\"4000000002\"} 2\n");
	expect_part(text, "\nsycld_user_faults_total{user=\"4000000001\",uid=\"4000000001\"} 0\n");
	cr_expect(eq(ptr, strstr(text, "unknown:"), NULL), "%s", text);
	free(text);
}

/* A user keeps a row as long as it exists, whichever users precede it in an answer. */
Test(exporter_metrics, a_user_with_a_row_keeps_it)
{
	struct tally_users known = {.most = 1};
	Sycl__V1__AdminReply *status = answers_sample()->status.reply;
	tally_users_follow(&known, status);
	cr_assert(eq(u32, known.uids[0], ALICE));
	Sycl__V1__AccountFacts *first = status->accounts[0];
	status->accounts[0] = status->accounts[1];
	status->accounts[1] = first;
	tally_users_follow(&known, status);
	cr_assert(eq(u32, known.uids[0], ALICE));
	status->n_accounts = 1;
	tally_users_follow(&known, status);
	cr_assert(eq(uint, known.count, 1));
	cr_expect(eq(u32, known.uids[0], BOB));
}

/* ---------------------------- the alert rules and the dashboard ---------------------------- */

/* Returns true if that is the name of a sample or a family in `text`. */
static bool is_metric(const char *text, const char *name, size_t length)
{
	for (const char *at = text; (at = strstr(at, name)); at++)
		if (at > text && at[-1] == '\n' && strchr(" {", at[length]))
			return true;
	return false;
}

static unsigned expect_metrics_exist(const char *text, const char *expression, const char *file)
{
	unsigned count = 0;
	for (const char *at = expression; (at = strstr(at, "sycld_"));) {
		char name[128];
		size_t length = 0;
		while (isalnum((unsigned char)at[length]) || at[length] == '_')
			length++;
		(void)snprintf(name, sizeof(name), "%.*s", (int)length, at);
		cr_expect(is_metric(text, name, length), "%s: no metric %s", file, name);
		at += length;
		count++;
	}
	return count;
}

static unsigned expect_all_exist(const char *text, const json_t *value, const char *file)
{
	unsigned count = 0;
	const char *key;
	json_t *member;
	size_t i;
	if (json_is_string(value))
		return expect_metrics_exist(text, json_string_value(value), file);
	json_object_foreach((json_t *)(uintptr_t)value, key, member) count +=
		expect_all_exist(text, member, file);
	json_array_foreach(value, i, member) count += expect_all_exist(text, member, file);
	return count;
}

Test(exporter_metrics, the_dashboard_shows_what_there_is)
{
	static const char file[] = MONITORING_FOLDER "/grafana-dashboard.json";
	char *text = written(false, 10);
	json_error_t error;
	json_t *dashboard = json_load_file(file, 0, &error);
	cr_assert(ne(ptr, dashboard, NULL), "%s:%d: %s", file, error.line, error.text);
	cr_expect(gt(uint, expect_all_exist(text, dashboard, file), 9));
	json_decref(dashboard);
	free(text);
}

Test(exporter_metrics, the_alerts_are_about_what_there_is)
{
	static const char file[] = MONITORING_FOLDER "/alerts.yml";
	static char line[4096];
	char *text = written(false, 10);
	unsigned count = 0;
	FILE *rules = fopen(file, "re");
	cr_assert(ne(ptr, rules, NULL), "%s", file);
	while (fgets(line, sizeof(line), rules)) {
		const char *expression = strstr(line, "expr:");
		if (expression)
			count += expect_metrics_exist(text, expression, file);
	}
	(void)fclose(rules);
	cr_expect(gt(uint, count, 5));
	free(text);
}

/* A device before it is hidden from users. */
Test(exporter_metrics, a_device_has_its_number_in_its_backend)
{
	struct sample *sample = answers_sample();
	struct users users;
	sample->status.reply->n_present = 0;
	sample->status.reply->devices[0]->facts->backend_index = 1;
	cr_assert(eq(int, users_init(&users), 0));
	struct tally *tally = tally_make(sample->status.reply, sample->by_user.reply, NULL, &users);
	cr_expect(eq(str, tally->devices[0].name, "cuda:1"));
	cr_expect(eq(ptr, (void *)(uintptr_t)tally->devices[0].known,
		     (void *)sample->status.reply->devices[0]));
	tally_free(tally);
	users_fini(&users);
}

static const struct tally_device *device_named(const struct tally *tally, const char *name)
{
	for (unsigned i = 0; i < tally->device_count; i++)
		if (tally->devices[i].known && strcmp(tally->devices[i].name, name) == 0)
			return &tally->devices[i];
	return NULL;
}

/* Bob's engines invent devices, which come first. Alice has one device that only her engines
 * report, and one that Bob's engines report, too. */
Test(exporter_metrics, made_up_devices_take_no_row_of_others)
{
	enum { MADE_UP = 512, ALL = MADE_UP + 2 };
	static Sycl__V1__KnownDevice known[ALL], *list[ALL];
	static Sycl__V1__DeviceFacts facts[ALL];
	static uint32_t bob[] = {BOB}, alice[] = {ALICE}, both[] = {ALICE, BOB};
	struct sample *sample = answers_sample();
	struct users users;
	for (unsigned i = 0; i < ALL; i++) {
		sycl__v1__known_device__init(&known[i]);
		sycl__v1__device_facts__init(&facts[i]);
		known[i].facts = &facts[i];
		known[i].backend = i < MADE_UP ? SYCL__V1__BACKEND__BACKEND_OPENCL
					       : SYCL__V1__BACKEND__BACKEND_CUDA;
		known[i].uids = i < MADE_UP ? bob : i == MADE_UP ? alice : both;
		known[i].n_uids = i <= MADE_UP ? 1 : 2;
		facts[i].device = i;
		facts[i].backend_index = i < MADE_UP ? i : i - MADE_UP;
		list[i] = &known[i];
	}
	sample->status.reply->devices = list;
	sample->status.reply->n_devices = ALL;
	cr_assert(eq(int, users_init(&users), 0));
	struct tally *tally = tally_make(sample->status.reply, sample->by_user.reply, NULL, &users);
	cr_expect(eq(uint, tally->device_count, TALLY_DEVICES));
	cr_expect(ne(ptr, (void *)(uintptr_t)device_named(tally, "cuda:0"), NULL));
	cr_expect(ne(ptr, (void *)(uintptr_t)device_named(tally, "cuda:1"), NULL));
	tally_free(tally);
	users_fini(&users);
}
