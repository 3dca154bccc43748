/* How `syclctl events` continues after an answer, and which events it prints. The service is
 * invented. */
#include "events/events.h"

#include "connection.h"
#include "users.h"
#include "words/since.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUERIES_MAX = 4, EVENTS_MAX = 2, FAILED = 1 };

/* What the service answers to one query. */
struct script {
	size_t events;
	uint64_t first_number, last;
	uint64_t unix_seconds; /* of the first event; one more for each further one */
	int kind;
	uint32_t uid;     /* 0: none */
	const char *text; /* NULL: "" */
};

static Sycl__V1__ServiceFacts service; /* the reply to a query for the version */

static const struct script *script;
static unsigned script_length, queries;
static uint64_t asked[QUERIES_MAX]; /* `after` of each query */

TestSuite(cli_events, .timeout = 20);

/* Beyond the script the request fails, so that the follower ends. */
int service_request(const char *runtime_directory, const Sycl__V1__AdminRequest *request,
		    int timeout_ms, struct answer *answer_out, char *message_out,
		    size_t message_bytes)
{
	static Sycl__V1__AdminReply reply;
	static Sycl__V1__EventFacts rows[EVENTS_MAX], *list[EVENTS_MAX];
	(void)runtime_directory;
	(void)timeout_ms;
	if (request->body_case == SYCL__V1__ADMIN_REQUEST__BODY_VERSION) {
		static Sycl__V1__AdminReply version;
		sycl__v1__admin_reply__init(&version);
		version.service = &service;
		*answer_out = (struct answer){.reply = &version};
		return 0;
	}
	cr_assert(lt(uint, queries, QUERIES_MAX));
	asked[queries] = request->events->after;
	if (queries++ >= script_length) {
		(void)snprintf(message_out, message_bytes, "the script has ended");
		return -EPROTO;
	}
	const struct script *now = &script[queries - 1];
	sycl__v1__admin_reply__init(&reply);
	for (size_t i = 0; i < now->events; i++) {
		sycl__v1__event_facts__init(&rows[i]);
		rows[i].number = now->first_number + i;
		rows[i].unix_ms = (now->unix_seconds + i) * 1000;
		rows[i].kind = (Sycl__V1__EventKind)now->kind;
		rows[i].of_user = now->uid > 0;
		rows[i].uid = now->uid;
		if (now->text)
			rows[i].text = (char *)(uintptr_t)now->text;
		list[i] = &rows[i];
	}
	reply.events = list;
	reply.n_events = now->events;
	reply.events_last = now->last;
	*answer_out = (struct answer){.reply = &reply};
	return 0;
}

void answer_free(struct answer *answer)
{
	*answer = (struct answer){.reply = NULL};
}

static int follow(const struct script *answers, unsigned count, bool once)
{
	script = answers;
	script_length = count;
	return events_follow(NULL, &(struct events_choice){.once = once});
}

/* Without a counter for the user, a service may give kept events and no last number. */
Test(cli_events, events_come_once_although_the_last_number_is_lower)
{
	static const struct script answers[] = {{2, 7, 0, 0, 0, 0, NULL}, {0, 0, 0, 0, 0, 0, NULL}};
	cr_assert(zero(int, follow(answers, 2, true)));
	cr_assert(eq(uint, queries, 2));
	cr_expect(zero(u64, asked[0]));
	cr_expect(eq(u64, asked[1], 8));
}

Test(cli_events, a_last_number_above_the_events_is_taken)
{
	static const struct script answers[] = {{1, 7, 9, 0, 0, 0, NULL}, {0, 0, 9, 0, 0, 0, NULL}};
	cr_assert(zero(int, follow(answers, 2, true)));
	cr_assert(eq(uint, queries, 2));
	cr_expect(eq(u64, asked[1], 9));
}

Test(cli_events, a_lower_number_without_events_begins_anew)
{
	static const struct script answers[] = {{1, 300, 300, 0, 0, 0, NULL},
						{0, 0, 5, 0, 0, 0, NULL}};
	cr_assert(eq(int, follow(answers, 2, false), FAILED));
	cr_assert(eq(uint, queries, 3));
	cr_expect(eq(u64, asked[1], 300));
	cr_expect(zero(u64, asked[2]));
}

