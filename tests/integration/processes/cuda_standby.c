/*
 * The standby engine, on the double of NVIDIA's driver: when there is one, which user gets it, and
 * what happens to it. A GPU shows how much sooner a user works again with it: bench row TG12.
 */
#include "processes/fake_service.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(processes_cuda_standby, .timeout = 240);

enum { FIRST_UID = 65533, OTHER_UID = 65534 };

static struct fake_service fake = FAKE_SERVICE_INIT;

static void start_standby_service(const char *driver, const char *configuration, bool system)
{
	fake_service_start(&fake, driver, configuration, system);
}

static void teardown_standby(void)
{
	fake_service_end(&fake);
}

static void needs_root(void)
{
	if (geteuid() != 0)
		cr_skip_test("SKIPPED: two users need root; run the tests as root to see this one");
}

/* Launches a kernel that ends its engine. */
static void fail_engine(struct child *worker)
{
	char line[LINE_BYTES];
	fake.service->faults = true;
	fault_worker_run(worker, "run illegal 0 1");
	cr_assert_eq(child_say(worker, "wait 0"), 0);
	worker_expect(worker, "native 700", line);
}

static pid_t cuda_standby_engine_of(int uid)
{
	pid_t engine = private_service_engine(fake.service, uid);
	cr_assert_gt(engine, 0, "there is no engine");
	return engine;
}

static pid_t standby(void)
{
	pid_t pid = private_service_wait_standby(fake.service, SOON);
	cr_assert_gt(pid, 0, "no standby comes");
	return pid;
}

static bool is_another(void *former)
{
	pid_t pid = private_service_standby(fake.service);
	return pid > 0 && pid != *(pid_t *)former;
}

static long long count_driver_calls(pid_t engine, const char *what)
{
	char line[64];
	(void)snprintf(line, sizeof(line), "count %s", what);
	return fake_service_say(&fake, engine, line);
}

static bool has_no_standby(void *unused)
{
	(void)unused;
	json_t *status = private_service_status(fake.service);
	json_t *present = json_object_get(json_object_get(status, "service"), "standby");
	bool none = json_is_null(present);
	json_decref(status);
	return none;
}

/* Replaces the service by one whose engines keep no builds. */
static void start_without_cache(void)
{
	start_standby_service("", "", false);
	cr_assert_eq(setenv("XDG_CACHE_HOME", "/proc/no-such-folder", 1), 0);
	cr_assert_eq(kill(fake.service->sycld.pid, SIGTERM), 0);
	cr_assert_eq(child_wait(&fake.service->sycld, SOON), 0);
	cr_assert_eq(private_service_restart(fake.service), 0);
	cr_assert(private_service_has_logged(fake.service, "built kernels are not kept"));
}

/* Its own build helper builds them, because there is no cache. */
Test(processes_cuda_standby, a_standby_that_became_its_own_users_engine_builds,
     .fini = teardown_standby)
{
	struct child guilty, again;
	start_without_cache();
	fault_worker_begin(&fake, &guilty, FAULT_WORKER_OWN);
	fault_worker_run(&guilty, "work 2");
	pid_t waiting = standby();
	fail_engine(&guilty);
	fault_worker_finish(&guilty);
	fault_worker_begin(&fake, &again, FAULT_WORKER_OWN);
	fault_worker_run(&again, "work 5");
	cr_expect_eq(cuda_standby_engine_of(FAULT_WORKER_OWN), waiting,
		     "another engine was started");
	fault_worker_finish(&again);
}

/* Returns how many builds its engine had kept, -1 if the status has no such user. */
static int kept_builds(unsigned uid)
{
	json_t *status = private_service_status(fake.service);
	const json_t *tenant = NULL;
	size_t i = 0;
	int hits = -1;
	json_array_foreach(json_object_get(status, "tenants"), i,
			   tenant) if (json_integer_value(json_object_get(tenant, "uid")) ==
				       (json_int_t)uid) hits =
		(int)json_integer_value(json_object_get(tenant, "build_cache_hits"));
	json_decref(status);
	return hits;
}

/* It finds builds that its user made before, though the engine had no user when it started. */
Test(processes_cuda_standby, a_standby_that_became_an_engine_has_its_users_builds,
     .fini = teardown_standby)
{
	struct child guilty, again;
	start_standby_service("", "", geteuid() == 0);
	fault_worker_begin(&fake, &guilty, FAULT_WORKER_OWN);
	fault_worker_run(&guilty, "work 1"); /* it builds this bundle and no other */
	pid_t waiting = standby();
	fail_engine(&guilty);
	fault_worker_finish(&guilty);
	fault_worker_begin(&fake, &again, FAULT_WORKER_OWN);
	fault_worker_run(&again, "work 1");
	cr_expect_eq(cuda_standby_engine_of(FAULT_WORKER_OWN), waiting);
	cr_expect_eq(kept_builds(geteuid()), 1);
	fault_worker_finish(&again);
}

