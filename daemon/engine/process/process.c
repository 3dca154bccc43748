#include "process/process.h"
#include "cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static uint32_t count_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	if (!folder)
		return 0;
	uint32_t count = 0;
	const struct dirent *entry;
	while ((entry = readdir(folder)) != NULL)
		count += entry->d_name[0] != '.';
	(void)closedir(folder);
	return count ? count - 1 : 0; /* without the descriptor that was used for counting */
}

static uint32_t count_lines(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	uint32_t count = 0;
	char part[4096];
	ssize_t size;
	while ((size = read(fd, part, sizeof(part))) > 0) {
		for (ssize_t i = 0; i < size; i++)
			count += part[i] == '\n';
	}
	return count;
}

/* The second number of statm, in pages. */
static uint64_t read_resident(void)
{
	CLEANUP(close_fd) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (size <= 0)
		return 0;
	text[size] = '\0';
	char *end;
	(void)strtoull(text, &end, 10);
	return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

void process_facts_read(struct process_facts *facts_out)
{
	facts_out->resident_bytes = read_resident();
	facts_out->descriptors = count_descriptors();
	facts_out->mappings = count_lines("/proc/self/maps");
}
