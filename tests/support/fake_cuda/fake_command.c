/*
 * The language of the controls. Lines come from a test (fake_cuda_control) and from the
 * environment's FAKE_CUDA. They also come from fake_cuda.conf in the folder from which the library
 * was opened, and from that folder's socket.
 */
#include "fake.h"

#include "fake_memory_file.h"
#include "fake_processes.h"
#include "fake_socket.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "set NAME VALUE" */
static int set_command(const char *rest)
{
	char name[48], number[64];
	long long value;

	if (sscanf(rest, "%47s %lli", name, &value) != 2)
		return -EINVAL;
	if (strcmp(name, "event_tick_ns") == 0)
		fake.event_tick_ns = (uint64_t)value;
	else if (strcmp(name, "copy_ns_per_mib") == 0)
		fake.copy_ns_per_mib = (uint64_t)value;
	else if (strcmp(name, "block_implicit") == 0)
		fake.block_implicit = value != 0;
	else if (strcmp(name, "instant") == 0)
		fake.instant = value != 0;
	else if (strcmp(name, "lazy") == 0)
		fake.lazy = (uint64_t)value;
	else if (strcmp(name, "print_misuse") == 0)
		fake.strict_print = value != 0;
	(void)snprintf(number, sizeof(number), "setting %s", name);
	fake_number_add(number, value - (long long)fake_number(number));
	return 0;
}

static int command_locked(const char *line)
{
	char verb[32];
	int used = 0;

	if (sscanf(line, " %31s%n", verb, &used) != 1 || verb[0] == '#')
		return 0;
	const char *rest = line + used;
	if (strcmp(verb, "set") == 0)
		return set_command(rest);
	if (strcmp(verb, "refuse_filters") == 0)
		return fake_processes_refuse_filters();
	int error = fake_fault_command(verb, rest);
	if (error == -ENOENT)
		error = fake_device_command(verb, rest);
	return error == -ENOENT ? -EINVAL : error;
}

int fake_command(const char *line)
{
	LOCKED();
	fake_configure();
	return command_locked(line);
}

static void command_or_say(const char *line, const char *where)
{
	if (command_locked(line) != 0)
		(void)fprintf(stderr, "fake_cuda: %s: not understood: %s\n", where, line);
}

static void from_environment(void)
{
	const char *lines = getenv("FAKE_CUDA");
	char *copy = lines ? strdup(lines) : NULL, *rest = copy, *line;

	while (copy && (line = strsep(&rest, ";\n")))
		command_or_say(line, "FAKE_CUDA");
	free(copy);
}

/* A test may be unable to set the environment, because the service clears it. Such a test links the
 * library into a folder with this file. */
static void from_folder(void)
{
	char path[4096], line[512];
	Dl_info info;

	if (!dladdr((void *)fake_command, &info) || !info.dli_fname)
		return;
	const char *slash = strrchr(info.dli_fname, '/');
	int length = slash ? (int)(slash - info.dli_fname) : 0;
	(void)snprintf(path, sizeof(path), "%.*s/fake_cuda.conf", length, info.dli_fname);
	FILE *file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		command_or_say(line, path);
	}
	(void)fclose(file);
	if (fake_number("setting shared_memory")) {
		(void)snprintf(path, sizeof(path), "%.*s", length, info.dli_fname);
		fake_memory_file_open(path);
	}
	if (fake_number("setting socket")) {
		(void)snprintf(path, sizeof(path), "%.*s", length, info.dli_fname);
		fake_socket_start(path);
	}
}

void fake_configure(void)
{
	if (fake.configured)
		return;
	fake.configured = true;
	fake_devices_default();
	fake.block_implicit = true;
	fake_number_add("setting block_implicit", 1);
	from_environment();
	from_folder();
}