/* A fault costs the time in which the driver reports it, and no new context. */
Test(processes_cuda_standby, after_each_fault_the_standby_serves_the_next_connection,
     .fini = teardown_standby)
{
	enum { FAULTS = 4 };
	start_standby_service("", "", false);
	for (int i = 0; i < FAULTS; i++) {
		struct child worker;
		fault_worker_begin(&fake, &worker, FAULT_WORKER_OWN);
		fault_worker_run(&worker, "work 2");
		pid_t waiting = standby();
		cr_expect_neq(waiting, cuda_standby_engine_of(FAULT_WORKER_OWN));
		cr_expect_eq(count_driver_calls(waiting, "contexts"), 1);
		fail_engine(&worker);
		fault_worker_finish(&worker);
		fault_worker_begin(&fake, &worker, FAULT_WORKER_OWN);
		fault_worker_run(&worker, "work 5");
		cr_expect_eq(cuda_standby_engine_of(FAULT_WORKER_OWN), waiting,
			     "another engine was started");
		cr_expect_eq(count_driver_calls(waiting, "contexts_created"), 1,
			     "the context was made again");
		cr_expect_eq(count_driver_calls(waiting, "misuse"), 0);
		fault_worker_finish(&worker);
	}
	/* The standby exists or is starting, as at the end. */
	(void)standby();
}

/* It prepares only devices that are in use, and more of them if more are used. */
Test(processes_cuda_standby, A17_only_devices_in_use_are_prepared, .fini = teardown_standby)
{
	struct child one, other;
	start_standby_service("devices 3", "", false);
	fault_worker_begin(&fake, &one, FAULT_WORKER_OWN);
	cr_expect(has_no_standby(NULL), "nobody has used a device yet");
	fault_worker_run(&one, "work 1");
	pid_t waiting = standby();
	cr_expect_eq(count_driver_calls(waiting, "contexts"), 1);
	fault_worker_begin(&fake, &other, FAULT_WORKER_OWN);
	fault_worker_run(&other, "device 2");
	fault_worker_run(&other, "work 1");
	fake_service_await(&fake, waiting, "contexts", 2);
	cr_expect_eq(standby(), waiting);
	fault_worker_finish(&one);
	fault_worker_finish(&other);
}

Test(processes_cuda_standby, a_killed_one_is_replaced, .fini = teardown_standby)
{
	struct child worker;
	start_standby_service("", "", false);
	fault_worker_begin(&fake, &worker, FAULT_WORKER_OWN);
	fault_worker_run(&worker, "work 1");
	pid_t waiting = standby();
	cr_assert_eq(kill(waiting, SIGKILL), 0);
	/* The service detects it after the process has ended. So the status may show the former one
	 * for a moment. */
	cr_expect(wait_until(is_another, &waiting, SOON), "no other standby comes");
	fault_worker_run(&worker, "work 1");
	fault_worker_finish(&worker);
}

/* Any user can make the folder in which CUDA looks for MPS if nobody names another one. */
Test(processes_cuda_standby, M10_no_engine_looks_for_mps_where_any_user_can_make_its_folder,
     .fini = teardown_standby)
{
	struct child worker;
	if (access("/tmp/nvidia-mps", F_OK) == 0)
		cr_skip_test("SKIPPED: this machine has a folder of MPS");
	start_standby_service("", "", false);
	fault_worker_begin(&fake, &worker, FAULT_WORKER_OWN);
	fault_worker_run(&worker, "work 1");
	pid_t engine = processes_engine(fake.service), waiting = standby();
	cr_expect_eq(fake_service_say(&fake, engine, "try mps"), ENOENT);
	cr_expect_eq(fake_service_say(&fake, waiting, "try mps"), ENOENT);
	fault_worker_finish(&worker);
}

/* One user is to use the operator's daemon of MPS, the other is not. A standby has no user, and so
 * has not looked for the daemon. */
