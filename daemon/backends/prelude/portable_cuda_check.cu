/* The portable prelude, CUDA C++ side: what the checking mode needs of the language. */
#line 3 "prelude_check"

#define SYCL_CHECK_FUNCTION_  SYCL_NO_INLINE_
#define SYCL_CHECK_ID_(d)     (sycl_place_(d) + sycl_offset_(d))
#define SYCL_CHECK_ITEM_(d)   ((ulong)sycl_item_(d))
#define SYCL_CHECK_ITEMS_(d)  ((ulong)sycl_items_(d))
#define SYCL_CHECK_GROUP_(d)  (sycl_group_(d))
#define SYCL_CHECK_GROUPS_(d) (sycl_groups_(d))
#define SYCL_CHECK_PLACE_(p)  ((ulong)sycl_raw_(p))
/* The index of an element in the 4,096 bytes before the block (lane/check.c). */
#define SYCL_CHECK_SPARE_(check, place, bytes) sycl_check_spare_((ulong)(check) - 4096ul, place, bytes)
SYCL_INLINE_ long sycl_check_spare_(ulong spare, ulong place, ulong bytes)
{
	const long apart = (long)(spare - place);
	return apart / (long)bytes + (apart > 0);
}
