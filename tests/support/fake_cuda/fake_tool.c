/* What a tool sees of this double. */
#include "fake.h"

#include <time.h>

static _Atomic(const struct fake_cuda_tool *) attached;
static __thread uint32_t own_call;

void fake_cuda_attach_tool(const struct fake_cuda_tool *tool)
{
	atomic_store(&attached, tool);
}

void fake_tool_call(unsigned function)
{
	const struct fake_cuda_tool *tool = atomic_load(&attached);
	own_call = tool ? tool->call(function) : 0;
}

uint32_t fake_tool_own_call(void)
{
	const uint32_t call = own_call;
	own_call = 0;
	return call;
}

uint64_t fake_tool_now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void fake_tool_kernel(uint32_t call, uint64_t start_ns)
{
	const struct fake_cuda_tool *tool = atomic_load(&attached);
	if (tool && call != 0)
		tool->kernel(call, start_ns, fake_tool_now_ns());
}
