#include "library/own_pages.h"

#include <signal.h>
#include <sys/mman.h>

uint32_t *own_host;

/* Runs when a guarded part is touched for the first time; after that the part is accessible. */
static void (*on_touch)(uint32_t part);
_Atomic uint32_t own_touched;

static void touch(int number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr - (uintptr_t)own_host;
	(void)context;
	if (at >= OWN_PARTS * (uintptr_t)OWN_PART) {
		(void)signal(number, SIG_DFL); /* no page of this test */
		return;
	}
	atomic_fetch_add(&own_touched, 1);
	on_touch((uint32_t)(at / OWN_PART));
	(void)mprotect((uint8_t *)own_host + at / OWN_PART * OWN_PART, OWN_PART,
		       PROT_READ | PROT_WRITE);
}

void own_pages_make(void)
{
	struct sigaction action = {.sa_sigaction = touch, .sa_flags = SA_SIGINFO | SA_NODEFER};
	own_host = mmap(NULL, (size_t)OWN_PARTS * OWN_PART, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert(ne(ptr, own_host, MAP_FAILED));
	for (uint32_t i = 0; i < OWN_WORDS; i++)
		own_host[i] = i;
	(void)sigaction(SIGSEGV, &action, NULL);
}

void own_pages_guard(uint32_t part, void (*touched_first)(uint32_t part))
{
	on_touch = touched_first;
	(void)mprotect((uint8_t *)own_host + (size_t)part * OWN_PART, OWN_PART, PROT_NONE);
}

void own_pages_drop(void)
{
	(void)signal(SIGSEGV, SIG_DFL);
	(void)munmap(own_host, (size_t)OWN_PARTS * OWN_PART);
}

sycl_buffer own_pages_borrow(sycl_platform of)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(of, own_host, OWN_SIZE, SYCL_HOST_BORROWED, &buffer));
	return buffer;
}

void own_pages_submit_increment(sycl_queue to, sycl_buffer buffer)
{
	sycl_kernel kernel = fake_kernel(to, "increment_u32");
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(to, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(OWN_WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_kernel_release(kernel));
}

uint32_t own_pages_first_wrong(const uint32_t *words, uint32_t more)
{
	uint32_t i = 0;
	while (i < OWN_WORDS && words[i] == i + more)
		i++;
	return i;
}
