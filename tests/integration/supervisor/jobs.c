/*
 * Jobs of a cluster's manager: which sessions belong to a job by the kernel's control groups, what
 * they may have, and how a job ends. With a stand-in engine. Needs a writable cgroup2.
 */
#include "supervisor/control_group.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A uid that no user has. */
#define STRANGER 64001

enum { GROUPS = 2, PATH_MOST = 2 * HARNESS_PATH_BYTES, WORDS_MOST = 16 };

static struct service service;
static char mount[HARNESS_PATH_BYTES];
static char names[GROUPS][64]; /* "/sycld-jobs-PID-0" */

static const char *group_path(int i)
{
	static char path[PATH_MOST];
	(void)snprintf(path, sizeof(path), "%s%s", mount, names[i]);
	return path;
}

static void make_groups(void)
{
	if (geteuid() != 0 || !control_group_mount(mount))
		cr_skip_test("SKIPPED: needs root and a mounted cgroup2");
	for (int i = 0; i < GROUPS; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "/sycld-jobs-%ld-%d", (long)getpid(), i);
		if (mkdir(group_path(i), 0755) < 0)
			cr_skip_test("SKIPPED: no control group can be made in %s", mount);
	}
}

static void clean_jobs(void)
{
	(void)control_group_write(mount, "cgroup.procs", "0");
	service_free(&service);
	for (int i = 0; i < GROUPS && names[i][0]; i++)
		(void)rmdir(group_path(i));
}

TestSuite(jobs, .init = make_groups, .fini = clean_jobs, .timeout = 100);

/* This process moves; its children begin there. */
static void enter_group(int i)
{
	cr_assert(control_group_write(group_path(i), "cgroup.procs", "0"), "%s", names[i]);
}

static void leave_groups(void)
{
	cr_assert(control_group_write(mount, "cgroup.procs", "0"));
}

/* Runs syclctl with these words, which end with NULL. */
static struct outcome ctl_words(const char *const *words)
{
	const char *arguments[WORDS_MOST + 4] = {SYCLCTL_PROGRAM, "--runtime-dir", service.runtime};
	for (int i = 0; words[i]; i++)
		arguments[3 + i] = words[i];
	return run_program(0, arguments);
}

static void must_order(const char *const *words)
{
	struct outcome outcome = ctl_words(words);
	cr_assert(eq(int, outcome.status, 0), "%s: %s", words[0], outcome.error);
	outcome_free(&outcome);
}

static void must_refuse(const char *cause, const char *const *words)
{
	struct outcome outcome = ctl_words(words);
	cr_expect(ne(int, outcome.status, 0), "%s", cause);
	cr_expect(ne(ptr, strstr(outcome.error, cause), NULL), "%s instead of %s", outcome.error,
		  cause);
	outcome_free(&outcome);
}

#define WORDS(...)    ((const char *const[]){__VA_ARGS__, NULL})
#define BEGIN(number) "job", "begin", number, "--uid", "0", "--cgroup", names[0]

static json_t *answer_of(const char *const *words)
{
	struct outcome outcome = ctl_words(words);
	cr_assert(eq(int, outcome.status, 0), "%s", outcome.error);
	json_t *answer = json_loads(outcome.out, 0, NULL);
	cr_assert(ne(ptr, answer, NULL), "%s", outcome.out);
	outcome_free(&outcome);
	return answer;
}

static long job_figure(const char *name)
{
	json_t *answer = answer_of(WORDS("jobs", "--json"));
	json_t *job = json_array_get(json_object_get(answer, "jobs"), 0);
	long value = job ? (long)json_integer_value(json_object_get(job, name)) : -1;
	json_decref(answer);
	return value;
}

static bool has_no_jobs(void *context)
{
	(void)context;
	return job_figure("job") == -1;
}

/* Opens a session. Returns the pid of its engine. */
static long open_session(int *socket_out)
{
	CLEANUP(free_pointer) char *facts = client_open(&service, socket_out);
	cr_assert(ne(ptr, facts, NULL));
	return fact(facts, "pid=");
}

