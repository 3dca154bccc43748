/* Images on the host: pixels in shared memory, converted and sampled as a device would (C20, G5).
 */
#include "memory/image.h"
#include "memory/own_pages.h"

#include "access_mode.h"
#include "clock.h"
#include "image_pixel.h"

static void host_image_destroy(struct object *object)
{
	struct host_image *accessor = (struct host_image *)object;
	host_access_end(object->connection, &accessor->access);
	atomic_fetch_sub_explicit(&accessor->image->host_accessors, 1, memory_order_relaxed);
	object_unref(&accessor->image->object);
	object_delete(object);
}

/* A reference of the caller, with a place in the order. `keeps`: it may give up before it is
 * granted. */
static sycl_result host_image_make(struct buffer *image, sycl_access_mode mode, bool keeps,
				   struct host_image **accessor_out)
{
	struct host_image *accessor = object_new(sizeof(*accessor), image->object.connection);
	if (!accessor)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	if (handle_create(&accessor->object, HANDLE_HOST_IMAGE, host_image_destroy) < 0) {
		object_delete(&accessor->object);
		return error_no_memory();
	}
	accessor->image = image;
	accessor->mode = (uint32_t)mode;
	object_ref(&image->object);
	atomic_fetch_add_explicit(&image->host_accessors, 1, memory_order_relaxed);
	sycl_result result =
		own_pages_request_host_access(image, (uint32_t)mode | (keeps ? ACCESS_KEEP_BIT : 0),
					      0, image->size_bytes, &accessor->access);
	if (result) {
		struct failure why;
		error_get(&why);
		object_unref(&accessor->object);
		return error_set_failure(&why);
	}
	if (access_mode_writes((uint32_t)mode))
		atomic_store_explicit(&image->modified, 1, memory_order_relaxed);
	*accessor_out = accessor;
	return SYCL_SUCCESS;
}

