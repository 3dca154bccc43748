/* Which events are kept, for which reader, and by what numbers. */
#include "base/events.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USER = 1000, OTHER = 1001, BLOCK = 65536, FEW = 5 };
enum { COUNTED_UIDS = 4096 }; /* the most uids that are counted */

static const struct event_reader user = {.uid = USER}, other = {.uid = OTHER},
				 everything = {.sees_all = true};

/* Each test is a process of its own, so it begins without events. */
TestSuite(events, .timeout = 20);

void log_write_with(enum log_level level, const char *topic, const struct log_fields *fields,
		    const char *text)
{
	(void)level;
	(void)topic;
	(void)fields;
	(void)text;
}

static void report(enum event_kind kind, uid_t uid, int what)
{
	const struct event event = {.kind = kind, .has_uid = true, .uid = uid};
	event_report(LOG_LEVEL_DEBUG, "test", event, "%d", what);
}

static void report_many(enum event_kind kind, uid_t uid, int count)
{
	for (int i = 1; i <= count; i++)
		report(kind, uid, i);
}

/* Reads all that the reader gets after a number; returns how many, and checks numbers and order. */
static unsigned read_after(const struct event_reader *reader, uint64_t after)
{
	struct event_cursor cursor = events_after(reader, after);
	const struct event *event;
	uint64_t number = after;
	unsigned count = 0;
	while ((event = event_next(&cursor))) {
		cr_expect(reader->sees_all || event->uid == reader->uid);
		cr_expect(gt(u64, event_number(reader, event), number), "not in order");
		number = event_number(reader, event);
		count++;
	}
	if (count > 0)
		cr_expect(eq(u64, event_last(reader), number));
	return count;
}

Test(events, a_users_numbers_count_that_users_events_only)
{
	report(EVENT_FAULT, USER, 1);
	report_many(EVENT_SESSION_OPENED, OTHER, 700);
	report(EVENT_SESSION_CLOSED, USER, 2);
	report_many(EVENT_ENGINE_ENDED, OTHER, 20);
	const struct event everybody = {.kind = EVENT_ORDER};
	event_report(LOG_LEVEL_INFO, "test", everybody, "an order for all");
	cr_expect(eq(u64, event_last(&user), 2));
	cr_expect(eq(u64, event_last(&everything), 723));
	struct event_cursor cursor = events_after(&user, 0);
	const struct event *event = event_next(&cursor);
	cr_assert(ne(ptr, (void *)(uintptr_t)event, NULL));
	cr_expect(eq(u64, event_number(&user, event), 1));
	event = event_next(&cursor);
	cr_assert(ne(ptr, (void *)(uintptr_t)event, NULL));
	cr_expect(eq(u64, event_number(&user, event), 2));
	cr_expect(eq(ptr, (void *)(uintptr_t)event_next(&cursor), NULL));
	cr_expect(eq(u64, event_last(&other), 720));
	cr_expect(zero(u64, event_last(&(struct event_reader){.uid = 7})));
}

Test(events, a_reader_continues_after_what_it_has)
{
	report_many(EVENT_FAULT, USER, 10);
	report_many(EVENT_SESSION_OPENED, USER, 10);
	cr_expect(eq(uint, read_after(&user, 0), 20));
	cr_expect(eq(uint, read_after(&user, 7), 13));
	cr_expect(eq(uint, read_after(&user, 15), 5));
	cr_expect(eq(uint, read_after(&everything, 15), 5));
	cr_expect(zero(uint, read_after(&user, 20)));
	/* Another service counted further. */
	cr_expect(zero(uint, read_after(&user, 300)));
}

static void must_survive(enum event_kind kind)
{
	report_many(kind, OTHER, FEW);
	report_many(kind, USER, 3 * EVENTS_KEPT);
	cr_expect(eq(uint, read_after(&other, 0), FEW));
	cr_expect(eq(uint, read_after(&user, 0), EVENTS_KEPT - FEW));
	cr_expect(eq(uint, read_after(&everything, 0), EVENTS_KEPT));
}

Test(events, one_user_with_many_sessions_drops_no_event_of_others)
{
	must_survive(EVENT_SESSION_OPENED);
}

