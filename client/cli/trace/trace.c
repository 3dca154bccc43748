#include "trace/trace.h"

#include "connection.h"
#include "json.h"
#include "names.h"
#include "protocol_limits.h"
#include "trace/file.h"
#include "trace/timeline.h"
#include "units.h"
#include "words/accounts.h"
#include "words/operand.h"
#include "words/wrong_word.h"

#include "cleanup.h"
#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	SECONDS_DEFAULT = 10,
	SECONDS_MOST = 3600,
	ENGINES_MOST = 1024,
	MESSAGE_BYTES = 512,
	DEVICE_BYTES = 32,
	ANSWER_MS = 4000
};

#define SECOND_NS 1000000000ull
#define PAUSE_NS  100000000ull

/* An engine's report so far. */
struct engine_report {
	struct trace_source source;
	uint32_t times; /* enum trace_times, as the engine claims */
	/*
	 * As of its last answer. `earlier`: the sum of traces that the engine has restarted since.
	 */
	uint64_t noted, open;
	uint64_t earlier;
	/* Records since the trace was stopped: at most as many as an engine keeps. */
	uint64_t since_stop;
	bool answered; /* the last request was answered */
};

struct recording {
	const struct trace_words *words;
	int file; /* the file, if it existed before; -1: it is made at the end */
	struct trace_data data;
	Sycl__V1__Backend backend;
	uint32_t index;
	uint64_t trace; /* the trace's number; 0: not known yet */
	uint64_t records;
	struct engine_report engines[ENGINES_MOST];
	uint32_t engine_count;
	bool stops;
	bool rest; /* an engine has more records that can be fetched at once */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

__attribute__((format(printf, 1, 2))) static int trace_complain(const char *format, ...)
{
	va_list list;
	(void)fflush(stdout);
	(void)fputs("syclctl: ", stderr);
	va_start(list, format);
	(void)vfprintf(stderr, format, list);
	va_end(list);
	(void)fputc('\n', stderr);
	return -EIO;
}

static bool parse_seconds(const struct trace_words *words, uint64_t *seconds_out)
{
	*seconds_out = SECONDS_DEFAULT;
	return !words->seconds || operand_read_number(words->seconds, 1, SECONDS_MOST, seconds_out);
}

static bool parse_device_option(const struct trace_words *words, Sycl__V1__AccountsQuery *query_out,
				const char **wrong_out)
{
	const struct accounts_words device = {.device = words->device};
	return accounts_read(&device, query_out, wrong_out);
}

static bool trace_word_is_format(const struct trace_words *words, const char *name)
{
	return words->format && strcmp(words->format, name) == 0;
}

bool trace_words_read(const struct trace_words *words, const char **wrong_out)
{
	uint64_t seconds;
	Sycl__V1__AccountsQuery query = SYCL__V1__ACCOUNTS_QUERY__INIT;
	*wrong_out = "trace needs a FILE to write to";
	if (!words->file || !*words->file)
		return false;
	if (words->format && !trace_word_is_format(words, "text") &&
	    !trace_word_is_format(words, "chrome")) {
		*wrong_out = wrong_choice("format", words->format, "text chrome");
		return false;
	}
	*wrong_out = "--seconds is a whole number from 1 to 3600";
	return parse_seconds(words, &seconds) && parse_device_option(words, &query, wrong_out);
}

static int query_trace(const struct recording *recording, Sycl__V1__AdminRequest *request,
		       struct answer *answer_out)
{
	char message[MESSAGE_BYTES];
	request->protocol = PROTOCOL_VERSION;
	int r = service_request(recording->words->runtime_directory, request, ANSWER_MS, answer_out,
				message, sizeof(message));
	if (r < 0)
		(void)trace_complain("%s", message);
	return r;
}

/* ------------------------------------- which device ------------------------------------- */

/* Finds the device that has been used, if there is just one. */
static int find_used_device(struct recording *recording)
{
	Sycl__V1__AccountsQuery query = SYCL__V1__ACCOUNTS_QUERY__INIT;
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	struct answer answer;
	uint32_t by = 0;
	query.by = ACCOUNTS_BY_DEVICE;
	request.body_case = SYCL__V1__ADMIN_REQUEST__BODY_ACCOUNTS;
	request.accounts = &query;
	int r = query_trace(recording, &request, &answer);
	if (r < 0)
		return r;
	for (size_t i = 0; i < answer.reply->n_account_rows; i++) {
		const Sycl__V1__DeviceUsage *used = answer.reply->account_rows[i]->used;
		if (!used || used->backend == SYCL__V1__BACKEND__BACKEND_UNSPECIFIED)
			continue;
		recording->backend = used->backend;
		recording->index = used->index;
		by++;
	}
	answer_free(&answer);
	if (by == 1)
		return 0;
	return trace_complain("%s: name one with --device, such as cuda:0",
			      by == 0 ? "no device has been used yet"
				      : "several devices have been used");
}

static int find_device(struct recording *recording, char text_out[DEVICE_BYTES])
{
	Sycl__V1__AccountsQuery query = SYCL__V1__ACCOUNTS_QUERY__INIT;
	const char *wrong = "";
	int r = 0;
	(void)parse_device_option(recording->words, &query, &wrong);
	recording->backend = query.backend;
	recording->index = query.index;
	if (!recording->words->device)
		r = find_used_device(recording);
	(void)snprintf(text_out, DEVICE_BYTES, "%s:%" PRIu32, backend_name(recording->backend),
		       recording->index);
	return r;
}

/* ----------------------------------- engines' answers ------------------------------------ */

static struct engine_report *recording_find_engine(struct recording *recording,
						   const struct trace_source *source)
{
	for (uint32_t i = 0; i < recording->engine_count; i++)
		if (recording->engines[i].source.engine_pid == source->engine_pid &&
		    recording->engines[i].source.uid == source->uid)
			return &recording->engines[i];
	if (recording->engine_count == ENGINES_MOST)
		return NULL;
	struct engine_report *report = &recording->engines[recording->engine_count++];
	*report = (struct engine_report){.source = *source};
	return report;
}

static int recording_add_chunk(struct recording *recording, const Sycl__V1__TraceChunk *chunk)
{
	const struct trace_source source = {chunk->uid, chunk->engine_pid};
	struct engine_report *report = recording_find_engine(recording, &source);
	if (!report)
		return 0;
	report->answered = chunk->answered;
	if (chunk->answered) {
		if (chunk->noted < report->noted)
			report->earlier += report->noted;
		report->noted = chunk->noted;
		report->open = chunk->open;
		trace_data_note_times(&recording->data, report->times, chunk->times,
				      chunk->times_note);
		report->times = chunk->times;
	}
	const uint64_t records = chunk->records.len / sizeof(struct trace_record);
	report->since_stop += recording->stops ? records : 0;
	recording->rest |= chunk->rest && report->since_stop < TRACE_RECORDS_KEPT;
	recording->records += records;
	return trace_data_add(&recording->data, &source, chunk->records.data, chunk->records.len);
}

static int recording_add_answer(struct recording *recording, const Sycl__V1__AdminReply *reply)
{
	int r = 0;
	recording->trace = reply->trace;
	recording->rest = false;
	for (uint32_t i = 0; i < recording->engine_count; i++)
		recording->engines[i].answered = false;
	for (size_t i = 0; i < reply->n_sessions && r == 0; i++)
		r = trace_data_name(&recording->data, reply->sessions[i]->uid,
				    reply->sessions[i]->session, reply->sessions[i]->pid,
				    reply->sessions[i]->command);
	for (size_t i = 0; i < reply->n_traces && r == 0; i++)
		r = recording_add_chunk(recording, reply->traces[i]);
	if (r < 0)
		(void)trace_complain("no memory");
	return r;
}

static int poll_once(struct recording *recording)
{
	Sycl__V1__TraceQuery query = SYCL__V1__TRACE_QUERY__INIT;
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	struct answer answer;
	query.trace = recording->trace;
	query.backend = recording->backend;
	query.index = recording->index;
	query.stop = recording->stops;
	query.exact = recording->words->exact;
	request.body_case = SYCL__V1__ADMIN_REQUEST__BODY_TRACE;
	request.trace = &query;
	int r = query_trace(recording, &request, &answer);
	if (r < 0)
		return r;
	r = recording_add_answer(recording, answer.reply);
	answer_free(&answer);
	return r;
}

/* Until the time is over, or a signal comes. */
static int record_until_end(struct recording *recording, uint64_t seconds)
{
	recording->data.begun_ns = clock_now_ns();
	int r = poll_once(recording);
	if (r < 0)
		return r;
	const uint64_t until_ns = clock_now_ns() + seconds * SECOND_NS;
	while (r == 0 && !interrupted && clock_now_ns() < until_ns) {
		uint64_t left_ns = until_ns - clock_now_ns();
		struct timespec pause = {.tv_nsec =
						 (long)(left_ns < PAUSE_NS ? left_ns : PAUSE_NS)};
		if (!recording->rest)
			(void)nanosleep(&pause, NULL);
		r = poll_once(recording);
	}
	recording->stops = true;
	if (r == 0)
		r = poll_once(recording);
	recording->data.ended_ns = clock_now_ns();
	while (r == 0 && recording->rest)
		r = poll_once(recording);
	/* The records so far are still worth a file. */
	recording->data.is_cut = r < 0;
	return 0;
}

static void count_totals(struct recording *recording)
{
	struct trace_data *data = &recording->data;
	uint64_t noted = 0;
	for (uint32_t i = 0; i < recording->engine_count; i++) {
		noted += recording->engines[i].noted + recording->engines[i].earlier;
		data->open += recording->engines[i].open;
		data->engines_gone += !recording->engines[i].answered;
	}
	data->engines = recording->engine_count;
	data->lost = noted > recording->records ? noted - recording->records : 0;
}

/* --------------------------------------- the file --------------------------------------- */

/* Checks that the file can be written. An existing file is kept open, because its name may belong
 * to another file later. A new file is removed again. */
static int check_output_file(struct recording *recording)
{
	const char *path = recording->words->file;
	CLEANUP(close_fd)
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd >= 0)
		return unlink(path) < 0 ? trace_complain("%s: %s", path, strerror(errno)) : 0;
	if (errno == EEXIST)
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fcntl(fd, F_SETFL, 0) < 0)
		return trace_complain("%s: %s", path, strerror(errno));
	recording->file = take_fd(&fd);
	return 0;
}

