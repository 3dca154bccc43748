#include "fake_cuda/double.h"

#include <dlfcn.h>
#include <string.h>

void driver_command(struct driver *driver, const char *line)
{
	cr_assert_eq(driver->control->command(line), 0, "%s", line);
}

static void look_up(struct driver *driver)
{
	fake_cuda_control_function *control;
	void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	cr_assert_not_null(library, "%s", dlerror());
	void *symbol = dlsym(library, FAKE_CUDA_CONTROL_SYMBOL);
	memcpy(&control, &symbol, sizeof(control));
	symbol = dlsym(library, "cuGetProcAddress_v2");
	memcpy(&driver->find, &symbol, sizeof(driver->find));
	cr_assert(control && driver->find);
	driver->control = control();
#define DOUBLE_FIND(name, version)                                                                 \
	OK(driver->find(#name, (void **)&driver->cu.name, version, 0, NULL));
	DOUBLE_FUNCTIONS(DOUBLE_FIND)
#undef DOUBLE_FIND
}

void driver_open(struct driver *driver)
{
	*driver = (struct driver){.context = NULL};
	look_up(driver);
	OK(driver->cu.cuInit(0));
	OK(driver->cu.cuDevicePrimaryCtxRetain(&driver->context, 0));
	OK(driver->cu.cuCtxSetCurrent(driver->context));
	OK(driver->cu.cuStreamCreateWithPriority(&driver->stream, CU_STREAM_NON_BLOCKING, 0));
}

CUmodule driver_load(struct driver *driver, const char *ptx)
{
	char log[2048] = "";
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)sizeof(log)};
	CUmodule module = NULL;

	cr_assert_eq(driver->cu.cuModuleLoadDataEx(&module, ptx, 2, options, values), CUDA_SUCCESS,
		     "%s\n%s", log, ptx);
	return module;
}

CUfunction driver_function(struct driver *driver, CUmodule module, const char *name)
{
	CUfunction function = NULL;

	OK(driver->cu.cuModuleGetFunction(&function, module, name));
	OK(driver->cu.cuFuncLoad(function));
	return function;
}

CUdeviceptr driver_memory(struct driver *driver, size_t bytes)
{
	CUdeviceptr address = 0;

	OK(driver->cu.cuMemAllocAsync(&address, bytes, driver->stream));
	return address;
}

CUresult driver_run(struct driver *driver, CUfunction function, unsigned threads, unsigned shared,
		    void **parameters)
{
	CUresult result = driver->cu.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, shared,
						    driver->stream, parameters, NULL);

	return result == CUDA_SUCCESS ? driver->cu.cuStreamSynchronize(driver->stream) : result;
}

void driver_read(struct driver *driver, CUdeviceptr from, void *to, size_t bytes)
{
	OK(driver->cu.cuMemcpyDtoHAsync(to, from, bytes, driver->stream));
	OK(driver->cu.cuStreamSynchronize(driver->stream));
}

uint64_t driver_count(const struct driver *driver, const char *what)
{
	return driver->control->count(what);
}
