#include "listing.h"

#include "admin.pb-c.h"
#include "build.pb-c.h"
#include "command.pb-c.h"
#include "control.pb-c.h"
#include "session.pb-c.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 128, LINES_MAX = 4096 };

struct walk {
	char *text;
	size_t used;
	const void *seen[LISTING_TYPES_MAX];
	unsigned seen_count;
};

static const ProtobufCMessageDescriptor *const roots[] = {
	&sycl__v1__packet__descriptor,       &sycl__v1__command__descriptor,
	&sycl__v1__reply__descriptor,        &sycl__v1__control__descriptor,
	&sycl__v1__build_packet__descriptor, &sycl__v1__admin_request__descriptor,
	&sycl__v1__admin_reply__descriptor,  &sycl__v1__kept_accounts__descriptor,
	&sycl__v1__kept_orders__descriptor,  &sycl__v1__kept_jobs__descriptor,
};

__attribute__((format(printf, 2, 3))) static void append_text(struct walk *walk, const char *format,
							      ...)
{
	va_list arguments;
	va_start(arguments, format);
	int added = vsnprintf(walk->text + walk->used, LISTING_BYTES_MAX - walk->used, format,
			      arguments);
	va_end(arguments);
	if (added < 0 || (size_t)added >= LISTING_BYTES_MAX - walk->used)
		abort();
	walk->used += (size_t)added;
}

static int first_visit(struct walk *walk, const void *descriptor)
{
	for (unsigned i = 0; i < walk->seen_count; i++) {
		if (walk->seen[i] == descriptor)
			return 0;
	}
	if (walk->seen_count == LISTING_TYPES_MAX)
		abort();
	walk->seen[walk->seen_count++] = descriptor;
	return 1;
}

const char *listing_short_name(const char *name)
{
	static const char package[] = "sycl.v1.";
	return strncmp(name, package, sizeof(package) - 1) == 0 ? name + sizeof(package) - 1 : name;
}

static const char *type_name(const ProtobufCFieldDescriptor *field)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_INT32:
		return "int32";
	case PROTOBUF_C_TYPE_SINT32:
		return "sint32";
	case PROTOBUF_C_TYPE_SFIXED32:
		return "sfixed32";
	case PROTOBUF_C_TYPE_INT64:
		return "int64";
	case PROTOBUF_C_TYPE_SINT64:
		return "sint64";
	case PROTOBUF_C_TYPE_SFIXED64:
		return "sfixed64";
	case PROTOBUF_C_TYPE_UINT32:
		return "uint32";
	case PROTOBUF_C_TYPE_FIXED32:
		return "fixed32";
	case PROTOBUF_C_TYPE_UINT64:
		return "uint64";
	case PROTOBUF_C_TYPE_FIXED64:
		return "fixed64";
	case PROTOBUF_C_TYPE_FLOAT:
		return "float";
	case PROTOBUF_C_TYPE_DOUBLE:
		return "double";
	case PROTOBUF_C_TYPE_BOOL:
		return "bool";
	case PROTOBUF_C_TYPE_STRING:
		return "string";
	case PROTOBUF_C_TYPE_BYTES:
		return "bytes";
	case PROTOBUF_C_TYPE_ENUM:
		return listing_short_name(
			((const ProtobufCEnumDescriptor *)field->descriptor)->name);
	case PROTOBUF_C_TYPE_MESSAGE:
		return listing_short_name(
			((const ProtobufCMessageDescriptor *)field->descriptor)->name);
	}
	abort();
}

static void add_enum(struct walk *walk, const ProtobufCEnumDescriptor *type)
{
	if (!first_visit(walk, type))
		return;
	for (unsigned i = 0; i < type->n_values; i++)
		append_text(walk, "enum %s %d %s\n", listing_short_name(type->name),
			    type->values[i].value, type->values[i].name);
}

