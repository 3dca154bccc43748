/* cuMemcpy3DAsync between linear memories and images: first the checks of the real driver, then the
 * rows. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

struct side {
	CUdeviceptr address; /* of the first byte */
	size_t pitch, slice;
	bool host;  /* memory that the driver has not allocated */
	bool array; /* of an image; then the address is that of its bytes in this process */
};

struct box_op {
	struct fake_op op;
	struct side from, to;
	size_t width, height, depth;
	unsigned char *staged; /* a copy of a source that the driver has not allocated, with the
				  source's pitches */
};

static size_t box_span_bytes(const struct box_op *op, const struct side *side)
{
	return (op->depth - 1) * side->slice + (op->height - 1) * side->pitch + op->width;
}

static void box_move(struct box_op *op)
{
	struct fake_range *to_range = NULL, *from_range = NULL;

	fake_copy_pause(op->width * op->height * op->depth);
	fake_lock();
	unsigned char *to = fake_copy_pin(op->to.address, box_span_bytes(op, &op->to),
					  op->to.host || op->to.array, &to_range);
	const unsigned char *from =
		op->staged ? op->staged
			   : fake_copy_pin(op->from.address, box_span_bytes(op, &op->from),
					   op->from.host || op->from.array, &from_range);
	fake_unlock();
	for (size_t z = 0; to && from && z < op->depth; z++)
		for (size_t y = 0; y < op->height; y++)
			memmove(to + z * op->to.slice + y * op->to.pitch,
				from + z * op->from.slice + y * op->from.pitch, op->width);
	fake_lock();
	fake_copy_unpin(to_range);
	fake_copy_unpin(from_range);
	fake_unlock();
}

static void box_run(struct fake_op *base, struct CUstream_st *stream)
{
	(void)stream;
	box_move((struct box_op *)base);
}

static void box_drop(struct fake_op *base)
{
	free(((struct box_op *)base)->staged);
}

/* An image determines the rows and slices of its side, and the box must be inside of it. */
static bool array_side(const CUDA_MEMCPY3D *copy, bool source, struct side *side_out)
{
	const struct CUarray_st *array = fake_array_use(source ? copy->srcArray : copy->dstArray);
	size_t x = source ? copy->srcXInBytes : copy->dstXInBytes,
	       y = source ? copy->srcY : copy->dstY;
	size_t z = source ? copy->srcZ : copy->dstZ;

	if (!array || x > array->row_bytes || copy->WidthInBytes > array->row_bytes - x ||
	    y > array->rows || copy->Height > array->rows - y || z > array->slices ||
	    copy->Depth > array->slices - z)
		return false;
	*side_out = (struct side){
		.address =
			(CUdeviceptr)(array->bytes + (z * array->rows + y) * array->row_bytes + x),
		.pitch = array->row_bytes,
		.slice = array->rows * array->row_bytes,
		.array = true};
	return true;
}

/* Finds where a side begins. Returns false if the real driver refuses the pitches. */
static bool side_of(const CUDA_MEMCPY3D *copy, bool source, struct side *side_out)
{
	CUmemorytype type = source ? copy->srcMemoryType : copy->dstMemoryType;
	CUdeviceptr device = source ? copy->srcDevice : copy->dstDevice;
	CUdeviceptr host = source ? (CUdeviceptr)copy->srcHost : (CUdeviceptr)copy->dstHost;
	size_t x = source ? copy->srcXInBytes : copy->dstXInBytes,
	       y = source ? copy->srcY : copy->dstY;
	size_t z = source ? copy->srcZ : copy->dstZ,
	       pitch = source ? copy->srcPitch : copy->dstPitch;
	size_t height = source ? copy->srcHeight : copy->dstHeight;

	if (type == CU_MEMORYTYPE_ARRAY)
		return array_side(copy, source, side_out);
	if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE &&
	    type != CU_MEMORYTYPE_UNIFIED)
		return false;
	if ((copy->Height > 1 || copy->Depth > 1 || y || z) &&
	    (pitch < copy->WidthInBytes + x || pitch > INT32_MAX))
		return false; /* the pitch of a single row is not used */
	if (copy->Depth > 1 && height < copy->Height + y)
		return false;
	*side_out = (struct side){.address = (type == CU_MEMORYTYPE_HOST ? host : device) +
					     z * height * pitch + y * pitch + x,
				  .pitch = pitch,
				  .slice = height * pitch};
	return true;
}

