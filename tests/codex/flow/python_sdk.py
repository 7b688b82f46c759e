"""A client of `codexgate mcp` over the official SDK: PROGRAM TOKEN=ANSWER...

Calls the tool once for each token, and prints one JSON object. ANSWER is what the person does:
approve, reject, decline, cancel; `error` answers with an error. The first, `nobody`, is a client
that declares no elicitation at all.
"""

import asyncio
import json
import os
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitResult, ErrorData

PROGRAM, *PAIRS = sys.argv[1:]
# Longer than what counts as a slip of the keys.
TO_READ = 1.6


class Person:
    answer = None
    asked = 0

    async def elicit(self, _context, params):
        self.asked += 1
        assert params.requested_schema["properties"]["decision"]["enum"] == ["Reject", "Approve"]
        if self.answer == "error":
            return ErrorData(code=-32603, message="the window was closed")
        if self.answer in ("decline", "cancel"):
            return ElicitResult(action=self.answer)
        await asyncio.sleep(TO_READ)
        return ElicitResult(action="accept", content={"decision": self.answer.capitalize()})


async def call(client, token):
    result = await client.call_tool("codexgate_approve", {"token": token})
    return {"text": result.content[0].text, "is_error": result.is_error}


async def main():
    server = StdioServerParameters(command=PROGRAM, args=["mcp"], env=dict(os.environ))
    pairs = [pair.split("=") for pair in PAIRS]
    async with Client(server) as client:
        results = [await call(client, pairs[0][0])]
    person = Person()
    async with Client(server, elicitation_callback=person.elicit) as client:
        tools = (await client.list_tools()).tools
        try:
            await client.call_tool("codexgate_run", {"token": pairs[0][0]})
            unknown = ""
        except MCPError as error:
            unknown = str(error)
        for token, person.answer in pairs[1:]:
            results.append(await call(client, token))
        print(json.dumps({
            "server": client.server_info.name,
            "tools": [tool.name for tool in tools],
            "unknown_tool": unknown,
            "asked": person.asked,
            "results": results,
        }))


asyncio.run(main())
