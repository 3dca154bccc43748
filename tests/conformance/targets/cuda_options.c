#include "targets/cuda.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *target_cuda_options[4] = {NULL};

static bool cuda_options_is_real(void)
{
	const char *which = getenv("SYCLD_TEST_CUDA");

	return which && strcmp(which, "real") == 0;
}

/* The driver's functions, as an application finds them. Handles are pointers, results and modes
 * numbers. */
static int (*begin_capture)(void *stream, void *graph, const void *dependencies, const void *edges,
			    size_t count, int mode);
static int (*end_capture)(void *stream, void **graph_out);
static int (*set_words)(unsigned long long address, unsigned value, size_t count, void *stream);

static bool find_symbol(void *library, const char *name, void *function_out)
{
	void *found = dlsym(library, name);

	memcpy(function_out, &found, sizeof(found));
	return found != NULL;
}

int target_cuda_native_set(const struct backend_native_scope *scope, uint32_t memory,
			   uint32_t words, uint32_t value)
{
	void *library = dlopen(cuda_options_is_real() ? "libcuda.so.1" : FAKE_CUDA_LIBRARY,
			       RTLD_NOW | RTLD_LOCAL);
	void *stream = (void *)(uintptr_t)scope->queue, *graph = (void *)(uintptr_t)scope->graph;

	if (!library || !find_symbol(library, "cuStreamBeginCaptureToGraph", &begin_capture) ||
	    !find_symbol(library, "cuStreamEndCapture", &end_capture) ||
	    !find_symbol(library, "cuMemsetD32Async", &set_words))
		return -1;
	int result = begin_capture(stream, graph, NULL, NULL, 0, 0 /* global */);
	if (result == 0)
		result = set_words(scope->memories[memory], value, words, stream);
	if (result == 0)
		result = end_capture(stream, &graph);
	return result;
}

/* "real": the driver of this machine. Otherwise the double; a GPU of the machine is not used. */
void target_cuda_prepare(void)
{
	unsigned count = 0;

	if (!cuda_options_is_real())
		target_cuda_options[count++] = "library=" FAKE_CUDA_LIBRARY;
#ifdef SYCLD_NVRTC_LIBRARY
	if (access(SYCLD_NVRTC_LIBRARY, R_OK) == 0)
		target_cuda_options[count++] = "nvrtc=" SYCLD_NVRTC_LIBRARY;
#endif
#ifdef CONFORMANCE_CONNECTIONS
	target_cuda_options[count++] = "connections=" CONFORMANCE_CONNECTIONS;
#endif
	target_cuda_options[count] = NULL;
}

void target_cuda_open_with(struct fixture *fixture, const char *const *more)
{
	const char *options[8] = {NULL};
	size_t count = 0;

	target_cuda_prepare();
	for (size_t i = 0; target_cuda_options[i]; i++)
		options[count++] = target_cuda_options[i];
	for (size_t i = 0; more[i]; i++)
		options[count++] = more[i];
	const struct backend_settings settings = {.options = options};
	fixture_open_backend_with(fixture, &settings);
	fixture_open(fixture, 0);
}
