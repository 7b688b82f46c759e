#!/usr/bin/env python3
"""A `codex app-server` for tests: what it says comes from the recorded conversations, and it is
stricter than the real one about what it hears.

The text of a turn says what happens in it: `play 06-mcp-two-in-flight` plays the next turn of that
recording, a JSON list of steps plays those. Ids of threads and turns are put in place of the
recorded ones; how a call ends follows from the answer that it got, as in the recordings.

Every line from the client goes into the file $FAKE_CODEX_LOG as {"got": …}; what a client of the
real one must not do goes there as {"fault": …}, and a test fails on it: a wrong field, a wrong
order, a second answer, an answer to nobody, an answer that was not offered.
"""
import json
import os
import sys
import threading
import time
from pathlib import Path

RECORDED = Path(os.environ.get("FAKE_CODEX_RECORDED") or Path(__file__).resolve().parent.parent / "fixtures/broker")
LOG = os.environ.get("FAKE_CODEX_LOG")
VERSION = os.environ.get("FAKE_CODEX_VERSION", "0.171.0")
POLICIES = {"untrusted", "on-request", "never"}
SANDBOXES = {"read-only": "readOnly", "workspace-write": "workspaceWrite", "danger-full-access": "dangerFullAccess"}
OVERRIDES = {"cwd", "model", "approvalPolicy", "approvalsReviewer", "config", "baseInstructions", "developerInstructions",
             "modelProvider", "serviceTier", "personality", "ephemeral"}
TURN = {"threadId", "input", "cwd", "model", "effort", "summary", "approvalPolicy", "approvalsReviewer", "sandboxPolicy",
        "personality", "outputSchema", "clientUserMessageId"}

writing = threading.Lock()
state = threading.RLock()
heard = threading.Condition(state)


