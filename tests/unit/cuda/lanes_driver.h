/*
 * A driver in a few functions for the tests of the CUDA backend's lanes. Streams are lists of
 * operations. They run when the test orders it, one at a time, on its own thread. Everything is in
 * order and nothing is timed. Functions that the lanes must not call do not exist: such a call
 * crashes.
 */
#ifndef SYCL_TESTS_CUDA_LANES_DRIVER_H
#define SYCL_TESTS_CUDA_LANES_DRIVER_H

#include "cuda/device/device.h"
#include "cuda/lane/lane.h"
#include "cuda/program/pace.h"

#define RAN_MAX 4096u

/* The calls so far. */
struct driver_counts {
	uint32_t kernel_launches, graph_launches, writes, records, waits, queries, synchronizes,
		streams_made, streams_destroyed, events_made, graphs_made, attributes_copied,
		nodes_set, words_set;
	uint32_t chains[CUDA_LEVELS]; /* graph launches by their length */
};

struct driver {
	uint32_t rest; /* parts of a transfer that are not sent */
	struct driver_counts counts;
	int ran[RAN_MAX]; /* ids of kernels, in the order in which they ran */
	uint32_t ran_count;
	uint32_t finished; /* cuda_finish_run */
	/* The failures that are set. */
	CUresult dead;                    /* result of every call from now on; CUDA_SUCCESS: none */
	CUresult instantiate_result;      /* cuGraphInstantiateWithFlags */
	uint64_t instantiate_ns;          /* it takes at least so long */
	CUresult set_parameters_result;   /* cuGraphExecKernelNodeSetParams */
	CUresult launch_result;           /* cuLaunchKernel */
	uint32_t launches_before_failure; /* this many calls of cuLaunchKernel work before */
	CUresult write_result;            /* cuStreamWriteValue32 */
	CUresult clock_result;            /* cuda_clock_times: 0, or -EAGAIN and the like */
	uint64_t clock_ns;                /* the clock reports 11 and 22 ns after this */
};

extern struct driver driver;

/* The function with a kernel's code. A test that does not need it sets none. */
struct backend_program {
	int holds, kept; /* number of references; those of templates */
};

struct backend_kernel {
	int id;
	int holds;
	struct backend_program *code;
	uint32_t parameter_bytes;
	int argument; /* the value of all of these bytes */
	bool cooperative;
	struct cuda_pace
		pace;   /* period 0: lanes_launch sets a microsecond, which does not bound chains */
	uint32_t items; /* of the next launch; 0: 1 */
	bool is_awaited; /* of the next launch, as the next */
	uint32_t owner;
	bool is_new; /* lanes_launch leaves its pace alone */
};

/* Makes a device with `chain_length` and nothing in flight. */
struct backend_device *lanes_device(uint32_t chain_length, bool has_graphs);
/* The texts of the settings are not freed. */
struct backend_device *lanes_device_with(const struct cuda_settings *settings, bool has_graphs);
void lanes_device_free(struct backend_device *device);
struct backend_lane *lanes_lane(struct backend_device *device, enum backend_lane_kind kind);

/* Runs up to `most` operations of the lane's stream. Returns how many ran. It stops at a wait that
 * has not ended. */
uint32_t driver_run(struct backend_lane *lane, uint32_t most);
/* Runs all streams until none can advance. */
void driver_run_all(struct backend_device *device);
/* Operations on the lane's stream that have not run. */
uint32_t driver_pending(const struct backend_lane *lane);
/* Returns the priority of the lane's stream: 0 the lowest, -5 the highest. */
int driver_priority(const struct backend_lane *lane);

/* Adds an operation to the stream that counts as a kernel with this id. */
void driver_put(CUstream stream, int id);

/* The first submits a launch, the second another command; a refusal fails the test. */
void lanes_launch(struct backend_lane *lane, struct backend_kernel *kernel, uint64_t sequence);
void lanes_submit(struct backend_lane *lane, const struct backend_command *command,
		  uint64_t sequence);
void lanes_launch_after(struct backend_lane *lane, struct backend_kernel *kernel, uint64_t sequence,
			struct backend_lane *other, uint64_t other_sequence);

#endif
