#include "simulator/trace.h"

#include "cleanup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512, WORDS_MAX = 20, SLOTS = 4 * SIM_KINDS_MAX };

#define NS_PER_US 1000u
#define US_MOST   1000000000000ull /* eleven days */

struct reader {
	struct sim_trace *trace;
	char *error;
	unsigned line;
	bool headed;
	uint16_t slots[SLOTS]; /* kinds by their names: from 1 on; 0: free. A trace has many groups,
				  and may have many sessions */
};

/* One of the words behind a line's first word. */
struct field {
	const char *key, *value;
	bool used;
};

struct fields {
	struct field field[WORDS_MAX];
	unsigned count;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct reader *reader,
							const char *format, ...)
{
	va_list list;
	int length = snprintf(reader->error, SIM_ERROR_BYTES, "line %u: ", reader->line);
	va_start(list, format);
	(void)vsnprintf(reader->error + length, SIM_ERROR_BYTES - (size_t)length, format, list);
	va_end(list);
	return -EINVAL;
}

static const char *find_field(struct fields *fields, const char *key)
{
	for (unsigned i = 0; i < fields->count; i++) {
		if (strcmp(fields->field[i].key, key) != 0)
			continue;
		fields->field[i].used = true;
		return fields->field[i].value;
	}
	return NULL;
}

/* Reads a whole number from `least` to `most`; without the key the value stays. */
static int simulator_trace_read_number(const struct reader *reader, struct fields *fields,
				       const char *key, uint64_t least, uint64_t most,
				       uint64_t *value)
{
	const char *text = find_field(fields, key);
	char *end;
	if (!text)
		return 0;
	errno = 0;
	unsigned long long read = strtoull(text, &end, 10);
	if (errno || text[0] < '0' || text[0] > '9' || *end || read < least || read > most)
		return refuse(reader, "%s must be a whole number from %llu to %llu, not '%s'", key,
			      (unsigned long long)least, (unsigned long long)most, text);
	*value = read;
	return 0;
}

static int number32(const struct reader *reader, struct fields *fields, const char *key,
		    uint32_t least, uint32_t most, uint32_t *value)
{
	uint64_t wide = *value;
	int result = simulator_trace_read_number(reader, fields, key, least, most, &wide);
	*value = (uint32_t)wide;
	return result;
}

/* Microseconds, with at most three digits behind a point. */
static int microseconds(const struct reader *reader, struct fields *fields, const char *key,
			uint64_t least_ns, uint64_t *ns)
{
	const char *text = find_field(fields, key);
	if (!text)
		return 0;
	char *end = NULL;
	errno = 0;
	unsigned long long whole =
		text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : UINT64_MAX;
	uint64_t part = 0, unit = 100;
	bool good = !errno && end && whole <= US_MOST;
	if (good && *end == '.' && end[1]) {
		for (end++; *end >= '0' && *end <= '9' && unit > 0; end++, unit /= 10)
			part += (uint64_t)(*end - '0') * unit;
	}
	if (!good || *end || whole * NS_PER_US + part < least_ns)
		return refuse(reader, "%s must be a time in microseconds, not '%s'", key, text);
	*ns = whole * NS_PER_US + part;
	return 0;
}

/* A key that was not used is a mistake. */
static int nothing_else(const struct reader *reader, const struct fields *fields)
{
	for (unsigned i = 0; i < fields->count; i++)
		if (!fields->field[i].used)
			return refuse(reader, "this line cannot have the key %s",
				      fields->field[i].key);
	return 0;
}

static int read_class(const struct reader *reader, struct fields *fields,
		      enum fair_queue_class *class)
{
	static const char *const names[FAIR_QUEUE_CLASSES] = {"latency", "normal", "best-effort"};
	const char *text = find_field(fields, "class");
	for (uint32_t i = 0; text && i < FAIR_QUEUE_CLASSES; i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		*class = (enum fair_queue_class)i;
		return 0;
	}
	return text ? refuse(reader, "class must be latency, normal or best-effort, not '%s'", text)
		    : 0;
}

