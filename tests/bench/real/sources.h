/*
 * The portable form for compilers that do not have it, limited to what the kernels of these
 * programs use: one dimension, arrays in local memory, one barrier, one atomic.
 */
#ifndef SYCL_BENCH_REAL_SOURCES_H
#define SYCL_BENCH_REAL_SOURCES_H

#define LAYER_CUDA_PRELUDE                                                                         \
	"typedef unsigned int uint;\n"                                                             \
	"#define SYCL_KERNEL extern \"C\" __global__\n"                                            \
	"#define SYCL_GLOBAL(type) type *\n"                                                       \
	"#define SYCL_LOCAL_ARRAY(type, name, count) __shared__ type name[count]\n"                \
	"#define sycl_global_id(d) (blockIdx.x * blockDim.x + threadIdx.x)\n"                      \
	"#define sycl_local_id(d) threadIdx.x\n"                                                   \
	"#define sycl_group_id(d) blockIdx.x\n"                                                    \
	"#define sycl_group_barrier() __syncthreads()\n"                                           \
	"#define sycl_atomic_add(p, v) atomicAdd(p, v)\n"

#define LAYER_OPENCL_PRELUDE                                                                       \
	"#define SYCL_KERNEL kernel\n"                                                             \
	"#define SYCL_GLOBAL(type) global type *\n"                                                \
	"#define SYCL_LOCAL_ARRAY(type, name, count) local type name[count]\n"                     \
	"#define sycl_global_id(d) get_global_id(d)\n"                                             \
	"#define sycl_local_id(d) get_local_id(d)\n"                                               \
	"#define sycl_group_id(d) get_group_id(d)\n"                                               \
	"#define sycl_group_barrier() barrier(CLK_LOCAL_MEM_FENCE)\n"                              \
	"#define sycl_atomic_add(p, v) atomic_add(p, v)\n"

#endif
