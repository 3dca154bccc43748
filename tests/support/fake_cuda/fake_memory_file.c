/*
 * Memory of devices that several processes share. One file contains how much each process has in
 * use; a process that has ended has nothing. Two processes that look at the same time may both find
 * the last room. A real driver that reports free memory has the same race.
 */
#include "fake.h"

#include "fake_memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROCESSES 64
#define PATH      320

struct process {
	_Atomic int pid; /* 0: free */
	_Atomic size_t used_bytes[FAKE_DEVICES_MAX];
};

static struct process *processes; /* NULL: not shared */
static struct process *own;

static bool memory_file_has_ended(int pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static bool take_place(struct process *place)
{
	int pid = atomic_load(&place->pid);

	if ((pid != 0 && !memory_file_has_ended(pid)) ||
	    !atomic_compare_exchange_strong(&place->pid, &pid, (int)getpid()))
		return false;
	for (int i = 0; i < FAKE_DEVICES_MAX; i++)
		atomic_store(&place->used_bytes[i], 0);
	return true;
}

void fake_memory_file_open(const char *folder)
{
	const size_t bytes = PROCESSES * sizeof(struct process);
	char path[PATH];

	(void)snprintf(path, sizeof(path), "%s/memory", folder);
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0 || (fchmod(file, 0666) < 0 && errno != EPERM) ||
	    posix_fallocate(file, 0, (off_t)bytes) != 0) {
		fake_misuse("%s: the memory of devices cannot be shared", path);
	} else {
		void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		processes = address != MAP_FAILED ? address : NULL;
	}
	if (file >= 0)
		(void)close(file);
	for (int i = 0; processes && !own && i < PROCESSES; i++)
		if (take_place(&processes[i]))
			own = &processes[i];
}

void fake_memory_file_note(int device)
{
	if (own)
		atomic_store(&own->used_bytes[device], fake.devices[device].used_bytes);
}

size_t fake_memory_file_others(int device)
{
	size_t bytes = 0;

	for (int i = 0; processes && i < PROCESSES; i++) {
		int pid = atomic_load(&processes[i].pid);
		if (&processes[i] != own && pid != 0 && !memory_file_has_ended(pid))
			bytes += atomic_load(&processes[i].used_bytes[device]);
	}
	return bytes;
}
