/*
 * Loaded into a measured process with LD_PRELOAD. It counts heap allocations and mutexes, and then
 * calls the real function. It does not count the C library's own locks (of its heap, of stdio) or
 * those that condition variables lock again.
 */
#include "programs/count_page.h"

#include "cleanup.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define INTERPOSES __attribute__((visibility("default")))

/* The C library's own names of the functions that are replaced here. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

typedef int mutex_function(pthread_mutex_t *mutex);

static mutex_function *real_lock, *real_trylock;
static struct count_process *process;
/* The loader chooses its place, so that looking it up neither allocates nor locks. */
static _Thread_local __attribute__((tls_model("initial-exec"))) bool is_first_thread;

/* The code of the program, and of libsyclclient if it is one of its libraries. */
enum { OWN_RANGES = 8 };
static struct {
	uintptr_t from, to;
} own[OWN_RANGES];
static unsigned own_count;

static int note_own(struct dl_phdr_info *object, size_t size, void *first)
{
	(void)size;
	bool is_program = *(bool *)first;
	*(bool *)first = false;
	if (!is_program && !strstr(object->dlpi_name, "libsyclclient"))
		return 0;
	for (unsigned i = 0; i < object->dlpi_phnum && own_count < OWN_RANGES; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		own[own_count].from = object->dlpi_addr + part->p_vaddr;
		own[own_count++].to = object->dlpi_addr + part->p_vaddr + part->p_memsz;
	}
	return 0;
}

static void claim(struct count_page *page)
{
	for (unsigned i = 0; i < COUNT_PROCESSES; i++) {
		int32_t nobody = 0;
		if (atomic_compare_exchange_strong(&page->processes[i].pid, &nobody,
						   (int32_t)getpid())) {
			process = &page->processes[i];
			return;
		}
	}
}

/* Runs before any other function may be needed. It may run again, with the same result. */
static void find_real(void)
{
	*(void **)&real_trylock = dlsym(RTLD_NEXT, "pthread_mutex_trylock");
	*(void **)&real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
}

__attribute__((constructor)) static void count_calls_start(void)
{
	const char *path = secure_getenv(COUNT_VARIABLE);
	CLEANUP(close_fd) int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	bool first = true;
	is_first_thread = true;
	find_real();
	(void)dl_iterate_phdr(note_own, &first);
	if (file < 0)
		return;
	void *page =
		mmap(NULL, sizeof(struct count_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page != MAP_FAILED)
		claim(page);
}

static void add_call(unsigned kind)
{
	(void)atomic_fetch_add_explicit(&process->counts[kind], 1, memory_order_relaxed);
}

static void count_call_from(enum counted kind, const void *caller)
{
	if (!process)
		return;
	add_call(kind);
	if (is_first_thread)
		add_call(COUNTED_MAIN_ALLOCATIONS + kind);
	uintptr_t address = (uintptr_t)caller;
	for (unsigned i = 0; i < own_count; i++)
		if (address >= own[i].from && address < own[i].to)
			add_call(COUNTED_OWN_ALLOCATIONS + kind);
}

INTERPOSES void *malloc(size_t bytes)
{
	count_call_from(COUNTED_ALLOCATIONS, __builtin_return_address(0));
	return __libc_malloc(bytes);
}

INTERPOSES void *calloc(size_t members, size_t bytes)
{
	count_call_from(COUNTED_ALLOCATIONS, __builtin_return_address(0));
	return __libc_calloc(members, bytes);
}

INTERPOSES void *realloc(void *old, size_t bytes)
{
	count_call_from(COUNTED_ALLOCATIONS, __builtin_return_address(0));
	return __libc_realloc(old, bytes);
}

INTERPOSES void *memalign(size_t alignment, size_t bytes);
INTERPOSES void *memalign(size_t alignment, size_t bytes)
{
	count_call_from(COUNTED_ALLOCATIONS, __builtin_return_address(0));
	return __libc_memalign(alignment, bytes);
}

INTERPOSES void *aligned_alloc(size_t alignment, size_t bytes)
{
	count_call_from(COUNTED_ALLOCATIONS, __builtin_return_address(0));
	return __libc_memalign(alignment, bytes);
}

INTERPOSES int posix_memalign(void **memory_out, size_t alignment, size_t bytes)
{
	if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
		return EINVAL;
	count_call_from(COUNTED_ALLOCATIONS, __builtin_return_address(0));
	void *memory = __libc_memalign(alignment, bytes);
	if (!memory)
		return ENOMEM;
	*memory_out = memory;
	return 0;
}

INTERPOSES int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	if (!real_trylock)
		find_real();
	int r = real_trylock(mutex);
	count_call_from(COUNTED_LOCKS, __builtin_return_address(0));
	if (r == EBUSY)
		count_call_from(COUNTED_CONTENDED, __builtin_return_address(0));
	return r;
}

INTERPOSES int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!real_lock)
		find_real();
	count_call_from(COUNTED_LOCKS, __builtin_return_address(0));
	int r = real_trylock(mutex);
	if (r != EBUSY)
		return r;
	count_call_from(COUNTED_CONTENDED, __builtin_return_address(0));
	return real_lock(mutex);
}