static void start_jobs_service(const char *manner)
{
	service_prepare(&service, manner);
	service_start(&service, NULL);
}

Test(jobs, sessions_of_a_control_group_share_an_engine_of_their_own)
{
	int outside = -1, first = -1, second = -1;
	start_jobs_service("double");
	long others = open_session(&outside);
	must_order(WORDS(BEGIN("12"), "--share", "25", "--memory", "1M", "--class", "normal"));
	enter_group(0);
	long engine = open_session(&first);
	cr_expect(ne(long, engine, others));
	cr_expect(eq(long, open_session(&second), engine));
	leave_groups();
	cr_expect(eq(long, job_figure("sessions"), 2));
	cr_expect(eq(long, job_figure("engine_pid"), engine));
	json_t *answer = answer_of(WORDS("sessions", "--json"));
	size_t of_job = 0;
	for (size_t i = 0; i < 3; i++)
		of_job += json_integer_value(json_object_get(
				  json_array_get(json_object_get(answer, "sessions"), i), "job")) ==
			  12;
	cr_expect(eq(sz, of_job, 2));
	json_decref(answer);
	close_fd(&first);
	close_fd(&second);
	close_fd(&outside);
}

Test(jobs, an_environment_that_claims_a_job_changes_nothing)
{
	int outside = -1, socket = -1;
	start_jobs_service("double");
	long others = open_session(&outside);
	must_order(WORDS(BEGIN("12")));
	(void)setenv("SLURM_JOB_ID", "12", 1);
	cr_expect(eq(long, open_session(&socket), others));
	cr_expect(eq(long, job_figure("sessions"), 0));
	close_fd(&socket);
	close_fd(&outside);
}

static unsigned count_paused(void)
{
	json_t *answer = answer_of(WORDS("sessions", "--json")), *session;
	size_t i;
	unsigned count = 0;
	json_array_foreach(json_object_get(answer, "sessions"), i, session) count +=
		!strcmp(json_string_value(json_object_get(session, "state")), "paused");
	json_decref(answer);
	return count;
}

/* The number of the session that belongs to a job; -1: there is none. */
static long session_of_job(void)
{
	json_t *answer = answer_of(WORDS("sessions", "--json")), *session;
	size_t i;
	long id = -1;
	json_array_foreach(json_object_get(answer, "sessions"), i, session)
	{
		if (json_integer_value(json_object_get(session, "job")) > 0)
			id = (long)json_integer_value(json_object_get(session, "id"));
	}
	json_decref(answer);
	return id;
}

Test(jobs, a_suspended_job_pauses_its_sessions_also_those_that_come_later)
{
	int outside = -1, first = -1, second = -1;
	start_jobs_service("double");
	(void)open_session(&outside);
	must_order(WORDS(BEGIN("12")));
	enter_group(0);
	(void)open_session(&first);
	must_order(WORDS("job", "suspend", "12"));
	cr_expect(eq(uint, count_paused(), 1u));
	(void)open_session(&second);
	cr_expect(eq(uint, count_paused(), 2u));
	must_order(WORDS("job", "resume", "12"));
	cr_expect(eq(uint, count_paused(), 0u));
	leave_groups();
	close_fd(&first);
	close_fd(&second);
	close_fd(&outside);
}

Test(jobs, an_operator_does_not_end_a_suspension)
{
	int outside = -1, inside = -1;
	char id[32];
	start_jobs_service("double");
	(void)open_session(&outside);
	must_order(WORDS(BEGIN("12")));
	enter_group(0);
	(void)open_session(&inside);
	leave_groups();
	must_order(WORDS("job", "suspend", "12"));
	must_order(WORDS("pause", "--all"));
	cr_expect(eq(uint, count_paused(), 2u));
	must_order(WORDS("resume", "--all"));
	cr_expect(eq(uint, count_paused(), 1u));
	(void)snprintf(id, sizeof(id), "%ld", session_of_job());
	must_order(WORDS("resume", id));
	cr_expect(eq(uint, count_paused(), 1u));
	/* The operator's own pause is over. */
	must_order(WORDS("job", "resume", "12"));
	cr_expect(eq(uint, count_paused(), 0u));
	close_fd(&inside);
	close_fd(&outside);
}

