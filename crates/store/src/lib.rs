//! ona-store
