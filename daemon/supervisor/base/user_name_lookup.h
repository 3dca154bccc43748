/* Looks up names for the log of users who have no session, such as operators. */
#ifndef SYCLD_SUPERVISOR_USER_NAME_LOOKUP_H
#define SYCLD_SUPERVISOR_USER_NAME_LOOKUP_H

#include <sys/types.h>

/* Starts a look-up by user_lookup's threads if the name is not known and none runs for this
 * purpose. Loop thread only; never blocks. */
void user_name_request(uid_t uid);

#endif
