/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common parts of the programs of this folder. Each program makes its data, computes on a device
 * and again on the CPU, and compares. One kernel source serves every backend. On an error of the
 * library a program ends with the library's sentence, as a small program would.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <syclclient.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest number of devices in one run, and in its options. */
enum { PROGRAM_DEVICES_MAX = 8 };
struct program_devices;

/*
 * Parts of a program's time. ELSEWHERE is the time for making data and kernels, and for comparing.
 */
enum program_part { PROGRAM_ELSEWHERE, PROGRAM_ON_DEVICE, PROGRAM_ON_CPU, PROGRAM_PARTS };
struct program_times {
	enum program_part part; /* the current part, since since_ns */
	/* The last entry: time between two programs. */
	uint64_t since_ns, spent_ns[PROGRAM_PARTS + 1];
};

struct program_run {
	const char *name;
	sycl_platform platform;
	sycl_queue queue; /* queue of the first device */
	struct program_devices *devices;
	uint32_t edge;      /* approximate number of elements along an axis of the problem */
	uint64_t max_group; /* size of the largest work-group that the device accepts */
	uint32_t random;    /* state of program_random, so every run has the same numbers */
	struct program_times *times;
	/* Set by a program that the device cannot run: the reason. NULL before each program. */
	const char *skipped;
};

struct program {
	const char *name, *what;
	/* Edges for --size tiny, small and large. */
	uint32_t edges[3];
	/* True: the device's results are the CPU's. */
	bool (*run)(struct program_run *run);
};

/* All programs; an entry without a name ends each list. */
extern const struct program programs_linear_algebra[], programs_vectors[], programs_statistics[],
	programs_stencils[], programs_graph[], programs_dynamic[], programs_kmeans[],
	programs_fft[], programs_sort[], programs_reduce[], programs_image_pipeline[];

/*
 * A program's time counts as ON_DEVICE from its first launch until its results are on the host.
 * Work on the CPU begins with program_on_cpu, and ends when results are read or compared.
 * program_on_cpu waits for the device first, because a CPU device would use the same processors.
 */
void program_on_cpu(const struct program_run *run);
/* Sets the part, and returns the one before. */
enum program_part program_at(const struct program_run *run, enum program_part part);

/* Prints the library's sentence and ends the process, unless `result` is 0. */
void program_check(const struct program_run *run, sycl_result result, const char *what);
/* Zeroed memory, the caller's; or the process ends. */
void *program_allocate(const struct program_run *run, size_t count, size_t element_bytes);

/* The next number of a fixed sequence; program_uniform: in [0, 1). */
uint32_t program_random(struct program_run *run);
float program_uniform(struct program_run *run);
/* Makes `count` floats in [-1, 1), which the caller frees. */
float *program_floats(struct program_run *run, size_t count);

/* Makes queues on `count` devices: `first` and others of its kind. Ends the process if there are
 * too few. The launches use the queues in turn. */
void program_devices_begin(struct program_run *run, sycl_device first, uint32_t count);
void program_devices_end(struct program_run *run);
/* Called after each program. */
void program_devices_forget_kernels(struct program_run *run);
/* Waits until all submitted work is complete. */
void program_devices_wait(const struct program_run *run);
/* Returns the next device's queue; *kernel becomes the kernel for that device. */
sycl_queue program_next_queue(const struct program_run *run, sycl_kernel *kernel);

/* The caller releases both. */
sycl_kernel program_kernel(const struct program_run *run, const char *source, const char *name);
sycl_buffer program_buffer(const struct program_run *run, void *host, uint64_t bytes,
			   sycl_host_memory kind);
/* Makes a buffer without host memory, which a device writes first. */
sycl_buffer program_scratch(const struct program_run *run, uint64_t bytes);
/* Copies the buffer's contents to `to`. Waits for the groups that write them. */
void program_read(const struct program_run *run, sycl_buffer buffer, void *to, uint64_t bytes);
/* Releases a buffer. If it borrows host memory, that memory then has the results. */
void program_finish(const struct program_run *run, sycl_buffer buffer);

enum program_argument_kind {
	PROGRAM_ACCESSOR,
	PROGRAM_VALUE,
	PROGRAM_LOCAL,
	PROGRAM_IMAGE,
	PROGRAM_SAMPLED
};

struct program_argument {
	enum program_argument_kind kind;
	sycl_buffer buffer;
	sycl_access_mode mode;
	const void *value; /* read during the call */
	uint64_t bytes;    /* for a value or local memory */
	sycl_image image;
	const sycl_sampler *sampler; /* read during the call */
};

#define READS(buffer_)                                                                             \
	{                                                                                          \
		.kind = PROGRAM_ACCESSOR, .buffer = (buffer_), .mode = SYCL_ACCESS_READ            \
	}
/* The kernel writes the whole buffer. */
#define WRITES(buffer_)                                                                            \
	{                                                                                          \
		.kind = PROGRAM_ACCESSOR, .buffer = (buffer_), .mode = SYCL_ACCESS_WRITE_NO_INIT   \
	}
#define UPDATES(buffer_)                                                                           \
	{                                                                                          \
		.kind = PROGRAM_ACCESSOR, .buffer = (buffer_), .mode = SYCL_ACCESS_READ_WRITE      \
	}
#define VALUE(variable_)                                                                           \
	{                                                                                          \
		.kind = PROGRAM_VALUE, .value = &(variable_), .bytes = sizeof(variable_)           \
	}
#define LOCAL(bytes_)                                                                              \
	{                                                                                          \
		.kind = PROGRAM_LOCAL, .bytes = (bytes_)                                           \
	}
#define READS_IMAGE(image_)                                                                        \
	{                                                                                          \
		.kind = PROGRAM_IMAGE, .image = (image_), .mode = SYCL_ACCESS_READ                 \
	}
/* The kernel writes all pixels. */
#define WRITES_IMAGE(image_)                                                                       \
	{                                                                                          \
		.kind = PROGRAM_IMAGE, .image = (image_), .mode = SYCL_ACCESS_WRITE_NO_INIT        \
	}
#define SAMPLES(image_, sampler_)                                                                  \
	{                                                                                          \
		.kind = PROGRAM_SAMPLED, .image = (image_), .sampler = &(sampler_)                 \
	}

/* Submits one command group to the next queue, without waiting. `local` without dimensions: a basic
 * range. */
void program_launch_nd(const struct program_run *run, sycl_kernel kernel, sycl_range global,
		       sycl_range local, const struct program_argument *arguments, uint32_t count);

#define program_launch(run, kernel, global, ...)                                                   \
	do {                                                                                       \
		const struct program_argument list_[] = {__VA_ARGS__};                             \
		program_launch_nd((run), (kernel), (global), (sycl_range){0}, list_,               \
				  sizeof(list_) / sizeof(*list_));                                 \
	} while (0)
#define program_launch_groups(run, kernel, global, local, ...)                                     \
	do {                                                                                       \
		const struct program_argument list_[] = {__VA_ARGS__};                             \
		program_launch_nd((run), (kernel), (global), (local), list_,                       \
				  sizeof(list_) / sizeof(*list_));                                 \
	} while (0)

/* True if all elements are as expected, to within `part` of the expected values' root mean square.
 * A device rounds sums in another order. Prints the first wrong element on stderr. */
bool program_near(const struct program_run *run, const char *what, const float *got,
		  const double *expected, size_t count, double part);
/* The same, exactly. */
bool program_same(const struct program_run *run, const char *what, const uint32_t *got,
		  const uint32_t *expected, size_t count);

#endif
