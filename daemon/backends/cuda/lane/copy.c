/*
 * Small copies by a kernel of the backend. Behind a kernel a copy engine begins, and the next
 * command behind it goes on, some microseconds later than another kernel does. A kernel also goes
 * with the launches before and behind it as one chain. Registered host memory is reached at its
 * address on the device. A large copy is better off with a copy engine: it leaves the
 * multiprocessors to others.
 */
#include "cuda/lane/lane.h"
#include "cuda/memory/state.h"

#include <errno.h>
#include <string.h>

#define UNIT_BYTES  16u /* bytes that a work-item copies at once, if both addresses allow it */
#define WORD_BYTES  4u  /* if they allow only this; else single bytes */
#define ITEMS_LEAST 32u /* above the number of bytes before the first unit or behind the last */
#define ITEMS_MOST  256u
#define GROUPS_MOST 1024u /* with more bytes, each work-item copies several times */
/* Estimated time of a copy: a launch, and the bytes over the slowest bus of today. */
#define LAUNCH_NS    2000u
#define BYTES_PER_NS 16u

struct ends {
	struct backend_memory *memories[2]; /* the second may be NULL */
	CUdeviceptr to, from;
	uint64_t bytes;
	bool is_to_host;
};

static bool lane_copy_is_inside(const struct backend_device *on,
				const struct backend_memory *memory, uint64_t offset,
				uint64_t size_bytes)
{
	return memory && !memory->array && memory->device == on && offset <= memory->size_bytes &&
	       size_bytes <= memory->size_bytes - offset;
}

static bool find_transfer(struct backend_device *on, const struct backend_command *command,
			  struct ends *ends_out)
{
	struct backend_memory *memory = command->transfer.memory;
	const uint64_t offset = command->transfer.offset_bytes,
		       bytes = command->transfer.size_bytes;

	if (command->transfer.rect || !lane_copy_is_inside(on, memory, offset, bytes))
		return false;
	const CUdeviceptr host = cuda_host_address(on, command->transfer.host, bytes);
	const CUdeviceptr device = memory->address + offset;
	const bool is_to_host = command->kind == BACKEND_COMMAND_READ;
	*ends_out = (struct ends){
		.memories = {memory},
		.to = is_to_host ? host : device,
		.from = is_to_host ? device : host,
		.bytes = bytes,
		.is_to_host = is_to_host,
	};
	return host != 0;
}

static bool find_copy(const struct backend_device *on, const struct backend_command *command,
		      struct ends *ends_out)
{
	struct backend_memory *source = command->copy.source,
			      *destination = command->copy.destination;
	const uint64_t bytes = command->copy.size_bytes;

	if (command->copy.rect ||
	    !lane_copy_is_inside(on, source, command->copy.source_offset_bytes, bytes) ||
	    !lane_copy_is_inside(on, destination, command->copy.destination_offset_bytes, bytes))
		return false;
	*ends_out = (struct ends){
		.memories = {source, destination},
		.to = destination->address + command->copy.destination_offset_bytes,
		.from = source->address + command->copy.source_offset_bytes,
		.bytes = bytes,
	};
	const uint64_t distance = ends_out->to < ends_out->from ? ends_out->from - ends_out->to
								: ends_out->to - ends_out->from;
	return distance >= bytes;
}

/* Finds both addresses. False: the driver's copy must refuse the command, or is faster. */
static bool copy_find_ends(struct backend_device *on, const struct backend_command *command,
			   struct ends *ends_out)
{
	const bool is_found = command->kind == BACKEND_COMMAND_COPY
				      ? find_copy(on, command, ends_out)
				      : find_transfer(on, command, ends_out);

	return is_found && ends_out->bytes > 0 &&
	       ends_out->bytes <= on->backend->settings.copy_kernel_bytes;
}

static uint64_t copy_unit_bytes(const struct ends *ends)
{
	const uint64_t difference = ends->to ^ ends->from;

	return difference % UNIT_BYTES == 0   ? UNIT_BYTES
	       : difference % WORD_BYTES == 0 ? WORD_BYTES
					      : 1;
}

static void add_parameter(struct cuda_collected *collected, const void *value, uint32_t bytes)
{
	struct cuda_launch *launch = &collected->launch;
	unsigned char *place = collected->storage + launch->parameter_bytes;

	memcpy(place, value, bytes);
	collected->parameters[launch->parameter_count++] = place;
	launch->parameter_bytes += bytes;
}

static void fill_launch(const struct backend_device *on, const struct ends *ends,
			struct cuda_collected *collected)
{
	const uint64_t unit = copy_unit_bytes(ends), units = (ends->bytes + unit - 1) / unit;
	const uint64_t items = units <= ITEMS_LEAST ? ITEMS_LEAST : ITEMS_MOST;
	const uint64_t groups = (units + items - 1) / items;
	const uint32_t fence = ends->is_to_host;

	collected->kernel = NULL;
	collected->copy_ns = LAUNCH_NS + (uint32_t)(ends->bytes / BYTES_PER_NS);
	collected->launch = (struct cuda_launch){
		.function = on->lanes->copy,
		.grid = {(unsigned)(groups < GROUPS_MOST ? groups : GROUPS_MOST), 1, 1},
		.block = {(unsigned)items, 1, 1},
		.parameters = collected->parameters,
		.waits = on->lanes->copy_waits,
	};
	add_parameter(collected, &ends->to, sizeof(ends->to));
	add_parameter(collected, &ends->from, sizeof(ends->from));
	add_parameter(collected, &ends->bytes, sizeof(ends->bytes));
	add_parameter(collected, &fence, sizeof(fence));
}

int cuda_copy_prepare(struct backend_lane *lane, const struct backend_command *command,
		      struct cuda_collected *collected, struct backend_fault *fault_out)
{
	struct ends ends;
	int error = 0;

	if (!lane->device->lanes->copy || !copy_find_ends(lane->device, command, &ends))
		return -EAGAIN;
	for (uint32_t i = 0; error == 0 && i < 2; i++)
		if (ends.memories[i])
			error = cuda_memory_settle(lane, ends.memories[i], fault_out);
	if (error == 0)
		fill_launch(lane->device, &ends, collected);
	return error;
}

bool cuda_copy_prepare_read(struct backend_device *device, const struct backend_command *command,
			    struct cuda_collected *collected)
{
	struct ends ends;

	if (!device->lanes->copy || !copy_find_ends(device, command, &ends) ||
	    !cuda_memory_is_settled(command->transfer.memory))
		return false;
	fill_launch(device, &ends, collected);
	return true;
}