/* Runs `events --once` with standard output and standard error in files. */
static void print_once(const struct script *answer, const struct events_choice *choice,
		       char out[1024], char error[1024])
{
	const struct script answers[] = {*answer, {.events = 0, .last = 99}};
	FILE *files[2] = {tmpfile(), tmpfile()};
	char *texts[2] = {out, error};
	int kept[2];
	script = answers;
	script_length = 2;
	queries = 0;
	if (!service.runtime_directory)
		sycl__v1__service_facts__init(&service);
	for (int i = 0; i < 2; i++) {
		kept[i] = dup(i + 1);
		cr_assert(files[i] && dup2(fileno(files[i]), i + 1) == i + 1);
	}
	int status = events_follow(NULL, choice);
	(void)fflush(stdout);
	for (int i = 0; i < 2; i++) {
		(void)dup2(kept[i], i + 1);
		(void)close(kept[i]);
		rewind(files[i]);
		texts[i][fread(texts[i], 1, 1023, files[i])] = '\0';
		(void)fclose(files[i]);
	}
	cr_assert(zero(int, status));
}

Test(cli_events, only_chosen_events_are_printed)
{
	static const struct script answer = {
		2, 1, 2, 1000000, SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT, 0, NULL};
	char out[1024], error[1024];
	struct events_choice choice = {.once = true, .since_unix_seconds = 1000001};
	print_once(&answer, &choice, out, error);
	cr_expect(eq(ptr, strstr(out, "1970-01-12T13:46:40"), NULL), "%s", out);
	cr_expect(ne(ptr, strstr(out, "1970-01-12T13:46:41"), NULL), "%s", out);
	cr_expect(eq(str, error, ""), "it has events from before that time");
	queries = 0;
	choice = (struct events_choice){.once = true,
					.kind = SYCL__V1__EVENT_KIND__EVENT_KIND_ENGINE_ENDED};
	print_once(&answer, &choice, out, error);
	cr_expect(eq(str, out, ""));
	cr_expect(eq(str, error, ""));
}

/* After a restart of the service yesterday's fault is in the journal only. */
Test(cli_events, older_events_are_in_the_journal)
{
	static const struct script answer = {
		1, 1, 1, 1000000, SYCL__V1__EVENT_KIND__EVENT_KIND_ENGINE_STARTED, 0, NULL};
	char out[1024], error[1024];
	const struct events_choice choice = {.once = true,
					     .since_unix_seconds = 900000,
					     .kind = SYCL__V1__EVENT_KIND__EVENT_KIND_FAULT};
	print_once(&answer, &choice, out, error);
	cr_expect(eq(str, out, ""));
	cr_expect(eq(str, error,
		     "syclctl: the service has no events from before 1970-01-12T13:46:40Z. The "
		     "journal has: journalctl -u sycld --since '1970-01-11 10:00:00 UTC' "
		     "MESSAGE_ID=aaf637aee4be4e8595f6a9f61d5a6c6f\n"));
}

/* A user's service writes its log into its folder, or into that user's journal. */
Test(cli_events, older_events_of_a_users_service_are_in_its_own_log)
{
	static const struct script answer = {.events = 1, .last = 1, .unix_seconds = 1000000};
	const struct events_choice choice = {.once = true, .since_unix_seconds = 900000};
	char folder[] = "/tmp/cli-events.XXXXXX", path[64], out[1024], error[1024], words[128];
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	sycl__v1__service_facts__init(&service);
	service.mode = SYCL__V1__SERVICE_MODE__SERVICE_MODE_USER;
	service.runtime_directory = folder;
	print_once(&answer, &choice, out, error);
	cr_expect(ne(ptr, strstr(error, ": journalctl --user -u sycld --since '1970-01-11"), NULL),
		  "%s", error);
	(void)snprintf(path, sizeof(path), "%s/sycld.log", folder);
	FILE *log = fopen(path, "we");
	cr_assert(ne(ptr, log, NULL));
	(void)fclose(log);
	print_once(&answer, &choice, out, error);
	(void)snprintf(words, sizeof(words), "Earlier ones are in its log: %s\n", path);
	cr_expect(ne(ptr, strstr(error, words), NULL), "%s", error);
	(void)unlink(path);
	(void)rmdir(folder);
}

static const char *name_of_user(uint32_t uid)
{
	return uid == 7 ? "alice" : uid == 8 ? "bob" : NULL;
}

