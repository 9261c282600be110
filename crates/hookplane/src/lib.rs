//! ona-hookplane
