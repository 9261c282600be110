//! ona-orchestration
