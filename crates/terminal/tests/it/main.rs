//! The painter, read back through a terminal emulator.

mod painter;
mod restore;
mod tmux;
