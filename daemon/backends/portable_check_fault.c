/* The sentence about a wrong access. */
#include "portable_check.h"
#include "status.h"

#include <inttypes.h>
#include <stdio.h>

enum { KIND_OUTSIDE = 1, KIND_READ_ONLY = 2, KIND_NO_INIT = 3 };

static int put_item(char *text, size_t room, const uint64_t *id, uint32_t dimensions)
{
	/* SYCL's first dimension is the driver's last one. */
	if (dimensions == 1)
		return snprintf(text, room, "%" PRIu64, id[0]);
	if (dimensions == 2)
		return snprintf(text, room, "(%" PRIu64 ", %" PRIu64 ")", id[1], id[0]);
	return snprintf(text, room, "(%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", id[2], id[1], id[0]);
}

void portable_check_fault(const uint64_t *words, const char *kernel, uint32_t dimensions,
			  portable_check_name *name, const void *context,
			  struct backend_fault *fault_out)
{
	const uint64_t argument = words[PORTABLE_CHECK_ARGUMENT];
	const int64_t index = (int64_t)words[PORTABLE_CHECK_INDEX];
	const char *known = name(context, argument);
	char item[68], what[120], element[56];

	if (words[PORTABLE_CHECK_STATE] == 0)
		return;
	(void)put_item(item, sizeof(item), &words[PORTABLE_CHECK_ID], dimensions);
	(void)snprintf(element, sizeof(element), "%.32s[%" PRId64 "]", known ? known : "?", index);
	switch (words[PORTABLE_CHECK_KIND]) {
	case KIND_OUTSIDE:
		(void)snprintf(what, sizeof(what),
			       "%s is outside of the accessor's %" PRIu64 " elements", element,
			       words[PORTABLE_CHECK_COUNT]);
		break;
	case KIND_READ_ONLY:
		(void)snprintf(what, sizeof(what), "%s is written, the accessor only reads",
			       element);
		break;
	default:
		(void)snprintf(what, sizeof(what),
			       "%s is read, but nothing was written there (no_init)", element);
		break;
	}
	*fault_out = (struct backend_fault){.status = STATUS_KERNEL};
	(void)snprintf(fault_out->text, sizeof(fault_out->text),
		       "kernel %.32s, line %" PRIu32 ", work-item %s: %s", kernel,
		       (uint32_t)words[PORTABLE_CHECK_LINE], item, what);
}
