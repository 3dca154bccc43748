/* The values that the page plots. */
#include "exporter/answers.h"
#include "history.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(exporter_history, .timeout = 20);

#define SECOND_NS 1000000000ull

static struct history history;

static void exporter_history_begin(void)
{
	cr_assert(eq(int, history_init(&history), 0));
}

static void exporter_history_end(void)
{
	history_fini(&history);
}

static const struct history_row *row_of(const struct history_point *point, uint32_t uid)
{
	for (unsigned i = 0; point && i < point->count; i++)
		if (point->rows[i].uid == uid)
			return &point->rows[i];
	return NULL;
}

Test(exporter_history, a_point_has_what_was_used_in_it, .init = exporter_history_begin,
     .fini = exporter_history_end)
{
	struct sample *sample = answers_sample();
	history_add(&history, sample);
	cr_assert(eq(ptr, (void *)history_point_at(&history, 0), NULL));
	for (int i = 0; i < 5; i++) {
		answers_later(sample, SECOND_NS, SECOND_NS / 2, SECOND_NS / 4);
		history_add(&history, sample);
	}
	const struct history_point *point = history_point_at(&history, 0);
	cr_assert(ne(ptr, (void *)point, NULL));
	cr_expect(eq(u64, point->length_ns, 5 * SECOND_NS));
	cr_expect(eq(u64, row_of(point, ALICE)->busy_ns, 5 * SECOND_NS / 2));
	cr_expect(eq(u64, row_of(point, BOB)->busy_ns, 5 * SECOND_NS / 4));
	const struct timeline_sample *line = history_sample_at(&history, 0);
	cr_assert(eq(uint, line->count, 1));
	cr_expect(eq(u64, line->rows[0].session, 11));
	cr_expect(eq(u64, line->rows[0].busy_ns, SECOND_NS / 2));
}

/* The page may be opened when the session has ended. */
Test(exporter_history, the_timeline_keeps_the_programs_of_sessions, .init = exporter_history_begin,
     .fini = exporter_history_end)
{
	struct sample *sample = answers_sample();
	history_add(&history, sample);
	answers_later(sample, SECOND_NS, SECOND_NS / 2, 0);
	history_add(&history, sample);
	sample->by_session.reply->n_account_rows = 0;
	sample->status.reply->n_sessions = 0;
	answers_later(sample, SECOND_NS, 0, 0);
	history_add(&history, sample);
	const struct timeline_sample *line = history_sample_at(&history, 1);
	cr_assert(eq(uint, line->count, 1));
	cr_expect(eq(u64, line->rows[0].session, 11));
	cr_expect(eq(str, (char *)(uintptr_t)line->rows[0].program, "heat"));
	cr_expect(eq(uint, history_sample_at(&history, 0)->count, 0));
}

Test(exporter_history, a_counter_that_went_back_has_begun_anew, .init = exporter_history_begin,
     .fini = exporter_history_end)
{
	struct sample *sample = answers_sample();
	history_add(&history, sample);
	answers_later(sample, 5 * SECOND_NS, -(2400000000ull), SECOND_NS);
	history_add(&history, sample);
	cr_expect(eq(u64, row_of(history_point_at(&history, 0), ALICE)->busy_ns, 100000000));
}

Test(exporter_history, another_service_and_a_long_pause_are_gaps, .init = exporter_history_begin,
     .fini = exporter_history_end)
{
	struct sample *sample = answers_sample();
	history_add(&history, sample);
	answers_later(sample, 30 * SECOND_NS, 5 * SECOND_NS, 0);
	history_add(&history, sample);
	for (unsigned age = 0; age < 6; age++)
		cr_expect(eq(u64, history_point_at(&history, age)->length_ns, 0));
	cr_expect(eq(ptr, (void *)history_point_at(&history, 6), NULL));
	sample->status.reply->service->pid++;
	answers_later(sample, SECOND_NS, SECOND_NS, 0);
	history_add(&history, sample);
	cr_expect(eq(ptr, (void *)history_sample_at(&history, 0), NULL));
}

