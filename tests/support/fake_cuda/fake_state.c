/* The settings of contexts, as numbers for tests. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

/* NULL: no context of it is open. */
static const struct CUctx_st *context_of(long device)
{
	return device >= 0 && device < FAKE_DEVICES_MAX ? fake.devices[device].primary : NULL;
}

/* Returns the text behind the words, or NULL if the line begins differently. */
static char *text_behind(const char *what, const char *words)
{
	const size_t length = strlen(words);

	return strncmp(what, words, length) == 0 ? (char *)(uintptr_t)what + length : NULL;
}

bool fake_state_number(const char *what, uint64_t *number_out)
{
	const struct CUctx_st *context;
	char *rest;

	if ((rest = text_behind(what, "limit "))) {
		long limit = strtol(rest, &rest, 10);
		context = context_of(strtol(rest, NULL, 10));
		*number_out =
			context && limit >= 0 && limit < FAKE_LIMITS ? context->limits[limit] : 0;
		return true;
	}
	if (strcmp(what, "instant_launches") == 0) {
		*number_out = fake.instant_launches;
		return true;
	}
	if ((rest = text_behind(what, "made_flags"))) {
		context = context_of(strtol(rest, NULL, 10));
		*number_out = context ? context->made_flags : 0;
		return true;
	}
	return false;
}
