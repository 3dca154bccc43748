/* 'syclctl top': the present on the whole terminal, or an object in a line each time. */
#ifndef SYCLCTL_TOP_H
#define SYCLCTL_TOP_H

#include "admin.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

struct top_words {
	const char *runtime_directory; /* NULL: as other verbs */
	unsigned seconds;              /* from one answer to the next; 0: one second */
	bool json;
};

/* Runs until the user ends it. 0, -ENOENT: no service runs; another negative errno. Failures are
 * printed. */
int top_run(const struct top_words *words);

/* top_rows.c: which sessions are shown, in which order. */
enum top_sort { TOP_BY_USED, TOP_BY_MEMORY, TOP_BY_QUEUED, TOP_BY_WAIT, TOP_BY_ID, TOP_SORTS };

enum { TOP_WORD_BYTES = 32 };

struct top_view {
	enum top_sort sort;
	bool is_turned;            /* the other way round */
	char word[TOP_WORD_BYTES]; /* only rows with it in a name; "": all */
};

const char *top_sort_name(enum top_sort sort);
/* Sorts the reply's sessions, and takes those out that the view's word excludes. */
void top_arrange(const struct top_view *view, Sycl__V1__AdminReply *reply);

#endif
