/*
 * The application's own calls of the driver, beside a backend under test: with the double, or with
 * this machine's driver.
 */
#ifndef SYCL_TESTS_CONFORMANCE_CUDA_NATIVE_H
#define SYCL_TESTS_CONFORMANCE_CUDA_NATIVE_H

#include "cuda/double.h"

#include <criterion/criterion.h>
#include <cuda.h>
#include <string.h>

/* Returns a function of the double by its name. */
void *app_symbol(const char *name);
#define APP_TEXT(name) #name
#define APP_NAME(name) APP_TEXT(name)
/* APP(cuCtxCreate)(...): cuda.h adds a version to names, which is a part of the symbol. */
#define APP(name)      ((__typeof__(&(name)))app_symbol(APP_NAME(name)))
#define APP_MUST(call) cr_assert_eq((call), CUDA_SUCCESS, "%s", #call)

/* Makes a context of the application, not current anywhere; and a stream in it, or in any other. */
CUcontext app_context(CUdevice device);
CUstream app_stream(CUcontext context);
void app_end_stream(CUcontext context, CUstream stream);

static inline uint64_t native_number(const void *handle)
{
	return (uintptr_t)handle;
}

#endif
