/*
 * LOAD_KERNEL_WORK on either side: a client of the service, or a process with its own context. Each
 * counts the sum that its kernels must have computed. On an error the functions print a message and
 * return false.
 */
#ifndef SYCL_BENCH_GPU_LOAD_H
#define SYCL_BENCH_GPU_LOAD_H

#include "harness/agent.h"
#include "gpu/client.h"
#include "gpu/direct.h"
#include "gpu/load_kernels.h"

/* The launches so far, which determine the expected values of the words. All launches of one load
 * have the same number of blocks. */
struct load_expected {
	unsigned blocks;
	uint32_t launches, sum;
};

struct load_client {
	struct gpu_client client; /* first */
	sycl_kernel_bundle bundle;
	sycl_kernel work;
	sycl_buffer words; /* struct load_words, 0 at first */
	struct load_expected expected;
};

struct load_direct {
	struct gpu_direct direct; /* first */
	struct gpu_module *module;
	struct gpu_function *work;
	gpu_address words;
	struct load_expected expected;
};

/* The calls that differ between the two. */
struct load_calls {
	bool (*launch)(void *load, unsigned blocks, uint32_t rounds);
	bool (*wait)(void *load);
	/* Waits, and checks that each launch ran once, to its end. */
	bool (*verify)(void *load);
};
extern const struct load_calls load_client_calls, load_direct_calls;

/* open and close of an agent_subject. For the argument see place.h. */
int load_client_open(const char *place, void **load_out);
void load_client_close(void *load);
int load_direct_open(const char *place, void **load_out);
void load_direct_close(void *load);

/* The same for an existing object. */
bool load_client_begin(struct load_client *load, const char *place);
void load_client_end(struct load_client *load);
/* Counts a launch, or one that a graph will make. */
void load_count(struct load_expected *expected, unsigned blocks, uint32_t rounds);
/* Returns the words after all launches, verified. `words_out` may be NULL. */
bool load_client_read(struct load_client *load, struct load_words *words_out);
/* Submits a command group of it; `event_out` may be NULL. It is not counted. */
bool load_client_submit(struct load_client *load, unsigned blocks, uint32_t rounds,
			sycl_event *event_out);

/* Returns the number of the device's multiprocessors, by a direct load. 0: the driver did not
 * report it. */
unsigned load_multiprocessors(struct load_direct *load);
/*
 * Returns the rounds with which a launch of that many blocks takes `wanted_ns` alone, one after the
 * other. It first runs for some milliseconds so that the clock can rise. The load launches nothing
 * else afterwards. 0: it failed.
 */
uint32_t load_calibrate(const struct load_calls *calls, void *load, unsigned blocks,
			uint64_t wanted_ns, unsigned warm_ms);

#endif
