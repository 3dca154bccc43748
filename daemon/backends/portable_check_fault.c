/* The sentence about a wrong access. */
#include "portable_check.h"
#include "status.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { KIND_OUTSIDE = 1, KIND_READ_ONLY = 2, KIND_NO_INIT = 3, KIND_RACE = 4 };

#define NAME_BYTES (3 * sizeof(uint64_t))

static int fault_put_item(char *text, size_t room, const uint64_t *id, uint32_t dimensions)
{
	/* SYCL's first dimension is the driver's last one. */
	if (dimensions == 1)
		return snprintf(text, room, "%" PRIu64, id[0]);
	if (dimensions == 2)
		return snprintf(text, room, "(%" PRIu64 ", %" PRIu64 ")", id[1], id[0]);
	return snprintf(text, room, "(%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", id[2], id[1], id[0]);
}

/* A name from the block: any bytes may be there. */
static void fault_put_name(char *text, const uint64_t *words)
{
	memcpy(text, words, NAME_BYTES);
	text[NAME_BYTES] = '\0';
	for (char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_')
			*at = '?';
}

static const char *how_words(uint64_t how)
{
	return how & PORTABLE_CHECK_ATOMIC   ? "accessed atomically"
	       : how & PORTABLE_CHECK_WRITES ? "written"
					     : "read";
}

static const char *role_words(uint64_t role)
{
	return role >= PORTABLE_CHECK_ATOMICS  ? "accesses it atomically"
	       : role >= PORTABLE_CHECK_READER ? "reads it"
					       : "writes it";
}

static void fault_put_race(char *text, size_t room, const char *element, const uint64_t *words,
			   uint32_t dimensions)
{
	char other[68];

	(void)fault_put_item(other, sizeof(other), &words[PORTABLE_CHECK_OTHER_ID], dimensions);
	/* The longest ids do not fit. */
	if (snprintf(text, room,
		     "%s is %s, and work-item %s %s in line %" PRIu32 " without a barrier", element,
		     how_words(words[PORTABLE_CHECK_HOW]), other,
		     role_words(words[PORTABLE_CHECK_OTHER_ROLE]),
		     (uint32_t)words[PORTABLE_CHECK_OTHER_LINE]) < 0)
		*text = '\0';
}

static void fault_put_access(char *text, size_t room, const char *element, const uint64_t *words,
			     uint32_t dimensions)
{
	const bool is_local = words[PORTABLE_CHECK_ARGUMENT] == PORTABLE_CHECK_NAMED;

	switch (words[PORTABLE_CHECK_KIND]) {
	case KIND_OUTSIDE:
		(void)snprintf(text, room, "%s is outside of the %s %" PRIu64 " elements", element,
			       is_local ? "local memory's" : "accessor's",
			       words[PORTABLE_CHECK_COUNT]);
		break;
	case KIND_READ_ONLY:
		(void)snprintf(text, room, "%s is written, the accessor only reads", element);
		break;
	case KIND_RACE:
		fault_put_race(text, room, element, words, dimensions);
		break;
	default:
		(void)snprintf(text, room, "%s is read, but nothing was written there (no_init)",
			       element);
		break;
	}
}

void portable_check_fault(const uint64_t *words, const char *kernel, uint32_t dimensions,
			  portable_check_name *name, const void *context,
			  struct backend_fault *fault_out)
{
	const uint64_t argument = words[PORTABLE_CHECK_ARGUMENT];
	const int64_t index = (int64_t)words[PORTABLE_CHECK_INDEX];
	char item[68], what[200], element[56], own[NAME_BYTES + 1];

	if (words[PORTABLE_CHECK_STATE] == 0)
		return;
	fault_put_name(own, &words[PORTABLE_CHECK_NAME]);
	const char *known = argument == PORTABLE_CHECK_NAMED ? own : name(context, argument);
	(void)fault_put_item(item, sizeof(item), &words[PORTABLE_CHECK_ID], dimensions);
	(void)snprintf(element, sizeof(element), "%.32s[%" PRId64 "]", known ? known : "?", index);
	fault_put_access(what, sizeof(what), element, words, dimensions);
	*fault_out = (struct backend_fault){.status = STATUS_KERNEL};
	if (snprintf(fault_out->text, sizeof(fault_out->text),
		     "kernel %.32s, line %" PRIu32 ", work-item %s: %s", kernel,
		     (uint32_t)words[PORTABLE_CHECK_LINE], item, what) < 0)
		*fault_out->text = '\0';
}