/* Opens the file without following links, and refuses a file that was made meanwhile. */
static int open_output_file(struct recording *recording)
{
	struct stat facts;
	if (recording->file < 0)
		return open(recording->words->file,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
	if (fstat(recording->file, &facts) < 0 ||
	    (S_ISREG(facts.st_mode) && ftruncate(recording->file, 0) < 0))
		return -1;
	return take_fd(&recording->file);
}

static void close_output_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

static int write_output_file(struct recording *recording)
{
	const char *path = recording->words->file;
	const bool is_new = recording->file < 0;
	CLEANUP(close_fd) int fd = open_output_file(recording);
	CLEANUP(close_output_file) FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!file)
		return trace_complain("%s: %s", path, strerror(errno));
	(void)take_fd(&fd);
	int r = recording->data.wants_moves ? trace_timeline_write(&recording->data, file)
					    : trace_data_write(&recording->data, file);
	if (r < 0 && is_new)
		(void)unlink(path); /* half a trace is of no use */
	return r < 0 ? trace_complain("%s: %s", path, strerror(-r)) : 0;
}

static int print_summary(const struct recording *recording)
{
	const struct trace_data *data = &recording->data;
	const double seconds = (double)(data->ended_ns - data->begun_ns) / 1e9;
	const uint64_t left_out = data->too_many + data->wrong;
	if (recording->words->json) {
		json_t *object = json_pack(
			"{s:s, s:s, s:f, s:I, s:I, s:I, s:I, s:I, s:I}", "file",
			recording->words->file, "device", data->device, "seconds", seconds,
			"groups", (json_int_t)trace_data_groups(data), "spills",
			(json_int_t)data->spill_count, "sessions",
			(json_int_t)trace_data_sessions(data), "lost", (json_int_t)data->lost,
			"not_over", (json_int_t)data->open, "left_out", (json_int_t)left_out);
		int r = object ? json_dumpf(object, stdout, JSON_INDENT(2) | JSON_DIGITS) : -1;
		json_decref(object);
		(void)fputc('\n', stdout);
		return r < 0 || fflush(stdout) != 0
			       ? trace_complain("the answer could not be written")
			       : 0;
	}
	(void)printf("%s: %" PRIu32 " command groups of %" PRIu32 " sessions on %s in %.1f s",
		     recording->words->file, trace_data_groups(data), trace_data_sessions(data),
		     data->device, seconds);
	if (data->lost + left_out > 0)
		(void)printf(", %" PRIu64 " more are missing", data->lost + left_out);
	(void)fputs("\n", stdout);
	return fflush(stdout) != 0 ? trace_complain("the answer could not be written") : 0;
}

