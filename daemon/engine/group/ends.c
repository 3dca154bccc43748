/* Checks the ends of copies and fills: a part of a requirement, or memory of the host. */
#include "access_mode.h"
#include "base/range_check.h"
#include "group/check.h"
#include "session/session.h"
#include "session/shares.h"

#include <inttypes.h>

int group_check_place(const struct group_scratch *scratch, const struct task_request *request,
		      uint32_t index, uint64_t offset, uint64_t size, uint32_t needed_bit,
		      struct backend_fault *fault)
{
	if (index >= request->requirement_count)
		return fault_set(fault, STATUS_INVALID,
				 "there is no requirement %u; the group has %u", index,
				 request->requirement_count);
	const struct task_requirement *requirement = &scratch->requirements[index];
	if (!(requirement->mode & needed_bit))
		return fault_set(fault, STATUS_ACCESSOR,
				 "the access mode of requirement %u does not allow it to be %s",
				 index, needed_bit == ACCESS_READ_BIT ? "read" : "written");
	if (offset < requirement->offset_bytes ||
	    !range_inside(offset - requirement->offset_bytes, size, requirement->size_bytes))
		return fault_set(fault, STATUS_INVALID,
				 "%" PRIu64 " bytes at %" PRIu64 " are not inside requirement %u",
				 size, offset, index);
	return 0;
}

int group_check_fill_pattern(uint64_t size_bytes, size_t pattern_bytes, struct backend_fault *fault)
{
	if (pattern_bytes == 0 || pattern_bytes > FILL_PATTERN_BYTES_MAX)
		return fault_set(fault, STATUS_INVALID,
				 "a fill's pattern has 1 to %u bytes, not %zu",
				 FILL_PATTERN_BYTES_MAX, pattern_bytes);
	if (size_bytes % pattern_bytes != 0)
		return fault_set(fault, STATUS_INVALID,
				 "%" PRIu64 " bytes are no multiple of the pattern's %zu",
				 size_bytes, pattern_bytes);
	return 0;
}

/* An end in host memory: a range of an arena, or USM. */
static int group_check_host_end(struct session *session, const struct queue *queue,
				const Sycl__V1__MemoryEnd *message, uint64_t size,
				struct task_request *request, struct backend_fault *fault)
{
	bool is_usm = message->place_case == SYCL__V1__MEMORY_END__PLACE_USM_ADDRESS;
	if (!is_usm && message->place_case != SYCL__V1__MEMORY_END__PLACE_ARENA)
		return fault_set(fault, STATUS_INVALID, "an end of the copy is missing");
	if (is_usm && !(session->features & FEATURE_USM_ENDS))
		return session_violation(
			session,
			"an end of a copy is USM, but the session did not agree on USM there");
	if (message->offset_bytes)
		return fault_set(fault, STATUS_INVALID,
				 "an offset belongs to a buffer, not to memory of the host");
	return is_usm ? group_check_usm_host(session, queue, message->usm_address, size,
					     "an end of the copy", &request->copy.host, fault)
		      : session_arena_range(session, message->arena, size, 1,
					    &session->engine->scratch.arena, &request->copy.host,
					    fault);
}

int group_transfer_check_end(struct session *session, const struct queue *queue,
			     const Sycl__V1__MemoryEnd *message, uint64_t size, uint32_t needed_bit,
			     struct task_request *request, int32_t *index_out, uint64_t *offset_out,
			     struct backend_fault *fault)
{
	struct group_scratch *scratch = &session->engine->scratch;
	if (!message)
		return fault_set(fault, STATUS_INVALID, "an end of the copy is missing");
	if (message->place_case == SYCL__V1__MEMORY_END__PLACE_REQUIREMENT) {
		int r = group_check_place(scratch, request, message->requirement,
					  message->offset_bytes, size, needed_bit, fault);
		if (r != 0)
			return r;
		*index_out = (int32_t)message->requirement;
		*offset_out = message->offset_bytes;
		return 0;
	}
	*index_out = -1;
	*offset_out = 0;
	return group_check_host_end(session, queue, message, size, request, fault);
}
