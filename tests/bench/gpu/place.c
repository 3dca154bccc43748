#include "gpu/place.h"

#include <errno.h>
#include <grp.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *library;
static char settings[GPU_SETTINGS_BYTES];

void gpu_use_library(const char *path)
{
	library = path;
}

const char *gpu_library(void)
{
	return library;
}

int gpu_use_setting(const char *line)
{
	const size_t used = strlen(settings), added = strlen(line) + 1;
	if (added >= sizeof(settings) - used)
		return -E2BIG;
	(void)snprintf(settings + used, sizeof(settings) - used, "%s\n", line);
	return 0;
}

const char *gpu_settings(void)
{
	return settings;
}

void gpu_place_write(const struct gpu_place *place, char text_out[GPU_PLACE_BYTES])
{
	(void)snprintf(text_out, GPU_PLACE_BYTES, "%u %u %s %s", place->device,
		       (unsigned)place->uid, place->with, library ? library : GPU_NOBODY);
}

bool gpu_place_take(const char *text, struct gpu_place *place_out)
{
	static char own_library[PATH_MAX];
	struct gpu_place place = {0};
	unsigned uid;
	if (sscanf(text, "%u %u %127s %511s", &place.device, &uid, place.with, own_library) != 4) {
		(void)fprintf(stderr, "the argument is no device, user and libraries: '%s'\n",
			      text);
		return false;
	}
	place.uid = (uid_t)uid;
	library = strcmp(own_library, GPU_NOBODY) != 0 ? own_library : NULL;
	if (uid != 0 && geteuid() != uid &&
	    (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
	     setresuid(uid, uid, uid) < 0)) {
		(void)fprintf(stderr, "cannot become user %u: %s\n", uid, strerror(errno));
		return false;
	}
	*place_out = place;
	return true;
}
