/* `syclctl events`: prints events of the service when they occur. */
#ifndef SYCLCTL_EVENTS_H
#define SYCLCTL_EVENTS_H

#include <stdbool.h>

/* Returns the exit status. Prints events until a signal, even if the service restarts. `once`:
 * prints only the events that the service has kept. */
int events_follow(const char *runtime_directory, bool json, bool once);

#endif
