/* OpenCL: PoCL on a machine without a GPU. The kernels are written in the portable form. */
#include "target.h"

static const char source[] =
	"SYCL_KERNEL void fill_u32(SYCL_GLOBAL(uint32_t) dst, uint32_t value)\n"
	"{ dst[sycl_global_linear_id()] = value; }\n"
	"SYCL_KERNEL void linear_id_u32(SYCL_GLOBAL(uint32_t) dst)\n"
	"{ dst[sycl_global_linear_id()] = (uint32_t)sycl_global_linear_id(); }\n"
	"SYCL_KERNEL void increment_u32(SYCL_GLOBAL(uint32_t) dst)\n"
	"{ dst[sycl_global_linear_id()] += 1; }\n"
	"SYCL_KERNEL void add_u32(SYCL_GLOBAL(uint32_t) dst, SYCL_GLOBAL(const uint32_t) src)\n"
	"{ dst[sycl_global_linear_id()] += src[sycl_global_linear_id()]; }\n"
	"SYCL_KERNEL void copy_u32(SYCL_GLOBAL(uint32_t) dst, SYCL_GLOBAL(const uint32_t) src)\n"
	"{ dst[sycl_global_linear_id()] = src[sycl_global_linear_id()]; }\n"
	"SYCL_KERNEL void mix_u32(SYCL_GLOBAL(uint32_t) dst, SYCL_GLOBAL(const uint32_t) src, uint32_t value)\n"
	"{ ulong i = sycl_global_linear_id(); dst[i] = dst[i] * 31 + src[i] + value; }\n";

const struct conformance_target conformance_target = {
	.ops = &backend_opencl_ops,
	.source_kind = BACKEND_SOURCE_PORTABLE,
	.source = source,
	.has_offsets = true,
};
