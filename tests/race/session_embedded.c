/*
 * Several embedded engines at once in one process. For each a separate thread runs a session from
 * its begin to its end. ThreadSanitizer must report nothing, and every byte must be right. Exit
 * status 0: passed.
 */
#include "access_mode.h"
#include "embedded_entry.h"
#include "protocol/raw_client.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

embedded_start sycl_engine_embedded_start;
embedded_stop sycl_engine_embedded_stop;

enum { THREADS = 3, SESSIONS = 3, GROUPS = 300, BYTES = 8192 };

static void send_group(struct raw_client *client, Sycl__V1__CommandGroup *group, uint64_t number,
		       uint32_t mode)
{
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = raw_id(OBJECT_BUFFER, 2);
	requirement.mode = mode;
	group->queue = raw_id(OBJECT_QUEUE, 1);
	group->group = number;
	group->n_requirements = 1;
	group->requirements = list;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = group;
	(void)raw_send(client, &command);
}

static void race_session_send_fill(struct raw_client *client, uint64_t number, uint8_t pattern)
{
	Sycl__V1__Fill fill = SYCL__V1__FILL__INIT;
	fill.size_bytes = BYTES;
	fill.pattern = (ProtobufCBinaryData){1, &pattern};
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	group.fill = &fill;
	send_group(client, &group, number, ACCESS_MODE_WRITE);
}

static void send_update(struct raw_client *client, uint64_t number)
{
	Sycl__V1__HostUpdate update = SYCL__V1__HOST_UPDATE__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_UPDATE;
	group.host_update = &update;
	send_group(client, &group, number, ACCESS_MODE_READ);
}

/* 0: every byte was right. */
static int use_session(struct raw_client *client, uint32_t number_of_device)
{
	raw_open(client);
	uint32_t device = raw_fake_device(client) + number_of_device;
	raw_arena(client, 0, BYTES);
	if (client->grant_code)
		return 1;
	(void)raw_context(client, raw_id(OBJECT_CONTEXT, 0), device);
	(void)raw_queue(client, raw_id(OBJECT_QUEUE, 1), raw_id(OBJECT_CONTEXT, 0), device, 0,
			true);
	(void)raw_buffer(client, raw_id(OBJECT_BUFFER, 2), 0, 0, BYTES);
	for (uint64_t number = 1; number < GROUPS; number += 2) {
		uint8_t pattern = (uint8_t)(number + 1);
		race_session_send_fill(client, number, pattern);
		send_update(client, number + 1);
		if (raw_wait_slot(client, 0, (uint32_t)number + 1) != 0)
			return 1;
		const uint8_t *bytes = client->arenas[0]->address;
		for (int i = 0; i < BYTES; i++) {
			if (bytes[i] != pattern)
				return 1;
		}
		raw_round_trip(client);
	}
	/* Ends with work in flight. */
	for (uint64_t number = GROUPS + 1; number <= GROUPS + 50; number++)
		race_session_send_fill(client, number, 1);
	return 0;
}

struct job {
	pthread_t thread;
	uint32_t device; /* only one engine at a time can use a fake device */
	int result;
};

static void *race_session_run_job(void *context)
{
	struct job *job = context;
	int *result = &job->result;
	for (int i = 0; i < SESSIONS && *result == 0; i++) {
		int ends[2];
		void *engine;
		struct embedded_options options = {.version = EMBEDDED_ENTRY_VERSION};
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ||
		    sycl_engine_embedded_start(&options, ends[1], &engine) < 0) {
			*result = 2;
			break;
		}
		struct raw_client client;
		raw_init(&client, ends[0]);
		*result = use_session(&client, job->device);
		raw_fini(&client);
		sycl_engine_embedded_stop(engine);
	}
	return NULL;
}

int main(void)
{
	struct embedded_options other = {.version = EMBEDDED_ENTRY_VERSION + 1};
	void *none = NULL;
	if (sycl_engine_embedded_start(&other, -1, &none) != -EPROTONOSUPPORT || none) {
		(void)fputs("another version of the entry was not refused\n", stderr);
		return 1;
	}
	struct job jobs[THREADS];
	for (uint32_t i = 0; i < THREADS; i++) {
		jobs[i] = (struct job){.device = i};
		if (pthread_create(&jobs[i].thread, NULL, race_session_run_job, &jobs[i]) != 0)
			return 1;
	}
	int failed = 0;
	for (int i = 0; i < THREADS; i++) {
		(void)pthread_join(jobs[i].thread, NULL);
		failed |= jobs[i].result;
	}
	if (failed)
		(void)fprintf(stderr, "a session saw wrong bytes or did not start (%d)\n", failed);
	return failed;
}
