/*
 * Programs, kernels and launches for the folders above, and the entries of backend.h for them.
 * backend.h documents effects, threads and results. Each entry that has a device enters the device
 * first.
 */
#ifndef SYCL_BACKENDS_CUDA_LAUNCH_H
#define SYCL_BACKENDS_CUDA_LAUNCH_H

#include "cuda/memory/memory.h"
#include "cuda/program/pace.h"

#define CUDA_PARAMETER_BYTES_MAX 32764u
#define CUDA_PARAMETERS_MAX      1024u

/* A launch, ready for the driver. `parameters[i]` point into the storage that the caller gave. */
struct cuda_launch {
	CUfunction function;
	unsigned grid[3], block[3]; /* CUDA's order */
	unsigned shared_bytes;
	void **parameters;
	/* Of a kernel with checks: where the address of the block of words belongs in the storage.
	 * It is 0, so nothing is checked. A launch with it is sent alone. NULL: no checks. */
	void *check;
	uint32_t parameter_count;
	uint32_t parameter_bytes; /* bytes of the parameters in the storage */
	bool cooperative;
	bool waits; /* its code waits for earlier kernels (program/ptx_wait.h) */
	bool early; /* the kernel itself waits, and may begin while the previous launch runs (R5) */
	/* R6; size_bytes 0: none. A launch with a window is sent alone. */
	struct backend_l2_window window;
	unsigned cluster[3]; /* CUDA's order; 0: none */
};

/*
 * program/kernel.c: checks a launch and computes the driver's values for it (E1, E8, E9, E14).
 * `storage` of `storage_bytes` holds the parameters. -ENOSPC: storage too small;
 * CUDA_PARAMETER_BYTES_MAX is always enough. Calls no driver function that changes state.
 */
int cuda_kernel_prepare(struct backend_kernel *kernel, const struct backend_command *command,
			void *storage, size_t storage_bytes, void **parameters,
			uint32_t parameters_max, struct cuda_launch *launch_out,
			struct backend_fault *fault_out);
/*
 * Repeats the arguments of a prepared launch at another place, with the values that lie
 * `value_bytes_behind` the command's own. `to` and `to_parameters` have as much room as those of
 * the first launch.
 */
void cuda_kernel_repeat(const struct backend_kernel *kernel, const struct backend_command *command,
			size_t value_bytes_behind, const unsigned char *from,
			void *const *from_parameters, unsigned char *to, void **to_parameters);
int cuda_kernels_open(struct backend_device *device,
		      struct backend_fault *fault_out); /* called at device_open */
void cuda_kernels_close(struct backend_device *device);

/* program/program.c */
int cuda_program_load(struct backend_device *device, const void *binary, size_t binary_bytes,
		      struct backend_program **program_out, struct backend_fault *fault_out);
int cuda_program_kernels(struct backend_program *program, char **names_out,
			 struct backend_fault *fault_out);
bool cuda_program_is_loaded(struct backend_device *device, const void *binary, size_t binary_bytes);
void cuda_program_free(struct backend_program *program);

/* program/variable.c */
int cuda_program_variable(struct backend_program *program, const char *name, void **pointer_out,
			  uint64_t *size_bytes_out, struct backend_fault *fault_out);

/* program/kernel.c */
int cuda_kernel_create(struct backend_program *program, const char *name,
		       struct backend_kernel **kernel_out, struct backend_fault *fault_out);
void cuda_kernel_facts(struct backend_kernel *kernel, struct backend_kernel_facts *facts_out);
/* Drops one reference; the last drop ends the kernel. Device thread, as cuda_program_free. */
void cuda_kernel_free(struct backend_kernel *kernel);
/* Adds a reference, ended by cuda_kernel_free. A command in flight holds its kernel, so a module in
 * use is never unloaded. Device thread. */
void cuda_kernel_hold(struct backend_kernel *kernel);
/*
 * The program that has the kernel's code. A template names a function until the template is set
 * again, and to set it the driver reads the former function. So a template keeps the code of the
 * kernel that ran in it last. It releases the code when nothing else holds it. Device thread; NULL
 * may be released.
 */
struct backend_program *cuda_kernel_code(const struct backend_kernel *kernel);
void cuda_code_keep(struct backend_program *program);
void cuda_code_release(struct backend_program *program);
bool cuda_code_is_abandoned(
	const struct backend_program *program); /* true if only templates hold the program */
/* The estimated time of a kernel's launches, by its latest ones. Only the lanes read and write it.
 * Device thread. */
struct cuda_pace *cuda_kernel_pace(struct backend_kernel *kernel);

/* program/checked.c: pinned memory with the words of portable_check.h for so many launches at one
 * time. There is some as soon as the device has a kernel with checks. Any thread. */
#define CUDA_CHECKED_MAX 256u
uint64_t *cuda_checked_words(const struct backend_device *device);
/* program/checked.c: the fault of the block of words that a launch of this kernel has written;
 * status 0: no wrong access. The kernel may have damaged the block. */
void cuda_kernel_check_fault(const struct backend_kernel *kernel, const uint64_t *words,
			     uint32_t dimensions, struct backend_fault *fault_out);

/* program/occupancy.c */
int cuda_kernel_occupancy(struct backend_kernel *kernel, const uint64_t local[3],
			  uint64_t local_mem_bytes, struct backend_occupancy *occupancy_out,
			  struct backend_fault *fault_out);

#endif