Test(exporter_history, both_rings_stay_as_large_as_they_are, .init = exporter_history_begin,
     .fini = exporter_history_end)
{
	struct sample *sample = answers_sample();
	for (unsigned i = 0; i < HISTORY_POINTS + 20; i++) {
		answers_later(sample, 5 * SECOND_NS, SECOND_NS + i, 0);
		history_add(&history, sample);
	}
	cr_expect(ne(ptr, (void *)history_point_at(&history, HISTORY_POINTS - 1), NULL));
	cr_expect(eq(ptr, (void *)history_point_at(&history, HISTORY_POINTS), NULL));
	cr_expect(eq(ptr, (void *)history_sample_at(&history, TIMELINE_SAMPLES), NULL));
	cr_expect(eq(u64, row_of(history_point_at(&history, 0), ALICE)->busy_ns,
		     SECOND_NS + HISTORY_POINTS + 19));
	cr_expect(eq(u64, row_of(history_point_at(&history, 1), ALICE)->busy_ns,
		     SECOND_NS + HISTORY_POINTS + 18));
}

enum { CROWD = USES_MOST };

static Sycl__V1__AccountRow crowd_rows[CROWD], *crowd_list[CROWD];
static Sycl__V1__DeviceUsage crowd_used[CROWD];

/* The counters of that many users; none has grown yet. */
static void make_crowd(Sycl__V1__AdminReply *reply, unsigned count)
{
	for (unsigned i = 0; i < CROWD; i++) {
		sycl__v1__account_row__init(&crowd_rows[i]);
		sycl__v1__device_usage__init(&crowd_used[i]);
		crowd_rows[i].uid = 1000 + i;
		crowd_rows[i].used = &crowd_used[i];
		crowd_used[i].backend = SYCL__V1__BACKEND__BACKEND_CUDA;
		crowd_used[i].device_ns = 3600 * SECOND_NS;
		crowd_list[i] = &crowd_rows[i];
	}
	reply->account_rows = crowd_list;
	reply->n_account_rows = count;
}

Test(exporter_history, idle_users_take_no_row_of_a_point, .init = exporter_history_begin,
     .fini = exporter_history_end)
{
	struct sample *sample = answers_sample();
	make_crowd(sample->by_user.reply, HISTORY_ROWS + 10);
	history_add(&history, sample);
	crowd_used[HISTORY_ROWS + 9].device_ns += SECOND_NS;
	answers_later(sample, 5 * SECOND_NS, 0, 0);
	history_add(&history, sample);
	const struct history_point *point = history_point_at(&history, 0);
	cr_assert(eq(uint, point->count, 1));
	cr_expect(eq(u32, point->rows[0].uid, 1000 + HISTORY_ROWS + 9));
	cr_expect(eq(u64, point->rows[0].busy_ns, SECOND_NS));
}

/* A user had no place before and gets this row. The user's earlier use is not part of this
 * point. */
Test(exporter_history, a_counter_that_had_no_room_begins_where_it_is,
     .init = exporter_history_begin, .fini = exporter_history_end)
{
	struct sample *sample = answers_sample();
	make_crowd(sample->by_user.reply, CROWD);
	history_add(&history, sample);
	crowd_list[0] = &crowd_rows[CROWD - 1];
	answers_later(sample, SECOND_NS, 0, 0);
	history_add(&history, sample);
	cr_expect(eq(uint, history.open.count, 0));
	crowd_used[CROWD - 1].device_ns += SECOND_NS;
	answers_later(sample, 4 * SECOND_NS, 0, 0);
	history_add(&history, sample);
	const struct history_row *row = row_of(history_point_at(&history, 0), 1000 + CROWD - 1);
	cr_assert(ne(ptr, (void *)(uintptr_t)row, NULL));
	cr_expect(eq(u64, row->busy_ns, SECOND_NS));
}
