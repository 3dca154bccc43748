#include "opencl/lane/graph.h"

#include "backend_rect.h"
#include "opencl/driver/fault.h"
#include "opencl/memory/image.h"
#include "opencl/program/kernel.h"
#include "status.h"

#include <errno.h>
#include <string.h>

static int invalid_node(struct backend_fault *fault_out, const char *what)
{
	opencl_fault_words(fault_out, STATUS_INVALID, "%s", what);
	return -EINVAL;
}

int opencl_node_refuse(struct backend_fault *fault_out, const char *what)
{
	opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
			   "%s cannot be a node of a graph", what);
	return -EOPNOTSUPP;
}

/* Creates the kernel again: a driver may read the arguments in the kernel's object only when the
 * buffer runs. */
static int make_launch(const struct backend_command *command, struct opencl_node *node,
		       struct backend_fault *fault_out)
{
	const struct backend_kernel *kernel = command->launch.kernel;

	int error = opencl_geometry_make(kernel, command, &node->geometry, fault_out);
	if (error == 0)
		error = opencl_kernel_create(kernel->program, kernel->name, &node->kernel,
					     fault_out);
	if (error < 0)
		return error;
	node->kind = OPENCL_NODE_LAUNCH;
	return opencl_kernel_prepare(node->kernel, command->launch.dimensions,
				     command->launch.arguments, command->launch.argument_count,
				     &node->prepared, fault_out);
}

static void make_box(struct opencl_node *node, const struct copy_box *box, uint64_t from,
		     uint64_t to)
{
	node->kind = OPENCL_NODE_COPY;
	node->is_box = box->rows > 1 || box->slices > 1;
	node->size = box->width_bytes;
	node->box = (struct opencl_command_box){
		.source_origin = {from, 0, 0},
		.destination_origin = {to, 0, 0},
		.region = {box->width_bytes, box->rows, box->slices},
		.source_row_pitch = box->source.row_bytes,
		.source_slice_pitch = box->source.slice_bytes,
		.destination_row_pitch = box->destination.row_bytes,
		.destination_slice_pitch = box->destination.slice_bytes,
	};
}

/* Within one buffer, OpenCL requires the same pitches, and treats as overlapping some boxes that do
 * not overlap (driver/rect.c). */
static int make_copy(const struct backend_command *command, struct opencl_node *node,
		     struct backend_fault *fault_out)
{
	const struct backend_memory *source = command->copy.source,
				    *destination = command->copy.destination;
	const uint64_t from = command->copy.source_offset_bytes,
		       to = command->copy.destination_offset_bytes;
	const uint64_t size = command->copy.size_bytes;
	const struct copy_box piece = {.width_bytes = size, .rows = 1, .slices = 1};
	struct copy_box box;

	if (!source || !destination || from > source->size_bytes || to > destination->size_bytes)
		return invalid_node(fault_out, "the range is not inside of its memory");
	if (size == 0)
		return 0;
	if (command->copy.rect) {
		if (!backend_rect_good(command->copy.rect, opencl_memory_rest(source, from),
				       opencl_memory_rest(destination, to), &box))
			return invalid_node(fault_out, "the box is not inside of its memory");
	} else {
		box = copy_box_simplify(&piece);
		if (size > opencl_memory_rest(source, from) ||
		    size > opencl_memory_rest(destination, to))
			return invalid_node(fault_out, "the range is not inside of its memory");
	}
	if (source == destination && copy_box_overlaps(&box, from, to))
		return invalid_node(fault_out,
				    "the source and the destination of the copy overlap");
	if (source == destination && box.rows > 1)
		return opencl_node_refuse(fault_out, "a box that is moved inside of its buffer");
	node->source = source->buffer;
	node->destination = destination->buffer;
	make_box(node, &box, from, to);
	return 0;
}

static int make_fill(const struct backend_command *command, struct opencl_node *node,
		     struct backend_fault *fault_out)
{
	const size_t pattern = command->fill.pattern_bytes;
	const uint64_t offset = command->fill.offset_bytes, size = command->fill.size_bytes;

	if (pattern == 0 || pattern > FILL_PATTERN_BYTES_MAX ||
	    size > opencl_memory_rest(command->fill.memory, offset))
		return invalid_node(fault_out,
				    "the fill is not inside of its memory, or has no pattern");
	if (size == 0)
		return 0;
	if ((pattern & (pattern - 1)) != 0 || offset % pattern != 0 || size % pattern != 0)
		return opencl_node_refuse(fault_out,
					  "a fill with a pattern of such a size, or there,");
	node->kind = OPENCL_NODE_FILL;
	node->destination = command->fill.memory->buffer;
	node->offset = offset;
	node->size = size;
	node->pattern_bytes = pattern;
	memcpy(node->pattern, command->fill.pattern, pattern);
	return 0;
}

