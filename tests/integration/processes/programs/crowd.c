/*
 * Many clients in one program. `crowd` keeps `count` connections, of which every tenth works, in
 * turn with the others. `storm` connects and greets `count` times before it reads the first answer.
 */
#include "processes/programs/worker.h"

#include "cleanup.h"
#include "packet.h"
#include "session.pb-c.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { WORDS = 256, WORKING_ONE_OF = 10, STEPS = 12 };

static const char source[] = "SYCL_KERNEL void advance(SYCL_GLOBAL(uint) y, uint a, uint b)\n"
			     "{ ulong i = sycl_global_id(0); y[i] = y[i] * a + b; }\n";

/* A separate session. Only those that work have more than the platform. */
struct member {
	sycl_platform platform;
	sycl_queue queue;
	sycl_kernel kernel;
	sycl_buffer buffer;
	uint32_t given[WORDS], wanted[WORDS];
};

static void join(struct worker *worker, struct member *member, uint64_t number)
{
	struct worker own = {.endpoint = worker->endpoint};
	worker_must(sycl_platform_open(worker->endpoint, &member->platform), "sycl_platform_open");
	if (number % WORKING_ONE_OF)
		return;
	worker_must(sycl_queue_create_default(member->platform, &member->queue),
		    "sycl_queue_create_default");
	own.queue = member->queue;
	member->kernel = worker_kernel(&own, source, "advance");
	for (uint32_t i = 0; i < WORDS; i++)
		member->given[i] = member->wanted[i] = worker_random(worker, 1u << 30);
	worker_must(sycl_buffer_create(member->platform, member->given, sizeof(member->given),
				       SYCL_HOST_BORROWED, &member->buffer),
		    "sycl_buffer_create");
}

static void submit_step(struct worker *worker, struct member *member)
{
	uint32_t a = 1 + 2 * worker_random(worker, 1000), b = worker_random(worker, 1000);
	sycl_handler h;
	worker_must(sycl_handler_begin(member->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_set_accessor(h, 0, member->buffer, SYCL_ACCESS_READ_WRITE),
		    "accessor");
	worker_must(sycl_handler_set_value(h, 1, sizeof(a), &a), "value");
	worker_must(sycl_handler_set_value(h, 2, sizeof(b), &b), "value");
	worker_must(sycl_handler_parallel_for(h, member->kernel, sycl_range1(WORDS)),
		    "parallel_for");
	worker_must(sycl_handler_submit(h, NULL), "sycl_handler_submit");
	for (uint32_t i = 0; i < WORDS; i++)
		member->wanted[i] = member->wanted[i] * a + b;
}

/* Groups are submitted in turn, so that all of them are in flight at one time. */
static void submit_for_members(struct worker *worker, struct member *members)
{
	for (int step = 0; step < STEPS; step++)
		for (uint64_t i = 0; i < worker->count; i += WORKING_ONE_OF)
			submit_step(worker, &members[i]);
}

/* The results are written back when the buffer is released. The other members have used nothing; a
 * query shows that each one is alive. */
static void leave(struct member *member, uint64_t number)
{
	struct sycl_usage usage = SYCL_USAGE_INIT;
	worker_must(sycl_platform_get_usage(member->platform, &usage), "sycl_platform_get_usage");
	if (number % WORKING_ONE_OF == 0) {
		worker_must(sycl_buffer_release(member->buffer), "sycl_buffer_release");
		worker_check(memcmp(member->given, member->wanted, sizeof(member->given)) == 0,
			     "a client of many has a wrong result");
		worker_must(sycl_kernel_release(member->kernel), "sycl_kernel_release");
		worker_must(sycl_queue_release(member->queue), "sycl_queue_release");
	} else {
		worker_check(usage.groups_submitted == 0,
			     "a client that did nothing is said to have worked");
	}
	worker_must(sycl_platform_release(member->platform), "sycl_platform_release");
}

int worker_crowd(struct worker *worker)
{
	struct member *members = calloc(worker->count, sizeof(*members));
	worker_check(members != NULL, "no memory");
	for (uint64_t i = 0; i < worker->count; i++)
		join(worker, &members[i], i);
	worker_say("joined");
	worker_check(worker_next_line(), "no line came");
	submit_for_members(worker, members);
	for (uint64_t i = 0; i < worker->count; i += WORKING_ONE_OF)
		worker_must(sycl_queue_wait(members[i].queue), "sycl_queue_wait");
	worker_say("worked");
	worker_check(worker_next_line(), "no line came");
	for (uint64_t i = 0; i < worker->count; i++)
		leave(&members[i], i);
	free(members);
	worker_say("ok");
	return 0;
}

static int greet(const char *path)
{
	CLEANUP(close_fd) int socket = -1;
	worker_check(packet_socket_connect(path, &socket) == 0, "cannot connect");
	Sycl__V1__Hello hello = SYCL__V1__HELLO__INIT;
	hello.protocol_min = hello.protocol_max = PROTOCOL_VERSION;
	hello.command = (char *)(uintptr_t) "storm";
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_HELLO;
	packet.hello = &hello;
	worker_check(message_send(socket, &packet.base, NULL, 0, 0) == 0, "cannot send Hello");
	return take_fd(&socket);
}

static void be_welcome(int socket, struct decode_arena *arena)
{
	CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
	ProtobufCMessage *message;
	worker_check(message_receive(socket, &sycl__v1__packet__descriptor, arena, &message, &fds,
				     0) == 1,
		     "no answer to Hello");
	const Sycl__V1__Packet *packet = (const Sycl__V1__Packet *)message;
	if (packet->body_case == SYCL__V1__PACKET__BODY_ERROR)
		worker_say("FAIL refused: %s", packet->error->text);
	worker_check(packet->body_case == SYCL__V1__PACKET__BODY_WELCOME, "no Welcome");
}

int worker_storm(struct worker *worker)
{
	struct rlimit files;
	struct decode_arena arena;
	int *sockets = calloc(worker->count, sizeof(*sockets));
	worker_check(sockets && decode_arena_init(&arena, DECODE_BYTES_MAX) == 0, "no memory");
	worker_check(worker->endpoint && strncmp(worker->endpoint, "unix:", 5) == 0,
		     "wants --endpoint unix:PATH");
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	for (uint64_t i = 0; i < worker->count; i++)
		sockets[i] = greet(worker->endpoint + 5);
	worker_say("greeted");
	worker_check(worker_next_line(), "no line came");
	for (uint64_t i = 0; i < worker->count; i++)
		be_welcome(sockets[i], &arena);
	worker_say("welcome");
	for (uint64_t i = 0; i < worker->count; i++)
		close_fd(&sockets[i]);
	free(sockets);
	decode_arena_fini(&arena);
	worker_say("ok");
	return 0;
}
