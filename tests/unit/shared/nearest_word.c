/* The known word that is most similar to a wrong one. */
#include "nearest_word.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

TestSuite(nearest_word, .timeout = 30);

Test(nearest_word, changes_are_counted_by_letters)
{
	cr_assert(eq(sz, word_changes("status", "status"), 0u));
	cr_assert(eq(sz, word_changes("", "abc"), 3u));
	cr_assert(eq(sz, word_changes("stauts", "status"), 1u));
	cr_assert(eq(sz, word_changes("sessons", "sessions"), 1u));
	cr_assert(eq(sz, word_changes("sessionss", "sessions"), 1u));
	cr_assert(eq(sz, word_changes("kill", "limit"), 4u));
	cr_assert(eq(sz, word_changes("pause", "house"), 2u));
}

static const char *nearest_of(const char *wrong)
{
	static const char *const words[] = {"status", "sessions", "limit",
					    "limits", "kill",     "engine_idle_seconds"};
	struct nearest_word nearest = {.wrong = wrong};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		nearest_word_consider(&nearest, words[i]);
	return nearest.found;
}

Test(nearest_word, a_near_word_is_found_and_a_far_one_is_not)
{
	cr_assert(eq(str, (char *)(uintptr_t)nearest_of("stauts"), "status"));
	cr_assert(eq(str, (char *)(uintptr_t)nearest_of("sess"), "sessions"));
	cr_assert(eq(str, (char *)(uintptr_t)nearest_of("limtis"), "limits"));
	cr_assert(
		eq(str, (char *)(uintptr_t)nearest_of("engin_idle_secnds"), "engine_idle_seconds"));
	cr_assert(eq(ptr, (void *)(uintptr_t)nearest_of("dance"), NULL));
	cr_assert(eq(ptr, (void *)(uintptr_t)nearest_of("x"), NULL));
	cr_assert(eq(ptr, (void *)(uintptr_t)nearest_of(""), NULL));
}

Test(nearest_word, long_words_have_none)
{
	char word[NEAREST_WORD_BYTES * 4];
	memset(word, 'a', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	struct nearest_word nearest = {.wrong = word};
	nearest_word_consider(&nearest, word);
	cr_assert(eq(ptr, (void *)(uintptr_t)nearest.found, NULL));
	struct nearest_word short_one = {.wrong = "abcd"};
	nearest_word_consider(&short_one, word);
	cr_assert(eq(ptr, (void *)(uintptr_t)short_one.found, NULL));
}
