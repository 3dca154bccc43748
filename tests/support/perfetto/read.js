// read.js PROCESSOR FILE... reads timelines with Perfetto's trace processor in the folder PROCESSOR and prints what it has found in each.
// Exit status 1: the processor refuses a file, or counts an error or lost data in it.
'use strict';

const fs = require('fs');
const path = require('path');

// Numbers of Perfetto's protos/perfetto/trace_processor/trace_processor.proto.
const MESSAGE = 1, SEQUENCE = 1, FATAL = 5, METHOD = 2, INVALID = 4;
const APPEND = 1, FINALIZE = 2, QUERY = 3, STATUS = 10, RESET = 11;
const APPENDED = 201, ROWS = 203, STATE = 210, FINALIZED = 212;

function varint(value) {
	const bytes = [];
	for (; value > 127; value = Math.floor(value / 128))
		bytes.push((value % 128) | 128);
	return Buffer.from([...bytes, value]);
}

function number(field, value) {
	return Buffer.concat([varint(field * 8), varint(value)]);
}

function bytes(field, value) {
	const content = Buffer.from(value);
	return Buffer.concat([varint(field * 8 + 2), varint(content.length), content]);
}

// A reader of varints and fields.
class Reader {
	constructor(data) {
		this.data = Buffer.from(data);
		this.at = 0;
	}

	atEnd() {
		return this.at >= this.data.length;
	}

	varint() {
		let value = 0n;
		for (let shift = 0n; ; shift += 7n) {
			const byte = this.data[this.at++];
			value |= BigInt(byte & 127) << shift;
			if (byte < 128)
				return Number(BigInt.asIntN(64, value));
		}
	}

	part(length) {
		this.at += length;
		return this.data.subarray(this.at - length, this.at);
	}

	value(kind) {
		if (kind === 0)
			return this.varint();
		return this.part(kind === 2 ? this.varint() : kind === 1 ? 8 : 4);
	}
}

// The fields of a message: number => list of values.
function fields(data) {
	const found = new Map(), reader = new Reader(data);
	while (!reader.atEnd()) {
		const tag = reader.varint();
		const field = Math.floor(tag / 8), value = reader.value(tag % 8);
		found.set(field, [...(found.get(field) ?? []), value]);
	}
	return found;
}

// The rows of a query, each an array. A batch has the kind of each cell, and the values of each kind in a row.
function rows(answers) {
	const cells = [];
	let columns = 0;
	for (const answer of answers) {
		const result = fields(answer);
		if (result.has(2))
			throw new Error(result.get(2)[0].toString());
		columns += (result.get(1) ?? []).length;
		for (const batch of (result.get(3) ?? []).map(fields)) {
			const numbers = new Reader((batch.get(2) ?? [''])[0]);
			const words = (batch.get(5) ?? [''])[0].toString().split('\0');
			for (const kind of (batch.get(1) ?? [[]])[0])
				cells.push(kind === 2 ? numbers.varint() : kind === 4 ? words.shift() : null);
		}
	}
	return Array.from({ length: cells.length / columns }, (_, row) => cells.slice(row * columns, (row + 1) * columns));
}

// Starts the processor as the worker of a page that it believes to be. It reads its code by name from the folder.
function start(folder) {
	const port = { answers: [] };
	const worker = { location: { href: 'file:///' } };
	port.postMessage = (data) => port.answers.push(Buffer.from(data));
	const names = {
		self: worker,
		process: undefined,
		WorkerGlobalScope: Object,
		importScripts: () => undefined,
		console: { ...console, warn: () => undefined },
		XMLHttpRequest: class {
			open(method, name) {
				this.name = name;
			}
			send() {
				this.response = new Uint8Array(fs.readFileSync(path.join(folder, path.basename(this.name)))).buffer;
			}
		},
	};
	const code = fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8');
	new Function(...Object.keys(names), code)(...Object.values(names));
	worker.onmessage({ data: port });
	return port;
}

class Processor {
	constructor(folder) {
		this.port = start(folder);
		this.sequence = 0;
	}

	// Sends one request; returns the values of the field `answer`.
	request(method, answer, ...parts) {
		this.port.answers = [];
		const message = Buffer.concat([number(SEQUENCE, ++this.sequence), number(METHOD, method), ...parts]);
		this.port.onmessage({ data: new Uint8Array(bytes(MESSAGE, message)) });
		const answers = (fields(Buffer.concat(this.port.answers)).get(MESSAGE) ?? []).map(fields);
		for (const one of answers)
			if (one.has(FATAL) || one.has(INVALID))
				throw new Error(`request ${method}: ${one.get(FATAL)?.[0] ?? 'not known'}`);
		return answers.flatMap((one) => one.get(answer) ?? []);
	}

	query(text) {
		return rows(this.request(QUERY, ROWS, bytes(103, bytes(1, text))));
	}

	// The errors that it reports itself, and those that it has counted.
	read(file) {
		this.request(RESET, 0);
		const errors = [];
		for (const [field, answers] of [
			[2, this.request(APPEND, APPENDED, bytes(101, fs.readFileSync(file)))],
			[1, this.request(FINALIZE, FINALIZED)],
		])
			errors.push(...answers.flatMap((answer) => fields(answer).get(field) ?? []).map(String));
		if (errors.length > 0)
			return errors;
		const counted = this.query("select name, value from stats where severity in ('error', 'data_loss') and value > 0");
		return counted.map(([name, value]) => `${name}: ${value}`);
	}
}

const COUNTS = 'select (select count(*) from slice), (select count(*) from flow), (select count(*) from process where name is not null)';

function readAll(processor, files) {
	let status = 0;
	for (const file of files) {
		const errors = processor.read(file);
		const name = path.basename(file);
		if (errors.length > 0) {
			console.log(`${name}: refused: ${errors.join('; ')}`);
			status = 1;
			continue;
		}
		const [slices, arrows, processes] = processor.query(COUNTS)[0];
		console.log(`${name}: ${slices} slices and instants, ${arrows} arrows, ${processes} processes`);
	}
	return status;
}

const [folder, ...files] = process.argv.slice(2);
const processor = new Processor(folder);
// It initialises itself when this code has returned; a request before that ends it.
setImmediate(() => {
	console.log(fields(processor.request(STATUS, STATE)[0]).get(2)[0].toString());
	process.exit(readAll(processor, files));
});
