//! Credentials, models and endpoints from an environment, and the client that uses them.

mod credential;
mod http;
mod login;
mod model;

use ona_api::Env;

pub fn env<const N: usize>(vars: [(&str, &str); N]) -> Env {
    vars.into_iter().fold(Env::default(), |env, (name, value)| env.with(name, value))
}
