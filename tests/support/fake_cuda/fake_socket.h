/* Controls of a double in another process: a datagram socket in the library's folder. */
#ifndef SYCL_TESTS_FAKE_SOCKET_H
#define SYCL_TESTS_FAKE_SOCKET_H

/* FOLDER/PID.socket receives "command LINE", "count WHAT" and "try WHAT", and answers with a
 * number. Called once, with the lock. */
void fake_socket_start(const char *folder);

#endif