static CUresult check_side(const struct box_op *op, struct side *side, bool must_be_device)
{
	if (side->array)
		return CUDA_SUCCESS;
	return fake_copy_check_end(side->address, box_span_bytes(op, side), must_be_device,
				   fake_current(), &side->host);
}

static CUresult check_sides(struct box_op *op, const CUDA_MEMCPY3D *copy)
{
	CUresult result = check_side(op, &op->to, copy->dstMemoryType == CU_MEMORYTYPE_DEVICE);

	return result == CUDA_SUCCESS
		       ? check_side(op, &op->from, copy->srcMemoryType == CU_MEMORYTYPE_DEVICE)
		       : result;
}

/* The box must not be empty. */
static CUresult make_box(const CUDA_MEMCPY3D *copy, struct box_op *made_out)
{
	struct box_op made = {.op = {.name = "copy", .run = box_run, .drop = box_drop},
			      .width = copy->WidthInBytes,
			      .height = copy->Height,
			      .depth = copy->Depth};

	if (!side_of(copy, true, &made.from) || !side_of(copy, false, &made.to)) {
		fake_misuse("the pitches or memories of a box of %zu x %zu x %zu are not allowed",
			    made.width, made.height, made.depth);
		return CUDA_ERROR_INVALID_VALUE;
	}
	CUresult result = check_sides(&made, copy);
	if (result == CUDA_SUCCESS)
		*made_out = made;
	return result;
}

CUresult fake_copy3d_check(const CUDA_MEMCPY3D *copy)
{
	struct box_op made;

	if (!copy->WidthInBytes || !copy->Height || !copy->Depth)
		return CUDA_ERROR_INVALID_VALUE; /* a node copies something */
	return make_box(copy, &made);
}

/* Access is checked when the copy runs. If an address is not accessible then, the device fails. */
void fake_copy3d_now(const CUDA_MEMCPY3D *copy)
{
	struct box_op made;

	fake_lock();
	bool is_good = side_of(copy, true, &made.from) && side_of(copy, false, &made.to);
	made.width = copy->WidthInBytes;
	made.height = copy->Height;
	made.depth = copy->Depth;
	made.staged = NULL;
	if (is_good) {
		made.from.host = !made.from.array && !fake_range_find(made.from.address, 1);
		made.to.host = !made.to.array && !fake_range_find(made.to.address, 1);
		/* Freed device memory does not count as host memory. */
		is_good = (copy->srcMemoryType == CU_MEMORYTYPE_HOST || !made.from.host) &&
			  (copy->dstMemoryType == CU_MEMORYTYPE_HOST || !made.to.host);
	}
	if (!is_good) {
		fake_misuse("a node copies memory that was freed");
		fake_make_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
	}
	fake_number_add("copies", 1);
	fake_unlock();
	if (is_good)
		box_move(&made);
}

static CUresult box_add(const CUDA_MEMCPY3D *copy, CUstream handle)
{
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	struct box_op made;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!copy->WidthInBytes || !copy->Height || !copy->Depth)
		return CUDA_SUCCESS;
	CUresult result = make_box(copy, &made);
	if (result != CUDA_SUCCESS)
		return result;
	struct box_op *op = malloc(sizeof(*op));
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*op = made;
	op->op.name = copy->srcMemoryType == CU_MEMORYTYPE_HOST   ? "copy_in"
		      : copy->dstMemoryType == CU_MEMORYTYPE_HOST ? "copy_out"
								  : "copy";
	if (op->from.host) {
		fake_number_add("pageable_copies", 1);
		op->staged = malloc(box_span_bytes(op, &op->from));
		if (!op->staged) {
			free(op);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
		memcpy(op->staged, (const void *)op->from.address, box_span_bytes(op, &op->from));
	}
	fake_number_add("copies", 1);
	fake_number_add("box_copies", 1);
	fake_stream_add(stream, &op->op);
	if (made.to.host) {
		fake_number_add("pageable_copies", 1);
		fake_stream_wait(stream, stream->submitted);
	}
	return (CUresult)fake.sticky;
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream)
{
	ENTER(NEED_CONTEXT);
	if (fake_is_capturing(stream))
		return fake_capture_copy(stream, copy);
	return box_add(copy, stream);
}
