/* Control groups: all processes in an engine's group end together, also if their parent has ended.
 * Needs a writable cgroup2. */
#include "supervisor/control_group.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

/* A uid that no user has. */
#define STRANGER      64001
#define STRANGER_TEXT "64001"

static struct service service;
static char mount[HARNESS_PATH_BYTES], group[2 * HARNESS_PATH_BYTES];

/* Makes a group as a service manager that delegates it does. This process is in it, and so are
 * services that it starts. */
static void make_group(void)
{
	if (geteuid() != 0 || !control_group_mount(mount))
		cr_skip_test("SKIPPED: needs root and a mounted cgroup2");
	(void)snprintf(group, sizeof(group), "%s/sycld-test-%ld", mount, (long)getpid());
	if (mkdir(group, 0755) < 0 || setxattr(group, "user.delegate", "1", 1, 0) < 0 ||
	    !control_group_write(group, "cgroup.procs", "0"))
		cr_skip_test("SKIPPED: no control group can be made and marked in %s", mount);
}

static void clean_groups(void)
{
	service_free(&service);
	char command[8 * HARNESS_PATH_BYTES];
	if (!*group || !control_group_write(mount, "cgroup.procs", "0"))
		return;
	(void)control_group_write(group, "cgroup.kill", "1");
	(void)snprintf(
		command, sizeof(command),
		"until find %s -depth -type d -exec rmdir {} + || [ ! -e %s ]; do :; done 2>/dev/null",
		group, group);
	const char *arguments[] = {"/bin/sh", "-c", command, NULL};
	struct outcome outcome = run_program(0, arguments);
	outcome_free(&outcome);
}

TestSuite(groups, .init = make_group, .fini = clean_groups, .timeout = 60);

static bool is_inside(long pid, long engine)
{
	char path[64], text[4096], wanted[128];
	(void)snprintf(path, sizeof(path), "/proc/%ld/cgroup", pid);
	(void)snprintf(wanted, sizeof(wanted), "/uid-0/engine-%ld\n", engine);
	FILE *file = fopen(path, "re");
	size_t count = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[count] = '\0';
	if (file)
		(void)fclose(file);
	return strstr(text, wanted) != NULL;
}

static bool process_has_ended(void *context)
{
	const long *pid = context;
	return kill((pid_t)*pid, 0) < 0;
}

static bool has_no_folder(void *path)
{
	return access(path, F_OK) < 0;
}

static void start_grouped_service(void)
{
	const char *arguments[] = {NULL};
	service_start(&service, arguments);
}

/* The engine's code starts two processes. */
static void breed_in_engine(int socket, long pids_out[2])
{
	cr_assert(eq(long, send(socket, "breed", 5, MSG_NOSIGNAL), 5));
	Sycl__V1__Packet *packet = client_receive(socket);
	cr_assert(ne(ptr, packet, NULL));
	pids_out[0] = fact(packet->welcome->service_version, "child=");
	pids_out[1] = fact(packet->welcome->service_version, "grandchild=");
	packet_free(packet);
}

/* An engine, and two processes that its tenant's code has started there. */
static long breed(int *socket_out, long pids_out[2])
{
	CLEANUP(free_pointer) char *facts = client_open(&service, socket_out);
	cr_assert(ne(ptr, facts, NULL));
	long engine = fact(facts, "pid=");
	breed_in_engine(*socket_out, pids_out);
	for (int i = 0; i < 2; i++)
		cr_assert(is_inside(pids_out[i], engine));
	cr_assert(is_inside(engine, engine));
	return engine;
}

