#include "harness/plot.h"

#include "picture.h"
#include "harness/plot_letters.h"

#include "cleanup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WIDTH = 960,
	HEIGHT = 600,
	LEFT = 80, /* of the axes */
	RIGHT = 160,
	TOP = 50,
	BOTTOM = 60,
	SCALE = 2, /* of letters */
	ADVANCE = (LETTER_WIDTH + 1) * SCALE,
	BAR_STEP = 26,
	BAR_LEFT = 16 + 21 * ADVANCE + 6, /* in its column */
	BAR_ONE = 70,                     /* the length of 1 */
};

struct colour {
	uint8_t red, green, blue;
};

/* Pixels, WIDTH in each row. */
struct canvas {
	uint8_t *pixels;
	int height;
};

static const struct colour paper = {255, 255, 255}, ink = {40, 40, 40}, grid = {225, 225, 225},
			   target = {150, 150, 150};
static const struct colour colours[PLOT_CURVES_MAX] = {
	{31, 90, 170}, {205, 80, 30}, {30, 140, 70}, {140, 60, 160}, {190, 150, 0}, {0, 150, 170},
};

/* The ranges of the axes. */
struct frame {
	const struct canvas *canvas;
	int x_low, x_high; /* powers of ten */
	double y_high, y_step;
};

static void dot(const struct canvas *canvas, int x, int y, struct colour colour)
{
	if (x < 0 || y < 0 || x >= WIDTH || y >= canvas->height)
		return;
	uint8_t *at = canvas->pixels + ((size_t)y * WIDTH + (size_t)x) * 3;
	at[0] = colour.red;
	at[1] = colour.green;
	at[2] = colour.blue;
}

static void block(const struct canvas *canvas, int x, int y, int size, struct colour colour)
{
	for (int row = 0; row < size; row++)
		for (int column = 0; column < size; column++)
			dot(canvas, x + column, y + row, colour);
}

static void letter(const struct canvas *canvas, int x, int y, char wanted, struct colour colour)
{
	for (size_t i = 0; i < sizeof(plot_letters) / sizeof(*plot_letters); i++) {
		if (plot_letters[i].letter != wanted)
			continue;
		for (int row = 0; row < LETTER_HEIGHT; row++)
			for (int column = 0; column < LETTER_WIDTH; column++)
				if (plot_letters[i].rows[row] >> (LETTER_WIDTH - 1 - column) & 1)
					block(canvas, x + column * SCALE, y + row * SCALE, SCALE,
					      colour);
	}
}

static void text(const struct canvas *canvas, int x, int y, const char *words, struct colour colour)
{
	for (; *words; words++, x += ADVANCE)
		letter(canvas, x, y, *words, colour);
}

static void line(const struct canvas *canvas, double x0, double y0, double x1, double y1, int thick,
		 struct colour colour)
{
	int steps = (int)fmax(fmax(fabs(x1 - x0), fabs(y1 - y0)), 1);
	for (int step = 0; step <= steps; step++)
		block(canvas, (int)lround(x0 + (x1 - x0) * step / steps) - thick / 2,
		      (int)lround(y0 + (y1 - y0) * step / steps) - thick / 2, thick, colour);
}

static double place_x(const struct frame *frame, double x)
{
	return LEFT +
	       (log10(x) - frame->x_low) / (frame->x_high - frame->x_low) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct frame *frame, double y)
{
	return HEIGHT - BOTTOM - y / frame->y_high * (HEIGHT - TOP - BOTTOM);
}

/* Returns 1, 2 or 5 times a power of ten, so that there are at most eight lines. */
static double step_of(double most)
{
	double step = pow(10, floor(log10(most / 8)));
	static const double factors[] = {1, 2, 5, 10};
	for (int i = 0; i < 4; i++)
		if (most / (step * factors[i]) <= 8)
			return step * factors[i];
	return step * 10;
}

static bool find_frame(const struct plot *plot, struct frame *frame)
{
	double least = INFINITY, most = 0, highest = plot->y_line;
	for (unsigned c = 0; c < plot->curves; c++) {
		for (unsigned p = 0; p < plot->curve[c].points; p++) {
			least = fmin(least, plot->curve[c].x[p]);
			most = fmax(most, plot->curve[c].x[p]);
			highest = fmax(highest, plot->curve[c].y[p]);
		}
	}
	if (!(least > 0) || !(highest > 0) || !isfinite(least) || !isfinite(highest))
		return false;
	frame->x_low = (int)floor(log10(least));
	frame->x_high = (int)fmax(ceil(log10(most)), frame->x_low + 1);
	frame->y_step = step_of(highest);
	frame->y_high = ceil(highest / frame->y_step) * frame->y_step;
	return true;
}

/* Draws ticks at 2 to 9 times a power of ten. */
static void draw_ticks(const struct frame *frame, int power)
{
	for (int i = 2; i <= 9 && power < frame->x_high; i++) {
		double x = place_x(frame, i * pow(10, power));
		line(frame->canvas, x, HEIGHT - BOTTOM - 6, x, HEIGHT - BOTTOM, 1, target);
	}
}

