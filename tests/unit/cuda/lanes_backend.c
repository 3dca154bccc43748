/* The functions of the rest of the backend that the lanes call. */
#include "cuda/lanes_driver.h"

#include "cuda/clock/device_clock.h"
#include "cuda/graph/graph.h"
#include "cuda/lane/native_command.h"
#include "cuda/memory/array.h"
#include "cuda/memory/peer.h"
#include "cuda/memory/state.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

int cuda_enter(struct backend_device *device, struct backend_fault *fault_out)
{
	(void)device;
	(void)fault_out;
	return 0;
}

/* Its storage has only values here, which are the same each time. */
void cuda_kernel_repeat(const struct backend_kernel *kernel, const struct backend_command *command,
			size_t value_bytes_behind, const unsigned char *from,
			void *const *from_parameters, unsigned char *to, void **to_parameters)
{
	(void)command;
	(void)value_bytes_behind;
	(void)from_parameters;
	(void)to_parameters;
	memcpy(to, from, kernel->parameter_bytes);
}

int cuda_kernel_prepare(struct backend_kernel *kernel, const struct backend_command *command,
			void *storage, size_t storage_bytes, void **parameters,
			uint32_t parameters_max, struct cuda_launch *launch_out,
			struct backend_fault *fault_out)
{
	(void)command;
	(void)parameters_max;
	if (kernel->id < 0)
		return cuda_fault_words(fault_out, -EINVAL, -6, "a bad argument");
	if (kernel->parameter_bytes > storage_bytes)
		return cuda_fault_words(fault_out, -ENOSPC, -1, "no room");
	memset(storage, kernel->argument, kernel->parameter_bytes);
	*launch_out = (struct cuda_launch){
		.parameter_bytes = kernel->parameter_bytes,
		.function = (CUfunction)(void *)kernel,
		.grid = {kernel->items ? kernel->items : 1, 1, 1},
		.block = {1, 1, 1},
		.parameters = parameters,
		.cooperative = kernel->cooperative,
	};
	return 0;
}

void cuda_kernel_hold(struct backend_kernel *kernel)
{
	kernel->holds++;
}

struct backend_program *cuda_kernel_code(const struct backend_kernel *kernel)
{
	return kernel->code;
}

void cuda_code_keep(struct backend_program *program)
{
	program->holds++;
	program->kept++;
}

void cuda_code_release(struct backend_program *program)
{
	if (!program)
		return;
	program->holds--;
	program->kept--;
}

bool cuda_code_is_abandoned(const struct backend_program *program)
{
	return program->holds == program->kept;
}

struct cuda_pace *cuda_kernel_pace(struct backend_kernel *kernel)
{
	return &kernel->pace;
}

void cuda_kernel_free(struct backend_kernel *kernel)
{
	kernel->holds--;
}

bool cuda_memory_is_settled(const struct backend_memory *memory)
{
	(void)memory;
	return true;
}

int cuda_memory_settle(struct backend_lane *lane, struct backend_memory *memory,
		       struct backend_fault *fault_out)
{
	(void)lane;
	(void)memory;
	(void)fault_out;
	return 0;
}

/* No kernel here has checks. */
uint64_t *cuda_checked_words(const struct backend_device *device)
{
	(void)device;
	return NULL;
}

void cuda_kernel_check_fault(const struct backend_kernel *kernel, const uint64_t *words,
			     uint32_t dimensions, struct backend_fault *fault_out)
{
	(void)kernel;
	(void)words;
	(void)dimensions;
	(void)fault_out;
}

int cuda_memory_create(struct backend_device *device, uint64_t size_bytes, void *host,
		       enum backend_export_kind export_kind, struct backend_memory **memory_out,
		       struct backend_fault *fault_out)
{
	(void)device;
	(void)size_bytes;
	(void)host;
	(void)export_kind;
	(void)memory_out;
	return cuda_no_memory(fault_out, "a memory");
}

