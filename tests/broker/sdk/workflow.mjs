// The workflow of a client, by the official SDK: it holds each result against the tool's own output
// schema and throws where it does not fit.
//
// node workflow.mjs OUTSIDE COMMAND ARG…: OUTSIDE is a folder that no sandbox lets be written.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import process from "node:process";

const [outside, command, ...args] = process.argv.slice(2);
const limit = 60_000;
const transport = new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
const client = new Client({ name: "workflow", version: "1.0.0" });
await client.connect(transport);
const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name).sort(), ["codex", "codex_check", "codex_reply", "codex_session"]);
for (const tool of tools) {
  assert.ok(tool.outputSchema && tool.description && tool.annotations?.title, tool.name);
}

async function call(name, input) {
  const result = await client.callTool({ name, arguments: input }, undefined, { timeout: limit });
  assert.equal(result.isError ?? false, false, JSON.stringify(result.structuredContent));
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

async function refused(name, input) {
  const result = await client.callTool({ name, arguments: input });
  assert.equal(result.isError, true);
  return result.content[0].text;
}

/** Polls as codex-mcp's clients do, until the session has another status than `running`. */
async function poll(sessionId) {
  const end = Date.now() + limit;
  const events = [];
  for (;;) {
    const body = await call("codex_check", { action: "poll", sessionId, maxEvents: 50, responseMode: "full" });
    events.push(...body.events);
    if (body.status !== "running" && body.events.length === 0) return { ...body, events };
    assert.ok(Date.now() < end, `still ${body.status}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

const escalated = (run) => ({ run, sandbox_permissions: "require_escalated", justification: "for the test" });
const file = `${outside}/made`;
const start = { approvalPolicy: "on-request", sandbox: "workspace-write" };

// Start, poll, approve, poll.
const { sessionId } = await call("codex", { ...start, prompt: JSON.stringify([escalated(`touch ${file}`), { say: "made it" }]) });
let body = await poll(sessionId);
assert.equal(body.status, "waiting_approval");
const [action] = body.actions;
assert.equal(action.kind, "command");
// Long lines of a card are wrapped, the rest of one is indented.
assert.ok(action.card.replaceAll("\n         ", "").includes(`touch ${file}`), action.card);
assert.equal(action.params.itemId, action.itemId);
assert.equal(existsSync(file), false, "nothing ran before the approval");
await call("codex_check", { action: "respond_permission", sessionId, requestId: action.requestId, decision: "accept" });
body = await poll(sessionId);
assert.equal(body.status, "idle");
assert.equal(body.result.output, "made it");
assert.ok(existsSync(file), "what was approved ran");
const late = await refused("codex_check", { action: "respond_permission", sessionId, requestId: action.requestId, decision: "accept" });
assert.equal(late, "Error [REQUEST_NOT_FOUND]: answered (accept)");

// Reply, poll.
await call("codex_reply", { sessionId, prompt: "and another word" });
body = await poll(sessionId);
assert.equal(body.result.output, "and another word");

// Fork: both go on.
const fork = await call("codex_session", { action: "fork", sessionId });
assert.notEqual(fork.sessionId, sessionId);
for (const [id, prompt] of [[fork.sessionId, "in the fork"], [sessionId, "in the source"]]) {
  await call("codex_reply", { sessionId: id, prompt });
  assert.equal((await poll(id)).result.output, prompt);
}

// Interrupt: what waits is taken back.
await call("codex_reply", { sessionId, prompt: JSON.stringify([escalated("touch never"), { say: "no" }]) });
body = await poll(sessionId);
assert.equal(body.status, "waiting_approval");
const open = body.actions[0].requestId;
await call("codex_session", { action: "interrupt", sessionId });
body = await poll(sessionId);
assert.equal(body.status, "idle");
assert.equal(body.result.status, "interrupted");
assert.match(await refused("codex_check", { action: "respond_permission", sessionId, requestId: open, decision: "accept" }), /\[REQUEST_NOT_FOUND\]/);

// Cancel.
for (const id of [sessionId, fork.sessionId]) {
  await call("codex_session", { action: "cancel", sessionId: id });
}
const listed = await call("codex_session", { action: "list" });
assert.ok(listed.sessions.every((session) => session.status === "cancelled"));
assert.match(await refused("codex_reply", { sessionId, prompt: "x" }), /\[CANCELLED\]/);

// The resources read, and an unknown tool is an error of the protocol or of the tool.
const { resources } = await client.listResources();
assert.equal(resources.length, 6);
for (const { uri } of resources) {
  const read = await client.readResource({ uri });
  assert.ok(read.contents[0].text.length > 0, uri);
}
await client.close();
process.stdout.write("the workflow went through\n");
