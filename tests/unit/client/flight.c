/* The attribution of an engine's death. */
#include "base/flight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_flight, .timeout = 10);

enum { OWN = 7 };

static struct flight_page *page;
static struct failure why;
#define said why.text

static void setup_flight_page(void)
{
	page = calloc(1, sizeof(*page));
	why = (struct failure){.code = SYCL_SUCCESS};
	page->magic = FLIGHT_MAGIC;
	page->layout = FLIGHT_LAYOUT;
	page->entry_count = FLIGHT_ENTRIES;
}

static void teardown_flight_page(void)
{
	free(page);
}

static void put_flight_entry(uint32_t at, uint64_t session, uint64_t group, const char *what)
{
	page->entries[at].queue = 3;
	page->entries[at].group = group;
	(void)snprintf(page->entries[at].what, sizeof(page->entries[at].what), "%s", what);
	atomic_store(&page->entries[at].session, session);
}

static void put_fault(int32_t native_code, const char *words)
{
	page->fault.backend = 2;
	page->fault.native_code = native_code;
	(void)snprintf(page->fault.text, sizeof(page->fault.text), "%s", words);
	atomic_store(&page->fault.known, 1);
}

Test(client_flight, N5_one_entry_is_the_offender, .init = setup_flight_page,
     .fini = teardown_flight_page)
{
	put_flight_entry(500, OWN, 42, "matmul");
	cr_assert(eq(u64, flight_blame(page, OWN, &why), 1));
	cr_assert(ne(ptr, strstr(said, "matmul"), NULL));
	cr_assert(ne(ptr, strstr(said, "this session"), NULL));
	cr_assert(ne(ptr, strstr(said, "42"), NULL));
}

Test(client_flight, F12_another_sessions_work_is_told_as_such, .init = setup_flight_page,
     .fini = teardown_flight_page)
{
	put_flight_entry(0, 9, 1, "crash");
	cr_assert(eq(u64, flight_blame(page, OWN, &why), 1));
	cr_assert(ne(ptr, strstr(said, "session 9"), NULL));
	cr_assert(eq(ptr, strstr(said, "this session"), NULL));
}

Test(client_flight, several_are_suspects, .init = setup_flight_page, .fini = teardown_flight_page)
{
	for (uint32_t i = 0; i < FLIGHT_ENTRIES; i++)
		put_flight_entry(i, i + 1, 1, "a-kernel-with-a-rather-long-name-indeed");
	atomic_store(&page->more, 5);
	cr_assert(eq(u64, flight_blame(page, OWN, &why), FLIGHT_ENTRIES + 5));
	cr_assert(lt(sz, strlen(said), sizeof(said)));
	cr_assert(ne(ptr, strstr(said, "1025 command groups"), NULL));
}

Test(client_flight, F12_ones_own_suspects_are_named_first, .init = setup_flight_page,
     .fini = teardown_flight_page)
{
	for (uint32_t i = 0; i < 100; i++)
		put_flight_entry(i, 9, i, "theirs");
	put_flight_entry(100, OWN, 42, "mine");
	cr_assert(eq(u64, flight_blame(page, OWN, &why), 101));
	cr_assert(ne(ptr, strstr(said, "at fault: 'mine' (this session, command group 42"), NULL),
		  "%s", said);
	cr_assert(ne(ptr, strstr(said, "'theirs' (session 9)"), NULL), "%s", said);
}

Test(client_flight, nothing_in_flight_means_no_offender, .init = setup_flight_page,
     .fini = teardown_flight_page)
{
	said[0] = 'x';
	cr_assert(eq(u64, flight_blame(page, OWN, &why), 0));
	cr_assert(eq(chr, said[0], 'x'));
}

Test(client_flight, a_hostile_page_does_no_harm, .init = setup_flight_page,
     .fini = teardown_flight_page)
{
	put_fault(1, "");
	memset(page->fault.text, 0x07, sizeof(page->fault.text));
	put_flight_entry(1, OWN, 1, "x");
	memset(page->entries[1].what, 0x1b,
	       sizeof(page->entries[1].what)); /* no end, and control bytes */
	cr_assert(eq(u64, flight_blame(page, OWN, &why), 1));
	cr_assert(eq(ptr, strchr(said, 0x1b), NULL));
	cr_assert(eq(ptr, strchr(said, 0x07), NULL));
	page->layout++;
	cr_assert(eq(u64, flight_blame(page, OWN, &why), 0));
}

Test(client_flight, a_long_blame_is_cut_off, .init = setup_flight_page,
     .fini = teardown_flight_page)
{
	put_fault(
		700,
		"an illegal address, told with as many words as there is room for in the page itself");
	for (uint32_t i = 0; i < 5; i++)
		put_flight_entry(i, UINT64_MAX - i, UINT64_MAX,
				 "a-kernel-with-a-rather-long-name-indeed");
	cr_assert(eq(u64, flight_blame(page, OWN, &why), 5));
	cr_assert(lt(sz, strnlen(said, sizeof(said)), sizeof(said)));
}

Test(client_flight, I11_a_device_that_failed_is_told_with_its_code, .init = setup_flight_page,
     .fini = teardown_flight_page)
{
	put_fault(700, "an illegal address");
	put_flight_entry(3, OWN, 9, "scatter");
	cr_assert(eq(u64, flight_blame(page, OWN, &why), 1));
	cr_assert(eq(i32, why.code, SYCL_ERROR_DEVICE_LOST));
	cr_assert(eq(i32, why.native_code, 700));
	cr_assert(eq(u32, why.backend, 2));
	cr_assert(ne(ptr, strstr(said, "an illegal address"), NULL));
	cr_assert(ne(ptr, strstr(said, "scatter"), NULL));
}

Test(client_flight, a_device_that_failed_without_work_is_told_too, .init = setup_flight_page,
     .fini = teardown_flight_page)
{
	put_fault(214, "an uncorrectable memory error");
	cr_assert(eq(u64, flight_blame(page, OWN, &why), 0));
	cr_assert(eq(i32, why.code, SYCL_ERROR_DEVICE_LOST));
	cr_assert(eq(str, said, "an uncorrectable memory error"));
}

Test(client_flight, an_engine_that_aborted_by_itself_has_no_offender, .init = setup_flight_page,
     .fini = teardown_flight_page)
{
	put_flight_entry(0, OWN, 42, "matmul");
	put_flight_entry(1, 9, 43, "reduce");
	put_fault(0, "pocl_cl.c:12: f: Assertion `found->ref_count > 0' failed.");
	atomic_store(&page->fault.known, FLIGHT_FAULT_ABORTED);
	cr_assert(eq(u64, flight_blame(page, OWN, &why), 0));
	cr_assert(eq(int, (int)why.code, SYCL_ERROR_CONNECTION_LOST));
	cr_assert(ne(ptr, strstr(said, "ref_count > 0"), NULL), "%s", said);
	cr_assert(eq(ptr, strstr(said, "matmul"), NULL), "%s", said);
	cr_assert(eq(ptr, strstr(said, "died while it ran"), NULL), "%s", said);
}
