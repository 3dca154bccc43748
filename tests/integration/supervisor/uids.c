/*
 * Several uids on one service, as root. Each has an engine with its own uid, and can neither read,
 * trace nor signal another's. A plain program: 77 without root. Its argument is the engine's
 * program (default: the stand-in).
 */
#include "supervisor/harness.h"

#include "cleanup.h"
#include "packet_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UID_FIRST = 64001, UID_LAST = 64900, SKIPPED = 77 };

static unsigned failures;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,           \
				      #condition);                                                 \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

/* A uid that no user of this machine has. */
static uid_t unused_uid(uid_t from)
{
	while (from < UID_LAST && getpwuid(from))
		from++;
	return from;
}

struct user {
	uid_t uid;
	pid_t pid; /* has a session until a byte is written to `release` */
	int release;
	long session_ok; /* 1: it was welcomed */
	long engine;     /* pid; read by root */
};

static int hold_session(const struct service *service, uid_t uid, int report, int release)
{
	gid_t gid = uid;
	if (setgroups(1, &gid) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return 2;
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(service, &socket);
	char answer = facts ? 'y' : 'n';
	if (write(report, &answer, 1) != 1)
		return 3;
	/* Waits until the test writes, or ends. */
	if (read(release, &answer, 1) < 0)
		return 5;
	close_fd(&socket);
	return facts ? 0 : 4;
}

static void user_begin(const struct service *service, struct user *user)
{
	int report[2];
	int release[2];
	if (pipe2(report, O_CLOEXEC) < 0 || pipe2(release, O_CLOEXEC) < 0)
		abort();
	user->pid = fork();
	if (user->pid == 0) {
		(void)close(release[1]);
		_exit(hold_session(service, user->uid, report[1], release[0]));
	}
	(void)close(report[1]);
	(void)close(release[0]);
	user->release = release[1];
	char answer = 0;
	user->session_ok = read(report[0], &answer, 1) == 1 && answer == 'y';
	(void)close(report[0]);
}

static void user_end(struct user *user)
{
	int status = 0;
	/* Closing is not enough: a user who began later has a copy of this end. */
	CHECK(write(user->release, "", 1) == 1);
	close_fd(&user->release);
	CHECK(waitpid(user->pid, &status, 0) == user->pid && WIFEXITED(status) &&
	      WEXITSTATUS(status) == 0);
}

static long uids_engine_of(json_t *status, uid_t uid)
{
	size_t i;
	json_t *tenant;
	json_array_foreach(json_object_get(status, "tenants"), i,
			   tenant) if (json_integer_value(json_object_get(tenant, "uid")) ==
				       uid) return (long)
		json_integer_value(json_object_get(tenant, "engine_pid"));
	return 0;
}

/* The "Uid:" line of a process: all four must be `uid`. */
static bool has_only_uid(long pid, uid_t uid)
{
	char path[64];
	char line[256];
	bool equal = false;
	(void)snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "Uid:", 4) != 0)
			continue;
		char *at = line + 4;
		equal = true;
		for (int i = 0; i < 4; i++)
			equal = strtoul(at, &at, 10) == uid && equal;
	}
	if (file)
		(void)fclose(file);
	return equal;
}

static bool can_open(long pid, const char *name, int flags)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%ld/%s", pid, name);
	CLEANUP(close_fd) int fd = open(path, flags | O_CLOEXEC);
	return fd >= 0;
}

/* As that user: returns how many forbidden actions on the process succeed. */
static unsigned harm(long pid)
{
	unsigned count = 0;
	/* SIGCONT may be sent to all processes of a login session. Strangers are in another one. */
	(void)setsid();
	count += kill((pid_t)pid, 0) == 0;
	count += kill((pid_t)pid, SIGCONT) == 0;
	count += ptrace(PTRACE_SEIZE, (pid_t)pid, NULL, NULL) == 0;
	count += can_open(pid, "maps", O_RDONLY);
	count += can_open(pid, "mem", O_RDONLY);
	count += can_open(pid, "mem", O_RDWR);
	count += can_open(pid, "environ", O_RDONLY);
	count += can_open(pid, "fd/3", O_RDWR);
	count += can_open(pid, "fd", O_RDONLY | O_DIRECTORY);
	count += can_open(pid, "map_files", O_RDONLY | O_DIRECTORY);
	return count;
}

