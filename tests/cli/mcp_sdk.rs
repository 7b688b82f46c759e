//! The approver against the official MCP SDK: what it sends is what a client of the book reads.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, FormElicitationCapability, Implementation,
    ProtocolVersion,
};
use rmcp::service::{RequestContext, RoleClient, ServiceExt as _};
use serde_json::{Value, json};

use super::gate::Desk;
use super::mcp::grants;

/// A client that answers each form in the same way, and remembers what it was asked.
#[derive(Clone)]
struct Client {
    version: ProtocolVersion,
    shows_forms: bool,
    answer: ElicitResult,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.shows_forms {
            let forms =
                ElicitationCapability::new().with_form(FormElicitationCapability::default());
            capabilities.elicitation = Some(forms);
        }
        let mut info = ClientConfig::new(capabilities, Implementation::new("sdk", "1"));
        info.protocol_version = self.version.clone();
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, rmcp::ErrorData> {
        let request = serde_json::to_value(&request).expect("it came as JSON");
        self.asked.lock().expect("not poisoned").push(request);
        Ok(self.answer.clone())
    }
}

/// One call of the tool: the tools, the forms that were shown, and the result.
fn session(client: &Client) -> (Value, Vec<Value>, Value, String) {
    let desk = Desk::new();
    let token = desk.propose(["--", "true", "--sdk"]);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (tools, result, version) = runtime.block_on(async {
        let mut command = tokio::process::Command::from(desk.command());
        command
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().expect("it starts");
        let streams = (
            child.stdout.take().expect("a pipe"),
            child.stdin.take().expect("a pipe"),
        );
        let service = client.clone().serve(streams).await.expect("a handshake");
        let info = service
            .peer()
            .peer_info()
            .expect("it was initialized")
            .clone();
        let tools = service.list_all_tools().await.expect("tools");
        let arguments = json!({ "token": token });
        let call = CallToolRequestParams::new("codexgate_approve")
            .with_arguments(arguments.as_object().expect("an object").clone());
        let result = service.call_tool(call).await.expect("a result");
        service.cancel().await.expect("it ends");
        assert!(child.wait().await.expect("it ends").success());
        (tools, result, info.protocol_version.to_string())
    });
    assert_eq!(grants(&desk), 0);
    let asked = client.asked.lock().expect("not poisoned").clone();
    let tools = serde_json::to_value(tools).expect("JSON");
    (
        tools,
        asked,
        serde_json::to_value(result).expect("JSON"),
        version,
    )
}

fn client(version: ProtocolVersion, answer: ElicitResult) -> Client {
    Client {
        version,
        shows_forms: true,
        answer,
        asked: Arc::default(),
    }
}

#[test]
fn the_sdk_lists_calls_and_answers() {
    for version in [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25] {
        let answer = ElicitResult::new(ElicitationAction::Decline);
        let (tools, asked, result, spoken) = session(&client(version.clone(), answer));
        assert_eq!(spoken, version.to_string());
        assert_eq!(tools[0]["name"], "codexgate_approve");
        assert_eq!(tools[0]["annotations"]["destructiveHint"], false);
        assert_eq!(asked.len(), 1);
        let schema = &asked[0]["requestedSchema"];
        assert_eq!(
            schema["properties"]["decision"]["enum"],
            json!(["Reject", "Approve"])
        );
        assert_eq!(schema["properties"]["decision"]["default"], "Reject");
        assert_eq!(schema["required"], json!(["decision"]));
        let card = asked[0]["message"].as_str().expect("a text");
        assert!(card.contains("true --sdk"), "{card}");
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(text.contains("declined"), "{text}");
    }
}

#[test]
fn a_program_that_approves_at_once_is_asked_twice_and_gets_nothing() {
    let answer =
        ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "decision": "Approve" }));
    let (_, asked, result, _) = session(&client(ProtocolVersion::V_2025_06_18, answer));
    assert_eq!(asked.len(), 2);
    assert_eq!(result["isError"], true);
}

#[test]
fn a_client_without_forms_is_told_the_terminal() {
    let mut client = client(
        ProtocolVersion::V_2025_06_18,
        ElicitResult::new(ElicitationAction::Decline),
    );
    client.shows_forms = false;
    let (_, asked, result, _) = session(&client);
    assert_eq!(asked.len(), 0);
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("bin/codexgate approve "), "{text}");
}
