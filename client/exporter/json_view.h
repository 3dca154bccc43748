/* Makes the page's data for one viewer: the answers and the history, as JSON. */
#ifndef SYCLD_EXPORTER_JSON_VIEW_H
#define SYCLD_EXPORTER_JSON_VIEW_H

#include "history.h"
#include "sample.h"
#include "user_list.h"
#include "view.h"

#include <jansson.h>

/* Each result is the caller's; NULL: no memory. `sample` is the latest. */
json_t *json_view_of_now(const struct sample *sample, const struct history *history,
			 const struct users *users, const struct viewer *viewer);
json_t *json_view_of_history(const struct history *history, const struct users *users,
			     const struct viewer *viewer);

#endif
