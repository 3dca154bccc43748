/*
 * An OpenCL loader that has every function and finds no driver, for tests of that case. It has the
 * loader's name, so a program that has opened it gets it again when it opens the loader. Not every
 * real loader lets its drivers be hidden, so the tests do not use one.
 */
#include "opencl/driver/library.h"

/* All functions return this code: CL_PLATFORM_NOT_FOUND_KHR. */
#define NO_PLATFORM (-1001)

#define DEFINE(name)                                                                               \
	__attribute__((visibility("default"))) int nothing_##name(void) __asm__("cl" #name);       \
	int nothing_##name(void)                                                                   \
	{                                                                                          \
		return NO_PLATFORM;                                                                \
	}
OPENCL_FUNCTIONS(DEFINE)
DEFINE(CreateCommandQueueWithProperties)
