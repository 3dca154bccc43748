/* Reads all files of the configuration, and finds contradictions between them. */
#include "base/configuration.h"

#include "cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 256 };

struct findings {
	configuration_found *found;
	void *context;
};

static int user_configuration_path(char *path_out, size_t size)
{
	const char *base = getenv("XDG_CONFIG_HOME");
	int length = -1;
	if (base && *base == '/') {
		length = snprintf(path_out, size, "%s/sycld/sycld.conf", base);
	} else {
		base = getenv("HOME");
		if (!base || *base != '/')
			return -ENOENT;
		length = snprintf(path_out, size, "%s/.config/sycld/sycld.conf", base);
	}
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

static int entry_is_configuration(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);
	return entry->d_name[0] != '.' && length > strlen(".conf") &&
	       strcmp(entry->d_name + length - strlen(".conf"), ".conf") == 0;
}

static int folder_entries_compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Reads one file after another. An error does not end the loop, so that all are reported. */
static int configuration_read_drop_ins(const char *path, struct configuration *configuration,
				       const struct findings *findings)
{
	char folder[PATH_MAX], file[PATH_MAX + NAME_MAX + 2];
	struct dirent **entries = NULL;
	int length = snprintf(folder, sizeof(folder), "%s.d", path), result = 0;
	if (length < 0 || (size_t)length >= sizeof(folder))
		return 0;
	int count = scandir(folder, &entries, entry_is_configuration, folder_entries_compare);
	if (count < 0 && errno != ENOENT && errno != ENOTDIR) {
		result = -errno;
		(void)snprintf(file, sizeof(file), "%s: %s", folder, strerror(-result));
		findings->found(findings->context, true, file);
	}
	for (int i = 0; i < count; i++) {
		(void)snprintf(file, sizeof(file), "%s/%s", folder, entries[i]->d_name);
		int r = -EMFILE;
		if (configuration->file_count < CONFIGURATION_FILES)
			r = configuration_read_file(file, configuration, findings->found,
						    findings->context);
		else
			findings->found(findings->context, true,
					"there are more than 32 files, which is the limit");
		result = result < 0 ? result : r;
		free(entries[i]);
	}
	free((void *)entries);
	return result;
}

__attribute__((format(printf, 2, 3))) static void
configuration_warn(const struct findings *findings, const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	findings->found(findings->context, false, text);
}

/* Counts each user and each group once: every group may have a member with work. */
static void check_minima(const struct configuration *configuration, const struct findings *findings)
{
	const struct configuration_shares *shares = &configuration->shares;
	char where[TEXT_BYTES];
	unsigned sum = 0;
	struct configuration_origin last = {.line = 0};
	for (unsigned i = 0; i < shares->count; i++) {
		sum += shares->entries[i].share.least;
		last = shares->entries[i].share.origin;
	}
	if (sum > 100)
		configuration_warn(
			findings,
			"%s: the minima of [shares] add up to %u %%: who wants a device together gets "
			"less than their minima",
			configuration_origin_text(configuration, last, where, sizeof(where)), sum);
	if (shares->everybody.least > 0 && sum + shares->everybody.least > 100 && sum <= 100)
		configuration_warn(
			findings,
			"%s: the minima of [shares] add up to %u %% with one user of the default",
			configuration_origin_text(configuration, shares->everybody.origin, where,
						  sizeof(where)),
			sum + shares->everybody.least);
}

/* NVIDIA's driver makes a file with the number of each GPU. Other devices are known only to their
 * drivers, which sycld does not load. */
static void configuration_check_devices(const struct configuration *configuration,
					const struct configuration_devices *devices,
					const struct findings *findings)
{
	enum { CUDA = 2, DEVICES = 64 };
	char where[TEXT_BYTES], file[TEXT_BYTES];
	if (!devices->given || devices->set.devices[CUDA] == UINT64_MAX ||
	    access("/dev/nvidiactl", F_OK) < 0)
		return;
	for (unsigned i = 0; i < DEVICES; i++) {
		(void)snprintf(file, sizeof(file), "/dev/nvidia%u", i);
		if (!(devices->set.devices[CUDA] >> i & 1) || access(file, F_OK) == 0)
			continue;
		configuration_warn(findings, "%s: there is no device cuda:%u here (%s is missing)",
				   configuration_origin_text(configuration, devices->origin, where,
							     sizeof(where)),
				   i, file);
	}
}

