#include "base/configuration.h"

#include "cleanup.h"
#include "limit_list.h"

#include <ini.h>

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS     1000000000ull
#define DAY_SECONDS   86400u
#define SLICE_US_MOST 1000000u

enum { COMPLAINT_BYTES = 256, KEYS_MAX = 64 };

#define NAME(limit, most) #limit,
#define MOST(limit, most) (most),

const char *const configuration_limit_names[CONFIGURATION_LIMITS] = {LIMIT_LIST(NAME)};
const uint64_t configuration_limit_most[CONFIGURATION_LIMITS] = {LIMIT_LIST(MOST)};

struct reading {
	struct configuration *configuration;
	FILE *file;
	int line;
	bool continued; /* the last piece had no end of line */
	/* One bit for each entry of keys[], then each limit, then each option of [cuda]. */
	uint64_t seen;
	int complaint_line;
	char complaint[COMPLAINT_BYTES]; /* the first complaint */
};

void configuration_defaults(struct configuration *configuration_out)
{
	*configuration_out = (struct configuration){
		.engine_idle_ns = 60 * SECOND_NS,
		.engine_start_ns = 30 * SECOND_NS,
		.handshake_ns = 60 * SECOND_NS,
		.drain_ns = 5 * SECOND_NS,
		.standby = true,
		.slice_us = CONFIGURATION_SLICE_US,
		.engines = 256,
		.sessions_per_tenant = 1024,
		.admin_group = "sycld",
		.observer_group = "sycld-observers",
	};
}

bool configuration_number(const char *text, bool with_unit, uint64_t most, uint64_t *number_out)
{
	if (!isdigit((unsigned char)*text))
		return false;
	char *end = NULL;
	errno = 0;
	unsigned long long number = strtoull(text, &end, 10);
	if (errno)
		return false;
	unsigned shift = 0;
	if (with_unit && *end) {
		static const char units[] = "KMGT";
		const char *unit = strchr(units, toupper((unsigned char)*end));
		if (!unit)
			return false;
		shift = 10u * (unsigned)(unit - units + 1);
		end++;
	}
	if (*end || number > (most >> shift))
		return false;
	*number_out = (uint64_t)number << shift;
	return true;
}

static bool set_seconds(const char *value, uint64_t least, uint64_t *ns_out)
{
	uint64_t seconds;
	if (!configuration_number(value, false, DAY_SECONDS, &seconds) || seconds < least)
		return false;
	*ns_out = seconds * SECOND_NS;
	return true;
}

static bool set_count(const char *value, unsigned *count_out)
{
	uint64_t count;
	if (!configuration_number(value, false, 1000000, &count) || count == 0)
		return false;
	*count_out = (unsigned)count;
	return true;
}

static bool set_choice(const char *value, const char *no, const char *yes, bool *choice_out)
{
	if (strcmp(value, no) != 0 && strcmp(value, yes) != 0)
		return false;
	*choice_out = !strcmp(value, yes);
	return true;
}

static bool set_engine_idle(struct configuration *c, const char *value)
{
	return set_seconds(value, 0, &c->engine_idle_ns);
}

static bool set_engine_start(struct configuration *c, const char *value)
{
	return set_seconds(value, 1, &c->engine_start_ns);
}

static bool set_handshake(struct configuration *c, const char *value)
{
	return set_seconds(value, 1, &c->handshake_ns);
}

static bool set_drain(struct configuration *c, const char *value)
{
	return set_seconds(value, 0, &c->drain_ns);
}

static bool set_at_stop(struct configuration *c, const char *value)
{
	return set_choice(value, "drain", "leave", &c->leave_engines);
}

static bool set_standby(struct configuration *c, const char *value)
{
	return set_choice(value, "no", "yes", &c->standby);
}

static bool set_spill(struct configuration *c, const char *value)
{
	return set_choice(value, "no", "yes", &c->spill);
}

static bool set_slice(struct configuration *c, const char *value)
{
	return configuration_number(value, false, SLICE_US_MOST, &c->slice_us);
}

static bool set_isolation(struct configuration *c, const char *value)
{
	return set_choice(value, "tenant", "session", &c->engine_per_session);
}

static bool set_unknown_users(struct configuration *c, const char *value)
{
	return set_choice(value, "share", "refuse", &c->refuse_unknown);
}

static bool set_engines(struct configuration *c, const char *value)
{
	return set_count(value, &c->engines);
}

/* Bounded, because a report's parts have room for so many sessions only. */
static bool set_sessions(struct configuration *c, const char *value)
{
	uint32_t count;
	if (!set_count(value, &count) || count > 3000)
		return false;
	c->sessions_per_tenant = count;
	return true;
}

