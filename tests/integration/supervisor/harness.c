#include "supervisor/harness.h"

#include "cleanup.h"
#include "clock.h"
#include "packet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 32, TURN_MS = 5, COPY_BYTES = 1 << 16, NOTIFY_BYTES = 1 << 16 };

static void die(const char *what)
{
	(void)fprintf(stderr, "harness: %s: %s\n", what, strerror(errno));
	abort();
}

static void join_path(char out[HARNESS_PATH_BYTES], const char *folder, const char *name)
{
	if (snprintf(out, HARNESS_PATH_BYTES, "%s/%s", folder, name) >= HARNESS_PATH_BYTES)
		die("a path is too long");
}

/* A copy, so that a user who cannot read the build folder can run it. */
static void copy_program(const char *from, const char *to)
{
	CLEANUP(close_fd) int source = open(from, O_RDONLY | O_CLOEXEC);
	CLEANUP(close_fd) int target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	static char block[COPY_BYTES];
	ssize_t count = 0;
	if (source < 0 || target < 0 || fchmod(target, 0755) < 0)
		die(from);
	while ((count = read(source, block, sizeof(block))) > 0)
		if (write(target, block, (size_t)count) != count)
			die(to);
	if (count < 0)
		die(from);
}

/* The fake service manager. It reads all the time, because a service waits for a manager that does
 * not. */
struct manager {
	pthread_t thread;
	pthread_mutex_t mutex;
	int fd;
	int stop_fd;
	size_t said_bytes;
	size_t seen_bytes; /* up to the text that was waited for */
	char said[NOTIFY_BYTES];
};

static void *manage(void *context)
{
	struct manager *manager = context;
	for (;;) {
		struct pollfd polls[] = {{.fd = manager->fd, .events = POLLIN},
					 {.fd = manager->stop_fd, .events = POLLIN}};
		char text[1024];
		(void)poll(polls, 2, -1);
		if (polls[1].revents)
			return NULL;
		ssize_t count = recv(manager->fd, text, sizeof(text), MSG_DONTWAIT);
		if (count <= 0)
			continue;
		(void)pthread_mutex_lock(&manager->mutex);
		if (manager->said_bytes + (size_t)count + 1 < sizeof(manager->said)) {
			memcpy(manager->said + manager->said_bytes, text, (size_t)count);
			manager->said_bytes += (size_t)count;
			manager->said[manager->said_bytes++] = '\n';
		}
		(void)pthread_mutex_unlock(&manager->mutex);
	}
}

static int bind_notify(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address.sun_path))
		die("a path is too long");
	memcpy(address.sun_path, path, strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(path, 0666) < 0)
		die("notify socket");
	return fd;
}

static struct manager *manager_start(const char *path)
{
	struct manager *manager = calloc(1, sizeof(*manager));
	if (!manager)
		die("memory");
	manager->fd = bind_notify(path);
	manager->stop_fd = eventfd(0, EFD_CLOEXEC);
	(void)pthread_mutex_init(&manager->mutex, NULL);
	if (manager->stop_fd < 0 || pthread_create(&manager->thread, NULL, manage, manager) != 0)
		die("a thread");
	return manager;
}

static void manager_stop(struct manager *manager)
{
	if (eventfd_write(manager->stop_fd, 1) < 0)
		die("a thread");
	(void)pthread_join(manager->thread, NULL);
	(void)pthread_mutex_destroy(&manager->mutex);
	close_fd(&manager->fd);
	close_fd(&manager->stop_fd);
	free(manager);
}

static bool manager_was_notified(struct manager *manager, const char *text)
{
	(void)pthread_mutex_lock(&manager->mutex);
	manager->said[manager->said_bytes] = '\0';
	const char *at = strstr(manager->said + manager->seen_bytes, text);
	if (at)
		manager->seen_bytes = (size_t)(at - manager->said) + strlen(text);
	(void)pthread_mutex_unlock(&manager->mutex);
	return at != NULL;
}

void service_prepare(struct service *service, const char *manner)
{
	*service = (struct service){.pid = 0};
	(void)snprintf(service->folder, sizeof(service->folder), "/tmp/sycld-test-XXXXXX");
	if (!mkdtemp(service->folder) || chmod(service->folder, 0755) < 0)
		die("a folder");
	char name[64];
	(void)snprintf(name, sizeof(name), "engine-%s", manner);
	join_path(service->engine, service->folder, name);
	copy_program(ENGINE_DOUBLE, service->engine);
	join_path(service->runtime, service->folder, "run");
	join_path(service->session, service->runtime, "session.sock");
	join_path(service->log, service->folder, "log");
	join_path(service->notify, service->folder, "notify");
	service->manager = manager_start(service->notify);
}

