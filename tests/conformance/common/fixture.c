#include "targets/target.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIXTURE_DEADLINE_NS 60000000000ull
#define FIXTURE_POLL_NS     50000 /* for a device that reports no completions */

static void wake_fixture(void *token)
{
	const uint64_t one = 1;
	ssize_t written = write(*(int *)token, &one, sizeof(one));
	(void)written; /* full: it is readable already */
}

/*
 * Each test program has a cache. The first test that builds a source packs PoCL's cache into a
 * binary, and no test runs the kernel before that is stored (fixture_binary). Another program with
 * the same source would run it meanwhile, and write there.
 */
static const char *cache(void)
{
	static char path[1024];

	if (path[0] == '\0') {
		char program[512] = "";
		cr_assert_gt(readlink("/proc/self/exe", program, sizeof(program) - 1), 0);
		(void)mkdir(CONFORMANCE_CACHE, 0700);
		(void)snprintf(path, sizeof(path), "%s/%s", CONFORMANCE_CACHE, basename(program));
		(void)mkdir(path, 0700);
	}
	return path;
}

void fixture_open_backend_with(struct fixture *fixture, const struct backend_settings *settings)
{
	struct backend_fault fault = {0};

	*fixture = (struct fixture){.ops = conformance_target.ops, .wake_fd = -1};
	cr_assert_eq(fixture->ops->open(settings, &fixture->backend, &fault), 0, "%s", fault.text);
	cr_assert_eq(fixture->ops->enumerate(fixture->backend, &fixture->topology, &fault), 0, "%s",
		     fault.text);
}

void fixture_open_backend(struct fixture *fixture)
{
	if (conformance_target.prepare)
		conformance_target.prepare();
	const struct backend_settings settings = {
		.cache_directory = cache(),
		.options = conformance_target.options,
	};
	cr_assert_eq(conformance_target.ops->version, BACKEND_OPS_VERSION);
	fixture_open_backend_with(fixture, &settings);
	if (conformance_target.check)
		conformance_target.check(&fixture->topology);
}

void fixture_open(struct fixture *fixture, uint32_t device)
{
	struct backend_fault fault = {0};

	if (!fixture->backend)
		fixture_open_backend(fixture);
	cr_assert_lt(device, fixture->topology.device_count);
	fixture->index = device;
	fixture->facts = &fixture->topology.devices[device];
	fixture->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	cr_assert_geq(fixture->wake_fd, 0);
	cr_assert_eq(fixture->ops->device_open(fixture->backend, device, wake_fixture,
					       &fixture->wake_fd, &fixture->device, &fault),
		     0, "%s", fault.text);
	for (uint32_t i = 0; i < TEST_LANES; i++) {
		cr_assert_eq(fixture->ops->lane_create(fixture->device, BACKEND_LANE_COMPUTE,
						       &fixture->lanes[i].lane, &fault),
			     0, "%s", fault.text);
		fixture->lanes[i].next_sequence = 1;
	}
}

bool fixture_open_unified(struct fixture *fixture)
{
	fixture_open_backend(fixture);
	for (uint32_t i = 0; i < fixture->topology.device_count; i++) {
		if (!fixture->topology.devices[i].host_unified_memory)
			continue;
		fixture_open(fixture, i);
		return true;
	}
	fixture->ops->close(fixture->backend);
	fixture->backend = NULL;
	return false;
}

void fixture_close(struct fixture *fixture)
{
	fixture->ops->program_free(fixture->program);
	for (uint32_t i = 0; i < TEST_LANES; i++) {
		if (fixture->lanes[i].lane)
			fixture->ops->lane_free(fixture->lanes[i].lane);
		free(fixture->lanes[i].seen);
	}
	if (fixture->device)
		fixture->ops->device_close(fixture->device);
	fixture->ops->close(fixture->backend);
	if (fixture->wake_fd >= 0)
		(void)close(fixture->wake_fd);
	*fixture = (struct fixture){.wake_fd = -1};
}

