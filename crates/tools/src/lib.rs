//! ona-tools
