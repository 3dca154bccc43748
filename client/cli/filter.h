/* Which rows of an answer are shown: those of a user, a group, a device or a session. */
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

bool filter_words_none(const struct filter_words *words);

/* False: a word is wrong; `wrong_out` has the sentence. */
bool filter_read(const struct filter_words *words, struct filter *filter_out,
		 const char **wrong_out);

/* Takes the rows out of the answer that are not to be shown. The answer still owns them: it is
 * freed as a block. */
void filter_apply(const struct filter *filter, Sycl__V1__AdminReply *reply);

/* "cuda:0". False: no such text. */
bool device_word_read(const char *text, Sycl__V1__Backend *backend_out, uint32_t *index_out);

#endif
