/* Who is blamed after an engine died. */
#include "flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_flight, .timeout = 10);

enum { OWN = 7 };

static struct flight_page *page;
static char text[320];

static void setup(void)
{
	page = calloc(1, sizeof(*page));
	page->magic = FLIGHT_MAGIC;
	page->layout = FLIGHT_LAYOUT;
	page->entry_count = FLIGHT_ENTRIES;
}

static void teardown(void)
{
	free(page);
}

static void put(uint32_t at, uint64_t session, uint64_t group, const char *what)
{
	page->entries[at].queue = 3;
	page->entries[at].group = group;
	(void)snprintf(page->entries[at].what, sizeof(page->entries[at].what), "%s", what);
	atomic_store(&page->entries[at].session, session);
}

Test(client_flight, N5_one_entry_is_the_offender, .init = setup, .fini = teardown)
{
	put(500, OWN, 42, "matmul");
	cr_assert(eq(u64, flight_blame(page, OWN, text, sizeof(text)), 1));
	cr_assert(ne(ptr, strstr(text, "matmul"), NULL));
	cr_assert(ne(ptr, strstr(text, "this session"), NULL));
	cr_assert(ne(ptr, strstr(text, "42"), NULL));
}

Test(client_flight, M10_another_sessions_work_is_told_as_such, .init = setup, .fini = teardown)
{
	put(0, 9, 1, "crash");
	cr_assert(eq(u64, flight_blame(page, OWN, text, sizeof(text)), 1));
	cr_assert(ne(ptr, strstr(text, "session 9"), NULL));
	cr_assert(eq(ptr, strstr(text, "this session"), NULL));
}

Test(client_flight, several_are_suspects, .init = setup, .fini = teardown)
{
	for (uint32_t i = 0; i < FLIGHT_ENTRIES; i++)
		put(i, i + 1, 1, "a-kernel-with-a-rather-long-name-indeed");
	atomic_store(&page->more, 5);
	cr_assert(eq(u64, flight_blame(page, OWN, text, sizeof(text)), FLIGHT_ENTRIES + 5));
	cr_assert(lt(sz, strlen(text), sizeof(text)));
	cr_assert(ne(ptr, strstr(text, "1027 command groups"), NULL));
}

Test(client_flight, nothing_in_flight_blames_nobody, .init = setup, .fini = teardown)
{
	text[0] = 'x';
	cr_assert(eq(u64, flight_blame(page, OWN, text, sizeof(text)), 0));
	cr_assert(eq(chr, text[0], 'x'));
}

Test(client_flight, a_hostile_page_does_no_harm, .init = setup, .fini = teardown)
{
	put(1, OWN, 1, "x");
	memset(page->entries[1].what, 0x1b, sizeof(page->entries[1].what)); /* no end, and control bytes */
	cr_assert(eq(u64, flight_blame(page, OWN, text, sizeof(text)), 1));
	cr_assert(eq(ptr, strchr(text, 0x1b), NULL));
	page->layout++;
	cr_assert(eq(u64, flight_blame(page, OWN, text, sizeof(text)), 0));
}

Test(client_flight, a_small_buffer_is_not_overrun, .init = setup, .fini = teardown)
{
	for (uint32_t i = 0; i < 5; i++)
		put(i, OWN, i + 1, "kernel");
	for (size_t bytes = 1; bytes < sizeof(text); bytes++) {
		char *exact = malloc(bytes); /* the sanitizer watches its end */
		(void)flight_blame(page, OWN, exact, bytes);
		cr_assert(lt(sz, strnlen(exact, bytes), bytes));
		free(exact);
	}
}
