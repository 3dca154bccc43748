#include "cuda/driver/environment.h"

#include "cleanup.h"
#include "vendor_environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

extern char **environ;

/*
 * The operator chooses which GPUs to use; without these variables hidden GPUs would be visible.
 * They renumber devices, but devices are identified by UUID here. MPS is found by its folder;
 * without it this process would bypass the operator's server. Debuggers and sanitizers are loaded
 * by the injection path.
 */
static const char *const kept[] = {
	"CUDA_VISIBLE_DEVICES",
	"CUDA_DEVICE_ORDER",
	"CUDA_MPS_PIPE_DIRECTORY",
	"CUDA_MPS_LOG_DIRECTORY",
	"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
	"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT",
	"CUDA_MPS_CLIENT_PRIORITY",
	"CUDA_INJECTION64_PATH",
	"CUDA_HOME",
	"CUDA_PATH",
	"CUDA_CACHE_MAXSIZE",
	/* Set below if their values are wrong. */
	"CUDA_DEVICE_MAX_CONNECTIONS",
	"CUDA_MODULE_LOADING",
	"CUDA_CACHE_PATH",
	"CUDA_CACHE_DISABLE",
};

static bool variable_is_kept(const char *name, size_t bytes)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (strlen(kept[i]) == bytes && memcmp(kept[i], name, bytes) == 0)
			return true;
	return false;
}

/* Returns the first variable that must be removed; NULL: none. The caller frees the text. */
static char *find_unwanted_variable(void)
{
	for (char **at = environ; at && *at; at++) {
		size_t bytes = strcspn(*at, "=");
		if (strncmp(*at, "CUDA_", 5) == 0 && !variable_is_kept(*at, bytes))
			return strndup(*at, bytes);
	}
	return NULL;
}

static void remove_unwanted_variables(void)
{
	char *name;

	while ((name = find_unwanted_variable()) != NULL) {
		bool removed = vendor_variable_set(name, NULL) == 0;
		free(name);
		if (!removed)
			break;
	}
}

static void set_variables(const char *path, uint32_t connections)
{
	char number[16];

	remove_unwanted_variables();
	/* The driver's default is 8. Further streams would share a queue to the device and wait for
	 * each other's kernels. Each additional queue lengthens the creation of the context. */
	(void)snprintf(number, sizeof(number), "%u", connections);
	(void)vendor_variable_set("CUDA_DEVICE_MAX_CONNECTIONS", number);
	/*
	 * Loading code waits for running work, and delays work that is sent meanwhile. With LAZY
	 * that happens for each function, even for the query of an attribute. With EAGER it happens
	 * once, in cuModuleLoadData.
	 */
	(void)vendor_variable_set("CUDA_MODULE_LOADING", "EAGER");
	(void)vendor_variable_set("CUDA_CACHE_PATH", path);
	(void)vendor_variable_set("CUDA_CACHE_DISABLE", path ? NULL : "1");
}

void cuda_environment_prepare(const char *cache_directory, uint32_t connections)
{
	CLEANUP(free_pointer) char *path = vendor_cache_folder(cache_directory, "cuda");

	set_variables(path, connections);
}

void cuda_environment_prepare_early(const char *later, uint32_t connections)
{
	CLEANUP(free_pointer) char *path = NULL;

	if (later && asprintf(&path, "%s/cuda", later) < 0)
		path = NULL;
	/* A driver that finds no cache folder at its start keeps nothing later either. */
	if (path)
		(void)mkdir(path, 0700);
	set_variables(path, connections);
}