static void become(uid_t uid, gid_t group)
{
	gid_t gid = uid;
	if (uid && (setgroups(1, &group) < 0 || setresgid(gid, gid, gid) < 0 ||
		    setresuid(uid, uid, uid) < 0))
		die("becoming another user");
}

static void drop_capabilities(bool keeps_kill)
{
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) {
		bool kept = capability == CAP_SETUID || capability == CAP_SETGID ||
			    capability == CAP_SETPCAP || (capability == CAP_KILL && keeps_kill);
		if (!kept && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
			die("dropping a capability");
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no new privileges");
}

/* Copies the program to the service's folder so that the user can run it: the build folder may be
 * closed to others. */
static void make_reachable(const struct service *service, const char *name, char *path)
{
	char copy[HARNESS_PATH_BYTES];
	join_path(copy, service->folder, name);
	if (access(copy, F_OK) < 0)
		copy_program(path, copy);
	(void)snprintf(path, HARNESS_PATH_BYTES, "%s", copy);
}

void service_launch(struct service *service, const char *const *arguments)
{
	char cache[HARNESS_PATH_BYTES];
	char program[HARNESS_PATH_BYTES];
	join_path(cache, service->folder, "cache");
	(void)snprintf(program, sizeof(program), "%s", SYCLD_PROGRAM);
	if (service->run_as) {
		make_reachable(service, "sycld", program);
		if (strncmp(service->engine, service->folder, strlen(service->folder)) != 0)
			make_reachable(service, "sycl-engine", service->engine);
	}
	const char *list[ARGUMENTS_MAX] = {program,    "--runtime-dir", service->runtime,
					   "--engine", service->engine, "--cache-dir",
					   cache};
	unsigned count = 7;
	for (unsigned i = 0; arguments && arguments[i]; i++)
		list[count++] = arguments[i];
	service->pid = fork();
	if (service->pid < 0)
		die("fork");
	if (service->pid > 0)
		return;
	int log = open(service->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (log < 0 || dup2(log, STDERR_FILENO) < 0)
		die("log");
	(void)setenv("NOTIFY_SOCKET", service->notify, 1);
	(void)setenv("SYCLD_DEBUG", "*:debug", 1);
	(void)setenv("HOME", service->folder, 1);
	(void)unsetenv("XDG_CACHE_HOME");
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)unsetenv("CACHE_DIRECTORY");
	if (service->as_unit)
		drop_capabilities(!service->without_kill);
	if (service->in_namespace && unshare(CLONE_NEWUSER) < 0)
		die("a user namespace");
	become(service->run_as, service->run_as);
	/* A test that fails does not clean up. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)execv(program, (char *const *)(uintptr_t)list);
	die(program);
}

struct expectation {
	const struct service *service;
	const char *text;
	bool received;
};

static bool received_or_ended(void *context)
{
	struct expectation *expectation = context;
	const struct service *service = expectation->service;
	siginfo_t info = {.si_pid = 0};
	bool ended = service->pid &&
		     waitid(P_PID, (id_t)service->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		     info.si_pid;
	expectation->received = manager_was_notified(service->manager, expectation->text);
	return expectation->received || ended;
}

bool service_wait_notify(struct service *service, const char *text)
{
	struct expectation expectation = {.service = service, .text = text};
	return wait_until(received_or_ended, &expectation) && expectation.received;
}

bool service_wait_ready(struct service *service)
{
	return service_wait_notify(service, "READY=1");
}

void service_start(struct service *service, const char *const *arguments)
{
	service_launch(service, arguments);
	if (!service_wait_ready(service)) {
		errno = ETIMEDOUT;
		die("sycld does not get ready");
	}
}

void service_start_slow(struct service *service, const char *const *arguments, const char *library,
			uid_t uid, const char *gate)
{
	char text[32], options[1024];
	const char *before = getenv("ASAN_OPTIONS");
	(void)snprintf(text, sizeof(text), "%lu", (unsigned long)uid);
	(void)snprintf(options, sizeof(options), "%s:verify_asan_link_order=0",
		       before ? before : "");
	(void)setenv("SYCLD_TEST_SLOW_UID", text, 1);
	(void)setenv("SYCLD_TEST_SLOW_GATE", gate, 1);
	(void)setenv("ASAN_OPTIONS", options, 1);
	(void)setenv("LD_PRELOAD", library, 1);
	service_start(service, arguments);
	(void)unsetenv("LD_PRELOAD");
}

struct waiting {
	pid_t pid;
	int status;
};

static bool reap_if_ended(void *context)
{
	struct waiting *waiting = context;
	return waitpid(waiting->pid, &waiting->status, WNOHANG) == waiting->pid;
}

int service_wait(struct service *service)
{
	struct waiting waiting = {.pid = service->pid};
	if (!wait_until(reap_if_ended, &waiting)) {
		(void)kill(service->pid, SIGKILL);
		errno = ETIMEDOUT;
		die("sycld does not end");
	}
	service->pid = 0;
	return waiting.status;
}

int service_stop(struct service *service)
{
	(void)kill(service->pid, SIGTERM);
	return service_wait(service);
}

/* Ends engines of a service that was killed. They are identified by their program, which is in the
 * test's folder. */
static void kill_engines(const struct service *service)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	while (proc && (entry = readdir(proc))) {
		char link[300];
		char target[HARNESS_PATH_BYTES];
		(void)snprintf(link, sizeof(link), "/proc/%s/exe", entry->d_name);
		ssize_t count = readlink(link, target, sizeof(target) - 1);
		if (count <= 0)
			continue;
		target[count] = '\0';
		if (!strncmp(target, service->folder, strlen(service->folder)))
			(void)kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
	}
	if (proc)
		(void)closedir(proc);
}

static void remove_tree(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	while (folder && (entry = readdir(folder))) {
		char inner[HARNESS_PATH_BYTES * 2];
		struct stat facts;
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		(void)snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		if (lstat(inner, &facts) == 0 && S_ISDIR(facts.st_mode))
			remove_tree(inner);
		else
			(void)unlink(inner);
	}
	if (folder)
		(void)closedir(folder);
	(void)rmdir(path);
}

void service_free(struct service *service)
{
	if (service->pid) {
		(void)kill(service->pid, SIGKILL);
		(void)waitpid(service->pid, NULL, 0);
	}
	kill_engines(service);
	manager_stop(service->manager);
	remove_tree(service->folder);
}

void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	if (!file || fputs(text, file) < 0 || fclose(file) != 0 || chmod(path, 0644) < 0)
		die(path);
}

