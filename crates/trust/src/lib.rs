//! ona-trust