static sycl_result host_image_create(sycl_image handle, sycl_access_mode mode, uint64_t deadline_ns,
				     sycl_host_image *accessor_out)
{
	PIN(image, image, handle);
	REQUIRE_OUTPUT(accessor_out);
	struct host_image *accessor = NULL;
	if (!access_mode_valid((uint32_t)mode))
		return error_set(SYCL_ERROR_INVALID, "%d is no access mode", (int)mode);
	sycl_result result = buffer_check_graphs(&image->buffer);
	if (!result)
		result =
			host_image_make(&image->buffer, mode, deadline_ns != UINT64_MAX, &accessor);
	if (result)
		return result;
	result = host_access_wait(&image->buffer, &accessor->access, deadline_ns);
	if (result) { /* withdrawn: groups must not wait for an access that is not held */
		struct failure why;
		error_get(&why);
		object_unref(&accessor->object);
		return error_set_failure(&why);
	}
	*accessor_out = handle_of(&accessor->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_host_image_create(sycl_image image, sycl_access_mode mode,
					    sycl_host_image *accessor_out)
{
	return host_image_create(image, mode, UINT64_MAX, accessor_out);
}

SYCL_API sycl_result sycl_host_image_create_for(sycl_image image, sycl_access_mode mode,
						uint64_t timeout_ns, sycl_host_image *accessor_out)
{
	return host_image_create(image, mode, clock_deadline_ns(timeout_ns), accessor_out);
}

SYCL_API sycl_result sycl_host_image_retain(sycl_host_image accessor)
{
	return handle_retain(accessor, HANDLE_HOST_IMAGE);
}

SYCL_API sycl_result sycl_host_image_release(sycl_host_image accessor)
{
	return handle_release(accessor, HANDLE_HOST_IMAGE);
}

SYCL_API sycl_result sycl_host_image_get_reference_count(sycl_host_image accessor,
							 uint32_t *count_out)
{
	return handle_get_reference_count(accessor, HANDLE_HOST_IMAGE, count_out);
}

SYCL_API sycl_result sycl_host_image_get_pointer(sycl_host_image handle, void **pointer_out)
{
	PIN(host_image, accessor, handle);
	REQUIRE_OUTPUT(pointer_out);
	*pointer_out = accessor->image->address;
	return SYCL_SUCCESS;
}

static struct image_view host_image_view(const struct buffer *image)
{
	struct image_view view = {.format = image->image_format,
				  .dimensions = image->range.dimensions,
				  .is_layered = image->image_layered,
				  .bytes = image->address};
	for (uint32_t d = 0; d < 3; d++)
		view.size[d] = image->range.size[d];
	return view;
}

static sycl_result host_image_check_use(const struct host_image *accessor, uint32_t bit,
					const void *place, const void *value)
{
	if (!place || !value)
		return error_set(SYCL_ERROR_INVALID, "the place or the value is NULL");
	if (!(accessor->mode & bit))
		return error_set(SYCL_ERROR_ACCESSOR, "this accessor is not for %s",
				 bit == ACCESS_READ_BIT ? "reading" : "writing");
	return SYCL_SUCCESS;
}

/* Finds the bytes of one pixel. */
static sycl_result host_image_find_pixel(const struct host_image *accessor, uint32_t bit,
					 const uint64_t *index, const void *value, void **pixel_out)
{
	const struct image_view view = host_image_view(accessor->image);
	sycl_result result = host_image_check_use(accessor, bit, index, value);
	for (uint32_t d = 0; d < view.dimensions && !result; d++)
		if (index[d] >= view.size[d])
			result = error_set(SYCL_ERROR_INVALID,
					   "dimension %u: the pixel is outside of the image", d);
	if (!result)
		*pixel_out = (void *)(uintptr_t)image_pixel_at(&view, index);
	return result;
}

static sycl_result host_image_result(const struct host_image *accessor, int error)
{
	if (error == 0)
		return SYCL_SUCCESS;
	return error_set(SYCL_ERROR_INVALID, "pixels of %s have another type, or cannot be mixed",
			 image_format_find(accessor->image->image_format)->name);
}

#define PIXEL_FUNCTIONS(name, type)                                                                \
	SYCL_API sycl_result sycl_host_image_read_##name(sycl_host_image handle,                   \
							 const uint64_t *index, type value_out[4]) \
	{                                                                                          \
		PIN(host_image, accessor, handle);                                                 \
		void *pixel = NULL;                                                                \
		sycl_result result = host_image_find_pixel(accessor, ACCESS_READ_BIT, index,       \
							   value_out, &pixel);                     \
		if (result)                                                                        \
			return result;                                                             \
		return host_image_result(                                                          \
			accessor,                                                                  \
			image_pixel_read_##name(accessor->image->image_format, pixel, value_out)); \
	}                                                                                          \
	SYCL_API sycl_result sycl_host_image_write_##name(                                         \
		sycl_host_image handle, const uint64_t *index, const type value[4])                \
	{                                                                                          \
		PIN(host_image, accessor, handle);                                                 \
		void *pixel = NULL;                                                                \
		sycl_result result =                                                               \
			host_image_find_pixel(accessor, ACCESS_WRITE_BIT, index, value, &pixel);   \
		if (result)                                                                        \
			return result;                                                             \
		return host_image_result(                                                          \
			accessor,                                                                  \
			image_pixel_write_##name(accessor->image->image_format, pixel, value));    \
	}                                                                                          \
	SYCL_API sycl_result sycl_host_image_sample_##name(                                        \
		sycl_host_image handle, const sycl_sampler *sampler, const float *coordinate,      \
		type value_out[4])                                                                 \
	{                                                                                          \
		PIN(host_image, accessor, handle);                                                 \
		struct image_sampler meant;                                                        \
		sycl_result result = sampler_check(sampler, &meant);                               \
		if (!result)                                                                       \
			result = host_image_check_use(accessor, ACCESS_READ_BIT, coordinate,       \
						      value_out);                                  \
		if (result)                                                                        \
			return result;                                                             \
		const struct image_view view = host_image_view(accessor->image);                   \
		return host_image_result(                                                          \
			accessor, image_sample_##name(&view, &meant, coordinate, value_out));      \
	}

PIXEL_FUNCTIONS(float, float)
PIXEL_FUNCTIONS(int, int32_t)
PIXEL_FUNCTIONS(uint, uint32_t)
