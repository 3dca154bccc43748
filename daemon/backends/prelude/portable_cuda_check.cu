/* The portable prelude, CUDA C++ side: what the checking mode needs of the language. */
#line 3 "prelude_check"

#define SYCL_CHECK_ID_(d) (sycl_place_(d) + sycl_offset_(d))
