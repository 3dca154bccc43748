#include "protocol/engine_fixture.h"
#include "access_mode.h"
#include "cleanup.h"
#include "fake_control.h"
#include "scheduler/public/scheduler.h"
#include "session/engine_state.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define FAIL(...)                                                                                  \
	do {                                                                                       \
		(void)fprintf(stderr, "engine fixture: " __VA_ARGS__);                             \
		(void)fputc('\n', stderr);                                                         \
		abort();                                                                           \
	} while (0)

void fixture_options(struct engine_options *options)
{
	/* These options also apply if the machine has a GPU. */
	static const char *const no_gpu[] = {"cuda:library=/nonexistent/libcuda.so.1", NULL};
	*options = (struct engine_options){.backend_options = no_gpu};
	session_limits_init(&options->limits);
	if (backend_registry_add(&backend_fake_ops) < 0)
		FAIL("no fake devices");
}

static void *run_engine(void *context)
{
	struct engine_fixture *fixture = context;
	fixture->run_result = engine_run(fixture->engine);
	return NULL;
}

static void on_closed(void *context, uint64_t session, const char *command, const char *reason,
		      const Sycl__V1__Usage *usage, const struct device_usages *devices)
{
	(void)session;
	(void)command;
	(void)devices;
	struct engine_fixture *fixture = context;
	fixture->last_usage = *usage;
	(void)snprintf(fixture->last_reason, sizeof(fixture->last_reason), "%s", reason);
	(void)sem_post(&fixture->closed);
}

void fixture_wait_gone(struct engine_fixture *fixture)
{
	struct timespec deadline;
	(void)clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += RAW_WAIT_MS / 1000;
	if (sem_timedwait(&fixture->closed, &deadline) < 0)
		FAIL("waited too long for a session to be gone");
}

void fixture_start(struct engine_fixture *fixture, const struct engine_options *options,
		   bool with_builds)
{
	struct build_service *builds = NULL;
	if (with_builds && build_service_fork(&builds) < 0)
		FAIL("no build helper");
	if (engine_create(options, builds, &fixture->engine) < 0 ||
	    sem_init(&fixture->closed, 0, 0) < 0)
		FAIL("no engine");
	struct engine_observer observer = {.context = fixture, .session_closed = on_closed};
	engine_observe(fixture->engine, &observer);
	for (int i = 0; i < FIXTURE_CLIENTS; i++) {
		int ends[2];
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
			FAIL("no socketpair");
		raw_init(&fixture->clients[i], ends[0]);
		struct session_peer peer = {.session = (uint64_t)i + 1, .pid = getpid()};
		if (engine_add_session(fixture->engine, ends[1], -1, &peer) < 0)
			FAIL("no session");
	}
	if (pthread_create(&fixture->thread, NULL, run_engine, fixture) != 0)
		FAIL("no thread");
}

void fixture_stop(struct engine_fixture *fixture)
{
	engine_stop_from_anywhere(fixture->engine);
	(void)pthread_join(fixture->thread, NULL);
	if (fixture->run_result < 0)
		FAIL("the engine's work did not end: %s", strerror(-fixture->run_result));
	scheduler_counters(fixture->engine->scheduler, &fixture->last_counters);
	fixture->last_kept_waits = fixture->engine->kept_waits;
	(void)engine_free(fixture->engine);
	(void)sem_destroy(&fixture->closed);
	for (int i = 0; i < FIXTURE_CLIENTS; i++)
		raw_fini(&fixture->clients[i]);
}

enum { NEIGHBOUR_BYTES = 8192, QUEUE_SLOT = 0, EVENT_SLOT = 1 };

void neighbour_open(struct neighbour *neighbour, struct raw_client *client)
{
	*neighbour = (struct neighbour){.client = client};
	raw_open(client);
	uint32_t device = raw_fake_device(client);
	raw_arena(client, 0, NEIGHBOUR_BYTES);
	if (client->grant_code)
		FAIL("no arena");
	(void)raw_context(client, raw_id(OBJECT_CONTEXT, 0), device);
	(void)raw_queue(client, raw_id(OBJECT_QUEUE, 1), raw_id(OBJECT_CONTEXT, 0), device,
			QUEUE_SLOT, false);
	(void)raw_buffer(client, raw_id(OBJECT_BUFFER, 2), 0, 0, NEIGHBOUR_BYTES);
}

static void send_group(struct neighbour *neighbour, Sycl__V1__CommandGroup *group, uint32_t mode)
{
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = raw_id(OBJECT_BUFFER, 2);
	requirement.mode = mode;
	group->queue = raw_id(OBJECT_QUEUE, 1);
	group->group = ++neighbour->groups;
	group->n_requirements = 1;
	group->requirements = list;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = group;
	(void)raw_send(neighbour->client, &command);
}

void neighbour_check(struct neighbour *neighbour)
{
	struct raw_client *client = neighbour->client;
	uint8_t pattern = (uint8_t)(neighbour->groups + 1);
	Sycl__V1__Fill fill = SYCL__V1__FILL__INIT;
	fill.size_bytes = NEIGHBOUR_BYTES;
	fill.pattern = (ProtobufCBinaryData){1, &pattern};
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	group.fill = &fill;
	send_group(neighbour, &group, ACCESS_MODE_WRITE);

	Sycl__V1__HostUpdate update = SYCL__V1__HOST_UPDATE__INIT;
	Sycl__V1__CommandGroup second = SYCL__V1__COMMAND_GROUP__INIT;
	second.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_UPDATE;
	second.host_update = &update;
	second.wants_slot = true;
	second.slot = EVENT_SLOT;
	second.slot_value = (uint32_t)neighbour->groups + 1;
	send_group(neighbour, &second, ACCESS_MODE_READ);

	if (raw_wait_slot(client, EVENT_SLOT, (uint32_t)neighbour->groups) != 0)
		FAIL("a neighbour's command group failed");
	(void)raw_wait_slot(client, QUEUE_SLOT, (uint32_t)neighbour->groups);
	const uint8_t *bytes = client->arenas[0]->address;
	for (int i = 0; i < NEIGHBOUR_BYTES; i++) {
		if (bytes[i] != pattern)
			FAIL("a neighbour's byte %d is %u, not %u", i, bytes[i], pattern);
	}
	raw_round_trip(client);
}
