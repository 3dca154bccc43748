#include "words/wrong_word.h"

#include "nearest_word.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

/* A large directory is not read to its end: it is only for a suggestion. */
enum { TEXT_BYTES = 320, ENTRIES_MOST = 65536 };

/* Keeps the best candidate itself, because candidates do not live long. */
struct near_name {
	struct nearest_word nearest;
	char name[NEAREST_WORD_BYTES + 1];
};

static void near_name_consider(struct near_name *near, const char *candidate)
{
	const char *before = near->nearest.found;
	nearest_word_consider(&near->nearest, candidate);
	if (near->nearest.found == before)
		return;
	(void)snprintf(near->name, sizeof(near->name), "%s", candidate);
	/* A name from a foreign directory must not control a terminal. */
	for (char *at = near->name; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	near->nearest.found = near->name;
}

/* `known` NULL: without a suggestion the word is named alone. */
static const char *wrong_word_text(const char *what, const char *word, const struct near_name *near,
				   const char *known)
{
	static char text[TEXT_BYTES];
	int length = snprintf(text, sizeof(text), "there is no such %s: '%.64s'", what, word);
	size_t used = length > 0 ? (size_t)length : 0;
	if (near->nearest.found)
		(void)snprintf(text + used, sizeof(text) - used, ". Did you mean '%s'?",
			       near->name);
	else if (known)
		(void)snprintf(text + used, sizeof(text) - used, ". It is one of: %s",
			       known + strspn(known, " "));
	return text;
}

const char *wrong_choice(const char *what, const char *word, const char *known)
{
	struct near_name near = {.nearest = {.wrong = word}};
	for (const char *at = known; *at; at += strspn(at, " ")) {
		char candidate[NEAREST_WORD_BYTES + 1];
		size_t length = strcspn(at, " ");
		(void)snprintf(candidate, sizeof(candidate), "%.*s", (int)length, at);
		near_name_consider(&near, candidate);
		at += length;
	}
	return wrong_word_text(what, word, &near, known);
}

const char *wrong_device(const char *word)
{
	static char text[TEXT_BYTES];
	(void)snprintf(
		text, sizeof(text),
		"there is no such device: '%.64s'. A device is BACKEND:NUMBER, as 'syclctl devices' shows it",
		word);
	return text;
}

const char *wrong_user(const char *word)
{
	struct near_name near = {.nearest = {.wrong = word}};
	const struct passwd *entry;
	setpwent();
	for (unsigned i = 0; i < ENTRIES_MOST && (entry = getpwent()); i++)
		near_name_consider(&near, entry->pw_name);
	endpwent();
	return wrong_word_text("user", word, &near, NULL);
}

const char *wrong_group(const char *word)
{
	struct near_name near = {.nearest = {.wrong = word}};
	const struct group *entry;
	setgrent();
	for (unsigned i = 0; i < ENTRIES_MOST && (entry = getgrent()); i++)
		near_name_consider(&near, entry->gr_name);
	endgrent();
	return wrong_word_text("group", word, &near, NULL);
}
