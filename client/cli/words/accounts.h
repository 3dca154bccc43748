/* Turns the options of 'syclctl accounts' into a request. */
#ifndef SYCLCTL_ACCOUNTS_H
#define SYCLCTL_ACCOUNTS_H

#include "admin.pb-c.h"
#include "names.h"

#include <stdbool.h>

/* As the user wrote them; NULL: the option is missing. */
struct accounts_words {
	const char *by, *uid, *cgroup, *device, *job;
};

/* False: *wrong_out names the error. The request points into the words. */
bool accounts_read(const struct accounts_words *words, Sycl__V1__AccountsQuery *query_out,
		   const char **wrong_out);

#endif
