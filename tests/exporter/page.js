// page.js URL: loads the page of the exporter into a Chromium without a window and checks what a picture does not show. Exit status 0: all
// of it holds. Chromium takes orders from descriptor 3, and answers to descriptor 4, each message ends with a zero byte.
"use strict";
const { spawn } = require("node:child_process");
const { mkdtempSync, rmSync } = require("node:fs");

const address = process.argv[2];
const folder = mkdtempSync("/tmp/sycld-page.");
const browser = spawn("chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
	"--remote-debugging-pipe", "--user-data-dir=" + folder, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const waiting = new Map(), requests = [];
let number = 0, session, rest = "", failed = 0;

browser.stdio[4].setEncoding("utf8").on("data", (text) => {
	const messages = (rest + text).split("\0");
	rest = messages.pop();
	for (const message of messages.map((one) => JSON.parse(one))) {
		if (message.method === "Network.requestWillBeSent")
			requests.push(message.params.request.url);
		if (message.method === "Fetch.requestPaused")
			order("Fetch.fulfillRequest", { requestId: message.params.requestId, responseCode: 200, body: Buffer.from(busyHour()).toString("base64"),
				responseHeaders: [{ name: "Content-Type", value: "application/json" }] });
		if (!waiting.has(message.id))
			continue;
		const { resolve, reject } = waiting.get(message.id);
		waiting.delete(message.id);
		if (message.error)
			reject(new Error(message.error.message));
		else
			resolve(message.result);
	}
});

function order(method, params = {}) {
	return new Promise((resolve, reject) => {
		waiting.set(++number, { resolve, reject });
		browser.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId: session }) + "\0");
	});
}

async function value(expression) {
	const { result, exceptionDetails } = await order("Runtime.evaluate", { expression, returnByValue: true });
	if (exceptionDetails)
		throw new Error(expression + ": " + exceptionDetails.exception.description);
	return result.value;
}

// True as soon as the expression is; false if it is not within half a minute.
async function becomes(expression) {
	for (const end = Date.now() + 30000; Date.now() < end;) {
		if (await value(expression))
			return true;
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
	return false;
}

async function expect(what, expression) {
	if (await becomes(expression))
		return;
	failed++;
	console.error("the page: " + what + ": not " + expression);
}

async function press(key, code, text) {
	await order("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", key, code: key, windowsVirtualKeyCode: code, text });
	await order("Input.dispatchKeyEvent", { type: "keyUp", key, code: key, windowsVirtualKeyCode: code });
}

async function parts() {
	const within = (id, what) => "document.querySelectorAll('#" + id + " " + what + "').length > 0";
	await expect("a bar for a device", within("devices", ".bar"));
	await expect("a device's bar has the value of its number", "[...document.querySelectorAll('#devices .barline')].every((line) =>" +
		" Math.abs(line.querySelector('.bar').ariaValueNow - line.querySelector('span').textContent.replace(/[^0-9]/g, '')) <= 1)");
	await expect("a bar for a user's share", within("users", ".bar"));
	await expect("a bar for a session", within("sessions", ".bar"));
	await expect("a strip of the last minute", within("timeline", "svg rect:not(.idle)"));
	await expect("a plot of the last hour", within("history", "svg path"));
	await expect("faults, or that there are none", "document.getElementById('faults').textContent.length > 0");
	const drawn = await value("document.body.dataset.drawn");
	await expect("it is drawn again", "document.body.dataset.drawn > " + drawn);
}

async function telephone() {
	await order("Emulation.setDeviceMetricsOverride", { width: 360, height: 740, deviceScaleFactor: 3, mobile: true });
	await expect("nothing is wider than a telephone", "document.documentElement.scrollWidth <= 360");
	await expect("no text is tiny", "[...document.querySelectorAll('main *, body *')].every((one) => parseFloat(getComputedStyle(one).fontSize) >= 11)");
	await order("Emulation.clearDeviceMetricsOverride");
}

// Runs in the page. True if each user's dot stands in the line in which the name begins.
function dotsAreBesideNames() {
	return [...document.querySelectorAll(".dot")].every((dot) => {
		const range = document.createRange();
		range.selectNode(dot.nextSibling);
		const name = range.getClientRects()[0], own = dot.getBoundingClientRect();
		return own.top < name.bottom && own.bottom > name.top;
	});
}

async function widths() {
	for (const width of [360, 600, 800, 1024, 1280, 1920]) {
		await order("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
		await expect("nothing is wider than " + width, "document.documentElement.scrollWidth <= " + width);
		await expect("dots are beside names at " + width, "(" + dotsAreBesideNames + ")()");
	}
	await order("Emulation.clearDeviceMetricsOverride");
}

// An hour in which two users' kernels run beside each other.
function busyHour() {
	const times = [], now = Date.now();
	for (let time = now - 600000; time <= now; time += 5000)
		times.push(time);
	const series = (uid, user) => ({ device: "opencl:0", uid, user, busy: times.map(() => 800) });
	return JSON.stringify({ times_ms: times, series: [series(1, "one"), series(2, "two")] });
}

async function sums() {
	await order("Fetch.enable", { patterns: [{ urlPattern: "*/history.json*" }] });
	await order("Page.reload");
	await expect("the plot is as high as the sum of the users", "document.querySelector('#history .scale')?.textContent.replace(/\\s/g, '') === '200%1000'");
	await expect("both users' areas are visible", "[...document.querySelectorAll('#history svg path')].every((path) => path.getBBox().height > 30)");
	await order("Fetch.disable");
}

async function keys() {
	await press("Tab", 9);
	await expect("the first key reaches Pause", "document.activeElement.id === 'pause'");
	await expect("the focus is visible", "getComputedStyle(document.activeElement).outlineStyle !== 'none'");
	await press("Enter", 13, "\r");
	await expect("Enter pauses", "document.getElementById('pause').getAttribute('aria-pressed') === 'true'");
	await press("Enter", 13, "\r");
	await expect("Enter resumes", "document.getElementById('pause').getAttribute('aria-pressed') === 'false'");
	await press("Tab", 9);
	await press("Enter", 13, "\r");
	await expect("Enter opens the field for the token", "document.getElementById('authorise').open");
	await press("Tab", 9);
	await expect("the next key reaches the field", "document.activeElement.id === 'token'");
}

async function colours() {
	const background = "getComputedStyle(document.body).backgroundColor";
	const light = await value(background);
	await order("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: "dark" }] });
	await expect("it is dark", background + " !== '" + light + "'");
}

async function main() {
	const { targetId } = await order("Target.createTarget", { url: "about:blank" });
	session = (await order("Target.attachToTarget", { targetId, flatten: true })).sessionId;
	await order("Network.enable");
	await order("Page.enable");
	await order("Page.bringToFront");
	await order("Emulation.setFocusEmulationEnabled", { enabled: true });
	await order("Page.navigate", { url: address });
	await expect("it is drawn", "document.body && Number(document.body.dataset.drawn) > 0");
	await parts();
	await telephone();
	await widths();
	await sums();
	await keys();
	await colours();
	const origin = new URL(address).origin, others = requests.filter((url) => !url.startsWith(origin + "/") && !url.startsWith("data:"));
	if (others.length) {
		failed++;
		console.error("the page: it asks other servers: " + others.join(" "));
	}
}

main().catch((error) => {
	failed++;
	console.error("the page: " + error.message);
}).finally(() => {
	browser.on("exit", () => {
		rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
		process.exit(failed ? 1 : 0);
	});
	browser.kill();
});
