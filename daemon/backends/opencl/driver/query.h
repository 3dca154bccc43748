/* Queries with a default: if a driver does not support a parameter, the query does not fail. */
#ifndef SYCL_BACKENDS_OPENCL_QUERY_H
#define SYCL_BACKENDS_OPENCL_QUERY_H

#include "opencl/driver/library.h"

/* malloc'ed and the caller's; "" if the driver gives no text, NULL only without memory. */
char *opencl_platform_text(const struct opencl_library *cl, cl_platform_id platform,
			   cl_platform_info parameter);
char *opencl_device_text(const struct opencl_library *cl, cl_device_id device,
			 cl_device_info parameter);

/* 0 if the driver gives no value. */
uint32_t opencl_device_uint(const struct opencl_library *cl, cl_device_id device,
			    cl_device_info parameter);
uint64_t opencl_device_ulong(const struct opencl_library *cl, cl_device_id device,
			     cl_device_info parameter);
size_t opencl_device_size(const struct opencl_library *cl, cl_device_id device,
			  cl_device_info parameter);

#endif