static unsigned harm_as(uid_t uid, long pid)
{
	pid_t child = fork();
	if (child == 0) {
		gid_t gid = uid;
		if (setgroups(1, &gid) < 0 || setresgid(gid, gid, gid) < 0 ||
		    setresuid(uid, uid, uid) < 0)
			_exit(100);
		_exit((int)harm(pid));
	}
	int status = 0;
	(void)waitpid(child, &status, 0);
	return WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : 101;
}

/* A user may signal the user's own engine, but neither trace nor read it. */
static unsigned intrusion_as(uid_t uid, long pid)
{
	pid_t child = fork();
	if (child == 0) {
		gid_t gid = uid;
		if (setgroups(1, &gid) < 0 || setresgid(gid, gid, gid) < 0 ||
		    setresuid(uid, uid, uid) < 0)
			_exit(100);
		_exit((ptrace(PTRACE_SEIZE, (pid_t)pid, NULL, NULL) == 0) +
		      can_open(pid, "mem", O_RDONLY) + can_open(pid, "fd/3", O_RDWR));
	}
	int status = 0;
	(void)waitpid(child, &status, 0);
	return WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : 101;
}

static json_t *requested_as(const struct service *service, const char *program, uid_t uid,
			    const char *verb, const char *option)
{
	const char *arguments[] = {program,          verb,   "--json", "--runtime-dir",
				   service->runtime, option, NULL};
	struct outcome outcome = run_program(uid, arguments);
	json_t *parsed = outcome.status == 0 ? json_loads(outcome.out, 0, NULL) : NULL;
	if (!parsed)
		(void)fprintf(stderr, "%s as %u: %d: %s\n", verb, uid, outcome.status,
			      outcome.error);
	outcome_free(&outcome);
	return parsed;
}

static json_t *status_as(const struct service *service, const char *program, uid_t uid)
{
	return requested_as(service, program, uid, "status", NULL);
}

/* Returns true if that user may give that order about these sessions. If not, the error must
 * contain these words. */
static bool may_order(const struct service *service, const char *program, uid_t uid,
		      const char *const order[2], const char *const whose[2], const char *complaint)
{
	const char *arguments[8] = {program, "--runtime-dir", service->runtime, order[0], whose[0]};
	int count = 5;
	if (whose[1])
		arguments[count++] = whose[1];
	arguments[count] = order[1];
	struct outcome outcome = run_program(uid, arguments);
	bool may = outcome.status == 0;
	CHECK(may || (outcome.status == 1 && strstr(outcome.error, complaint)));
	outcome_free(&outcome);
	return may;
}

/* A user may not order anything, also about the user's own sessions. An order of root about one
 * user does not affect another. */
static void orders_are_roots(const struct service *service, const char *program,
			     const struct user *a, const struct user *b)
{
	static const char *const orders[][2] = {
		{"kill"}, {"pause"}, {"resume"}, {"drain"}, {"limit", "buffer_bytes=64K"}};
	static const char *const everybody[2] = {"--all", NULL};
	char uid[16];
	(void)snprintf(uid, sizeof(uid), "%u", (unsigned)a->uid);
	const char *const of_a[2] = {"--uid", uid};
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		CHECK(!may_order(service, program, a->uid, orders[i], of_a, "only root"));
		CHECK(!may_order(service, program, b->uid, orders[i], of_a, "only root"));
		CHECK(!may_order(service, program, b->uid, orders[i], everybody, "only root"));
	}
	CHECK(may_order(service, program, 0, (const char *const[2]){"drain"}, of_a, ""));
	struct user refused = {.uid = a->uid}, served = {.uid = b->uid};
	user_begin(service, &refused);
	user_begin(service, &served);
	CHECK(!refused.session_ok && served.session_ok);
	user_end(&served);
	close_fd(&refused.release);
	(void)waitpid(refused.pid, NULL, 0);
	CHECK(may_order(service, program, 0, orders[0], of_a, ""));
	json_t *all = status_as(service, program, 0);
	CHECK(uids_engine_of(all, a->uid) != a->engine && uids_engine_of(all, b->uid) == b->engine);
	json_decref(all);
}

