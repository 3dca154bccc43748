#include "base/cuda_driver.h"

#include "base/error.h"

#include "syclclient/types.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cuda_driver driver;
static char why_not[FAILURE_TEXT_BYTES]; /* empty: the driver is loaded */

struct symbol {
	const char *name;
	size_t place;
	int optional;
};
#define SYMBOL(name)                                                                               \
	{                                                                                          \
#name, offsetof(struct cuda_driver, name), 0                                       \
	}
#define OPTIONAL(name)                                                                             \
	{                                                                                          \
#name, offsetof(struct cuda_driver, name), 1                                       \
	}

static const struct symbol symbols[] = {
	SYMBOL(cuInit),
	SYMBOL(cuDeviceGetCount),
	SYMBOL(cuDeviceGet),
	SYMBOL(cuDeviceGetUuid_v2),
	SYMBOL(cuDevicePrimaryCtxRetain),
	SYMBOL(cuDevicePrimaryCtxRelease_v2),
	SYMBOL(cuDevicePrimaryCtxGetState),
	SYMBOL(cuCtxGetCurrent),
	SYMBOL(cuCtxGetDevice),
	SYMBOL(cuCtxPushCurrent_v2),
	SYMBOL(cuCtxPopCurrent_v2),
	SYMBOL(cuStreamCreate),
	SYMBOL(cuStreamDestroy_v2),
	SYMBOL(cuStreamSynchronize),
	SYMBOL(cuLaunchHostFunc),
	SYMBOL(cuEventCreate),
	SYMBOL(cuEventRecord),
	SYMBOL(cuEventQuery),
	SYMBOL(cuEventDestroy_v2),
	SYMBOL(cuStreamWaitEvent),
	SYMBOL(cuIpcOpenMemHandle_v2),
	SYMBOL(cuIpcCloseMemHandle),
	SYMBOL(cuMemImportFromShareableHandle),
	SYMBOL(cuMemRelease),
	SYMBOL(cuMemAddressReserve),
	SYMBOL(cuMemAddressFree),
	SYMBOL(cuMemMap),
	SYMBOL(cuMemUnmap),
	SYMBOL(cuMemSetAccess),
	OPTIONAL(cuIpcOpenEventHandle),
	OPTIONAL(cuCtxGetId),
	OPTIONAL(cuThreadExchangeStreamCaptureMode),
	OPTIONAL(cuDriverGetVersion),
	OPTIONAL(cuGraphCreate),
	OPTIONAL(cuGraphDestroy),
	OPTIONAL(cuGraphGetNodes),
	OPTIONAL(cuGraphInstantiateWithFlags),
	OPTIONAL(cuGraphExecDestroy),
	OPTIONAL(cuGraphLaunch),
	OPTIONAL(cuStreamIsCapturing),
	OPTIONAL(cuStreamEndCapture),
};

/* SYCLD_CUDA_LIBRARY names another library than the system's, for tests and for drivers in other
 * folders. */
static void cuda_driver_load(void)
{
	const char *name = secure_getenv("SYCLD_CUDA_LIBRARY");
	void *library = dlopen(name && *name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		const char *why = dlerror();
		(void)snprintf(why_not, sizeof(why_not), "this program finds no NVIDIA driver: %s",
			       why ? why : "libcuda.so.1 does not open");
		return;
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *address = dlsym(library, symbols[i].name);
		if (!address && !symbols[i].optional) {
			(void)snprintf(why_not, sizeof(why_not),
				       "the NVIDIA driver is too old: it has no %s",
				       symbols[i].name);
			return;
		}
		memcpy((char *)&driver + symbols[i].place, &address, sizeof(address));
	}
	cuda_result result = driver.cuInit(0);
	if (result != CUDA_OK)
		(void)snprintf(why_not, sizeof(why_not),
			       "the NVIDIA driver does not start in this program: error %d",
			       result);
}

const struct cuda_driver *cuda_driver_get(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)pthread_once(&once, cuda_driver_load);
	if (!why_not[0])
		return &driver;
	error_note(SYCL_ERROR_FEATURE_NOT_SUPPORTED, 0, "%s", why_not);
	return NULL;
}

bool cuda_driver_has_graphs(const struct cuda_driver *cuda)
{
	int version = 0;
	return cuda->cuDriverGetVersion && cuda->cuDriverGetVersion(&version) == CUDA_OK &&
	       version >= CUDA_GRAPH_VERSION && cuda->cuGraphCreate && cuda->cuGraphDestroy &&
	       cuda->cuGraphGetNodes && cuda->cuGraphInstantiateWithFlags &&
	       cuda->cuGraphExecDestroy && cuda->cuGraphLaunch && cuda->cuStreamIsCapturing &&
	       cuda->cuStreamEndCapture;
}

void cuda_driver_exchange_mode(const struct cuda_driver *cuda, int *mode)
{
	if (cuda->cuThreadExchangeStreamCaptureMode)
		(void)cuda->cuThreadExchangeStreamCaptureMode(mode);
}

static void cuda_driver_note(sycl_result code, cuda_result result, const char *what)
{
	struct failure failure = {
		.code = code, .native_code = result, .backend = SYCL_BACKEND_KIND_CUDA};
	(void)snprintf(failure.text, sizeof(failure.text),
		       "%s: the NVIDIA driver of this program says %d", what, result);
	error_note_failure(&failure);
}

sycl_result cuda_driver_error(cuda_result result, const char *what)
{
	enum { OUT_OF_MEMORY = 2 };
	sycl_result code =
		result == OUT_OF_MEMORY ? SYCL_ERROR_MEMORY_ALLOCATION : SYCL_ERROR_RUNTIME;
	cuda_driver_note(code, result, what);
	return code;
}
