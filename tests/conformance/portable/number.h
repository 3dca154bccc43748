/* Results of portable kernels that were compiled for several types. */
#ifndef SYCL_TESTS_PORTABLE_NUMBER_H
#define SYCL_TESTS_PORTABLE_NUMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Reads one result of this OpenCL C type. */
static inline double portable_number_at(const char *type, const void *bytes, size_t at)
{
	if (strcmp(type, "float") == 0)
		return (double)((const float *)bytes)[at];
	if (strcmp(type, "double") == 0)
		return ((const double *)bytes)[at];
	if (strcmp(type, "int") == 0)
		return ((const int32_t *)bytes)[at];
	if (strcmp(type, "uint") == 0)
		return ((const uint32_t *)bytes)[at];
	return (double)((const int64_t *)bytes)[at]; /* small and positive if it is unsigned */
}

#endif
