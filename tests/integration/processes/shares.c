/*
 * How devices' time is divided among users. The users are real, each has a separate engine, and the
 * fake device takes real time. The engines count the device time. It is read at two moments between
 * which all users need the device and keep it busy.
 */
#include "processes/common.h"

#include "clock.h"

#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(processes_shares, .timeout = 280);

enum { USERS_MAX = 4, FIRST_UID = 65531, KERNEL_US = 500 };

/* Enough to distinguish shares from each other, and from equal ones. */
#define WORK_NS 3000000000ull
#define SLACK   14
enum { BUSY_PERCENT = 80, LOOKS = 6 };

struct node {
	struct private_service *service;
	struct child workers[USERS_MAX];
	int users;
};

struct part {
	bool known, wants;
	json_int_t min, max, granted;
	uint64_t used_ns;
};

static struct node node_start(const char *configuration, int users)
{
	static const char *const options[] = {"--system", "--fake-engine", NULL};
	struct node node = {.users = users};
	if (geteuid() != 0)
		cr_skip_test(
			"SKIPPED: several users need root; run the tests as root to see this one");
	cr_assert_eq(private_service_start(configuration, options, &node.service), 0);
	return node;
}

static void user_start(struct node *node, int user)
{
	char uid[16], us[16];
	(void)snprintf(uid, sizeof(uid), "%d", FIRST_UID + user);
	(void)snprintf(us, sizeof(us), "%d", KERNEL_US);
	const char *const arguments[] = {"--uid", uid, "--count", us, NULL};
	node->workers[user] = (struct child)CHILD_INIT;
	worker_start_with(&node->workers[user], NULL, node->service->endpoint, "take", arguments);
}

static void user_end(struct node *node, int user)
{
	worker_finish(&node->workers[user]);
}

static void node_end(struct node *node)
{
	node->service = private_service_free(node->service);
}

/* Reads all of them at one time. */
static void read_shares(const struct node *node, struct part parts[USERS_MAX])
{
	size_t i;
	json_t *row, *status = private_service_status(node->service);
	memset(parts, 0, USERS_MAX * sizeof(*parts));
	json_array_foreach(json_object_get(status, "shares"), i, row)
	{
		json_int_t user = json_integer_value(json_object_get(row, "uid")) - FIRST_UID;
		if (user < 0 || user >= USERS_MAX ||
		    strcmp(json_string_value(json_object_get(row, "backend")), "fake") != 0)
			continue;
		parts[user] = (struct part){
			.known = true,
			.wants = json_is_true(json_object_get(row, "wants")),
			.min = json_integer_value(json_object_get(row, "min_percent")),
			.max = json_integer_value(json_object_get(row, "max_percent")),
			.granted = json_integer_value(json_object_get(row, "granted_permille")),
			.used_ns = (uint64_t)json_integer_value(json_object_get(row, "used_ns")),
		};
	}
	json_decref(status);
}

struct waited {
	const struct node *node;
	struct part parts[USERS_MAX];
	uint64_t least_ns; /* the time that the users have used together */
};

static bool have_used(void *context)
{
	struct waited *waited = context;
	uint64_t used_ns = 0;
	bool all = true;
	read_shares(waited->node, waited->parts);
	for (int i = 0; i < waited->node->users; i++) {
		used_ns += waited->parts[i].used_ns;
		all &= waited->parts[i].used_ns > 0;
	}
	return all && used_ns >= waited->least_ns;
}

/* Reads the times twice, three seconds of device time apart. Returns the part of each user between,
 * in percent. False: the device was idle too long. */
static bool measure_once(const struct node *node, unsigned percent[USERS_MAX])
{
	struct waited before = {.node = node}, after = {.node = node};
	uint64_t all_ns = 0, begin_ns;
	cr_assert(wait_until(have_used, &before, SOON));
	for (int i = 0; i < node->users; i++)
		after.least_ns += before.parts[i].used_ns;
	after.least_ns += WORK_NS;
	begin_ns = clock_now_ns();
	bool done = wait_until(have_used, &after, SOON);
	uint64_t took_ns = clock_now_ns() - begin_ns;
	if (!done)
		private_service_print_log(node->service);
	cr_assert(done, "they do not use the device");
	for (int i = 0; i < node->users; i++)
		all_ns += after.parts[i].used_ns - before.parts[i].used_ns;
	for (int i = 0; i < node->users; i++)
		percent[i] = (unsigned)((after.parts[i].used_ns - before.parts[i].used_ns) * 100 /
					all_ns);
	return all_ns >= took_ns / 100 * BUSY_PERCENT;
}

