//! ona-transcript
