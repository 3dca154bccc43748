#include "words/accounts.h"

#include "nearest_word.h"
#include "words/filter.h"
#include "words/operand.h"
#include "words/wrong_word.h"

#include <stdio.h>
#include <string.h>

static bool accounts_word_is(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

#define BY_WORDS "uid cgroup device session job"

/* "uid,device" */
static bool accounts_parse_by(const char *text, uint32_t *by_out, const char **wrong_out)
{
	static const char *const words[] = {"uid", "cgroup", "device", "session", "job"};
	uint32_t by = 0;
	for (;;) {
		size_t length = strcspn(text, ",");
		uint32_t bit = 0;
		for (uint32_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (accounts_word_is(text, length, words[i]))
				bit = 1u << i;
		if (!bit) {
			char word[NEAREST_WORD_BYTES + 1];
			(void)snprintf(word, sizeof(word), "%.*s", (int)length, text);
			*wrong_out = wrong_choice("word for --by", word, BY_WORDS);
			return false;
		}
		by |= bit;
		if (!text[length])
			break;
		text += length + 1;
	}
	*by_out = by;
	return true;
}

bool accounts_read(const struct accounts_words *words, Sycl__V1__AccountsQuery *query_out,
		   const char **wrong_out)
{
	uint32_t uid = 0;
	query_out->by = ACCOUNTS_BY_USER;
	if (words->by && !accounts_parse_by(words->by, &query_out->by, wrong_out))
		return false;
	if (words->uid && !operand_read_user(words->uid, &uid, wrong_out))
		return false;
	if (words->device &&
	    !device_word_read(words->device, &query_out->backend, &query_out->index, wrong_out))
		return false;
	*wrong_out = "a job is a number of 'syclctl jobs'";
	if (words->job && !operand_read_number(words->job, 1, INT64_MAX, &query_out->job))
		return false;
	*wrong_out = "a control group is a path that begins with '/'";
	if (words->cgroup && *words->cgroup != '/')
		return false;
	query_out->of_device = words->device != NULL;
	query_out->of_user = words->uid != NULL;
	query_out->uid = uid;
	if (words->cgroup)
		query_out->cgroup = (char *)(uintptr_t)words->cgroup;
	return true;
}
