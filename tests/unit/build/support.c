#include "build/support.h"

#include "cleanup.h"
#include "clock.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define BENCH_DEADLINE_NS 60000000000ull

void bench_open_with(struct build_bench *bench, struct build_service *service, bool with_cache)
{
	(void)snprintf(bench->directory, sizeof(bench->directory), "/tmp/sycl-build-XXXXXX");
	cr_assert_not_null(mkdtemp(bench->directory));
	(void)snprintf(bench->cache, sizeof(bench->cache), "%s/cache", bench->directory);
	cr_assert_eq(uv_loop_init(&bench->loop), 0);
	bench->service = service;
	cr_assert_eq(build_service_attach(service, &bench->loop, with_cache ? bench->cache : NULL),
		     0);
}

void bench_open(struct build_bench *bench)
{
	struct build_service *service = NULL;

	cr_assert_eq(build_service_fork(&service), 0);
	bench_open_with(bench, service, true);
}

void bench_reopen(struct build_bench *bench)
{
	bench->service = build_service_free(bench->service);
	cr_assert_eq(build_service_fork(&bench->service), 0);
	cr_assert_eq(build_service_attach(bench->service, &bench->loop, bench->cache), 0);
}

static void remove_tree(const char *path)
{
	DIR *stream = opendir(path);

	for (struct dirent *entry; stream && (entry = readdir(stream));) {
		char inner[512];
		struct stat status;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		(void)snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
		if (lstat(inner, &status) == 0 && S_ISDIR(status.st_mode))
			remove_tree(inner);
		else
			(void)unlink(inner);
	}
	if (stream)
		(void)closedir(stream);
	(void)rmdir(path);
}

void bench_close(struct build_bench *bench)
{
	bench->service = build_service_free(bench->service);
	cr_assert_eq(uv_run(&bench->loop, UV_RUN_DEFAULT), 0);
	cr_assert_eq(uv_loop_close(&bench->loop), 0, "the service left handles in the loop");
	remove_tree(bench->directory);
}

static void on_done(void *owner, const struct build_result *result)
{
	struct built *built = owner;

	built->calls++;
	built->status = result->fault.status;
	(void)snprintf(built->text, sizeof(built->text), "%s", result->fault.text);
	cr_assert_not_null(result->log);
	built->log = strdup(result->log);
	built->binary_bytes = result->binary_bytes;
	built->from_cache = result->from_cache;
	if (result->binary_bytes) {
		built->binary = malloc(result->binary_bytes);
		cr_assert_not_null(built->binary);
		memcpy(built->binary, result->binary, result->binary_bytes);
	}
	built->job = NULL;
}

void bench_submit_to(struct build_bench *bench, const struct backend_ops *ops,
		     enum backend_source_kind kind, const char *source, uint64_t time_limit_ns,
		     uint64_t memory_limit_bytes, struct built *built)
{
	struct backend *backend = NULL;
	struct backend_topology topology = {0};
	struct backend_fault fault = {0};

	const struct backend_settings settings = {.cache_directory = bench->cache};
	cr_assert_eq(ops->open(&settings, &backend, &fault), 0, "%s", fault.text);
	cr_assert_eq(ops->enumerate(backend, &topology, &fault), 0, "%s", fault.text);
	const struct build_request request = {
		.backend = ops,
		.device_key = topology.devices[0].key,
		.kind = kind,
		.source = source,
		.source_bytes = strlen(source),
		.options = "",
		.time_limit_ns = time_limit_ns,
		.memory_limit_bytes = memory_limit_bytes,
	};
	*built = (struct built){.calls = 0};
	cr_assert_eq(build_service_submit(bench->service, &request, on_done, built, &built->job),
		     0);
	cr_assert_eq(built->calls, 0, "the callback came from inside submit");
	ops->close(backend);
}

void bench_submit(struct build_bench *bench, const char *source, uint64_t time_limit_ns,
		  uint64_t memory_limit_bytes, struct built *built)
{
	bench_submit_to(bench, &backend_fake_ops, BACKEND_SOURCE_PORTABLE, source, time_limit_ns,
			memory_limit_bytes, built);
}

static void expired(uv_timer_t *timer)
{
	*(bool *)timer->data = true;
}

void bench_wait(struct build_bench *bench, const struct built *built)
{
	bool late = false;
	uv_timer_t timer;

	cr_assert_eq(uv_timer_init(&bench->loop, &timer), 0);
	timer.data = &late;
	cr_assert_eq(uv_timer_start(&timer, expired, BENCH_DEADLINE_NS / 1000000, 0), 0);
	while (built->calls == 0 && !late)
		(void)uv_run(&bench->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&timer, NULL);
	(void)uv_run(&bench->loop, UV_RUN_NOWAIT);
	cr_assert(!late, "no answer");
	cr_assert_eq(built->calls, 1);
}

void bench_build(struct build_bench *bench, const char *source, struct built *built)
{
	bench_submit(bench, source, 0, 0, built);
	bench_wait(bench, built);
}

void built_free(struct built *built)
{
	free(built->log);
	free(built->binary);
	*built = (struct built){.calls = 0};
}

int bench_fifo(struct build_bench *bench, const char *name, bool reader, char *path_out,
	       size_t capacity)
{
	int length = snprintf(path_out, capacity, "%s/%s", bench->directory, name);

	cr_assert(length > 0 && (size_t)length < capacity);
	cr_assert_eq(mkfifo(path_out, 0600), 0);
	int fd = reader ? open(path_out, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
	cr_assert(!reader || fd >= 0);
	return fd;
}

void bench_wait_hangup(int fifo)
{
	struct pollfd poll_fd = {.fd = fifo, .events = POLLIN};

	cr_assert_eq(poll(&poll_fd, 1, (int)(BENCH_DEADLINE_NS / 1000000)), 1,
		     "somebody still holds the FIFO");
	cr_assert(poll_fd.revents & POLLHUP);
}

size_t bench_file_bytes(const struct build_bench *bench, const char *name)
{
	char path[256];
	struct stat status;

	(void)snprintf(path, sizeof(path), "%s/%s", bench->directory, name);
	return stat(path, &status) == 0 ? (size_t)status.st_size : 0;
}

void bench_wait_file(const struct build_bench *bench, const char *name)
{
	uint64_t deadline = clock_deadline_ns(BENCH_DEADLINE_NS);

	while (bench_file_bytes(bench, name) == 0) {
		cr_assert_lt(clock_now_ns(), deadline, "%s stays empty", name);
		(void)poll(NULL, 0, 1);
	}
}
