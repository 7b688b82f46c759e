//! The form that is sent, and how its answer is handed to the decision.

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::approval::{FITS_COLUMNS, FITS_LINES, FormAnswer};
use crate::rpc::Outcome;
use crate::text::visible_lines;

/// What stands above a card that is shown again after a slip of the keys.
const SLIPPED: &str = "Approve came too fast to be meant, so it granted nothing. Once more:";

/// The parameters of `elicitation/create`. Reject stands first and is the default, since in
/// Codex's terminal a digit answers at once and Enter takes the default. Without a required member
/// Codex may accept by itself; with a title or description at the top it cancels unseen (0.171).
pub(super) fn form(message: &str) -> Value {
    json!({
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "decision": {
                    "type": "string",
                    "enum": ["Reject", "Approve"],
                    "default": "Reject",
                },
            },
            "required": ["decision"],
        },
    })
}

/// The card as it is shown again after a slip.
pub(super) fn again(card: &str) -> String {
    format!("{SLIPPED}\n{card}")
}

/// Whether `message` is shown whole. One with characters that a terminal does not show never is.
pub(super) fn fits(message: &str) -> bool {
    let visible = visible_lines(message) == message && !message.contains('\t');
    let mut lines = 0;
    let narrow = message.lines().all(|line| {
        lines += 1;
        line.width() <= FITS_COLUMNS
    });
    visible && narrow && lines <= FITS_LINES
}

/// The parts of an answer that decide. One without a result has none, and so decides nothing.
pub(super) fn answer(outcome: &Outcome) -> FormAnswer<'_> {
    let part = |name| match outcome {
        Outcome::Result(result) => result.get(name),
        Outcome::Error(_) | Outcome::Malformed(_) => None,
    };
    FormAnswer {
        action: part("action"),
        content: part("content"),
        meta: part("_meta"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::RpcError;

    #[test]
    fn the_form_is_the_one_that_was_proven() {
        assert_eq!(
            form("card").to_string(),
            concat!(
                r#"{"message":"card","requestedSchema":{"type":"object","properties":{"#,
                r#""decision":{"type":"string","enum":["Reject","Approve"],"default":"Reject"}},"#,
                r#""required":["decision"]}}"#
            )
        );
    }

    #[test]
    fn a_result_keeps_its_parts_and_nothing_else_has_any() {
        let result = json!({"action": "accept", "content": {"decision": "Approve"}, "_meta": 1});
        let outcome = Outcome::Result(result.clone());
        let read = answer(&outcome);
        assert_eq!(read.action, Some(&json!("accept")));
        assert_eq!(read.content, Some(&result["content"]));
        assert_eq!(read.meta, Some(&json!(1)));
        for outcome in [
            Outcome::Error(RpcError::new(-1, "accept")),
            Outcome::Malformed("it has a result and an error"),
            Outcome::Result(json!([["action", "accept"]])),
            Outcome::Result(json!("accept")),
        ] {
            let read = answer(&outcome);
            assert!(read.action.is_none() && read.content.is_none() && read.meta.is_none());
        }
    }

    #[test]
    fn the_line_above_a_card_that_is_asked_again_fits() {
        assert!(fits(&again("card")));
    }

    #[test]
    fn a_card_fits_up_to_its_last_line_and_column() {
        let line = "x".repeat(FITS_COLUMNS);
        let card = |lines: usize| vec![line.as_str(); lines].join("\n");
        assert!(fits(&card(16)));
        assert!(fits(&format!("{}\n", card(16))));
        assert!(!fits(&card(17)));
        assert!(!fits(&format!("{line}x")));
        assert!(
            !fits(&"漢".repeat(39)),
            "a wide character takes two columns"
        );
        assert!(fits(&"漢".repeat(38)));
    }

    #[test]
    fn a_card_with_what_no_terminal_shows_does_not_fit() {
        for hidden in ["a\u{1b}[31m", "a\u{202e}b", "a\tb", "a\rb", "a\u{a0}b"] {
            assert!(!fits(hidden), "{hidden:?}");
        }
    }
}
