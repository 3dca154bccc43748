/*
 * confined --unit FILE --run FOLDER --cache FOLDER [--calls FILE] [--keep FOLDER] PROGRAM
 * ARGUMENT... runs the program with the settings of the unit, and prints a line for each setting:
 *   applied   it holds
 *   refused   the container does not permit it, with the kernel's reason
 *   absent    there is nothing here that it could apply to
 *   systemd   only systemd does it
 * --keep: a folder that the program needs, even if a setting hides what is around it. SIGTERM ends
 * the program. Exit status: the program's; 2: the unit has a setting that this program does not
 * know.
 */
#include "confined.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the order in which they are applied: what needs rights comes before the rights are given up.
 * Without a function: only systemd does it. */
static const struct {
	const char *name;
	setting_function *confine;
} kinds[] = {
	{"Type", NULL},
	{"ExecStart", NULL},
	{"ExecReload", NULL},
	{"ExecStopPost", NULL},
	{"Restart", NULL},
	{"RestartSec", NULL},
	{"RestartKillSignal", NULL},
	{"TimeoutStopSec", NULL},
	{"KillMode", NULL},
	{"OOMPolicy", NULL},
	{"RuntimeDirectoryPreserve", NULL},
	{"RemoveIPC", NULL},
	{"IPAddressDeny", NULL},
	{"WatchdogSec", confine_watchdog},
	{"Slice", confine_group},
	{"Delegate", confine_delegate},
	{"MemoryMax", confine_group_memory},
	{"OOMScoreAdjust", confine_oom},
	{"LimitNOFILE", confine_limit},
	{"LimitMEMLOCK", confine_limit},
	{"LimitCORE", confine_limit},
	{"RuntimeDirectory", confine_folder},
	{"CacheDirectory", confine_folder},
	{"RuntimeDirectoryMode", confine_folder},
	{"CacheDirectoryMode", confine_folder},
	{"PrivateMounts", confine_mounts},
	{"PrivateNetwork", confine_network},
	{"ProtectProc", confine_proc},
	{"ProtectSystem", confine_system},
	{"ProtectKernelTunables", confine_tunables},
	{"ProtectControlGroups", confine_control_groups},
	{"ReadWritePaths", confine_writable},
	{"ProtectKernelModules", confine_modules},
	{"ProtectKernelLogs", confine_kernel_logs},
	{"ProtectHome", confine_home},
	{"PrivateTmp", confine_temporary},
	{"DeviceAllow", confine_device},
	{"DevicePolicy", confine_devices},
	{"UMask", confine_mask},
	{"CapabilityBoundingSet", confine_capabilities},
	{"NoNewPrivileges", confine_privileges},
	{"ProtectHostname", confine_hostname},
	{"SystemCallArchitectures", filter_architecture},
	{"RestrictAddressFamilies", filter_families},
	{"RestrictNamespaces", filter_namespaces},
	{"RestrictRealtime", filter_realtime},
	{"RestrictSUIDSGID", filter_set_id},
	{"LockPersonality", filter_personality},
	{"ProtectClock", filter_clock},
	{"SystemCallFilter", filter_calls},
	{"SystemCallErrorNumber", filter_error_number},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds), READY_MS = 20000 };

__attribute__((format(printf, 3, 0))) static void
setting_note(struct setting *setting, const char *state, const char *note, va_list list)
{
	(void)snprintf(setting->state, sizeof(setting->state), "%.15s", state);
	char text[sizeof(setting->note)];
	(void)vsnprintf(text, sizeof(text), note, list);
	memcpy(setting->note, text, sizeof(text));
}

void setting_applied(struct setting *setting, const char *note, ...)
{
	va_list list;
	va_start(list, note);
	setting_note(setting, "applied", note, list);
	va_end(list);
}

void setting_absent(struct setting *setting, const char *note, ...)
{
	va_list list;
	va_start(list, note);
	setting_note(setting, "absent", note, list);
	va_end(list);
}

void setting_refused(struct setting *setting, const char *what, int error)
{
	(void)snprintf(setting->state, sizeof(setting->state), "refused");
	(void)snprintf(setting->note, sizeof(setting->note), "%s: %s", what, strerror(error));
}