/* The event's user has a column; other users in the text have their names behind the uid. */
Test(cli_events, users_have_names)
{
	static const struct script order = {
		.events = 1,
		.last = 1,
		.uid = 7,
		.text = "uid 8: drain for uid 7; reason: uid 9 is druid 8"};
	static const struct script other = {.events = 1, .last = 1, .text = "uid 8: uid x, uid "};
	char out[1024], error[1024];
	struct events_choice choice = {.once = true};
	user_names_from(name_of_user);
	print_once(&order, &choice, out, error);
	cr_expect(ne(ptr,
		     strstr(out, "  alice(7)        uid 8 (bob): drain for uid 7; reason: uid 9 "
				 "is druid 8\n"),
		     NULL),
		  "%s", out);
	print_once(&other, &choice, out, error);
	cr_expect(ne(ptr, strstr(out, "  -               uid 8 (bob): uid x, uid \n"), NULL), "%s",
		  out);
	choice.json = true;
	print_once(&order, &choice, out, error);
	cr_expect(ne(ptr, strstr(out, "\"uid\":7,\"user\":\"alice\""), NULL), "%s", out);
	choice.filter = (struct filter){.of_user = true, .uid = 8};
	print_once(&order, &choice, out, error);
	cr_expect(eq(str, out, ""));
	choice.filter = (struct filter){.of_session = true, .session = 3};
	print_once(&order, &choice, out, error);
	cr_expect(eq(str, out, ""));
}

/* The names of kinds are those of the output, and each has its entry in the journal's catalog. */
Test(cli_events, each_kind_has_an_entry_in_the_catalog)
{
	static const char *const kinds[] = {"engine-started", "engine-ended",   "fault", "order",
					    "session-opened", "session-closed", "spill"};
	static char catalog[16384];
	FILE *file = fopen(CATALOG, "re");
	cr_assert(ne(ptr, file, NULL));
	catalog[fread(catalog, 1, sizeof(catalog) - 1, file)] = '\0';
	(void)fclose(file);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		static const struct script answer = {0, 0, 0, 0, 0, 0, NULL};
		struct events_choice choice;
		char out[1024], error[1024];
		const char *wrong;
		cr_assert(events_read("1970-01-02T00:00:00Z", kinds[i], 0, &choice, &wrong));
		choice.json = false;
		choice.once = true;
		queries = 0;
		print_once(&answer, &choice, out, error);
		char *id = strstr(error, "MESSAGE_ID=");
		cr_assert(ne(ptr, id, NULL), "%s", error);
		id[strcspn(id, "\n")] = '\0';
		cr_expect(ne(ptr, strstr(catalog, id + strlen("MESSAGE_ID=")), NULL), "%s",
			  kinds[i]);
	}
	struct events_choice choice;
	const char *wrong;
	cr_expect(not(events_read(NULL, "faults", 0, &choice, &wrong)));
	cr_expect(not(events_read("tomorrow", NULL, 0, &choice, &wrong)));
}

Test(cli_events, times_are_read_as_people_write_them)
{
	/* 2026-03-30 10:00 in Berlin, a day after the clocks went forward. */
	static const time_t now = 1774857600;
	static const struct {
		const char *text;
		uint64_t seconds;
	} good[] = {
		{"today", 1774821600},
		{"yesterday", 1774738800}, /* 23 hours before */
		{"90s", 1774857510},
		{"30m", 1774855800},
		{"2h", 1774850400},
		{"1d", 1774771200},
		{"2026-03-29", 1774738800},
		{"2026-03-29 12:30", 1774780200},
		{"2026-03-29 12:30:05", 1774780205},
		{"2026-03-29T12:30:05.250Z", 1774787405},
	};
	static const char *const bad[] = {"",    "h",          "2",
					  "2w",  "2026-13-01", "2026-03-29 12:30 or so",
					  "2 h", "-2h",        "99999999999999999999d"};
	uint64_t seconds;
	cr_assert(zero(int, setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1)));
	tzset();
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		cr_expect(since_read(good[i].text, now, &seconds), "%s", good[i].text);
		cr_expect(eq(u64, seconds, good[i].seconds), "%s", good[i].text);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect(eq(int, since_read(bad[i], now, &seconds), false), "%s", bad[i]);
}