/* Returns its slot, or the one that it would have. There are more slots than kinds. */
static uint32_t slot_of(const struct reader *reader, const char *name)
{
	uint32_t slot = 2166136261u;
	for (const char *at = name; *at; at++)
		slot = (slot ^ (uint8_t)*at) * 16777619u;
	for (slot %= SLOTS; reader->slots[slot]; slot = (slot + 1) % SLOTS)
		if (strcmp(reader->trace->kinds[reader->slots[slot] - 1].name, name) == 0)
			break;
	return slot;
}

static struct sim_kind *kind_named(const struct reader *reader, const char *name)
{
	uint16_t number = reader->slots[slot_of(reader, name)];
	return number ? &reader->trace->kinds[number - 1] : NULL;
}

static int new_kind(const struct reader *reader, const char *name, struct fields *fields,
		    struct sim_kind *kind)
{
	struct sim_trace *trace = reader->trace;
	*kind = (struct sim_kind){.class = FAIR_QUEUE_NORMAL,
				  .weight = FAIR_QUEUE_WEIGHT,
				  .count = 1,
				  .lanes = 1,
				  .width = SIM_WIDTH,
				  .until_ns = UINT64_MAX};
	size_t length = strlen(name);
	if (length >= SIM_NAME_BYTES ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != length)
		return refuse(
			reader,
			"a name has at most %d lower-case letters, digits and hyphens, unlike '%s'",
			SIM_NAME_BYTES - 1, name);
	if (kind_named(reader, name))
		return refuse(reader, "the name '%s' is used already", name);
	if (trace->kind_count == SIM_KINDS_MAX)
		return refuse(reader, "there may be at most %d kinds", SIM_KINDS_MAX);
	memcpy(kind->name, name, length + 1);
	int result = read_class(reader, fields, &kind->class);
	if (result == 0)
		result = number32(reader, fields, "weight", 1, FAIR_QUEUE_WEIGHT_MOST,
				  &kind->weight);
	return result;
}

static int add_kind(struct reader *reader, struct sim_kind *kind)
{
	struct sim_trace *trace = reader->trace;
	if (trace->kind_count == trace->kind_room) {
		uint32_t room = trace->kind_room ? 2 * trace->kind_room : 16;
		struct sim_kind *kinds = realloc(trace->kinds, room * sizeof(*kinds));
		if (!kinds)
			return -ENOMEM;
		trace->kinds = kinds;
		trace->kind_room = room;
	}
	if (kind->count > SIM_CLIENTS_MAX - trace->client_count)
		return refuse(reader, "there may be at most %d clients", SIM_CLIENTS_MAX);
	kind->first_client = trace->client_count;
	trace->client_count += kind->count;
	uint32_t slot = slot_of(reader, kind->name);
	trace->kinds[trace->kind_count++] = *kind;
	reader->slots[slot] = (uint16_t)trace->kind_count;
	return 0;
}

/* session NAME ...: one with recorded groups. */
static int read_session(struct reader *reader, const char *name, struct fields *fields)
{
	struct sim_kind kind;
	int result = new_kind(reader, name, fields, &kind);
	if (result == 0)
		result = nothing_else(reader, fields);
	return result < 0 ? result : add_kind(reader, &kind);
}

/* Exactly one of the three kinds of requests. */
static int read_manner(const struct reader *reader, struct fields *fields, struct sim_kind *kind)
{
	uint64_t rate = 0;
	int result = number32(reader, fields, "depth", 1, 4096, &kind->depth);
	if (result == 0)
		result = simulator_trace_read_number(reader, fields, "rate", 1, 1000000, &rate);
	if (result == 0)
		result = microseconds(reader, fields, "every", 1, &kind->every_ns);
	if (result < 0)
		return result;
	if ((kind->depth > 0) + (rate > 0) + (kind->every_ns > 0) != 1)
		return refuse(reader, "the line must have exactly one of depth, rate and every");
	kind->manner = kind->depth ? SIM_DEPTH : (rate ? SIM_RATE : SIM_EVERY);
	if (rate > 0)
		kind->every_ns = 1000000000u / rate;
	return 0;
}

