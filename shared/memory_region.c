#include "memory_region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

static int region_new(int fd, size_t size_bytes, struct memory_region **region_out)
{
	struct memory_region *region = malloc(sizeof(*region));
	if (!region) {
		close_fd(&fd);
		return -ENOMEM;
	}
	*region = (struct memory_region){ .fd = fd, .size_bytes = size_bytes };
	*region_out = region;
	return 0;
}

static int region_map(struct memory_region *region, int protection)
{
	void *address = mmap(NULL, region->size_bytes, protection, MAP_SHARED, region->fd, 0);
	if (address == MAP_FAILED)
		return -errno;
	region->address = address;
	return 0;
}

static int create(const char *name, size_t size_bytes, int more_seals, struct memory_region **region_out)
{
	if (size_bytes == 0 || size_bytes > INT64_MAX)
		return -EINVAL;
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	CLEANUP(memory_region_cleanup) struct memory_region *region = NULL;
	int r = region_new(fd, size_bytes, &region);
	if (r < 0)
		return r;
	if (ftruncate(region->fd, (off_t)size_bytes) < 0)
		return -errno;
	/* Mapped before it is sealed: a seal against future writes lets only present mappings write. */
	r = region_map(region, PROT_READ | PROT_WRITE);
	if (r < 0)
		return r;
	if (fcntl(region->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | more_seals) < 0)
		return -errno;
	*region_out = TAKE(region);
	return 0;
}

int memory_region_create(const char *name, size_t size_bytes, struct memory_region **region_out)
{
	return create(name, size_bytes, 0, region_out);
}

int memory_region_create_published(const char *name, size_t size_bytes, struct memory_region **region_out)
{
	return create(name, size_bytes, F_SEAL_FUTURE_WRITE, region_out);
}

int memory_region_map(int fd, size_t size_bytes, int writable, struct memory_region **region_out)
{
	CLEANUP(memory_region_cleanup) struct memory_region *region = NULL;
	int r = region_new(fd, size_bytes, &region);
	if (r < 0)
		return r;

	/* Only a memfd has seals; with SHRINK among them its size, once checked, holds for ever. */
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || (seals & F_SEAL_GROW) == 0)
		return -EPROTO;
	struct stat facts;
	if (fstat(fd, &facts) < 0)
		return -errno;
	if (size_bytes == 0 || facts.st_size < 0 || (uint64_t)facts.st_size != size_bytes)
		return -EPROTO;
	r = region_map(region, writable ? PROT_READ | PROT_WRITE : PROT_READ);
	if (r < 0)
		return r;
	*region_out = TAKE(region);
	return 0;
}

struct memory_region *memory_region_free(struct memory_region *region)
{
	if (!region)
		return NULL;
	int saved = errno;
	if (region->address)
		(void)munmap(region->address, region->size_bytes);
	close_fd(&region->fd);
	free(region);
	errno = saved;
	return NULL;
}
