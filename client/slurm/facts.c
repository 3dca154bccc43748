#include "facts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 2 * SETTING_BYTES + 32, FILE_BYTES = 1024 };

#define GRES "gres:sycl"

/* False: the word is of something else. */
static bool word_hundredths(const char *word, size_t length, unsigned *hundredths_out)
{
	const char *end = word + length, *number = end;
	const char *rest = word + sizeof(GRES) - 1;
	if (length < sizeof(GRES) - 1 || strncmp(word, GRES, sizeof(GRES) - 1) != 0 ||
	    (rest != end && *rest != ':'))
		return false;
	*hundredths_out = 1; /* without a number, one is meant */
	while (number > rest && number[-1] >= '0' && number[-1] <= '9')
		number--;
	if (number < end && number[-1] == ':')
		*hundredths_out = (unsigned)strtoul(number, NULL, 10);
	return true;
}

/* Slurm allocates what the last word for the same resource says, so the smallest one is never more
 * than was allocated. */
unsigned facts_hundredths(const char *tres_per_node)
{
	unsigned least = 0;
	bool found = false;
	for (const char *at = tres_per_node; at && *at; at += *at == ',') {
		size_t length = strcspn(at, ",");
		unsigned hundredths;
		bool is_ours = word_hundredths(at, length, &hundredths);
		if (is_ours && (!found || hundredths < least))
			least = hundredths;
		found |= is_ours;
		at += length;
	}
	return least;
}

bool facts_is_memory(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	size_t rest = strlen(text + digits);
	return digits > 0 && digits < 20 && *text != '0' &&
	       (rest == 0 || (rest == 1 && strchr("KMGT", text[digits])));
}

bool facts_is_class(const char *text)
{
	return !strcmp(text, "latency") || !strcmp(text, "normal") || !strcmp(text, "best-effort");
}

bool facts_are_any(const struct facts *facts)
{
	return facts->hundredths || facts->memory[0] || facts->class[0] || facts->cause[0];
}

static void facts_path(const struct settings *settings, uint32_t job, char path[PATH_BYTES])
{
	(void)snprintf(path, PATH_BYTES, "%s/%lu", settings->state_dir, (unsigned long)job);
}

int facts_save(const struct settings *settings, uint32_t job, const struct facts *facts)
{
	char path[PATH_BYTES], text[FILE_BYTES];
	(void)mkdir(settings->state_dir, 0755);
	facts_path(settings, job, path);
	(void)unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	int length = snprintf(text, sizeof(text), "hundredths=%u\nmemory=%s\nclass=%s\ncause=%s\n",
			      facts->hundredths, facts->memory, facts->class, facts->cause);
	ssize_t written = write(fd, text, (size_t)length);
	int r = written == length ? 0 : written < 0 ? -errno : -ENOSPC;
	(void)close(fd);
	return r;
}

/* Copies the rest of the line behind `name`. */
static void read_line(const char *text, const char *name, char *out, size_t bytes)
{
	const char *at = strstr(text, name);
	*out = '\0';
	if (at)
		(void)snprintf(out, bytes, "%.*s", (int)strcspn(at + strlen(name), "\n"),
			       at + strlen(name));
}

int facts_load(const struct settings *settings, uint32_t job, struct facts *facts_out)
{
	char path[PATH_BYTES], text[FILE_BYTES + 1], number[FACT_BYTES];
	struct stat status;
	facts_path(settings, job, path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	ssize_t count = fstat(fd, &status) == 0 && status.st_uid == geteuid()
				? read(fd, text, FILE_BYTES)
				: -1;
	(void)close(fd);
	if (count < 0)
		return -EPERM;
	text[count] = '\0';
	read_line(text, "hundredths=", number, sizeof(number));
	facts_out->hundredths = (unsigned)strtoul(number, NULL, 10);
	read_line(text, "\nmemory=", facts_out->memory, sizeof(facts_out->memory));
	read_line(text, "\nclass=", facts_out->class, sizeof(facts_out->class));
	read_line(text, "\ncause=", facts_out->cause, sizeof(facts_out->cause));
	return 0;
}

void facts_remove(const struct settings *settings, uint32_t job)
{
	char path[PATH_BYTES];
	facts_path(settings, job, path);
	(void)unlink(path);
}
