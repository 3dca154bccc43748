#include "base/object_table.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>

TestSuite(object_table, .timeout = 10);

static struct object *thing(uintptr_t number)
{
	return (struct object *)(number * 16);
}

Test(object_table, M12_finds_an_object_by_its_whole_id_only)
{
	struct object_table table;
	object_table_init(&table, 100);
	uint64_t id = object_id_make(OBJECT_BUFFER, 3, 7);
	cr_assert(eq(int, object_table_insert(&table, id, OBJECT_BUFFER, thing(1)), 0));

	cr_assert(eq(ptr, object_table_find(&table, id), thing(1)));
	cr_assert(eq(ptr, object_table_find(&table, object_id_make(OBJECT_BUFFER, 2, 7)), NULL),
		  "older generation");
	cr_assert(eq(ptr, object_table_find(&table, object_id_make(OBJECT_BUFFER, 4, 7)), NULL),
		  "newer generation");
	cr_assert(eq(ptr, object_table_find(&table, object_id_make(OBJECT_QUEUE, 3, 7)), NULL),
		  "another type");
	cr_assert(eq(ptr, object_table_find(&table, object_id_make(OBJECT_BUFFER, 3, 8)), NULL),
		  "another index");
	cr_assert(eq(ptr, object_table_find(&table, object_id_make(OBJECT_BUFFER, 3, UINT32_MAX)),
		     NULL),
		  "far away");
	cr_assert(eq(ptr, object_table_find(&table, 0), NULL));
	object_table_remove(&table, id);
	object_table_fini(&table);
}

Test(object_table, M12_an_index_is_used_again_only_with_a_newer_generation)
{
	struct object_table table;
	object_table_init(&table, 100);
	uint64_t first = object_id_make(OBJECT_QUEUE, 5, 0);
	cr_assert(eq(int, object_table_insert(&table, first, OBJECT_QUEUE, thing(1)), 0));
	cr_assert(eq(int,
		     object_table_insert(&table, object_id_make(OBJECT_QUEUE, 6, 0), OBJECT_QUEUE,
					 thing(2)),
		     -EPROTO),
		  "in use");
	cr_assert(not(object_table_gone(&table, first)));
	object_table_remove(&table, first);
	cr_assert(object_table_gone(&table, first));
	cr_assert(not(object_table_gone(&table, object_id_make(OBJECT_QUEUE, 6, 0))),
		  "it never was");
	cr_assert(eq(int, object_table_insert(&table, first, OBJECT_QUEUE, thing(1)), -EPROTO),
		  "the same again");
	cr_assert(eq(int,
		     object_table_insert(&table, object_id_make(OBJECT_BUFFER, 4, 0), OBJECT_BUFFER,
					 thing(1)),
		     -EPROTO),
		  "older");
	uint64_t second = object_id_make(OBJECT_BUFFER, 6, 0);
	cr_assert(eq(int, object_table_insert(&table, second, OBJECT_BUFFER, thing(3)), 0));
	cr_assert(object_table_gone(&table, first));
	cr_assert(eq(ptr, object_table_find(&table, second), thing(3)));
	object_table_remove(&table, second);
	object_table_fini(&table);
}

Test(object_table, refuses_what_is_no_id)
{
	struct object_table table;
	object_table_init(&table, 100);
	uint64_t no_generation = object_id_make(OBJECT_QUEUE, 0, 1);
	uint64_t no_type = object_id_make(OBJECT_NONE, 1, 1);
	uint64_t beyond = object_id_make(OBJECT_TYPE_COUNT, 1, 1);
	cr_assert(eq(int, object_table_insert(&table, no_generation, OBJECT_QUEUE, thing(1)),
		     -EPROTO));
	cr_assert(eq(int, object_table_insert(&table, no_type, OBJECT_NONE, thing(1)), -EPROTO));
	cr_assert(
		eq(int, object_table_insert(&table, beyond, OBJECT_TYPE_COUNT, thing(1)), -EPROTO));
	cr_assert(eq(int,
		     object_table_insert(&table, object_id_make(OBJECT_QUEUE, 1, 1), OBJECT_BUFFER,
					 thing(1)),
		     -EPROTO));
	cr_assert(eq(int,
		     object_table_insert(&table, object_id_make(OBJECT_QUEUE, 1, 100), OBJECT_QUEUE,
					 thing(1)),
		     -EDQUOT));
	cr_assert(eq(u32, table.count, 0));
	object_table_fini(&table);
}

Test(object_table, counts_and_grows_up_to_its_limit)
{
	struct object_table table;
	object_table_init(&table, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		enum object_type type = i % 2 ? OBJECT_BUFFER : OBJECT_KERNEL;
		cr_assert(eq(int,
			     object_table_insert(&table, object_id_make(type, 1, 999 - i), type,
						 thing(i + 1)),
			     0));
	}
	cr_assert(eq(u32, table.count, 1000));
	cr_assert(eq(u32, table.counts[OBJECT_BUFFER], 500));
	cr_assert(eq(u32, table.capacity, 1000));
	for (uint32_t i = 0; i < 1000; i++) {
		enum object_type type = i % 2 ? OBJECT_BUFFER : OBJECT_KERNEL;
		uint64_t id = object_id_make(type, 1, 999 - i);
		cr_assert(eq(ptr, object_table_find(&table, id), thing(i + 1)));
		cr_assert(eq(ptr, object_table_at(&table, 999 - i), thing(i + 1)));
		object_table_remove(&table, id);
	}
	cr_assert(eq(u32, table.count, 0));
	cr_assert(eq(u32, table.counts[OBJECT_KERNEL], 0));
	cr_assert(eq(ptr, object_table_at(&table, 5000), NULL));
	object_table_fini(&table);
}
