/* Tracks the commands in flight and enforces a rule: no memory is freed while commands are in
 * flight. Callable from any thread. */
#ifndef TESTS_SUPPORT_OPENCL_DISCRETE_IN_FLIGHT_H
#define TESTS_SUPPORT_OPENCL_DISCRETE_IN_FLIGHT_H

#include <CL/cl_icd.h>
#include <stdbool.h>

void in_flight_open(const cl_icd_dispatch *next);
/* A command was sent to the queue; its event is retained until it has ended. */
void in_flight_sent(cl_command_queue queue, cl_event event);
/* Memory of so many bytes was made by the application, which has one reference. NULL is accepted.
 */
void in_flight_made(cl_mem memory, size_t bytes);
/* False: with so many bytes more, the application would have more than OPENCL_DISCRETE_BYTES of the
 * environment, which is the size of a device. */
bool in_flight_has_room(size_t bytes);
void in_flight_retained(cl_mem memory);
/* The application drops a reference. If it was the last and a command of its context is in flight,
 * this reports it and ends the program. */
void in_flight_released(cl_mem memory);
/* The same for shared virtual memory, which has no references. */
void in_flight_freed(cl_context context);

#endif
