# The packages that the build needs; their Debian names are in .ci/packages.txt.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(protobuf_c REQUIRED IMPORTED_TARGET libprotobuf-c)
pkg_check_modules(uv REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(inih REQUIRED IMPORTED_TARGET inih)
pkg_check_modules(systemd REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(png REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(microhttpd IMPORTED_TARGET libmicrohttpd) # for sycld-exporter, which is left out without it
# Without it, syclctl top writes objects only.
pkg_check_modules(ncursesw IMPORTED_TARGET ncursesw)
find_package(nng REQUIRED)
find_program(PROTOC_C protoc-c REQUIRED)
find_path(OPENCL_INCLUDE CL/cl.h REQUIRED)
