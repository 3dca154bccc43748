/*
 * Accounts, as `syclctl accounts` adds them up: by user, control group, device and session. They
 * survive the ends of sessions, engines and services, and are correct whatever an engine claims.
 */
#include "supervisor/harness.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPTIONS_MAX = 4, PATH_MOST = HARNESS_PATH_BYTES * 2 };

static struct service service;

static void clean_accounts(void)
{
	service_free(&service);
}

TestSuite(accounts, .fini = clean_accounts, .timeout = 120);

static void start_accounts_service(const char *manner)
{
	service_prepare(&service, manner);
	service_start(&service, NULL);
}

static void end_service(int signal)
{
	(void)kill(service.pid, signal);
	(void)service_wait(&service);
}

static struct outcome ctl(const char *const options[OPTIONS_MAX])
{
	const char *arguments[OPTIONS_MAX + 5] = {SYCLCTL_PROGRAM, "accounts", "--runtime-dir",
						  service.runtime};
	for (int i = 0; i < OPTIONS_MAX && options[i]; i++)
		arguments[4 + i] = options[i];
	return run_program(0, arguments);
}

/* Returns the rows, which the caller drops. */
static json_t *rows(const char *one, const char *two, const char *three)
{
	struct outcome outcome = ctl((const char *const[OPTIONS_MAX]){
		"--json", one, one ? two : NULL, two ? three : NULL});
	cr_assert(eq(int, outcome.status, 0), "%s", outcome.error);
	json_t *parsed = json_loads(outcome.out, 0, NULL);
	json_t *list = json_incref(json_object_get(parsed, "accounts"));
	cr_assert(ne(ptr, list, NULL), "%s", outcome.out);
	json_decref(parsed);
	outcome_free(&outcome);
	return list;
}

static json_int_t figure(const json_t *list, size_t row, const char *name)
{
	const json_t *value = json_object_get(json_array_get(list, row), name);
	cr_assert(eq(int, json_is_integer(value), 1), "row %zu has no '%s'", row, name);
	return json_integer_value(value);
}

static char *word(const json_t *list, size_t row, const char *name)
{
	return (char *)(uintptr_t)json_string_value(
		json_object_get(json_array_get(list, row), name));
}

/* Returns the only row, which the caller drops. */
static json_t *only_row(const char *one, const char *two, const char *three)
{
	json_t *list = rows(one, two, three);
	cr_assert(eq(sz, json_array_size(list), 1));
	return list;
}

struct wanted {
	const char *option, *name;
	json_int_t value;
};

static bool is_so(void *context)
{
	const struct wanted *wanted = context;
	json_t *list = rows(wanted->option, NULL, NULL);
	json_int_t sum = 0;
	for (size_t i = 0; i < json_array_size(list); i++)
		sum += figure(list, i, wanted->name);
	json_decref(list);
	return sum == wanted->value;
}

static void must_become(const char *option, const char *name, json_int_t value)
{
	struct wanted wanted = {option, name, value};
	cr_assert(wait_until(is_so, &wanted), "%s never is %lld", name, (long long)value);
}

static int open_socket(void)
{
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	return socket;
}

/* This process' group of version 2; "" if there is none. */
static void own_group(char path[PATH_MOST])
{
	char line[PATH_MOST];
	FILE *file = fopen("/proc/self/cgroup", "re");
	path[0] = '\0';
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "0::", 3))
			(void)snprintf(path, PATH_MOST, "%.*s", (int)strcspn(line + 3, "\n"),
				       line + 3);
	if (file)
		(void)fclose(file);
}

/* The figures that the stand-in engine claims for each session. */
static void expect_figures(const json_t *list, json_int_t sessions)
{
	cr_expect(eq(long, (long)figure(list, 0, "commands"), (long)(100 * sessions)));
	cr_expect(eq(long, (long)figure(list, 0, "commands_failed"), (long)(2 * sessions)));
	cr_expect(eq(long, (long)figure(list, 0, "device_ns"), (long)(5000000 * sessions)));
	cr_expect(eq(long, (long)figure(list, 0, "bytes_to_device"), (long)(4096 * sessions)));
	cr_expect(eq(long, (long)figure(list, 0, "bytes_to_host"), (long)(2048 * sessions)));
	cr_expect(eq(long, (long)figure(list, 0, "spills"), (long)(3 * sessions)));
	cr_expect(eq(long, (long)figure(list, 0, "spilled_bytes"), (long)(8192 * sessions)));
	cr_expect(eq(long, (long)figure(list, 0, "memory_peak_bytes"), 16384L), "no sum");
	cr_expect(eq(long, (long)figure(list, 0, "delays"), (long)(100 * sessions)));
	/* 90 in bucket 41, 10 in bucket 44: from 2^20 ns and 1.75 times that, and an eighth of 2^20
	 * more to the middle. */
	cr_expect(eq(long, (long)figure(list, 0, "delay_p50_ns"), 1179648L));
	cr_expect(eq(long, (long)figure(list, 0, "delay_p99_ns"), 1966080L));
}

