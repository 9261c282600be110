//! ona-testkit
