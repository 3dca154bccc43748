/* Options for backends, as the engine is given them: "cuda:peer_path=host". Lists are ended by
 * NULL. */
#ifndef SYCL_ENGINE_OPTION_LIST_H
#define SYCL_ENGINE_OPTION_LIST_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline size_t option_list_count(const char *const *list)
{
	size_t count = 0;
	while (list && list[count])
		count++;
	return count;
}

static inline void option_list_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free((void *)list);
}

/* Copies the list and its texts. The copy of NULL is an empty list. NULL: there is no memory. */
static inline char **option_list_copy(const char *const *list)
{
	size_t count = option_list_count(list);
	char **copy = (char **)calloc(count + 1, sizeof(char *));
	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = strdup(list[i]);
		if (copy[i])
			continue;
		option_list_free(copy);
		return NULL;
	}
	return copy;
}

/*
 * The options of one backend, without the backend's name before them: "peer_path=host". The caller
 * frees the list; the texts still belong to `list`.
 */
static inline const char **option_list_of(const char *const *list, const char *backend)
{
	size_t length = strlen(backend), count = 0;
	const char **own = (const char **)calloc(option_list_count(list) + 1, sizeof(char *));
	for (size_t i = 0; own && list && list[i]; i++)
		if (strncmp(list[i], backend, length) == 0 && list[i][length] == ':')
			own[count++] = list[i] + length + 1;
	return own;
}

#endif