/* Warns of a device whose driver is not installed on this machine. */
static void check_backends(const struct configuration *configuration,
			   const struct configuration_devices *devices,
			   const struct findings *findings)
{
	enum { OPENCL = 1, CUDA = 2 };
	char where[TEXT_BYTES];
	(void)configuration_origin_text(configuration, devices->origin, where, sizeof(where));
	if (devices->given && devices->set.devices[CUDA] != 0 &&
	    devices->set.devices[CUDA] != UINT64_MAX && access("/dev/nvidiactl", F_OK) < 0)
		configuration_warn(
			findings, "%s: there is no device of cuda here (/dev/nvidiactl is missing)",
			where);
	if (devices->given && devices->set.devices[OPENCL] != 0 &&
	    devices->set.devices[OPENCL] != UINT64_MAX && !getenv("OCL_ICD_VENDORS") &&
	    access("/etc/OpenCL/vendors", F_OK) < 0)
		configuration_warn(
			findings,
			"%s: there is no device of opencl here (/etc/OpenCL/vendors is missing)",
			where);
}

/* Without the daemon, or where it is not trusted, users' engines use the GPUs without MPS. */
static void check_mps(const struct configuration *configuration, const struct findings *findings)
{
	const struct configuration_people *people = &configuration->people;
	const struct configuration_limit *first = NULL;
	char where[TEXT_BYTES];
	for (unsigned i = 0; i < people->owners.count && !first; i++)
		if (people->settings[i].mps.given && people->settings[i].mps.value)
			first = &people->settings[i].mps;
	if (!first)
		return;
	(void)configuration_origin_text(configuration, first->origin, where, sizeof(where));
	if (!*configuration->mps_folder)
		configuration_warn(findings,
				   "%s: mps = yes has no effect without mps_folder in [isolation]",
				   where);
	else if (!mps_folder_is_trusted(configuration->mps_folder))
		configuration_warn(findings,
				   "%s: mps = yes has no effect: %s is no folder of root (does the "
				   "daemon of MPS run?)",
				   where, configuration->mps_folder);
}

static void check_together(const struct configuration *configuration,
			   const struct findings *findings)
{
	const struct configuration_people *people = &configuration->people;
	check_minima(configuration, findings);
	check_mps(configuration, findings);
	configuration_check_devices(configuration, &configuration->devices, findings);
	check_backends(configuration, &configuration->devices, findings);
	for (unsigned i = 0; i < people->owners.count; i++) {
		configuration_check_devices(configuration, &people->settings[i].devices, findings);
		check_backends(configuration, &people->settings[i].devices, findings);
	}
}

int configuration_check(const char *given, bool user, struct configuration *configuration_out,
			configuration_found *found, void *context)
{
	const struct findings findings = {found, context};
	struct configuration configuration;
	char path[PATH_MAX] = SYCLD_SYSCONFDIR "/sycld/sycld.conf";
	const char *file = given ? given : path;
	configuration_defaults(&configuration);
	if (user && !given && user_configuration_path(path, sizeof(path)) < 0) {
		*configuration_out = configuration;
		return 0; /* the user has no folder for a configuration */
	}
	bool is_missing = !given && access(file, F_OK) < 0 && errno == ENOENT;
	int r;
	r = is_missing ? 0 : configuration_read_file(file, &configuration, found, context);
	if (r == 0 || r == -EINVAL) {
		int more = configuration_read_drop_ins(file, &configuration, &findings);
		r = r < 0 ? r : more;
	}
	if (r < 0)
		return r;
	check_together(&configuration, &findings);
	*configuration_out = configuration;
	return 0;
}
