/* Helpers for the cleanup attribute: every early return is safe, and no resource is freed twice. */
#ifndef SYCL_SHARED_CLEANUP_H
#define SYCL_SHARED_CLEANUP_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(function) __attribute__((cleanup(function)))

/* Returns a value and leaves an empty one behind, so that the cleanup does nothing. */
static inline int take_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}

#define TAKE(pointer)                                                                              \
	__extension__({                                                                            \
		__typeof__(pointer) taken_ = (pointer);                                            \
		(pointer) = NULL;                                                                  \
		taken_;                                                                            \
	})

/* Closes unless negative, sets to -1, keeps errno. */
static inline void close_fd(int *fd)
{
	int saved = errno;
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	errno = saved;
}

static inline void free_pointer(void *pointer)
{
	void **p = pointer;
	free(*p);
	*p = NULL;
}

/* For a type with `struct T *T_free(struct T *)` that accepts NULL and returns NULL. */
#define DEFINE_CLEANUP(type)                                                                       \
	static inline void type##_cleanup(struct type **p)                                         \
	{                                                                                          \
		*p = type##_free(*p);                                                              \
	}

#endif