Test(accounts, sessions_that_go_on_count_by_user_group_device_and_session)
{
	char group[PATH_MOST];
	start_accounts_service("double");
	json_t *list = rows(NULL, NULL, NULL);
	cr_assert(eq(sz, json_array_size(list), 0));
	json_decref(list);
	int first = open_socket(), second = open_socket();
	list = only_row(NULL, NULL, NULL);
	cr_expect(eq(long, (long)figure(list, 0, "uid"), (long)geteuid()));
	cr_expect(eq(long, (long)figure(list, 0, "sessions_ended"), 0L));
	expect_figures(list, 2);
	json_decref(list);

	list = only_row("--by=device", NULL, NULL);
	cr_expect(eq(str, word(list, 0, "backend"), (char *)(uintptr_t) "cuda"));
	cr_expect(eq(long, (long)figure(list, 0, "backend_index"), 1L));
	cr_expect(eq(ptr, json_object_get(json_array_get(list, 0), "uid"), NULL));
	expect_figures(list, 2);
	json_decref(list);

	own_group(group);
	list = only_row("--by=cgroup,uid", NULL, NULL);
	if (*group)
		cr_expect(eq(str, word(list, 0, "cgroup"), group));
	expect_figures(list, 2);
	json_decref(list);

	list = rows("--by=session,device", NULL, NULL);
	cr_assert(eq(sz, json_array_size(list), 2));
	expect_figures(list, 1);
	cr_expect(ne(long, (long)figure(list, 0, "session"), (long)figure(list, 1, "session")));
	cr_expect(eq(long, (long)figure(list, 1, "pid"), (long)getpid()));
	cr_expect(eq(str, word(list, 0, "command"), (char *)(uintptr_t) "double?[31mclient?"));
	json_decref(list);
	close_fd(&first);
	close_fd(&second);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(accounts, filters_leave_what_is_not_theirs)
{
	static const struct {
		const char *options[3];
		bool is_there;
	} cases[] = {
		{{"--device=cuda:1", NULL, NULL}, true},
		{{"--device=cuda:0", NULL, NULL}, false},
		{{"--device=opencl:1", NULL, NULL}, false},
		{{"--uid=4000000000", NULL, NULL}, false},
		{{"--uid=4000000000", "--device=cuda:1", NULL}, false},
		{{"--cgroup=/no/such/group", NULL, NULL}, false},
		{{"--cgroup=/no/such/group", "--by=session", NULL}, false},
		{{"--by=device", "--device=cuda:1", NULL}, true},
	};
	char uid[32];
	start_accounts_service("double");
	int client = open_socket();
	for (int ended = 0; ended < 2; ended++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			json_t *list =
				rows(cases[i].options[0], cases[i].options[1], cases[i].options[2]);
			cr_expect(eq(sz, json_array_size(list), cases[i].is_there ? 1 : 0),
				  "case %zu", i);
			json_decref(list);
		}
		(void)snprintf(uid, sizeof(uid), "--uid=%u", (unsigned)geteuid());
		json_t *list = only_row(uid, "--device=cuda:1", NULL);
		expect_figures(list, 1);
		json_decref(list);
		close_fd(&client);
		must_become(NULL, "sessions_ended", 1);
	}
	json_t *list = only_row("--device=cuda:1", NULL, NULL);
	cr_expect(eq(long, (long)figure(list, 0, "sessions_ended"), 1L), "it has used that device");
	json_decref(list);
	list = rows("--by=session", NULL, NULL);
	cr_expect(eq(sz, json_array_size(list), 0), "it is over");
	json_decref(list);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(accounts, the_text_is_for_people)
{
	start_accounts_service("double");
	int client = open_socket();
	struct outcome outcome =
		ctl((const char *const[OPTIONS_MAX]){"--by=uid,device,session", NULL});
	cr_assert(eq(int, outcome.status, 0));
	cr_expect(ne(ptr, strstr(outcome.out, "cuda:1"), NULL), "%s", outcome.out);
	cr_expect(ne(ptr, strstr(outcome.out, "WAIT P99"), NULL), "%s", outcome.out);
	cr_expect(ne(ptr, strstr(outcome.out, "double?[31mclient?"), NULL), "%s", outcome.out);
	for (const char *at = outcome.out; *at; at++)
		if (*at != '\n')
			cr_assert(ge(int, (unsigned char)*at, 0x20));
	outcome_free(&outcome);
	close_fd(&client);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* The engine dies of one command. Its last report counts, and the next engine's is added to it. */
Test(accounts, figures_outlive_engines_and_offenders_are_counted)
{
	start_accounts_service("double");
	int first = open_socket(), second = open_socket();
	json_t *list = only_row(NULL, NULL, NULL);
	json_decref(list);
	cr_assert(eq(long, send(first, "crash", 5, MSG_NOSIGNAL), 5));
	must_become(NULL, "sessions_ended", 2);
	list = only_row("--by=uid,cgroup", NULL, NULL);
	cr_expect(eq(long, (long)figure(list, 0, "faults"), 1L));
	expect_figures(list, 2);
	json_decref(list);
	/* The device of a fault is not known: by device it has a row of its own. */
	must_become("--by=uid,device", "faults", 1);
	must_become("--device=cuda:1", "faults", 0);
	list = rows("--by=uid,device", NULL, NULL);
	cr_expect(eq(sz, json_array_size(list), 2));
	cr_expect(eq(str, word(list, 1, "backend"), "unknown"));
	cr_expect(eq(long, (long)figure(list, 1, "sessions_ended"), 0L));
	json_decref(list);
	close_fd(&first);
	close_fd(&second);
	int third = open_socket();
	list = only_row("--device=cuda:1", NULL, NULL);
	expect_figures(list, 3);
	json_decref(list);
	/* Several were running: the offender cannot be determined. */
	cr_assert(eq(long, send(third, "crash2", 6, MSG_NOSIGNAL), 6));
	must_become(NULL, "sessions_ended", 3);
	list = only_row(NULL, NULL, NULL);
	cr_expect(eq(long, (long)figure(list, 0, "faults"), 1L));
	expect_figures(list, 3);
	json_decref(list);
	close_fd(&third);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* The kernel never ends: 1.5 ms of it are in the session's sum, and in no row of a device. */
Test(accounts, what_runs_counts_and_goes_on_counting_when_it_is_killed)
{
	start_accounts_service("hanger");
	int client = open_socket();
	json_t *list = only_row("--by=device", NULL, NULL);
	cr_expect(eq(long, (long)figure(list, 0, "device_ns"), 6500000L));
	cr_expect(eq(long, (long)figure(list, 0, "commands"), 100L));
	json_decref(list);
	cr_assert(eq(long, send(client, "crash2", 6, MSG_NOSIGNAL), 6));
	must_become(NULL, "sessions_ended", 1);
	list = only_row("--by=device", NULL, NULL);
	cr_expect(eq(long, (long)figure(list, 0, "device_ns"), 6500000L));
	json_decref(list);
	close_fd(&client);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(accounts, figures_and_groups_go_on_with_the_next_service)
{
	char group[PATH_MOST];
	own_group(group);
	start_accounts_service("returns");
	int first = open_socket(), second = open_socket();
	close_fd(&first);
	must_become(NULL, "sessions_ended", 1);
	end_service(SIGUSR2);
	service_start(&service, NULL);
	must_become(NULL, "device_ns", 10000000);
	json_t *list = only_row("--by=uid,cgroup,device", NULL, NULL);
	expect_figures(list, 2);
	if (*group)
		cr_expect(eq(str, word(list, 0, "cgroup"), group));
	json_decref(list);
	/* The session of the former service keeps the group that it had then. */
	close_fd(&second);
	must_become(NULL, "sessions_ended", 2);
	list = only_row("--by=cgroup", NULL, NULL);
	expect_figures(list, 2);
	json_decref(list);
	cr_assert(eq(int, service_stop(&service), 0));
	service_start(&service, NULL);
	list = only_row("--by=cgroup", NULL, NULL);
	cr_expect(eq(long, (long)figure(list, 0, "sessions_ended"), 2L));
	expect_figures(list, 2);
	json_decref(list);
	cr_assert(eq(int, service_stop(&service), 0));
}

static void accounts_path(char path[PATH_MOST])
{
	(void)snprintf(path, PATH_MOST, "%s/accounts", service.runtime);
}

static void change_byte(const char *path, off_t where)
{
	CLEANUP(close_fd) int fd = open(path, O_RDWR | O_CLOEXEC);
	char byte = 0;
	cr_assert(eq(long, pread(fd, &byte, 1, where), 1));
	byte ^= 0x10;
	cr_assert(eq(long, pwrite(fd, &byte, 1, where), 1));
}

static void change_contents(const char *path)
{
	change_byte(path, 20);
}

static void change_magic(const char *path)
{
	change_byte(path, 6);
}

static void truncate_it(const char *path)
{
	cr_assert(eq(int, truncate(path, 9), 0));
}

static void lengthen_it(const char *path)
{
	cr_assert(eq(int, truncate(path, 1 << 20), 0));
}

static void let_others_write(const char *path)
{
	cr_assert(eq(int, chmod(path, 0606), 0));
}

static void make_it_a_link(const char *path)
{
	char other[PATH_MOST + 8];
	(void)snprintf(other, sizeof(other), "%s.other", path);
	cr_assert(eq(int, rename(path, other), 0));
	cr_assert(eq(int, symlink(other, path), 0));
}

/* Nothing else is lost by that: neither what is kept by user, nor the sessions that continue. */
Test(accounts, what_cannot_be_believed_is_not_and_the_service_goes_on)
{
	static void (*const spoils[])(const char *path) = {
		change_contents, change_magic,     truncate_it,
		lengthen_it,     let_others_write, make_it_a_link,
	};
	for (size_t i = 0; i < sizeof(spoils) / sizeof(*spoils); i++) {
		char path[PATH_MOST];
		start_accounts_service("returns");
		int client = open_socket();
		close_fd(&client);
		must_become(NULL, "sessions_ended", 1);
		cr_assert(eq(int, service_stop(&service), 0));
		accounts_path(path);
		spoils[i](path);
		service_start(&service, NULL);
		cr_expect(eq(uint,
			     service_log_count(&service, "by control group and device are lost"),
			     1u),
			  "case %zu", i);
		json_t *list = rows(NULL, NULL, NULL);
		cr_expect(eq(sz, json_array_size(list), 0), "case %zu", i);
		json_decref(list);
		json_t *status = ctl_json(&service, "status");
		cr_expect(eq(sz, json_array_size(json_object_get(status, "accounts")), 1),
			  "case %zu", i);
		json_decref(status);
		client = open_socket();
		list = only_row(NULL, NULL, NULL);
		expect_figures(list, 1);
		json_decref(list);
		close_fd(&client);
		cr_assert(eq(int, service_stop(&service), 0));
		if (i + 1 < sizeof(spoils) / sizeof(*spoils))
			service_free(&service);
	}
}

/* An engine reports too many devices, impossible times, delays beyond any bucket. That counts for
 * its own user only, and the rows are bounded. */
Test(accounts, N6_claims_without_a_measure_have_one)
{
	start_accounts_service("braggart");
	for (int times = 0; times < 3; times++) {
		int client = open_socket();
		json_t *list = rows("--by=uid,device", NULL, NULL);
		cr_assert(le(sz, json_array_size(list), 64));
		for (size_t i = 0; i < json_array_size(list); i++) {
			cr_assert(eq(str, word(list, i, "backend"), (char *)(uintptr_t) "cuda"));
			cr_assert(lt(long, (long)figure(list, i, "backend_index"), 64L));
			cr_assert(eq(long, (long)figure(list, i, "device_ns"), INT64_MAX),
				  "a large claim became a small one");
			cr_assert(ge(long, (long)figure(list, i, "delay_p99_ns"), 0L));
		}
		json_decref(list);
		close_fd(&client);
		must_become(NULL, "sessions_ended", times + 1);
	}
	cr_assert(eq(int, service_stop(&service), 0));
	service_start(&service, NULL);
	json_t *list = only_row(NULL, NULL, NULL);
	cr_assert(eq(long, (long)figure(list, 0, "sessions_ended"), 3L));
	json_decref(list);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* A session is counted once, both while it is open and after its engine has died. */
Test(accounts, N6_a_session_counts_once_however_often_its_engine_tells_of_it)
{
	start_accounts_service("repeater");
	int client = open_socket();
	json_t *list = only_row("--by=uid,device", NULL, NULL);
	cr_assert(eq(long, (long)figure(list, 0, "commands"), 100L));
	json_decref(list);
	list = only_row("--by=uid,device,session", NULL, NULL);
	cr_assert(eq(long, (long)figure(list, 0, "commands"), 100L));
	json_decref(list);
	json_t *status = ctl_json(&service, "status");
	json_t *usage = json_array_get(json_object_get(status, "accounts"), 0);
	cr_assert(eq(long,
		     (long)json_integer_value(json_object_get(usage, "command_groups_submitted")),
		     12L));
	json_decref(status);
	close_fd(&client);
	cr_assert(eq(int, service_stop(&service), 0));
}