/* clients NAME ...: clients that submit continuously. */
static int read_clients(struct reader *reader, const char *name, struct fields *fields)
{
	struct sim_kind kind;
	int result = new_kind(reader, name, fields, &kind);
	if (result == 0)
		result = number32(reader, fields, "count", 1, SIM_CLIENTS_MAX, &kind.count);
	if (result == 0)
		result = number32(reader, fields, "lanes", 1, SIM_LANES, &kind.lanes);
	if (result == 0)
		result = number32(reader, fields, "width", 1, SIM_WIDTH, &kind.width);
	if (result == 0)
		result = number32(reader, fields, "spread", 0, 99, &kind.spread);
	if (result == 0)
		result = simulator_trace_read_number(reader, fields, "memory", 0,
						     reader->trace->memory_bytes,
						     &kind.memory_bytes);
	if (result == 0)
		result = microseconds(reader, fields, "takes", 1, &kind.takes_ns);
	if (result == 0)
		result = microseconds(reader, fields, "from", 0, &kind.from_ns);
	if (result == 0)
		result = microseconds(reader, fields, "until", 0, &kind.until_ns);
	if (result == 0)
		result = read_manner(reader, fields, &kind);
	if (result == 0)
		result = nothing_else(reader, fields);
	if (result == 0 && kind.takes_ns == 0)
		result = refuse(reader, "the key takes is missing");
	return result < 0 ? result : add_kind(reader, &kind);
}

static int add_group(const struct reader *reader, const struct sim_group *group)
{
	struct sim_trace *trace = reader->trace;
	if (trace->group_count > 0 && group->at_ns < trace->groups[trace->group_count - 1].at_ns)
		return refuse(reader, "the group comes before the group of the line above");
	if (trace->group_count == SIM_GROUPS_MAX)
		return refuse(reader, "there may be at most %d groups", SIM_GROUPS_MAX);
	if (trace->group_count == trace->group_room) {
		uint32_t room = trace->group_room ? 2 * trace->group_room : 1024;
		struct sim_group *groups = realloc(trace->groups, room * sizeof(*groups));
		if (!groups)
			return -ENOMEM;
		trace->groups = groups;
		trace->group_room = room;
	}
	trace->groups[trace->group_count++] = *group;
	return 0;
}

/* group SESSION ...: a recorded one. */
static int read_group(const struct reader *reader, const char *name, struct fields *fields)
{
	struct sim_trace *trace = reader->trace;
	const struct sim_kind *kind = kind_named(reader, name);
	struct sim_group group = {.width = SIM_WIDTH};
	if (!kind || kind->manner != SIM_RECORDED)
		return refuse(reader, "no line above has a session '%s'", name);
	group.kind = (uint32_t)(kind - trace->kinds);
	bool timed = find_field(fields, "at") != NULL;
	int result = microseconds(reader, fields, "at", 0, &group.at_ns);
	if (result == 0)
		result = microseconds(reader, fields, "takes", 1, &group.takes_ns);
	if (result == 0)
		result = simulator_trace_read_number(reader, fields, "shape", 0, UINT32_MAX,
						     &group.shape);
	if (result == 0)
		result = number32(reader, fields, "lane", 0, SIM_LANES - 1, &group.lane);
	if (result == 0)
		result = number32(reader, fields, "width", 1, SIM_WIDTH, &group.width);
	if (result == 0)
		result = simulator_trace_read_number(reader, fields, "memory", 0,
						     trace->memory_bytes, &group.memory_bytes);
	if (result == 0)
		result = nothing_else(reader, fields);
	if (result == 0 && (group.takes_ns == 0 || !timed))
		result = refuse(reader, "the key %s is missing", timed ? "takes" : "at");
	return result < 0 ? result : add_group(reader, &group);
}

/* device ...: its properties; it comes before its clients. */
static int read_device(const struct reader *reader, struct fields *fields)
{
	struct sim_trace *trace = reader->trace;
	if (trace->kind_count > 0)
		return refuse(reader, "the device must come before sessions and clients");
	int result = simulator_trace_read_number(reader, fields, "memory", 1, UINT64_MAX / 2,
						 &trace->memory_bytes);
	if (result == 0)
		result = microseconds(reader, fields, "notice", 0, &trace->notice_ns);
	if (result == 0)
		result = microseconds(reader, fields, "length", 1, &trace->length_ns);
	if (result == 0)
		result = simulator_trace_read_number(reader, fields, "seed", 1, UINT32_MAX,
						     &trace->seed);
	return result < 0 ? result : nothing_else(reader, fields);
}

