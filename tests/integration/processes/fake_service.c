#include "processes/fake_service.h"

#include <errno.h>
#include <ftw.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_SECONDS = 60 };

static void write_lines(const struct fake_service *fake, const char *lines)
{
	char path[PATH_MAX];
	(void)snprintf(path, sizeof(path), "%s/fake_cuda.conf", fake->folder);
	FILE *file = fopen(path, "we");
	cr_assert(file != NULL, "%s: %s", path, strerror(errno));
	cr_assert_gt(fprintf(file, "set socket 1\n%s\n", lines), 0);
	cr_assert_eq(fclose(file), 0);
	cr_assert_eq(chmod(path, 0644), 0);
}

/* It is a copy, because other users may not be able to read the build folder. */
static void copy_driver(const struct fake_service *fake, char path_out[PATH_MAX])
{
	char from[PATH_MAX];
	cr_assert_eq(build_path("tests", "fake_cuda/libcuda.so.1", from, sizeof(from)), 0);
	(void)snprintf(path_out, PATH_MAX, "%s/libcuda.so.1", fake->folder);
	processes_copy(from, path_out);
}

static void open_socket(struct fake_service *fake)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/test.socket", fake->folder);
	fake->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	cr_assert_geq(fake->socket, 0);
	cr_assert_eq(bind(fake->socket, (const struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(chmod(address.sun_path, 0777), 0);
	cr_assert_eq(setsockopt(fake->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)),
		     0);
}

void fake_service_start(struct fake_service *fake, const char *driver, const char *more,
			bool system)
{
	char configuration[PATH_MAX + 1024], library[PATH_MAX];
	(void)snprintf(fake->folder, sizeof(fake->folder), "/tmp/sycld-driver.XXXXXX");
	cr_assert(mkdtemp(fake->folder) != NULL);
	/* Engines of every user make their sockets here. */
	cr_assert_eq(chmod(fake->folder, 01777), 0);
	copy_driver(fake, library);
	write_lines(fake, driver);
	open_socket(fake);
	(void)snprintf(configuration, sizeof(configuration), "[cuda]\nlibrary = %s\n%s", library,
		       more);
	fake->service = processes_service(configuration, system);
}

static int remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
	(void)facts;
	(void)kind;
	(void)where;
	return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

void fake_service_end(struct fake_service *fake)
{
	fake->service = private_service_free(fake->service);
	close_fd(&fake->socket);
	if (fake->folder[0])
		(void)nftw(fake->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	fake->folder[0] = '\0';
}

static bool is_there(void *path)
{
	return access(path, F_OK) == 0;
}

static struct sockaddr_un send_line(const struct fake_service *fake, pid_t engine, const char *line)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%ld.socket", fake->folder,
		       (long)engine);
	/* An engine that has just started is loading its driver. */
	cr_assert(wait_until(is_there, address.sun_path, SOON), "%s", address.sun_path);
	ssize_t sent = sendto(fake->socket, line, strlen(line), MSG_NOSIGNAL,
			      (const struct sockaddr *)&address, sizeof(address));
	cr_assert_eq(sent, (ssize_t)strlen(line), "%s: %s", address.sun_path, strerror(errno));
	return address;
}

long long fake_service_say(const struct fake_service *fake, pid_t engine, const char *line)
{
	const struct sockaddr_un address = send_line(fake, engine, line);
	struct sockaddr_un from;
	char number[32];
	do {
		socklen_t from_bytes = sizeof(from);
		from = (struct sockaddr_un){.sun_family = AF_UNIX};
		ssize_t got = recvfrom(fake->socket, number, sizeof(number) - 1, 0,
				       (struct sockaddr *)&from, &from_bytes);
		cr_assert_gt(got, 0, "no answer to '%s'", line);
		number[got] = '\0';
	} while (strcmp(from.sun_path, address.sun_path) != 0);
	return strtoll(number, NULL, 10);
}

void fake_service_lose(const struct fake_service *fake, pid_t engine, int result)
{
	char line[64];
	(void)snprintf(line, sizeof(line), "command lose %d", result);
	(void)send_line(fake, engine, line);
}

struct awaited {
	const struct fake_service *fake;
	pid_t engine;
	char line[128];
	long long least;
};

static bool has_come(void *context)
{
	const struct awaited *awaited = context;
	return fake_service_say(awaited->fake, awaited->engine, awaited->line) >= awaited->least;
}

void fake_service_await(const struct fake_service *fake, pid_t engine, const char *what,
			long long least)
{
	struct awaited awaited = {.fake = fake, .engine = engine, .least = least};
	(void)snprintf(awaited.line, sizeof(awaited.line), "count %s", what);
	cr_assert(wait_until(has_come, &awaited, SOON), "'%s' does not become %lld", what, least);
}

unsigned long fault_worker_begin(const struct fake_service *fake, struct child *worker, int uid)
{
	char text[16], line[LINE_BYTES];
	(void)snprintf(text, sizeof(text), "%d", uid);
	const char *const arguments[] = {uid == FAULT_WORKER_OWN ? NULL : "--uid", text, NULL};
	*worker = (struct child)CHILD_INIT;
	worker_start_with(worker, NULL, fake->service->endpoint, "fault", arguments);
	cr_assert_eq(child_read_line(worker, line, sizeof(line), SOON), 1);
	cr_assert_eq(strncmp(line, "ready ", 6), 0, "%s", line);
	return strtoul(line + 6, NULL, 10);
}

void fault_worker_run(struct child *worker, const char *order)
{
	char line[LINE_BYTES];
	cr_assert_eq(child_say(worker, order), 0, "it does not take '%s'", order);
	cr_assert_eq(child_read_line(worker, line, sizeof(line), SOON), 1, "no answer to '%s'",
		     order);
	cr_assert_eq(strcmp(line, "ok"), 0, "'%s': %s", order, line);
}

void fault_worker_finish(struct child *worker)
{
	char line[LINE_BYTES];
	close_fd(&worker->in);
	cr_assert_eq(child_read_line(worker, line, sizeof(line), SOON), 1);
	cr_assert_eq(strcmp(line, "ok"), 0, "%s", line);
	cr_assert_eq(child_wait(worker, SOON), 0);
	child_end(worker);
}
