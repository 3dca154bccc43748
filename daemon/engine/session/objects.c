#include "session/objects.h"
#include "session/hooks.h"
#include "session/session.h"

#include <string.h>

static int object_quota_fault(const struct session *session, struct backend_fault *fault)
{
	return fault_set(fault, STATUS_QUOTA, "a session may have at most %u objects",
			 session->objects.limit);
}

static void object_answer_failure(struct session *session, uint64_t id, uint64_t number,
				  const struct backend_fault *fault)
{
	if (number)
		reply_status(session, number, id, fault);
	else
		reply_object_failed(session, id, fault);
}

/* A client may use the index of a failed object again without a release. */
static void object_forget_failed(struct session *session, uint64_t id)
{
	struct object *old = object_table_at(&session->objects, object_id_index(id));
	if (!old || !old->failed || old->released ||
	    object_id_generation(id) <= object_id_generation(old->id))
		return;
	old->silent = true;
	object_release(old);
}

static const struct object_kind *session_object_kind(const struct session *session,
						     enum object_type type)
{
	return &session->engine->hooks->object_kinds[type];
}

int object_new(struct session *session, uint64_t id, enum object_type type, uint64_t number,
	       void *object_out)
{
	struct object *object = calloc(1, session_object_kind(session, type)->bytes);
	int r = -ENOMEM;
	if (object) {
		object_forget_failed(session, id);
		r = object_table_insert(&session->objects, id, type, object);
	}
	if (r == 0) {
		*object = (struct object){
			.session = session, .id = id, .type = type, .references = 1};
		memcpy(object_out, &object, sizeof(struct object *));
		return 0;
	}
	free(object);
	if (r == -EPROTO)
		return session_violation(session, "%016llx cannot be the id of a new %s",
					 (unsigned long long)id, object_type_name(type));
	struct backend_fault fault;
	if (r == -EDQUOT)
		(void)object_quota_fault(session, &fault);
	else
		(void)fault_set(&fault, STATUS_MEMORY_ALLOCATION,
				"the engine has no memory for a new %s", object_type_name(type));
	object_answer_failure(session, id, number, &fault);
	return 1;
}

void object_fail(struct object *object, uint64_t number, const struct backend_fault *fault)
{
	object->failed = true;
	session_objects_change(object->session);
	object->fault = malloc(sizeof(*object->fault));
	if (object->fault)
		*object->fault = *fault;
	object_answer_failure(object->session, object->id, number, fault);
}

int object_get(struct session *session, uint64_t id, enum object_type type, void *object_out,
	       struct backend_fault *fault)
{
	struct object *object = NULL;
	if (object_id_type(id) == type && object_id_generation(id) != 0) {
		object = object_table_find(&session->objects, id);
		if (!object && object_id_index(id) >= session->objects.limit) {
			memcpy(object_out, &object, sizeof(struct object *));
			return object_quota_fault(session, fault);
		}
	}
	if (!object || object->released)
		return session_violation(session, "%016llx names no %s of this session",
					 (unsigned long long)id, object_type_name(type));
	memcpy(object_out, &object, sizeof(struct object *));
	if (!object->failed)
		return 0;
	if (object->fault)
		*fault = *object->fault;
	else
		(void)fault_set(fault, STATUS_MEMORY_ALLOCATION, "the %s could not be made",
				object_type_name(type));
	return 1;
}

struct object *object_ref(struct object *object)
{
	object->references++;
	return object;
}

void object_unref(struct object *object)
{
	while (object && --object->references == 0) {
		struct session *session = object->session;
		const struct object_kind *kind = session_object_kind(session, object->type);
		struct object *parent = kind->end ? kind->end(object) : NULL;
		object_table_remove(&session->objects, object->id);
		if (!object->silent)
			reply_released(session, object->id);
		free(object->fault);
		free(object);
		object = parent;
	}
}

void object_release(struct object *object)
{
	object->released = true;
	/* Host accessors are left out, because no group names them, and a program may have one for
	 * each read. */
	if (object->type != OBJECT_HOST_ACCESSOR)
		session_objects_change(object->session);
	object->session->graph_releases += object->in_graph;
	const struct object_kind *kind = session_object_kind(object->session, object->type);
	if (kind->release)
		kind->release(object);
	object_unref(object);
}

void objects_release_all(struct session *session)
{
	for (uint32_t index = 0; index < session->objects.capacity; index++) {
		struct object *object = object_table_at(&session->objects, index);
		if (object && !object->released)
			object_release(object);
	}
}