/*
 * Begins when all of them have begun. If the machine was too busy to keep the device busy, no user
 * lacked time, so the parts show nothing. Then it measures once more, and after a while the test is
 * skipped.
 */
static void measure_shares(const struct node *node, unsigned percent[USERS_MAX])
{
	const uint64_t end_ns = clock_deadline_ns(SOON);
	bool busy;
	do
		busy = measure_once(node, percent);
	while (!busy && clock_now_ns() < end_ns);
	if (!busy)
		cr_skip_test(
			"SKIPPED: the machine was too busy to keep the device busy, so the parts show nothing");
}

static bool is_near(unsigned percent, unsigned wanted)
{
	return percent + SLACK >= wanted && percent <= wanted + SLACK;
}

/*
 * Checks each user's part, in percent; 0: any. A user whose processes do not get the processor in
 * time leaves the device to the others, so one measurement may find anything. It fails if no user
 * gets the expected part in a few measurements.
 */
static void expect_measured(const struct node *node, const unsigned wanted[USERS_MAX])
{
	unsigned percent[USERS_MAX];
	bool are_near = false;
	for (int look = 1; look <= LOOKS && !are_near; look++) {
		measure_shares(node, percent);
		are_near = true;
		for (int i = 0; i < node->users; i++) {
			bool near = wanted[i] == 0 || is_near(percent[i], wanted[i]);
			are_near &= near;
			if (!near)
				cr_log_info("look %d, user %d: %u instead of %u", look, i,
					    percent[i], wanted[i]);
		}
	}
	cr_expect(are_near, "no look of %d has found the shares", LOOKS);
}

static void expect_shares(const char *configuration, int users, const unsigned wanted[USERS_MAX])
{
	struct node node = node_start(configuration, users);
	for (int i = 0; i < users; i++)
		user_start(&node, i);
	expect_measured(&node, wanted);
	for (int i = 0; i < users; i++)
		user_end(&node, i);
	node_end(&node);
}

Test(processes_shares, TG11_two_users_have_their_shares_of_a_device)
{
	expect_shares("[service]\nstandby = no\n[shares]\nuid.65531 = 75\nuid.65532 = 25\n", 2,
		      (const unsigned[USERS_MAX]){75, 25});
}

Test(processes_shares, TG11_three_users_have_their_shares_of_a_device)
{
	expect_shares(
		"[service]\nstandby = no\n[shares]\nuid.65531 = 60\nuid.65532 = 30\nuid.65533 = 10\n",
		3, (const unsigned[USERS_MAX]){60, 30, 10});
}

Test(processes_shares, TG11_users_take_turns_by_their_shares_where_one_has_the_device_at_a_time)
{
	expect_shares(
		"[service]\nstandby = no\n[shares]\nmode = exclusive\nuid.65531 = 75\nuid.65532 = 25\n",
		2, (const unsigned[USERS_MAX]){75, 25});
}

static void order(const struct node *node, const char *assignment, int user)
{
	char uid[16], answer[ANSWER_BYTES];
	(void)snprintf(uid, sizeof(uid), "%d", FIRST_UID + user);
	const char *const words[ORDER_WORDS_MAX] = {"limit", assignment, "--uid", uid};
	cr_assert_eq(processes_order(node->service, words, answer), 0, "%s", answer);
}

