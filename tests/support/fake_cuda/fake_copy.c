/* Copies and fills. Each end is checked at the call, and again when the stream executes it. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct copy_op {
	struct fake_op op;
	CUdeviceptr destination, source;
	size_t size;
	int device;
	bool host_destination, host_source; /* memory that the driver has not allocated */
	void *staged;                       /* a copy of a source in such memory */
};

struct memset_op {
	struct fake_op op;
	CUdeviceptr address;
	size_t pitch, width, height;
	unsigned value, element;
};

/* Returns the bytes of one end and marks their range as used until fake_copy_unpin. NULL: the real
 * driver reports an illegal address. */
unsigned char *fake_copy_pin(CUdeviceptr address, size_t size, bool plain,
			     struct fake_range **range_out)
{
	*range_out = NULL;
	if (plain)
		return (unsigned char *)address;
	struct fake_range *range = fake_range_find(address, size);
	if (!range || !range->live) {
		fake_misuse("%zu bytes at 0x%llx are %s when the copy runs", size, address,
			    range ? "not allocated yet" : "freed already");
		fake_make_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
		return NULL;
	}
	range->busy++;
	*range_out = range;
	return fake_range_bytes(range, address);
}

void fake_copy_unpin(struct fake_range *range)
{
	if (range)
		fake_range_unbusy(range);
}

void fake_copy_pause(size_t size)
{
	uint64_t ns = fake.copy_ns_per_mib * (size >> 10) >> 10;
	const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000u),
				       .tv_nsec = (long)(ns % 1000000000u)};

	if (ns)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

static void copy_run(struct fake_op *base, struct CUstream_st *stream)
{
	struct copy_op *op = (struct copy_op *)base;
	struct fake_range *to_range = NULL, *from_range = NULL;

	(void)stream;
	fake_copy_pause(op->size);
	fake_lock();
	unsigned char *to =
		fake_copy_pin(op->destination, op->size, op->host_destination, &to_range);
	const unsigned char *from =
		op->staged ? op->staged
			   : fake_copy_pin(op->source, op->size, op->host_source, &from_range);
	fake_unlock();
	if (to && from)
		memmove(to, from, op->size);
	fake_lock();
	fake_copy_unpin(to_range);
	fake_copy_unpin(from_range);
	fake_unlock();
}

static void copy_drop(struct fake_op *base)
{
	free(((struct copy_op *)base)->staged);
}

