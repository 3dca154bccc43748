/*
 * A client and an engine exchange messages through the real rings and really sleep. No message may
 * be lost, changed or out of order, and no wake-up may be lost. Rings are small, and batches,
 * pauses and bounded spins are random. So both sides sleep for lack of messages and for lack of
 * room, in every phase of the other side. The client sends in bursts, mostly of one message, and
 * waits for the last reply of each. So no later message can hide a lost wake-up. A side that is
 * awake must get none: there are no more wake-ups than times the other side set its sleep flag.
 *
 *   ring_wake [--processes] [--messages N] [--seed N]
 *
 * There are two threads over one mapping, so that ThreadSanitizer checks both sides. With
 * --processes there are two processes that hand over memfd and eventfd as a session does.
 * SYCLD_LONG in the environment: 100 million messages.
 */
#include "clock.h"
#include "protocol_limits.h"
#include "memory_region.h"
#include "packet.h"
#include "ring.h"
#include "session.pb-c.h"
#include "wake.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
	RING_BYTES = 8192,
	PAYLOAD_BYTES_MAX = 120,
	BATCH_MAX = 32,
	BURST_MAX = 512,
	LONG_BURST_ONE_IN = 8,
	SPINS_MAX = 512,
	PAUSE_ONE_IN = 8192,
	PAUSE_NS_MAX = 100000,
	LOST_MS = 120000, /* far beyond any delay: a side that sleeps that long with work has lost a
			     wake-up */
};

struct region_layout {
	struct ring_header header;
	_Alignas(64) uint8_t submit[RING_BYTES];
	_Alignas(64) uint8_t reply[RING_BYTES];
};

struct side {
	const char *name;
	struct ring_writer out;
	struct ring_reader in;
	_Atomic uint32_t *sleeps, *wants_room;           /* of this side */
	_Atomic uint32_t *peer_sleeps, *peer_wants_room; /* of the other side */
	int socket;
	int bell;    /* the client rings it */
	int watcher; /* the engine's epoll; -1: the client */
	uint64_t messages;
	uint64_t sent, received;
	uint64_t burst_end; /* the client sends up to here before it has all replies */
	uint64_t random;
	uint64_t slept, slept_for_room, wakes_sent;
	uint64_t announced; /* how often it set a sleep flag, for messages or for room */
	uint8_t buffer[PACKET_BYTES_MAX];
};

static uint64_t ring_wake_hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint64_t ring_wake_random_below(struct side *side, uint64_t limit)
{
	side->random++;
	return ring_wake_hash(side->random) % limit;
}

static int complain(const struct side *side, const char *what)
{
	(void)fprintf(stderr, "%s: %s (sent %llu, received %llu of %llu)\n", side->name, what,
		      (unsigned long long)side->sent, (unsigned long long)side->received,
		      (unsigned long long)side->messages);
	return -EIO;
}

/* Size and content of a message follow from its number and its direction, which is `salt`. */
static uint32_t message_bytes(uint64_t number, uint64_t salt)
{
	return (uint32_t)(sizeof(uint64_t) + ring_wake_hash(number ^ salt) %
						     (PAYLOAD_BYTES_MAX - sizeof(uint64_t) + 1));
}

static void message_fill(uint8_t *bytes, uint64_t number, uint64_t salt)
{
	uint32_t size = message_bytes(number, salt);
	memcpy(bytes, &number, sizeof(number));
	uint64_t word = ring_wake_hash(number + salt);
	for (uint32_t at = sizeof(number); at < size;
	     at += (uint32_t)sizeof(word), word = word * 3 + 1)
		memcpy(bytes + at, &word, size - at < sizeof(word) ? size - at : sizeof(word));
}

static int message_check(struct side *side, uint32_t size, uint64_t number, uint64_t salt)
{
	uint8_t expected[PAYLOAD_BYTES_MAX];
	if (size != message_bytes(number, salt))
		return complain(side, "a message of another size, or out of order");
	message_fill(expected, number, salt);
	return memcmp(expected, side->buffer, size) == 0
		       ? 0
		       : complain(side, "a changed message, or out of order");
}

static const uint64_t SUBMIT_SALT = 0x5b, REPLY_SALT = 0xa7;

static int wake_peer(struct side *side, _Atomic uint32_t *flag)
{
	if (!wake_claim(flag))
		return 0;
	side->wakes_sent++;
	if (side->watcher < 0) {
		wake_ring_bell(side->bell);
		return 0;
	}
	Sycl__V1__Wake wake = SYCL__V1__WAKE__INIT;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_WAKE;
	packet.wake = &wake;
	int r = message_send(side->socket, &packet.base, NULL, 0, MSG_DONTWAIT);
	return r == -EAGAIN
		       ? 0
		       : r; /* the socket is full, so it is readable: the client wakes anyway */
}

