/* The question of 'syclctl accounts', from the words of a command line to a request. */
#ifndef SYCLCTL_ACCOUNTS_H
#define SYCLCTL_ACCOUNTS_H

#include "admin.pb-c.h"
#include "names.h"

#include <stdbool.h>

/* As they were written; NULL: not given. */
struct accounts_words {
	const char *by, *uid, *cgroup, *device;
};

bool accounts_words_none(const struct accounts_words *words); /* `uid` is others', too */
/* False: *wrong_out is what is wrong. The request points into the words. */
bool accounts_read(const struct accounts_words *words, Sycl__V1__AccountsQuery *query_out,
		   const char **wrong_out);

#endif
