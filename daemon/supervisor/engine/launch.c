/* Starts the process of an engine or of a standby. */
#include "engine/launch.h"

#include "engine/process.h"
#include "base/log.h"
#include "base/runtime_directory.h"
#include "service/engine_state.h"
#include "service/supervisor.h"
#include "service/tenant.h"
#include "cleanup.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool engine_cache_directory(const struct supervisor *supervisor, uid_t uid, gid_t gid,
			    char *path_out, size_t size)
{
	const char *base = supervisor->cache_path;
	if (!*base)
		return false;
	int length = supervisor->options.user
			     ? snprintf(path_out, size, "%s", base)
			     : snprintf(path_out, size, "%s/%lu", base, (unsigned long)uid);
	if (length < 0 || (size_t)length >= size)
		return false;
	CLEANUP(close_fd)
	int fd = directory_open_private(path_out, supervisor->privileged ? uid : geteuid(),
					supervisor->privileged ? gid : getegid());
	if (fd < 0)
		log_warning("engine", "no cache for uid %lu in %s: %s", (unsigned long)uid,
			    path_out, strerror(-fd));
	return fd >= 0;
}

/* With a folder of their own, only engines of users whom the configuration names use MPS. */
static const char *launch_without_mps(const struct supervisor *supervisor)
{
	return *supervisor->configuration.mps_folder ? MPS_FOLDER_NONE : NULL;
}

/* Users who share a server lose their work with each other, so only the operator's daemon counts.
 */
static const char *launch_mps_folder(const struct tenant *tenant)
{
	const char *folder = tenant->supervisor->configuration.mps_folder;
	if (!tenant_uses_mps(tenant))
		return launch_without_mps(tenant->supervisor);
	if (mps_folder_is_trusted(folder))
		return folder;
	log_warning("engine", "uid %lu: no MPS, because %s is no folder of root",
		    (unsigned long)tenant->uid, folder);
	return MPS_FOLDER_NONE;
}

/* Root is a tenant like others, so its engine keeps no capability either. */
static struct engine_launch engine_make_launch(const struct supervisor *supervisor,
					       const char *cache)
{
	return (struct engine_launch){
		.program = supervisor->engine_program,
		.cache_directory = cache,
		.user_mode = supervisor->options.user || geteuid() != 0,
		.drop = supervisor->privileged,
		.mps_folder = launch_without_mps(supervisor),
		.configuration = &supervisor->configuration,
	};
}

int engine_launch_process(const struct engine *engine, struct engine_process *process_out)
{
	const struct tenant *tenant = engine->tenant;
	const struct configuration_devices devices = engine_devices(engine);
	const struct supervisor *supervisor = tenant->supervisor;
	char cache[PATH_MAX];
	bool has_cache =
		engine_cache_directory(supervisor, tenant->uid, tenant->gid, cache, sizeof(cache));
	struct engine_launch how = engine_make_launch(supervisor, has_cache ? cache : NULL);
	how.uid = tenant->uid;
	how.gid = tenant->gid;
	how.warm_devices = tenant->warm_devices;
	how.devices = &devices;
	how.mps_folder = launch_mps_folder(tenant);
	return engine_process_start(&how, process_out);
}

int engine_launch_standby(struct supervisor *supervisor, struct engine_process *process_out)
{
	char cache[PATH_MAX];
	/* The cache's owner is not known yet, unless the service has only one user. */
	bool has_cache =
		!supervisor->privileged &&
		engine_cache_directory(supervisor, geteuid(), getegid(), cache, sizeof(cache));
	struct engine_launch how = engine_make_launch(supervisor, has_cache ? cache : NULL);
	how.standby = true;
	/* Not the folder for temporary files: every engine's user can fill that with names, and the
	 * standby reads all of them. */
	if (supervisor->privileged)
		how.scratch_directory = supervisor->directory.path;
	return engine_process_start(&how, process_out);
}
