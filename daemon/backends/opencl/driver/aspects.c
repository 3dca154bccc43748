#include "opencl/driver/aspects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool opencl_has_extension(const char *extensions, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = extensions; *at;) {
		at += strspn(at, " ");
		size_t word = strcspn(at, " ");
		if (word == length && word > 0 && memcmp(at, name, length) == 0)
			return true;
		at += word;
	}
	return false;
}

uint64_t opencl_extension_aspects(const char *extensions)
{
	uint64_t aspects = 0;

	if (opencl_has_extension(extensions, "cl_khr_fp16"))
		aspects |= 1ull << OPENCL_ASPECT_FP16;
	if (opencl_has_extension(extensions, "cl_khr_fp64"))
		aspects |= 1ull << OPENCL_ASPECT_FP64;
	if (opencl_has_extension(extensions, "cl_khr_int64_base_atomics") &&
	    opencl_has_extension(extensions, "cl_khr_int64_extended_atomics"))
		aspects |= 1ull << OPENCL_ASPECT_ATOMIC64;
	return aspects;
}

static bool parse_version(const char *text, unsigned long *major, unsigned long *minor)
{
	static const char prefix[] = "OpenCL ";
	char *end = NULL;

	if (strncmp(text, prefix, sizeof(prefix) - 1) != 0)
		return false;
	const char *number = text + sizeof(prefix) - 1;
	*major = strtoul(number, &end, 10);
	if (end == number || *end != '.')
		return false;
	number = end + 1;
	*minor = strtoul(number, &end, 10);
	return end != number;
}

void opencl_version(const char *device, const char *platform, char *version, size_t capacity)
{
	unsigned long major = 0, minor = 0, platform_major = 0, platform_minor = 0;

	if (!parse_version(device, &major, &minor)) {
		(void)snprintf(version, capacity, "%s", device);
		return;
	}
	if (parse_version(platform, &platform_major, &platform_minor) &&
	    (platform_major < major || (platform_major == major && platform_minor < minor))) {
		major = platform_major;
		minor = platform_minor;
	}
	(void)snprintf(version, capacity, "%lu.%lu", major, minor);
}

/* True if this version of PoCL, "3.1" or "3.1+debian", is older than 4.0. */
static bool pocl_is_before_4_0(const char *driver_version)
{
	char *end = NULL;
	unsigned long major = strtoul(driver_version, &end, 10);

	return end != driver_version && *end == '.' && major < 4;
}

bool opencl_pocl_scales_layers(const char *driver_version)
{
	return pocl_is_before_4_0(driver_version);
}

bool opencl_pocl_needs_optimiser(const char *driver_version)
{
	return !pocl_is_before_4_0(driver_version);
}
