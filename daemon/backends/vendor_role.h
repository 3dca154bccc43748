/* What vendors' libraries may do in this process. A library exists once in a process, so this is
 * not of one backend. */
#ifndef SYCL_BACKENDS_VENDOR_ROLE_H
#define SYCL_BACKENDS_VENDOR_ROLE_H

#include <stdbool.h>

/*
 * Links an object file to a shared library, both named by absolute paths. The library's file exists
 * and is replaced. Called on any thread of a driver; may take as long as a linker. 0 or a negative
 * errno.
 */
typedef int vendor_link(void *context, const char *object, const char *library);

struct vendor_role {
	/* The build helper's child: what was compiled is never loaded into this process. */
	bool only_builds;
	/* NULL: drivers start linkers by themselves. */
	vendor_link *link;
	void *context; /* of `link`; the caller's */
};

/* Before any backend is opened, while this process has one thread. Copied. */
void vendor_role_set(const struct vendor_role *role);
const struct vendor_role *vendor_role(void);

#endif
