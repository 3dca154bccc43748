/* Ids of a session's objects: an index is used again only after Released, and never with the same
 * id. */
#include "base/object_ids.h"

#include <errno.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_object_ids, .timeout = 10);

enum { COUNT = 4 };

Test(client_object_ids, ids_are_never_repeated)
{
	struct object_ids ids;
	struct remote owners[COUNT];
	struct id_entry *entries[COUNT], *more = NULL;
	cr_assert(eq(int, object_ids_init(&ids, COUNT), 0));
	for (int i = 0; i < COUNT; i++) {
		cr_assert(
			eq(int, object_ids_take(&ids, OBJECT_BUFFER, &owners[i], &entries[i]), 0));
		cr_assert(lt(u32, object_id_index(owners[i].id), COUNT));
		cr_assert(eq(int, (int)object_id_type(owners[i].id), OBJECT_BUFFER));
		for (int k = 0; k < i; k++)
			cr_assert(ne(u64, owners[k].id, owners[i].id));
	}
	struct remote beyond;
	cr_assert(eq(int, object_ids_take(&ids, OBJECT_QUEUE, &beyond, &more), -EDQUOT));

	uint64_t old = owners[2].id;
	cr_assert(eq(ptr, object_ids_find(&ids, old), entries[2]));
	object_ids_give(&ids, entries[2]);
	cr_assert(eq(ptr, object_ids_find(&ids, old), NULL));
	cr_assert(eq(int, object_ids_take(&ids, OBJECT_BUFFER, &beyond, &more), 0));
	cr_assert(eq(u32, object_id_index(beyond.id), object_id_index(old)));
	cr_assert(gt(u32, object_id_generation(beyond.id), object_id_generation(old)));
	cr_assert(eq(ptr, object_ids_find(&ids, old), NULL),
		  "a late word about the old one reaches nobody");
	cr_assert(eq(ptr, object_ids_find(&ids, beyond.id), more));
	object_ids_fini(&ids);
}

Test(client_object_ids, generations_wrap_without_zero)
{
	struct object_ids ids;
	struct remote owner;
	struct id_entry *entry = NULL;
	cr_assert(eq(int, object_ids_init(&ids, 1), 0));
	(void)object_ids_take(&ids, OBJECT_QUEUE, &owner, &entry);
	entry->generation = 0xffffff;
	object_ids_give(&ids, entry);
	cr_assert(eq(int, object_ids_take(&ids, OBJECT_QUEUE, &owner, &entry), 0));
	cr_assert(eq(u32, object_id_generation(owner.id), 1));
	object_ids_fini(&ids);
}

Test(client_object_ids, foreign_ids_are_not_found)
{
	struct object_ids ids;
	struct remote owner;
	struct id_entry *entry = NULL;
	cr_assert(eq(int, object_ids_init(&ids, COUNT), 0));
	(void)object_ids_take(&ids, OBJECT_QUEUE, &owner, &entry);
	const uint64_t others[] = {0, UINT64_MAX, owner.id + 1, owner.id ^ (1ull << 56),
				   owner.id ^ (1ull << 32)};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_assert(eq(ptr, object_ids_find(&ids, others[i]), NULL));
	object_ids_fini(&ids);
}

Test(client_object_ids, ids_stay_when_there_is_room_for_more)
{
	enum { MANY = 200 };
	static struct remote owners[MANY];
	struct object_ids ids;
	struct id_entry *entry = NULL;
	cr_assert(eq(int, object_ids_init(&ids, COUNT), 0));
	for (int i = 0; i < MANY; i++) {
		int r = object_ids_take(&ids, OBJECT_BUFFER, &owners[i], &entry);
		if (r == -EDQUOT && object_ids_grow(&ids, MANY) == 0)
			r = object_ids_take(&ids, OBJECT_BUFFER, &owners[i], &entry);
		cr_assert(eq(int, r, 0), "%d", i);
	}
	cr_assert(eq(int, object_ids_grow(&ids, MANY), -EDQUOT));
	cr_assert(eq(int, object_ids_grow(&ids, COUNT), -EDQUOT));
	for (int i = 0; i < MANY; i++) {
		entry = object_ids_find(&ids, owners[i].id);
		cr_assert(ne(ptr, entry, NULL));
		cr_assert(eq(ptr, entry->owner, &owners[i]));
	}
	object_ids_fini(&ids);
}