static void setting_print(const struct setting *setting)
{
	char text[sizeof(setting->name) + sizeof(setting->value)];
	(void)snprintf(text, sizeof(text), "%s=%s", setting->name, setting->value);
	(void)printf("%-8s %-44.44s %s\n", setting->state, text, setting->note);
	(void)fflush(stdout);
}

struct setting *confined_find(struct confined *confined, const char *name)
{
	for (size_t i = 0; i < confined->settings_count; i++)
		if (strcmp(confined->settings[i].name, name) == 0)
			return &confined->settings[i];
	return NULL;
}

static bool kind_is_known(const char *name)
{
	for (size_t i = 0; i < KINDS; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return true;
	return false;
}

/* Takes one line of the part [Service]. */
static bool settings_take(struct confined *confined, char *line)
{
	char *value = strchr(line, '=');
	if (!value || line[0] == '#')
		return true;
	*value++ = '\0';
	if (!kind_is_known(line)) {
		(void)fprintf(stderr, "confined: the unit has the unknown setting %s\n", line);
		return false;
	}
	if (confined->settings_count == SETTINGS_MAX) {
		(void)fprintf(stderr, "confined: the unit has too many settings\n");
		return false;
	}
	struct setting *setting = &confined->settings[confined->settings_count++];
	(void)snprintf(setting->name, sizeof(setting->name), "%.47s", line);
	(void)snprintf(setting->value, sizeof(setting->value), "%.255s", value);
	(void)snprintf(setting->state, sizeof(setting->state), "systemd");
	(void)snprintf(setting->note, sizeof(setting->note), "only systemd does this");
	return true;
}

static bool settings_read(struct confined *confined)
{
	char line[1024];
	bool good = true, is_service = false;
	FILE *file = confined->unit ? fopen(confined->unit, "re") : NULL;
	if (!file) {
		(void)fprintf(stderr, "confined: cannot read the unit: %s\n", strerror(errno));
		return false;
	}
	while (good && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '[')
			is_service = strcmp(line, "[Service]") == 0;
		else if (is_service)
			good = settings_take(confined, line);
	}
	(void)fclose(file);
	return good;
}

static void settings_apply(struct confined *confined)
{
	for (size_t kind = 0; kind < KINDS; kind++)
		for (size_t i = 0; i < confined->settings_count; i++)
			if (kinds[kind].confine &&
			    strcmp(kinds[kind].name, confined->settings[i].name) == 0)
				kinds[kind].confine(confined, &confined->settings[i]);
}

/* Does not return. The lines about its reports are the parent's. */
static void child_run(struct confined *confined, const char *notify, char **arguments)
{
	char number[32];
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	settings_apply(confined);
	(void)setenv("NOTIFY_SOCKET", notify, 1);
	(void)setenv("CACHE_DIRECTORY", confined->cache, 1);
	(void)setenv("RUNTIME_DIRECTORY", confined->run, 1);
	(void)snprintf(number, sizeof(number), "%u000000", confined->watchdog_seconds);
	(void)setenv("WATCHDOG_USEC", number, 1);
	(void)snprintf(number, sizeof(number), "%d", (int)getpid());
	(void)setenv("WATCHDOG_PID", number, 1);
	for (size_t i = 0; i < confined->settings_count; i++)
		if (strcmp(confined->settings[i].name, "Type") != 0 &&
		    strcmp(confined->settings[i].name, "WatchdogSec") != 0)
			setting_print(&confined->settings[i]);
	(void)execv(arguments[0], arguments);
	(void)fprintf(stderr, "confined: %s: %s\n", arguments[0], strerror(errno));
	_exit(127);
}

/* A name in the file system: an abstract one would not leave the network namespace. */
static int notify_open(const struct confined *confined, char *path, size_t size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	(void)snprintf(path, size, "%s/notify", confined->run);
	if (strlen(path) >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, strlen(path));
	int notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (notify >= 0 && bind(notify, (struct sockaddr *)&address, sizeof(address)) < 0) {
		(void)close(notify);
		return -1;
	}
	return notify;
}

