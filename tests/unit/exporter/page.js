// node page.js PAGE: opens the page's script, with a document that does nothing, under links with tokens.
// A session that has ended keeps its program's name in the timeline. A link's token replaces the kept one after a good answer only; one that cannot be read changes nothing.
const assert = require("assert");
const fs = require("fs");
const vm = require("vm");

const script = fs.readFileSync(process.argv[2], "utf8");

// An element of which every member is a function and an element. `texts` gets the texts that functions receive.
function anything(texts) {
	return new Proxy(function () {}, {
		get: (_, key) => key === Symbol.toPrimitive ? () => "" : anything(texts),
		set: () => true,
		apply: (_, self, values) => {
			texts.push(...values.filter((value) => typeof value === "string"));
			return anything(texts);
		},
	});
}

async function open(hash, kept, answer = {}) {
	const sent = [];
	const texts = [];
	const element = () => anything(texts);
	const stored = { token: kept };
	const turn = () => new Promise((resolve) => setImmediate(resolve));
	vm.runInNewContext(script, {
		sessionStorage: { getItem: (key) => stored[key], setItem: (key, value) => { stored[key] = value; } },
		location: { hash, pathname: "/" },
		history: { replaceState() {} },
		document: { getElementById: element, createElement: element, createElementNS: element, addEventListener() {}, hidden: false, body: { dataset: {} } },
		AbortSignal: { timeout() {} },
		setTimeout() {},
		fetch: async (_, { headers }) => {
			const ok = headers.Authorization === "Bearer good";
			sent.push(headers.Authorization);
			return { ok, status: ok ? 200 : 401, json: async () => answer };
		},
	});
	for (let i = 0; i < 20; i++)
		await turn();
	return answer.up ? texts : { kept: stored.token, asked: sent.includes("Bearer good") };
}

// What the page gets when a session has ended before it was opened.
const ended = {
	up: true, exporter: "1", time_ms: 1000, age_ms: 0, viewer: "all", faults: [], devices: [], devices_now: [],
	tenants: [], accounts: [], shares: [], sessions: [], by_user: [], by_session: [], times_ms: [], series: [],
	service: { version: "1", pid: 1, uptime_seconds: 1 },
	timeline: [{ begin_ms: 1, length_ms: 1000, rows: [{ session: 7, program: "heat", uid: 1, device: "cuda:0", busy: 500 }] }],
};

(async () => {
	assert.deepStrictEqual(await open("", "good"), { kept: "good", asked: true });
	assert.deepStrictEqual(await open("#token=good", ""), { kept: "good", asked: true });
	assert.deepStrictEqual(await open("#token=bad", "good"), { kept: "good", asked: true });
	assert.deepStrictEqual(await open("#token=bad", ""), { kept: "", asked: false });
	assert.deepStrictEqual(await open("#token=%zz", "good"), { kept: "good", asked: true });
	const texts = await open("", "good", ended);
	assert(texts.includes("heat #7 on cuda:0, ended: 500.0\u00a0ms of the last minute"));
	assert(!texts.includes("No figures.")); // the whole page was drawn
})();