Test(events, one_user_with_many_faults_drops_no_event_of_others)
{
	must_survive(EVENT_FAULT);
}

/* As many identities as `useradd` gives one user. */
Test(events, a_user_with_many_uids_drops_no_event_of_others)
{
	report_many(EVENT_SESSION_OPENED, OTHER, FEW);
	for (unsigned i = 0; i < 3 * EVENTS_KEPT; i++)
		report(EVENT_SESSION_OPENED, BLOCK + i, 1);
	cr_expect(eq(uint, read_after(&other, 0), FEW));
	cr_expect(eq(uint, read_after(&everything, 0), EVENTS_KEPT));
	report_many(EVENT_SESSION_CLOSED, OTHER, FEW);
	cr_expect(eq(uint, read_after(&other, 0), 2 * FEW));
}

Test(events, users_with_many_events_have_equal_parts)
{
	report_many(EVENT_FAULT, USER, EVENTS_KEPT);
	report_many(EVENT_FAULT, OTHER, EVENTS_KEPT);
	cr_expect(eq(uint, read_after(&user, 0), EVENTS_KEPT / 2));
	cr_expect(eq(uint, read_after(&other, 0), EVENTS_KEPT / 2));
	/* The newest of each. */
	cr_expect(eq(uint, read_after(&user, EVENTS_KEPT / 2), EVENTS_KEPT / 2));
}

/* Their events are in few parts, so those of USER stay. */
static void report_for_many_uids(void)
{
	for (unsigned i = 0; i < COUNTED_UIDS; i++)
		report(EVENT_SESSION_OPENED, BLOCK + i, 1);
}

Test(events, a_reader_has_all_although_the_user_is_counted_no_more)
{
	report_many(EVENT_FAULT, USER, FEW);
	report_for_many_uids();
	cr_expect(eq(uint, read_after(&user, 0), FEW));
	cr_expect(eq(u64, event_last(&user), FEW));
	cr_expect(zero(uint, read_after(&user, FEW)));
}

/* The newest one is in the other list. */
Test(events, a_user_who_is_counted_again_continues_after_the_kept_events)
{
	report_many(EVENT_FAULT, USER, FEW);
	report(EVENT_SESSION_CLOSED, USER, 1);
	report_for_many_uids();
	report_many(EVENT_FAULT, USER, 2);
	cr_expect(eq(u64, event_last(&user), FEW + 3));
	cr_expect(eq(uint, read_after(&user, FEW + 1), 2));
	cr_expect(eq(uint, read_after(&user, 0), FEW + 3));
}

Test(events, a_user_without_kept_events_is_counted_from_1_again)
{
	report_many(EVENT_FAULT, USER, FEW);
	report_for_many_uids();
	for (uid_t uid = USER + 1; uid <= USER + EVENTS_KEPT; uid++)
		report(EVENT_FAULT, uid, 1);
	cr_expect(zero(u64, event_last(&user)));
	report(EVENT_FAULT, USER, 1);
	cr_expect(eq(u64, event_last(&user), 1));
	cr_expect(eq(uint, read_after(&user, 0), 1));
}

/* Otherwise a word of an order could look like another line of the log, and JSON has no room for a
 * part of a character. */
Test(events, a_text_is_one_printable_line)
{
	const struct event event = {.kind = EVENT_ORDER};
	char text[EVENT_TEXT_BYTES + 8];
	memset(text, 'a', EVENT_TEXT_BYTES - 2);
	(void)snprintf(text + EVENT_TEXT_BYTES - 2, 8, "\xc3\xa9");
	event_report(LOG_LEVEL_INFO, "test", event, "%s", text);
	event_report(LOG_LEVEL_INFO, "test", event, "%s", "a\n\033[2Jb");
	struct event_cursor cursor = events_after(&everything, 0);
	const struct event *first = event_next(&cursor), *second = event_next(&cursor);
	cr_assert(first && second);
	cr_expect(eq(str, (char *)(uintptr_t)&first->text[EVENT_TEXT_BYTES - 4], "aa?"));
	cr_expect(eq(str, (char *)(uintptr_t)second->text, "a??[2Jb"));
}
