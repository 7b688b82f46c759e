//! Random interleavings: every accept on the wire was preceded by a person's accept of a card that
//! shows exactly what then runs, and no id is answered twice.

use super::super::*;
use super::desk::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;

#[derive(Debug, Clone)]
enum Step {
    /// Codex announces a call.
    Start {
        thread: u8,
        server: u8,
        tool: u8,
        n: u8,
    },
    /// Somebody claims one: by what it says, known or not.
    Claim {
        thread: u8,
        server: u8,
        tool: Option<u8>,
        n: Option<u8>,
    },
    /// A person answers one of those that wait.
    Answer {
        which: prop::sample::Index,
        accept: bool,
    },
    /// A call ends, as Codex decides by the answers it got.
    End {
        which: prop::sample::Index,
    },
    TurnEnds {
        thread: u8,
    },
    Resolved {
        id: u8,
    },
    Late,
}

fn step() -> impl Strategy<Value = Step> {
    let small = 0..3_u8;
    prop_oneof![
        4 => (small.clone(), small.clone(), 0..2_u8, 0..2_u8).prop_map(|(thread, server, tool, n)| Step::Start { thread, server, tool, n }),
        5 => (small.clone(), small.clone(), prop::option::weighted(0.8, 0..2_u8), prop::option::weighted(0.8, 0..2_u8))
            .prop_map(|(thread, server, tool, n)| Step::Claim { thread, server, tool, n }),
        4 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(which, accept)| Step::Answer { which, accept }),
        2 => any::<prop::sample::Index>().prop_map(|which| Step::End { which }),
        1 => small.clone().prop_map(|thread| Step::TurnEnds { thread }),
        1 => (0..40_u8).prop_map(|id| Step::Resolved { id }),
        1 => Just(Step::Late),
    ]
}

fn thread(n: u8) -> String {
    format!("thread-{n}")
}

fn item(name: &str, thread_n: u8, server: u8, tool: u8, n: u8) -> Value {
    let mut item = tool_item(name, &format!("tool{tool}"), &json!({"n": n}));
    item["threadId"] = thread(thread_n).into();
    item["item"]["server"] = format!("server{server}").into();
    item
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn no_accept_without_a_person_who_saw_that_call(steps in prop::collection::vec(step(), 1..60)) {
        let mut desk = Desk::new();
        // What Codex has open, by name.
        let mut open: Vec<(String, u8, u8, u8, u8)> = Vec::new();
        let mut next_id = 0_u64;
        let mut next_item = 0_u64;
        // By request: what its card showed, and whether a person said yes.
        let mut accepted_cards: HashMap<String, Value> = HashMap::new();
        let mut answered: HashMap<String, usize> = HashMap::new();
        for step in steps {
            let out = match step {
                Step::Start { thread, server, tool, n } => {
                    next_item += 1;
                    let name = format!("call{}", next_item % 7);
                    open.push((name.clone(), thread, server, tool, n));
                    desk.tell("item/started", &item(&name, thread, server, tool, n))
                }
                Step::Claim { thread: t, server, tool, n } => {
                    let mut meta = json!({"codex_approval_kind": "mcp_tool_call", "persist": "session"});
                    if let Some(tool) = tool {
                        meta["tool_name"] = format!("tool{tool}").into();
                    }
                    if let Some(n) = n {
                        meta["tool_params"] = json!({"n": n});
                    }
                    let members = json!({"threadId": thread(t), "serverName": format!("server{server}"), "_meta": meta});
                    next_id += 1;
                    desk.elicit(&json!(next_id - 1), &members)
                }
                Step::Answer { which, accept } => {
                    let waiting = desk.open();
                    if waiting.is_empty() { continue }
                    let pending = waiting[which.index(waiting.len())];
                    let (request, shown) = (pending.request_id().to_owned(), pending.action());
                    // What the card shows is open in Codex, in that very thread.
                    let is_open = open.iter().any(|(_, t, server, tool, n)| {
                        shown["threadId"] == thread(*t) && shown["server"] == format!("server{server}")
                            && shown["tool"] == format!("tool{tool}") && shown["arguments"] == json!({"n": n})
                    });
                    prop_assert!(is_open, "a card shows what is not open: {shown}");
                    if accept {
                        accepted_cards.insert(request.clone(), shown);
                    }
                    let word = if accept { Word::Accept } else { Word::Decline };
                    let out = desk.say(&request, word).expect("it waits");
                    let sent = wire(&out);
                    prop_assert_eq!(sent.len(), 1);
                    prop_assert_eq!(&sent[0].1["action"], word.as_str());
                    out
                }
                Step::End { which } => {
                    if open.is_empty() { continue }
                    let (name, t, server, tool, n) = open.remove(which.index(open.len()));
                    let mut params = item(&name, t, server, tool, n);
                    params["item"]["status"] = "failed".into();
                    desk.tell("item/completed", &params)
                }
                Step::TurnEnds { thread: t } => {
                    open.retain(|(_, of, ..)| *of != t);
                    desk.tell("turn/completed", &json!({"threadId": thread(t), "turn": {"id": TURN, "status": "completed"}}))
                }
                Step::Resolved { id } => desk.tell("serverRequest/resolved", &json!({"requestId": id})),
                Step::Late => {
                    desk.later(TIMEOUT / 4);
                    let now = desk.now;
                    let out = desk.pairing.due(now);
                    desk.done.extend(out.clone());
                    out
                }
            };
            for (id, result) in wire(&out) {
                *answered.entry(id.to_string()).or_default() += 1;
                let settled = out.iter().find_map(|e| match e { Effect::Settled { request_id, .. } => Some(request_id.clone()), _ => None });
                if result["action"] == "accept" {
                    let request = settled.expect("an accept settles its request");
                    prop_assert!(accepted_cards.contains_key(&request), "nobody accepted {request}");
                }
            }
            prop_assert!(answered.values().all(|count| *count == 1), "answered twice: {answered:?}");
        }
    }
}
