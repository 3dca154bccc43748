#include "base/log.h"

#include "base/log_queue.h"
#include "base/user_names.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *debug_spec = "";
static bool journal;
static int journal_fd = -1; /* for entries with fields; negative: not open */

enum { TIME_BYTES = 40 };

/* Processes that a unit's processes start inherit the variable, although their standard error may
 * be another file. So systemd writes the device and inode of the journal's stream into it. */
static bool goes_to_journal(const char *stream)
{
	char numbers[64];
	struct stat facts;
	if (!stream || fstat(STDERR_FILENO, &facts) < 0)
		return false;
	(void)snprintf(numbers, sizeof(numbers), "%llu:%llu", (unsigned long long)facts.st_dev,
		       (unsigned long long)facts.st_ino);
	return strcmp(stream, numbers) == 0;
}

void log_init(void)
{
	const char *spec = getenv("SYCLD_DEBUG");
	debug_spec = spec ? spec : "";
	journal = goes_to_journal(getenv("JOURNAL_STREAM"));
	if (journal && journal_fd < 0)
		journal_fd = journal_open(JOURNAL_SOCKET);
}

static enum log_level log_level_named(const char *name, size_t length)
{
	static const struct {
		const char *name;
		enum log_level level;
	} levels[] = {
		{"error", LOG_LEVEL_ERROR},
		{"warning", LOG_LEVEL_WARNING},
		{"info", LOG_LEVEL_INFO},
		{"debug", LOG_LEVEL_DEBUG},
	};
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (strlen(levels[i].name) == length && !strncmp(levels[i].name, name, length))
			return levels[i].level;
	return LOG_LEVEL_INFO;
}

/* The last matching entry wins, so "*:error,admin:debug" has the expected effect. */
static enum log_level log_level_of_topic(const char *topic)
{
	enum log_level level = LOG_LEVEL_INFO;
	const char *at = debug_spec;
	while (*at) {
		size_t entry = strcspn(at, ",");
		const char *colon = memchr(at, ':', entry);
		if (colon) {
			size_t length = (size_t)(colon - at);
			bool any = length == 1 && *at == '*';
			if (any || (strlen(topic) == length && !strncmp(at, topic, length)))
				level = log_level_named(colon + 1, entry - length - 1);
		}
		at += entry;
		at += *at == ',';
	}
	return level;
}

/* Writes "2026-01-31T12:00:00.123Z". The journal itself adds times to lines. */
static void log_make_time(char time_out[TIME_BYTES])
{
	struct timespec now;
	struct tm parts;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (!gmtime_r(&now.tv_sec, &parts) ||
	    strftime(time_out, TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &parts) == 0)
		*time_out = '\0';
	size_t used = strlen(time_out);
	(void)snprintf(time_out + used, TIME_BYTES - used, ".%03uZ",
		       (unsigned)(now.tv_nsec / 1000000));
}

/* Makes the line with its newline; a long one is cut. Returns its size in bytes. */
static size_t log_make_line(char line_out[LOG_LINE_BYTES], enum log_level level, const char *topic,
			    const char *text)
{
	char when[TIME_BYTES] = "";
	if (!journal)
		log_make_time(when);
	int length = journal ? snprintf(line_out, LOG_LINE_BYTES - 1, "<%d>%s: %s", (int)level,
					topic, text)
			     : snprintf(line_out, LOG_LINE_BYTES - 1, "%s sycld: %s: %s", when,
					topic, text);
	size_t bytes = length < 0 ? 0 : (size_t)length;
	if (bytes > LOG_LINE_BYTES - 2)
		bytes = LOG_LINE_BYTES - 2;
	line_out[bytes++] = '\n';
	return bytes;
}

static size_t log_make_lost_line(char line_out[LOG_LINE_BYTES], unsigned long count)
{
	char text[128];
	(void)snprintf(text, sizeof(text),
		       "%lu lines are lost here: the reader of the log did not keep up", count);
	return log_make_line(line_out, LOG_LEVEL_WARNING, "log", text);
}

int log_open(uv_loop_t *loop)
{
	return log_queue_open(loop, STDERR_FILENO, log_make_lost_line);
}

void log_finish(void)
{
	log_queue_finish();
}

static void log_write_text(enum log_level level, const char *topic, const char *text)
{
	char line[LOG_LINE_BYTES];
	size_t length = log_make_line(line, level, topic, text);
	if (length == 0 || log_queue_write(line, length))
		return;
	/* One write for the line, so that lines of several processes on one terminal do not mix. */
	ssize_t written = write(STDERR_FILENO, line, length);
	(void)written;
}

void log_write(enum log_level level, const char *topic, const char *format, ...)
{
	if (level > log_level_of_topic(topic))
		return;
	char text[LOG_LINE_BYTES], named[LOG_LINE_BYTES];
	va_list arguments;
	va_start(arguments, format);
	int r = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (r < 0)
		return;
	user_names_add(text, named, sizeof(named));
	log_write_text(level, topic, named);
}

void log_write_with(enum log_level level, const char *topic, const struct log_fields *fields,
		    const char *text)
{
	if (level > log_level_of_topic(topic))
		return;
	char whole[LOG_LINE_BYTES], named[LOG_LINE_BYTES];
	(void)snprintf(whole, sizeof(whole), "%s: %s", topic, text);
	user_names_add(whole, named, sizeof(named));
	if (journal && journal_send(JOURNAL_SOCKET, &journal_fd, (int)level, topic, named, fields))
		return;
	user_names_add(text, named, sizeof(named));
	log_write_text(level, topic, named);
}