Test(processes_cuda_standby, M10_only_users_who_are_named_get_the_mps_folder, .init = needs_root,
     .fini = teardown_standby)
{
	struct child named, other;
	char folder[64], configuration[256];
	(void)snprintf(folder, sizeof(folder), "/tmp/sycld-test-mps-%ld", (long)getpid());
	(void)snprintf(configuration, sizeof(configuration),
		       "[isolation]\nmps_folder = %s\n[uid %d]\nmps = yes\n", folder, OTHER_UID);
	cr_assert_eq(mkdir(folder, 0755), 0);
	start_standby_service("", configuration, true);
	fault_worker_begin(&fake, &other, FIRST_UID);
	fault_worker_run(&other, "work 1");
	pid_t waiting = standby();
	fault_worker_begin(&fake, &named, OTHER_UID);
	fault_worker_run(&named, "work 1");
	cr_expect_neq(cuda_standby_engine_of(OTHER_UID), waiting);
	cr_expect_eq(fake_service_say(&fake, cuda_standby_engine_of(OTHER_UID), "try mps"), 0);
	cr_expect_eq(fake_service_say(&fake, cuda_standby_engine_of(FIRST_UID), "try mps"), ENOENT);
	cr_expect_eq(fake_service_say(&fake, waiting, "try mps"), ENOENT);
	fault_worker_finish(&named);
	fault_worker_finish(&other);
	cr_expect_eq(rmdir(folder), 0);
}

/* Its GPU fails while it waits. The next user gets an engine that is started anew. */
Test(processes_cuda_standby, a_broken_one_is_not_handed_out, .fini = teardown_standby)
{
	struct child guilty, again;
	start_standby_service("", "", false);
	fault_worker_begin(&fake, &guilty, FAULT_WORKER_OWN);
	fault_worker_run(&guilty, "work 1");
	pid_t waiting = standby();
	cr_assert_eq(fake_service_say(&fake, waiting, "command lose 719"),
		     0); /* it is idle, so it answers */
	fail_engine(&guilty);
	fault_worker_finish(&guilty);
	fault_worker_begin(&fake, &again, FAULT_WORKER_OWN);
	fault_worker_run(&again, "work 2");
	cr_expect_neq(cuda_standby_engine_of(FAULT_WORKER_OWN), waiting);
	cr_assert(wait_until(processes_gone, &waiting, SOON));
	fault_worker_finish(&again);
}

Test(processes_cuda_standby, it_ends_when_no_engine_uses_devices_any_more, .fini = teardown_standby)
{
	struct child worker;
	start_standby_service("", "[service]\nengine_idle_seconds = 0\n", false);
	fault_worker_begin(&fake, &worker, FAULT_WORKER_OWN);
	fault_worker_run(&worker, "work 1");
	pid_t waiting = standby();
	fault_worker_finish(&worker);
	cr_assert(wait_until(processes_gone, &waiting, SOON));
	cr_assert(wait_until(has_no_standby, NULL, SOON));
}

Test(processes_cuda_standby, without_it_everything_works_as_well, .fini = teardown_standby)
{
	struct child guilty, again;
	start_standby_service("", "[service]\nstandby = no\n", false);
	fault_worker_begin(&fake, &guilty, FAULT_WORKER_OWN);
	fault_worker_run(&guilty, "work 1");
	fail_engine(&guilty);
	fault_worker_finish(&guilty);
	fault_worker_begin(&fake, &again, FAULT_WORKER_OWN);
	fault_worker_run(&again, "work 1");
	cr_expect(has_no_standby(NULL));
	fault_worker_finish(&again);
}

Test(processes_cuda_standby, with_session_isolation_the_next_session_gets_it,
     .fini = teardown_standby)
{
	struct child one, other;
	start_standby_service("", "[isolation]\nisolation = session\n", false);
	fault_worker_begin(&fake, &one, FAULT_WORKER_OWN);
	fault_worker_run(&one, "work 1");
	pid_t waiting = standby();
	fault_worker_begin(&fake, &other, FAULT_WORKER_OWN);
	fault_worker_run(&other, "work 1");
	cr_expect_eq(count_driver_calls(waiting, "contexts_created"), 1);
	cr_expect_geq(count_driver_calls(waiting, "launches"), 1,
		      "it does not run the session's work");
	fault_worker_finish(&one);
	fault_worker_finish(&other);
}

