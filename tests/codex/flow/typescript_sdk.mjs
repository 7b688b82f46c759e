// A client of `codexgate mcp` over the official SDK: PROGRAM TOKEN=ANSWER...
//
// Calls the tool once for each token, and prints one JSON object. ANSWER is what the person does:
// approve, reject, decline, cancel; `error` answers with an error. The first, `nobody`, is a client
// that declares no elicitation at all.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema, ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";

const [program, ...rest] = process.argv.slice(2);
const pairs = rest.map((pair) => pair.split("="));
// Longer than what counts as a slip of the keys.
const TO_READ = 1600;

const connect = async (capabilities, prepare = () => {}) => {
  const client = new Client({ name: "typescript-sdk", version: "1" }, { capabilities });
  prepare(client);
  const transport = new StdioClientTransport({ command: program, args: ["mcp"], env: process.env });
  await client.connect(transport);
  return client;
};

const call = async (client, token) => {
  const result = await client.callTool({ name: "codexgate_approve", arguments: { token } });
  return { text: result.content[0].text, is_error: result.isError };
};

const results = [];
const nobody = await connect({});
results.push(await call(nobody, pairs[0][0]));
await nobody.close();

let answer;
let asked = 0;
const person = await connect({ elicitation: { form: {} } }, (client) => {
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    asked += 1;
    const choices = params.requestedSchema.properties.decision.enum;
    if (choices.join() !== "Reject,Approve") throw new Error(`another form: ${choices}`);
    if (answer === "error") throw new McpError(ErrorCode.InternalError, "the window was closed");
    if (answer === "decline" || answer === "cancel") return { action: answer };
    await new Promise((done) => setTimeout(done, TO_READ));
    const decision = answer === "approve" ? "Approve" : "Reject";
    return { action: "accept", content: { decision } };
  });
});
const tools = (await person.listTools()).tools.map((tool) => tool.name);
let unknown = "";
try {
  await person.callTool({ name: "codexgate_run", arguments: { token: pairs[0][0] } });
} catch (error) {
  unknown = error.message;
}
for (const [token, does] of pairs.slice(1)) {
  answer = does;
  results.push(await call(person, token));
}
const server = person.getServerVersion().name;
await person.close();
console.log(JSON.stringify({ server, tools, unknown_tool: unknown, asked, results }));
