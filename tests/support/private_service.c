#include "private_service.h"

#include "clock.h"

#include <errno.h>
#include <ftw.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { OPTIONS_MAX = 24, ENGINES_MAX = 16, STATUS_BYTES_MAX = 1 << 22, STOP_SECONDS = 100 };

static int private_service_write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	if (!file)
		return -errno;
	int failed = fputs(text, file) < 0;
	return fclose(file) != 0 || failed ? -EIO : 0;
}

static bool private_service_answers(void *context)
{
	json_t *status = private_service_status(context);
	json_decref(status);
	return status != NULL;
}

static void log_path(const struct private_service *service, char *path_out, size_t size)
{
	(void)snprintf(path_out, size, "%s/log", service->directory);
}

void private_service_print_log(const struct private_service *service)
{
	char path[128], line[512];
	log_path(service, path, sizeof(path));
	FILE *file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		(void)fputs(line, stderr);
	(void)fclose(file);
}

bool private_service_has_logged(const struct private_service *service, const char *text)
{
	char path[128], line[512];
	bool found = false;
	log_path(service, path, sizeof(path));
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, text);
	(void)fclose(file);
	return found;
}

/* Returns true if a sanitizer has reported anything about sycld or its engines. */
static bool log_complains(const struct private_service *service)
{
	return private_service_has_logged(service, "Sanitizer") ||
	       private_service_has_logged(service, "runtime error:");
}

static int launch_sycld(struct private_service *service, const char *const *options)
{
	char program[PATH_MAX], engine[PATH_MAX];
	int r = build_path("bin", "sycld", program, sizeof(program));
	if (r == 0)
		r = build_path("tests", "sycl-engine-fake", engine, sizeof(engine));
	if (r < 0)
		return r;
	const char *argv[OPTIONS_MAX] = {program, "--runtime-dir", service->runtime};
	size_t count = 3;
	service->user = true;
	for (; options && *options; options++) {
		if (strcmp(*options, "--system") == 0) {
			service->user = false;
		} else if (strcmp(*options, "--fake-engine") == 0) {
			argv[count++] = "--engine";
			argv[count++] = engine;
		} else if (count < OPTIONS_MAX - 6) {
			argv[count++] = *options;
		}
	}
	if (service->user)
		argv[count++] = "--user";
	if (service->configuration[0]) {
		argv[count++] = "--config";
		argv[count++] = service->configuration;
	}
	char log[128];
	log_path(service, log, sizeof(log));
	r = child_start_logged(argv, NULL, log, &service->sycld);
	if (r < 0)
		return r;
	if (wait_until(private_service_answers, service, SECONDS_NS(100)))
		return 0;
	private_service_print_log(service);
	return -ETIMEDOUT;
}

int private_service_start(const char *configuration, const char *const *options,
			  struct private_service **service_out)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = calloc(1, sizeof(*service));
	if (!service)
		return -ENOMEM;
	service->sycld = (struct child)CHILD_INIT;
	(void)snprintf(service->directory, sizeof(service->directory), "/tmp/sycld-test.XXXXXX");
	if (!mkdtemp(service->directory)) {
		service->directory[0] = '\0';
		return -errno;
	}
	/* Other users reach the sockets of a system service. */
	if (chmod(service->directory, 0755) < 0)
		return -errno;
	(void)snprintf(service->runtime, sizeof(service->runtime), "%s/run", service->directory);
	(void)snprintf(service->endpoint, sizeof(service->endpoint), "unix:%s/session.sock",
		       service->runtime);
	if (configuration) {
		(void)snprintf(service->configuration, sizeof(service->configuration), "%s/conf",
			       service->directory);
		int r = private_service_write_text(service->configuration, configuration);
		if (r < 0)
			return r;
	}
	int r = launch_sycld(service, options);
	if (r < 0)
		return r;
	*service_out = TAKE(service);
	return 0;
}

int private_service_restart(struct private_service *service)
{
	const char *const system_options[] = {"--system", NULL};
	child_end(&service->sycld);
	return launch_sycld(service, service->user ? NULL : system_options);
}

static int private_service_remove_entry(const char *path, const struct stat *facts, int kind,
					struct FTW *where)
{
	(void)facts;
	(void)kind;
	(void)where;
	return remove(path) == 0 || errno == ENOENT ? 0 : -1;
}