/* Checks one end of a copy at the time of the call. */
CUresult fake_copy_check_end(CUdeviceptr address, size_t size, bool must_be_device,
			     const struct CUctx_st *context, bool *host_out)
{
	const struct fake_range *range = fake_range_find(address, 1);

	*host_out = false;
	if (!range) {
		*host_out = true;
		if (!must_be_device)
			return CUDA_SUCCESS;
		fake_misuse("0x%llx is not in memory of a device", address);
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (range->freed || size > range->base + range->size - address) {
		fake_misuse("%zu bytes at 0x%llx %s", size, address,
			    range->freed ? "were freed" : "reach beyond their allocation");
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (!fake_can_reach(context, range)) {
		fake_misuse("0x%llx of device %d is out of reach of device %d", address,
			    range->device, context->device);
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

struct copy {
	CUdeviceptr destination, source;
	size_t size;
	bool device_destination, device_source; /* as the call declares them */
	const struct CUctx_st *destination_context, *source_context;
};

static CUresult copy_add(const struct copy *copy, CUstream handle, bool wait)
{
	bool host_destination, host_source;
	struct CUstream_st *stream = fake_stream_use(handle);

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!copy->size)
		return CUDA_SUCCESS;
	CUresult result =
		fake_copy_check_end(copy->destination, copy->size, copy->device_destination,
				    copy->destination_context, &host_destination);
	if (result == CUDA_SUCCESS)
		result = fake_copy_check_end(copy->source, copy->size, copy->device_source,
					     copy->source_context, &host_source);
	if (result != CUDA_SUCCESS)
		return result;
	struct copy_op *op = calloc(1, sizeof(*op));
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*op = (struct copy_op){
		.op = {.name = host_source || copy->device_destination > copy->device_source
				       ? "copy_in"
			       : host_destination || copy->device_source > copy->device_destination
				       ? "copy_out"
				       : "copy",
		       .run = copy_run,
		       .drop = copy_drop},
		.destination = copy->destination,
		.source = copy->source,
		.size = copy->size,
		.host_destination = host_destination,
		.host_source = host_source,
		.device = stream->device};
	/* The real driver stages a pageable source before it returns, and waits for a pageable
	 * destination. */
	if (host_source) {
		fake_number_add("pageable_copies", 1);
		op->staged = malloc(copy->size);
		if (!op->staged) {
			free(op);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
		memcpy(op->staged, (const void *)copy->source, copy->size);
	}
	fake_number_add("copies", 1);
	fake_stream_add(stream, &op->op);
	if (host_destination)
		fake_number_add("pageable_copies", 1);
	if (host_destination || wait)
		fake_stream_wait(stream, stream->submitted);
	return (CUresult)fake.sticky;
}

static CUresult copy_plain(CUdeviceptr destination, bool device_destination, CUdeviceptr source,
			   bool device_source, size_t size, CUstream stream, bool wait)
{
	const CUDA_MEMCPY3D node = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
				    .srcDevice = source,
				    .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
				    .dstDevice = destination,
				    .WidthInBytes = size,
				    .Height = 1,
				    .Depth = 1};

	if (fake_is_capturing(stream))
		return fake_capture_copy(stream, &node);
	LOCKED();
	const struct copy copy = {.destination = destination,
				  .source = source,
				  .size = size,
				  .device_destination = device_destination,
				  .device_source = device_source,
				  .destination_context = fake_current(),
				  .source_context = fake_current()};
	return copy_add(&copy, stream, wait);
}

CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t size, CUstream stream)
{
	ENTER(NEED_CONTEXT);
	return copy_plain(destination, false, source, false, size, stream, false);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr destination, const void *source, size_t size,
			   CUstream stream)
{
	ENTER(NEED_CONTEXT);
	return copy_plain(destination, true, (CUdeviceptr)source, false, size, stream, false);
}

CUresult cuMemcpyDtoHAsync(void *destination, CUdeviceptr source, size_t size, CUstream stream)
{
	ENTER(NEED_CONTEXT);
	return copy_plain((CUdeviceptr)destination, false, source, true, size, stream, false);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr destination, CUdeviceptr source, size_t size,
			   CUstream stream)
{
	ENTER(NEED_CONTEXT);
	return copy_plain(destination, true, source, true, size, stream, false);
}

CUresult cuMemcpyHtoD(CUdeviceptr destination, const void *source, size_t size)
{
	ENTER(NEED_CONTEXT | NOTED_SYNC);
	return copy_plain(destination, true, (CUdeviceptr)source, false, size, NULL, true);
}

CUresult cuMemcpyDtoH(void *destination, CUdeviceptr source, size_t size)
{
	ENTER(NEED_CONTEXT | NOTED_SYNC);
	return copy_plain((CUdeviceptr)destination, false, source, true, size, NULL, true);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext destination_context,
			   CUdeviceptr source, CUcontext source_context, size_t size,
			   CUstream stream)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	if (!fake_handle_alive(FAKE_CONTEXT, destination_context) ||
	    !fake_handle_alive(FAKE_CONTEXT, source_context))
		return CUDA_ERROR_INVALID_CONTEXT;
	const struct copy copy = {.destination = destination,
				  .source = source,
				  .size = size,
				  .device_destination = true,
				  .device_source = true,
				  .destination_context = destination_context,
				  .source_context = source_context};
	fake_record(&(struct fake_cuda_record){.kind = FAKE_CUDA_PEER_COPY,
					       .address = destination,
					       .value = size,
					       .device = source_context->device,
					       .location_id = destination_context->device});
	return copy_add(&copy, stream, false);
}

static void fill_row(unsigned char *to, unsigned value, unsigned element, size_t width)
{
	for (size_t i = 0; i < width; i++)
		memcpy(to + i * element, &value, element); /* little endian */
}

static void memset_run(struct fake_op *base, struct CUstream_st *stream)
{
	const struct memset_op *op = (struct memset_op *)base;

	(void)stream;
	fake_memset_now(op->address, op->pitch, op->value, op->element, op->width, op->height);
}

void fake_memset_now(CUdeviceptr address, size_t pitch, unsigned value, unsigned element,
		     size_t width, size_t height)
{
	struct fake_range *range = NULL;
	size_t bytes = (height - 1) * pitch + width * element;

	fake_lock();
	unsigned char *to = fake_copy_pin(address, bytes, false, &range);
	fake_unlock();
	if (to && element == 4 && width == 1 && height == 1)
		atomic_store((_Atomic uint32_t *)(void *)to,
			     value); /* atomic, because another thread may poll this word */
	else
		for (size_t row = 0; to && row < height; row++)
			fill_row(to + row * pitch, value, element, width);
	fake_lock();
	fake_copy_unpin(range);
	fake_unlock();
}

CUresult fake_memset_check(CUdeviceptr address, size_t bytes, unsigned element)
{
	bool host;

	if (address % element) {
		fake_misuse(
			"a fill with elements of %u bytes begins at 0x%llx, which is not aligned",
			element, address);
		return CUDA_ERROR_INVALID_VALUE;
	}
	return fake_copy_check_end(address, bytes, true, fake_current(), &host);
}

static CUresult memset_add(CUdeviceptr address, size_t pitch, unsigned value, unsigned element,
			   size_t width, size_t height, CUstream handle)
{
	const CUDA_MEMSET_NODE_PARAMS node = {.dst = address,
					      .pitch = pitch,
					      .value = value,
					      .elementSize = element,
					      .width = width,
					      .height = height};

	if (fake_is_capturing(handle))
		return fake_capture_memset(handle, &node);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!width || !height)
		return CUDA_SUCCESS;
	if (height > 1 && (pitch % element || pitch < width * element))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result =
		fake_memset_check(address, (height - 1) * pitch + width * element, element);
	if (result != CUDA_SUCCESS)
		return result;
	struct memset_op *op = calloc(1, sizeof(*op));
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*op = (struct memset_op){.op = {.name = "memset", .run = memset_run},
				 .address = address,
				 .pitch = pitch,
				 .width = width,
				 .height = height,
				 .value = value,
				 .element = element};
	fake_stream_add(stream, &op->op);
	return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream)
{
	ENTER(NEED_CONTEXT);
	return memset_add(address, 0, value, 1, count, 1, stream);
}

CUresult cuMemsetD16Async(CUdeviceptr address, unsigned short value, size_t count, CUstream stream)
{
	ENTER(NEED_CONTEXT);
	return memset_add(address, 0, value, 2, count, 1, stream);
}

CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, size_t count, CUstream stream)
{
	ENTER(NEED_CONTEXT);
	return memset_add(address, 0, value, 4, count, 1, stream);
}

CUresult cuMemsetD2D8Async(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
			   size_t height, CUstream stream)
{
	ENTER(NEED_CONTEXT);
	return memset_add(address, pitch, value, 1, width, height, stream);
}

CUresult cuMemsetD2D16Async(CUdeviceptr address, size_t pitch, unsigned short value, size_t width,
			    size_t height, CUstream stream)
{
	ENTER(NEED_CONTEXT);
	return memset_add(address, pitch, value, 2, width, height, stream);
}

CUresult cuMemsetD2D32Async(CUdeviceptr address, size_t pitch, unsigned value, size_t width,
			    size_t height, CUstream stream)
{
	ENTER(NEED_CONTEXT);
	return memset_add(address, pitch, value, 4, width, height, stream);
}
