#include "json_view.h"

#include "clock.h"
#include "cleanup.h"
#include "json.h"
#include "names.h"
#include "tally.h"

#include <inttypes.h>
#include <stdio.h>

DEFINE_CLEANUP(reply_view)

enum { SERIES_MOST = 64, DEVICE_BYTES = 24 };

static void json_device_text(uint32_t backend, uint32_t index, char text[DEVICE_BYTES])
{
	(void)snprintf(text, DEVICE_BYTES, "%s:%" PRIu32, backend_name((Sycl__V1__Backend)backend),
		       index);
}

static json_t *json_of_user(const struct users *users, uint32_t uid)
{
	char name[USER_NAME_BYTES];
	if (uid == UINT32_MAX)
		return json_string("(others)");
	json_t *text = json_string(users_name(users, uid, name));
	return text ? text : json_sprintf("%" PRIu32, uid);
}

/* Returns thousandths, which are enough for a plot. */
static json_t *json_of_part(uint64_t busy_ns, uint64_t length_ns)
{
	return json_integer(length_ns ? (json_int_t)((double)busy_ns * 1000 / (double)length_ns)
				      : 0);
}

/* Adds the user's name to each object of a list that has a uid. */
static void name_users(json_t *list, const struct users *users)
{
	size_t i;
	json_t *row;
	json_array_foreach(list, i, row)
	{
		const json_t *uid = json_object_get(row, "uid");
		if (json_is_integer(uid))
			(void)json_object_set_new(
				row, "user",
				json_of_user(users, (uint32_t)json_integer_value(uid)));
	}
}

static json_t *json_of_rows(const Sycl__V1__AdminReply *reply, const struct viewer *viewer,
			    const struct users *users)
{
	CLEANUP(reply_view_cleanup) struct reply_view *view = reply_view_make(reply, viewer);
	json_t *object = view ? json_of_accounts(&view->reply) : NULL;
	json_t *rows = json_incref(json_object_get(object, "accounts"));
	json_decref(object);
	name_users(rows, users);
	return rows;
}

static void add_status(json_t *object, const struct sample *sample, const struct users *users,
		       const struct viewer *viewer)
{
	static const char *const lists[] = {"tenants", "accounts", "shares", "sessions"};
	CLEANUP(reply_view_cleanup)
	struct reply_view *view = reply_view_make(sample->status.reply, viewer);
	json_t *status = view ? json_of_status(&view->reply) : NULL;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		name_users(json_object_get(status, lists[i]), users);
	json_t *devices = json_object_get(status, "devices");
	for (size_t i = 0; i < json_array_size(devices); i++) {
		char text[DEVICE_BYTES];
		if (!view->reply.devices[i]->facts)
			continue;
		json_device_text((uint32_t)view->reply.devices[i]->backend,
				 view->reply.devices[i]->facts->backend_index, text);
		(void)json_object_set_new(json_array_get(devices, i), "device", json_string(text));
	}
	(void)json_object_update_new(object, status);
	(void)json_object_set_new(object, "by_user",
				  json_of_rows(sample->by_user.reply, viewer, users));
	(void)json_object_set_new(object, "by_session",
				  json_of_rows(sample->by_session.reply, viewer, users));
}

/* A name that was cut within a character of UTF-8, or is none, is "". */
static json_t *json_of_program(const char *name)
{
	json_t *text = json_string(name);
	return text ? text : json_string("");
}

static json_t *json_of_timeline(const struct history *history, const struct viewer *viewer)
{
	json_t *list = json_array();
	for (unsigned age = TIMELINE_SAMPLES; age-- > 0;) {
		const struct timeline_sample *sample = history_sample_at(history, age);
		json_t *rows = sample ? json_array() : NULL;
		for (unsigned i = 0; sample && i < sample->count; i++) {
			const struct timeline_row *row = &sample->rows[i];
			char text[DEVICE_BYTES];
			if (!viewer_may_see(viewer, row->uid))
				continue;
			json_device_text(row->backend, row->index, text);
			(void)json_array_append_new(
				rows, json_pack("{s:I, s:o, s:I, s:s, s:o}", "session",
						(json_int_t)row->session, "program",
						json_of_program(row->program), "uid",
						(json_int_t)row->uid, "device", text, "busy",
						json_of_part(row->busy_ns, sample->length_ns)));
		}
		if (sample)
			(void)json_array_append_new(
				list,
				json_pack("{s:I, s:I, s:o}", "begin_ms",
					  (json_int_t)sample->begin_unix_ms, "length_ms",
					  (json_int_t)(sample->length_ns / 1000000), "rows", rows));
	}
	return list;
}

