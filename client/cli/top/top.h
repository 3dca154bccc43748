/* 'syclctl top': shows the present state on the whole terminal, or as one JSON object per line. */
#ifndef SYCLCTL_TOP_H
#define SYCLCTL_TOP_H

#include "admin.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

struct top_words {
	const char *runtime_directory; /* NULL: the folder that other verbs find */
	unsigned seconds;              /* period of the queries; 0: one second */
	bool json;
};

/* Runs until the user ends it. Returns 0; -ENOENT: no service runs; or another negative errno.
 * Prints errors. */
int top_run(const struct top_words *words);

/* top_rows.c: selects and sorts the sessions that are shown. */
enum top_sort { TOP_BY_USED, TOP_BY_MEMORY, TOP_BY_QUEUED, TOP_BY_WAIT, TOP_BY_ID, TOP_SORTS };

enum { TOP_WORD_BYTES = 32 };

struct top_view {
	enum top_sort sort;
	bool is_turned;            /* in reverse order */
	char word[TOP_WORD_BYTES]; /* shows only rows with this word in a name; "": all */
};

const char *top_sort_name(enum top_sort sort);
/* Sorts the reply's sessions, and removes those that the view's word excludes. */
void top_arrange(const struct top_view *view, Sycl__V1__AdminReply *reply);

#endif
