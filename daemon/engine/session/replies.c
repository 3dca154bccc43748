#include "session/session.h"

#include <string.h>

void status_fill(const struct session *session, Sycl__V1__Status *status, uint64_t object,
		 const struct backend_fault *fault)
{
	const struct object *about = object_table_find(&session->objects, object);
	sycl__v1__status__init(status);
	status->code = fault->status;
	status->text = (char *)(uintptr_t)fault->text;
	status->object = object;
	status->native_code = fault->native_code;
	status->backend = about ? about->backend : 0;
}

void reply_done(struct session *session, uint64_t number)
{
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = number;
	session_reply(session, &reply);
}

void reply_status(struct session *session, uint64_t number, uint64_t object,
		  const struct backend_fault *fault)
{
	Sycl__V1__Status status;
	status_fill(session, &status, object, fault);
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = number;
	reply.status = &status;
	session_reply(session, &reply);
}

void reply_object_failed(struct session *session, uint64_t object,
			 const struct backend_fault *fault)
{
	Sycl__V1__Status status;
	status_fill(session, &status, object, fault);
	Sycl__V1__ObjectFailed failed = SYCL__V1__OBJECT_FAILED__INIT;
	failed.object = object;
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.status = &status;
	reply.body_case = SYCL__V1__REPLY__BODY_OBJECT_FAILED;
	reply.object_failed = &failed;
	session_reply(session, &reply);
}

void reply_group_failed(struct session *session, uint64_t queue, uint64_t group,
			const struct backend_fault *fault)
{
	Sycl__V1__Status status;
	status_fill(session, &status, queue, fault);
	Sycl__V1__GroupFailed failed = SYCL__V1__GROUP_FAILED__INIT;
	failed.queue = queue;
	failed.group = group;
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.status = &status;
	reply.body_case = SYCL__V1__REPLY__BODY_GROUP_FAILED;
	reply.group_failed = &failed;
	session_reply(session, &reply);
}

/* In parts that fit into records. */
void reply_output(struct session *session, const char *text, size_t bytes, bool is_cut)
{
	if (!(session->features & FEATURE_OUTPUT))
		return;
	while (bytes > 0 || is_cut) {
		size_t part = bytes < OUTPUT_PART_BYTES_MAX ? bytes : OUTPUT_PART_BYTES_MAX;
		Sycl__V1__Output output = SYCL__V1__OUTPUT__INIT;
		output.text = (ProtobufCBinaryData){part, (uint8_t *)(uintptr_t)text};
		output.is_cut = is_cut && part == bytes;
		Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
		reply.body_case = SYCL__V1__REPLY__BODY_OUTPUT;
		reply.output = &output;
		session_reply(session, &reply);
		if (part == bytes)
			return;
		text += part;
		bytes -= part;
	}
}

void reply_released(struct session *session, uint64_t object)
{
	const struct flat_message reply = {
		.body = SYCL__V1__REPLY__BODY_RELEASED, .fields = 1, .values = {object}};
	session_reply_flat(session, &reply);
}
