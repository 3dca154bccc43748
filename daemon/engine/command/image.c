/* Images: objects of type buffer with a description. One-way, as all creation. */
#include "image_format.h"
#include "command/command.h"

#include <inttypes.h>
#include <string.h>

int image_read(uint32_t format, bool is_layered, size_t dimensions, const uint64_t *size,
	       struct backend_image *image_out, uint64_t *bytes_out, struct backend_fault *fault)
{
	struct backend_image image = {.format = (enum backend_image_format)format,
				      .dimensions = (uint32_t)dimensions,
				      .is_layered = is_layered};
	if (!image_format_find(format))
		return fault_set(fault, STATUS_INVALID, "there is no image format %u", format);
	if (dimensions < 1 || dimensions > 3)
		return fault_set(fault, STATUS_INVALID, "an image has 1 to 3 dimensions, not %zu",
				 dimensions);
	if (is_layered && dimensions < 2)
		return fault_set(
			fault, STATUS_INVALID,
			"a layered image has 2 or 3 dimensions, the first one counts layers");
	memcpy(image.size, size, dimensions * sizeof(*image.size));
	if (image_bytes(format, is_layered, image.dimensions, image.size, bytes_out) < 0)
		return fault_set(fault, STATUS_INVALID,
				 "a dimension of an image has 1 to %u pixels", IMAGE_SIZE_MAX);
	*image_out = image;
	return 0;
}

static int create_image(struct session *session, struct buffer *buffer,
			const Sycl__V1__ImageCreate *message, struct backend_fault *fault)
{
	struct backend_image image = {.dimensions = 0};
	struct arena *arena;
	uint64_t bytes = 0;
	void *host;
	if (image_read(message->format, message->layered, message->n_size, message->size, &image,
		       &bytes, fault) ||
	    buffer_admit(session, bytes, bytes, message->range, &arena, &host, fault))
		return 1;
	int r = sched_buffer_create_image(session->engine->scheduler, &image, bytes, host,
					  message->initialised, buffer, &buffer->sched);
	if (r < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "an image of %" PRIu64 " bytes could not be made: %s", bytes,
				 strerror(-r));
	buffer->image = image;
	buffer_settle(buffer, bytes, bytes, arena);
	return 0;
}

int command_image_create(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__ImageCreate *message = command->image_create;
	struct buffer *buffer;
	struct backend_fault fault;
	int r = object_new(session, message->image, OBJECT_BUFFER, 0, &buffer);
	if (r != 0)
		return r < 0 ? r : 0;
	if (create_image(session, buffer, message, &fault))
		object_fail(&buffer->object, 0, &fault);
	return 0;
}
