/* replay FOLDER... gives every file of the folders to the target, as a test. An empty folder
 * fails. */
#include "fuzz.h"

#include "cleanup.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

static void close_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

static void close_folder(DIR **folder)
{
	if (*folder)
		(void)closedir(*folder);
}

/* A heap block of exactly the file's size, so that a sanitizer detects a read beyond it. */
static int replay_file(const char *path)
{
	CLEANUP(close_file) FILE *file = fopen(path, "rbe");
	struct stat facts;
	if (!file || fstat(fileno(file), &facts) < 0)
		return -errno;
	size_t size = (size_t)facts.st_size;
	CLEANUP(free_pointer) uint8_t *bytes = malloc(size ? size : 1);
	if (!bytes)
		return -ENOMEM;
	if (fread(bytes, 1, size, file) != size)
		return -EIO;
	return LLVMFuzzerTestOneInput(bytes, size);
}

/* Returns the number of files, or a negative errno. */
static int replay_folder(const char *name)
{
	CLEANUP(close_folder) DIR *folder = opendir(name);
	if (!folder)
		return -errno;
	int count = 0;
	const struct dirent *entry;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		char path[4096];
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", name, entry->d_name) >=
		    sizeof(path))
			return -ENAMETOOLONG;
		int r = replay_file(path);
		if (r < 0) {
			(void)fprintf(stderr, "%s: %s\n", path, strerror(-r));
			return r;
		}
		count++;
	}
	return count;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		(void)fprintf(stderr, "usage: %s FOLDER...\n", argv[0]);
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		int count = replay_folder(argv[i]);
		if (count <= 0) {
			(void)fprintf(stderr, "%s: %s\n", argv[i],
				      count < 0 ? strerror(-count) : "no files");
			return 1;
		}
		(void)printf("%s: %d inputs\n", argv[i], count);
	}
	return 0;
}