/* Every user may have thousands of jobs. As events of nobody they would push out operators' orders,
 * and their user would not see them. */
Test(jobs, what_becomes_of_a_job_is_an_event_of_its_user)
{
	static const char about[] = ": job";
	unsigned count = 0;
	start_jobs_service("double");
	must_order(WORDS(BEGIN("12")));
	must_order(WORDS("job", "suspend", "12"));
	must_order(WORDS("job", "end", "12"));
	must_refuse("there is no control group",
		    WORDS("job", "begin", "13", "--uid", "0", "--cgroup", "/sycld-jobs-none"));
	struct outcome outcome = ctl_words(WORDS("events", "--once", "--user", "0"));
	cr_expect(eq(int, outcome.status, 0), "%s", outcome.error);
	for (const char *at = outcome.out; (at = strstr(at, about)); at += strlen(about))
		count++;
	cr_expect(eq(uint, count, 4u), "%s", outcome.out);
	outcome_free(&outcome);
}

Test(jobs, the_end_of_a_job_leaves_no_session_and_no_file)
{
	char path[PATH_MOST];
	int socket = -1;
	start_jobs_service("double");
	must_order(WORDS(BEGIN("12")));
	(void)snprintf(path, sizeof(path), "%s/jobs", service.runtime);
	cr_expect(eq(int, access(path, F_OK), 0));
	enter_group(0);
	(void)open_session(&socket);
	must_order(WORDS("job", "end", "12"));
	Sycl__V1__Packet *packet;
	while ((packet = client_receive(socket)))
		packet_free(packet);
	cr_expect(eq(int, access(path, F_OK), -1));
	/* A process that the manager has left there gets no session, and none of its user's. */
	CLEANUP(free_pointer) char *refusal = client_refused(&service);
	cr_expect(eq(str, refusal, "job 12 has ended"));
	must_order(WORDS("job", "end", "12"));
	must_order(WORDS(BEGIN("12")));
	close_fd(&socket);
	(void)open_session(&socket);
	leave_groups();
	close_fd(&socket);
}

Test(jobs, a_job_outlives_the_service_and_finds_its_engine_again)
{
	int first = -1, second = -1;
	start_jobs_service("returns");
	must_order(WORDS(BEGIN("12"), "--share", "25", "--memory", "1M"));
	enter_group(0);
	long engine = open_session(&first);
	leave_groups();
	(void)kill(service.pid, SIGKILL);
	(void)service_wait(&service);
	service_start(&service, NULL);
	cr_expect(eq(long, job_figure("memory_bytes"), 1 << 20));
	enter_group(0);
	cr_expect(eq(long, open_session(&second), engine));
	leave_groups();
	cr_expect(eq(long, job_figure("sessions"), 2));
	close_fd(&first);
	close_fd(&second);
}

Test(jobs, a_job_whose_control_group_is_gone_is_dropped)
{
	start_jobs_service("double");
	must_order(WORDS(BEGIN("12")));
	cr_assert(eq(int, rmdir(group_path(0)), 0));
	cr_expect(wait_until(has_no_jobs, NULL));
	cr_expect(eq(uint, service_log_count(&service, "its control group is gone"), 1u));
}

Test(jobs, wrong_jobs_are_refused_with_the_cause)
{
	start_jobs_service("double");
	must_refuse("a job needs the path of a control group",
		    WORDS("job", "begin", "12", "--uid", "0", "--cgroup", "/"));
	must_refuse("a job needs the path of a control group",
		    WORDS("job", "begin", "12", "--uid", "0", "--cgroup", "/../etc"));
	must_refuse("there is no control group /sycld-none",
		    WORDS("job", "begin", "12", "--uid", "0", "--cgroup", "/sycld-none"));
	must_refuse("there is no job 12", WORDS("job", "suspend", "12"));
	must_order(WORDS(BEGIN("12")));
	must_refuse("is that of job 12", WORDS(BEGIN("13")));
	must_refuse("job 12 is of uid 0",
		    WORDS("job", "begin", "12", "--uid", "5", "--cgroup", names[0]));
}

