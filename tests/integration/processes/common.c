#include "processes/common.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * One leaked mapping for each of 100 clients would be more. Allocators, a thread pool and drivers
 * keep part of the most memory that was in use at one time. With clients that all do the same it
 * was a few hundred KiB, without a GPU's driver.
 */
enum {
	MAPPINGS_KEPT = 24,
	RESIDENT_KEPT_BYTES = 12 << 20,
	RESIDENT_KEPT_FLAT_BYTES = 3 << 20,
	RESIDENT_KEPT_DRIVER_BYTES = 9 << 20,
	RESIDENT_KEPT_CLIENT_BYTES = 400,
};

enum { COPY_BYTES = 1 << 30 };

struct private_service *processes_service(const char *configuration, bool system)
{
	/* Kernels stay cached between the tests of a build: the first launch of one takes long. */
	char cache[PATH_MAX];
	cr_assert_eq(build_path("tests", "cache", cache, sizeof(cache)), 0);
	const char *options[] = {"--cache-dir", cache, NULL};
	const char *system_options[] = {"--system", NULL};
	struct private_service *service = NULL;
	int r = private_service_start(configuration, system ? system_options : options, &service);
	cr_assert_eq(r, 0, "the service did not start: %s", strerror(-r));
	return service;
}

void worker_start_with(struct child *worker, const char *const *environment, const char *endpoint,
		       const char *command, const char *const *arguments)
{
	char program[PATH_MAX];
	cr_assert_eq(build_path("tests", "worker", program, sizeof(program)), 0);
	const char *argv[WORKER_ARGUMENTS_MAX] = {program, command};
	size_t count = 2;
	if (endpoint) {
		argv[count++] = "--endpoint";
		argv[count++] = endpoint;
	}
	for (; arguments && *arguments && count < WORKER_ARGUMENTS_MAX - 1; arguments++)
		argv[count++] = *arguments;
	int r = child_start(argv, environment, worker);
	cr_assert_eq(r, 0, "%s does not start: %s", program, strerror(-r));
}

void worker_start(struct child *worker, const struct private_service *service, const char *command,
		  const char *option, const char *value)
{
	const char *const arguments[] = {option, value, NULL};
	worker_start_with(worker, NULL, service->endpoint, command, arguments);
}

void worker_expect(struct child *worker, const char *start_of_line, char line[LINE_BYTES])
{
	uint64_t deadline = clock_deadline_ns(SOON);
	line[0] = '\0';
	for (;;) {
		char last[LINE_BYTES];
		(void)snprintf(last, sizeof(last), "%s", line);
		uint64_t now = clock_now_ns();
		int r = child_read_line(worker, line, LINE_BYTES,
					now < deadline ? deadline - now : 0);
		cr_assert_eq(r, 1, "no line '%s' (%s); the last one was '%s'", start_of_line,
			     r == 0 ? "its output ended" : strerror(-r), last);
		if (strncmp(line, start_of_line, strlen(start_of_line)) == 0)
			return;
		cr_assert_neq(strncmp(line, "FAIL", 4), 0, "%s", line);
	}
}

void worker_finish(struct child *worker)
{
	char line[LINE_BYTES];
	close_fd(&worker->in);
	worker_expect(worker, "ok", line);
	int status = child_wait(worker, SOON);
	cr_assert_eq(status, 0, "a worker ended with status %d", status);
	child_end(worker);
}

void worker_mix_once(const struct private_service *service, uint32_t seed)
{
	struct child worker = CHILD_INIT;
	char text[16];
	(void)snprintf(text, sizeof(text), "%u", seed);
	const char *const arguments[] = {"--seed", text, "--count", "60", NULL};
	worker_start_with(&worker, NULL, service->endpoint, "mix", arguments);
	worker_finish(&worker);
}

int processes_order(const struct private_service *service, const char *const words[ORDER_WORDS_MAX],
		    char answer[ANSWER_BYTES])
{
	char program[PATH_MAX];
	struct child child = CHILD_INIT;
	const char *argv[ORDER_WORDS_MAX + 4] = {program, "--runtime-dir", service->runtime};
	for (int i = 0; i < ORDER_WORDS_MAX && words[i]; i++)
		argv[3 + i] = words[i];
	cr_assert_eq(build_path("bin", "syclctl", program, sizeof(program)), 0);
	cr_assert_eq(child_start(argv, NULL, &child), 0);
	cr_assert_geq(child_read_all(&child, answer, ANSWER_BYTES, SOON), 0);
	int status = child_wait(&child, SOON);
	child_end(&child);
	return status;
}