/* Checks that all entries are that user's, and that there is at least one. */
static void only_of(json_t *status, const char *list, uid_t uid)
{
	size_t i;
	json_t *row;
	CHECK(json_array_size(json_object_get(status, list)) == 1);
	json_array_foreach(json_object_get(status, list), i, row)
		CHECK(json_integer_value(json_object_get(row, "uid")) == uid);
}

/* No folder of another user can be made in the parent. */
static void must_own_cache(const struct service *service, uid_t uid)
{
	char path[HARNESS_PATH_BYTES * 2];
	struct stat facts;
	(void)snprintf(path, sizeof(path), "%s/cache/%u", service->folder, uid);
	CHECK(stat(path, &facts) == 0 && facts.st_uid == uid && (facts.st_mode & 0777u) == 0700);
	(void)snprintf(path, sizeof(path), "%s/cache", service->folder);
	CHECK(stat(path, &facts) == 0 && facts.st_uid == 0 && (facts.st_mode & 07777u) == 0755);
}

/* Checks that its standard output goes to memory of its own and its standard error into its own
 * socket. No descriptor leads to the service's log. */
static bool has_no_log(long pid, const char *log)
{
	static const char *const standard[] = {"/dev/null", "/memfd:kernel-output (deleted)",
					       "socket:"};
	for (int fd = 0; fd < 32; fd++) {
		char path[64];
		char target[HARNESS_PATH_BYTES * 2];
		(void)snprintf(path, sizeof(path), "/proc/%ld/fd/%d", pid, fd);
		ssize_t length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		if (strcmp(target, log) == 0 ||
		    (fd <= STDERR_FILENO &&
		     strncmp(target, standard[fd], strlen(standard[fd])) != 0))
			return false;
	}
	return true;
}

static size_t account_count(const struct service *service, const char *program, uid_t uid,
			    const char *option)
{
	json_t *answer = requested_as(service, program, uid, "accounts", option);
	size_t count = json_array_size(json_object_get(answer, "accounts"));
	json_decref(answer);
	return count;
}

/* Root can read what all have used, and every other user only their own use, whatever they
 * request. */
static void accounts_are_ones_own(const struct service *service, const char *program,
				  const struct user *a, const struct user *b)
{
	char of_b[32];
	(void)snprintf(of_b, sizeof(of_b), "--uid=%u", (unsigned)b->uid);
	CHECK(account_count(service, program, 0, NULL) == 2);
	CHECK(account_count(service, program, 0, of_b) == 1);
	CHECK(account_count(service, program, 0, "--by=session") == 2);
	json_t *own = requested_as(service, program, a->uid, "accounts", "--by=uid,session");
	only_of(own, "accounts", a->uid);
	json_decref(own);
	CHECK(account_count(service, program, a->uid, of_b) == 0);
	CHECK(account_count(service, program, a->uid, "--by=cgroup") <= 1);
	CHECK(account_count(service, program, b->uid + 1, NULL) == 0);
}

/* A copy that every user may run. */
static void copy_program(const char *from, const char *to)
{
	char command[HARNESS_PATH_BYTES * 8];
	(void)snprintf(command, sizeof(command), "cp %s %s && chmod 0755 %s", from, to, to);
	const char *copy[] = {"/bin/sh", "-c", command, NULL};
	struct outcome copied = run_program(0, copy);
	CHECK(copied.status == 0);
	outcome_free(&copied);
}