/* This process is of that uid and group from now on, until be_root. */
static void be_user(uid_t uid, gid_t group)
{
	cr_assert(eq(int, setgroups(1, &group), 0));
	cr_assert(eq(int, setresgid(group, group, 0), 0));
	cr_assert(eq(int, setresuid(uid, uid, 0), 0));
}

static void be_root(void)
{
	cr_assert(eq(int, setresuid(0, 0, 0), 0));
	cr_assert(eq(int, setresgid(0, 0, 0), 0));
	cr_assert(eq(int, setgroups(0, NULL), 0));
}

/* NULL: a session was opened. */
static char *refusal_of(uid_t uid, gid_t group)
{
	be_user(uid, group);
	char *refusal = client_refused(&service);
	be_root();
	return refusal;
}

/* Copies syclctl, as the build's folder may be closed to others. */
static void copy_syclctl(char program_out[PATH_MOST])
{
	char command[8 * HARNESS_PATH_BYTES];
	(void)snprintf(program_out, PATH_MOST, "%s/syclctl", service.folder);
	(void)snprintf(command, sizeof(command), "cp %s %s && chmod 0755 %s", SYCLCTL_PROGRAM,
		       program_out, program_out);
	struct outcome copied =
		run_program(0, (const char *const[]){"/bin/sh", "-c", command, NULL});
	cr_assert(eq(int, copied.status, 0));
	outcome_free(&copied);
}

static void start_with_configuration(const char *text)
{
	char path[PATH_MOST];
	service_prepare(&service, "double");
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path, text);
	service_start(&service, (const char *const[]){"--config", path, NULL});
}

/* Such as processes of subordinate uids in a container that the job's user has started. */
Test(jobs, a_process_of_another_uid_does_not_leave_its_job)
{
	char expected[256];
	start_jobs_service("double");
	must_order(WORDS("job", "begin", "12", "--uid", "64002", "--cgroup", names[0]));
	CLEANUP(free_pointer) char *outside = refusal_of(STRANGER, STRANGER);
	cr_expect(eq(ptr, outside, NULL), "%s", outside);
	enter_group(0);
	CLEANUP(free_pointer) char *inside = refusal_of(STRANGER, STRANGER);
	(void)snprintf(expected, sizeof(expected),
		       "this process of uid %d is in the control group of job 12, which is of uid "
		       "64002 and may have sessions of that uid only",
		       STRANGER);
	cr_expect(eq(str, inside, expected));
	CLEANUP(free_pointer) char *own = refusal_of(64002, 64002);
	cr_expect(eq(ptr, own, NULL), "%s", own);
	CLEANUP(free_pointer) char *root = client_refused(&service);
	cr_expect(eq(ptr, root, NULL), "%s", root);
	must_order(WORDS("job", "end", "12"));
	CLEANUP(free_pointer) char *late = refusal_of(STRANGER, STRANGER);
	cr_expect(eq(str, late, "job 12 has ended"));
	leave_groups();
}

