/*
 * The part of an answer that a viewer may see. The exporter itself may see all users' data. It
 * shows to a viewer what `syclctl` would show to that user.
 */
#ifndef SYCLD_EXPORTER_VIEW_H
#define SYCLD_EXPORTER_VIEW_H

#include "admin.pb-c.h"

#include <stdbool.h>
#include <sys/types.h>

struct viewer {
	bool sees_all;
	bool has_uid; /* false: unknown viewer, who sees only the service itself */
	uid_t uid;    /* with has_uid */
};

/* False: the viewer sees no user's data, so samples need not be more frequent. */
bool viewer_sees_users(const struct viewer *viewer);
bool viewer_may_see(const struct viewer *viewer, uint32_t uid);

/*
 * The part of a reply that the viewer may see. It points to rows of the original, which must
 * outlive it. NULL: no memory. Free it with reply_view_free.
 */
struct reply_view {
	Sycl__V1__AdminReply reply;
	Sycl__V1__ServiceFacts service;
	Sycl__V1__KnownDevice *devices;
	uint32_t uid; /* the only uid that devices name */
	unsigned list_count;
	void *lists[16];
};

struct reply_view *reply_view_make(const Sycl__V1__AdminReply *reply, const struct viewer *viewer);
struct reply_view *reply_view_free(struct reply_view *view);

#endif
