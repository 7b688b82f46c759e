//! `codexgate broker`: Codex behind any MCP client, each approval tied to the exact call.
//!
//! It is an MCP server on stdio with one `codex app-server` behind it. [`pair`] holds what decides
//! whether a person is asked, what the card says and which answer may go back; it waits for
//! nothing and reads nothing. Around it stand the transport, the sessions and their events.
//!
//! What is promised: nothing that comes over MCP widens what whoever started the broker allowed;
//! no request of Codex stays without an answer; what is not understood is declined, and said.

pub mod pair;
