/*
 * The cache of compiled PTX in CUDA_CACHE_PATH, as that was at cuInit. It works only if a test
 * requests it with "set jit_cache 1", so other tests find no unexpected files. The folder is not
 * made here. If it does not exist at cuInit, nothing is ever kept (observed with driver 580). Later
 * the name may lead to another folder.
 */
#include "fake.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH 4096

static uint64_t jit_hash(const char *text)
{
	uint64_t so_far = 14695981039346656037u;

	for (; *text; text++)
		so_far = (so_far ^ (unsigned char)*text) * 1099511628211u;
	return so_far;
}

static bool is_kept(const char *path, const char *text)
{
	const size_t bytes = strlen(text);
	FILE *file = fopen(path, "rbe");
	char *kept = file ? malloc(bytes + 1) : NULL;
	bool is_same =
		kept && fread(kept, 1, bytes + 1, file) == bytes && memcmp(kept, text, bytes) == 0;

	free(kept);
	if (file)
		(void)fclose(file);
	return is_same;
}

/* The file is complete or not there at all: another process may open it now. */
static void jit_keep(const char *path, const char *text)
{
	char made[PATH + 32];

	(void)snprintf(made, sizeof(made), "%s.%d", path, (int)getpid());
	FILE *file = fopen(made, "wbe");
	if (!file)
		return;
	bool is_whole = fwrite(text, 1, strlen(text), file) == strlen(text);
	if (fclose(file) != 0 || !is_whole || rename(made, path) != 0)
		(void)unlink(made);
}

void fake_jit_init(void)
{
	const char *folder = fake_environment("CUDA_CACHE_PATH");
	struct stat status;

	if (folder && stat(folder, &status) == 0 && S_ISDIR(status.st_mode))
		fake_number_add("jit_folder", 1);
}

void fake_jit_take(const char *text, int compute)
{
	const char *folder = fake_environment("CUDA_CACHE_PATH"),
		   *disabled = fake_environment("CUDA_CACHE_DISABLE");
	char path[PATH] = "";

	if (!fake_number("setting jit_cache"))
		return;
	if (folder && fake_number("jit_folder") && (!disabled || strcmp(disabled, "0") == 0) &&
	    snprintf(path, sizeof(path), "%s/sm_%d-%016" PRIx64, folder, compute, jit_hash(text)) <
		    (int)sizeof(path)) {
		if (is_kept(path, text)) {
			fake_number_add("jit_found", 1);
			return;
		}
		jit_keep(path, text);
	}
	fake_number_add("jit_compiled", 1);
}
