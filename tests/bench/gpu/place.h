/* The device and the user of a measuring process of the GPU rows, as the text of an argument. */
#ifndef SYCL_BENCH_GPU_PLACE_H
#define SYCL_BENCH_GPU_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

enum { GPU_PLACE_BYTES = 768, GPU_SETTINGS_BYTES = 512 };

struct gpu_place {
	unsigned device; /* index among the CUDA devices */
	uid_t uid;       /* to become first; 0: no change */
	char with[128];  /* the service's endpoint, or the pipe folder of MPS; "-": neither */
};

#define GPU_NOBODY "-"

void gpu_place_write(const struct gpu_place *place, char text_out[GPU_PLACE_BYTES]);
/* Parses such a text, uses its library, and becomes that user. Returns false after a message. */
bool gpu_place_take(const char *text, struct gpu_place *place_out);

/* Sets the CUDA library of every process that starts from now on; NULL: the system's. The text is
 * kept, not copied. */
void gpu_use_library(const char *path);
const char *gpu_library(void);

/* Adds a line to [cuda] in sycld.conf of every service that starts from now on. -E2BIG: too
 * many. */
int gpu_use_setting(const char *line);
/* Returns all of them, each with its end of line. */
const char *gpu_settings(void);

#endif
