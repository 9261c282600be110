//! ona-process
