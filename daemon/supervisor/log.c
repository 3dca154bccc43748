#include "log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

static const char *debug_spec = "";
static bool journal;

void log_init(void)
{
	const char *spec = getenv("SYCLD_DEBUG");
	debug_spec = spec ? spec : "";
	journal = getenv("JOURNAL_STREAM") != NULL;
}

static enum log_level level_named(const char *name, size_t length)
{
	static const struct {
		const char *name;
		enum log_level level;
	} levels[] = {
		{ "error", LOG_LEVEL_ERROR },
		{ "warning", LOG_LEVEL_WARNING },
		{ "info", LOG_LEVEL_INFO },
		{ "debug", LOG_LEVEL_DEBUG },
	};
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (strlen(levels[i].name) == length && !strncmp(levels[i].name, name, length))
			return levels[i].level;
	return LOG_LEVEL_INFO;
}

/* The last entry that fits wins, so "*:error,admin:debug" does what one expects. */
static enum log_level level_of(const char *topic)
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
				level = level_named(colon + 1, entry - length - 1);
		}
		at += entry;
		at += *at == ',';
	}
	return level;
}

void log_write(enum log_level level, const char *topic, const char *format, ...)
{
	if (level > level_of(topic))
		return;
	char line[LINE_BYTES];
	int head = journal ? snprintf(line, sizeof(line), "<%d>%s: ", (int)level, topic)
			   : snprintf(line, sizeof(line), "sycld: %s: ", topic);
	va_list arguments;
	va_start(arguments, format);
	int text = vsnprintf(line + head, sizeof(line) - (size_t)head, format, arguments);
	va_end(arguments);
	if (text < 0)
		return;
	size_t length = (size_t)head + (size_t)text;
	if (length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	/* One write, so that lines of several processes on one terminal do not mix. */
	ssize_t written = write(STDERR_FILENO, line, length);
	(void)written;
}