static bool set_group(const char *value, char name_out[64])
{
	size_t length = strlen(value);
	if (length == 0 || length >= 64)
		return false;
	memcpy(name_out, value, length + 1);
	return true;
}

static bool set_admin_group(struct configuration *c, const char *value)
{
	return set_group(value, c->admin_group);
}

static bool set_observer_group(struct configuration *c, const char *value)
{
	return set_group(value, c->observer_group);
}

static bool set_processes(struct configuration *c, const char *value)
{
	return configuration_number(value, false, 1u << 22, &c->user_processes) &&
	       c->user_processes > 0;
}

static bool set_memory(struct configuration *c, const char *value)
{
	return configuration_number(value, true, 1ull << 46, &c->user_memory_bytes) &&
	       c->user_memory_bytes > 0;
}

static bool set_cpu_weight(struct configuration *c, const char *value)
{
	return configuration_number(value, false, 10000, &c->user_cpu_weight) &&
	       c->user_cpu_weight > 0;
}

static const struct key {
	const char *section;
	const char *name;
	const char *wants;
	bool (*set)(struct configuration *configuration, const char *value);
} keys[] = {
	{"service", "engine_idle_seconds", "a number from 0 to 86400", set_engine_idle},
	{"service", "engine_start_seconds", "a number from 1 to 86400", set_engine_start},
	{"service", "handshake_seconds", "a number from 1 to 86400", set_handshake},
	{"service", "drain_seconds", "a number from 0 to 86400", set_drain},
	{"service", "engines_at_stop", "drain or leave", set_at_stop},
	{"service", "standby", "yes or no", set_standby},
	{"service", "engines", "a number from 1 to 1000000", set_engines},
	{"service", "unknown_users", "share or refuse", set_unknown_users},
	{"service", "sessions_per_tenant", "a number from 1 to 3000", set_sessions},
	{"service", "admin_group", "a group's name", set_admin_group},
	{"service", "observer_group", "a group's name", set_observer_group},
	{"service", "spill", "yes or no", set_spill},
	{"service", "slice_us", "a number from 0 to 1000000", set_slice},
	{"isolation", "isolation", "tenant or session", set_isolation},
	{"isolation", "processes", "a number from 1 to 4194304", set_processes},
	{"isolation", "memory_bytes", "a number of bytes from 1 to 64T", set_memory},
	{"isolation", "cpu_weight", "a number from 1 to 10000", set_cpu_weight},
};

enum { KEY_COUNT = sizeof(keys) / sizeof(*keys) };

_Static_assert(KEY_COUNT + CONFIGURATION_LIMITS + CONFIGURATION_CUDA_OPTIONS <= KEYS_MAX,
	       "a bit each");

__attribute__((format(printf, 2, 3))) static int configuration_refuse(struct reading *reading,
								      const char *format, ...)
{
	if (!reading->complaint_line) {
		reading->complaint_line = reading->line;
		va_list arguments;
		va_start(arguments, format);
		(void)vsnprintf(reading->complaint, sizeof(reading->complaint), format, arguments);
		va_end(arguments);
	}
	return 0;
}

/* inih's reader: as fgets, but it counts lines, and refuses a line that inih would split in two. */
static char *configuration_next_line(char *buffer, int size, void *context)
{
	struct reading *reading = context;
	if (!fgets(buffer, size, reading->file))
		return NULL;
	reading->line++;
	if (reading->continued)
		(void)configuration_refuse(reading, "the line before is too long");
	reading->continued = !strchr(buffer, '\n') && !feof(reading->file);
	return buffer;
}

static bool key_is_repeated(struct reading *reading, unsigned bit)
{
	bool before = reading->seen >> bit & 1;
	reading->seen |= 1ull << bit;
	return before;
}

static int parse_limit_line(struct reading *reading, const char *name, const char *value)
{
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++) {
		if (strcmp(configuration_limit_names[i], name) != 0)
			continue;
		if (key_is_repeated(reading, KEY_COUNT + i))
			return configuration_refuse(reading, "limits.%s is given twice", name);
		bool bytes = strstr(name, "_bytes") != NULL;
		uint64_t number;
		if (!configuration_number(value, bytes, configuration_limit_most[i], &number) ||
		    number == 0)
			return configuration_refuse(
				reading, "%s needs a number%s from 1 to %llu, not '%.64s'", name,
				bytes ? " of bytes (K, M, G, T allowed)" : "",
				(unsigned long long)configuration_limit_most[i], value);
		reading->configuration->limits[i] =
			(struct configuration_limit){.given = true, .value = number};
		return 1;
	}
	return configuration_refuse(reading, "no such limit: '%.64s'", name);
}