struct private_service *private_service_free(struct private_service *service)
{
	if (!service)
		return NULL;
	pid_t engines[ENGINES_MAX];
	int count = 0, status = 0;
	if (service->sycld.pid > 0 && process_exists(service->sycld.pid)) {
		count = process_children(service->sycld.pid, engines, ENGINES_MAX);
		(void)kill(service->sycld.pid, SIGTERM);
		status = child_wait(&service->sycld, SECONDS_NS(STOP_SECONDS));
	}
	child_end(&service->sycld);
	bool bad = status != 0 || (!service->faults && log_complains(service));
	if (bad) {
		(void)fprintf(stderr, "sycld ended with status %d; it and its engines said:\n",
			      status);
		private_service_print_log(service);
	}
	/* Engines end with sycld, except one that a test left with endless work. */
	for (int i = 0; i < count && i < ENGINES_MAX; i++)
		if (process_exists(engines[i]))
			(void)kill(engines[i], SIGKILL);
	if (service->directory[0])
		(void)nftw(service->directory, private_service_remove_entry, 8,
			   FTW_DEPTH | FTW_PHYS);
	free(service);
	/* A daemon that leaks, or does not end as it should, fails the test even if its clients got
	 * correct results. */
	if (bad)
		abort();
	return NULL;
}

json_t *private_service_status(const struct private_service *service)
{
	char program[PATH_MAX];
	if (build_path("bin", "syclctl", program, sizeof(program)) < 0)
		return NULL;
	const char *argv[] = {program, "--runtime-dir", service->runtime, "status", "--json", NULL};
	struct child child = CHILD_INIT;
	if (child_start(argv, NULL, &child) < 0)
		return NULL;
	char *text = malloc(STATUS_BYTES_MAX);
	ssize_t length = text ? child_read_all(&child, text, STATUS_BYTES_MAX, SECONDS_NS(60)) : -1;
	json_t *status = NULL;
	if (length > 0 && child_wait(&child, SECONDS_NS(60)) == 0)
		status = json_loadb(text, (size_t)length, 0, NULL);
	free(text);
	child_end(&child);
	return status;
}

int private_service_sessions(const struct private_service *service)
{
	json_t *status = private_service_status(service);
	const json_t *sessions = json_object_get(status, "sessions");
	int count = json_is_array(sessions) ? (int)json_array_size(sessions) : -1;
	json_decref(status);
	return count;
}

pid_t private_service_engine(const struct private_service *service, int64_t uid)
{
	json_t *status = private_service_status(service);
	const json_t *tenants = json_object_get(status, "tenants");
	pid_t pid = 0;
	for (size_t i = 0; i < json_array_size(tenants) && pid == 0; i++) {
		const json_t *tenant = json_array_get(tenants, i);
		const char *state = json_string_value(json_object_get(tenant, "state"));
		/* An engine whose device has failed may exist beside its successor for a while. */
		bool is_over = state && strcmp(state, "stopping") == 0;
		if (!is_over &&
		    (uid < 0 || json_integer_value(json_object_get(tenant, "uid")) == uid))
			pid = (pid_t)json_integer_value(json_object_get(tenant, "engine_pid"));
	}
	json_decref(status);
	return pid;
}

pid_t private_service_standby(const struct private_service *service)
{
	json_t *status = private_service_status(service);
	const json_t *standby = json_object_get(json_object_get(status, "service"), "standby");
	const char *state = json_string_value(json_object_get(standby, "state"));
	bool ready = state && strcmp(state, "ready") == 0;
	pid_t pid = ready ? (pid_t)json_integer_value(json_object_get(standby, "pid")) : 0;
	json_decref(status);
	return pid;
}

struct standby_wanted {
	const struct private_service *service;
	pid_t pid;
};

static bool has_standby(void *context)
{
	struct standby_wanted *wanted = context;
	wanted->pid = private_service_standby(wanted->service);
	return wanted->pid > 0;
}

pid_t private_service_wait_standby(const struct private_service *service, uint64_t timeout_ns)
{
	struct standby_wanted wanted = {service, 0};
	return wait_until(has_standby, &wanted, timeout_ns) ? wanted.pid : 0;
}

struct sessions_wanted {
	const struct private_service *service;
	int count;
};

static bool has_sessions(void *context)
{
	const struct sessions_wanted *wanted = context;
	return private_service_sessions(wanted->service) == wanted->count;
}

bool private_service_wait_sessions(const struct private_service *service, int count,
				   uint64_t timeout_ns)
{
	struct sessions_wanted wanted = {service, count};
	return wait_until(has_sessions, &wanted, timeout_ns);
}
