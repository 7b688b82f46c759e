//! `ignore-unused`: a comment that is to silence a finding, and does not, or does not say why.
//! It is about codexgate's own comments: an opinion, and no claim about Codex.

use crate::lint::ignore::{Ignore, Name};
use crate::lint::{Check, Confidence, Findings, Home, Rule, Severity, case, registry, words};

pub const RULE: Rule = Rule {
    id: "ignore-unused",
    severity: Severity::Warning,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this comment silences nothing",
    why: "A comment that silences nothing waits for the finding that it hides one day, and one \
          without a reason cannot be reviewed. So a reason is required, and a comment goes with \
          what it was for.",
    bad: &[
        case("‹# codexgate: ignore[danger-full-access]›\nsandbox_mode = \"danger-full-access\"\n")
            .in_home(Home::Project)
            .also(&["danger-full-access"]),
        case(
            "# codexgate: ignore[‹danger-full-access›] a test machine\nsandbox_mode = \"read-only\"\n",
        ),
        case("model = \"x\" # codexgate: ignore[‹no-such-rule›] because\n"),
        case("‹# codexgate: ignore all of it›\nmodel = \"x\"\n"),
    ],
    good: &[
        case(
            "# codexgate: ignore[danger-full-access] a test machine\n\
             sandbox_mode = \"danger-full-access\"\n",
        )
        .in_home(Home::Project)
        .also(&["danger-full-access"]),
        case("# codexgate: what is ignored here\n"),
        case("model = '# codexgate: ignore[syntax] no comment'\n"),
    ],
    check: Check::Ignores(check),
};

fn check(ignores: &[Ignore], found: &mut Findings) {
    for ignore in ignores {
        if ignore.names.is_empty() {
            found
                .add(&RULE, ignore.span)
                .says("this comment names no rule, so it silences nothing")
                .help("name the rule: `# codexgate: ignore[rule-id] the reason`");
        } else if !ignore.has_reason {
            found
                .add(&RULE, ignore.span)
                .says("this comment gives no reason, so it silences nothing")
                .help("say why behind the bracket, or take the comment out");
        } else {
            for name in ignore.names.iter().filter(|name| !name.is_used) {
                unused(name, found);
            }
        }
    }
}

fn unused(name: &Name, found: &mut Findings) {
    let finding = found.add(&RULE, name.span);
    if name.text == RULE.id {
        finding
            .says("a comment cannot silence this rule")
            .help("take the comment out");
    } else if registry::find(&name.text).is_some() {
        finding
            .label("no finding of this rule on this line or the next")
            .help("take it out");
    } else {
        finding.says(format!("no rule is named `{}`", name.text));
        match words::closest(&name.text, registry::RULES.iter().map(|rule| rule.id)) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help("`codexgate rules` lists them"),
        };
    }
}
