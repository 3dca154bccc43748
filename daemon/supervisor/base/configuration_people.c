/* Sections of users and groups, and lists of devices. Names are resolved when a user connects. */
#include "base/configuration.h"

#include <stdio.h>
#include <string.h>

enum { DEVICES_MOST = 64, WORD_BYTES = 32 };

/* The index is the value of proto's Backend. Only tests have the last one. */
static const char *const backends[DEVICE_SET_BACKENDS] = {
	[1] = "opencl", [2] = "cuda", [3] = "fake"};

static const char wants_devices[] =
	"needs all, none, or devices such as cuda:0, opencl:* (backends: cuda, opencl), separated by "
	"commas";

struct configuration_settings *configuration_people_section(struct configuration *configuration,
							    const char *section)
{
	struct configuration_people *people = &configuration->people;
	struct configuration_owners *owners = &people->owners;
	struct configuration_owner owner;
	if (!configuration_owner_parse(section, ' ', &owner))
		return NULL;
	for (unsigned i = 0; i < owners->count; i++)
		if (configuration_owners_are_equal(&owners->list[i], &owner))
			return &people->settings[i];
	if (owners->count == CONFIGURATION_PEOPLE)
		return NULL;
	owners->list[owners->count] = owner;
	people->settings[owners->count] = (struct configuration_settings){.seen = 0};
	return &people->settings[owners->count++];
}

/* Adds "cuda:0" or "cuda:*" to the set. */
static bool add_device(const char *word, struct device_set *set)
{
	for (unsigned i = 0; i < DEVICE_SET_BACKENDS; i++) {
		size_t length = backends[i] ? strlen(backends[i]) : 0;
		uint64_t number = 0;
		if (!length || strncmp(word, backends[i], length) != 0 || word[length] != ':')
			continue;
		if (!strcmp(word + length + 1, "*")) {
			set->devices[i] = UINT64_MAX;
			return true;
		}
		if (!configuration_number(word + length + 1, false, DEVICES_MOST - 1, &number))
			return false;
		set->devices[i] |= 1ull << number;
		return true;
	}
	return false;
}

const char *configuration_devices_set(struct configuration_devices *devices, const char *value,
				      struct configuration_origin origin)
{
	struct configuration_devices list = {.given = true, .origin = origin};
	if (!strcmp(value, "all")) {
		memset(list.set.devices, 0xff, sizeof(list.set.devices));
		*devices = list;
		return NULL;
	}
	if (!*value)
		return wants_devices;
	for (const char *at = value; *at && strcmp(value, "none") != 0;) {
		char word[WORD_BYTES];
		at += strspn(at, " \t");
		size_t length = strcspn(at, ", \t");
		if (length == 0 || length >= sizeof(word))
			return wants_devices;
		memcpy(word, at, length);
		word[length] = '\0';
		if (!add_device(word, &list.set))
			return wants_devices;
		at += length;
		at += strspn(at, " \t");
		if (*at == ',' && !*++at)
			return wants_devices;
	}
	*devices = list;
	return NULL;
}

const char *configuration_devices_text(const struct configuration_devices *devices, char *text_out,
				       size_t text_bytes)
{
	size_t used = 0;
	struct device_set all;
	memset(&all, 0xff, sizeof(all));
	(void)snprintf(text_out, text_bytes, "%s", devices->given ? "none" : "all");
	if (!devices->given || device_set_is_empty(&devices->set))
		return text_out;
	if (device_set_has(&devices->set, &all))
		return strncpy(text_out, "all", text_bytes);
	for (unsigned i = 0; i < DEVICE_SET_BACKENDS; i++)
		for (unsigned n = 0; backends[i] && n < DEVICES_MOST; n++) {
			bool whole = devices->set.devices[i] == UINT64_MAX;
			char number[WORD_BYTES] = "*";
			if (!(devices->set.devices[i] >> n & 1) || (whole && n > 0))
				continue;
			if (!whole)
				(void)snprintf(number, sizeof(number), "%u", n);
			int length = snprintf(text_out + used, text_bytes - used, "%s%s:%s",
					      used ? "," : "", backends[i], number);
			if (length < 0 || (size_t)length >= text_bytes - used)
				return text_out; /* the text has no more room */
			used += (size_t)length;
		}
	return text_out;
}

const char *configuration_origin_text(const struct configuration *configuration,
				      struct configuration_origin origin, char *text_out,
				      size_t text_bytes)
{
	if (origin.line == 0 || origin.file >= configuration->file_count)
		(void)snprintf(text_out, text_bytes, "sycld.conf");
	else
		(void)snprintf(text_out, text_bytes, "%s:%u", configuration->files[origin.file],
			       origin.line);
	return text_out;
}
