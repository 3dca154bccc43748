/*
 * Memory of the CUDA backend under load from its two threads. One makes staged transfers on several
 * lanes, and memory that is shared and freed again. Meanwhile the loader pins, unpins, allocates
 * and frees USM. Every byte must be right, and ThreadSanitizer must report nothing. Exit status 0:
 * passed.
 */
#include "backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LANES = 3, ROUNDS = 8, PAGES = 64 << 10 };

#define BYTES ((size_t)(5 << 20) + 77)

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);      \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static const struct backend_ops *const ops = &backend_cuda_ops;
static struct backend_device *device;
static atomic_bool stop;

/* The loader's thread makes the calls that may wait for the device. */
static void *allocate_in_loader(void *unused)
{
	static const enum backend_usm_kind kinds[] = {BACKEND_USM_DEVICE, BACKEND_USM_HOST,
						      BACKEND_USM_SHARED};
	struct backend_fault fault;

	(void)unused;
	void *pages = mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED);
	for (unsigned i = 0; !atomic_load(&stop); i++) {
		struct backend_host *host = NULL;
		void *usm = NULL;
		CHECK(ops->host_register(device, pages, PAGES, &host, &fault) == 0);
		CHECK(ops->usm_alloc(device, kinds[i % 3], 100000, 4096, &usm, &fault) == 0);
		ops->usm_free(device, kinds[i % 3], usm);
		ops->host_unregister(host);
	}
	(void)munmap(pages, PAGES);
	return NULL;
}

static void cuda_memory_wait_for_lanes(struct backend_lane *const *lanes, const uint64_t *sequences)
{
	uint64_t completed[LANES] = {0};
	struct backend_completion completions[8];
	bool done = false;

	while (!done) {
		uint32_t count = ops->progress(device, completions, 8);
		for (uint32_t i = 0; i < count; i++) {
			CHECK(completions[i].fault.status == 0);
			for (uint32_t k = 0; k < LANES; k++)
				if (completions[i].lane == lanes[k])
					completed[k] = completions[i].sequence;
		}
		done = true;
		for (uint32_t k = 0; k < LANES; k++)
			done = done && completed[k] >= sequences[k];
		if (!done)
			(void)nanosleep(&(struct timespec){.tv_nsec = 50000},
					NULL); /* the device reports no completions */
	}
}

static void submit_transfer(struct backend_lane *lane, uint64_t sequence,
			    enum backend_command_kind kind, struct backend_memory *memory,
			    unsigned char *host)
{
	const struct backend_command command = {
		.kind = kind,
		.transfer = {.memory = memory, .size_bytes = BYTES, .host = host},
	};
	struct backend_fault fault;

	CHECK(ops->submit(lane, &command, NULL, 0, sequence, NULL, &fault) == 0);
}

/* Writes and reads back on all lanes at once. */
static void race_memory_round_trip(struct backend_lane *const *lanes, uint64_t *sequences,
				   unsigned char *const *from, unsigned char *const *to,
				   unsigned round)
{
	static const enum backend_export_kind kinds[LANES] = {
		BACKEND_EXPORT_NONE, BACKEND_EXPORT_VMM, BACKEND_EXPORT_CUDA_IPC};
	struct backend_memory *memories[LANES] = {NULL};
	struct backend_fault fault;

	for (uint32_t i = 0; i < LANES; i++) {
		CHECK(ops->memory_create(device, BYTES, NULL, kinds[i], &memories[i], &fault) == 0);
		memset(from[i], (int)(round * LANES + i + 1), BYTES);
		submit_transfer(lanes[i], ++sequences[i], BACKEND_COMMAND_WRITE, memories[i],
				from[i]);
		submit_transfer(lanes[i], ++sequences[i], BACKEND_COMMAND_READ, memories[i], to[i]);
	}
	ops->flush(device);
	cuda_memory_wait_for_lanes(lanes, sequences);
	for (uint32_t i = 0; i < LANES; i++) {
		CHECK(memcmp(from[i], to[i], BYTES) == 0);
		ops->memory_free(memories[i]);
	}
}

int main(void)
{
	const char *const options[] = {"library=" FAKE_CUDA_LIBRARY, NULL};
	const struct backend_settings settings = {.options = options};
	unsigned char *from[LANES], *to[LANES];
	struct backend_lane *lanes[LANES];
	uint64_t sequences[LANES] = {0};
	struct backend_topology topology;
	struct backend_fault fault;
	struct backend *backend;
	pthread_t loader;

	CHECK(ops->open(&settings, &backend, &fault) == 0);
	CHECK(ops->enumerate(backend, &topology, &fault) == 0);
	CHECK(ops->device_open(backend, 0, NULL, NULL, &device, &fault) == 0);
	for (uint32_t i = 0; i < LANES; i++) {
		CHECK(ops->lane_create(device, (enum backend_lane_kind)i, &lanes[i], &fault) == 0);
		from[i] = malloc(BYTES);
		to[i] = malloc(BYTES);
		CHECK(from[i] && to[i]);
	}
	CHECK(pthread_create(&loader, NULL, allocate_in_loader, NULL) == 0);
	for (unsigned round = 0; round < ROUNDS; round++)
		race_memory_round_trip(lanes, sequences, from, to, round);
	atomic_store(&stop, true);
	CHECK(pthread_join(loader, NULL) == 0);
	for (uint32_t i = 0; i < LANES; i++) {
		ops->lane_free(lanes[i]);
		free(from[i]);
		free(to[i]);
	}
	ops->device_close(device);
	ops->close(backend);
	return 0;
}