/* The latest first. */
static json_t *json_of_faults(const struct fault_list *faults, const struct users *users,
			      const struct viewer *viewer)
{
	json_t *list = json_array();
	for (unsigned age = 0; age < FAULTS_KEPT; age++) {
		const struct fault *fault = fault_list_at(faults, age);
		if (!fault || !viewer_may_see(viewer, fault->uid))
			continue;
		(void)json_array_append_new(list, json_pack("{s:I, s:I, s:o, s:s}", "time_ms",
							    (json_int_t)fault->unix_ms, "uid",
							    (json_int_t)fault->uid, "user",
							    json_of_user(users, fault->uid), "text",
							    fault->text));
	}
	return list;
}

json_t *json_view_of_now(const struct sample *sample, const struct history *history,
			 const struct users *users, const struct viewer *viewer)
{
	json_t *object = json_pack(
		"{s:s, s:b, s:I, s:I, s:s}", "exporter", SYCLD_VERSION, "up",
		sample && sample->is_up, "time_ms",
		sample ? (json_int_t)sample->asked_unix_ms : (json_int_t)0, "age_ms",
		sample ? (json_int_t)((clock_now_ns() - sample->asked_ns) / 1000000) : 0, "viewer",
		viewer->sees_all  ? "all"
		: viewer->has_uid ? "user"
				  : "nobody");
	if (!object)
		return NULL;
	if (viewer->has_uid)
		(void)json_object_set_new(object, "viewer_uid", json_integer(viewer->uid));
	if (sample && sample->is_up)
		add_status(object, sample, users, viewer);
	else
		(void)json_object_set_new(object, "problem",
					  json_string(sample ? sample->problem : "no answer yet"));
	(void)json_object_set_new(object, "timeline", json_of_timeline(history, viewer));
	(void)json_object_set_new(object, "faults",
				  json_of_faults(&history->faults, users, viewer));
	return object;
}

/* --------------------------------------- the hour ----------------------------------------- */

static bool rows_are_of_one_series(const struct history_row *a, const struct history_row *b)
{
	return a->uid == b->uid && a->backend == b->backend && a->index == b->index;
}

/* Lists the users and devices of all points that the viewer may see. */
static unsigned find_series(const struct history *history, const struct viewer *viewer,
			    struct history_row series[SERIES_MOST])
{
	unsigned count = 0;
	for (unsigned age = 0; age < HISTORY_POINTS; age++) {
		const struct history_point *point = history_point_at(history, age);
		for (unsigned i = 0; point && i < point->count; i++) {
			unsigned at = 0;
			if (!viewer_may_see(viewer, point->rows[i].uid))
				continue;
			while (at < count && !rows_are_of_one_series(&series[at], &point->rows[i]))
				at++;
			if (at == count && count < SERIES_MOST)
				series[count++] = point->rows[i];
		}
	}
	return count;
}

static json_t *json_of_series(const struct history *history, const struct history_row *series,
			      const struct users *users)
{
	char text[DEVICE_BYTES];
	json_t *busy = json_array();
	for (unsigned age = HISTORY_POINTS; age-- > 0;) {
		const struct history_point *point = history_point_at(history, age);
		json_t *value = point && point->length_ns ? json_integer(0) : json_null();
		for (unsigned i = 0; point && i < point->count; i++)
			if (rows_are_of_one_series(series, &point->rows[i])) {
				json_decref(value);
				value = json_of_part(point->rows[i].busy_ns, point->length_ns);
			}
		if (point)
			(void)json_array_append_new(busy, value);
		else
			json_decref(value);
	}
	json_device_text(series->backend, series->index, text);
	return json_pack("{s:I, s:o, s:s, s:o}", "uid", (json_int_t)series->uid, "user",
			 json_of_user(users, series->uid), "device", text, "busy", busy);
}

json_t *json_view_of_history(const struct history *history, const struct users *users,
			     const struct viewer *viewer)
{
	struct history_row series[SERIES_MOST];
	unsigned count = find_series(history, viewer, series);
	json_t *list = json_array(), *times = json_array();
	for (unsigned i = 0; i < count; i++)
		(void)json_array_append_new(list, json_of_series(history, &series[i], users));
	for (unsigned age = HISTORY_POINTS; age-- > 0;) {
		const struct history_point *point = history_point_at(history, age);
		if (point)
			(void)json_array_append_new(times,
						    json_integer((json_int_t)point->end_unix_ms));
	}
	return json_pack("{s:o, s:o}", "times_ms", times, "series", list);
}
