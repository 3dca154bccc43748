#include "base/configuration.h"

#include "cleanup.h"
#include "limit_list.h"
#include "nearest_word.h"

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

/* inih cuts the name of a section at 50 bytes, so longer names are refused. */
enum { COMPLAINT_BYTES = 256, KEYS_MAX = 64, SECTION_BYTES_MOST = 49, INI_LINE_BYTES = 256 };
enum { SESSIONS_MOST = 3000 };

#define NAME(limit, most) #limit,
#define MOST(limit, most) (most),

const char *const configuration_limit_names[CONFIGURATION_LIMITS] = {LIMIT_LIST(NAME)};
const uint64_t configuration_limit_most[CONFIGURATION_LIMITS] = {LIMIT_LIST(MOST)};

struct reading {
	struct configuration *configuration;
	FILE *file;
	const char *path;
	unsigned file_index;
	int line;
	bool continued; /* the last piece had no end of line */
	/* One bit for each entry of keys[], then each limit, then each option of [cuda]. */
	uint64_t seen;
	configuration_found *found;
	void *context;
	unsigned errors;
	int error_line; /* line of the last error */
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
		.job_group = "sycld-jobs",
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

static bool set_filter(struct configuration *c, const char *value)
{
	bool is_basic = !strcmp(value, "basic"), is_full = !strcmp(value, "full");
	if (!is_basic && !is_full && strcmp(value, "strict") != 0)
		return false;
	c->filter_is_basic = is_basic;
	c->filter_is_full = is_full;
	return true;
}

static bool set_unknown_users(struct configuration *c, const char *value)
{
	return set_choice(value, "share", "refuse", &c->refuse_unknown);
}

static bool set_outside_jobs(struct configuration *c, const char *value)
{
	return set_choice(value, "allow", "refuse", &c->refuse_outside);
}

static bool set_engines(struct configuration *c, const char *value)
{
	return set_count(value, &c->engines);
}

/* Bounded, because a report's parts have room for so many sessions only. */
static bool set_sessions(struct configuration *c, const char *value)
{
	uint32_t count;
	if (!set_count(value, &count) || count > SESSIONS_MOST)
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

static bool set_job_group(struct configuration *c, const char *value)
{
	return set_group(value, c->job_group);
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

/* A relative path would be relative to a folder that nobody sees. */
static bool set_mps_folder(struct configuration *c, const char *value)
{
	if (*value != '/' || strlen(value) >= sizeof(c->mps_folder))
		return false;
	(void)snprintf(c->mps_folder, sizeof(c->mps_folder), "%s", value);
	return true;
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
	{"service", "job_group", "a group's name", set_job_group},
	{"service", "outside_jobs", "allow or refuse", set_outside_jobs},
	{"service", "spill", "yes or no", set_spill},
	{"service", "slice_us", "a number from 0 to 1000000", set_slice},
	{"isolation", "isolation", "tenant or session", set_isolation},
	{"isolation", "filter", "strict, full or basic", set_filter},
	{"isolation", "processes", "a number from 1 to 4194304", set_processes},
	{"isolation", "memory_bytes", "a number of bytes from 1 to 64T", set_memory},
	{"isolation", "cpu_weight", "a number from 1 to 10000", set_cpu_weight},
	{"isolation", "mps_folder", "an absolute path of at most 79 bytes", set_mps_folder},
};

enum { KEY_COUNT = sizeof(keys) / sizeof(*keys) };

_Static_assert(KEY_COUNT + CONFIGURATION_LIMITS + CONFIGURATION_CUDA_OPTIONS < KEYS_MAX,
	       "a bit each, and one for limits.devices");

/* Reports one error for each line, because further ones may be its consequences. */
__attribute__((format(printf, 2, 3))) static int configuration_refuse(struct reading *reading,
								      const char *format, ...)
{
	char text[COMPLAINT_BYTES], whole[PATH_MAX + COMPLAINT_BYTES];
	if (reading->error_line == reading->line)
		return 0;
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)snprintf(whole, sizeof(whole), "%s:%d: %s", reading->path, reading->line, text);
	reading->found(reading->context, true, whole);
	reading->error_line = reading->line;
	reading->errors++;
	return 0;
}

static struct configuration_origin reading_origin(const struct reading *reading)
{
	return (struct configuration_origin){
		.file = (uint16_t)reading->file_index,
		.line = reading->line > UINT16_MAX ? UINT16_MAX : (uint16_t)reading->line};
}

/* This check finds each such line; inih reports only the first. A line that begins with a blank
 * continues a value. */
static bool line_has_a_form(const char *line)
{
	size_t blanks = strspn(line, " \t\r\n");
	if (!line[blanks] || strchr(";#", line[blanks]))
		return true;
	if (line[blanks] == '[')
		return strchr(line, ']') != NULL;
	return blanks > 0 || strpbrk(line, "=:") != NULL;
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
	else if (!line_has_a_form(buffer))
		(void)configuration_refuse(reading, "neither [section] nor key = value");
	reading->continued = !strchr(buffer, '\n') && !feof(reading->file);
	return buffer;
}

/* ". Did you mean 'NAME'?", or "" if no name is similar. */
static const char *configuration_suggestion(const struct nearest_word *nearest, char *text,
					    size_t bytes)
{
	*text = '\0';
	if (nearest->found)
		(void)snprintf(text, bytes, ". Did you mean '%s'?", nearest->found);
	return text;
}

static bool key_is_repeated(struct reading *reading, unsigned bit)
{
	bool before = reading->seen >> bit & 1;
	reading->seen |= 1ull << bit;
	return before;
}

/* Sets a limit of all users, or of a section. `limit`: the place for the value. */
static int configuration_set_limit(struct reading *reading, unsigned index, const char *value,
				   struct configuration_limit *limit)
{
	const char *name = configuration_limit_names[index];
	bool bytes = strstr(name, "_bytes") != NULL;
	uint64_t number;
	if (!configuration_number(value, bytes, configuration_limit_most[index], &number) ||
	    number == 0)
		return configuration_refuse(
			reading, "%s needs a number%s from 1 to %llu, not '%.64s'", name,
			bytes ? " of bytes (K, M, G, T allowed)" : "",
			(unsigned long long)configuration_limit_most[index], value);
	*limit = (struct configuration_limit){
		.given = true, .value = number, .origin = reading_origin(reading)};
	return 1;
}

static int set_devices(struct reading *reading, const char *value,
		       struct configuration_devices *devices)
{
	const char *wrong = configuration_devices_set(devices, value, reading_origin(reading));
	return wrong ? configuration_refuse(reading, "devices %s, not '%.64s'", wrong, value) : 1;
}

/* Returns the index of the limit; CONFIGURATION_LIMITS: there is none of this name. */
static unsigned configuration_find_limit(const char *name)
{
	unsigned i = 0;
	while (i < CONFIGURATION_LIMITS && strcmp(configuration_limit_names[i], name) != 0)
		i++;
	return i;
}

static int refuse_limit_name(struct reading *reading, const char *section, const char *name)
{
	char text[COMPLAINT_BYTES];
	struct nearest_word nearest = {.wrong = name};
	/* The names by which an order changes a share (syclctl limit). */
	if (strcmp(name, "share_min") == 0 || strcmp(name, "share_max") == 0)
		return configuration_refuse(
			reading, "no such limit: '%s'. Percentages are %s", name,
			strcmp(section, "limits") == 0 ? "in [shares]: default = MIN-MAX"
						       : "one key here: share = MIN-MAX");
	for (unsigned i = 0; i < CONFIGURATION_LIMITS; i++)
		nearest_word_consider(&nearest, configuration_limit_names[i]);
	nearest_word_consider(&nearest, "devices");
	if (strcmp(section, "limits") != 0) {
		nearest_word_consider(&nearest, "share");
		nearest_word_consider(&nearest, "sessions_per_tenant");
		nearest_word_consider(&nearest, "mps");
	}
	return configuration_refuse(reading, "no such limit: '%.64s'%s", name,
				    configuration_suggestion(&nearest, text, sizeof(text)));
}

static int parse_limit_line(struct reading *reading, const char *name, const char *value)
{
	unsigned i = configuration_find_limit(name);
	bool is_devices = !strcmp(name, "devices");
	if (i == CONFIGURATION_LIMITS && !is_devices)
		return refuse_limit_name(reading, "limits", name);
	if (key_is_repeated(reading, is_devices ? KEYS_MAX - 1 : KEY_COUNT + i))
		return configuration_refuse(reading, "limits.%s is given twice", name);
	return is_devices ? set_devices(reading, value, &reading->configuration->devices)
			  : configuration_set_limit(reading, i, value,
						    &reading->configuration->limits[i]);
}

static int parse_share_line(struct reading *reading, const char *name, const char *value);

static int set_person_sessions(struct reading *reading, const char *value,
			       struct configuration_limit *limit)
{
	uint32_t sessions;
	if (!set_count(value, &sessions) || sessions > SESSIONS_MOST)
		return configuration_refuse(
			reading, "sessions_per_tenant needs a number from 1 to 3000, not '%.64s'",
			value);
	*limit = (struct configuration_limit){
		.given = true, .value = sessions, .origin = reading_origin(reading)};
	return 1;
}

static int set_person_mps(struct reading *reading, const char *value,
			  struct configuration_limit *limit)
{
	bool is_client;
	if (!set_choice(value, "no", "yes", &is_client))
		return configuration_refuse(reading, "mps needs yes or no, not '%.64s'", value);
	*limit = (struct configuration_limit){
		.given = true, .value = is_client, .origin = reading_origin(reading)};
	return 1;
}

/* Keys of a section that are no limits. */
enum person_key { PERSON_DEVICES, PERSON_SESSIONS, PERSON_MPS, PERSON_KEYS };

static enum person_key person_key_find(const char *name)
{
	static const char *const names[PERSON_KEYS] = {"devices", "sessions_per_tenant", "mps"};
	unsigned key = 0;
	while (key < PERSON_KEYS && strcmp(names[key], name) != 0)
		key++;
	return (enum person_key)key;
}

/* Reads a key of [user NAME], [uid NUMBER] or [group NAME]. */
static int parse_person_line(struct reading *reading, struct configuration_settings *settings,
			     const char *section, const char *name, const char *value)
{
	unsigned i = configuration_find_limit(name);
	char key[INI_LINE_BYTES];
	if (!strcmp(name, "share")) {
		(void)snprintf(key, sizeof(key), "%s", section);
		*strchr(key, ' ') = '.';
		return parse_share_line(reading, key, value);
	}
	enum person_key other = person_key_find(name);
	if (i == CONFIGURATION_LIMITS && other == PERSON_KEYS)
		return refuse_limit_name(reading, section, name);
	uint32_t bit = 1u << (i < CONFIGURATION_LIMITS ? i : i + other);
	if (settings->seen & bit)
		return configuration_refuse(reading, "[%.64s] has %s twice", section, name);
	settings->seen |= bit;
	if (i < CONFIGURATION_LIMITS)
		return configuration_set_limit(reading, i, value, &settings->limits[i]);
	if (other == PERSON_DEVICES)
		return set_devices(reading, value, &settings->devices);
	return other == PERSON_SESSIONS ? set_person_sessions(reading, value, &settings->sessions)
					: set_person_mps(reading, value, &settings->mps);
}

static int refuse_person(struct reading *reading, const char *section)
{
	struct configuration_owner owner;
	if (configuration_owner_parse(section, ' ', &owner))
		return configuration_refuse(reading,
					    "[%.64s] is one section more than the %d there may be",
					    section, CONFIGURATION_PEOPLE);
	return configuration_refuse(
		reading, "[%.64s] names none: [user NAME], [uid NUMBER] or [group NAME]", section);
}

static bool section_is_of_people(const char *section)
{
	return !strncmp(section, "user", 4) || !strncmp(section, "uid", 3) ||
	       !strncmp(section, "group", 5);
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
	const char *wrong = configuration_shares_set(&reading->configuration->shares, name, value,
						     reading_origin(reading), &wrong_name);
	if (!wrong)
		return 1;
	return configuration_refuse(reading, "shares.%.64s: %s%s%.64s%s", name, wrong,
				    wrong_name ? "" : ", not '", wrong_name ? "" : value,
				    wrong_name ? "" : "'");
}

static int refuse_section(struct reading *reading, const char *section)
{
	char text[COMPLAINT_BYTES];
	struct nearest_word nearest = {.wrong = section};
	static const char *const sections[] = {"service", "isolation", "limits", "shares", "cuda"};
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		nearest_word_consider(&nearest, sections[i]);
	return configuration_refuse(reading, "no such section: [%.64s]%s", section,
				    configuration_suggestion(&nearest, text, sizeof(text)));
}

/* Reads a key of [service] or [isolation]. */
static int parse_key_line(struct reading *reading, const char *section, const char *name,
			  const char *value)
{
	bool known_section = false;
	struct nearest_word nearest = {.wrong = name};
	char text[COMPLAINT_BYTES];
	for (unsigned i = 0; i < KEY_COUNT; i++) {
		if (strcmp(keys[i].section, section) != 0)
			continue;
		known_section = true;
		nearest_word_consider(&nearest, keys[i].name);
		if (strcmp(keys[i].name, name) != 0)
			continue;
		if (key_is_repeated(reading, i))
			return configuration_refuse(reading, "%s.%s is given twice", section, name);
		if (!keys[i].set(reading->configuration, value))
			return configuration_refuse(reading, "%s needs %s, not '%.64s'", name,
						    keys[i].wants, value);
		if (keys[i].set == set_sessions)
			reading->configuration->sessions_origin = reading_origin(reading);
		return 1;
	}
	if (!known_section && !*section)
		return configuration_refuse(reading, "'%.64s' stands before the first [section]",
					    name);
	if (!known_section)
		return refuse_section(reading, section);
	return configuration_refuse(reading, "no such key in [%s]: '%.64s'%s", section, name,
				    configuration_suggestion(&nearest, text, sizeof(text)));
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
	if (section_is_of_people(section)) {
		struct configuration_settings *settings =
			strlen(section) < SECTION_BYTES_MOST
				? configuration_people_section(reading->configuration, section)
				: NULL;
		return settings ? parse_person_line(reading, settings, section, name, value)
				: refuse_person(reading, section);
	}
	return parse_key_line(reading, section, name, value);
}

static void configuration_file_close(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

/* Adds the file's name to the list. Returns its index; CONFIGURATION_FILES: the list is full. */
static unsigned add_file_name(struct configuration *configuration, const char *path)
{
	const char *slash = strrchr(path, '/');
	unsigned index = configuration->file_count;
	if (index == CONFIGURATION_FILES)
		return index;
	(void)snprintf(configuration->files[index], sizeof(configuration->files[index]), "%s",
		       slash ? slash + 1 : path);
	configuration->file_count++;
	return index;
}

int configuration_read_file(const char *path, struct configuration *configuration,
			    configuration_found *found, void *context)
{
	char text[PATH_MAX + COMPLAINT_BYTES];
	CLEANUP(configuration_file_close) FILE *file = fopen(path, "re");
	if (!file) {
		int r = -errno;
		(void)snprintf(text, sizeof(text), "%s: %s", path, strerror(-r));
		found(context, true, text);
		return r;
	}
	/* A key may occur once in a file, and again in a later file. */
	configuration->shares.mode_seen = false;
	for (unsigned i = 0; i < configuration->people.owners.count; i++)
		configuration->people.settings[i].seen = 0;
	struct reading reading = {.configuration = configuration,
				  .file = file,
				  .path = path,
				  .file_index = add_file_name(configuration, path),
				  .found = found,
				  .context = context};
	int line = ini_parse_stream(configuration_next_line, &reading, parse_line, &reading);
	if (ferror(file)) {
		(void)snprintf(text, sizeof(text), "%s: cannot be read", path);
		found(context, true, text);
		return -EIO;
	}
	if (line != 0 && reading.errors == 0) {
		reading.line = line;
		(void)configuration_refuse(&reading, "neither [section] nor key = value");
	}
	return reading.errors ? -EINVAL : 0;
}

/* Keeps the first error. */
struct first_error {
	char *text;
	size_t bytes;
};

static void configuration_keep_first_error(void *context, bool is_error, const char *text)
{
	struct first_error *first = context;
	if (is_error && first->bytes > 0)
		(void)snprintf(first->text, first->bytes, "%s", text);
	if (is_error)
		first->bytes = 0;
}

int configuration_read(const char *path, struct configuration *configuration_out, char *message_out,
		       size_t message_bytes)
{
	struct configuration configuration;
	struct first_error first = {message_out, message_bytes};
	configuration_defaults(&configuration);
	int r = configuration_read_file(path, &configuration, configuration_keep_first_error,
					&first);
	if (r == 0)
		*configuration_out = configuration;
	return r;
}