Test(processes_cuda_standby, N5_it_ends_with_the_service, .fini = teardown_standby)
{
	struct child worker;
	start_standby_service("", "", false);
	fault_worker_begin(&fake, &worker, FAULT_WORKER_OWN);
	fault_worker_run(&worker, "work 1");
	pid_t waiting = standby();
	fault_worker_finish(&worker);
	cr_assert_eq(kill(fake.service->sycld.pid, SIGTERM), 0);
	cr_assert_eq(child_wait(&fake.service->sycld, SOON), 0);
	cr_expect(!process_exists(waiting), "the service left it behind");
	cr_assert_eq(private_service_restart(fake.service), 0);
	fault_worker_begin(&fake, &worker, FAULT_WORKER_OWN);
	fault_worker_run(&worker, "work 1");
	waiting = standby();
	cr_assert_eq(kill(fake.service->sycld.pid, SIGKILL), 0);
	cr_assert(wait_until(processes_gone, &waiting, SOON), "it goes on without a service");
	child_end(&worker);
	cr_assert_eq(private_service_restart(fake.service), 0);
}

/* Another user gets it */

/* Returns true if every line of that name, of every thread, is "NAME VALUE..." with this value. */
static bool threads_have(pid_t pid, const char *name, int base, unsigned long long value)
{
	char path[PATH_MAX], line[256];
	bool good = true;
	unsigned threads = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	const struct dirent *entry;
	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid,
			       entry->d_name);
		FILE *file = fopen(path, "re");
		threads++;
		while (file && fgets(line, sizeof(line), file)) {
			char *at = line + strlen(name), *end = at;
			if (strncmp(line, name, strlen(name)) != 0)
				continue;
			for (; strtoull(at, &end, base), end != at; at = end)
				good = strtoull(at, NULL, base) == value && good;
		}
		if (file)
			(void)fclose(file);
	}
	if (folder)
		(void)closedir(folder);
	return good && threads > 0;
}

static void read_link(pid_t pid, int fd, char target_out[PATH_MAX])
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	ssize_t length = readlink(path, target_out, PATH_MAX - 1);
	target_out[length > 0 ? length : 0] = '\0';
}

static void expect_link(pid_t pid, int fd, const char *expected)
{
	char target[PATH_MAX];
	read_link(pid, fd, target);
	cr_expect_str_eq(target, expected, "descriptor %d leads to %s", fd, target);
}

/* Checks that an engine's standard error goes to the service's log. */
static void expect_logged(pid_t pid)
{
	static const char socket[] = "socket:[";
	char target[PATH_MAX];
	read_link(pid, STDERR_FILENO, target);
	cr_expect(strncmp(target, socket, strlen(socket)) == 0, "standard error leads to %s",
		  target);
}

/* Finds the folder that the driver gets when it starts. It belongs to the standby, has an absolute
 * path in a folder in which no user can make a name, and is removed when a user gets the standby.
 */
static void early_cache_of(pid_t pid, char path_out[PATH_MAX])
{
	char link[64], below[PATH_MAX + 8];
	struct stat status;
	(void)snprintf(link, sizeof(link), "/proc/%d/fd/255", (int)pid);
	ssize_t length = readlink(link, path_out, PATH_MAX - 1);
	path_out[length > 0 ? length : 0] = '\0';
	(void)snprintf(below, sizeof(below), "%s/sycld-standby-", fake.service->runtime);
	cr_assert(strncmp(path_out, below, strlen(below)) == 0, "it leads to '%s'", path_out);
	cr_assert_eq(stat(path_out, &status), 0);
	cr_expect_eq(status.st_uid, 0);
	cr_expect_eq(status.st_mode & 0777, 0700);
	(void)snprintf(below, sizeof(below), "%s/cuda", path_out);
	cr_expect_eq(access(below, F_OK), 0, "a driver that finds no folder keeps nothing ever");
}

/* Returns the first number of the first line that begins with this text. "" matches any line. */
static long cuda_standby_read_number(pid_t pid, const char *name, const char *start_of_line)
{
	char path[64], line[256];
	long number = -1;
	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	FILE *file = fopen(path, "re");
	cr_assert(file != NULL, "%s", path);
	while (fgets(line, sizeof(line), file) &&
	       strncmp(line, start_of_line, strlen(start_of_line)) != 0)
		;
	if (strncmp(line, start_of_line, strlen(start_of_line)) == 0)
		number = strtol(line + strlen(start_of_line), NULL, 10);
	(void)fclose(file);
	return number;
}

/* Checks that the process and everything in it belong to that user, as if it had been started for
 * the user, and where its standard output leads. */
static void expect_all_of(pid_t pid, unsigned uid, const char *output)
{
	static const char *const none[] = {"CapInh:", "CapPrm:", "CapEff:", "CapAmb:"};
	cr_expect(threads_have(pid, "Uid:", 10, uid), "a thread of %d is not of user %u", (int)pid,
		  uid);
	cr_expect(threads_have(pid, "NoNewPrivs:", 10, 1));
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		cr_expect(threads_have(pid, none[i], 16, 0), "%s", none[i]);
	expect_link(pid, STDIN_FILENO, "/dev/null");
	expect_link(pid, STDOUT_FILENO, output);
	expect_logged(pid);
	cr_expect_eq(cuda_standby_read_number(pid, "limits", "Max core file size"), 0);
}

