//! The painter, read back through a terminal emulator.

mod blocks;
mod painter;
mod restore;
mod tmux;
