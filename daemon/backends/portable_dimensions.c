#include "portable_dimensions.h"

#include <stdbool.h>
#include <string.h>

/* Words of the prelude with the number of a dimension in brackets, without "sycl_". */
static const char *const words[] = {"global_id(",   "global_range(", "global_offset(", "local_id(",
				    "local_range(", "group_id(",     "group_range("};
static const char prefix[] = "sycl_", kernel_word[] = "SYCL_KERNEL";

static bool has_word(const char *source, size_t bytes, const char *word)
{
	return memmem(source, bytes, word, strlen(word)) != NULL;
}

/* One more than the number behind one of the words; 0: there is none, or it is no number. */
static uint32_t dimensions_at(const char *at, const char *end)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t length = strlen(words[i]);
		if ((size_t)(end - at) <= length || memcmp(at, words[i], length) != 0)
			continue;
		for (at += length; at < end && *at == ' ';)
			at++;
		return at < end && *at >= '0' && *at <= '2' ? (uint32_t)(*at - '0') + 1 : 0;
	}
	return 0;
}

/* The most dimensions that this part of the source names; 0: it names none. */
static uint32_t dimensions_of_part(const char *from, const char *end)
{
	const size_t length = sizeof(prefix) - 1;
	uint32_t most = 0;

	while ((from = memmem(from, (size_t)(end - from), prefix, length))) {
		from += length;
		const uint32_t here = dimensions_at(from, end);
		if (here > most)
			most = here;
	}
	return most;
}

uint32_t portable_dimensions_guess(const char *source, size_t bytes)
{
	const char *end = source + bytes, *from = source;
	const size_t length = sizeof(kernel_word) - 1;
	uint32_t guess = 0;

	if (!has_word(source, bytes, prefix) || has_word(source, bytes, "SYCL_DIMENSIONS") ||
	    has_word(source, bytes, "sycl_dimensions"))
		return 0;
	/* What comes before the first kernel is for kernels that name nothing themselves. */
	const char *next = memmem(from, bytes, kernel_word, length);
	uint32_t common = dimensions_of_part(from, next ? next : end);
	if (common == 0)
		common = 1;
	while ((from = next)) {
		next = memmem(from + length, (size_t)(end - from) - length, kernel_word, length);
		const uint32_t own = dimensions_of_part(from, next ? next : end);
		guess |= 1u << ((own > 0 ? own : common) - 1);
	}
	return guess ? guess : 1u << (common - 1);
}
