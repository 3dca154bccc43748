#include "base/share_names.h"

#include "base/log.h"
#include "base/user_lookup.h"

static void on_share_names_answered(void *context, const struct user_answer *answer)
{
	(void)context;
	if (answer->missing)
		log_warning(
			"configuration",
			"[shares] has names that are not in the user database; these get no share: %s",
			answer->trouble);
}

void share_names_review(const struct configuration_shares *shares)
{
	struct user_lookup *lookup;
	struct user_question question = {.is_of_names = true, .shares = *shares};
	if (user_question_has_names(&question.shares) &&
	    user_lookup_begin(&question, on_share_names_answered, NULL, &lookup) < 0)
		log_warning("configuration", "the names in [shares] cannot be looked up now");
}