/* Compares it with an engine that was started for a user of the same kind: the user's files must be
 * the same. */
static void expect_like(pid_t pid, pid_t model)
{
	static const char *const files[] = {"oom_score_adj", "loginuid", "sessionid"};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char path[64];
		(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)model, files[i]);
		if (access(path, R_OK) == 0)
			cr_expect_eq(cuda_standby_read_number(pid, files[i], ""),
				     cuda_standby_read_number(model, files[i], ""), "%s", files[i]);
	}
	/* The folder belongs to root, although the engine is not root's. So the user cannot read
	 * it. */
	struct stat ours, theirs;
	char a[64], b[64];
	(void)snprintf(a, sizeof(a), "/proc/%d/environ", (int)pid);
	(void)snprintf(b, sizeof(b), "/proc/%d/environ", (int)model);
	cr_assert_eq(stat(a, &ours) | stat(b, &theirs), 0);
	cr_expect_eq(ours.st_uid, theirs.st_uid);
	cr_expect_eq(ours.st_uid, 0);
}

static pid_t only_child(pid_t pid)
{
	pid_t child = 0;
	cr_assert_eq(process_children(pid, &child, 1), 1,
		     "an engine has one child, its build helper");
	return child;
}

Test(processes_cuda_standby, another_user_gets_it_and_it_is_that_users_alone, .init = needs_root,
     .fini = teardown_standby)
{
	struct child first, other;
	char cache[PATH_MAX], early[PATH_MAX];
	start_standby_service("", "", true);
	fault_worker_begin(&fake, &first, FIRST_UID);
	fault_worker_run(&first, "work 1");
	pid_t model = cuda_standby_engine_of(FIRST_UID), waiting = standby();
	early_cache_of(waiting, early);
	cr_expect(threads_have(waiting, "Uid:", 10, 0), "it has a user already");
	fault_worker_begin(&fake, &other, OTHER_UID);
	fault_worker_run(&other, "work 5");
	cr_expect_eq(cuda_standby_engine_of(OTHER_UID), waiting);
	cr_expect_eq(count_driver_calls(waiting, "contexts_created"), 1);
	cr_expect(threads_have(model, "Gid:", 10, 65534) ==
		  threads_have(waiting, "Gid:", 10, 65534));
	/* This includes the threads of a driver that existed before there was a user. The helper
	 * builds, and does not run its builds. */
	cr_expect(threads_have(waiting, "Seccomp:", 10, SECCOMP_MODE_FILTER));
	cr_expect(threads_have(model, "Seccomp:", 10, SECCOMP_MODE_FILTER));
	expect_all_of(model, FIRST_UID, "/memfd:kernel-output (deleted)");
	expect_all_of(waiting, OTHER_UID, "/memfd:kernel-output (deleted)");
	expect_all_of(only_child(waiting), OTHER_UID, "/dev/null");
	expect_like(waiting, model);
	expect_like(only_child(waiting), only_child(model));
	/* The folder that the driver got before the engine had a user. */
	(void)snprintf(cache, sizeof(cache), "/var/cache/sycld/%d", OTHER_UID);
	expect_link(waiting, 255, cache);
	cr_expect(access(early, F_OK) < 0, "%s is left", early);
	fault_worker_run(&first, "work 1");
	fault_worker_finish(&first);
	fault_worker_finish(&other);
}

/* Root is handled like other users. */
Test(processes_cuda_standby, after_a_fault_another_users_standby_is_roots, .init = needs_root,
     .fini = teardown_standby)
{
	struct child first, guilty, again;
	start_standby_service("", "", true);
	fault_worker_begin(&fake, &first, FIRST_UID);
	fault_worker_run(&first, "work 1");
	fault_worker_begin(&fake, &guilty, FAULT_WORKER_OWN);
	fault_worker_run(&guilty, "work 1");
	pid_t waiting = standby();
	fail_engine(&guilty);
	fault_worker_finish(&guilty);
	fault_worker_begin(&fake, &again, FAULT_WORKER_OWN);
	fault_worker_run(&again, "work 1");
	cr_expect_eq(cuda_standby_engine_of(0), waiting);
	expect_logged(waiting);
	fault_worker_run(&first, "work 1");
	fault_worker_finish(&again);
	fault_worker_finish(&first);
}
