"use strict";
// Everything that comes from the service is text: nodes are made one by one, and no markup is parsed.
(() => {
	const byId = (id) => document.getElementById(id);
	const svgSpace = "http://www.w3.org/2000/svg";
	let token = sessionStorage.getItem("token") || "";
	// A link may carry it behind the "#", which no server is sent. It replaces the token after a good answer only.
	let offered = "";
	if (location.hash.startsWith("#token=")) {
		try {
			offered = decodeURIComponent(location.hash.slice(7));
		} catch (error) {
			offered = "";
		}
		history.replaceState(null, "", location.pathname);
	}
	let paused = false;
	let latest = null;
	let hour = null;
	const colours = new Map();

	function fill(node, attributes, children) {
		for (const [name, value] of Object.entries(attributes || {}))
			if (value !== null && value !== undefined)
				node.setAttribute(name, String(value));
		for (const child of children)
			if (child !== null && child !== undefined)
				node.append(child);
		return node;
	}
	const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
	const svg = (name, attributes, ...children) => fill(document.createElementNS(svgSpace, name), attributes, children);
	const show = (id, ...nodes) => byId(id).replaceChildren(...nodes);
	const empty = (text) => el("p", { class: "empty" }, text);

	// Users keep their colours while the page is open.
	function colour(uid) {
		if (!colours.has(uid))
			colours.set(uid, colours.size % 8);
		return "f" + colours.get(uid);
	}
	const gap = "\u00a0"; // No line breaks between a number and its unit.
	const percent = (part) => part > 0 && part < 0.01 ? "<1" + gap + "%" : Math.round(part * 100) + gap + "%";
	function bytes(count) {
		const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
		let unit = 0;
		while (count >= 1023.95 && unit < units.length - 1) {
			count /= 1024;
			unit++;
		}
		return (unit ? count.toFixed(1) : Math.round(count)) + gap + units[unit];
	}
	function span(seconds) {
		if (seconds < 0.001) return (seconds * 1e6).toFixed(0) + gap + "µs";
		if (seconds < 1) return (seconds * 1e3).toFixed(1) + gap + "ms";
		if (seconds < 60) return seconds.toFixed(1) + gap + "s";
		if (seconds < 3600) return Math.floor(seconds / 60) + gap + "min " + Math.floor(seconds % 60) + gap + "s";
		if (seconds < 86400) return Math.floor(seconds / 3600) + gap + "h " + Math.floor(seconds % 3600 / 60) + gap + "min";
		return Math.floor(seconds / 86400) + gap + "d " + Math.floor(seconds % 86400 / 3600) + gap + "h";
	}
	function count(number) {
		if (number < 10000) return String(number);
		if (number < 1e7) return (number / 1e3).toFixed(1) + " k";
		if (number < 1e10) return (number / 1e6).toFixed(1) + " M";
		return (number / 1e9).toFixed(1) + " G";
	}
	const plural = (number, word) => number + " " + word + (number === 1 ? "" : "s");
	const at = (ms) => new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
	const person = (row) => el("span", { class: "who person" }, el("span", { class: "dot " + colour(row.uid), "aria-hidden": "true" }), row.user || String(row.uid));
	// Lines break between the parts of such a text only.
	const pieces = (...parts) => parts.filter((part) => part).flatMap((part, i) => [i ? ", " : null, el("span", { class: "piece" }, part)]);
	const userId = (row) => row.user === String(row.uid) ? null : el("span", { class: "id" }, " uid " + row.uid);

	// parts: [[part of 1, colour class]...]; marks: [part of 1...]
	function bar(label, parts, marks) {
		const sum = parts.reduce((all, [part]) => all + part, 0);
		const node = el("div", { class: "bar", role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100,
			"aria-valuenow": Math.round(Math.min(sum, 1) * 100) });
		let left = 1;
		for (const [part, name] of parts) {
			const piece = el("i", { class: name });
			piece.style.width = Math.min(part, left) * 100 + "%";
			left -= Math.min(part, left);
			node.append(piece);
		}
		for (const mark of marks || []) {
			const line = el("b");
			line.style.left = "calc(" + Math.min(mark, 1) * 100 + "% - 1px)";
			node.append(line);
		}
		return node;
	}
	const barLine = (label, parts, text, marks) => el("div", { class: "barline" }, bar(label, parts, marks), el("span", {}, text));

	// The samples of the last two seconds: device time of each session on each device, as a part of the time.
	function recent(data) {
		const rows = new Map();
		let length = 0;
		for (let i = data.timeline.length - 1; i >= 0 && length < 1900; i--) {
			const sample = data.timeline[i];
			length += sample.length_ms;
			for (const row of sample.rows) {
				const key = row.session + " " + row.device;
				const kept = rows.get(key) || { session: row.session, device: row.device, time: 0 };
				kept.time += row.busy / 1000 * sample.length_ms;
				rows.set(key, kept);
			}
		}
		return [...rows.values()].map((row) => ({ ...row, part: length ? row.time / length : 0 }));
	}

	function showHealth(data) {
		const node = byId("health");
		node.className = "health " + (data.level || "good");
		node.replaceChildren(el("span", {}, el("strong", {}, data.title), " " + data.text));
	}
	function health(data) {
		if (!data.up)
			return { level: "bad", title: "No answer.", text: data.problem };
		const service = data.service;
		const bad = data.devices.filter((device) => !device.available).length;
		const failing = data.tenants.filter((tenant) => tenant.state === "not answering").length;
		const text = plural(data.devices.length, "device") + ", " + plural(data.sessions.length, "session") + ", " +
			plural(new Set(data.tenants.map((tenant) => tenant.uid)).size, "user") + ", up " + span(service.uptime_seconds) + ".";
		if (data.age_ms > 20000) return { level: "bad", title: "Old figures,", text: "from " + span(data.age_ms / 1000) + " ago. " + text };
		if (bad) return { level: "bad", title: plural(bad, "device") + " out of use.", text };
		if (failing) return { level: "bad", title: plural(failing, "engine") + " not answering.", text };
		if (service.stopping) return { level: "warn", title: "Stopping.", text };
		if (service.drained) return { level: "warn", title: "Drained: no new sessions.", text };
		return { level: "good", title: "Healthy.", text };
	}

	function figure(name, value) {
		return value === null || value === undefined || value === "" ? null : el("div", {}, el("dt", {}, name), el("dd", {}, value));
	}
	function device(data, facts, now) {
		const parts = new Map();
		const users = new Map(data.sessions.map((session) => [session.id, session]));
		for (const row of now.filter((row) => row.device === facts.device)) {
			const session = users.get(row.session);
			const uid = session ? session.uid : -1;
			parts.set(uid, (parts.get(uid) || 0) + row.part);
		}
		const present = (data.devices_now || []).find((row) => row.backend + ":" + row.backend_index === facts.device);
		const sensors = present && present.sensors && !present.sensors.unavailable ? present.sensors : null;
		const total = [...parts.values()].reduce((all, part) => all + part, 0);
		const busy = present ? present.busy_permille / 1000 : Math.min(total, 1);
		// The device's own figure is of the last second. The users' parts are of two, and kernels may run beside each other.
		const drawn = total ? [...parts].map(([uid, part]) => [part * busy / total, colour(uid)]) : [[busy, "some"]];
		const used = (data.by_user || []).filter((row) => row.backend + ":" + row.backend_index === facts.device);
		const sum = (name) => used.reduce((all, row) => all + row[name], 0);
		return el("article", { class: "device" },
			el("h3", {}, facts.name),
			el("p", { class: "sub" }, [facts.device, facts.type, facts.bus_id, facts.mode].filter(Boolean).join(" · ")),
			facts.available ? barLine("busy", drawn, percent(busy))
				: el("p", { class: "chip bad" }, facts.unavailable_reason || "cannot be used"),
			el("dl", { class: "figures" },
				figure("memory", facts.memory_bytes ? bytes(facts.memory_bytes) : null),
				present ? figure("held", bytes(present.held_bytes)) : null,
				sensors && sensors.used_bytes ? figure("used, free", bytes(sensors.used_bytes) + ", " + bytes(sensors.free_bytes)) : null,
				sensors && sensors.temperature_celsius ? figure("temperature", sensors.temperature_celsius + " °C") : null,
				sensors && sensors.power_milliwatts ? figure("power", Math.round(sensors.power_milliwatts / 1000) + " W") : null,
				sensors && sensors.clock_mhz ? figure("clock", sensors.clock_mhz + " MHz") : null,
				sensors && sensors.sm_occupancy_permille !== null && sensors.sm_occupancy_permille !== undefined ? figure("SM occupancy", Math.round(sensors.sm_occupancy_permille / 10) + " %") : null,
				figure("commands", count(sum("commands"))),
				figure("device time", span(sum("device_ns") / 1e9)),
				figure("copied in", bytes(sum("bytes_to_device"))),
				figure("copied out", bytes(sum("bytes_to_host"))),
				facts.disputed ? figure("claims", "engines disagree") : null));
	}

	// One line for each user and device: what is used, the share that is granted as a mark.
	function usersTable(data, now) {
		const rows = new Map();
		const line = (uid, user, device) => {
			const key = uid + " " + device;
			if (!rows.has(key))
				rows.set(key, { uid, user, device, part: 0, share: null, total: null });
			return rows.get(key);
		};
		for (const share of data.shares)
			line(share.uid, share.user, share.backend + ":" + share.backend_index).share = share;
		for (const row of data.by_user)
			if (row.backend !== "unknown")
				line(row.uid, row.user, row.backend + ":" + row.backend_index).total = row;
		const sessions = new Map(data.sessions.map((session) => [session.id, session]));
		for (const row of now) {
			const session = sessions.get(row.session);
			if (session)
				line(session.uid, session.user, row.device).part += row.part;
		}
		const list = [...rows.values()].sort((a, b) => b.part - a.part || (b.total ? b.total.device_ns : 0) - (a.total ? a.total.device_ns : 0)).slice(0, 60);
		if (!list.length)
			return empty("Nobody has used a device yet.");
		return table(["User", "Device", "In use now", "Share", "Wait p50, p99", "Device time"], [0, 0, 0, 1, 1, 1], list.map((row) => [
			["full", null, person(row), userId(row)],
			["text", "on", row.device],
			["wide", null, barLine("used by " + row.user, [[row.part, colour(row.uid)]], percent(Math.min(row.part, 1)),
				row.share ? [row.share.granted_permille / 1000] : [])],
			["num pieces", "share", ...(row.share ? [percent(row.share.granted_permille / 1000) + " of ", el("span", { class: "piece" }, row.share.min_percent + "–" + row.share.max_percent + gap + "%")] : ["–"])],
			["num", "wait", row.total && row.total.delays ? span(row.total.delay_p50_ns / 1e9) + ", " + span(row.total.delay_p99_ns / 1e9) : "–"],
			["num", "device time", row.total ? span(row.total.device_ns / 1e9) : "–"],
		]));
	}

	// rows: cells of [class, label on small screens, content...]
	function table(heads, numeric, rows) {
		return el("table", {},
			el("thead", {}, el("tr", {}, ...heads.map((head, i) => el("th", { scope: "col", class: numeric[i] ? "num" : null }, head)))),
			el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map(([name, label, ...content]) =>
				el("td", { class: name, "data-label": label }, ...content))))));
	}

	// The same words as those of syclctl (client/ask/names.c).
	function stateOf(session) {
		const present = session.present, waits = { none: "waiting", share: "limited: share", compiler: "waiting: build" };
		if (session.state === "paused" && session.paused_by)
			return "paused by " + (session.paused_by.user || session.paused_by.uid);
		if (session.state !== "open" || !present)
			return session.state;
		if (present.activity === "waiting")
			return waits[present.waits_for] || "waiting: " + present.waits_for;
		return present.activity + (present.spilled_bytes ? ", spilled" : "");
	}
	function chip(session) {
		const state = stateOf(session);
		return el("span", { class: "chip " + (/^running/.test(state) ? "good" : /^(paused|limited|waiting: memory|ended)/.test(state) ? "warn" : "soft") }, state);
	}
	// What it runs now, and where.
	function doing(session) {
		const present = session.present;
		if (!present)
			return "–";
		const where = present.backend ? " on " + present.backend + ":" + present.backend_index : "";
		return [present.running ? present.running + where + ", " + span(present.running_seconds) : null,
			present.queued ? present.queued + " queued" : null].filter((text) => text).join(", ") || "–";
	}
	function sessionsTable(data, now) {
		if (!data.sessions.length)
			return empty("No program is connected.");
		// What the engine says of the last second; else what the samples show.
		const part = (session) => session.present ? session.present.used_permille / 1000 : now.filter((row) => row.session === session.id).reduce((all, row) => all + row.part, 0);
		const rows = data.sessions.map((session) => ({ session, part: part(session) }))
			.sort((a, b) => b.part - a.part || a.session.id - b.session.id).slice(0, 200);
		return table(["Session", "User", "State", "Now", "In use now", "Wait p50, p99", "Memory", "Groups", "Device time", "Age"], [0, 0, 0, 0, 0, 1, 1, 1, 1, 1],
			rows.map(({ session, part }) => [
				["text full", null, el("span", { class: "who" }, session.command || "?"), el("span", { class: "id" }, " #" + session.id + " pid " + session.pid)],
				["text", null, person(session), userId(session)],
				["", null, chip(session), session.class !== "normal" ? el("span", { class: "id" }, " " + session.class) : null],
				["text full doing", null, doing(session)],
				["wide slim", null, barLine("used by session " + session.id, [[part, colour(session.uid)]], percent(Math.min(part, 1)))],
				["num pieces", "wait", ...(session.delays ? pieces(span(session.delay_p50_ns / 1e9), span(session.delay_p99_ns / 1e9)) : ["–"])],
				["num pieces", "memory", ...pieces(bytes(session.bytes_held), session.present && session.present.spilled_bytes ? bytes(session.present.spilled_bytes) + " in the host" : null)],
				["num pieces", "groups", ...pieces(count(session.command_groups_completed), session.command_groups_failed ? count(session.command_groups_failed) + " failed" : null)],
				["num", "device time", span(session.device_ns / 1e9)],
				["num", "age", span(session.age_seconds)],
			]));
	}

	// Strips of the last minute: the height of a piece is the part of the time that the session has used.
	function timeline(data) {
		const end = data.timeline.length ? data.timeline.at(-1).begin_ms + data.timeline.at(-1).length_ms : 0;
		const samples = data.timeline.filter((sample) => sample.begin_ms + sample.length_ms > end - 60000);
		const lines = new Map();
		for (const sample of samples)
			for (const row of sample.rows) {
				const key = row.session + " " + row.device;
				if (!lines.has(key))
					lines.set(key, { session: row.session, uid: row.uid, device: row.device, pieces: [], time: 0 });
				// A session that has ended has its program's name in its rows only.
				lines.get(key).program = row.program || lines.get(key).program;
				lines.get(key).pieces.push([sample, row.busy / 1000]);
				lines.get(key).time += row.busy / 1000 * sample.length_ms / 1000;
			}
		if (!lines.size)
			return [empty("Nothing has run in the last minute.")];
		const people = new Map([...data.accounts, ...data.tenants].map((row) => [row.uid, row]));
		const sessions = new Map(data.sessions.map((session) => [session.id, session]));
		const strips = [...lines.values()].sort((a, b) => b.time - a.time).slice(0, 24).map((line) => {
			const session = sessions.get(line.session);
			const program = session ? session.command : line.program;
			const name = (program ? program + " " : "") + "#" + line.session + " on " + line.device + (session ? "" : ", ended");
			const drawing = svg("svg", { viewBox: "0 0 600 24", preserveAspectRatio: "none", height: 24, role: "img",
				"aria-label": name + ": " + span(line.time) + " of the last minute" });
			drawing.append(svg("rect", { class: "idle", x: 0, y: 23, width: 600, height: 1 }));
			for (const [sample, part] of line.pieces) {
				const left = Math.max(0, 600 - (end - sample.begin_ms) / 100), height = Math.max(Math.min(part, 1) * 24, 1.5);
				drawing.append(svg("rect", { class: colour(line.uid), x: left, y: 24 - height,
					width: Math.max(sample.length_ms / 100 - 0.6, 0.6), height }));
			}
			return el("div", { class: "strip" }, el("p", { title: name }, person(people.get(line.uid) || { uid: line.uid }), " " + name), drawing);
		});
		return [...strips, el("div", { class: "strip" }, el("p"), el("div", { class: "axis" }, el("span", {}, "60 s ago"), el("span", {}, "30 s"), el("span", {}, "now")))];
	}

	// Stacked areas, one plot for each device.
	function plots() {
		if (!hour || hour.series.length === 0)
			return [empty(hour ? "Nothing has run in the last hour." : "…")];
		const devices = [...new Set(hour.series.map((series) => series.device))].sort();
		// As long as there is less than an hour, what there is fills the plot.
		const times = hour.times_ms, end = times.at(-1);
		const begin = Math.max(end - 3600000, Math.min(times[0] - 5000, end - 300000)), steps = (end - begin) / 5000;
		return devices.map((name) => {
			const list = hour.series.filter((series) => series.device === name).map((series) => ({ ...series,
				mean: series.busy.reduce((all, value) => all + (value || 0), 0) / 1000 / Math.max(series.busy.filter((value) => value !== null).length, 1) })).sort((a, b) => b.mean - a.mean);
			const drawing = svg("svg", { viewBox: "0 0 " + steps + " 100", preserveAspectRatio: "none", role: "img",
				"aria-label": "Use of " + name + " in the last hour: " + list.map((series) => series.user + " " + percent(series.mean)).join(", ") });
			for (const y of [0, 25, 50, 75])
				drawing.append(svg("line", { class: "rule", x1: 0, x2: steps, y1: y, y2: y }));
			// Kernels may run beside each other. A little more than 100 % comes from the times of the samples.
			const peak = Math.max(...times.map((time, i) => list.reduce((all, series) => all + (series.busy[i] || 0) / 10, 0)));
			const most = peak > 110 ? Math.ceil(peak / 50) * 50 : 100;
			const below = times.map(() => 0);
			for (const series of list) {
				// Gaps end an area.
				let run = [];
				const finish = () => {
					if (run.length)
						drawing.append(svg("path", { class: colour(series.uid), d: "M" + run.map(([x, , top]) => x + "," + top).join("L") + "L" +
							run.slice().reverse().map(([x, bottom]) => x + "," + bottom).join("L") + "Z" }));
					run = [];
				};
				times.forEach((time, i) => {
					const left = (time - begin) / 5000 - 1;
					if (series.busy[i] === null || left < -1)
						return finish();
					const low = below[i], high = Math.min(low + series.busy[i] * 10 / most, 100);
					below[i] = high;
					run.push([left.toFixed(1), (100 - low).toFixed(1), (100 - high).toFixed(1)], [(left + 1).toFixed(1), (100 - low).toFixed(1), (100 - high).toFixed(1)]);
				});
				finish();
			}
			return el("figure", {},
				el("figcaption", {}, el("span", { class: "who" }, name), ...list.slice(0, 12).map((series) =>
					el("span", {}, el("span", { class: "dot " + colour(series.uid), "aria-hidden": "true" }), series.user + " " + percent(series.mean)))),
				el("div", { class: "plot" }, el("div", { class: "scale", "aria-hidden": "true" }, el("span", {}, most + gap + "%"), el("span", {}, String(most / 2)), el("span", {}, "0")), drawing,
					el("div", { class: "axis" }, ...[0, 1, 2, 3, 4].map((i) => el("span", {}, at(begin + i * (end - begin) / 4))))));
		});
	}

	function faults(data) {
		const list = data.faults || [];
		const items = list.map((fault) => el("li", {}, el("p", {}, person(fault), userId(fault), " " + new Date(fault.time_ms).toLocaleString()),
			el("p", {}, fault.text)));
		const seen = new Set();
		for (const tenant of data.tenants) {
			// "pid 5 of uid 7: offender ...": the same is the end of the last failure.
			const isListed = list.some((fault) => fault.uid === tenant.uid && tenant.last_failure && tenant.last_failure.endsWith(fault.text.replace(/^[^:]*: /, "")));
			if (!tenant.last_failure || isListed || seen.has(tenant.uid))
				continue;
			seen.add(tenant.uid);
			const account = data.accounts.find((row) => row.uid === tenant.uid);
			items.push(el("li", {}, el("p", {}, person(tenant), userId(tenant), account ? " " + plural(account.engines_failed, "engine") + " failed" : null),
				el("p", {}, tenant.last_failure)));
		}
		for (const row of data.by_user.filter((row) => row.faults > 0))
			items.push(el("li", {}, el("p", {}, person(row), " " + plural(row.faults, "fault") + (row.backend === "unknown" ? "" : " on " + row.backend + ":" + row.backend_index) + " came of one command that ran alone")));
		return items.length ? el("ul", { class: "faults" }, ...items) : empty("No fault, and no engine has failed since the service began.");
	}

	function note(data) {
		const texts = [];
		if (data.viewer === "nobody")
			texts.push("Over TCP without a token only the service itself is shown. Give the token above, or use the Unix socket.");
		else if (data.viewer === "user")
			texts.push("Only what belongs to uid " + data.viewer_uid + " is shown.");
		else if (data.up && data.service.filtered)
			texts.push("The exporter itself sees only its own user's sessions: it is not in the observers' group (sycld.conf(5)).");
		byId("note").hidden = !texts.length;
		byId("note").textContent = texts.join(" ");
	}

	function draw(data) {
		showHealth(health(data));
		note(data);
		if (!data.up)
			return;
		const now = recent(data);
		show("devices", ...(data.devices.length ? data.devices.map((facts) => device(data, facts, now)) : [empty("No engine runs that knows the devices: the next session looks for them.")]));
		show("users", usersTable(data, now));
		byId("session-count").textContent = data.sessions.length > 200 ? "200 of " + data.sessions.length : data.sessions.length ? String(data.sessions.length) : "";
		show("sessions", sessionsTable(data, now));
		show("timeline", ...timeline(data));
		show("history", ...plots());
		show("faults", faults(data));
		byId("foot").textContent = "sycld " + data.service.version + ", pid " + data.service.pid + ", since " + data.service.since + ". Figures of " +
			new Date(data.time_ms).toLocaleTimeString([], { hour12: false }) + ", claims of engines.";
		document.body.dataset.drawn = String(Number(document.body.dataset.drawn || 0) + 1);
	}

	async function load(path) {
		const used = offered || token;
		const answer = await fetch(path, { headers: used ? { Authorization: "Bearer " + used } : {}, cache: "no-store", signal: AbortSignal.timeout(8000) });
		if (offered && used === offered && answer.ok) {
			token = used;
			sessionStorage.setItem("token", token);
			offered = "";
		} else if (offered && used === offered && answer.status === 401 && token) {
			offered = "";
			return load(path);
		}
		if (answer.status === 401) {
			byId("authorise").open = true;
			throw new Error(used ? "The token is not the right one." : "A token is needed.");
		}
		if (!answer.ok)
			throw new Error("status " + answer.status);
		return answer.json();
	}
	let round = 0;
	async function step() {
		try {
			if (!paused && !document.hidden) {
				if (round++ % 10 === 0)
					hour = await load("history.json");
				latest = await load("status.json");
				draw(latest);
			}
		} catch (error) {
			round = 0;
			showHealth({ level: "bad", title: "No figures.", text: error.message });
		}
		setTimeout(step, 1000);
	}

	byId("pause").addEventListener("click", () => {
		paused = !paused;
		byId("pause").setAttribute("aria-pressed", String(paused));
		byId("pause").textContent = paused ? "Resume" : "Pause";
	});
	byId("token-form").addEventListener("submit", (event) => {
		event.preventDefault();
		token = byId("token").value.trim();
		offered = "";
		sessionStorage.setItem("token", token);
		byId("token").value = "";
		byId("authorise").open = false;
		round = 0;
	});
	step();
})();
