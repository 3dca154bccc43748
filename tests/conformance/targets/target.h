/*
 * The backend under test, and how the conformance tests use it. Every test here uses only the table
 * of operations, so the same list runs with every backend. Each test program contains one file of
 * this folder.
 */
#ifndef SYCL_TESTS_CONFORMANCE_TARGET_H
#define SYCL_TESTS_CONFORMANCE_TARGET_H

#include "backend.h"

struct conformance_target {
	const struct backend_ops *ops;
	/* Called before the backend is opened; NULL: nothing to do. */
	void (*prepare)(void);
	const char *const *options; /* backend_settings' */
	/* A program with the kernels of the list below, in a language that the backend builds. */
	enum backend_source_kind source_kind;
	const char *source;
	bool has_offsets; /* launches take an offset (E13) */
	/* Fails the test if the devices are not those under test; NULL: any are. */
	void (*check)(const struct backend_topology *topology);
	/*
	 * With BACKEND_FEATURE_GRAPH_NATIVE: the work of an application's native command, by the
	 * vendor's own calls. It adds a node to the scope's graph that sets that many words of a
	 * memory (by its place in the scope) to a value. Returns 0, or the error of the command.
	 */
	int (*native_set)(const struct backend_native_scope *scope, uint32_t memory, uint32_t words,
			  uint32_t value);
};

extern const struct conformance_target conformance_target;

/*
 *   fill_u32 (dst, value)       dst[i] = value
 *   linear_id_u32 (dst)         dst[i] = i
 *   increment_u32 (dst)         dst[i] += 1
 *   add_u32 (dst, src)          dst[i] += src[i]
 *   copy_u32 (dst, src)         dst[i] = src[i]
 *   mix_u32 (dst, src, value)   dst[i] = dst[i] * 31 + src[i] + value
 */

/* One lane of the test, with all completions on it in the order of their reports. */
struct test_lane {
	struct backend_lane *lane;
	uint64_t next_sequence;
	struct backend_completion *seen;
	size_t seen_count, seen_capacity;
};

#define TEST_LANES 4u

struct fixture {
	const struct backend_ops *ops;
	struct backend *backend;
	struct backend_topology topology;
	uint32_t index;
	const struct backend_device_facts *facts;
	struct backend_device *device;
	int wake_fd; /* eventfd */
	struct test_lane lanes[TEST_LANES];
	struct backend_program *program;
};

/* Each fails the test on an error. */
void fixture_open_backend(struct fixture *fixture);
/* The same with these settings, and without the target's own preparations. */
void fixture_open_backend_with(struct fixture *fixture, const struct backend_settings *settings);
void fixture_open(struct fixture *fixture, uint32_t device);
/* Opens the first device with host_unified_memory; false: there is none, and nothing is open. */
bool fixture_open_unified(struct fixture *fixture);
void fixture_close(struct fixture *fixture);

/*
 * Builds, or takes what another test of this program has built of the same source. The first one
 * builds it and the others wait, which is faster. The bytes are malloc'ed; the caller frees them.
 */
void fixture_binary(struct fixture *fixture, enum backend_source_kind kind, const char *source,
		    const char *options, void **binary_out, size_t *bytes_out);
/* The same, and loads it on the device; the caller frees it. */
struct backend_program *fixture_build(struct fixture *fixture, enum backend_source_kind kind,
				      const char *source, const char *options);
/* A kernel of the target's program. */
struct backend_kernel *fixture_kernel(struct fixture *fixture, const char *name);
struct backend_memory *fixture_memory(struct fixture *fixture, uint64_t size_bytes, void *host);

/* Sends to a lane (index). Returns the sequence. */
uint64_t fixture_submit(struct fixture *fixture, uint32_t lane,
			const struct backend_command *command);
uint64_t fixture_submit_after(struct fixture *fixture, uint32_t lane,
			      const struct backend_command *command, uint32_t other_lane,
			      uint64_t other_sequence);
/* The command must fail, and must not have been sent. Returns its fault. */
struct backend_fault fixture_submit_fails(struct fixture *fixture, uint32_t lane,
					  const struct backend_command *command);
/* Calls flush and progress until the lane has reported this sequence. Returns the report. */
struct backend_completion fixture_finish(struct fixture *fixture, uint32_t lane, uint64_t sequence);
/* As above, and it must have succeeded. */
void fixture_wait(struct fixture *fixture, uint32_t lane, uint64_t sequence);
/* Calls progress() once, without waiting. */
void fixture_progress(struct fixture *fixture);

/* Copies bytes to and from the device; they are complete on return. */
void fixture_write(struct fixture *fixture, struct backend_memory *memory, uint64_t offset,
		   const void *bytes, uint64_t size);
void fixture_read(struct fixture *fixture, struct backend_memory *memory, uint64_t offset,
		  void *bytes, uint64_t size);

/* Returns a launch over `dimensions` sizes; the backend chooses the local size. */
struct backend_command launch_command(struct backend_kernel *kernel, uint32_t dimensions,
				      const uint64_t *global,
				      const struct backend_argument *arguments, uint32_t count);
struct backend_argument global_argument(struct backend_memory *memory);
struct backend_argument value_argument(const void *bytes, size_t size);

#endif