void cuda_memory_free(struct backend_memory *memory)
{
	(void)memory;
}

uint64_t cuda_usm_rest(struct backend_device *device, const void *pointer)
{
	(void)device;
	(void)pointer;
	return 0;
}

CUdeviceptr cuda_host_address(struct backend_device *device, const void *host, uint64_t size_bytes)
{
	(void)device;
	(void)size_bytes;
	return (CUdeviceptr)(uintptr_t)host;
}

int cuda_texture_settle(struct backend_lane *lane, const struct backend_argument *argument,
			struct backend_fault *fault_out)
{
	(void)lane;
	(void)argument;
	(void)fault_out;
	return 0;
}

int cuda_transfer_enqueue(struct backend_lane *lane, const struct backend_command *command,
			  struct cuda_finish **finish_out, struct backend_fault *fault_out)
{
	if (command->transfer.size_bytes == 0)
		return cuda_fault_words(fault_out, -EINVAL, -8, "a transfer that is refused");
	driver_put(lane->stream, 1000 + (int)command->kind);
	if (command->kind == BACKEND_COMMAND_READ)
		*finish_out =
			(struct cuda_finish *)(void *)&driver; /* something that is not NULL */
	return 0;
}

int cuda_event_enqueue(struct backend_lane *lane, const struct backend_command *command,
		       struct backend_fault *fault_out)
{
	(void)fault_out;
	driver_put(lane->stream, 1000 + (int)command->kind);
	return 0;
}

int cuda_native_memories(struct backend_lane *lane, const struct backend_command *command,
			 struct cuda_native_memories *memories_out, struct backend_fault *fault_out)
{
	(void)lane;
	(void)command;
	(void)memories_out;
	(void)fault_out;
	return 0;
}

void cuda_native_memories_free(struct cuda_native_memories *memories)
{
	(void)memories;
}

int cuda_native_call(struct backend_lane *lane, const struct backend_command *command,
		     const struct cuda_native_memories *memories, struct backend_fault *fault_out)
{
	(void)memories;
	driver_put(lane->stream, 1000 + (int)command->kind);
	return command->native.function(command->native.context, NULL) == 0
		       ? 0
		       : cuda_fault_words(fault_out, -EIO, -1, "a function that fails");
}

int cuda_graph_launch(const struct cuda_lane_state *state, struct backend_graph *graph,
		      uint32_t value, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &state->lane->device->backend->library;

	(void)graph;
	(void)fault_out;
	driver_put(state->lane->stream, 1000 + (int)BACKEND_COMMAND_GRAPH);
	(void)cu->cuStreamWriteValue32(state->lane->stream, state->word_device, value, 0);
	return 0;
}

uint32_t cuda_graph_node_count(const struct backend_graph *graph)
{
	return graph->count;
}

void cuda_finish_run(struct cuda_finish *finish)
{
	cr_assert_not_null(finish);
	driver.finished++;
}

uint32_t cuda_finish_pieces(const struct cuda_finish *finish)
{
	(void)finish;
	return 1;
}

bool cuda_finish_is_sent(const struct cuda_finish *finish)
{
	(void)finish;
	return driver.rest == 0;
}

CUresult cuda_finish_send(struct backend_lane *lane, struct cuda_finish *finish, bool all)
{
	(void)finish;
	driver.rest = all ? 0 : driver.rest - 1;
	driver_put(lane->stream, 2000 + (int)driver.rest);
	return driver.dead;
}

uint32_t cuda_peer_operations(struct backend_device *destination,
			      const struct backend_command *command)
{
	(void)destination;
	(void)command;
	return 1;
}

bool cuda_usm_is_reached(struct backend_device *device, const void *pointer, uint64_t size_bytes)
{
	(void)device;
	(void)pointer;
	(void)size_bytes;
	return true;
}

int cuda_clock_prepare(struct backend_device *device, struct backend_fault *fault_out)
{
	(void)device;
	(void)fault_out;
	return 0;
}
