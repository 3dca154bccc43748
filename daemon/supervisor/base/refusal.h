/* Tells a client why it is not served. */
#ifndef SYCLD_SUPERVISOR_REFUSAL_H
#define SYCLD_SUPERVISOR_REFUSAL_H

#include "status.h"

/*
 * Send Packet{error}, then close the socket so that the packet is read whatever the client has sent
 * meanwhile. Takes the socket. Never blocks; a client that is gone is no error.
 */
void refuse_client(int socket, enum sycl_status code, const char *text);

#endif
