/* Selects the rows of an answer that are shown: of a user, a group, a device or a session. */
#ifndef SYCLCTL_FILTER_H
#define SYCLCTL_FILTER_H

#include "admin.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

/* Words of the command line; NULL: not given. */
struct filter_words {
	const char *user, *group, *device, *session;
};

struct filter {
	bool of_user, of_group, of_device, of_session;
	uint32_t uid, gid, index;
	Sycl__V1__Backend backend;
	uint64_t session;
};

/* The filter of the command line. */
extern struct filter cli_filter;

/* False: a word is invalid, and `wrong_out` has the error. */
bool filter_read(const struct filter_words *words, struct filter *filter_out,
		 const char **wrong_out);

/* Removes all other rows from the answer's lists. The answer still owns the removed rows, because
 * it is freed as one block. */
void filter_apply(const struct filter *filter, Sycl__V1__AdminReply *reply);

/* Leaves the limits that apply to the filter's user: the user's own, and those of all users that
 * nothing of the user's replaces. Of one user only. */
void filter_limits(const struct filter *filter, Sycl__V1__AdminReply *reply);

/* Reads "cuda:0". False: the text has another form, and *wrong_out is the error. */
bool device_word_read(const char *text, Sycl__V1__Backend *backend_out, uint32_t *index_out,
		      const char **wrong_out);

#endif