/* -------------------------------------- all of it --------------------------------------- */

static void trace_end_recording(struct recording **recording)
{
	if (*recording) {
		trace_data_fini(&(*recording)->data);
		close_fd(&(*recording)->file);
	}
	free(*recording);
}

static int take_trace(struct recording *recording, uint64_t seconds)
{
	struct trace_data *data = &recording->data;
	data->service_version = SYCLD_VERSION;
	(void)format_time((uint64_t)time(NULL), data->since);
	int r = record_until_end(recording, seconds);
	if (r < 0)
		return r;
	count_totals(recording);
	if (data->group_count == 0)
		return data->is_cut
			       ? -EIO
			       : trace_complain(
					 "nothing was sent to %s in that time: there is no file",
					 data->device);
	r = write_output_file(recording);
	if (r == 0)
		r = print_summary(recording);
	return r == 0 && data->is_cut ? -EIO : r;
}

int trace_run(const struct trace_words *words)
{
	CLEANUP(trace_end_recording) struct recording *recording = calloc(1, sizeof(*recording));
	/* A second signal ends the program without the file. So an engine with very many records
	 * cannot keep the user waiting. */
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	char device[DEVICE_BYTES];
	uint64_t seconds = 0;
	if (!recording)
		return trace_complain("no memory");
	recording->file = -1;
	if (trace_data_init(&recording->data) < 0)
		return trace_complain("no memory");
	recording->words = words;
	recording->data.is_exact = words->exact;
	recording->data.wants_moves = trace_word_is_format(words, "chrome");
	(void)parse_seconds(words, &seconds);
	int r = check_output_file(recording);
	if (r == 0)
		r = find_device(recording, device);
	if (r < 0)
		return r;
	recording->data.device = device;
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	return take_trace(recording, seconds);
}
