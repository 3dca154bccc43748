#include "cuda_counter.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))

enum { OBJECTS_MAX = 65536, LAUNCH_STREAMS_MAX = 256 };

typedef CUresult get_address_function(const char *name, void **address_out, int version,
				      cuuint64_t flags, CUdriverProcAddressQueryResult *status_out);

/* The existing streams and events. The place of a destroyed one is used again. */
static void *objects[OBJECTS_MAX];
static struct cuda_counts counts;
static CUstream launch_streams[LAUNCH_STREAMS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The driver's own functions, found when they were requested. */
static CUresult (*stream_create)(CUstream *, unsigned, int);
static CUresult (*stream_destroy)(CUstream);
static CUresult (*event_create)(CUevent *, unsigned);
static CUresult (*event_destroy)(CUevent);
static CUresult (*context_retain)(CUcontext *, CUdevice);
static CUresult (*context_release)(CUdevice);
static __typeof__(&cuLaunchKernel) launch_kernel;
static __typeof__(&cuLaunchKernelEx) launch_kernel_ex;
static __typeof__(&cuGraphLaunch) launch_graph;

static void *driver_symbol(const char *name)
{
	static void *driver;
	const char *path = getenv("SYCLD_TEST_CUDA_COUNTED");

	(void)pthread_mutex_lock(&lock);
	if (!driver)
		driver = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	(void)pthread_mutex_unlock(&lock);
	return driver ? dlsym(driver, name) : NULL;
}

static bool cuda_counter_replace(const void *from, void *to)
{
	for (size_t i = 0; i < OBJECTS_MAX; i++)
		if (objects[i] == from) {
			objects[i] = to;
			return true;
		}
	return false;
}

static CUresult cuda_counter_note_taken(enum cuda_counted kind, void *object, CUresult result)
{
	if (result != CUDA_SUCCESS)
		return result;
	(void)pthread_mutex_lock(&lock);
	counts.taken[kind]++;
	if (object && !cuda_counter_replace(NULL, object))
		abort(); /* a test that makes so many cannot be counted */
	(void)pthread_mutex_unlock(&lock);
	return result;
}

/* Removes the handle before the driver can give the same one to the next object. */
static void cuda_counter_note_given(enum cuda_counted kind, const void *object)
{
	(void)pthread_mutex_lock(&lock);
	counts.given[kind]++;
	if (!object || !cuda_counter_replace(object, NULL))
		counts.foreign++;
	(void)pthread_mutex_unlock(&lock);
}

static CUresult own_stream_create(CUstream *stream_out, unsigned flags, int priority)
{
	CUresult result = stream_create(stream_out, flags, priority);

	return cuda_counter_note_taken(CUDA_STREAMS,
				       result == CUDA_SUCCESS ? (void *)*stream_out : NULL, result);
}

static CUresult own_stream_destroy(CUstream stream)
{
	cuda_counter_note_given(CUDA_STREAMS, stream);
	return stream_destroy(stream);
}

static CUresult own_event_create(CUevent *event_out, unsigned flags)
{
	CUresult result = event_create(event_out, flags);

	return cuda_counter_note_taken(CUDA_EVENTS,
				       result == CUDA_SUCCESS ? (void *)*event_out : NULL, result);
}

static CUresult own_event_destroy(CUevent event)
{
	cuda_counter_note_given(CUDA_EVENTS, event);
	return event_destroy(event);
}

static CUresult own_context_retain(CUcontext *context_out, CUdevice device)
{
	return cuda_counter_note_taken(CUDA_CONTEXTS, NULL, context_retain(context_out, device));
}

static CUresult own_context_release(CUdevice device)
{
	CUresult result = context_release(device);

	(void)pthread_mutex_lock(&lock);
	counts.given[CUDA_CONTEXTS] += result == CUDA_SUCCESS;
	(void)pthread_mutex_unlock(&lock);
	return result;
}

static void launches_on(CUstream stream)
{
	uint64_t i = 0;

	(void)pthread_mutex_lock(&lock);
	counts.launches++;
	while (i < counts.launch_streams && launch_streams[i] != stream)
		i++;
	if (i == LAUNCH_STREAMS_MAX)
		abort(); /* as above */
	launch_streams[i] = stream;
	counts.launch_streams += i == counts.launch_streams;
	(void)pthread_mutex_unlock(&lock);
}

static CUresult own_launch_kernel(CUfunction function, unsigned x, unsigned y, unsigned z,
				  unsigned block_x, unsigned block_y, unsigned block_z,
				  unsigned shared_bytes, CUstream stream, void **parameters,
				  void **extra)
{
	launches_on(stream);
	return launch_kernel(function, x, y, z, block_x, block_y, block_z, shared_bytes, stream,
			     parameters, extra);
}

static CUresult own_launch_kernel_ex(const CUlaunchConfig *configuration, CUfunction function,
				     void **parameters, void **extra)
{
	launches_on(configuration->hStream);
	return launch_kernel_ex(configuration, function, parameters, extra);
}

static CUresult own_launch_graph(CUgraphExec graph, CUstream stream)
{
	launches_on(stream);
	return launch_graph(graph, stream);
}

static const struct own {
	const char *name;
	void *place; /* the driver's function */
	void *function;
} own[] = {
	{"cuStreamCreateWithPriority", (void *)&stream_create, (void *)own_stream_create},
	{"cuStreamDestroy", (void *)&stream_destroy, (void *)own_stream_destroy},
	{"cuEventCreate", (void *)&event_create, (void *)own_event_create},
	{"cuEventDestroy", (void *)&event_destroy, (void *)own_event_destroy},
	{"cuDevicePrimaryCtxRetain", (void *)&context_retain, (void *)own_context_retain},
	{"cuDevicePrimaryCtxRelease", (void *)&context_release, (void *)own_context_release},
	{"cuLaunchKernel", (void *)&launch_kernel, (void *)own_launch_kernel},
	{"cuLaunchKernelEx", (void *)&launch_kernel_ex, (void *)own_launch_kernel_ex},
	{"cuGraphLaunch", (void *)&launch_graph, (void *)own_launch_graph},
};

VISIBLE void cuda_counts(struct cuda_counts *counts_out);
void cuda_counts(struct cuda_counts *counts_out)
{
	(void)pthread_mutex_lock(&lock);
	*counts_out = counts;
	(void)pthread_mutex_unlock(&lock);
}

VISIBLE cuda_counts_begin cuda_counts_launches_from_here;
void cuda_counts_launches_from_here(void)
{
	(void)pthread_mutex_lock(&lock);
	counts.launches = counts.launch_streams = 0;
	(void)pthread_mutex_unlock(&lock);
}

/* The two that the backend looks up by name. */
VISIBLE CUresult cuDriverGetVersion(int *version_out)
{
	CUresult (*next)(int *) = NULL;
	void *found = driver_symbol("cuDriverGetVersion");

	memcpy(&next, &found, sizeof(next));
	return next ? next(version_out) : CUDA_ERROR_NOT_FOUND;
}

VISIBLE get_address_function cuGetProcAddress_v2;
CUresult cuGetProcAddress_v2(const char *name, void **address_out, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status_out)
{
	get_address_function *next = NULL;
	void *found = driver_symbol("cuGetProcAddress_v2");

	memcpy(&next, &found, sizeof(next));
	if (!next)
		return CUDA_ERROR_NOT_FOUND;
	CUresult result = next(name, address_out, version, flags, status_out);
	for (size_t i = 0; result == CUDA_SUCCESS && *address_out && i < sizeof(own) / sizeof(*own);
	     i++)
		if (strcmp(own[i].name, name) == 0) {
			memcpy(own[i].place, address_out, sizeof(void *));
			*address_out = own[i].function;
		}
	return result;
}
