//! ona-dialects