static char *read_all(int fd)
{
	size_t used = 0;
	size_t size = 4096;
	char *text = malloc(size);
	for (;;) {
		if (!text)
			die("memory");
		ssize_t count = read(fd, text + used, size - used - 1);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		used += (size_t)count;
		if (size - used < 2)
			text = realloc(text, size *= 2);
	}
	text[used] = '\0';
	return text;
}

/* Removes " (NAME)" after each "uid NUMBER": whether the service knows a name depends on when its
 * look-up ends. */
static void log_remove_names(char *text)
{
	char *to = text;
	for (const char *at = text, *word = NULL; *at;) {
		if (strncmp(at, "uid ", 4) == 0)
			word = at + 4 + strspn(at + 4, "0123456789");
		if (word == at && strncmp(at, " (", 2) == 0 &&
		    at[2 + strcspn(at + 2, ") ,\n")] == ')')
			at += 3 + strcspn(at + 2, ")");
		else
			*to++ = *at++;
	}
	*to = '\0';
}

unsigned service_log_count(const struct service *service, const char *text)
{
	CLEANUP(close_fd) int fd = open(service->log, O_RDONLY | O_CLOEXEC);
	CLEANUP(free_pointer) char *all = read_all(fd);
	log_remove_names(all);
	unsigned count = 0;
	for (const char *at = all; (at = strstr(at, text)); at++)
		count++;
	return count;
}

bool wait_until(bool (*condition)(void *context), void *context)
{
	uint64_t deadline = clock_deadline_ns(HARNESS_DEADLINE_MS * 1000000ull);
	while (!condition(context)) {
		if (clock_now_ns() > deadline)
			return false;
		(void)poll(NULL, 0, TURN_MS);
	}
	return true;
}

int client_connect_silently(const struct service *service)
{
	int socket = -1;
	int r = packet_socket_connect(service->session, &socket);
	if (r < 0)
		errno = -r;
	return r < 0 ? -1 : socket;
}

int client_connect(const struct service *service)
{
	int socket = client_connect_silently(service);
	if (socket >= 0)
		client_send_hello(socket);
	return socket;
}

void client_send_hello(int socket)
{
	Sycl__V1__Hello hello = SYCL__V1__HELLO__INIT;
	hello.protocol_min = PROTOCOL_VERSION;
	hello.protocol_max = PROTOCOL_VERSION;
	hello.command = (char *)(uintptr_t) "test";
	hello.library_version = (char *)(uintptr_t)SYCLD_VERSION;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_HELLO;
	packet.hello = &hello;
	/* The service may have sent a refusal already. Then this fails, and the refusal can still
	 * be read. */
	(void)message_send(socket, &packet.base, NULL, 0, 0);
}

