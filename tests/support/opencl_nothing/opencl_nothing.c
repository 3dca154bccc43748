/*
 * An OpenCL loader that has every function and finds no driver, for tests of what happens then. It
 * has the loader's name, so a program that opened it already gets it again when it requests that. A
 * real loader without drivers needs none of this, but not every one lets its drivers be hidden.
 */
#include "opencl/driver/library.h"

/* The code that all of them give: CL_PLATFORM_NOT_FOUND_KHR. */
#define NO_PLATFORM (-1001)

#define DEFINE(name)                                                                               \
	__attribute__((visibility("default"))) int nothing_##name(void) __asm__("cl" #name);       \
	int nothing_##name(void)                                                                   \
	{                                                                                          \
		return NO_PLATFORM;                                                                \
	}
OPENCL_FUNCTIONS(DEFINE)
DEFINE(CreateCommandQueueWithProperties)
