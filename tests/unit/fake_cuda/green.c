/* Green contexts of the double: which splits it makes and refuses, and where kernels run. */
#include "fake_cuda/double.h"

#include <string.h>

TestSuite(cuda_double_green, .timeout = 30);

/* The multiprocessor of each block. */
static const char where_ptx[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".visible .entry where(.param .u64 .ptr .global .align 4 to)\n{\n"
	"\t.reg .b32 %r<3>;\n\t.reg .b64 %p<3>;\n"
	"\tld.param.u64 %p1, [to]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %p2, %r1, 4; add.u64 %p1, %p1, %p2;\n"
	"\tmov.u32 %r2, %smid; st.global.u32 [%p1], %r2;\n\tret;\n}\n";

static CUresult split(struct driver *driver, unsigned least, CUdevResource *few,
		      CUdevResource *rest, unsigned *groups)
{
	CUdevResource all;

	OK(driver->cu.cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
	cr_assert_eq(all.sm.smCount, 132);
	*groups = 1;
	return driver->cu.cuDevSmResourceSplitByCount(few, groups, &all, rest, 0, least);
}

Test(cuda_double_green, splits_are_of_eight_and_multiples_and_none_is_split_again)
{
	static const unsigned wanted[][2] = {{0, 8},   {1, 8},     {8, 8},    {9, 16},
					     {16, 16}, {100, 104}, {128, 128}};
	struct driver driver;
	CUdevResource few, rest, more;
	unsigned groups;

	driver_open(&driver);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		OK(split(&driver, wanted[i][0], &few, &rest, &groups));
		cr_assert_eq(groups, 1);
		cr_assert_eq(few.sm.smCount, wanted[i][1]);
		cr_assert_eq(rest.sm.smCount, 132 - wanted[i][1]);
	}
	cr_assert_eq(split(&driver, 133, &few, &rest, &groups), CUDA_ERROR_INVALID_VALUE);
	cr_assert_eq(split(&driver, 129, &few, &rest, &groups),
		     CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
	cr_assert_eq(driver_count(&driver, "misuse"), 0);
	OK(split(&driver, 16, &few, &rest, &groups));
	cr_assert_eq(driver.cu.cuDevSmResourceSplitByCount(&more, &groups, &rest, NULL, 0, 8),
		     CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
	cr_assert_eq(driver_count(&driver, "misuse"), 1);
}

Test(cuda_double_green, flags_are_needed_and_streams_go_before_their_context)
{
	struct driver driver;
	CUdevResource few, rest, nothing;
	CUdevResourceDesc description;
	CUgreenCtx context = NULL;
	CUstream stream = NULL;
	unsigned groups;

	driver_open(&driver);
	OK(split(&driver, 8, &few, &rest, &groups));
	memset(&nothing, 0, sizeof(nothing));
	cr_assert_eq(driver.cu.cuDevResourceGenerateDesc(&description, &nothing, 1),
		     CUDA_ERROR_INVALID_RESOURCE_TYPE);
	OK(driver.cu.cuDevResourceGenerateDesc(&description, &few, 1));
	cr_assert_eq(driver.cu.cuGreenCtxCreate(&context, description, 0, 0),
		     CUDA_ERROR_INVALID_VALUE);
	OK(driver.cu.cuGreenCtxCreate(&context, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
	cr_assert_eq(driver.cu.cuGreenCtxStreamCreate(&stream, context, CU_STREAM_DEFAULT, 0),
		     CUDA_ERROR_INVALID_VALUE);
	OK(driver.cu.cuGreenCtxStreamCreate(&stream, context, CU_STREAM_NON_BLOCKING, -4));
	cr_assert_eq(driver_count(&driver, "misuse"), 0);
	OK(driver.cu.cuGreenCtxDestroy(context));
	cr_assert_eq(driver_count(&driver, "misuse"), 1);
	cr_assert_neq(driver.cu.cuStreamSynchronize(stream), CUDA_SUCCESS);
	cr_assert_eq(driver.cu.cuGreenCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
	cr_assert_eq(driver_count(&driver, "green_contexts"), 0);
}

Test(cuda_double_green, kernels_run_on_the_multiprocessors_of_their_stream)
{
	enum { BLOCKS = 300 };
	struct driver driver;
	CUdevResource parts[2];
	CUdevResourceDesc description;
	CUgreenCtx context;
	CUstream stream;
	unsigned groups;
	static uint32_t where[BLOCKS];

	driver_open(&driver);
	CUfunction function = driver_function(&driver, driver_load(&driver, where_ptx), "where");
	CUdeviceptr memory = driver_memory(&driver, sizeof(where));
	void *parameters[] = {&memory};
	OK(driver.cu.cuStreamSynchronize(
		driver.stream)); /* from here on other streams have the memory */
	OK(split(&driver, 16, &parts[0], &parts[1], &groups));
	for (unsigned i = 0; i < 2; i++) {
		OK(driver.cu.cuDevResourceGenerateDesc(&description, &parts[i], 1));
		OK(driver.cu.cuGreenCtxCreate(&context, description, 0,
					      CU_GREEN_CTX_DEFAULT_STREAM));
		OK(driver.cu.cuGreenCtxStreamCreate(&stream, context, CU_STREAM_NON_BLOCKING, 0));
		OK(driver.cu.cuLaunchKernel(function, BLOCKS, 1, 1, 1, 1, 1, 0, stream, parameters,
					    NULL));
		OK(driver.cu.cuStreamSynchronize(stream));
		driver_read(&driver, memory, where, sizeof(where));
		for (unsigned block = 0; block < BLOCKS; block++)
			cr_assert_eq(where[block] < 16, i == 0, "block %u on %u", block,
				     where[block]);
		OK(driver.cu.cuStreamDestroy(stream));
		OK(driver.cu.cuGreenCtxDestroy(context));
	}
	cr_assert_eq(driver_count(&driver, "misuse"), 0);
}
