/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common parts of the programs of this folder. Each program makes its data, computes it on a device
 * and again on the CPU, and compares; one kernel source serves every backend. On an error of the
 * library they end with its sentence, as a small program would.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <syclclient.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most devices of one run, and of its options. */
enum { PROGRAM_DEVICES_MAX = 8 };
struct program_devices;

/* Where a program's time goes. Making data and kernels, and comparing, is elsewhere. */
enum program_part { PROGRAM_ELSEWHERE, PROGRAM_ON_DEVICE, PROGRAM_ON_CPU, PROGRAM_PARTS };
struct program_times {
	enum program_part part;                         /* since since_ns */
	uint64_t since_ns, spent_ns[PROGRAM_PARTS + 1]; /* the last one: between two programs */
};

struct program_run {
	const char *name;
	sycl_platform platform;
	sycl_queue queue; /* the first device's */
	struct program_devices *devices;
	uint32_t edge;      /* about how many elements an axis of the problem has */
	uint64_t max_group; /* work-items of the largest work-group that the device takes */
	uint32_t random;    /* state of program_random: the same numbers in every run */
	struct program_times *times;
	const char *skipped; /* a program that the device cannot run says why here and returns; NULL
				before each */
};

struct program {
	const char *name, *what;
	/* Edges for --size tiny, small and large. */
	uint32_t edges[3];
	/* True: the device's results are the CPU's. */
	bool (*run)(struct program_run *run);
};

/* All of them, ended by an entry without a name. */
extern const struct program programs_linear_algebra[], programs_vectors[], programs_statistics[],
	programs_stencils[], programs_graph[], programs_dynamic[], programs_kmeans[],
	programs_fft[], programs_sort[], programs_reduce[], programs_image_pipeline[];

/*
 * A program is on the device from its first launch until its results are on the host. What it
 * computes on the CPU begins with program_on_cpu and ends where something is read or compared.
 * program_on_cpu waits for the device first, so that neither takes the other's processor.
 */
void program_on_cpu(const struct program_run *run);
/* Gives what the program was at before. */
enum program_part program_at(const struct program_run *run, enum program_part part);

/* Ends the process with the library's sentence unless `result` is 0. */
void program_check(const struct program_run *run, sycl_result result, const char *what);
/* Zeroed memory, the caller's; or the process ends. */
void *program_allocate(const struct program_run *run, size_t count, size_t element_bytes);

/* The next number of a fixed sequence; program_uniform: in [0, 1). */
uint32_t program_random(struct program_run *run);
float program_uniform(struct program_run *run);
/* `count` floats in [-1, 1), the caller's. */
float *program_floats(struct program_run *run, size_t count);

/*
 * Queues on `count` devices, `first` and others of its kind; the process ends where there are not
 * so many. Launches take turns with them.
 */
void program_devices_begin(struct program_run *run, sycl_device first, uint32_t count);
void program_devices_end(struct program_run *run);
/* After each program. */
void program_devices_forget_kernels(struct program_run *run);
/* Until all that was submitted is over. */
void program_devices_wait(const struct program_run *run);
/* The device whose turn it is; *kernel becomes the kernel of that device. */
sycl_queue program_next_queue(const struct program_run *run, sycl_kernel *kernel);

/* Both are the caller's to release. */
sycl_kernel program_kernel(const struct program_run *run, const char *source, const char *name);
sycl_buffer program_buffer(const struct program_run *run, void *host, uint64_t bytes,
			   sycl_host_memory kind);
/* A buffer that a device writes first, without host memory. */
sycl_buffer program_scratch(const struct program_run *run, uint64_t bytes);
/* The buffer's contents, copied to `to`; waits for the groups that write them. */
void program_read(const struct program_run *run, sycl_buffer buffer, void *to, uint64_t bytes);
/* Ends a buffer; of a borrowed one the results are in its host memory then. */
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
	uint64_t bytes;    /* of a value or of local memory */
	sycl_image image;
	const sycl_sampler *sampler; /* read during the call */
};

#define READS(buffer_)                                                                             \
	{                                                                                          \
		.kind = PROGRAM_ACCESSOR, .buffer = (buffer_), .mode = SYCL_ACCESS_READ            \
	}
/* The kernel writes all of it. */
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

/* One command group on the queue whose turn it is; `local` without dimensions: a basic range. Never
 * waits. */
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

/*
 * Are all elements as expected, up to `part` of the expected values' root mean square? Sums are
 * rounded in another order on a device. Says on stderr which element is not.
 */
bool program_near(const struct program_run *run, const char *what, const float *got,
		  const double *expected, size_t count, double part);
/* Exactly. */
bool program_same(const struct program_run *run, const char *what, const uint32_t *got,
		  const uint32_t *expected, size_t count);

#endif