static void pause_at_random(struct side *side)
{
	if (ring_wake_random_below(side, PAUSE_ONE_IN) == 0) {
		struct timespec pause = {.tv_nsec =
						 (long)ring_wake_random_below(side, PAUSE_NS_MAX)};
		(void)nanosleep(&pause, NULL);
	}
}

static bool has_room(struct side *side)
{
	void *payload;
	return ring_writer_reserve(&side->out, RING_RECORD_MESSAGE, PAYLOAD_BYTES_MAX, &payload) !=
	       -EAGAIN;
}

/* The client: polls on the session socket, then reads the wake-ups. */
static int client_blocks(struct side *side)
{
	struct pollfd watched = {.fd = side->socket, .events = POLLIN};
	int r = poll(&watched, 1, LOST_MS);
	if (r == 0)
		return complain(side, "a wake-up was lost");
	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	uint8_t datagram[64];
	struct packet_fds fds = PACKET_FDS_INIT;
	ssize_t size;
	while ((size = packet_socket_receive(side->socket, datagram, sizeof(datagram), &fds,
					     MSG_DONTWAIT)) > 0)
		packet_fds_close(&fds);
	if (size == 0)
		return complain(side, "the engine hung up");
	return size == -EAGAIN ? 0 : (int)size;
}

/* The engine: one watcher for the bell, which is edge-triggered and never read, and for the
 * hang-up. */
static int engine_blocks(struct side *side)
{
	struct epoll_event event;
	int r = epoll_wait(side->watcher, &event, 1, LOST_MS);
	if (r == 0)
		return complain(side, "a wake-up was lost");
	if (r < 0)
		return errno == EINTR ? 0 : -errno;
	return event.data.fd == side->bell ? 0 : complain(side, "the client hung up");
}

/* There is nothing to do: the side waits for messages, for room, or both. */
static int side_sleeps(struct side *side, bool for_messages, bool for_room)
{
	for (uint64_t spins = ring_wake_random_below(side, SPINS_MAX); spins > 0; spins--) {
		if ((for_messages && ring_reader_has_more(&side->in)) ||
		    (for_room && has_room(side)))
			return 0;
	}
	if (for_messages)
		wake_prepare_sleep(side->sleeps);
	if (for_room)
		wake_prepare_sleep(side->wants_room);
	side->announced += (uint64_t)for_messages + for_room;
	int r = 0;
	if (!(for_messages && ring_reader_has_more(&side->in)) && !(for_room && has_room(side))) {
		side->slept++;
		side->slept_for_room += for_room;
		r = side->watcher < 0 ? client_blocks(side) : engine_blocks(side);
	}
	if (for_messages)
		wake_cancel_sleep(side->sleeps);
	if (for_room)
		wake_cancel_sleep(side->wants_room);
	return r;
}

/* 1: sent; 0: no room; negative: an error. */
static int send_next(struct side *side, uint64_t salt)
{
	void *payload;
	int r = ring_writer_reserve(&side->out, RING_RECORD_MESSAGE,
				    message_bytes(side->sent, salt), &payload);
	if (r < 0)
		return r == -EAGAIN ? 0 : r;
	message_fill(payload, side->sent, salt);
	side->sent++;
	ring_writer_commit(&side->out);
	r = wake_peer(side, side->peer_sleeps);
	return r < 0 ? r : 1;
}

/* 1: received one; 0: there is none; negative: an error. */
static int receive_next(struct side *side, uint64_t salt)
{
	uint16_t kind;
	uint32_t size;
	int r = ring_reader_next(&side->in, side->buffer, &kind, &size);
	if (r <= 0)
		return r;
	r = message_check(side, size, side->received, salt);
	side->received++;
	return r < 0 ? r : 1;
}

static int give_room(struct side *side)
{
	ring_reader_publish(&side->in);
	return wake_peer(side, side->peer_wants_room);
}

/* Ends at the other side's word, an error, or the end of the batch; adds the number of messages. */
static int receive_batch(struct side *side, uint64_t salt, uint64_t most, uint64_t *done)
{
	uint64_t batch = 1 + ring_wake_random_below(side, most);
	int r = 1;
	uint64_t count = 0;
	while (count < batch && (r = receive_next(side, salt)) > 0)
		count++;
	if (r < 0)
		return r;
	*done += count;
	return count ? give_room(side) : 0;
}

/* Returns how far the client may send now. */
static uint64_t send_limit(struct side *side)
{
	if (side->received == side->burst_end) {
		bool is_long = ring_wake_random_below(side, LONG_BURST_ONE_IN) == 0;
		side->burst_end += 1 + (is_long ? ring_wake_random_below(side, BURST_MAX) : 0);
		if (side->burst_end > side->messages)
			side->burst_end = side->messages;
	}
	return side->burst_end;
}