static void add_message(struct walk *walk, const ProtobufCMessageDescriptor *type)
{
	if (!first_visit(walk, type))
		return;
	for (unsigned i = 0; i < type->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &type->fields[i];
		append_text(walk, "%s %u %s %s%s%s\n", listing_short_name(type->name), field->id,
			    field->name,
			    field->label == PROTOBUF_C_LABEL_REPEATED ? "repeated " : "",
			    type_name(field),
			    field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF ? " oneof" : "");
	}
	for (unsigned i = 0; i < type->n_fields; i++) {
		if (type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
			add_message(walk, type->fields[i].descriptor);
		else if (type->fields[i].type == PROTOBUF_C_TYPE_ENUM)
			add_enum(walk, type->fields[i].descriptor);
	}
}

static struct walk walk_all(char text[LISTING_BYTES_MAX])
{
	struct walk walk = {.text = text};
	text[0] = '\0';
	for (unsigned i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		add_message(&walk, roots[i]);
	return walk;
}

void listing_of_this_build(char text[LISTING_BYTES_MAX])
{
	(void)walk_all(text);
}

unsigned listing_types(const ProtobufCMessageDescriptor *types[LISTING_TYPES_MAX])
{
	static char text[LISTING_BYTES_MAX];
	struct walk walk = walk_all(text);
	unsigned count = 0;
	for (unsigned i = 0; i < walk.seen_count; i++) {
		const ProtobufCMessageDescriptor *type = walk.seen[i];
		if (type->magic == PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC)
			types[count++] = type;
	}
	return count;
}

const ProtobufCMessageDescriptor *listing_type(const char *short_name)
{
	const ProtobufCMessageDescriptor *types[LISTING_TYPES_MAX];
	for (unsigned i = listing_types(types); i-- > 0;) {
		if (strcmp(listing_short_name(types[i]->name), short_name) == 0)
			return types[i];
	}
	return NULL;
}

struct line {
	const char *start;
	size_t bytes;
	char owner[WORD_BYTES]; /* "Message" or "enum Name" */
	char number[WORD_BYTES];
	char name[WORD_BYTES];
	char type[WORD_BYTES];
};

/* Returns the next line that is neither empty nor a comment; NULL at the end. */
static const char *next_line(const char *text, struct line *line)
{
	for (; text && *text; text = strchr(text, '\n'), text = text ? text + 1 : NULL) {
		if (*text == '#' || *text == '\n')
			continue;
		*line = (struct line){.start = text, .bytes = strcspn(text, "\n")};
		char enum_name[WORD_BYTES];
		if (sscanf(text, "enum %127s %127s %127s", enum_name, line->number, line->name) ==
		    3)
			(void)snprintf(line->owner, sizeof(line->owner), "enum %.100s", enum_name);
		else if (sscanf(text, "%127s %127s %127s %127s", line->owner, line->number,
				line->name, line->type) != 4)
			(void)snprintf(line->owner, sizeof(line->owner), "unreadable");
		return text + line->bytes;
	}
	return NULL;
}

/* Every line is parsed once: there are a thousand, and each is compared with each. */
struct lines {
	struct line line[LINES_MAX];
	unsigned count;
};

static void read_lines(const char *text, struct lines *lines)
{
	lines->count = 0;
	while ((text = next_line(text, &lines->line[lines->count]))) {
		if (++lines->count == LINES_MAX)
			abort();
	}
}

static int same_place(const struct line *a, const struct line *b)
{
	return strcmp(a->owner, b->owner) == 0 && strcmp(a->number, b->number) == 0;
}

static int contains(const struct lines *lines, const struct line *wanted)
{
	for (unsigned i = 0; i < lines->count; i++) {
		if (lines->line[i].bytes == wanted->bytes &&
		    memcmp(lines->line[i].start, wanted->start, wanted->bytes) == 0)
			return 1;
	}
	return 0;
}

static int uses_place(const struct lines *lines, const struct line *wanted)
{
	for (unsigned i = 0; i < lines->count; i++) {
		if (same_place(&lines->line[i], wanted))
			return 1;
	}
	return 0;
}

static unsigned times_used(const struct lines *lines, const struct line *wanted)
{
	unsigned count = 0;
	for (unsigned i = 0; i < lines->count; i++) {
		const struct line *line = &lines->line[i];
		count += same_place(line, wanted) || (strcmp(line->owner, wanted->owner) == 0 &&
						      strcmp(line->name, wanted->name) == 0);
	}
	return count;
}

struct complaints {
	char *text;
	size_t bytes, used;
	unsigned count;
};

static void complain(struct complaints *complaints, const char *what, const struct line *line)
{
	complaints->count++;
	if (complaints->used >= complaints->bytes)
		return;
	int added =
		snprintf(complaints->text + complaints->used, complaints->bytes - complaints->used,
			 "%s: %.*s\n", what, (int)line->bytes, line->start);
	complaints->used += added > 0 ? (size_t)added : 0;
}

unsigned listing_compare(const char *kept_text, const char *now_text, char *complaints_text,
			 size_t complaints_bytes)
{
	static struct lines kept, now;
	struct complaints complaints = {.text = complaints_text, .bytes = complaints_bytes};
	read_lines(kept_text, &kept);
	read_lines(now_text, &now);
	for (unsigned i = 0; i < kept.count; i++) {
		const struct line *line = &kept.line[i];
		if (times_used(&kept, line) != 1)
			complain(&complaints, "number or name twice", line);
		if (strcmp(line->type, "reserved") == 0) {
			if (uses_place(&now, line))
				complain(&complaints, "reserved, but used again", line);
		} else if (!contains(&now, line)) {
			complain(&complaints, "changed or removed", line);
		}
	}
	for (unsigned i = 0; i < now.count; i++) {
		if (!contains(&kept, &now.line[i]))
			complain(&complaints, "not in fields.txt (append it, if it is new)",
				 &now.line[i]);
	}
	return complaints.count;
}
