/* The data that each user can read. */
#include "exporter/answers.h"
#include "json_view.h"
#include "user_list.h"
#include "view.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(exporter_view, .timeout = 20);

static const struct viewer everybody = {.sees_all = true};
static const struct viewer nobody = {.sees_all = false};
static const struct viewer bob = {.has_uid = true, .uid = BOB};

Test(exporter_view, a_user_sees_rows_of_this_user_only)
{
	const struct sample *sample = answers_sample();
	struct reply_view *view = reply_view_make(sample->status.reply, &bob);
	cr_assert(eq(sz, view->reply.n_sessions, 1));
	cr_expect(eq(u32, view->reply.sessions[0]->uid, BOB));
	cr_assert(eq(sz, view->reply.n_engines, 1));
	cr_expect(eq(u32, view->reply.engines[0]->uid, BOB));
	cr_expect(eq(sz, view->reply.n_accounts, 1));
	cr_expect(eq(sz, view->reply.n_shares, 1));
	cr_expect(eq(sz, view->reply.n_present, 0)); /* sums of all users */
	cr_assert(eq(sz, view->reply.n_devices, 1));
	cr_assert(eq(sz, view->reply.devices[0]->n_uids, 1));
	cr_expect(eq(u32, view->reply.devices[0]->uids[0], BOB));
	cr_expect(eq(u32, view->reply.service->standby_pid, 0));
	cr_expect(view->reply.service->filtered);
	reply_view_free(view);
	/* The sample is unchanged. */
	cr_expect(eq(sz, sample->status.reply->n_sessions, 2));
	cr_expect(eq(sz, sample->status.reply->devices[0]->n_uids, 2));
}

Test(exporter_view, a_viewer_without_a_user_sees_the_service_only)
{
	struct reply_view *view = reply_view_make(answers_sample()->status.reply, &nobody);
	cr_expect(eq(sz,
		     view->reply.n_sessions + view->reply.n_engines + view->reply.n_accounts +
			     view->reply.n_shares + view->reply.n_devices,
		     0));
	cr_expect(eq(u32, view->reply.service->pid, 42));
	reply_view_free(view);
}

static char *now_as_text(const struct viewer *viewer)
{
	struct history history;
	struct users users;
	struct sample *sample = answers_sample();
	cr_assert(eq(int, history_init(&history), 0));
	cr_assert(eq(int, users_init(&users), 0));
	history_add(&history, sample);
	answers_later(sample, 5000000000ull, 1000000000, 1000000000);
	history_add(&history, sample);
	history.faults.list[0] = (struct fault){.uid = 4000000001u, .text = "of one"};
	history.faults.list[1] = (struct fault){.uid = 4000000002u, .text = "of bob"};
	history.faults.count = 2;
	json_t *object = json_view_of_now(sample, &history, &users, viewer);
	json_t *hour = json_view_of_history(&history, &users, viewer);
	cr_assert(object && hour);
	cr_expect(eq(sz, json_array_size(json_object_get(hour, "times_ms")), 1));
	(void)json_object_set_new(object, "hour", hour);
	char *text = json_dumps(object, 0);
	json_decref(object);
	history_fini(&history);
	users_fini(&users);
	return text;
}

/* No part of the page's data names another user. */
Test(exporter_view, no_json_has_another_user)
{
	char *text = now_as_text(&bob);
	cr_expect(ne(ptr, strstr(text, "4000000002"), NULL));
	cr_expect(ne(ptr, strstr(text, "of bob"), NULL));
	cr_expect(eq(ptr, strstr(text, "4000000001"), NULL), "%s", text);
	cr_expect(eq(ptr, strstr(text, "of one"), NULL), "%s", text);
	free(text);
	text = now_as_text(&nobody);
	cr_expect(eq(ptr, strstr(text, "400000000"), NULL), "%s", text);
	free(text);
	text = now_as_text(&everybody);
	cr_expect(ne(ptr, strstr(text, "4000000001"), NULL));
	cr_expect(ne(ptr, strstr(text, "\"device\": \"cuda:0\""), NULL));
	cr_expect(ne(ptr, strstr(text, "\"timeline\": [{"), NULL));
	cr_expect(ne(ptr, strstr(text, "\"program\": \"heat\""), NULL), "%s", text);
	free(text);
}

Test(exporter_view, only_a_viewer_of_users_makes_samples_more_frequent)
{
	cr_expect(viewer_sees_users(&everybody));
	cr_expect(viewer_sees_users(&bob));
	cr_expect(not(viewer_sees_users(&nobody)));
}

static int database_error;

/* Replaces the function of the C library: a user database that may fail. */
int getpwuid_r(uid_t uid, struct passwd *entry, char *text, size_t bytes, struct passwd **found)
{
	(void)uid;
	(void)text;
	(void)bytes;
	*entry = (struct passwd){.pw_name = (char *)(uintptr_t) "bob"};
	*found = database_error ? NULL : entry;
	return database_error;
}

Test(exporter_view, a_name_is_looked_up_again_after_a_failure)
{
	struct users users;
	char name[USER_NAME_BYTES];
	cr_assert(eq(int, users_init(&users), 0));
	database_error = EIO;
	users_learn(&users, BOB);
	cr_expect(eq(str, (char *)(uintptr_t)users_name(&users, BOB, name), "4000000002"));
	database_error = 0;
	users_learn(&users, BOB);
	cr_expect(eq(str, (char *)(uintptr_t)users_name(&users, BOB, name), "bob"));
	cr_expect(eq(uint, users.count, 1));
	users_fini(&users);
}
