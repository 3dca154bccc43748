#include "cuda/opencl_support.h"

#include "cuda/translate/tools.h"

static void skip_without_tools(bool needs_spirv)
{
	struct cuda_tools tools;
	struct backend_fault fault = {0};

	if (cuda_tools_find(NULL, 90, needs_spirv, &tools, &fault) < 0)
		cr_skip_test("%s", fault.text);
}

void opencl_skip_without_clang(void)
{
	skip_without_tools(false);
}

void opencl_skip_without_spirv(void)
{
	skip_without_tools(true);
}

void opencl_open(struct run *run, const char *source, const char *options, const char *name)
{
	opencl_skip_without_clang();
	run_open(run, BACKEND_SOURCE_OPENCL_C, source, options, name);
}