static int parse_cuda_line(struct reading *reading, const char *name, const char *value)
{
	for (unsigned i = 0; i < CONFIGURATION_CUDA_OPTIONS; i++) {
		const char *wants = "";
		if (strcmp(configuration_cuda_names[i], name) != 0)
			continue;
		if (key_is_repeated(reading, KEY_COUNT + CONFIGURATION_LIMITS + i))
			return configuration_refuse(reading, "cuda.%s is given twice", name);
		if (!configuration_cuda_set(reading->configuration, i, value, &wants))
			return configuration_refuse(reading, "%s needs %s, not '%.64s'", name,
						    wants, value);
		return 1;
	}
	return configuration_refuse(reading, "no such key in [cuda]: '%.64s'", name);
}

static int parse_share_line(struct reading *reading, const char *name, const char *value)
{
	bool wrong_name = false;
	const char *wrong =
		configuration_shares_set(&reading->configuration->shares, name, value, &wrong_name);
	if (!wrong)
		return 1;
	return configuration_refuse(reading, "shares.%.64s: %s%s%.64s%s", name, wrong,
				    wrong_name ? "" : ", not '", wrong_name ? "" : value,
				    wrong_name ? "" : "'");
}

/* inih's handler: 1, or 0 for an invalid line. */
static int parse_line(void *context, const char *section, const char *name, const char *value)
{
	struct reading *reading = context;
	if (!strcmp(section, "limits"))
		return parse_limit_line(reading, name, value);
	if (!strcmp(section, "cuda"))
		return parse_cuda_line(reading, name, value);
	if (!strcmp(section, "shares"))
		return parse_share_line(reading, name, value);
	bool known_section = false;
	for (unsigned i = 0; i < KEY_COUNT; i++) {
		if (strcmp(keys[i].section, section) != 0)
			continue;
		known_section = true;
		if (strcmp(keys[i].name, name) != 0)
			continue;
		if (key_is_repeated(reading, i))
			return configuration_refuse(reading, "%s.%s is given twice", section, name);
		if (!keys[i].set(reading->configuration, value))
			return configuration_refuse(reading, "%s needs %s, not '%.64s'", name,
						    keys[i].wants, value);
		return 1;
	}
	if (!known_section && !*section)
		return configuration_refuse(reading, "'%.64s' stands before the first [section]",
					    name);
	if (!known_section)
		return configuration_refuse(reading, "no such section: [%.64s]", section);
	return configuration_refuse(reading, "no such key in [%s]: '%.64s'", section, name);
}

static void configuration_file_close(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

int configuration_read(const char *path, struct configuration *configuration_out, char *message_out,
		       size_t message_bytes)
{
	CLEANUP(configuration_file_close) FILE *file = fopen(path, "re");
	if (!file) {
		int r = -errno;
		(void)snprintf(message_out, message_bytes, "%s: %s", path, strerror(-r));
		return r;
	}
	struct configuration configuration;
	configuration_defaults(&configuration);
	struct reading reading = {.configuration = &configuration, .file = file};
	int line = ini_parse_stream(configuration_next_line, &reading, parse_line, &reading);
	if (line == 0 && ferror(file)) {
		(void)snprintf(message_out, message_bytes, "%s: cannot be read", path);
		return -EIO;
	}
	bool complained = reading.complaint_line && (line == 0 || reading.complaint_line <= line);
	if (complained || line != 0) {
		(void)snprintf(message_out, message_bytes, "%s:%d: %s", path,
			       complained ? reading.complaint_line : line,
			       complained ? reading.complaint
					  : "neither [section] nor key = value");
		return -EINVAL;
	}
	*configuration_out = configuration;
	return 0;
}

static int user_configuration_path(char *path_out, size_t size)
{
	const char *base = getenv("XDG_CONFIG_HOME");
	int length = -1;
	if (base && *base == '/') {
		length = snprintf(path_out, size, "%s/sycld/sycld.conf", base);
	} else {
		base = getenv("HOME");
		if (!base || *base != '/')
			return -ENOENT;
		length = snprintf(path_out, size, "%s/.config/sycld/sycld.conf", base);
	}
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int configuration_load(const char *given, bool user, struct configuration *configuration_out,
		       char *message_out, size_t message_bytes)
{
	if (given)
		return configuration_read(given, configuration_out, message_out, message_bytes);
	char path[PATH_MAX] = SYCLD_SYSCONFDIR "/sycld/sycld.conf";
	int r = user ? user_configuration_path(path, sizeof(path)) : 0;
	if (r == 0)
		r = configuration_read(path, configuration_out, message_out, message_bytes);
	if (r == -ENOENT || r == -ENAMETOOLONG) {
		configuration_defaults(configuration_out);
		return 0;
	}
	return r;
}
