/* Names of values in answers, for people and for programs. The strings are static. */
#ifndef SYCL_ASK_NAMES_H
#define SYCL_ASK_NAMES_H

#include "admin.pb-c.h"

/* AccountsQuery.by */
enum {
	ACCOUNTS_BY_USER = 1,
	ACCOUNTS_BY_CGROUP = 2,
	ACCOUNTS_BY_DEVICE = 4,
	ACCOUNTS_BY_SESSION = 8,
	ACCOUNTS_BY_JOB = 16
};

const char *value_name(const ProtobufCEnumDescriptor *type, int value);
const char *backend_name(Sycl__V1__Backend backend);
const char *session_state_name(const Sycl__V1__SessionFacts *session);

enum { STATE_TEXT_BYTES = 96 };
/* Returns the state, with the reason of a wait and the operator who paused the session. The result
 * is static, or `text`. */
const char *session_state_text(const Sycl__V1__SessionFacts *session, char text[STATE_TEXT_BYTES]);

#endif
