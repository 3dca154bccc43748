#include "base/refusal.h"

#include "base/foreign_socket.h"
#include "packet.h"
#include "session.pb-c.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

/* More than a send buffer can hold. No data is added while it is read. */
enum { UNREAD_MAX = 1 << 16 };

void refuse_client(int socket, enum sycl_status code, const char *text)
{
	Sycl__V1__SessionError error = SYCL__V1__SESSION_ERROR__INIT;
	error.code = code;
	error.text = (char *)(uintptr_t)text;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_ERROR;
	packet.error = &error;
	(void)message_send(socket, &packet.base, NULL, 0, MSG_DONTWAIT);

	/* If a socket is closed with unread data, its peer gets ECONNRESET before the data in the
	 * peer's queue. So the socket is shut down, then the unread data is dropped. */
	(void)shutdown(socket, SHUT_RDWR);
	char byte;
	ssize_t count = 1;
	foreign_socket_begin();
	/* A signal arrived, or descriptors were sent along and dropped: there may be more data. */
	for (int i = 0; i < UNREAD_MAX && (count > 0 || count == -EINTR || count == -EPROTO); i++)
		count = foreign_socket_receive(socket, &byte, sizeof(byte));
	foreign_socket_close(&socket);
	foreign_socket_end();
}

void refusal_set(struct refusal *refusal, enum sycl_status code, const char *format, ...)
{
	refusal->code = code;
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(refusal->text, sizeof(refusal->text), format, arguments);
	va_end(arguments);
}
