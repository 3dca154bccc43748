// node page.js PAGE: opens the page's script, with a document that does nothing, under links with tokens.
// A link's token replaces the kept one after a good answer only; one that cannot be read changes nothing.
const assert = require("assert");
const fs = require("fs");
const vm = require("vm");

const script = fs.readFileSync(process.argv[2], "utf8");

// An element of which every member is a function and an element.
function anything() {
	return new Proxy(function () {}, {
		get: (_, key) => key === Symbol.toPrimitive ? () => "" : anything(),
		set: () => true,
		apply: () => anything(),
	});
}

async function open(hash, kept) {
	const sent = [];
	const stored = { token: kept };
	const turn = () => new Promise((resolve) => setImmediate(resolve));
	vm.runInNewContext(script, {
		sessionStorage: { getItem: (key) => stored[key], setItem: (key, value) => { stored[key] = value; } },
		location: { hash, pathname: "/" },
		history: { replaceState() {} },
		document: { getElementById: anything, createElement: anything, createElementNS: anything, addEventListener() {}, hidden: false },
		AbortSignal: { timeout() {} },
		setTimeout() {},
		fetch: async (_, { headers }) => {
			const ok = headers.Authorization === "Bearer good";
			sent.push(headers.Authorization);
			return { ok, status: ok ? 200 : 401, json: async () => ({}) };
		},
	});
	for (let i = 0; i < 20; i++)
		await turn();
	return { kept: stored.token, asked: sent.includes("Bearer good") };
}

(async () => {
	assert.deepStrictEqual(await open("", "good"), { kept: "good", asked: true });
	assert.deepStrictEqual(await open("#token=good", ""), { kept: "good", asked: true });
	assert.deepStrictEqual(await open("#token=bad", "good"), { kept: "good", asked: true });
	assert.deepStrictEqual(await open("#token=bad", ""), { kept: "", asked: false });
	assert.deepStrictEqual(await open("#token=%zz", "good"), { kept: "good", asked: true });
})();
