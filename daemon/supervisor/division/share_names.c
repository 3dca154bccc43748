#include "division/share_names.h"

#include "base/log.h"
#include "service/supervisor.h"
#include "base/user_database.h"
#include "service/user_lookup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

static bool is_missing(const struct configuration_share_entry *entry)
{
	gid_t gid = 0;
	uid_t uid = 0;
	if (entry->whose == SHARE_OF_UID)
		return false; /* a number may have a share without a name */
	return (entry->whose == SHARE_OF_USER ? user_database_uid(entry->name, &uid)
					      : user_database_group(entry->name, &gid)) == -ENOENT;
}

unsigned share_names_missing(const struct configuration_shares *shares, char *text_out,
			     size_t text_bytes)
{
	unsigned count = 0;
	size_t used = 0;
	text_out[0] = '\0';
	for (unsigned i = 0; i < shares->count; i++) {
		const struct configuration_share_entry *entry = &shares->entries[i];
		if (!is_missing(entry))
			continue;
		int length =
			snprintf(text_out + used, text_bytes - used, "%s%s%s", count ? ", " : "",
				 entry->whose == SHARE_OF_USER ? "user." : "group.", entry->name);
		count++;
		if (length > 0 && (size_t)length < text_bytes - used)
			used += (size_t)length;
		else
			text_out[used] = '\0'; /* this one has no room */
	}
	return count;
}

static void on_reviewed(void *context, const struct user_answer *answer)
{
	(void)context;
	if (answer->missing)
		log_warning(
			"configuration",
			"[shares] has names that the user database does not know, who get no share: %s",
			answer->trouble);
}

void share_names_review(struct supervisor *supervisor)
{
	struct user_lookup *lookup;
	struct user_question question = {.is_of_names = true,
					 .shares = supervisor->configuration.shares};
	if (user_question_has_names(&question.shares) &&
	    user_lookup_begin(&question, on_reviewed, supervisor, &lookup) < 0)
		log_warning("configuration", "the names in [shares] cannot be looked up now");
}
