/* The portable prelude, OpenCL C side: what the checking mode needs of the language. */
#line 3 "prelude_check"

#define SYCL_CHECK_FUNCTION_  static __attribute__((noinline)) /* else kernels take PoCL long to compile */
#define SYCL_CHECK_ID_(d)     ((ulong)get_global_id(d))
#define SYCL_CHECK_ITEM_(d)   ((ulong)get_local_id(d))
#define SYCL_CHECK_ITEMS_(d)  ((ulong)get_local_size(d))
#define SYCL_CHECK_GROUP_(d)  ((ulong)get_group_id(d))
#define SYCL_CHECK_GROUPS_(d) ((ulong)get_num_groups(d))
#define SYCL_CHECK_PLACE_(p)  ((ulong)(p))
/* There is no memory with a known distance from the range. */
#define SYCL_CHECK_SPARE_(check, place, bytes) 0
