/* Boxes on fake devices: plain loops over ordinary memory, with checks of their own. */
#include "fake_internal.h"

#include "backend_rect.h"

const struct backend_rect *fake_rect_of(const struct backend_command *command)
{
	if (command->kind == BACKEND_COMMAND_COPY)
		return command->copy.rect;
	if (command->kind == BACKEND_COMMAND_WRITE || command->kind == BACKEND_COMMAND_READ)
		return command->transfer.rect;
	return NULL;
}

void fake_rect_keep(struct fake_command *copy)
{
	const struct backend_rect *rect = fake_rect_of(&copy->command);
	if (!rect)
		return;
	copy->rect = *rect;
	if (copy->command.kind == BACKEND_COMMAND_COPY)
		copy->command.copy.rect = &copy->rect;
	else
		copy->command.transfer.rect = &copy->rect;
}

static uint64_t rest_of(const struct backend_memory *memory, uint64_t offset)
{
	return memory && offset <= memory->size_bytes ? memory->size_bytes - offset : 0;
}

static bool rect_good(const struct backend_command *c, struct copy_box *box_out)
{
	uint64_t bytes = 0;
	if (c->kind == BACKEND_COMMAND_COPY)
		return backend_rect_good(
			       c->copy.rect, rest_of(c->copy.source, c->copy.source_offset_bytes),
			       rest_of(c->copy.destination, c->copy.destination_offset_bytes),
			       box_out) &&
		       copy_box_bytes(box_out, &bytes) && bytes == c->copy.size_bytes &&
		       (c->copy.source != c->copy.destination ||
			!copy_box_overlaps(box_out, c->copy.source_offset_bytes,
					   c->copy.destination_offset_bytes));
	bool writes = c->kind == BACKEND_COMMAND_WRITE;
	uint64_t rest = rest_of(c->transfer.memory, c->transfer.offset_bytes);
	return backend_rect_good(c->transfer.rect, writes ? UINT64_MAX : rest,
				 writes ? rest : UINT64_MAX, box_out) &&
	       copy_box_bytes(box_out, &bytes) && bytes == c->transfer.size_bytes;
}

bool fake_rect_good(const struct backend_command *c)
{
	struct copy_box box;
	return rect_good(c, &box);
}

void fake_rect_run(const struct backend_command *c)
{
	struct copy_box box;
	if (!rect_good(c, &box))
		return;
	if (c->kind == BACKEND_COMMAND_COPY)
		copy_box_move(&box, c->copy.destination->data + c->copy.destination_offset_bytes,
			      c->copy.source->data + c->copy.source_offset_bytes);
	else if (c->kind == BACKEND_COMMAND_WRITE)
		copy_box_move(&box, c->transfer.memory->data + c->transfer.offset_bytes,
			      c->transfer.host);
	else
		copy_box_move(&box, c->transfer.host,
			      c->transfer.memory->data + c->transfer.offset_bytes);
}
