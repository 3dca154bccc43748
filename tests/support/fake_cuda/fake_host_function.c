/* Host functions. They are called in the order of their stream, and never after a fault. */
#include "fake.h"

#include <stdlib.h>

struct call_op {
	struct fake_op op;
	CUhostFn function;
	void *argument;
};

/* The real driver calls all of them on one thread. None of them may wait for an operation of a
 * stream. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void call_run(struct fake_op *base, struct CUstream_st *stream)
{
	struct call_op *op = (struct call_op *)base;

	(void)stream;
	(void)pthread_mutex_lock(&one_at_a_time);
	op->function(op->argument);
	(void)pthread_mutex_unlock(&one_at_a_time);
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *argument)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	struct call_op *op = calloc(1, sizeof(*op));
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*op = (struct call_op){
		.op = {.name = "host", .may_wait = true, .calls_host = true, .run = call_run},
		.function = function,
		.argument = argument};
	fake_stream_add(stream, &op->op);
	return CUDA_SUCCESS;
}
