/* Sealed memory: the actions that a peer with the descriptor can and cannot take. */
#include "memory_region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(memory_regions, .timeout = 10);

enum { BYTES = 8192 };

static int memfd_of(size_t bytes, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	cr_assert(ge(int, fd, 0));
	cr_assert(eq(int, ftruncate(fd, (off_t)bytes), 0));
	if (seals)
		cr_assert(eq(int, fcntl(fd, F_ADD_SEALS, seals), 0));
	return fd;
}

Test(memory_regions, a_new_one_is_zeroed_sealed_and_closed_on_exec)
{
	CLEANUP(memory_region_cleanup) struct memory_region *region = NULL;
	cr_assert(eq(int, memory_region_create("test", BYTES, &region), 0));
	cr_assert(eq(sz, region->size_bytes, BYTES));
	for (size_t i = 0; i < BYTES; i++)
		cr_assert(eq(int, ((uint8_t *)region->address)[i], 0));
	cr_assert(
		eq(int, fcntl(region->fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
	cr_assert(eq(int, fcntl(region->fd, F_GETFD), FD_CLOEXEC));
}

Test(memory_regions, nobody_can_shrink_or_grow_it_or_lift_the_seals)
{
	CLEANUP(memory_region_cleanup) struct memory_region *region = NULL;
	cr_assert(eq(int, memory_region_create("test", BYTES, &region), 0));
	cr_assert(eq(int, ftruncate(region->fd, BYTES / 2), -1));
	cr_assert(eq(int, errno, EPERM));
	cr_assert(eq(int, ftruncate(region->fd, BYTES * 2), -1));
	cr_assert(eq(int, errno, EPERM));
	cr_assert(eq(int, fcntl(region->fd, F_ADD_SEALS, F_SEAL_WRITE), -1));
	cr_assert(eq(int, errno, EPERM));
}

Test(memory_regions, both_sides_see_the_same_bytes)
{
	CLEANUP(memory_region_cleanup) struct memory_region *made = NULL;
	CLEANUP(memory_region_cleanup) struct memory_region *mapped = NULL;
	cr_assert(eq(int, memory_region_create("test", BYTES, &made), 0));
	cr_assert(eq(int, memory_region_map(dup(made->fd), BYTES, 1, &mapped), 0));
	memcpy(made->address, "there", 6);
	cr_assert(eq(str, (char *)mapped->address, "there"));
	memcpy(mapped->address, "back", 5);
	cr_assert(eq(str, (char *)made->address, "back"));
}

Test(memory_regions, another_size_than_stated_is_refused)
{
	static const size_t wrong[] = {0, 1, BYTES - 1, BYTES + 1, BYTES / 2, BYTES * 2, SIZE_MAX};
	CLEANUP(memory_region_cleanup) struct memory_region *made = NULL;
	struct memory_region *mapped = (void *)1;
	cr_assert(eq(int, memory_region_create("test", BYTES, &made), 0));
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_assert(eq(int, memory_region_map(dup(made->fd), wrong[i], 1, &mapped), -EPROTO));
	cr_assert(eq(ptr, mapped, (void *)1), "the output changed on failure");
}

Test(memory_regions, a_file_that_could_shrink_or_grow_is_refused)
{
	static const int too_few[] = {0, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL,
				      F_SEAL_SHRINK | F_SEAL_SEAL};
	struct memory_region *mapped = NULL;
	for (unsigned i = 0; i < sizeof(too_few) / sizeof(too_few[0]); i++)
		cr_assert(eq(int, memory_region_map(memfd_of(BYTES, too_few[i]), BYTES, 1, &mapped),
			     -EPROTO));
	CLEANUP(memory_region_cleanup) struct memory_region *good = NULL;
	cr_assert(
		eq(int,
		   memory_region_map(memfd_of(BYTES, F_SEAL_SHRINK | F_SEAL_GROW), BYTES, 1, &good),
		   0));
}

Test(memory_regions, what_is_no_memfd_is_refused)
{
	struct memory_region *mapped = NULL;
	cr_assert(eq(int, memory_region_map(-1, BYTES, 0, &mapped), -EPROTO));
	cr_assert(eq(int,
		     memory_region_map(open("/dev/zero", O_RDWR | O_CLOEXEC), BYTES, 0, &mapped),
		     -EPROTO));
	int ends[2];
	cr_assert(eq(int, pipe2(ends, O_CLOEXEC), 0));
	cr_assert(eq(int, memory_region_map(ends[0], BYTES, 0, &mapped), -EPROTO));
	(void)close(ends[1]);
}

Test(memory_regions, map_takes_the_descriptor_also_when_it_fails)
{
	struct memory_region *mapped = NULL;
	int fd = memfd_of(BYTES, 0);
	cr_assert(eq(int, memory_region_map(fd, BYTES, 1, &mapped), -EPROTO));
	cr_assert(eq(int, fcntl(fd, F_GETFD), -1));
	cr_assert(eq(int, errno, EBADF));
}

Test(memory_regions, a_published_one_can_be_read_but_never_written_by_its_receiver)
{
	CLEANUP(memory_region_cleanup) struct memory_region *made = NULL;
	CLEANUP(memory_region_cleanup) struct memory_region *mapped = NULL;
	cr_assert(eq(int, memory_region_create_published("test", BYTES, &made), 0));
	memcpy(made->address, "before", 7);

	cr_assert(eq(int, memory_region_map(dup(made->fd), BYTES, 1, &mapped), -EPERM));
	cr_assert(eq(int, memory_region_map(dup(made->fd), BYTES, 0, &mapped), 0));
	cr_assert(eq(str, (char *)mapped->address, "before"));
	memcpy(made->address, "after", 6);
	cr_assert(eq(str, (char *)mapped->address, "after"));

	cr_assert(eq(int, mprotect(mapped->address, BYTES, PROT_READ | PROT_WRITE), -1));
	cr_assert(eq(int, errno, EACCES));
	cr_assert(eq(int, (int)pwrite(mapped->fd, "x", 1, 0), -1));
	cr_assert(eq(int, errno, EPERM));
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", mapped->fd);
	int again = open(path, O_RDWR | O_CLOEXEC);
	if (again >= 0) {
		cr_assert(eq(ptr, mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0),
			     MAP_FAILED));
		cr_assert(eq(int, (int)pwrite(again, "x", 1, 0), -1));
		(void)close(again);
	}
	cr_assert(eq(str, (char *)made->address, "after"));
}

Test(memory_regions, sizes_that_cannot_be_are_refused_and_leave_nothing)
{
	struct memory_region *region = NULL;
	cr_assert(eq(int, memory_region_create("test", 0, &region), -EINVAL));
	cr_assert(eq(int, memory_region_create("test", SIZE_MAX, &region), -EINVAL));
	cr_assert(lt(int, memory_region_create("test", INT64_MAX, &region), 0));
	cr_assert(eq(ptr, region, NULL));
	cr_assert(eq(ptr, memory_region_free(NULL), NULL));
}

static void *free_place(size_t bytes)
{
	void *place = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert(ne(ptr, place, MAP_FAILED));
	return place;
}

Test(memory_regions, one_at_an_address_leaves_what_is_there)
{
	struct memory_region *region = NULL;
	char *place = free_place((size_t)3 * BYTES);
	cr_assert(zero(int, munmap(place + BYTES, BYTES)));
	cr_assert(eq(int, memory_region_create_at("test", BYTES, place, &region), -EEXIST));
	cr_assert(eq(int,
		     memory_region_create_at("test", (size_t)2 * BYTES, place + BYTES, &region),
		     -EEXIST));
	cr_assert(eq(ptr, region, NULL));
	cr_assert(zero(int, memory_region_create_at("test", BYTES, place + BYTES, &region)));
	cr_assert(eq(ptr, region->address, place + BYTES));
	place[BYTES] = 1;
	cr_assert(
		eq(int, fcntl(region->fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
	cr_assert(zero(ptr, memory_region_free(region)));
	cr_assert(zero(int, munmap(place, BYTES)));
	cr_assert(zero(int, munmap(place + (size_t)2 * BYTES, BYTES)));
}

Test(memory_regions, one_over_a_place_takes_it_and_a_child_has_it_not)
{
	struct memory_region *region = NULL;
	CLEANUP(memory_region_cleanup) struct memory_region *made = NULL;
	char *place = free_place(BYTES);
	cr_assert(zero(int, memory_region_create("test", BYTES, &made)));
	cr_assert(zero(int, memory_region_map_over(dup(made->fd), BYTES, place, &region)));
	cr_assert(eq(ptr, region->address, place));
	memcpy(made->address, "there", 6);
	cr_assert(eq(str, place, "there"));
	pid_t child = fork();
	if (child == 0)
		_exit(mincore(place, BYTES, (unsigned char[BYTES / 4096]){0}) == -1 &&
				      errno == ENOMEM
			      ? 0
			      : 1);
	int status = -1;
	cr_assert(eq(int, waitpid(child, &status, 0), child));
	cr_assert(zero(int, status));
	cr_assert(zero(ptr, memory_region_free(region)));
	/* On failure the place is free as well. */
	place = free_place(BYTES);
	cr_assert(eq(int, memory_region_map_over(memfd_of(BYTES, 0), BYTES, place, &region),
		     -EPROTO));
	cr_assert(eq(int, mincore(place, BYTES, (unsigned char[BYTES / 4096]){0}), -1));
}
