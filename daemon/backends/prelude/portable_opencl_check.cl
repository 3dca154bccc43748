/* The portable prelude, OpenCL C side: what the checking mode needs of the language. */
#line 3 "prelude_check"

#define SYCL_CHECK_ID_(d) get_global_id(d)
