/*
 * A command group that is refused has failed: the data that it would have written is poisoned (M9).
 */
#include "access_mode.h"
#include "group/check.h"
#include "session/session.h"

/* One refusal poisons so many parts one by one. Beyond them it poisons whole buffers, each once. */
#define PARTS_MAX 16384u

/* NULL: there is no buffer of that id, or it has failed or was released. */
static struct buffer *poison_find_buffer(const struct group_poisoning *poisoning, uint64_t id)
{
	struct object *object = object_id_type(id) == OBJECT_BUFFER
					? object_table_find(&poisoning->session->objects, id)
					: NULL;
	struct buffer *buffer = (struct buffer *)object;
	return buffer && !object->failed && !object->released && buffer->sched ? buffer : NULL;
}

void group_poisoning_add(struct group_poisoning *poisoning, const Sycl__V1__Requirement *message)
{
	struct task_requirement requirement = {.mode = message->mode,
					       .offset_bytes = message->offset_bytes,
					       .size_bytes = message->size_bytes,
					       .order_offset_bytes = message->order_offset_bytes,
					       .order_size_bytes = message->order_size_bytes};
	struct backend_fault unused;
	if (!access_mode_valid(message->mode) || !access_mode_writes(message->mode))
		return;
	struct buffer *buffer = poison_find_buffer(poisoning, message->buffer);
	/* A part outside of the buffer may be the reason why the group was refused. */
	if (!buffer || group_check_ranges(&requirement, buffer->size_bytes, &unused) != 0)
		return;
	if (poisoning->whole || poisoning->parts > PARTS_MAX) {
		if (buffer->stamp == poisoning->stamp)
			return;
		buffer->stamp = poisoning->stamp;
		requirement.offset_bytes = 0;
		requirement.size_bytes = buffer->size_bytes;
	}
	poisoning->parts += 1 + sched_buffer_poison(buffer->sched, requirement.offset_bytes,
						    requirement.size_bytes, poisoning->cause);
}

struct group_poisoning group_poisoning_begin(struct session *session,
					     const struct backend_fault *fault, bool whole)
{
	return (struct group_poisoning){.session = session,
					.cause = sched_poison_create(fault),
					.stamp = ++session->engine->stamp,
					.whole = whole};
}

void group_poisoning_end(const struct group_poisoning *poisoning)
{
	poisoning->session->record_cost += poisoning->parts / 16;
	sched_poison_free(poisoning->cause);
}

void group_poison(struct session *session, const Sycl__V1__CommandGroup *message,
		  const struct backend_fault *fault)
{
	struct group_poisoning poisoning = group_poisoning_begin(session, fault, false);
	for (size_t i = 0; i < message->n_requirements && i < REQUIREMENTS_MAX; i++)
		group_poisoning_add(&poisoning, message->requirements[i]);
	group_poisoning_end(&poisoning);
}
