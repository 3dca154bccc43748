/* Object ids, their types' names, and status codes. */
#include "object_id.h"
#include "status.h"

#include <errno.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(object_ids, .timeout = 10);

Test(object_ids, the_three_parts_come_back)
{
	static const uint32_t indices[] = {0, 1, 65535, 0x80000000u, UINT32_MAX};
	static const uint32_t generations[] = {1, 2, 0x800000, 0xffffff};
	for (unsigned i = 0; i < 5; i++) {
		for (unsigned g = 0; g < 4; g++) {
			for (int type = OBJECT_CONTEXT; type < OBJECT_TYPE_COUNT; type++) {
				uint64_t id = object_id_make((enum object_type)type, generations[g],
							     indices[i]);
				cr_assert(eq(u32, object_id_index(id), indices[i]));
				cr_assert(eq(u32, object_id_generation(id), generations[g]));
				cr_assert(eq(int, (int)object_id_type(id), type));
			}
		}
	}
}

Test(object_ids, the_bits_lie_where_the_protocol_says)
{
	cr_assert(eq(u64, object_id_make(OBJECT_BUFFER, 0x010203, 0x04050607),
		     0x0301020304050607ull));
}

Test(object_ids, a_generation_too_large_does_not_reach_the_type)
{
	uint64_t id = object_id_make(OBJECT_QUEUE, 0x1000001, 5);
	cr_assert(eq(int, (int)object_id_type(id), OBJECT_QUEUE));
	cr_assert(eq(u32, object_id_generation(id), 1));
}

Test(object_ids, no_object_is_zero)
{
	cr_assert(ne(u64, object_id_make(OBJECT_CONTEXT, 1, 0), 0));
	cr_assert(eq(int, (int)object_id_type(0), OBJECT_NONE));
}

Test(object_ids, every_type_has_a_name_and_no_other_number_has)
{
	for (int a = OBJECT_CONTEXT; a < OBJECT_TYPE_COUNT; a++) {
		cr_assert(ne(str, (char *)object_type_name((enum object_type)a), "object"));
		for (int b = OBJECT_CONTEXT; b < a; b++)
			cr_assert(ne(str, (char *)object_type_name((enum object_type)a),
				     (char *)object_type_name((enum object_type)b)));
	}
	cr_assert(eq(str, (char *)object_type_name(OBJECT_NONE), "object"));
	cr_assert(eq(str, (char *)object_type_name(OBJECT_TYPE_COUNT), "object"));
	cr_assert(eq(str, (char *)object_type_name(object_id_type(UINT64_MAX)), "object"));
}

Test(object_ids, statuses_have_names_and_errors_become_statuses)
{
	cr_assert(eq(str, (char *)status_name(STATUS_SUCCESS), "SUCCESS"));
	cr_assert(eq(str, (char *)status_name(STATUS_FORKED), "FORKED"));
	cr_assert(eq(str, (char *)status_name(1), "UNKNOWN"));
	cr_assert(eq(int, (int)status_from_errno(0), STATUS_SUCCESS));
	cr_assert(eq(int, (int)status_from_errno(-ENOMEM), STATUS_MEMORY_ALLOCATION));
	cr_assert(eq(int, (int)status_from_errno(-EDQUOT), STATUS_QUOTA));
	cr_assert(eq(int, (int)status_from_errno(-EPIPE), STATUS_CONNECTION_LOST));
	cr_assert(eq(int, (int)status_from_errno(-ENOTTY), STATUS_RUNTIME));
}