static uint64_t hash(uint64_t so_far, const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		so_far = (so_far ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
	return so_far;
}

struct source {
	enum backend_source_kind kind;
	const char *text, *options;
};

static void build_source(struct fixture *fixture, const struct source *source, void **binary_out,
			 size_t *bytes_out)
{
	struct backend_fault fault = {0};
	char *log = NULL;

	int error = fixture->ops->build(fixture->backend, fixture->index, source->kind,
					source->text, strlen(source->text), source->options,
					binary_out, bytes_out, &log, &fault);
	cr_assert_eq(error, 0, "%s\n%s", fault.text, log ? log : "");
	free(log);
}

/* Where its binary is stored for the other tests of this program, for this device. */
static void kept_path(const struct fixture *fixture, const struct source *source, const char *end,
		      char *path, size_t size)
{
	struct stat self = {0};
	uint64_t key =
		hash(14695981039346656037u, fixture->facts->key, strlen(fixture->facts->key) + 1);

	(void)stat("/proc/self/exe", &self);
	key = hash(key, source->text, strlen(source->text) + 1);
	key = hash(key, source->options, strlen(source->options) + 1);
	key = hash(key, &source->kind, sizeof(source->kind));
	key = hash(key, &self.st_size, sizeof(self.st_size));
	key = hash(key, &self.st_mtim, sizeof(self.st_mtim));
	(void)snprintf(path, size, "%s/binary-%016" PRIx64 "%s", cache(), key, end);
}

static bool read_kept(const char *path, void **bytes_out, size_t *count_out)
{
	struct stat status;
	FILE *file = fopen(path, "rbe");
	if (!file)
		return false;
	cr_assert_eq(fstat(fileno(file), &status), 0);
	*count_out = (size_t)status.st_size;
	*bytes_out = malloc(*count_out);
	cr_assert_not_null(*bytes_out);
	cr_assert_eq(fread(*bytes_out, 1, *count_out, file), *count_out, "%s cannot be read", path);
	(void)fclose(file);
	return true;
}

static void fixture_write_compiled(const char *path, const void *binary, size_t bytes)
{
	char made[4096];
	(void)snprintf(made, sizeof(made), "%s.%d", path, (int)getpid());
	FILE *file = fopen(made, "wbe");
	if (!file)
		return;
	bool is_whole = fwrite(binary, 1, bytes, file) == bytes;
	if (fclose(file) != 0 || !is_whole || rename(made, path) != 0)
		(void)unlink(made);
}

void fixture_binary(struct fixture *fixture, enum backend_source_kind kind, const char *text,
		    const char *options, void **binary_out, size_t *bytes_out)
{
	const struct source source = {kind, text, options ? options : ""};
	char path[2048], lock_path[2048];

	kept_path(fixture, &source, "", path, sizeof(path));
	kept_path(fixture, &source, ".lock", lock_path, sizeof(lock_path));
	int lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(lock, 0, "no file in %s: %s", cache(), strerror(errno));
	cr_assert_eq(flock(lock, LOCK_EX), 0);
	if (!read_kept(path, binary_out, bytes_out)) {
		build_source(fixture, &source, binary_out, bytes_out);
		fixture_write_compiled(path, *binary_out, *bytes_out);
	}
	(void)close(lock);
}

struct backend_program *fixture_build(struct fixture *fixture, enum backend_source_kind kind,
				      const char *text, const char *options)
{
	struct backend_fault fault = {0};
	struct backend_program *program = NULL;
	void *binary = NULL;
	size_t bytes = 0;

	fixture_binary(fixture, kind, text, options, &binary, &bytes);
	int error = fixture->ops->program_load(fixture->device, binary, bytes, &program, &fault);
	cr_assert_eq(error, 0, "%s", fault.text);
	free(binary);
	return program;
}

struct backend_kernel *fixture_kernel(struct fixture *fixture, const char *name)
{
	struct backend_fault fault = {0};
	struct backend_kernel *kernel = NULL;

	if (!fixture->program)
		fixture->program = fixture_build(fixture, conformance_target.source_kind,
						 conformance_target.source, "");
	int error = fixture->ops->kernel_create(fixture->program, name, &kernel, &fault);
	cr_assert_eq(error, 0, "%s: %s", name, fault.text);
	return kernel;
}

struct backend_memory *fixture_memory(struct fixture *fixture, uint64_t size_bytes, void *host)
{
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;

	int error = fixture->ops->memory_create(fixture->device, size_bytes, host,
						BACKEND_EXPORT_NONE, &memory, &fault);
	cr_assert_eq(error, 0, "%s", fault.text);
	return memory;
}

static uint64_t submit_to_lane(struct fixture *fixture, uint32_t lane,
			       const struct backend_command *command,
			       const struct backend_wait *waits, uint32_t wait_count)
{
	struct backend_fault fault = {0};
	uint64_t sequence = fixture->lanes[lane].next_sequence++;

	int error = fixture->ops->submit(fixture->lanes[lane].lane, command, waits, wait_count,
					 sequence, NULL, &fault);
	cr_assert_eq(error, 0, "%s", fault.text);
	return sequence;
}

uint64_t fixture_submit(struct fixture *fixture, uint32_t lane,
			const struct backend_command *command)
{
	return submit_to_lane(fixture, lane, command, NULL, 0);
}

uint64_t fixture_submit_after(struct fixture *fixture, uint32_t lane,
			      const struct backend_command *command, uint32_t other_lane,
			      uint64_t other_sequence)
{
	const struct backend_wait wait = {fixture->lanes[other_lane].lane, other_sequence};
	return submit_to_lane(fixture, lane, command, &wait, 1);
}

struct backend_fault fixture_submit_fails(struct fixture *fixture, uint32_t lane,
					  const struct backend_command *command)
{
	struct backend_fault fault = {0};
	uint64_t sequence = fixture->lanes[lane].next_sequence++;

	int error = fixture->ops->submit(fixture->lanes[lane].lane, command, NULL, 0, sequence,
					 NULL, &fault);
	cr_assert_lt(error, 0);
	cr_assert_neq(fault.status, 0);
	cr_assert_neq(fault.text[0], '\0');
	return fault;
}

static void fixture_keep_completion(struct fixture *fixture,
				    const struct backend_completion *completion)
{
	for (uint32_t i = 0; i < TEST_LANES; i++) {
		struct test_lane *lane = &fixture->lanes[i];
		if (lane->lane != completion->lane)
			continue;
		if (lane->seen_count == lane->seen_capacity) {
			lane->seen_capacity = lane->seen_capacity ? lane->seen_capacity * 2 : 64;
			lane->seen =
				reallocarray(lane->seen, lane->seen_capacity, sizeof(*lane->seen));
			cr_assert_not_null(lane->seen);
		}
		lane->seen[lane->seen_count++] = *completion;
		return;
	}
	cr_assert_fail("a completion of an unknown lane");
}

void fixture_progress(struct fixture *fixture)
{
	struct backend_completion completions[16];
	uint32_t count;

	do {
		count = fixture->ops->progress(fixture->device, completions, 16);
		cr_assert_leq(count, 16);
		for (uint32_t i = 0; i < count; i++)
			fixture_keep_completion(fixture, &completions[i]);
	} while (count == 16);
}

static const struct backend_completion *find_seen(const struct test_lane *lane, uint64_t sequence)
{
	for (size_t i = lane->seen_count; i > 0; i--)
		if (lane->seen[i - 1].sequence == sequence)
			return &lane->seen[i - 1];
	return NULL;
}

struct backend_completion fixture_finish(struct fixture *fixture, uint32_t lane, uint64_t sequence)
{
	uint64_t deadline = clock_deadline_ns(FIXTURE_DEADLINE_NS);
	const struct backend_completion *seen;

	fixture->ops->flush(fixture->device);
	for (;;) {
		struct pollfd poll_fd = {.fd = fixture->wake_fd, .events = POLLIN};
		uint64_t count;
		fixture_progress(fixture);
		seen = find_seen(&fixture->lanes[lane], sequence);
		if (seen)
			return *seen;
		/* Only the wake function may end the wait: a backend that does not call it fails
		 * here. */
		cr_assert_lt(clock_now_ns(), deadline, "no completion of %llu",
			     (unsigned long long)sequence);
		if (fixture->facts->features & BACKEND_FEATURE_POLLED) {
			(void)nanosleep(&(struct timespec){.tv_nsec = FIXTURE_POLL_NS}, NULL);
			continue;
		}
		(void)poll(&poll_fd, 1, 1000 * 61);
		ssize_t got = read(fixture->wake_fd, &count, sizeof(count));
		(void)got;
	}
}

void fixture_wait(struct fixture *fixture, uint32_t lane, uint64_t sequence)
{
	struct backend_completion completion = fixture_finish(fixture, lane, sequence);
	cr_assert_eq(completion.fault.status, 0, "%s", completion.fault.text);
}

static void move(struct fixture *fixture, enum backend_command_kind kind,
		 struct backend_memory *memory, uint64_t offset, void *bytes, uint64_t size)
{
	const struct backend_command command = {
		.kind = kind,
		.transfer = {.memory = memory,
			     .offset_bytes = offset,
			     .size_bytes = size,
			     .host = bytes},
	};
	fixture_wait(fixture, 0, fixture_submit(fixture, 0, &command));
}

void fixture_write(struct fixture *fixture, struct backend_memory *memory, uint64_t offset,
		   const void *bytes, uint64_t size)
{
	void *copy = malloc(size);

	cr_assert_not_null(copy);
	memcpy(copy, bytes, size);
	move(fixture, BACKEND_COMMAND_WRITE, memory, offset, copy, size);
	free(copy);
}

void fixture_read(struct fixture *fixture, struct backend_memory *memory, uint64_t offset,
		  void *bytes, uint64_t size)
{
	move(fixture, BACKEND_COMMAND_READ, memory, offset, bytes, size);
}

struct backend_command launch_command(struct backend_kernel *kernel, uint32_t dimensions,
				      const uint64_t *global,
				      const struct backend_argument *arguments, uint32_t count)
{
	struct backend_command command = {
		.kind = BACKEND_COMMAND_LAUNCH,
		.launch = {.kernel = kernel,
			   .dimensions = dimensions,
			   .arguments = arguments,
			   .argument_count = count},
	};
	for (uint32_t i = 0; i < 3; i++) /* no size is 0, by contract */
		command.launch.global[i] = i < dimensions ? global[i] : 1;
	return command;
}

struct backend_argument global_argument(struct backend_memory *memory)
{
	return (struct backend_argument){.kind = BACKEND_ARGUMENT_GLOBAL,
					 .global = {.memory = memory}};
}

struct backend_argument value_argument(const void *bytes, size_t size)
{
	return (struct backend_argument){.kind = BACKEND_ARGUMENT_VALUE,
					 .value = {.bytes = bytes, .size_bytes = size}};
}
