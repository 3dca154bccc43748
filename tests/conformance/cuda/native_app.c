#include "cuda/native.h"

#include <dlfcn.h>

void *app_symbol(const char *name)
{
	static void *library;

	if (!library)
		library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(library, "%s", dlerror());
	void *symbol = dlsym(library, name);
	cr_assert_not_null(symbol, "%s", name);
	return symbol;
}

CUcontext app_context(CUdevice device)
{
	CUcontext context = NULL, popped = NULL;

	APP_MUST(APP(cuInit)(0));
	APP_MUST(APP(cuCtxCreate)(&context, NULL, 0, device));
	APP_MUST(APP(cuCtxPopCurrent)(&popped));
	return context;
}

CUstream app_stream(CUcontext context)
{
	CUcontext popped = NULL;
	CUstream stream = NULL;

	APP_MUST(APP(cuCtxPushCurrent)(context));
	APP_MUST(APP(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
	APP_MUST(APP(cuCtxPopCurrent)(&popped));
	return stream;
}

void app_end_stream(CUcontext context, CUstream stream)
{
	CUcontext popped = NULL;

	APP_MUST(APP(cuCtxPushCurrent)(context));
	APP_MUST(APP(cuStreamSynchronize)(stream));
	APP_MUST(APP(cuStreamDestroy)(stream));
	APP_MUST(APP(cuCtxPopCurrent)(&popped));
}
