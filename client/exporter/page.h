/* The page, made at the build of the files in page/. */
#ifndef SYCLD_EXPORTER_PAGE_H
#define SYCLD_EXPORTER_PAGE_H

#include <stddef.h>

extern const unsigned char page_html[];
extern const size_t page_html_bytes;
/* The value of Content-Security-Policy: no style and no program but the page's own. */
extern const char page_policy[];

#endif