/* Nothing is configured: engines run, and then their shares arrive. */
Test(processes_shares, shares_are_ordered_and_taken_back_while_users_work)
{
	struct part parts[USERS_MAX];
	struct node node = node_start("[service]\nstandby = no\n", 2);
	user_start(&node, 0);
	user_start(&node, 1);
	cr_assert(private_service_wait_sessions(node.service, 2, SOON));
	read_shares(&node, parts);
	cr_expect(!parts[0].known && !parts[1].known, "nothing is divided where nobody wants that");
	order(&node, "share_min=80", 1);
	expect_measured(&node, (const unsigned[USERS_MAX]){0, 90}); /* and half of the rest */
	order(&node, "share_min=default", 1);
	order(&node, "share_max=30", 1);
	expect_measured(&node, (const unsigned[USERS_MAX]){0, 30});
	read_shares(&node, parts);
	cr_expect_eq(parts[1].max, 30);
	cr_expect_leq(parts[1].granted, 300);
	user_end(&node, 0);
	user_end(&node, 1);
	node_end(&node);
}

static bool has_all(void *context)
{
	struct waited *waited = context;
	read_shares(waited->node, waited->parts);
	return waited->parts[0].granted >= 950;
}

/* At one moment: a user whose program does not get the processor does not need the device then. */
static bool is_alone(void *context)
{
	const struct waited *waited = context;
	return has_all(context) && waited->parts[0].wants && !waited->parts[1].wants;
}

static bool process_shares_is_back(void *context)
{
	struct waited *waited = context;
	read_shares(waited->node, waited->parts);
	return waited->parts[0].granted <= 500 && waited->parts[1].granted >= 500;
}

Test(processes_shares, TG11_what_a_user_that_is_gone_or_stopped_does_not_use_is_the_others)
{
	struct node node = node_start(
		"[service]\nstandby = no\n[shares]\nuid.65531 = 25\nuid.65532 = 75\n", 2);
	struct waited waited = {.node = &node};
	user_start(&node, 0);
	user_start(&node, 1);
	cr_assert(wait_until(process_shares_is_back, &waited, SOON));
	pid_t engine = private_service_engine(node.service, FIRST_UID + 1);
	cr_assert_eq(kill(engine, SIGSTOP), 0);
	cr_assert(wait_until(has_all, &waited, SOON), "its engine is stopped");
	cr_assert_eq(kill(engine, SIGCONT), 0);
	cr_assert(wait_until(process_shares_is_back, &waited, SOON));
	user_end(&node, 1);
	cr_assert(wait_until(is_alone, &waited, SOON), "it has ended");
	user_end(&node, 0);
	node_end(&node);
}

Test(processes_shares, the_next_service_divides_as_well)
{
	unsigned percent[USERS_MAX];
	struct node node = node_start(
		"[service]\nstandby = no\n[shares]\nuid.65531 = 75\nuid.65532 = 25\n", 2);
	user_start(&node, 0);
	user_start(&node, 1);
	measure_shares(&node, percent);
	cr_assert_eq(kill(node.service->sycld.pid, SIGKILL), 0);
	(void)child_wait(&node.service->sycld, SOON);
	cr_assert_eq(private_service_restart(node.service), 0);
	expect_measured(&node, (const unsigned[USERS_MAX]){75, 25});
	user_end(&node, 0);
	user_end(&node, 1);
	node_end(&node);
}

static void configure(const struct node *node, const char *text)
{
	FILE *file = fopen(node->service->configuration, "we");
	cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
	cr_assert_eq(kill(node->service->sycld.pid, SIGHUP), 0);
}

static bool have_new_shares(void *context)
{
	struct waited *waited = context;
	read_shares(waited->node, waited->parts);
	return waited->parts[0].min == 10 && waited->parts[0].max == 20 &&
	       waited->parts[1].min == 5 && waited->parts[1].max == 100;
}

Test(processes_shares, shares_that_are_read_again_hold_for_working_users)
{
	unsigned percent[USERS_MAX];
	struct node node = node_start(
		"[service]\nstandby = no\n[shares]\nuid.65531 = 75\nuid.65532 = 25\n", 2);
	struct waited waited = {.node = &node};
	user_start(&node, 0);
	user_start(&node, 1);
	measure_shares(&node, percent);
	configure(&node, "[service]\nstandby = no\n[shares]\nuid.65531 = 10-20\ndefault = 5\n");
	cr_assert(wait_until(have_new_shares, &waited, SOON));
	expect_measured(&node, (const unsigned[USERS_MAX]){20, 80});
	user_end(&node, 0);
	user_end(&node, 1);
	node_end(&node);
}

