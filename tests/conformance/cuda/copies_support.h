/* A device with memory, a kernel and registered host memory, for the tests of small copies. */
#ifndef TESTS_CONFORMANCE_CUDA_COPIES_SUPPORT_H
#define TESTS_CONFORMANCE_CUDA_COPIES_SUPPORT_H

#include "cuda/double.h"
#include "targets/cuda.h"

#include "cuda/device/device.h"
#include "cuda/lane/lane.h"
#include "cuda/program/pace.h"
#include "status.h"

#include <criterion/criterion.h>
#include <string.h>

enum { COPIES_ROOM = 1 << 18 };
#define COPIES_HALF ((size_t)COPIES_ROOM / 2)

/* Options: copies by the backend's kernel, or by the driver. */
#define COPIES_ON  "copy_kernel_bytes=65536"
#define COPIES_OFF "copy_kernel_bytes=0"

struct copies_scene {
	struct fixture fixture;
	struct backend_memory *memory;
	struct backend_kernel *increment;
	struct backend_argument argument;
	struct backend_host *host;
	unsigned char *pages; /* registered */
};

/* True on a GPU, false on the double of its driver. */
bool copies_are_real(void);
void copies_open(struct copies_scene *scene, const char *option);
void copies_close(struct copies_scene *scene, bool is_lost);
/* A launch that increments the first words of the memory. */
struct backend_command copies_increment(struct copies_scene *scene, const uint64_t *count);
struct backend_command copies_transfer(struct copies_scene *scene, enum backend_command_kind kind,
				       uint64_t offset, void *host, uint64_t bytes);
/* The number of transfers that are no kernels; on a GPU they are not counted. */
uint64_t copies_not_by_kernels(void);
void copies_fill_counting(unsigned char *bytes, size_t count, unsigned seed);

#endif