static void draw_axes(const struct plot *plot, const struct frame *frame)
{
	char number[32];
	const struct canvas *canvas = frame->canvas;
	double bottom = HEIGHT - BOTTOM;
	for (int power = frame->x_low; power <= frame->x_high; power++) {
		double x = place_x(frame, pow(10, power));
		line(canvas, x, TOP, x, bottom, 1, grid);
		draw_ticks(frame, power);
		text(canvas, (int)x - ADVANCE, HEIGHT - BOTTOM + 12, "10", ink);
		(void)snprintf(number, sizeof(number), "%d", power);
		text(canvas, (int)x + ADVANCE, HEIGHT - BOTTOM + 4, number, ink);
	}
	for (int i = 0; frame->y_step * i <= frame->y_high * 1.001; i++) {
		double y = place_y(frame, frame->y_step * i);
		line(canvas, LEFT, y, WIDTH - RIGHT, y, 1, grid);
		int length = snprintf(number, sizeof(number), "%g", frame->y_step * i);
		text(canvas, LEFT - 8 - length * ADVANCE, (int)y - LETTER_HEIGHT, number, ink);
	}
	line(canvas, LEFT, TOP, LEFT, bottom, 1, ink);
	line(canvas, LEFT, bottom, WIDTH - RIGHT, bottom, 1, ink);
	text(canvas, LEFT, 8, plot->title, ink);
	text(canvas, LEFT, TOP - 22, plot->y_name, ink);
	text(canvas, (WIDTH - RIGHT - (int)strlen(plot->x_name) * ADVANCE), HEIGHT - 24,
	     plot->x_name, ink);
	if (plot->y_line > 0)
		line(canvas, LEFT, place_y(frame, plot->y_line), WIDTH - RIGHT,
		     place_y(frame, plot->y_line), 2, target);
}

static void draw_curve(const struct frame *frame, const struct plot_curve *curve, unsigned index,
		       bool smooth)
{
	struct colour colour = colours[index % PLOT_CURVES_MAX];
	const struct canvas *canvas = frame->canvas;
	for (unsigned p = 0; p < curve->points; p++) {
		double x = place_x(frame, curve->x[p]), y = place_y(frame, curve->y[p]);
		if (!smooth)
			block(canvas, (int)x - 3, (int)y - 3, 7, colour);
		if (p > 0)
			line(canvas, place_x(frame, curve->x[p - 1]),
			     place_y(frame, curve->y[p - 1]), x, y, 2, colour);
	}
	int y = TOP + (int)index * 3 * LETTER_HEIGHT;
	block(canvas, WIDTH - RIGHT + 12, y + 3, 9, colour);
	text(canvas, WIDTH - RIGHT + 28, y, curve->name, ink);
}

static void draw_bar(const struct canvas *canvas, const struct plot_bar *bar, int left, int y)
{
	const int length = (int)lround(fmin(bar->value, 2) * BAR_ONE);
	const struct colour colour = colours[bar->value > 1 ? 1 : 2];
	char number[16];
	text(canvas, left + 16, y, bar->name, ink);
	for (int row = 0; row < 2 * LETTER_HEIGHT; row++)
		line(canvas, left + BAR_LEFT, y + row, left + BAR_LEFT + length, y + row, 1,
		     colour);
	(void)snprintf(number, sizeof(number), "%.*f",
		       bar->value < 10    ? 2
		       : bar->value < 100 ? 1
					  : 0,
		       bar->value);
	text(canvas, left + BAR_LEFT + length + 6, y, number, ink);
}

static void plot_clear_canvas(const struct canvas *canvas)
{
	for (int y = 0; y < canvas->height; y++)
		for (int x = 0; x < WIDTH; x++)
			dot(canvas, x, y, paper);
}

bool plot_write_bars(const char *title, const struct plot_bar *bars, unsigned count,
		     const char *path)
{
	const unsigned rows = (count + 1) / 2; /* of each column */
	struct canvas canvas = {.height = TOP + (int)rows * BAR_STEP + 40};
	CLEANUP(free_pointer)
	uint8_t *pixels = malloc((size_t)WIDTH * (size_t)canvas.height * 3);
	if (!pixels || count == 0)
		return false;
	canvas.pixels = pixels;
	plot_clear_canvas(&canvas);
	text(&canvas, 16, 8, title, ink);
	for (unsigned i = 0; i < count; i++)
		draw_bar(&canvas, &bars[i], i < rows ? 0 : WIDTH / 2,
			 TOP + (int)(i % rows) * BAR_STEP);
	for (unsigned column = 0; column < 2 && column < count; column++) {
		const int x = (int)column * WIDTH / 2 + BAR_LEFT + BAR_ONE;
		const unsigned held = column == 0 ? rows : count - rows;
		text(&canvas, x - 3 * ADVANCE / 2, TOP - 22, "1.0", ink);
		line(&canvas, x, TOP - 6, x, TOP + (int)held * BAR_STEP - 6, 2, ink);
	}
	return picture_write(path, WIDTH, (uint32_t)canvas.height, pixels);
}

bool plot_write(const struct plot *plot, const char *path)
{
	CLEANUP(free_pointer) uint8_t *pixels = malloc((size_t)WIDTH * HEIGHT * 3);
	const struct canvas canvas = {.pixels = pixels, .height = HEIGHT};
	struct frame frame = {.canvas = &canvas};
	if (!pixels || !find_frame(plot, &frame))
		return false;
	plot_clear_canvas(&canvas);
	draw_axes(plot, &frame);
	for (unsigned c = 0; c < plot->curves; c++)
		draw_curve(&frame, &plot->curve[c], c, plot->smooth);
	return picture_write(path, WIDTH, HEIGHT, pixels);
}
