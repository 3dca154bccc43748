/* Boxes of the OpenCL backend against a driver of a few functions: what is sent, what is waited for
 * after a refusal, and when rows are sent one by one. */
#include "opencl/driver/leaving.h"
#include "opencl/driver/rect.h"
#include "opencl/lane/lane.h"

#include <criterion/criterion.h>
#include <errno.h>

TestSuite(opencl_rect, .timeout = 10);

static struct {
	cl_int box; /* result for boxes */
	unsigned rows, rows_before_failure, finishes, releases;
	cl_event last; /* of a row; the event is its number */
} driver;

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
	(void)queue;
	driver.finishes++;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL release_event(cl_event event)
{
	cr_assert_neq(event, driver.last);
	driver.releases++;
	return CL_SUCCESS;
}

static cl_int one_row(cl_event *event)
{
	if (driver.rows == driver.rows_before_failure)
		return CL_OUT_OF_RESOURCES;
	driver.rows++;
	*event = driver.last = (cl_event)(uintptr_t)driver.rows;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				       size_t offset, size_t bytes, const void *host,
				       cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	(void)queue, (void)buffer, (void)blocking, (void)offset, (void)bytes, (void)host;
	(void)wait_count, (void)waits;
	return one_row(event);
}

static cl_int CL_API_CALL copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to,
				      size_t from_offset, size_t to_offset, size_t bytes,
				      cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	(void)queue, (void)from, (void)to, (void)from_offset, (void)to_offset, (void)bytes;
	(void)wait_count, (void)waits;
	return one_row(event);
}

static cl_int CL_API_CALL write_box(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				    const size_t *buffer_origin, const size_t *host_origin,
				    const size_t *region, size_t buffer_row, size_t buffer_slice,
				    size_t host_row, size_t host_slice, const void *host,
				    cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	(void)queue, (void)buffer, (void)blocking, (void)buffer_origin, (void)host_origin;
	(void)region, (void)buffer_row, (void)buffer_slice, (void)host_row, (void)host_slice;
	(void)host, (void)wait_count, (void)waits, (void)event;
	return driver.box;
}

/* Functions of the backend that this test does not use: no memory is between two copies. */
int opencl_leaving_check(struct backend_device *device, struct backend_fault *fault_out)
{
	(void)device;
	(void)fault_out;
	return -EAGAIN;
}

void opencl_leave_behind(struct backend_memory *memory)
{
	cr_assert_null(memory);
}

static int submit_box(enum backend_command_kind kind, uint64_t rows, cl_event *event_out,
		      struct backend_fault *fault)
{
	static const struct opencl_library library = {
		.Finish = finish,
		.ReleaseEvent = release_event,
		.EnqueueWriteBuffer = write_buffer,
		.EnqueueWriteBufferRect = write_box,
		.EnqueueCopyBuffer = copy_buffer,
	};
	struct backend_device device = {.cl = &library};
	struct backend_lane lane = {.device = &device};
	struct backend_memory memory = {.device = &device, .size_bytes = UINT64_C(1) << 40};
	const struct backend_rect rect = {.width_bytes = 4,
					  .rows = rows,
					  .slices = 1,
					  .source_row_pitch = 16,
					  .source_slice_pitch = 16 * rows,
					  .destination_row_pitch = 8,
					  .destination_slice_pitch = 8 * rows};
	static char host[16];
	struct backend_command command = {.kind = kind};

	if (kind == BACKEND_COMMAND_COPY) {
		command.copy.source = command.copy.destination = &memory;
		command.copy.destination_offset_bytes = UINT64_C(1) << 39;
		command.copy.rect = &rect;
	} else {
		command.transfer.memory = &memory;
		command.transfer.host = host;
		command.transfer.rect = &rect;
	}
	return opencl_rect(&lane, &command, 0, NULL, event_out, fault);
}

/* A wait here would be for all work of the lane. */
static void opencl_rect_expect_refused(enum backend_command_kind kind, unsigned sent)
{
	struct backend_fault fault = {.status = 0};
	cl_event event = NULL;

	driver.rows_before_failure = sent;
	cr_assert_lt(submit_box(kind, 8, &event, &fault), 0);
	cr_assert_eq(driver.rows, sent);
	cr_assert_eq(driver.finishes, 0);
	cr_assert_eq(event, driver.last, "of what was sent, or none");
	cr_assert_eq(driver.releases, sent > 0 ? sent - 1 : 0);
}

Test(opencl_rect, F8_a_box_of_which_nothing_was_sent_is_not_waited_for)
{
	driver.box = CL_INVALID_VALUE;
	opencl_rect_expect_refused(BACKEND_COMMAND_WRITE, 0);
}

Test(opencl_rect, F8_a_copy_of_which_nothing_was_sent_is_not_waited_for)
{
	opencl_rect_expect_refused(BACKEND_COMMAND_COPY, 0);
}

Test(opencl_rect, F8_rows_that_were_sent_before_a_refusal_end_with_the_event_of_the_last)
{
	driver.box = CL_INVALID_VALUE;
	opencl_rect_expect_refused(BACKEND_COMMAND_WRITE, 3);
}

Test(opencl_rect, F8_rows_of_a_copy_that_were_sent_before_a_refusal_end_with_the_event_of_the_last)
{
	opencl_rect_expect_refused(BACKEND_COMMAND_COPY, 3);
}

Test(opencl_rect, F8_a_box_of_very_many_rows_is_refused_rather_than_sent_row_by_row)
{
	struct backend_fault fault = {.status = 0};
	cl_event event = NULL, none = NULL;

	driver.box = CL_INVALID_VALUE;
	driver.rows_before_failure = UINT32_MAX;
	cr_assert_eq(submit_box(BACKEND_COMMAND_WRITE, 1048576, &event, &fault), 0);
	cr_assert_eq(driver.rows, 1048576);
	cr_assert_eq(event, driver.last);
	cr_assert_eq(driver.releases, 1048575);
	cr_assert_lt(submit_box(BACKEND_COMMAND_WRITE, 1048577, &none, &fault), 0);
	cr_assert_null(none);
	cr_assert_eq(driver.rows, 1048576);
	cr_assert_eq(driver.finishes, 0);
	cr_assert_neq(fault.text[0], '\0');
}
