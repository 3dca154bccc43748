#include "vendor_environment.h"

#include "cleanup.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

extern char **environ;

/* An array of variables that environ has pointed to since. Other threads may read it at any time
 * later, so it is never changed or freed. */
struct published {
	struct published *before;
	char *text; /* NULL: none. setenv() of a library may put another in its place */
	char *variables[];
};

static bool variable_has_name(const char *variable, const char *name)
{
	size_t bytes = strlen(name);

	return strncmp(variable, name, bytes) == 0 && variable[bytes] == '=';
}

/* The environment with `text` in place of the variable; NULL: without it. NULL: no memory. */
static struct published *environment_copy_with(const char *name, char *text)
{
	size_t count = 0;
	size_t copied = 0;

	for (char **at = environ; at && *at; at++)
		count++;
	struct published *copy = calloc(1, sizeof(*copy) + (count + 2) * sizeof(char *));
	if (!copy)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (!variable_has_name(environ[i], name))
			copy->variables[copied++] = environ[i];
	copy->variables[copied] = copy->text = text;
	return copy;
}

/*
 * setenv() frees the array that another thread may be reading in getenv(), as an application does
 * at any time. So a new array takes the place of the old one.
 */
static int environment_publish(const char *name, const char *value)
{
	static struct published *last;
	CLEANUP(free_pointer) char *text = NULL;

	if (value && asprintf(&text, "%s=%s", name, value) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	struct published *copy = environment_copy_with(name, text);
	if (!copy)
		return -ENOMEM;
	(void)TAKE(text);
	copy->before = last;
	last = copy;
	__atomic_store_n(&environ, copy->variables, __ATOMIC_RELEASE);
	return 0;
}

int vendor_variable_set(const char *name, const char *value)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	(void)pthread_mutex_lock(&lock);
	const char *present = getenv(name);
	bool is_right = value ? present && strcmp(present, value) == 0 : !present;
	int r = is_right ? 0 : environment_publish(name, value);
	(void)pthread_mutex_unlock(&lock);
	return r;
}

static bool is_safe_folder(const char *path)
{
	struct stat status;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return false;
	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       (status.st_mode & 022) == 0;
}

char *vendor_cache_folder(const char *cache_directory, const char *name)
{
	CLEANUP(free_pointer) char *path = NULL;

	if (!cache_directory || asprintf(&path, "%s/%s", cache_directory, name) < 0) {
		path = NULL;
		return NULL;
	}
	return is_safe_folder(cache_directory) && is_safe_folder(path) ? TAKE(path) : NULL;
}
