/*
 * How tests control the double of NVIDIA's driver (README.md). The double is libcuda.so.1 in the
 * folder of this target. A test opens it, or lets the backend open it, and finds this table with
 * dlsym(library, FAKE_CUDA_CONTROL_SYMBOL). All functions may be called from any thread at any
 * time, unless their comments differ.
 */
#ifndef SYCL_TESTS_FAKE_CUDA_H
#define SYCL_TESTS_FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_CUDA_CONTROL_SYMBOL  "fake_cuda_control"
#define FAKE_CUDA_CONTROL_VERSION 1u

/* One launch, in the form in which a registered kernel gets it. Everything is valid until the
 * function returns. */
struct fake_cuda_launch {
	const char *name;
	unsigned grid[3], block[3], cluster[3]; /* CUDA's order: x y z; cluster 0: none */
	unsigned shared_bytes;                  /* dynamic */
	bool cooperative;
	int device;
	unsigned parameter_count;
	const void *const *parameters; /* the bytes of each */
	const size_t *parameter_bytes;
	unsigned first_multiprocessor, multiprocessors; /* where it may run */
};

/* Runs the whole grid. It is called on the stream's own thread and must not call the driver. */
typedef void fake_cuda_kernel(const struct fake_cuda_launch *launch);

enum fake_cuda_record_kind {
	FAKE_CUDA_MISUSE = 1, /* a misuse, which the real driver reports at once, or which fails
				 later; `text` describes it */
	FAKE_CUDA_NULL_STREAM = 2,   /* work on stream 0, or a call that implies it */
	FAKE_CUDA_IMPLICIT_SYNC = 3, /* a call that can make streams wait for each other, made while
					kernels were running */
	FAKE_CUDA_ADVICE = 4,        /* value: enum CUmem_advise; location_type, location_id */
	FAKE_CUDA_PREFETCH = 5,      /* location_type, location_id */
	/* A kernel began to run; `text`: its name; value: its number; address: its first
	   multiprocessor; size_bytes: how many. */
	FAKE_CUDA_LAUNCH = 6,
	FAKE_CUDA_PEER_COPY =
		7, /* value: bytes; device: the source's; location_id: the destination's */
	/* A launch was sent with a window of memory; address, size_bytes; value: 1000 times the
	   ratio; location_type: hit; location_id: miss. */
	FAKE_CUDA_WINDOW = 9,
	FAKE_CUDA_LAZY_LOAD =
		8, /* the first launch of a function had to load it; `text`: its name */
};

struct fake_cuda_record {
	enum fake_cuda_record_kind kind;
	const char *call; /* the driver's function */
	int thread;       /* gettid() */
	int device;       /* of the thread's current context; -1: none */
	int stream;       /* number of the stream, from 1; 0: none */
	uint64_t address, size_bytes, value;
	int location_type, location_id;
	char text[160];
};

struct fake_cuda_control {
	uint32_t version; /* FAKE_CUDA_CONTROL_VERSION */

	/* Executes one line of the language of controls.md, such as "devices 2". Returns 0 or
	 * -EINVAL. */
	int (*command)(const char *line);
	/* Returns a number of the list in controls.md, such as "call cuMemFree" or "misuse". It is
	 * 0 if that never happened. */
	uint64_t (*count)(const char *what);
	/* Returns how many records there were, and stores the last ones, at most `capacity`, oldest
	 * first. */
	size_t (*records)(struct fake_cuda_record *records, size_t capacity);
	/* Waits until a number of the list is at least that large. Returns false if it is not in
	 * time. */
	bool (*wait_count)(const char *what, uint64_t at_least, uint64_t timeout_ns);

	/* Registers a function for kernels of that name. It takes precedence over everything else
	 * that the double would do for them. */
	int (*kernel)(const char *name, fake_cuda_kernel *function);
	/*
	 * For kernels: returns where the double keeps the device's bytes address .. address +
	 * bytes. If the device cannot access all of them, it does not return. The launch then ends
	 * with an illegal address.
	 */
	void *(*memory)(const struct fake_cuda_launch *launch, uint64_t address, uint64_t bytes);
	/* For kernels: ends the launch with this CUresult. It does not return. */
	void (*fault)(const struct fake_cuda_launch *launch, int result);

	/* The value of a CUDA_* variable when the driver was initialised; NULL: not set. */
	const char *(*environment)(const char *name);

	/*
	 * Replaces CLOCK_MONOTONIC as the clock of events; `clock` and `drift` are applied to it.
	 * The stream's thread calls it with the double's lock, once for each record. It must not
	 * call the driver. NULL restores CLOCK_MONOTONIC.
	 */
	void (*stamp_with)(uint64_t (*now_ns)(void));
};

typedef const struct fake_cuda_control *fake_cuda_control_function(void);

/* Numbers of functions, as in cupti_driver_cbid.h. */
enum { FAKE_CUDA_LAUNCH_KERNEL = 307, FAKE_CUDA_LAUNCH_KERNEL_EX = 652 };

/* What a tool such as CUPTI sees of single launches. Called without the double's lock. */
struct fake_cuda_tool {
	/* A launch function begins, on the caller's thread. Returns the number of the call. */
	uint32_t (*call)(unsigned function);
	/* The kernel of that call has run, on a thread of the double. CLOCK_MONOTONIC. */
	void (*kernel)(uint32_t call, uint64_t start_ns, uint64_t end_ns);
};

/* `tool` is kept; NULL: none. */
__attribute__((visibility("default"))) void
fake_cuda_attach_tool(const struct fake_cuda_tool *tool);

#endif
