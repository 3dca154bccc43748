#include "view.h"

#include "cleanup.h"

#include <stdlib.h>
#include <string.h>

enum { LISTS_MAX = sizeof(((struct reply_view *)0)->lists) / sizeof(void *) };

DEFINE_CLEANUP(reply_view)

bool viewer_sees_users(const struct viewer *viewer)
{
	return viewer->sees_all || viewer->has_uid;
}

bool viewer_may_see(const struct viewer *viewer, uint32_t uid)
{
	return viewer->sees_all || (viewer->has_uid && viewer->uid == uid);
}

static bool device_is_of_viewer(const Sycl__V1__KnownDevice *device, const struct viewer *viewer)
{
	for (size_t i = 0; i < device->n_uids; i++)
		if (viewer_may_see(viewer, device->uids[i]))
			return true;
	return false;
}

/* Rows without a uid belong to no viewer. */
static bool row_is_of_viewer(const ProtobufCMessage *row, const struct viewer *viewer)
{
	if (row->descriptor == &sycl__v1__known_device__descriptor)
		return device_is_of_viewer((const Sycl__V1__KnownDevice *)row, viewer);
	const ProtobufCFieldDescriptor *field =
		protobuf_c_message_descriptor_get_field_by_name(row->descriptor, "uid");
	if (!field || field->type != PROTOBUF_C_TYPE_UINT32 ||
	    field->label == PROTOBUF_C_LABEL_REPEATED)
		return false;
	uint32_t uid;
	memcpy(&uid, (const uint8_t *)row + field->offset, sizeof(uid));
	return viewer_may_see(viewer, uid);
}

/* Replaces one list of the reply with a list of the viewer's rows. */
static bool view_filter_list(struct reply_view *view, const ProtobufCFieldDescriptor *field,
			     const struct viewer *viewer)
{
	uint8_t *start = (uint8_t *)&view->reply;
	size_t *count = (size_t *)(void *)(start + field->quantifier_offset);
	ProtobufCMessage ***list = (ProtobufCMessage ***)(void *)(start + field->offset);
	ProtobufCMessage **rows = calloc(*count + 1, sizeof(void *));
	size_t kept = 0;
	if (!rows || view->list_count == LISTS_MAX) {
		free((void *)rows);
		return false;
	}
	for (size_t i = 0; i < *count; i++)
		if (row_is_of_viewer((*list)[i], viewer))
			rows[kept++] = (*list)[i];
	view->lists[view->list_count++] = (void *)rows;
	*list = rows;
	*count = kept;
	return true;
}

/* Makes each device name only the viewer, so that other users of the device stay hidden. */
static bool view_hide_others(struct reply_view *view, const struct viewer *viewer)
{
	view->devices = calloc(view->reply.n_devices + 1, sizeof(*view->devices));
	if (!view->devices)
		return false;
	view->uid = viewer->uid;
	for (size_t i = 0; i < view->reply.n_devices; i++) {
		view->devices[i] = *view->reply.devices[i];
		view->devices[i].n_uids = 1;
		view->devices[i].uids = &view->uid;
		view->devices[i].disputed = false;
		view->devices[i].retired = false; /* of others' engines, too */
		view->reply.devices[i] = &view->devices[i];
	}
	return true;
}

struct reply_view *reply_view_make(const Sycl__V1__AdminReply *reply, const struct viewer *viewer)
{
	CLEANUP(reply_view_cleanup) struct reply_view *view = calloc(1, sizeof(*view));
	const ProtobufCMessageDescriptor *type = &sycl__v1__admin_reply__descriptor;
	if (!view)
		return NULL;
	view->reply = *reply;
	if (viewer->sees_all)
		return TAKE(view);
	for (unsigned i = 0; i < type->n_fields; i++)
		if (type->fields[i].label == PROTOBUF_C_LABEL_REPEATED &&
		    type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE &&
		    !view_filter_list(view, &type->fields[i], viewer))
			return NULL;
	if (!view_hide_others(view, viewer))
		return NULL;
	if (reply->service) {
		view->service = *reply->service;
		view->service.filtered = true;
		if (view->service.mode != SYCL__V1__SERVICE_MODE__SERVICE_MODE_USER)
			view->service.standby_pid = 0;
		view->reply.service = &view->service;
	}
	return TAKE(view);
}

struct reply_view *reply_view_free(struct reply_view *view)
{
	if (!view)
		return NULL;
	for (unsigned i = 0; i < view->list_count; i++)
		free(view->lists[i]);
	free(view->devices);
	free(view);
	return NULL;
}
