//! ona-permissions
