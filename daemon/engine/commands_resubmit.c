/* Shapes of command groups that a session keeps here, and groups that come again by them. */
#include "session.h"
#include "resubmit.h"
#include "shape.h"
#include "stage_clock.h"

#include <string.h>

static int check_agreed(struct session *session)
{
	if (session->features & FEATURE_RESUBMIT)
		return 0;
	return session_violation(session, "record %llu has to do with shapes, which were not agreed on",
				 (unsigned long long)session->record);
}

static int check_number(struct session *session, uint32_t number)
{
	if (number == 0 || number > SHAPES_MAX)
		return session_violation(session, "%u is no shape: they go from 1 to %u", number, SHAPES_MAX);
	return 0;
}

int command_define_shape(struct session *session, const Sycl__V1__CommandGroup *message)
{
	int r = check_agreed(session);
	if (r == 0)
		r = check_number(session, message->shape);
	if (r < 0)
		return r;
	struct shape *shape;
	r = shape_create(message, &shape);
	if (r == -EPROTO)
		return session_violation(session, "shape %u is no launch without images, or has more than a shape may have",
					 message->shape);
	if (r < 0) {
		session_fail(session, STATUS_MEMORY_ALLOCATION, "the engine has no memory for a shape");
		return r;
	}
	(void)shape_free(session->shapes[message->shape - 1]);
	session->shapes[message->shape - 1] = shape;
	return 0;
}

int command_resubmit(struct session *session, const void *bytes, uint32_t count)
{
	struct resubmit_record head;
	int r = check_agreed(session);
	if (r < 0)
		return r;
	if (count < sizeof(head))
		return session_violation(session, "record %llu resubmits with %u bytes, and %zu are the least",
					 (unsigned long long)session->record, count, sizeof(head));
	memcpy(&head, bytes, sizeof(head));
	STAGE_MARK(head.group, STAGE_TAKEN);
	r = check_number(session, head.shape);
	if (r < 0)
		return r;
	struct shape *shape = session->shapes[head.shape - 1];
	if (!shape || shape_generation(shape) != head.generation)
		return session_violation(session, "shape %u of generation %u is not defined", head.shape, head.generation);
	const Sycl__V1__CommandGroup *group;
	if (shape_apply(shape, bytes, count, &group) < 0)
		return session_violation(session, "record %llu does not fit shape %u",
					 (unsigned long long)session->record, head.shape);
	/* One for a queue that could not be made is not submitted at all. */
	uint64_t before = session->usage.groups_submitted;
	r = command_group(session, group);
	session->usage.groups_resubmitted += session->usage.groups_submitted - before;
	return r;
}

void session_shapes_free(struct session *session)
{
	for (uint32_t i = 0; i < SHAPES_MAX; i++)
		session->shapes[i] = shape_free(session->shapes[i]);
}
