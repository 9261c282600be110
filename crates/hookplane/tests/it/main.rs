//! The hook plane from outside: lists and firings in, outcomes and rows out.
//!
//! What a hook's output means belongs to `ona-dialects` and is tested there. Here a dialect of the
//! tests (`support::Plain`) reads JSON whose keys are the fields of `HookOutput`, and a table of
//! results stands in for shells wherever the shell itself is not what is tested.

mod failing;
mod handlers;
mod list;
mod merging;
mod order;
mod pins;
mod process;
mod support;
