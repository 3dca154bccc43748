#include "base/log.h"

#include "base/log_queue.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *debug_spec = "";
static bool journal;

void log_init(void)
{
	const char *spec = getenv("SYCLD_DEBUG");
	debug_spec = spec ? spec : "";
	journal = getenv("JOURNAL_STREAM") != NULL;
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

/* Makes the line with its newline; a long one is cut. Returns its size in bytes. */
static size_t log_make_line(char line_out[LOG_LINE_BYTES], enum log_level level, const char *topic,
			    const char *text)
{
	int length = journal ? snprintf(line_out, LOG_LINE_BYTES - 1, "<%d>%s: %s", (int)level,
					topic, text)
			     : snprintf(line_out, LOG_LINE_BYTES - 1, "sycld: %s: %s", topic, text);
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

void log_write(enum log_level level, const char *topic, const char *format, ...)
{
	if (level > log_level_of_topic(topic))
		return;
	char text[LOG_LINE_BYTES], line[LOG_LINE_BYTES];
	va_list arguments;
	va_start(arguments, format);
	int r = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	size_t length = r < 0 ? 0 : log_make_line(line, level, topic, text);
	if (length == 0 || log_queue_write(line, length))
		return;
	/* One write for the line, so that lines of several processes on one terminal do not mix. */
	ssize_t written = write(STDERR_FILENO, line, length);
	(void)written;
}