Test(groups, an_engine_s_group_ends_with_it_and_goes)
{
	int socket = -1;
	long pids[2];
	char path[3 * HARNESS_PATH_BYTES];
	service_prepare(&service, "double");
	start_grouped_service();
	long engine = breed(&socket, pids);
	(void)snprintf(path, sizeof(path), "%s/uid-0/engine-%ld", group, engine);
	cr_assert(eq(int, access(path, F_OK), 0));
	cr_assert(eq(long, send(socket, "crash", 5, MSG_NOSIGNAL), 5));
	for (int i = 0; i < 2; i++)
		cr_assert(wait_until(process_has_ended, &pids[i]));
	cr_assert(wait_until(has_no_folder, path));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Its engine has ended while no service ran. Its processes have no parent but the machine's first
 * process. */
Test(groups, the_next_service_ends_what_an_engine_has_left)
{
	int socket = -1;
	long pids[2];
	service_prepare(&service, "double");
	start_grouped_service();
	long engine = breed(&socket, pids);
	cr_assert(eq(int, kill(service.pid, SIGKILL), 0));
	(void)service_wait(&service);
	cr_assert(eq(int, kill((pid_t)engine, SIGKILL), 0));
	cr_assert(wait_until(process_has_ended, &engine));
	for (int i = 0; i < 2; i++)
		cr_assert(not(process_has_ended(&pids[i])));
	start_grouped_service();
	for (int i = 0; i < 2; i++)
		cr_assert(wait_until(process_has_ended, &pids[i]));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* A service that may not signal processes of other users, and an engine of such a user. */
static long start_without_right_to_kill(int *socket_out)
{
	service_prepare(&service, "double");
	service.as_unit = service.without_kill = true;
	start_grouped_service();
	cr_assert(eq(int, seteuid(STRANGER), 0));
	CLEANUP(free_pointer) char *facts = client_open(&service, socket_out);
	cr_assert(eq(int, seteuid(0), 0));
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(eq(long, fact(facts, "uid="), STRANGER));
	return fact(facts, "pid=");
}

static void order_kill(void)
{
	const char *arguments[] = {
		SYCLCTL_PROGRAM, "kill", "--runtime-dir", service.runtime, "--uid",
		STRANGER_TEXT,   NULL};
	struct outcome outcome = run_program(0, arguments);
	outcome_free(&outcome);
}

static bool log_names_refusal(void *text)
{
	return service_log_count(&service, text) > 0;
}

Test(groups, a_group_ends_an_engine_that_gets_no_signal)
{
	int socket = -1;
	long engine = start_without_right_to_kill(&socket);
	order_kill();
	cr_assert(wait_until(process_has_ended, &engine));
	cr_assert(eq(u32, service_log_count(&service, "its control group is ended"), 1u));
	cr_assert(eq(u32, service_log_count(&service, "cannot be killed"), 0u));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(groups, an_engine_that_cannot_be_killed_is_reported)
{
	int socket = -1;
	char text[64];
	(void)removexattr(group, "user.delegate");
	long engine = start_without_right_to_kill(&socket);
	order_kill();
	(void)snprintf(text, sizeof(text), "pid %ld cannot be killed: Operation not permitted",
		       engine);
	cr_assert(wait_until(log_names_refusal, text));
	cr_assert(not(process_has_ended(&engine)));
	cr_assert(eq(int, kill((pid_t)engine, SIGKILL), 0));
	cr_assert(wait_until(process_has_ended, &engine));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Each is tried again many times a second. */
Test(groups, of_several_orphans_that_cannot_be_killed_one_is_logged_once)
{
	const struct timespec rounds = {.tv_nsec = 400000000};
	char text[] = "which a dead engine had started, cannot be killed";
	int socket = -1;
	long pids[4];
	(void)removexattr(group, "user.delegate");
	long engine = start_without_right_to_kill(&socket);
	breed_in_engine(socket, pids);
	breed_in_engine(socket, pids + 2);
	cr_assert(eq(long, send(socket, "crash", 5, MSG_NOSIGNAL), 5));
	cr_assert(wait_until(process_has_ended, &engine));
	cr_assert(wait_until(log_names_refusal, text));
	(void)nanosleep(&rounds, NULL);
	cr_expect(eq(u32, service_log_count(&service, text), 1u));
	for (int i = 0; i < 4; i++) {
		cr_assert(not(process_has_ended(&pids[i])));
		cr_assert(eq(int, kill((pid_t)pids[i], SIGKILL), 0));
	}
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(groups, limits_that_cannot_hold_are_reported)
{
	char path[2 * HARNESS_PATH_BYTES];
	(void)removexattr(group, "user.delegate");
	service_prepare(&service, "double");
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path, "[isolation]\nprocesses = 100\nmemory_bytes = 1G\ncpu_weight = 50\n");
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
	cr_assert(eq(u32, service_log_count(&service, "limits of [isolation] have no effect"), 1u));
	cr_assert(eq(int, service_stop(&service), 0));
}
