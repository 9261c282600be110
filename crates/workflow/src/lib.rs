//! ona-workflow
