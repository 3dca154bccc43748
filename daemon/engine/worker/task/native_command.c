/*
 * Native commands (K6 - K12): a function of the application sends work to the lane. The backend
 * calls it through call(), on the device's thread, so that the call is recorded here. The function
 * must be called once, however the task ends.
 */
#include "worker/task/native_command.h"

#include "scheduler/public/task.h"
#include "scheduler/state/task.h"

struct sched_native_command {
	backend_native_function *function;
	void *context;
	bool called, failed; /* device thread, until the task comes back */
	uint32_t count;
	struct sched_memory **memories; /* of the requirements; NULL: no bytes */
	struct backend_memory **handles;
};

static size_t align_storage(size_t bytes)
{
	return (bytes + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);
}

size_t worker_native_command_storage(const struct task_request *request)
{
	return align_storage(sizeof(struct sched_native_command)) +
	       align_storage(request->requirement_count * sizeof(struct sched_memory *)) +
	       align_storage(request->requirement_count * sizeof(struct backend_memory *));
}

static int call_native_function(void *context, const struct backend_native_scope *scope)
{
	struct sched_native_command *native = context;
	native->called = true;
	int result = native->function(native->context, scope);
	native->failed = result != 0;
	return result;
}

struct sched_memory **worker_native_command_fill(struct task_command *command,
						 const struct task_request *request, uint8_t *at)
{
	uint32_t count = request->requirement_count;
	struct sched_native_command *native = (struct sched_native_command *)(void *)at;
	at += align_storage(sizeof(*native));
	*native = (struct sched_native_command){
		.function = request->native.function,
		.context = request->native.context,
		.count = count,
		.memories = (struct sched_memory **)(void *)at,
	};
	at += align_storage(count * sizeof(struct sched_memory *));
	native->handles = (struct backend_memory **)(void *)at;
	command->native_command = native;
	struct backend_command *backend = &command->backend;
	backend->kind = BACKEND_COMMAND_NATIVE;
	backend->native.function = call_native_function;
	backend->native.context = native;
	backend->native.memories = native->handles;
	backend->native.memory_count = count;
	return native->memories;
}

bool worker_native_command_failed(const struct task_command *command)
{
	return command->native_command && command->native_command->failed;
}

void worker_native_command_end(struct task_command *command)
{
	struct sched_native_command *native = command->native_command;
	if (native && !native->called)
		(void)native->function(native->context, NULL);
	command->native_command = NULL;
}

bool worker_native_command_has(const struct sched_native_command *native, uint32_t index,
			       struct sched_memory **memory_out)
{
	if (index >= native->count)
		return false;
	*memory_out = native->memories[index];
	return true;
}

void worker_native_command_set_handle(struct sched_native_command *native, uint32_t index,
				      struct backend_memory *handle)
{
	native->handles[index] = handle;
}
