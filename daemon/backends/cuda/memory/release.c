#include "cuda/memory/release.h"

#include "cleanup.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define RELEASE_BYTES 48

/* Reads the first few bytes of a file as text. False: the file is empty or cannot be read. */
static bool read_release_file(const char *root, const char *path, char *text_out, size_t capacity)
{
	char whole[PATH_MAX];
	int length = snprintf(whole, sizeof(whole), "%s%s", root, path);

	if (length < 0 || (size_t)length >= sizeof(whole))
		return false;
	CLEANUP(close_fd) int fd = open(whole, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text_out, capacity - 1);
	if (got <= 0)
		return false;
	text_out[got] = '\0';
	return true;
}

/* Finds the first word of digits and points that has at least one point inside: "535.104.05". */
static bool find_release(const char *text, char release_out[RELEASE_BYTES])
{
	while (*text) {
		text += strspn(text, " \t\n");
		size_t word = strcspn(text, " \t\n"), number = strspn(text, "0123456789.");
		if (word > 0 && word == number && word < RELEASE_BYTES &&
		    isdigit((unsigned char)text[0]) && isdigit((unsigned char)text[word - 1]) &&
		    memchr(text, '.', word)) {
			memcpy(release_out, text, word);
			release_out[word] = '\0';
			return true;
		}
		text += word;
	}
	return false;
}

void cuda_release(const char *root, int driver_version, char text_out[CUDA_RELEASE_BYTES])
{
	static const char *const places[] = {"/sys/module/nvidia/version",
					     "/proc/driver/nvidia/version"};
	char text[512], release[RELEASE_BYTES] = "";
	bool found = false;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !found; i++)
		found = read_release_file(root, places[i], text, sizeof(text)) &&
			find_release(text, release);
	(void)snprintf(text_out, CUDA_RELEASE_BYTES, "%s%sCUDA %d.%d", release, found ? ", " : "",
		       driver_version / 1000, driver_version % 1000 / 10);
}