static int client_runs(struct side *side)
{
	while (side->received < side->messages) {
		uint64_t done = 0;
		int r = receive_batch(side, REPLY_SALT, BATCH_MAX, &done);
		uint64_t limit = send_limit(side);
		for (uint64_t n = ring_wake_random_below(side, BATCH_MAX);
		     r >= 0 && n > 0 && side->sent < limit; n--) {
			r = send_next(side, SUBMIT_SALT);
			if (r <= 0)
				break;
			done++;
		}
		if (r < 0)
			return r;
		pause_at_random(side);
		if (done == 0) {
			r = side_sleeps(side, true, side->sent < limit);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int engine_runs(struct side *side)
{
	while (side->sent < side->messages) {
		uint64_t done = 0;
		int r = 1;
		while (side->sent < side->received && (r = send_next(side, REPLY_SALT)) > 0)
			done++;
		bool blocked = side->sent < side->received;
		/* The reply ring is full: meanwhile the client's records are not read. */
		if (r >= 0 && !blocked)
			r = receive_batch(side, SUBMIT_SALT, BATCH_MAX, &done);
		if (r < 0)
			return r;
		pause_at_random(side);
		if (done == 0) {
			r = side_sleeps(side, !blocked, blocked);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static void client_init(struct side *side, struct region_layout *layout)
{
	struct ring_header *header = &layout->header;
	side->name = "client";
	side->watcher = -1;
	ring_writer_init(&side->out, layout->submit, RING_BYTES, &header->submit_head,
			 &header->submit_tail);
	ring_reader_init(&side->in, layout->reply, RING_BYTES, &header->reply_head,
			 &header->reply_tail);
	side->sleeps = &header->client_sleeps;
	side->wants_room = &header->client_wants_room;
	side->peer_sleeps = &header->engine_sleeps;
	side->peer_wants_room = &header->engine_wants_room;
}

static int engine_init(struct side *side, struct region_layout *layout)
{
	struct ring_header *header = &layout->header;
	side->name = "engine";
	ring_writer_init(&side->out, layout->reply, RING_BYTES, &header->reply_head,
			 &header->reply_tail);
	ring_reader_init(&side->in, layout->submit, RING_BYTES, &header->submit_head,
			 &header->submit_tail);
	side->sleeps = &header->engine_sleeps;
	side->wants_room = &header->engine_wants_room;
	side->peer_sleeps = &header->client_sleeps;
	side->peer_wants_room = &header->client_wants_room;
	side->watcher = epoll_create1(EPOLL_CLOEXEC);
	if (side->watcher < 0)
		return -errno;
	struct epoll_event bell = {.events = EPOLLIN | EPOLLET, .data.fd = side->bell};
	struct epoll_event hang_up = {.events = EPOLLIN, .data.fd = side->socket};
	if (epoll_ctl(side->watcher, EPOLL_CTL_ADD, side->bell, &bell) < 0 ||
	    epoll_ctl(side->watcher, EPOLL_CTL_ADD, side->socket, &hang_up) < 0)
		return -errno;
	return 0;
}

static int report(const struct side *side, int r, uint64_t began_ns)
{
	if (r < 0)
		return r;
	double seconds = (double)(clock_now_ns() - began_ns) / 1e9;
	(void)printf(
		"%s: %llu messages each way in %.2f s, %.2f M/s; slept %llu times, %llu of them also for room; "
		"sent %llu wake-ups\n",
		side->name, (unsigned long long)side->messages, seconds,
		(double)side->messages / seconds / 1e6, (unsigned long long)side->slept,
		(unsigned long long)side->slept_for_room, (unsigned long long)side->wakes_sent);
	return side->slept ? 0 : complain(side, "never slept, so that nothing was shown");
}

static int send_welcome(int socket, const struct memory_region *region, int bell)
{
	Sycl__V1__Welcome welcome = SYCL__V1__WELCOME__INIT;
	welcome.ring_bytes = region->size_bytes;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.descriptor_count = 2;
	packet.body_case = SYCL__V1__PACKET__BODY_WELCOME;
	packet.welcome = &welcome;
	return message_send(socket, &packet.base, (const int[]){region->fd, bell}, 2, 0);
}

static int receive_welcome(struct side *side, struct memory_region **region_out)
{
	struct decode_arena arena;
	int r = decode_arena_init(&arena, DECODE_BYTES_MAX);
	if (r < 0)
		return r;
	CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
	ProtobufCMessage *message;
	r = message_receive(side->socket, &sycl__v1__packet__descriptor, &arena, &message, &fds, 0);
	uint64_t ring_bytes = 0;
	if (r == 1 && ((Sycl__V1__Packet *)message)->body_case == SYCL__V1__PACKET__BODY_WELCOME)
		ring_bytes = ((Sycl__V1__Packet *)message)->welcome->ring_bytes;
	decode_arena_fini(&arena);
	if (r != 1 || ring_bytes != sizeof(struct region_layout))
		return r < 0 ? r : -EPROTO;
	side->bell = packet_fds_take(&fds, 1);
	return memory_region_map(packet_fds_take(&fds, 0), ring_bytes, 1, region_out);
}

/* The client's process gets only the socket. */
static int client_process(struct side *side)
{
	CLEANUP(memory_region_cleanup) struct memory_region *region = NULL;
	uint64_t began = clock_now_ns();
	int r = receive_welcome(side, &region);
	if (r == 0) {
		client_init(side, region->address);
		r = report(side, client_runs(side), began);
	}
	close_fd(&side->bell);
	return r;
}

struct thread_result {
	struct side *side;
	int r;
};

static void *client_thread(void *argument)
{
	struct thread_result *result = argument;
	uint64_t began = clock_now_ns();
	result->r = report(result->side, client_runs(result->side), began);
	/* After an error the engine must not wait for the client. */
	(void)shutdown(result->side->socket, SHUT_RDWR);
	return NULL;
}

static int run_threads(struct side *client, struct side *engine, struct memory_region *region)
{
	client_init(client, region->address);
	client->bell = engine->bell;
	struct thread_result result = {.side = client};
	pthread_t thread;
	int r = pthread_create(&thread, NULL, client_thread, &result);
	if (r != 0)
		return -r;
	uint64_t began = clock_now_ns();
	r = report(engine, engine_runs(engine), began);
	if (r < 0)
		(void)shutdown(engine->socket, SHUT_RDWR);
	(void)pthread_join(thread, NULL);
	r = r < 0 ? r : result.r;
	if (r == 0 && client->wakes_sent > engine->announced)
		r = complain(client, "more wake-ups than the engine said that it would sleep");
	if (r == 0 && engine->wakes_sent > client->announced)
		r = complain(engine, "more wake-ups than the client said that it would sleep");
	return r;
}

static int run_processes(struct side *client, struct side *engine, struct memory_region *region)
{
	pid_t child = fork();
	if (child < 0)
		return -errno;
	if (child == 0) {
		close_fd(&engine->socket);
		int r = client_process(client);
		(void)fflush(NULL);
		_exit(r == 0 ? 0 : 1);
	}
	close_fd(&client->socket);
	uint64_t began = clock_now_ns();
	int r = send_welcome(engine->socket, region, engine->bell);
	if (r == 0)
		r = report(engine, engine_runs(engine), began);
	if (r < 0)
		close_fd(&engine->socket);
	int status;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	return r < 0 ? r : (WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO);
}

static int run_ring(bool processes, uint64_t messages, uint64_t seed)
{
	static struct side client, engine;
	CLEANUP(memory_region_cleanup) struct memory_region *region = NULL;
	int r = memory_region_create("ring-wake", sizeof(struct region_layout), &region);
	if (r < 0)
		return r;
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	client = (struct side){.socket = ends[0], .bell = -1, .messages = messages, .random = seed};
	engine = (struct side){.socket = ends[1],
			       .messages = messages,
			       .random = ring_wake_hash(seed),
			       .watcher = -1};
	engine.bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	r = engine.bell < 0 ? -errno : engine_init(&engine, region->address);
	if (r == 0)
		r = processes ? run_processes(&client, &engine, region)
			      : run_threads(&client, &engine, region);
	close_fd(&client.socket);
	close_fd(&engine.socket);
	close_fd(&engine.bell);
	close_fd(&engine.watcher);
	return r;
}

int main(int argc, char **argv)
{
	bool processes = false;
	uint64_t messages = getenv("SYCLD_LONG") ? 100000000 : 2000000;
	uint64_t seed = clock_now_ns();
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--processes") == 0)
			processes = true;
		else if (strcmp(argv[i], "--messages") == 0 && i + 1 < argc)
			messages = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
			seed = strtoull(argv[++i], NULL, 10);
		else {
			(void)fprintf(stderr, "usage: %s [--processes] [--messages N] [--seed N]\n",
				      argv[0]);
			return 2;
		}
	}
	(void)printf("seed %llu\n", (unsigned long long)seed);
	(void)printf("amount: %llu messages each way\n", (unsigned long long)messages);
	(void)fflush(stdout);
	return run_ring(processes, messages, seed) == 0 ? 0 : 1;
}
