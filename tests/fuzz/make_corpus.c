/* make_corpus FOLDER writes the seeds of every target into FOLDER/TARGET/, over existing ones. */
#include "corpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *folder;

static void give_up(const char *path)
{
	(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
	exit(1);
}

void seed(const char *target, const char *name, const void *bytes, size_t count)
{
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, target);
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		give_up(path);
	(void)snprintf(path, sizeof(path), "%s/%s/%s", folder, target, name);
	FILE *file = fopen(path, "wbe");
	if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0)
		give_up(path);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		(void)fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	folder = argv[1];
	make_message_seeds();
	make_ring_seeds();
	make_interval_seeds();
	make_fair_queue_seeds();
	make_resubmit_seeds();
	return 0;
}