/* What the service has reported. */
struct reports {
	bool is_ready;
	unsigned watchdog;
};

static void reports_read(struct confined *confined, int notify, struct reports *reports)
{
	char text[1024];
	ssize_t bytes = recv(notify, text, sizeof(text) - 1, 0);
	if (bytes <= 0)
		return;
	text[bytes] = '\0';
	reports->watchdog += strstr(text, "WATCHDOG=1") != NULL;
	struct setting *type = confined_find(confined, "Type");
	if (type && !reports->is_ready && strstr(text, "READY=1")) {
		reports->is_ready = true;
		setting_applied(type, "the service has reported READY=1");
		setting_print(type);
	}
}

static void reports_print(struct confined *confined, const struct reports *reports)
{
	struct setting *watchdog = confined_find(confined, "WatchdogSec");
	if (!watchdog)
		return;
	if (reports->watchdog)
		setting_applied(watchdog, "the service has reported WATCHDOG=1, %u times",
				reports->watchdog);
	else
		setting_absent(watchdog, "the service has not reported yet");
	setting_print(watchdog);
}

/* Waits until the child has ended, and passes signals on to it. Returns its status. */
static int parent_wait(struct confined *confined, int notify, int signals, pid_t child)
{
	struct reports reports = {false, 0};
	for (;;) {
		struct pollfd files[] = {{.fd = notify, .events = POLLIN},
					 {.fd = signals, .events = POLLIN}};
		struct signalfd_siginfo signal;
		int status = 0;
		int found = poll(files, 2, reports.is_ready ? -1 : READY_MS);
		if (found == 0) {
			(void)fprintf(stderr, "confined: the service was not ready in %d ms\n",
				      READY_MS);
			(void)kill(child, SIGTERM);
		}
		if (files[0].revents)
			reports_read(confined, notify, &reports);
		if (!files[1].revents || read(signals, &signal, sizeof(signal)) < 0)
			continue;
		if (signal.ssi_signo != SIGCHLD)
			(void)kill(child, (int)signal.ssi_signo);
		else if (waitpid(child, &status, WNOHANG) == child) {
			reports_print(confined, &reports);
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		}
	}
}

static int run(struct confined *confined, char **arguments)
{
	char path[PATH_MAX];
	sigset_t set, before;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, &before);
	int signals = signalfd(-1, &set, SFD_CLOEXEC),
	    notify = notify_open(confined, path, sizeof(path));
	if (notify < 0 || signals < 0) {
		(void)fprintf(stderr, "confined: %s: %s\n", path, strerror(errno));
		return 2;
	}
	confined->number = (int)getpid();
	pid_t child = fork();
	if (child == 0) {
		(void)sigprocmask(SIG_SETMASK, &before, NULL);
		child_run(confined, path, arguments);
	}
	int status = child < 0 ? 2 : parent_wait(confined, notify, signals, child);
	confined_remove_group(confined);
	(void)unlink(path);
	(void)close(notify);
	(void)close(signals);
	return status;
}

int main(int argc, char **argv)
{
	static struct confined confined;
	const char *calls = NULL;
	const struct {
		const char *name, **value;
	} options[] = {{"--unit", &confined.unit},
		       {"--calls", &calls},
		       {"--run", &confined.run},
		       {"--cache", &confined.cache},
		       {"--keep", &confined.keep}};
	int i = 1;
	for (bool found = true; found && i + 1 < argc;) {
		found = false;
		for (size_t k = 0; k < sizeof(options) / sizeof(*options) && !found; k++)
			if (strcmp(argv[i], options[k].name) == 0) {
				*options[k].value = argv[i + 1];
				found = true;
			}
		i += found ? 2 : 0;
	}
	if (i >= argc || !confined.run || !confined.cache || !settings_read(&confined)) {
		(void)fprintf(stderr, "Usage: confined --unit FILE --run FOLDER --cache FOLDER "
				      "[--calls FILE] [--keep FOLDER] PROGRAM ARGUMENT...\n");
		return 2;
	}
	/* A setting may hide the file. */
	confined.calls = calls ? fopen(calls, "re") : NULL;
	return run(&confined, argv + i);
}
