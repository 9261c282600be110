//! What a tool is, to those who write one and to those who call one.

use crate::ToolContext;
use crate::input::{BadInput, parse, schema};
use ona_api::{Access, Authority, ToolResult, ToolSpec};
use ona_files::PathForms;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A tool written against its own input type.
///
/// `run` may rely on the input being the one whose `access` was judged. It must
/// not ask for permission, and it reports every failure as a result.
pub trait Tool: Send + Sync + 'static {
    type Input: DeserializeOwned + JsonSchema + Send + 'static;
    const NAME: &'static str;
    const DESCRIPTION: &'static str;

    /// Makes the raw input independent of the session: absolute paths, current
    /// key names. Input that does not fit is left alone; parsing names it.
    fn normalise(&self, _input: &mut Value, _cx: &ToolContext) {}

    /// Returns what the call would touch.
    fn access(&self, input: &Self::Input, cx: &ToolContext) -> Vec<Access>;

    /// Returns what the call adds before a person is asked about it. Called when no
    /// rule denies it, perhaps more than once; the call may still be refused.
    fn offer(&self, _input: &Self::Input, _cx: &ToolContext) -> impl Future<Output = Offer> + Send {
        std::future::ready(Offer::Plain)
    }

    fn run(&self, input: Self::Input, cx: &ToolContext) -> impl Future<Output = ToolResult> + Send;
}

/// What a call adds before a person is asked about it.
#[derive(Clone, Debug, PartialEq)]
pub enum Offer {
    /// Like any other: rules, mode, hooks or a person decide.
    Plain,
    /// A person's own act, in these words. What a hook allows beforehand is not it.
    Submission(String),
    /// That act has been done already: by whom, and the words for the record.
    Settled(Authority, String),
    /// It makes no sense now, so no person is asked.
    Refused(ToolResult),
}

/// What the rest of the program sees of a tool; implemented for every [`Tool`],
/// and by hand where the input type is not known when ona is built.
pub trait AnyTool: Send + Sync {
    fn spec(&self) -> ToolSpec;
    fn plan(self: Arc<Self>, input: &Value, cx: &ToolContext) -> Result<PlannedCall, BadInput>;

    /// Returns whether it says of itself that it changes nothing; asked of tools of MCP servers.
    fn only_reads(&self) -> bool {
        false
    }

    /// `input` is that of a plan.
    fn offer<'a>(&'a self, _input: &'a Value, _cx: &'a ToolContext) -> BoxFuture<'a, Offer> {
        Box::pin(std::future::ready(Offer::Plain))
    }
}

/// A call whose input fits its schema. Nothing else can run.
pub struct PlannedCall {
    /// The normalised input: what hooks, rules and the record see.
    pub input: Value,
    pub access: Vec<Access>,
    /// The paths of `access` as they were resolved when the call was judged. Files are
    /// opened there and nowhere else.
    pub judged: Option<Arc<[PathForms]>>,
    run: Run,
}

type Run = Box<dyn for<'a> FnOnce(&'a ToolContext) -> BoxFuture<'a, ToolResult> + Send>;

impl PlannedCall {
    pub fn new(
        input: Value,
        access: Vec<Access>,
        run: impl for<'a> FnOnce(&'a ToolContext) -> BoxFuture<'a, ToolResult> + Send + 'static,
    ) -> Self {
        Self { input, access, judged: None, run: Box::new(run) }
    }

    pub async fn run(self, cx: &ToolContext) -> ToolResult {
        let cx = ToolContext { judged: self.judged, ..cx.clone() };
        let result = (self.run)(&cx).await;
        cx.seen.note(&result.seen);
        result
    }
}

impl<T: Tool> AnyTool for T {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: T::NAME.into(), description: T::DESCRIPTION.into(), input_schema: schema::<T::Input>() }
    }

    fn plan(self: Arc<Self>, input: &Value, cx: &ToolContext) -> Result<PlannedCall, BadInput> {
        let mut input = input.clone();
        self.normalise(&mut input, cx);
        let parsed = parse::<T::Input>(&input)?;
        let access = self.access(&parsed, cx);
        Ok(PlannedCall::new(input, access, move |cx| Box::pin(async move { self.run(parsed, cx).await })))
    }

    fn offer<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, Offer> {
        Box::pin(async move {
            match parse::<T::Input>(input) {
                Ok(parsed) => Tool::offer(self, &parsed, cx).await,
                Err(bad) => Offer::Refused(ToolResult::rejected(bad.to_string())),
            }
        })
    }
}
