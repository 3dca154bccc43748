/* What the public calls of this folder share. */
#ifndef SYCL_CLIENT_SHORTCUTS_H
#define SYCL_CLIENT_SHORTCUTS_H

#include "handler/handler.h"

/* queue_shortcuts.c: submits the group if it was built. Otherwise discards the handler and returns
 * `built`, with the thread's failure as it was. */
sycl_result shortcut_submit_or_discard(sycl_handler handler, sycl_result built,
				       sycl_event *event_out);

#endif