Test(jobs, a_node_may_refuse_processes_outside_jobs)
{
	const struct group *group = getgrnam("daemon");
	if (!group)
		cr_skip_test("SKIPPED: there is no group daemon");
	start_with_configuration("[service]\noutside_jobs = refuse\nadmin_group = daemon\n");
	CLEANUP(free_pointer) char *outside = refusal_of(STRANGER, STRANGER);
	cr_expect(ne(ptr, outside, NULL));
	cr_expect(ne(ptr, strstr(outside ? outside : "", "(outside_jobs = refuse)"), NULL), "%s",
		  outside);
	/* The same holds for the engine that syclctl would start to look for devices. */
	char program[PATH_MOST];
	copy_syclctl(program);
	struct outcome devices =
		run_program(STRANGER, (const char *const[]){program, "--runtime-dir",
							    service.runtime, "devices", NULL});
	cr_expect(ne(ptr, strstr(devices.error, "(outside_jobs = refuse)"), NULL), "%s%s",
		  devices.out, devices.error);
	outcome_free(&devices);
	CLEANUP(free_pointer) char *administrator = refusal_of(STRANGER, group->gr_gid);
	cr_expect(eq(ptr, administrator, NULL), "%s", administrator);
	CLEANUP(free_pointer) char *root = client_refused(&service);
	cr_expect(eq(ptr, root, NULL), "%s", root);
	must_order(WORDS("job", "begin", "12", "--uid", "64001", "--cgroup", names[0]));
	enter_group(0);
	CLEANUP(free_pointer) char *inside = refusal_of(STRANGER, STRANGER);
	cr_expect(eq(ptr, inside, NULL), "%s", inside);
	leave_groups();
}

static bool job_has_device(int index, const char *wanted)
{
	json_t *answer = answer_of(WORDS("jobs", "--json"));
	const json_t *job = json_array_get(json_object_get(answer, "jobs"), (size_t)index);
	const char *devices = json_string_value(json_object_get(job, "devices"));
	bool has = devices && strcmp(devices, wanted) == 0;
	json_decref(answer);
	return has;
}

Test(jobs, the_service_chooses_the_device_that_has_room)
{
	char third[128];
	start_jobs_service("double");
	(void)snprintf(third, sizeof(third), "%s/inner", names[0]);
	char path[PATH_MOST];
	(void)snprintf(path, sizeof(path), "%s%s", mount, third);
	cr_assert(eq(int, mkdir(path, 0755), 0));
	must_order(
		WORDS(BEGIN("12"), "--share", "60", "--devices", "cuda:0,cuda:1", "--count", "1"));
	must_order(WORDS("job", "begin", "13", "--uid", "0", "--cgroup", names[1], "--share", "60",
			 "--devices", "cuda:0,cuda:1", "--count", "1"));
	cr_expect(job_has_device(0, "cuda:0"));
	cr_expect(job_has_device(1, "cuda:1"));
	must_refuse("other jobs leave room on 0 only",
		    WORDS("job", "begin", "14", "--uid", "0", "--cgroup", third, "--share", "60",
			  "--devices", "cuda:0,cuda:1", "--count", "1"));
	/* Repeated, as each step of a job does, it changes nothing. */
	must_order(
		WORDS(BEGIN("12"), "--share", "60", "--devices", "cuda:0,cuda:1", "--count", "1"));
	cr_expect(job_has_device(0, "cuda:0"));
	(void)rmdir(path);
}

static int order_as_stranger(const char *program, gid_t group, const char *const *words)
{
	const char *arguments[WORDS_MOST + 4] = {program, "--runtime-dir", service.runtime};
	for (int i = 0; words[i]; i++)
		arguments[3 + i] = words[i];
	struct outcome outcome = run_program_in_group(STRANGER, group, arguments);
	int status = outcome.status;
	outcome_free(&outcome);
	return status;
}

Test(jobs, the_right_to_manage_jobs_is_no_right_to_give_other_orders)
{
	char program[PATH_MOST];
	const struct group *group = getgrnam("daemon");
	if (!group)
		cr_skip_test("SKIPPED: there is no group daemon");
	start_with_configuration("[service]\njob_group = daemon\n");
	copy_syclctl(program);
	cr_expect(eq(int, order_as_stranger(program, group->gr_gid, WORDS(BEGIN("12"))), 0));
	cr_expect(eq(int, order_as_stranger(program, group->gr_gid, WORDS("pause", "--all")), 1));
	cr_expect(eq(int, order_as_stranger(program, STRANGER, WORDS(BEGIN("13"))), 1));
	cr_expect(eq(int, order_as_stranger(program, STRANGER, WORDS("job", "end", "12")), 1));
	cr_expect(eq(long, job_figure("job"), 12));
}
