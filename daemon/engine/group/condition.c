/* IF and WHILE nodes of graphs: finds the word of 32 bits that a node tests (R4). */
#include "protocol_limits.h"
#include "base/range_check.h"
#include "group/check.h"
#include "session/session.h"

#include "access_mode.h"

#include <inttypes.h>

#define WORD_BYTES 4u

static int check_word_of_buffer(const struct group_scratch *scratch,
				const Sycl__V1__GraphCondition *condition,
				struct task_request *request, struct backend_fault *fault)
{
	if (condition->requirement >= request->requirement_count)
		return fault_set(fault, STATUS_INVALID,
				 "there is no requirement %u; the group has %u",
				 condition->requirement, request->requirement_count);
	const struct task_requirement *requirement = &scratch->requirements[condition->requirement];
	uint64_t offset = condition->offset_bytes, begin = requirement->offset_bytes;
	if (!(requirement->mode & ACCESS_READ_BIT))
		return fault_set(fault, STATUS_ACCESSOR, "a condition needs a mode that reads");
	if (offset % WORD_BYTES != 0 || offset < begin ||
	    !range_inside(offset - begin, WORD_BYTES, requirement->size_bytes))
		return fault_set(fault, STATUS_INVALID,
				 "a condition's word at %" PRIu64
				 " is not inside of what is required, or no multiple of %u",
				 offset, WORD_BYTES);
	request->condition.requirement = (int32_t)condition->requirement;
	request->condition.offset_bytes = offset;
	return group_check_no_image(scratch->buffers[condition->requirement], fault);
}

int group_check_condition(struct session *session, const struct queue *queue,
			  const Sycl__V1__CommandGroup *group, struct task_request *request,
			  struct backend_fault *fault)
{
	const Sycl__V1__GraphCondition *condition = group->graph_condition;
	request->action = TASK_CONDITION;
	request->what = "condition";
	request->condition.repeats =
		condition->kind == SYCL__V1__GRAPH_CONDITION_KIND__GRAPH_CONDITION_KIND_WHILE;
	request->condition.body_nodes = condition->body_nodes;
	if (!condition->usm_address)
		return check_word_of_buffer(&session->engine->scratch, condition, request, fault);
	if (condition->usm_address % WORD_BYTES != 0)
		return fault_set(fault, STATUS_INVALID,
				 "a condition's word at %#" PRIx64 " is not at a multiple of %u",
				 condition->usm_address, WORD_BYTES);
	request->condition.requirement = -1;
	return group_check_usm_word(session, queue, condition->usm_address, WORD_BYTES,
				    "a condition", &request->condition.usm, fault);
}
