/* The table of a client's addresses, against a list. */
#include "session/objects.h"
#include "session/usm_table.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>

TestSuite(usm_table, .timeout = 20);

enum { COUNT = 100, STEPS = 100000, FIRST = 4096, ROOM = 3000 };

static struct usm items[COUNT];
static bool is_listed[COUNT];

static struct usm *expected(uint64_t address, uint64_t size_bytes)
{
	for (uint32_t i = 0; i < COUNT; i++)
		if (is_listed[i] && address >= items[i].address &&
		    address - items[i].address < items[i].size_bytes &&
		    size_bytes <= items[i].size_bytes - (address - items[i].address))
			return &items[i];
	return NULL;
}

static bool overlaps(const struct usm *usm)
{
	for (uint32_t i = 0; i < COUNT; i++)
		if (is_listed[i] && items[i].address < usm->address + usm->size_bytes &&
		    usm->address < items[i].address + items[i].size_bytes)
			return true;
	return false;
}

Test(usm_table, E22_an_address_finds_the_allocation_that_holds_all_of_it)
{
	struct usm_table table = {.items = NULL};

	srand(7);
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t index = (uint32_t)rand() % COUNT;
		struct usm *usm = &items[index];
		if (is_listed[index]) {
			usm_table_remove(&table, usm);
			is_listed[index] = false;
		} else {
			usm->address = FIRST + (uint64_t)rand() % ROOM;
			usm->size_bytes = 1 + (uint64_t)rand() % 50;
			bool taken = overlaps(usm);
			cr_assert(eq(int, usm_table_insert(&table, usm), taken ? -EEXIST : 0));
			is_listed[index] = !taken;
		}
		uint64_t address = FIRST - 20 + (uint64_t)rand() % (ROOM + 80),
			 size_bytes = (uint64_t)rand() % 60;
		cr_assert(eq(ptr, usm_table_find(&table, address, size_bytes),
			     expected(address, size_bytes)));
	}
	usm_table_fini(&table);
}

Test(usm_table, E22_sizes_that_wrap_around_find_nothing)
{
	struct usm a = {.address = 1ull << 45, .size_bytes = 4096},
		   b = {.address = UINT64_MAX - 10, .size_bytes = 11};
	struct usm_table table = {.items = NULL};

	cr_assert(zero(ptr, usm_table_find(&table, a.address, 0)));
	cr_assert(zero(int, usm_table_insert(&table, &a)));
	cr_assert(eq(int, usm_table_insert(&table, &b), -EEXIST), "its end is no address");
	cr_assert(eq(ptr, usm_table_find(&table, a.address, 4096), &a));
	cr_assert(eq(ptr, usm_table_find(&table, a.address + 4095, 1), &a));
	cr_assert(zero(ptr, usm_table_find(&table, a.address + 4096, 0)));
	cr_assert(zero(ptr, usm_table_find(&table, a.address + 1, UINT64_MAX)));
	cr_assert(zero(ptr, usm_table_find(&table, a.address - 1, 2)));
	cr_assert(zero(ptr, usm_table_find(&table, 0, 0)));
	usm_table_remove(&table, &b);
	usm_table_remove(&table, &a);
	cr_assert(zero(ptr, usm_table_find(&table, a.address, 1)));
	usm_table_fini(&table);
}