def log(entry):
    if LOG:
        with open(LOG, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def fault(text):
    log({"fault": text})


def send(message, raw=None):
    line = raw if raw is not None else json.dumps(message)
    with writing:
        try:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        except (BrokenPipeError, ValueError):
            os._exit(0)


def tell(method, params):
    send({"method": method, "params": params, "emittedAtMs": int(time.time() * 1000)})


def recording(name):
    lines = (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[1:]]


def recorded_result(name, method):
    """The answer that a recording has for the first call of a method."""
    wanted = None
    for line in recording(name):
        message = line.get("msg", {})
        if message.get("method") == method and line["dir"] == "c>s":
            wanted = message["id"]
        elif wanted is not None and message.get("id") == wanted and "result" in message:
            return message["result"]
    raise LookupError(method)


class Thread:
    def __init__(self, ident, policy):
        self.id = ident
        self.policy = policy
        self.turn = None
        self.turns = 0
        self.played = {}
        self.interrupted = False


class Server:
    def __init__(self):
        self.initialized = 0
        self.threads = {}
        self.asked = {}      # id as JSON text -> what was asked, until it is answered
        self.answers = {}    # the same -> its answer
        self.over = set()    # answered or withdrawn
        self.next_ask = 0
        self.made = 0

    # --- what comes in ------------------------------------------------------------------------

    def hear(self, line):
        try:
            message = json.loads(line)
        except ValueError:
            fault(f"no JSON: {line[:200]}")
            return
        log({"got": message})
        if not isinstance(message, dict):
            return fault("a line that is no object")
        if "method" in message and "id" in message:
            return self.request(message)
        if "method" in message:
            if message["method"] != "initialized" or self.initialized != 1:
                fault(f"notification {message['method']} out of order")
            self.initialized = 2
            return None
        return self.answer(message)

    def answer(self, message):
        key = json.dumps(message.get("id"))
        with state:
            if key in self.over:
                return fault(f"a second answer to {key}, or one after it was withdrawn")
            if key not in self.asked:
                return fault(f"an answer to {key}, which was never asked")
            ask = self.asked.pop(key)
            self.over.add(key)
            wrong = self.wrong_answer(ask, message)
            if wrong:
                fault(f"answer to {ask['method']} {key}: {wrong}: {json.dumps(message)[:400]}")
            self.answers[key] = message
            heard.notify_all()
        return None

    def wrong_answer(self, ask, message):
        if set(message) - {"jsonrpc"} not in ({"id", "result"}, {"id", "error"}):
            return "other members than id and result or error"
        method, params = ask["method"], ask["params"]
        if "error" in message:
            refusable = {"account/chatgptAuthTokens/refresh", "attestation/generate"}
            known = method.startswith(("item/", "mcpServer/", "account/", "attestation/", "applyPatch", "execCommand", "currentTime/"))
            return "an error" if known and method not in refusable and method not in ask.get("unknown", ()) else None
        result = message["result"]
        if method in ("item/commandExecution/requestApproval", "item/fileChange/requestApproval"):
            if set(result) != {"decision"}:
                return "must be a decision alone"
            decision = result["decision"]
            if decision in ("decline", "cancel"):
                return None
            listed = params.get("availableDecisions")
            if method.startswith("item/file"):
                return None if decision in ("accept", "acceptForSession") else "no decision of a file change"
            if listed is not None and decision not in listed:
                return "was not offered"
            return None
        if method == "mcpServer/elicitation/request":
            if set(result) != {"action", "content", "_meta"}:
                return "must have action, content and _meta"
            if result["action"] in ("decline", "cancel"):
                return None if result["content"] is None and result["_meta"] is None else "a refusal with content"
            if result["action"] != "accept" or not isinstance(result["content"], dict):
                return "no accept"
            offered = (params.get("_meta") or {}).get("persist") or []
            if result["_meta"] is not None and (result["_meta"] != {"persist": "session"} or "session" not in offered):
                return "persist was not offered"
            return None
        if method == "item/permissions/requestApproval":
            if set(result) - {"strictAutoReview"} != {"permissions", "scope"} or result["scope"] not in ("turn", "session"):
                return "must have permissions and scope"
            return None
        if method == "item/tool/requestUserInput":
            ids = {question["id"] for question in params["questions"]}
            return None if set(result) == {"answers"} and set(result["answers"]) <= ids else "answers nobody asked for"
        return None

    def request(self, message):
        ident, method, params = message["id"], message["method"], message.get("params") or {}
        if set(message) - {"jsonrpc", "id", "method", "params"}:
            fault(f"{method}: unknown members {sorted(message)}")
        if method != "initialize" and self.initialized == 0:
            fault(f"{method} before initialize")
            return send({"id": ident, "error": {"code": -32600, "message": "Not initialized"}})
        if method == os.environ.get("FAKE_CODEX_REFUSES"):
            return send({"id": ident, "error": {"code": -32600, "message": f"the test refuses {method}"}})
        handler = HANDLERS.get(method)
        if handler is None:
            fault(f"unknown method {method}")
            return send({"id": ident, "error": {"code": -32600, "message": f"unknown variant `{method}`"}})
        try:
            with state:
                result, then = handler(self, params)
        except Refusal as refusal:
            return send({"id": ident, "error": {"code": -32600, "message": str(refusal)}})
        send({"id": ident, "result": result})
        if then:
            then()
        return None

    # --- methods ------------------------------------------------------------------------------

    def initialize(self, params):
        if self.initialized:
            fault("a second initialize")
            raise Refusal("Already initialized")
        info, can = params.get("clientInfo", {}), params.get("capabilities", {})
        if info.get("name") != "codexgate" or can.get("experimentalApi") is not True or can.get("requestAttestation") is not False:
            fault(f"initialize: {params}")
        self.initialized = 1
        agent = f"codexgate/{VERSION} (Linux; x86_64) xterm (codexgate; 0.0.0)"
        home = os.environ.get("CODEX_HOME", "")
        return {"userAgent": agent, "codexHome": home, "platformFamily": "unix", "platformOs": "linux"}, None

    def config_read(self, params):
        result = recorded_result("24-start-without-trust", "config/read")
        return json.loads(json.dumps(result).replace("{{CODEX_HOME}}", os.environ.get("CODEX_HOME", "")).replace("{{CWD}}", params.get("cwd") or "")), None

    def fresh(self):
        self.made += 1
        return f"01a2{os.getpid():08x}-0000-7000-8000-{self.made:012x}"

    def begin(self, params, extra, of=None):
        check(params, OVERRIDES | {"sandbox"} | extra, "thread")
        policy, sandbox = params.get("approvalPolicy"), params.get("sandbox")
        if policy not in POLICIES:
            fault(f"approvalPolicy {policy!r}")
            raise Refusal(f"unknown variant `{policy}`")
        if sandbox not in SANDBOXES:
            fault(f"sandbox {sandbox!r}: the kebab string, always")
            raise Refusal(f"unknown variant `{sandbox}`")
        if params.get("approvalsReviewer") != "user":
            fault("approvalsReviewer must be user, always")
        if not isinstance(params.get("cwd"), str):
            fault("cwd must be there, always")
        kind = os.environ.get("FAKE_CODEX_SANDBOX") or SANDBOXES[sandbox]
        ident = of or self.fresh()
        thread = Thread(ident, {"cwd": params.get("cwd"), "approvalPolicy": policy, "sandboxPolicy": full({"type": kind})})
        self.threads[ident] = thread
        result = recorded_result("24-start-without-trust", "thread/start")
        result = json.loads(json.dumps(result).replace("{{CWD}}", params.get("cwd") or ""))
        result["thread"]["id"] = result["thread"]["sessionId"] = ident
        result.update(approvalPolicy=policy, approvalsReviewer="user", cwd=params.get("cwd"), sandbox=thread.policy["sandboxPolicy"])
        return thread, result

    def thread_start(self, params):
        if params.get("sandbox") in ("workspace-write", "danger-full-access"):
            fault("thread/start with a writable sandbox writes trust into the user's config")
        thread, result = self.begin(params, set())
        return result, lambda: tell("thread/started", {"thread": result["thread"]})

    def thread_fork(self, params):
        source = self.thread(params)
        if not source.turns:
            raise Refusal(f"no rollout found for thread id {source.id}")
        thread, result = self.begin(params, {"threadId", "excludeTurns", "lastTurnId", "beforeTurnId"})
        thread.turns = source.turns
        thread.played = dict(source.played)
        result["thread"]["forkedFromId"] = source.id
        return result, lambda: tell("thread/started", {"thread": result["thread"]})

    def thread_resume(self, params):
        if params.get("excludeTurns") is not True:
            fault("thread/resume without excludeTurns")
        ident = params.get("threadId")
        if not str(ident).startswith("01a2"):
            raise Refusal(f"no rollout found for thread id {ident}")
        thread, result = self.begin(params, {"threadId", "excludeTurns"}, of=ident)
        thread.turns = 1
        return result, None

    def thread_read(self, params):
        ident = params.get("threadId")
        if self.unwritten.get(ident, 0) > 0:
            self.unwritten[ident] -= 1
            raise Refusal(f"failed to read thread: rollout at /sessions/{ident}.jsonl is empty")
        parent = self.children.get(ident)
        if parent is None and ident not in self.threads:
            raise Refusal(f"no rollout found for thread id {ident}")
        return {"thread": {"id": ident, "parentThreadId": parent, "agentNickname": None}}, None

    children = {}
    unwritten = {}

    def settings(self, params):
        check(params, TURN - {"input"}, "thread/settings/update")
        thread = self.thread(params)
        self.change(thread, params)
        return {}, lambda: self.settled(thread)

    def change(self, thread, params):
        before = json.dumps(thread.policy)
        for name in ("cwd", "approvalPolicy", "model", "effort", "summary"):
            if params.get(name) is not None:
                thread.policy[name] = params[name]
        policy = params.get("sandboxPolicy")
        if policy is not None:
            if not isinstance(policy, dict) or policy.get("type") not in SANDBOXES.values():
                fault(f"sandboxPolicy {policy!r}: an object, always")
                raise Refusal("expected internally tagged enum SandboxPolicyDeserialize")
            forced = os.environ.get("FAKE_CODEX_SANDBOX")
            thread.policy["sandboxPolicy"] = full({"type": forced} if forced else policy)
        return json.dumps(thread.policy) != before

    def settled(self, thread):
        settings = {"disabledPluginIds": [], "approvalsReviewer": "user", "model": "gpt-5.5", "modelProvider": "mock", "serviceTier": None,
                    "activePermissionProfile": None, "effort": None, "summary": None, **thread.policy}
        tell("thread/settings/updated", {"threadId": thread.id, "threadSettings": settings})

    def turn_start(self, params):
        check(params, TURN, "turn/start")
        thread = self.thread(params)
        if thread.turn is not None:
            fault("turn/start while a turn runs: it steers")
        inputs = params.get("input")
        if not isinstance(inputs, list) or not inputs or inputs[0].get("type") != "text":
            fault(f"turn/start: input {inputs!r}")
        changed = self.change(thread, params)
        thread.turns += 1
        thread.turn = f"{thread.id[:-6]}{0xabc000 + thread.turns:06x}"
        thread.interrupted = False
        turn = {"id": thread.turn, "rootTurnId": thread.turn, "items": [], "itemsView": "notLoaded", "status": "inProgress",
                "error": None, "startedAt": None, "completedAt": None, "durationMs": None}

        def go():
            if changed:
                self.settled(thread)
            text = inputs[0]["text"]
            threading.Thread(target=self.play, args=(thread, dict(turn), text), daemon=True).start()
        return {"turn": turn}, go

    def turn_steer(self, params):
        thread = self.thread(params)
        if thread.turn is None:
            raise Refusal("no active turn to steer")
        if params.get("expectedTurnId") != thread.turn:
            fault("turn/steer: another turn")
        return {"turnId": thread.turn}, None

    def turn_interrupt(self, params):
        thread = self.thread(params)
        if thread.turn is None:
            raise Refusal("no active turn to interrupt")
        if params.get("turnId") != thread.turn:
            fault("turn/interrupt: another turn")

        def go():
            with state:
                thread.interrupted = True
                heard.notify_all()
        return {}, go

    def clean(self, params):
        self.thread(params)
        return {}, None

    def unsubscribe(self, params):
        thread = self.thread(params)
        if thread.turn is not None and not thread.interrupted:
            fault("thread/unsubscribe while a turn runs: interrupt first")
        del self.threads[thread.id]

        def go():
            tell("thread/status/changed", {"threadId": thread.id, "status": {"type": "notLoaded"}})
            tell("thread/closed", {"threadId": thread.id})
        return {"status": "unsubscribed"}, go

    def thread(self, params):
        thread = self.threads.get(params.get("threadId"))
        if thread is None:
            raise Refusal(f"thread not found: {params.get('threadId')}")
        return thread

    # --- turns --------------------------------------------------------------------------------

    def play(self, thread, turn, text):
        tell("thread/status/changed", {"threadId": thread.id, "status": {"type": "active", "activeFlags": []}})
        tell("turn/started", {"threadId": thread.id, "turn": turn})
        play = Play(self, thread, turn)
        try:
            if text.startswith("play "):
                status = play.recorded(text.split()[1])
            elif text.startswith("["):
                status = play.steps(json.loads(text))
            else:
                play.says(text)
                status = "completed"
        except Interrupted:
            status = "interrupted"
        tell("thread/status/changed", {"threadId": thread.id, "status": {"type": "idle"}})
        with state:
            thread.turn = None
        items = [{"type": "agentMessage", "id": "m", "text": play.said, "phase": None}] if play.said is not None else []
        done = {**turn, "items": items, "itemsView": "summary", "status": status, "durationMs": 1}
        if status == "failed":
            done["error"] = {"message": "the model failed", "codexErrorInfo": None, "additionalDetails": None}
        tell("turn/completed", {"threadId": thread.id, "turn": done})
        # What still waits is taken back after the turn (T14).
        for key in play.mine:
            with state:
                waits = self.asked.pop(key, None)
                if waits:
                    self.over.add(key)
            if waits:
                tell("serverRequest/resolved", {"threadId": thread.id, "requestId": waits["id"]})


class Play:
    """One turn."""

    def __init__(self, server, thread, turn):
        self.server, self.thread, self.turn = server, thread, turn
        self.said, self.mine, self.items = None, [], {}

    def place(self, value):
        """`$T`, `$U`: the thread and the turn."""
        text = json.dumps(value).replace("$T", self.thread.id).replace("$U", self.turn["id"])
        return json.loads(text)

    def says(self, text):
        base = {"threadId": self.thread.id, "turnId": self.turn["id"]}
        item = {"type": "agentMessage", "id": "m", "text": "", "phase": None}
        tell("item/started", {**base, "item": item})
        for word in text.split(" "):
            tell("item/agentMessage/delta", {**base, "itemId": "m", "delta": word + " "})
        tell("item/completed", {**base, "item": {**item, "text": text}})
        self.said = text

    def ask(self, method, params, ident=None, unknown=False):
        with state:
            if ident is None:
                ident = self.server.next_ask
                self.server.next_ask += 1
            key = json.dumps(ident)
            self.server.asked[key] = {"id": ident, "method": method, "params": params, "unknown": [method] if unknown else []}
            self.mine.append(key)
        send({"method": method, "id": ident, "params": params})
        return key

    def wait(self, keys):
        """Waits until one of these is answered; its key."""
        with state:
            while True:
                if self.thread.interrupted:
                    raise Interrupted()
                for key in keys:
                    if key in self.server.answers:
                        return key
                heard.wait()

    def end(self, key, params, item):
        """Confirms an answer, and ends its call as that says."""
        answer = self.server.answers.pop(key)
        result = answer.get("result", {})
        tell("serverRequest/resolved", {"threadId": params["threadId"], "requestId": answer["id"]})
        decision = result.get("decision", result.get("action"))
        accepted = isinstance(decision, dict) or str(decision).startswith("accept")
        if item is not None:
            done = {**item, "status": "completed" if accepted else "declined"}
            if item["type"] == "mcpToolCall":
                done["status"] = "completed" if accepted else "failed"
                done["result"] = {"content": [{"type": "text", "text": "ran"}]} if accepted else None
                done["error"] = None if accepted else {"message": "user rejected MCP tool call"}
            elif item["type"] == "commandExecution" and accepted:
                done.update(exitCode=0, aggregatedOutput="one\ntwo\n", durationMs=1)
            tell("item/completed", {"threadId": params["threadId"], "turnId": params.get("turnId"), "item": done})
        if decision == "cancel" and "decision" in result:
            raise Interrupted()

    def recorded(self, name):
        """Plays the next turn of a recording."""
        lines = [line for line in recording(name) if line["proc"] == 1 and "msg" in line]
        starts = [at for at, line in enumerate(lines) if line["msg"].get("method") == "turn/start"]
        number = self.thread.played.get(name, 0)
        self.thread.played[name] = number + 1
        at = starts[min(number, len(starts) - 1)]
        old_thread, old_turn = lines[at]["msg"]["params"]["threadId"], None
        status, waiting, by_item = "completed", {}, {}
        asks = {json.dumps(line["msg"]["id"]) for line in lines if line["dir"] == "s>c" and "method" in line["msg"] and "id" in line["msg"]}
        turn_over = False
        for line in lines[at + 1:]:
            message = line["msg"]
            method, params = message.get("method"), message.get("params", {})
            if line["dir"] == "c>s":
                if "method" in message:
                    if message["method"] in ("turn/start", "thread/unsubscribe") and turn_over:
                        break
                    if message["method"] == "turn/interrupt":
                        self.wait(["never"])
                    continue
                if waiting and json.dumps(message["id"]) in asks:
                    key = self.wait(list(waiting))
                    asked, item = waiting.pop(key)
                    self.end(key, asked, item)
                continue
            if method is None:
                if old_turn is None and "turn" in message.get("result", {}):
                    old_turn = message["result"]["turn"]["id"]
                continue
            text = json.dumps(params).replace(old_thread, self.thread.id)
            if old_turn:
                text = text.replace(old_turn, self.turn["id"])
            for mark, real in (("{{CWD}}", self.thread.policy["cwd"]), ("{{OUTSIDE}}", "/outside"), ("{{CODEX_HOME}}", os.environ.get("CODEX_HOME", ""))):
                text = text.replace(mark, real or "")
            params = json.loads(text)
            item = params.get("item") if isinstance(params.get("item"), dict) else None
            key = (params.get("threadId"), params.get("turnId"), item["id"] if item else params.get("itemId"))
            if "id" in message:
                called = by_item.get(key)
                if method == "mcpServer/elicitation/request":
                    meta = params.get("_meta") or {}
                    marked = meta.get("codex_approval_kind") == "mcp_tool_call"
                    match = [i for i in by_item.values() if marked and i["type"] == "mcpToolCall"
                             and params["message"].endswith(f'run tool "{i["tool"]}"?') and i["arguments"] == meta.get("tool_params")]
                    called = match[0] if match and "tool_params_display" in meta else None
                if called is not None and params.get("kind") != "writeStdin":
                    called["asked"] = True
                waiting[self.ask(method, params)] = (params, called if params.get("kind") != "writeStdin" else None)
                continue
            if method == "item/started":
                by_item[key] = dict(item)
            if method == "item/completed":
                if by_item.get(key, {}).get("asked"):
                    continue
                if item["type"] == "agentMessage" and params["threadId"] == self.thread.id:
                    self.said = item["text"]
            if method == "serverRequest/resolved":
                continue
            if method in ("turn/started", "turn/completed", "thread/status/changed") and params.get("threadId") == self.thread.id:
                if method == "turn/completed":
                    status, turn_over = params["turn"]["status"], True
                    if not waiting:
                        break
                continue
            if method == "item/completed" and item["type"] == "collabAgentToolCall":
                for child in item["receiverThreadIds"]:
                    self.server.children[child] = self.thread.id
            tell(method, params)
        return status

    def steps(self, steps):
        """Plays a list of steps, each an object with one known first member."""
        base = {"threadId": self.thread.id, "turnId": self.turn["id"]}
        status = "completed"
        for step in steps:
            if "say" in step:
                self.says(step["say"])
            elif "tell" in step:
                tell(step["tell"], self.place(step["params"]))
            elif "start" in step:
                item = self.place(step["start"])
                self.items[item["id"]] = item
                tell("item/started", {**base, "item": item})
            elif "ask" in step:
                params = self.place({**base, **step["params"]})
                key = self.ask(step["ask"], params, step.get("id"), step.get("unknown", False))
                item = self.items.get(step.get("item") or params.get("itemId"))
                if not step.get("later"):
                    self.wait([key])
                    self.end(key, params, item)
                else:
                    self.items[key] = (params, item)
            elif "answered" in step:
                key = self.wait([json.dumps(ident) for ident in step["answered"]])
                self.end(key, *self.items.get(key, (base, None)))
            elif "deltas" in step:
                method = step.get("method", "item/agentMessage/delta")
                for n in range(step["deltas"]):
                    item = f"m{n % step.get('items', 1)}"
                    tell(method, {**base, "itemId": item, "delta": step.get("text", "{n};").replace("{n}", str(n))})
            elif "output" in step:
                item = {"type": "commandExecution", "id": step.get("id", "c"), "command": "big", "cwd": "/w", "status": "completed",
                        "commandActions": [], "aggregatedOutput": "x" * step["output"], "exitCode": 0}
                tell("item/started", {**base, "item": {**item, "status": "inProgress", "aggregatedOutput": None, "exitCode": None}})
                tell("item/completed", {**base, "item": item})
            elif "child" in step:
                # Nothing is said about it: only `thread/read` knows its parent.
                self.server.children[step["child"]] = self.place(step["of"])
                # As often it is refused, since nothing of the thread is written yet.
                self.server.unwritten[step["child"]] = step.get("unwritten", 0)
            elif "sleep" in step:
                end = time.monotonic() + step["sleep"]
                with state:
                    while time.monotonic() < end:
                        if self.thread.interrupted:
                            raise Interrupted()
                        heard.wait(max(0.0, min(0.05, end - time.monotonic())))
            elif "raw" in step:
                send(None, raw=step["raw"])
            elif "exit" in step:
                os._exit(step["exit"])
            elif "done" in step:
                status = step["done"]
            else:
                fault(f"no such step: {step}")
        return status


class Refusal(Exception):
    pass


class Interrupted(Exception):
    pass


def check(params, known, what):
    unknown = set(params) - known
    if unknown:
        fault(f"{what}: unknown members {sorted(unknown)}")


def full(policy):
    if policy["type"] == "workspaceWrite":
        return {"writableRoots": [], "networkAccess": False, "excludeTmpdirEnvVar": False, "excludeSlashTmp": False, **policy}
    if policy["type"] == "readOnly":
        return {"networkAccess": False, **policy}
    return policy


HANDLERS = {
    "initialize": Server.initialize, "config/read": Server.config_read, "thread/start": Server.thread_start, "thread/fork": Server.thread_fork,
    "thread/resume": Server.thread_resume, "thread/read": Server.thread_read, "thread/settings/update": Server.settings,
    "turn/start": Server.turn_start, "turn/steer": Server.turn_steer, "turn/interrupt": Server.turn_interrupt,
    "thread/backgroundTerminals/clean": Server.clean, "thread/unsubscribe": Server.unsubscribe,
    "model/list": lambda server, params: ({"data": [], "nextCursor": None}, None),
    "configRequirements/read": lambda server, params: ({"requirements": None}, None),
}


def main():
    if "--version" in sys.argv:
        print(f"codex-cli {VERSION}")
        return
    if sys.argv[1:2] != ["app-server"]:
        fault(f"started with {sys.argv[1:]}")
        sys.exit(2)
    if "--help" in sys.argv:
        print("Usage: codex app-server")
        return
    log({"started": sys.argv[1:], "pid": os.getpid()})
    server = Server()
    for line in sys.stdin:
        server.hear(line)
    log({"ended": os.getpid()})
    os._exit(0)


main()
