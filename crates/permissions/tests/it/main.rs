//! Behaviour of the permission engine as a whole: observed cases, attacks, laws.

mod attacks;
mod cases;
mod laws;
mod names;
mod read_only;
mod shelltext;
mod steps;
mod worktrees;
mod world;
