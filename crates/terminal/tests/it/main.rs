//! The painter, read back through a terminal emulator.

mod blocks;
mod bytes;
mod painter;
mod restore;
mod tmux;
