//! Modules as files, run by real engines.

mod world;

mod engines;
mod loading;
mod strip;
