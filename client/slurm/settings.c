#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct setting {
	const char *name;
	size_t place;
} texts[] = {
	{"syclctl", offsetof(struct settings, syclctl)},
	{"runtime_dir", offsetof(struct settings, runtime_dir)},
	{"state_dir", offsetof(struct settings, state_dir)},
	{"cgroup", offsetof(struct settings, cgroup)},
	{"devices", offsetof(struct settings, devices)},
};

const char *settings_node(void)
{
	const char *name = getenv("SLURMD_NODENAME");
	return name ? name : "";
}

/* False: it does not fit. */
static bool copy_with_node(char out[SETTING_BYTES], const char *value)
{
	size_t used = 0;
	const char *node = settings_node();
	for (; *value; value++) {
		bool is_node = value[0] == '%' && value[1] == 'n';
		size_t length = is_node ? strlen(node) : 1;
		if (used + length >= SETTING_BYTES)
			return false;
		memcpy(out + used, is_node ? node : value, length);
		used += length;
		value += is_node;
	}
	out[used] = '\0';
	return true;
}

static bool read_number(const char *value, unsigned long most, unsigned *number_out)
{
	char *end;
	unsigned long number = strtoul(value, &end, 10);
	if (end == value || *end || number > most)
		return false;
	*number_out = (unsigned)number;
	return true;
}

/* False: there is no such setting, or the value is wrong. */
static bool setting_read(struct settings *settings, const char *word)
{
	const char *value = strchr(word, '=');
	if (!value)
		return false;
	size_t length = (size_t)(value++ - word);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (strlen(texts[i].name) == length && memcmp(texts[i].name, word, length) == 0)
			return copy_with_node((char *)settings + texts[i].place, value);
	if (length == 4 && memcmp(word, "most", 4) == 0)
		return strcmp(value, "share") == 0 ? (settings->most = 0, true)
						   : read_number(value, 100, &settings->most);
	if (length == 11 && memcmp(word, "deadline_ms", 11) == 0)
		return read_number(value, 60000, &settings->deadline_ms) && settings->deadline_ms;
	return false;
}

bool settings_read(int count, char **words, struct settings *settings_out, char *wrong_out,
		   size_t bytes)
{
	struct settings settings = {
		.syclctl = "/usr/bin/syclctl",
		.state_dir = "/run/sycld-slurm",
		.cgroup = "/sycld-jobs",
		.most = 100,
		.deadline_ms = DEADLINE_MS,
	};
	for (int i = 0; i < count; i++)
		if (!setting_read(&settings, words[i])) {
			(void)snprintf(
				wrong_out, bytes,
				"plugstack.conf: wrong argument '%.100s': there are syclctl, "
				"runtime_dir, state_dir, cgroup, devices, most and "
				"deadline_ms",
				words[i]);
			return false;
		}
	*settings_out = settings;
	return true;
}