static void two_users(const char *engine, const char *ctl_template)
{
	struct service service;
	service_prepare(&service, "double");
	if (engine)
		(void)snprintf(service.engine, sizeof(service.engine), "%s", engine);
	char ctl[HARNESS_PATH_BYTES * 2];
	(void)snprintf(ctl, sizeof(ctl), "%s/syclctl", service.folder);
	copy_program(ctl_template, ctl);
	service.as_unit = true;
	service_start(&service, NULL);
	struct user a = {.uid = unused_uid(UID_FIRST)};
	struct user b = {.uid = unused_uid(a.uid + 1)};
	user_begin(&service, &a);
	user_begin(&service, &b);
	CHECK(a.session_ok);
	CHECK(b.session_ok);

	json_t *all = status_as(&service, ctl, 0);
	CHECK(json_array_size(json_object_get(all, "sessions")) == 2);
	a.engine = uids_engine_of(all, a.uid);
	b.engine = uids_engine_of(all, b.uid);
	json_decref(all);
	CHECK(a.engine > 1 && b.engine > 1 && a.engine != b.engine);
	CHECK(has_only_uid(a.engine, a.uid));
	CHECK(has_only_uid(b.engine, b.uid));

	CHECK(harm_as(a.uid, b.engine) == 0);
	CHECK(harm_as(b.uid, a.engine) == 0);
	CHECK(harm_as(a.uid, service.pid) == 0);
	CHECK(intrusion_as(a.uid, a.engine) == 0);
	CHECK(harm_as(0, a.engine) > 0); /* the check itself must find successful attacks */

	if (engine) /* the stand-in has only its arguments */
		CHECK(has_no_log(a.engine, service.log));

	json_t *own = status_as(&service, ctl, a.uid);
	only_of(own, "sessions", a.uid);
	only_of(own, "tenants", a.uid);
	json_decref(own);
	json_t *nobody = status_as(&service, ctl, unused_uid(b.uid + 1));
	CHECK(nobody && json_array_size(json_object_get(nobody, "sessions")) == 0);
	CHECK(nobody && json_array_size(json_object_get(nobody, "tenants")) == 0);
	json_decref(nobody);

	accounts_are_ones_own(&service, ctl, &a, &b);
	/* Built kernels are kept in folders that the other user cannot read. */
	must_own_cache(&service, a.uid);
	must_own_cache(&service, b.uid);
	orders_are_roots(&service, ctl, &a, &b);
	user_end(&a);
	user_end(&b);
	CHECK(service_stop(&service) == 0);
	service_free(&service);
}

static void unprivileged_refuses_another(const char *engine)
{
	struct service service;
	service_prepare(&service, "double");
	if (engine)
		(void)snprintf(service.engine, sizeof(service.engine), "%s", engine);
	service.run_as = unused_uid(UID_FIRST);
	CHECK(chown(service.folder, service.run_as, service.run_as) == 0);
	service_start(&service, NULL);
	struct user own = {.uid = service.run_as};
	user_begin(&service, &own);
	CHECK(own.session_ok);

	/* Root is handled like another user. */
	CLEANUP(free_pointer) char *text = client_refused(&service);
	CHECK(text != NULL);
	CHECK(text && strstr(text, "serves uid") != NULL);
	user_end(&own);
	CHECK(service_stop(&service) == 0);
	service_free(&service);
}

static void foreign_folder_is_refused(void)
{
	struct service service;
	service_prepare(&service, "double");
	CHECK(mkdir(service.runtime, 0755) == 0);
	CHECK(chown(service.runtime, unused_uid(UID_FIRST), 0) == 0);
	const char *arguments[] = {SYCLD_PROGRAM, "--runtime-dir", service.runtime, NULL};
	struct outcome outcome = run_program(0, arguments);
	CHECK(outcome.status == 1);
	CHECK(strstr(outcome.error, "belongs to another user") != NULL);
	outcome_free(&outcome);
	service_free(&service);
}

int main(int argc, char **argv)
{
	if (geteuid() != 0) {
		(void)fputs("skipped: only root can become other users\n", stderr);
		return SKIPPED;
	}
	const char *engine = argc > 1 ? argv[1] : NULL;
	two_users(engine, SYCLCTL_PROGRAM);
	unprivileged_refuses_another(engine);
	foreign_folder_is_refused();
	if (failures)
		(void)fprintf(stderr, "%u failures\n", failures);
	return failures ? 1 : 0;
}