Sycl__V1__Packet *client_receive(int socket)
{
	struct pollfd poll_fd = {.fd = socket, .events = POLLIN};
	if (poll(&poll_fd, 1, HARNESS_DEADLINE_MS) <= 0) {
		errno = ETIMEDOUT;
		die("a client is not answered");
	}
	static uint8_t bytes[PACKET_BYTES_MAX];
	struct packet_fds fds = PACKET_FDS_INIT;
	ssize_t size = packet_socket_receive(socket, bytes, sizeof(bytes), &fds, 0);
	packet_fds_close(&fds);
	return size > 0 ? sycl__v1__packet__unpack(NULL, (size_t)size, bytes) : NULL;
}

void packet_free(Sycl__V1__Packet *packet)
{
	if (packet)
		sycl__v1__packet__free_unpacked(packet, NULL);
}

char *client_open(const struct service *service, int *socket_out)
{
	int socket = client_connect(service);
	if (socket < 0)
		return NULL;
	Sycl__V1__Packet *packet = client_receive(socket);
	char *facts = NULL;
	if (packet && packet->body_case == SYCL__V1__PACKET__BODY_WELCOME)
		facts = strdup(packet->welcome->service_version);
	packet_free(packet);
	if (facts)
		*socket_out = socket;
	else
		close_fd(&socket);
	return facts;
}

char *client_refused(const struct service *service)
{
	CLEANUP(close_fd) int socket = client_connect(service);
	if (socket < 0)
		return NULL;
	Sycl__V1__Packet *packet = client_receive(socket);
	char *text = NULL;
	if (packet && packet->body_case == SYCL__V1__PACKET__BODY_ERROR && packet->error->code < 0)
		text = strdup(packet->error->text);
	packet_free(packet);
	return text;
}

long fact(const char *facts, const char *name)
{
	const char *at = strstr(facts, name);
	return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

struct outcome run_program(uid_t uid, const char *const *arguments)
{
	return run_program_in_group(uid, uid, arguments);
}

struct outcome run_program_in_group(uid_t uid, gid_t group, const char *const *arguments)
{
	FILE *out = tmpfile();
	FILE *error = tmpfile();
	if (!out || !error)
		die("files");
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		if (dup2(fileno(out), STDOUT_FILENO) < 0 || dup2(fileno(error), STDERR_FILENO) < 0)
			die("outputs");
		become(uid, group);
		(void)execv(arguments[0], (char *const *)(uintptr_t)arguments);
		_exit(127);
	}
	struct waiting waiting = {.pid = pid};
	if (!wait_until(reap_if_ended, &waiting)) {
		(void)kill(pid, SIGKILL);
		errno = ETIMEDOUT;
		die(arguments[0]);
	}
	struct outcome outcome = {.status = WIFEXITED(waiting.status)
						    ? WEXITSTATUS(waiting.status)
						    : 128 + WTERMSIG(waiting.status)};
	(void)lseek(fileno(out), 0, SEEK_SET);
	(void)lseek(fileno(error), 0, SEEK_SET);
	outcome.out = read_all(fileno(out));
	outcome.error = read_all(fileno(error));
	(void)fclose(out);
	(void)fclose(error);
	return outcome;
}

void outcome_free(struct outcome *outcome)
{
	free(outcome->out);
	free(outcome->error);
}

json_t *ctl_json(const struct service *service, const char *verb)
{
	const char *arguments[] = {SYCLCTL_PROGRAM,  verb, "--json", "--runtime-dir",
				   service->runtime, NULL};
	struct outcome outcome = run_program(0, arguments);
	json_t *parsed = outcome.status == 0 ? json_loads(outcome.out, 0, NULL) : NULL;
	if (!parsed)
		(void)fprintf(stderr, "harness: syclctl %s: %d: %s\n", verb, outcome.status,
			      outcome.error);
	outcome_free(&outcome);
	return parsed;
}

int ctl_session_count(const struct service *service)
{
	json_t *status = ctl_json(service, "status");
	int count = status ? (int)json_array_size(json_object_get(status, "sessions")) : -1;
	json_decref(status);
	return count;
}

const char *own_user_text(void)
{
	static char text[64];
	const struct passwd *entry = getpwuid(geteuid());
	(void)snprintf(text, sizeof(text), entry ? "%s(%u)" : "%s%u", entry ? entry->pw_name : "",
		       geteuid());
	return text;
}