static int split(const struct reader *reader, char *line, char **what_out, char **name_out,
		 struct fields *fields_out)
{
	char *rest = NULL, *word = strtok_r(line, " \t\r\n", &rest);
	*what_out = word;
	*name_out = NULL;
	for (word = strtok_r(NULL, " \t\r\n", &rest); word;
	     word = strtok_r(NULL, " \t\r\n", &rest)) {
		char *sign = strchr(word, '=');
		if (!sign && !*name_out && fields_out->count == 0) {
			*name_out = word;
			continue;
		}
		if (!sign || sign == word)
			return refuse(reader, "'%s' is not of the form KEY=VALUE", word);
		*sign = '\0';
		if (find_field(fields_out, word))
			return refuse(reader, "the key %s occurs twice", word);
		if (fields_out->count == WORDS_MAX)
			return refuse(reader, "the line has too many words");
		fields_out->field[fields_out->count++] =
			(struct field){.key = word, .value = sign + 1};
	}
	for (unsigned i = 0; i < fields_out->count; i++)
		fields_out->field[i].used = false;
	return 0;
}

static int read_line(struct reader *reader, char *line)
{
	struct fields fields = {.count = 0};
	char *what, *name;
	line[strcspn(line, "#")] = '\0';
	int result = split(reader, line, &what, &name, &fields);
	if (result < 0 || !what)
		return result;
	if (!reader->headed) {
		reader->headed = strcmp(what, "sycl-trace") == 0 && name &&
				 strcmp(name, "1") == 0 && fields.count == 0;
		return reader->headed ? 0 : refuse(reader, "the first line must be 'sycl-trace 1'");
	}
	if (strcmp(what, "device") == 0 && !name)
		return read_device(reader, &fields);
	if (!name)
		return refuse(reader, "a line cannot begin with '%s', or its name is missing",
			      what);
	if (strcmp(what, "session") == 0)
		return read_session(reader, name, &fields);
	if (strcmp(what, "clients") == 0)
		return read_clients(reader, name, &fields);
	if (strcmp(what, "group") == 0)
		return read_group(reader, name, &fields);
	return refuse(reader, "a line cannot begin with '%s'", what);
}

static int read_all(struct reader *reader, FILE *file)
{
	char line[LINE_BYTES];
	while (fgets(line, sizeof(line), file)) {
		reader->line++;
		if (!strchr(line, '\n') && strlen(line) == sizeof(line) - 1)
			return refuse(reader, "a line may have at most %d bytes", LINE_BYTES - 2);
		int result = read_line(reader, line);
		if (result < 0)
			return result;
	}
	if (ferror(file)) {
		(void)snprintf(reader->error, SIM_ERROR_BYTES, "the trace cannot be read: %s",
			       strerror(errno));
		return -EIO;
	}
	if (reader->trace->client_count > 0)
		return 0;
	(void)snprintf(reader->error, SIM_ERROR_BYTES, "no session and no client uses the device");
	return -EINVAL;
}

int sim_trace_read(FILE *file, struct sim_trace *trace_out, char error[SIM_ERROR_BYTES])
{
	struct sim_trace trace = {.length_ns = 2000000000u,
				  .notice_ns = 5000,
				  .memory_bytes = UINT64_MAX / 2,
				  .seed = 1};
	struct reader reader = {.trace = &trace, .error = error};
	(void)snprintf(error, SIM_ERROR_BYTES, "no memory");
	int result = read_all(&reader, file);
	if (result < 0) {
		sim_trace_end(&trace);
		return result;
	}
	*trace_out = trace;
	return 0;
}

static void close_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

int sim_trace_parse(const char *text, struct sim_trace *trace_out, char error[SIM_ERROR_BYTES])
{
	CLEANUP(close_file) FILE *file = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
	if (file)
		return sim_trace_read(file, trace_out, error);
	(void)snprintf(error, SIM_ERROR_BYTES, "the trace cannot be read: %s", strerror(errno));
	return -EINVAL;
}

void sim_trace_end(struct sim_trace *trace)
{
	free(trace->groups);
	free(trace->kinds);
	*trace = (struct sim_trace){.kind_count = 0};
}
