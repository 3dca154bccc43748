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
	*region = (struct memory_region){.fd = fd, .size_bytes = size_bytes};
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

/* Kernels before 4.17 treat the address as a hint. */
static int region_map_at(struct memory_region *region, void *wanted)
{
	void *address = mmap(wanted, region->size_bytes, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED_NOREPLACE, region->fd, 0);
	if (address == MAP_FAILED)
		return -errno;
	if (address != wanted) {
		(void)munmap(address, region->size_bytes);
		return -EEXIST;
	}
	region->address = address;
	return 0;
}

static int memory_region_make(const char *name, size_t size_bytes, int more_seals, void *wanted,
			      struct memory_region **region_out)
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
	/* The region is mapped before it is sealed. After a seal against future writes, only
	 * present mappings can write. */
	r = wanted ? region_map_at(region, wanted) : region_map(region, PROT_READ | PROT_WRITE);
	if (r < 0)
		return r;
	if (fcntl(region->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | more_seals) <
	    0)
		return -errno;
	*region_out = TAKE(region);
	return 0;
}

int memory_region_create(const char *name, size_t size_bytes, struct memory_region **region_out)
{
	return memory_region_make(name, size_bytes, 0, NULL, region_out);
}

int memory_region_create_at(const char *name, size_t size_bytes, void *address,
			    struct memory_region **region_out)
{
	return memory_region_make(name, size_bytes, 0, address, region_out);
}

int memory_region_create_published(const char *name, size_t size_bytes,
				   struct memory_region **region_out)
{
	return memory_region_make(name, size_bytes, F_SEAL_FUTURE_WRITE, NULL, region_out);
}

/* Only a memfd has seals. With the seal SHRINK, its size cannot shrink after the check. */
static int region_check(int fd, size_t size_bytes)
{
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || (seals & F_SEAL_GROW) == 0)
		return -EPROTO;
	struct stat facts;
	if (fstat(fd, &facts) < 0)
		return -errno;
	return size_bytes == 0 || facts.st_size < 0 || (uint64_t)facts.st_size != size_bytes
		       ? -EPROTO
		       : 0;
}

int memory_region_map(int fd, size_t size_bytes, int writable, struct memory_region **region_out)
{
	CLEANUP(memory_region_cleanup) struct memory_region *region = NULL;
	int r = region_new(fd, size_bytes, &region);
	if (r < 0)
		return r;
	r = region_check(fd, size_bytes);
	if (r == 0)
		r = region_map(region, writable ? PROT_READ | PROT_WRITE : PROT_READ);
	if (r < 0)
		return r;
	*region_out = TAKE(region);
	return 0;
}

int memory_region_map_over(int fd, size_t size_bytes, void *address,
			   struct memory_region **region_out)
{
	struct memory_region *region = NULL;
	int r = region_new(fd, size_bytes, &region);
	if (r == 0)
		r = region_check(fd, size_bytes);
	if (r == 0 && mmap(address, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			   0) == MAP_FAILED)
		r = -errno;
	if (r == 0 && madvise(address, size_bytes, MADV_DONTFORK) < 0)
		r = -errno;
	if (r < 0) {
		(void)munmap(address, size_bytes);
		(void)memory_region_free(region);
		return r;
	}
	region->address = address;
	*region_out = region;
	return 0;
}

void memory_region_empty(struct memory_region *region)
{
	int saved = errno;
	if (region && region->address)
		(void)madvise(region->address, region->size_bytes, MADV_REMOVE);
	errno = saved;
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
