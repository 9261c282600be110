//! ona-providers
