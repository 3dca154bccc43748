/* `syclctl events`: prints what happens in the service, as it comes. */
#ifndef SYCLCTL_EVENTS_H
#define SYCLCTL_EVENTS_H

#include <stdbool.h>

/* The exit status. Follows until a signal, also over a restart of the service; `once`: prints what
 * the service has, and ends. */
int events_follow(const char *runtime_directory, bool json, bool once);

#endif
