#include "base/share_names.h"

#include "base/log.h"
#include "base/user_lookup.h"

static void on_share_names_answered(void *context, const struct user_answer *answer)
{
	(void)context;
	if (answer->missing)
		log_warning(
			"configuration",
			"sycld.conf has names that are not in the user database; these get no share: %s",
			answer->trouble);
}

void share_names_review(const struct configuration *configuration)
{
	struct user_lookup *lookup;
	struct user_question question = {.is_of_names = true,
					 .shares = configuration->shares,
					 .owners = configuration->people.owners};
	if (user_question_has_names(&question) &&
	    user_lookup_begin(&question, on_share_names_answered, NULL, &lookup) < 0)
		log_warning("configuration", "the names in sycld.conf cannot be looked up now");
}
