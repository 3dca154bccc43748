/* The screen of 'syclctl top', by ncurses. Only one screen can be open. */
#ifndef SYCLCTL_TOP_SCREEN_H
#define SYCLCTL_TOP_SCREEN_H

#include "admin.pb-c.h"
#include "top/top.h"

#include <stdbool.h>

/* The effect of a key. */
enum top_key { TOP_KEY_NONE, TOP_KEY_QUIT, TOP_KEY_DRAW, TOP_KEY_PAUSE };

/* Opens the screen on the terminal. False: there is no suitable terminal. */
bool top_screen_open(void);
/* Restores the terminal. */
void top_screen_close(void);

/* Draws an answer after top_arrange. `note`: a line that replaces the health; NULL: none. */
void top_screen_draw(const Sycl__V1__AdminReply *reply, const struct top_view *view,
		     const char *note, bool is_paused);

/* Waits for a key, `timeout_ms` at most. Changes the view accordingly. */
enum top_key top_screen_key(struct top_view *view, int timeout_ms);

#endif
