/*
 * The CUDA backend's table with several devices open and lanes of all kinds, for tests of its
 * memory. They use the double of the driver, or with SYCLD_TEST_CUDA=real the machine's own
 * (tests/gpu).
 */
#ifndef SYCL_TESTS_CUDA_MEMORY_SUPPORT_H
#define SYCL_TESTS_CUDA_MEMORY_SUPPORT_H

#include "cuda/device/device.h"
#include "cuda/memory/state.h"
#include "cuda/memory/peer.h"
#include "fake_cuda.h"
#include "status.h"

#include <criterion/criterion.h>

#define GPU_DEVICES 2u
#define GPU_LANES   4u
#define GPU_OPTIONS 6u
/*
 * Queues to the device: more than the streams of any test, so that none shares one with a held
 * kernel. Each process has its own context, and the driver makes contexts one after the other. With
 * twice as many queues it takes twice as long.
 */
#define GPU_CONNECTIONS "16"

#define MIB ((uint64_t)1 << 20)

struct gpu_lane {
	struct backend_lane *lane;
	uint64_t sent;
	uint64_t completed;         /* the last sequence that progress() reported */
	struct backend_fault fault; /* of the first command that failed */
};

struct gpu {
	const struct backend_ops *ops;
	struct backend *backend;
	struct backend_topology topology;
	struct backend_device *devices[GPU_DEVICES];
	struct gpu_lane lanes[GPU_DEVICES][GPU_LANES];
	const struct fake_cuda_control *fake; /* NULL: a real driver */
};

/* The double's controls, before the backend is opened; NULL: the driver is real. */
const struct fake_cuda_control *gpu_fake(void);
/*
 * Called first in a test that measures the free memory of a real GPU. No other test of this program
 * runs meanwhile, however many run at once. It waits for running tests, and none begins before this
 * one has ended.
 */
void gpu_alone(void);
/* Executes one line of the double's language; nothing with a real driver. */
void gpu_command(const struct gpu *gpu, const char *line);

/* `options`: in addition to the library's; NULL ends it; NULL: none. It opens no device. */
void gpu_open_backend(struct gpu *gpu, const char *const *options);
void gpu_open_device(struct gpu *gpu, uint32_t device);
/* Opens both, the first device. */
void gpu_open(struct gpu *gpu, const char *const *options);
/* Also checks that the driver has no objects left, and that there was no misuse. */
void gpu_close(struct gpu *gpu);
/* As gpu_close, for a lost device. */
void gpu_close_lost(struct gpu *gpu);

/* Sends to a lane of a device, and returns the sequence. */
uint64_t gpu_submit(struct gpu *gpu, uint32_t device, uint32_t lane,
		    const struct backend_command *command);
/* The transfer must be refused with this status. */
void gpu_submit_fails(struct gpu *gpu, uint32_t device, const struct backend_command *command,
		      int32_t status);
/* Waits until the lane has reported it. Returns the first failure of the lane. */
struct backend_fault gpu_finish(struct gpu *gpu, uint32_t device, uint32_t lane, uint64_t sequence);
/* As above, and nothing may have failed. */
void gpu_wait(struct gpu *gpu, uint32_t device, uint32_t lane, uint64_t sequence);
/* Returns true if it has been reported. It polls once and does not wait. */
bool gpu_is_done(struct gpu *gpu, uint32_t device, uint32_t lane, uint64_t sequence);
void gpu_do(struct gpu *gpu, uint32_t device, uint32_t lane, const struct backend_command *command);

struct backend_memory *gpu_memory(struct gpu *gpu, uint32_t device, uint64_t size_bytes,
				  enum backend_export_kind kind);
struct backend_command gpu_transfer(enum backend_command_kind kind, struct backend_memory *memory,
				    uint64_t offset_bytes, void *host, uint64_t size_bytes);
struct backend_command gpu_copy(struct backend_memory *source, uint64_t source_offset_bytes,
				struct backend_memory *destination,
				uint64_t destination_offset_bytes, uint64_t size_bytes);
struct backend_command gpu_fill(struct backend_memory *memory, uint64_t offset_bytes,
				uint64_t size_bytes, const void *pattern, size_t pattern_bytes);
void gpu_write(struct gpu *gpu, struct backend_memory *memory, uint64_t offset_bytes,
	       const void *bytes, uint64_t size_bytes);
void gpu_read(struct gpu *gpu, struct backend_memory *memory, uint64_t offset_bytes, void *bytes,
	      uint64_t size_bytes);

/* Returns shared pages as for an arena; munmap ends them. */
unsigned char *gpu_pages(uint64_t size_bytes);
/* Fills in bytes that depend on their place and the seed. */
void gpu_pattern(unsigned char *bytes, uint64_t size_bytes, unsigned seed);
bool gpu_has_pattern(const unsigned char *bytes, uint64_t size_bytes, unsigned seed);
/* Returns true if every byte is this one. */
bool gpu_is_all(const unsigned char *bytes, uint64_t size_bytes, unsigned char byte);

/*
 * A kernel that runs until it is released. It occupies a stream of the device that the test makes
 * for it, and polls a word of pinned memory.
 */
struct gpu_hold {
	struct backend_device *device;
	CUmodule module;
	CUstream stream;
	volatile uint32_t *word;
};
void gpu_hold_start(struct gpu *gpu, struct gpu_hold *hold);
bool gpu_hold_is_running(const struct gpu_hold *hold);
void gpu_hold_end(struct gpu_hold *hold);

#endif
