//! ona-auth