static bool are_known(void *context)
{
	struct waited *waited = context;
	read_shares(waited->node, waited->parts);
	return waited->parts[0].known && waited->parts[3].known;
}

/* A user's own entry comes first, wherever it is in the file. A user that the database does not
 * have is in the group of nobody. */
Test(processes_shares, a_share_is_a_users_or_a_groups_by_name)
{
	bool unknown = !getpwuid(FIRST_UID);
	const struct passwd *nobody = getpwuid(FIRST_UID + 3);
	const struct group *nogroup = getgrgid(65534);
	char text[512];
	if (geteuid() != 0 || !nobody || !nogroup || !unknown)
		cr_skip_test(
			"SKIPPED: this needs root, and a user and a group with the number 65534");
	(void)snprintf(
		text, sizeof(text),
		"[service]\nstandby = no\n[shares]\ndefault = 1\ngroup.%s = 30-60\nuser.%s = 40\n",
		nogroup->gr_name, nobody->pw_name);
	struct node node = node_start(text, USERS_MAX);
	struct waited waited = {.node = &node};
	user_start(&node, 0);
	user_start(&node, 3);
	cr_assert(wait_until(are_known, &waited, SOON));
	cr_expect_eq(waited.parts[0].min, 30);
	cr_expect_eq(waited.parts[0].max, 60);
	cr_expect_eq(waited.parts[3].min, 40);
	cr_expect_eq(waited.parts[3].max, 100);
	user_end(&node, 0);
	user_end(&node, 3);
	node_end(&node);
}

static void expect_limit_refused(const struct private_service *service, const char *assignment,
				 const char *option, const char *value)
{
	char answer[ANSWER_BYTES];
	const char *const words[ORDER_WORDS_MAX] = {"limit", assignment, option, value};
	cr_expect_neq(processes_order(service, words, answer), 0, "%s is taken", assignment);
}

/* The engine counts a command when it ends. Both figures are of one answer. */
static bool has_used_what_runs(void *context)
{
	json_t *status = private_service_status(context);
	const json_t *session = json_array_get(json_object_get(status, "sessions"), 0);
	const json_t *share = json_array_get(json_object_get(status, "shares"), 0);
	double runs_seconds = json_real_value(
		json_object_get(json_object_get(session, "present"), "running_seconds"));
	double used_ns = json_number_value(json_object_get(share, "used_ns"));
	json_decref(status);
	return runs_seconds > 0.1 && used_ns >= runs_seconds * 1e9 - 1e6;
}

Test(processes_shares, a_kernel_that_never_ends_counts_as_used)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[service]\nstandby = no\n[shares]\ndefault = 10\n", false);
	struct child endless = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&endless, service, "endless", NULL, NULL);
	worker_expect(&endless, "ready", line);
	cr_expect(wait_until(has_used_what_runs, service, SOON));
	child_end(&endless);
}

Test(processes_shares, orders_that_make_no_sense_are_refused)
{
	char uid[16], answer[ANSWER_BYTES];
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	(void)snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
	const char *const least[ORDER_WORDS_MAX] = {"limit", "share_min=60", "--uid", uid};
	cr_assert_eq(processes_order(service, least, answer), 0, "%s", answer);
	expect_limit_refused(service, "share_max=50", "--uid", uid);
	expect_limit_refused(service, "share_min=101", "--uid", uid);
	expect_limit_refused(service, "share_max=1000", "--all", NULL);
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&worker, service, "steps", NULL, NULL);
	worker_expect(&worker, "session", line);
	expect_limit_refused(service, "share_min=10", line + strlen("session "), NULL);
	const char *const all[ORDER_WORDS_MAX] = {"limit", "share_max=50", "--all"};
	cr_expect_eq(processes_order(service, all, answer), 0, "%s", answer);
	expect_limit_refused(service, "share_min=51", "--all", NULL);
	child_end(&worker);
}
