/* The device and the user of a measuring process of the GPU rows, written as words: an argument. */
#ifndef SYCL_BENCH_GPU_PLACE_H
#define SYCL_BENCH_GPU_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

enum { GPU_PLACE_BYTES = 768, GPU_SETTINGS_BYTES = 512 };

struct gpu_place {
	unsigned device; /* index among the CUDA devices */
	uid_t uid;       /* to become first; 0: stay as it is */
	char with[128];  /* the service's endpoint, or the pipe folder of MPS; "-": neither */
};

#define GPU_NOBODY "-"

void gpu_place_write(const struct gpu_place *place, char text_out[GPU_PLACE_BYTES]);
/* Reads what the above wrote, the library too, and becomes that user. False, having said why. */
bool gpu_place_take(const char *text, struct gpu_place *place_out);

/* The CUDA library of every process that starts from now on; NULL: the system's. Kept, not copied.
 */
void gpu_use_library(const char *path);
const char *gpu_library(void);

/* A line for [cuda] in sycld.conf of every service that starts from now on. -E2BIG: too many. */
int gpu_use_setting(const char *line);
/* All of them, each with its end of line. */
const char *gpu_settings(void);

#endif