pid_t processes_engine(const struct private_service *service)
{
	pid_t pid = private_service_engine(service, -1);
	cr_assert_gt(pid, 0, "status shows no engine");
	return pid;
}

struct footprint footprint_take(pid_t pid)
{
	return (struct footprint){pid, process_count_descriptors(pid), process_count_mappings(pid),
				  process_resident_bytes(pid)};
}

struct footprint footprint_settle(const struct private_service *service,
				  void (*act)(const struct private_service *service))
{
	enum { ROUNDS = 10 };
	struct footprint now = {.descriptors = -1}, before;
	int rounds = 0;
	do {
		cr_assert_lt(rounds++, ROUNDS, "an engine has %d descriptors, and more each time",
			     now.descriptors);
		before = now;
		act(service);
		now = footprint_take(processes_engine(service));
	} while (now.descriptors != before.descriptors);
	return now;
}

struct return_to {
	struct footprint base, now;
	int64_t kept_bytes;
};

static bool processes_is_back(void *context)
{
	struct return_to *to = context;
	to->now = footprint_take(to->base.pid);
	/* A sanitizer keeps freed memory for a while. */
	return to->now.descriptors >= 0 && to->now.descriptors <= to->base.descriptors &&
	       to->now.mappings <= to->base.mappings + MAPPINGS_KEPT * (SANITIZED ? 8 : 1) &&
	       (SANITIZED || to->now.resident_bytes <= to->base.resident_bytes + to->kept_bytes);
}

static void expect_footprint(const struct footprint *base, int64_t kept_bytes)
{
	struct return_to to = {.base = *base, .kept_bytes = kept_bytes};
	bool back = wait_until(processes_is_back, &to, SECONDS_NS(60));
	cr_log_info("engine: descriptors %d -> %d, mappings %d -> %d, resident %lld -> %lld KiB",
		    base->descriptors, to.now.descriptors, base->mappings, to.now.mappings,
		    (long long)base->resident_bytes / 1024,
		    (long long)to.now.resident_bytes / 1024);
	cr_assert(back, "descriptors %d -> %d, mappings %d -> %d, resident %lld -> %lld KiB",
		  base->descriptors, to.now.descriptors, base->mappings, to.now.mappings,
		  (long long)base->resident_bytes / 1024, (long long)to.now.resident_bytes / 1024);
}

void footprint_expect(const struct footprint *base)
{
	expect_footprint(base, RESIDENT_KEPT_BYTES);
}

void footprint_expect_flat(const struct footprint *base, uint64_t clients)
{
	const int64_t driver = access("/dev/nvidiactl", F_OK) == 0 ? RESIDENT_KEPT_DRIVER_BYTES : 0;
	expect_footprint(base, RESIDENT_KEPT_FLAT_BYTES + driver +
				       (int64_t)clients * RESIDENT_KEPT_CLIENT_BYTES);
}

bool processes_gone(void *pid)
{
	return !process_exists(*(pid_t *)pid);
}

/* Returns the tenant's current engine. One that failed may exist beside it for a while. */
static const json_t *serving(const json_t *tenants, int64_t uid)
{
	for (size_t i = 0; i < json_array_size(tenants); i++) {
		const json_t *tenant = json_array_get(tenants, i);
		const char *state = json_string_value(json_object_get(tenant, "state"));
		if ((uid < 0 || json_integer_value(json_object_get(tenant, "uid")) == uid) &&
		    state && strcmp(state, "stopping") != 0)
			return tenant;
	}
	return NULL;
}

json_int_t processes_claimed_by(const struct private_service *service, int64_t uid,
				const char *what)
{
	json_t *status = private_service_status(service);
	const json_t *value =
		json_object_get(serving(json_object_get(status, "tenants"), uid), what);
	cr_assert(json_is_integer(value), "status does not show %s", what);
	json_int_t number = json_integer_value(value);
	json_decref(status);
	return number;
}

json_int_t processes_claimed(const struct private_service *service, const char *what)
{
	return processes_claimed_by(service, -1, what);
}

void processes_copy(const char *from_path, const char *to_path)
{
	ssize_t copied;
	int from = open(from_path, O_RDONLY | O_CLOEXEC);
	int to = open(to_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	cr_assert(from >= 0 && to >= 0, "%s: %s", from_path, strerror(errno));
	do
		copied = sendfile(to, from, NULL, COPY_BYTES); /* also to another file system */
	while (copied > 0);
	cr_assert_eq(copied, 0, "%s: %s", to_path, strerror(errno));
	cr_assert_eq(fchmod(to, 0755), 0);
	(void)close(from);
	(void)close(to);
}
