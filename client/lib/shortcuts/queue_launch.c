/* A launch in one call: a handler on the stack, without a handle, because the program never has it.
 */
#include "submit/repeat.h"
#include "submit/submit.h"

#include <string.h>

static sycl_result launch_set_accessor(struct handler *handler, uint32_t index,
				       const struct sycl_launch_argument *argument)
{
	PIN(buffer, buffer, argument->buffer);
	uint64_t bytes = argument->size_bytes;
	if (bytes == SYCL_REST_BYTES && argument->offset_bytes <= buffer->size_bytes)
		bytes = buffer->size_bytes - argument->offset_bytes;
	return handler_set_accessor(handler, HANDLER_ARGUMENT_ACCESSOR, index, &buffer,
				    (sycl_access_mode)argument->mode, argument->offset_bytes,
				    bytes);
}

static sycl_result launch_set_argument(struct handler *handler, uint32_t index,
				       const struct sycl_launch_argument *argument)
{
	if (argument->reserved)
		return error_set(SYCL_ERROR_INVALID, "argument %u: its reserved member is not 0",
				 index);
	switch (argument->kind) {
	case SYCL_LAUNCH_VALUE:
		return handler_set_value(handler, index, argument->size_bytes, argument->pointer);
	case SYCL_LAUNCH_ACCESSOR:
		return launch_set_accessor(handler, index, argument);
	case SYCL_LAUNCH_LOCAL:
		return handler_set_local(handler, index, argument->size_bytes);
	case SYCL_LAUNCH_USM:
		return handler_set_usm(handler, index, argument->pointer);
	default:
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u: %d is no kind of argument", index, argument->kind);
	}
}

static sycl_result add_dependency(struct handler *handler, sycl_event handle)
{
	PIN(event, event, handle);
	return handler_add_dependency(handler, event);
}

static sycl_result launch_build(struct handler *handler, const struct sycl_launch *launch)
{
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < launch->argument_count && !result; i++)
		result = launch_set_argument(handler, i, &launch->arguments[i]);
	for (uint32_t i = 0; i < launch->depends_on_count && !result; i++)
		result = add_dependency(handler, launch->depends_on[i]);
	if (result)
		return result;
	PIN(kernel, kernel, launch->kernel);
	return handler_set_launch(handler, &kernel, &launch->global,
				  launch->local.dimensions ? &launch->local : NULL);
}

static sycl_result launch_check(const struct sycl_launch *launch)
{
	if (launch->struct_bytes != sizeof(*launch) || launch->reserved)
		return error_set(
			SYCL_ERROR_INVALID,
			"launch: struct_bytes or reserved is wrong; start from SYCL_LAUNCH_INIT");
	if (launch->argument_count && !launch->arguments)
		return error_set(SYCL_ERROR_INVALID, "a list of %u arguments is NULL",
				 launch->argument_count);
	if (launch->depends_on_count && !launch->depends_on)
		return error_set(SYCL_ERROR_INVALID, "a list of %u events is NULL",
				 launch->depends_on_count);
	return SYCL_SUCCESS;
}

/* What a kernel's parameter is, by the name of its type as compilers write it. */
static sycl_value_type launch_type_of(const struct kernel_argument *argument)
{
	static const char *const integers[] = {"char",          "uchar",
					       "unsigned char", "short",
					       "ushort",        "unsigned short",
					       "int",           "uint",
					       "unsigned int",  "long",
					       "ulong",         "unsigned long",
					       "long long",     "unsigned long long",
					       "signed char"};
	const char *name = argument->type_name ? argument->type_name : "";
	if (!strcmp(name, "float") || !strcmp(name, "double"))
		return SYCL_VALUE_FLOATING;
	for (size_t i = 0; i < sizeof(integers) / sizeof(*integers); i++)
		if (!strcmp(name, integers[i]))
			return SYCL_VALUE_INTEGER;
	return SYCL_VALUE_UNTYPED;
}

/* In checking mode. An integer that is passed as a float has the right size, so nothing else would
 * find it. */
static sycl_result launch_check_types(const struct queue *queue, const struct sycl_launch *launch)
{
	static const char *const names[] = {"another", "an integer", "a floating-point"};
	PIN(kernel, kernel, launch->kernel);
	const struct kernel *there = kernel_on(kernel, queue->device);
	for (uint32_t i = 0; there && i < launch->argument_count && i < there->argument_count;
	     i++) {
		const struct sycl_launch_argument *given = &launch->arguments[i];
		sycl_value_type wanted = launch_type_of(&there->arguments[i]);
		if (given->kind != SYCL_LAUNCH_VALUE || wanted == SYCL_VALUE_UNTYPED ||
		    (given->mode != SYCL_VALUE_INTEGER && given->mode != SYCL_VALUE_FLOATING) ||
		    given->mode == (int32_t)wanted)
			continue;
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u of kernel '%.64s' is of the type %s, but %s value "
				 "was set",
				 i, there->name, there->arguments[i].type_name, names[given->mode]);
	}
	return SYCL_SUCCESS;
}

/* A function of its own, since the handler takes much of the stack. */
__attribute__((noinline)) static sycl_result
launch_write_new(struct queue *queue, const struct sycl_launch *launch, sycl_event *event_out)
{
	struct handler handler;
	handler_init(&handler, queue);
	handler.launch = launch;
	sycl_result result = launch_build(&handler, launch);
	if (!result)
		result = handler_submit(&handler, queue, event_out);
	handler_fini(&handler);
	return result;
}

SYCL_API sycl_result sycl_queue_launch(sycl_queue queue_handle, const struct sycl_launch *launch,
				       sycl_event *event_out)
{
	PIN(queue, queue, queue_handle);
	if (!launch)
		return error_set(SYCL_ERROR_INVALID, "launch is NULL");
	sycl_result result = launch_check(launch);
	if (!result)
		result = remote_check(&queue->line->remote);
	if (!result && queue->object.connection->check)
		result = launch_check_types(queue, launch);
	if (!result && !repeat_launch(queue, launch, event_out))
		result = launch_write_new(queue, launch, event_out);
	return result;
}
