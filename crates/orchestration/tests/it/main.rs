//! The path of one call: a store on disk, real shells as hooks, the built-in tools, and an operator
//! who answers from a list. Each module is about one part of the path.

mod denied;
mod gate;
mod person;
mod plan_mode;
mod pre;
mod refusals;
mod requests;
mod rules;
mod running;
mod scene;
