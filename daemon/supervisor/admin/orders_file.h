/* Orders for the next service, in a small file in the service's folder: drained users, limits, and
 * who has paused sessions. */
#ifndef SYCLD_SUPERVISOR_ORDERS_FILE_H
#define SYCLD_SUPERVISOR_ORDERS_FILE_H

#include "base/order_origin.h"

#include <stdint.h>

struct engine;
struct supervisor;

/* Who has paused a session of an engine that may come back. */
struct kept_pause {
	uint64_t session;
	struct order_origin by;
};

/* Called before any client is accepted. 0, or a negative errno, logged: the file may exist but
 * cannot be read now. */
int orders_file_load(struct supervisor *supervisor);

/* Removes the file if there is nothing to keep. 0 or a negative errno; on failure the previous file
 * still exists. */
int orders_file_save(const struct supervisor *supervisor);

/* An engine has come back with its sessions: who paused them under the last service is known
 * again. */
void orders_file_recall(struct engine *engine);
/* Frees what was read for engines that have not come back. */
void orders_file_forget(struct supervisor *supervisor);

#endif