/* Command buffers have no commands for host memory. On a device that uses the host's memory, a
 * buffer is made of the host memory while the graph lives. */
static int make_transfer(struct backend_device *device, const struct backend_command *command,
			 struct opencl_node *node, struct backend_fault *fault_out)
{
	const struct backend_memory *memory = command->transfer.memory;
	const uint64_t offset = command->transfer.offset_bytes, size = command->transfer.size_bytes;
	const uint64_t rest = opencl_memory_rest(memory, offset);
	const bool writes = command->kind == BACKEND_COMMAND_WRITE;
	const struct copy_box piece = {.width_bytes = size, .rows = 1, .slices = 1};
	struct copy_box box;
	uint64_t span = 0;
	cl_int code = CL_SUCCESS;

	if (!memory || offset > memory->size_bytes)
		return invalid_node(fault_out, "the range is not inside of its memory");
	if (size == 0)
		return 0;
	if (command->transfer.rect
		    ? !backend_rect_good(command->transfer.rect, writes ? UINT64_MAX : rest,
					 writes ? rest : UINT64_MAX, &box)
		    : size > rest)
		return invalid_node(fault_out, "the range is not inside of its memory");
	if (!command->transfer.rect && memory->host &&
	    memory->host + offset == command->transfer.host)
		return 0; /* the bytes are in place already */
	if (!device->facts->host_unified_memory)
		return opencl_node_refuse(fault_out, "a transfer from or to host memory");
	if (!command->transfer.rect)
		box = copy_box_simplify(&piece);
	if (!copy_box_span(&box, writes ? &box.source : &box.destination, &span))
		return invalid_node(fault_out, "the rows of the box overlap");
	cl_mem host =
		device->cl->CreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
					 span, command->transfer.host, &code);
	if (!host)
		return opencl_fault_code(fault_out, code, "reach host memory");
	node->source = writes ? host : memory->buffer;
	node->destination = writes ? memory->buffer : host;
	node->owns_source = writes;
	node->owns_destination = !writes;
	make_box(node, &box, writes ? 0 : offset, writes ? offset : 0);
	return 0;
}

int opencl_node_make(struct backend_device *device, const struct backend_command *command,
		     struct opencl_node *node_out, struct backend_fault *fault_out)
{
	struct opencl_node node = {.kind = OPENCL_NODE_EMPTY};
	int error;

	if (opencl_image_is_meant(command))
		return opencl_node_refuse(fault_out, "the transfer of an image");
	switch (command->kind) {
	case BACKEND_COMMAND_NOP:
		error = 0;
		break;
	case BACKEND_COMMAND_LAUNCH:
		error = make_launch(command, &node, fault_out);
		break;
	case BACKEND_COMMAND_COPY:
		error = make_copy(command, &node, fault_out);
		break;
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		error = make_transfer(device, command, &node, fault_out);
		break;
	case BACKEND_COMMAND_FILL:
		error = make_fill(command, &node, fault_out);
		break;
	default:
		return opencl_node_refuse(fault_out, "such a command");
	}
	if (error < 0)
		opencl_node_clear(device, &node);
	else
		*node_out = node;
	return error;
}

int opencl_node_copy(const struct backend_device *device, const struct opencl_node *node,
		     struct opencl_node *copy_out)
{
	if (node->kind == OPENCL_NODE_NATIVE)
		return -EOPNOTSUPP;
	struct opencl_node copy = *node;
	if (copy.kernel)
		copy.kernel->references++;
	if (copy.owns_source)
		(void)device->cl->RetainMemObject(copy.source);
	if (copy.owns_destination)
		(void)device->cl->RetainMemObject(copy.destination);
	*copy_out = copy;
	return 0;
}

void opencl_node_clear(const struct backend_device *device, struct opencl_node *node)
{
	if (node->kernel && node->kernel->references == 1)
		opencl_kernel_drop_temporaries(node->kernel);
	opencl_kernel_drop(node->kernel);
	if (node->owns_source)
		(void)device->cl->ReleaseMemObject(node->source);
	if (node->owns_destination)
		(void)device->cl->ReleaseMemObject(node->destination);
	*node = (struct opencl_node){.kind = OPENCL_NODE_EMPTY};
}
