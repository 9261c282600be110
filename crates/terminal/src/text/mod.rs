//! Text of models, tools and people before it becomes lines: made harmless, and wrapped.

mod clean;
mod styled;
mod wrap;

pub use clean::{output_text, visible, visible_line};
pub use styled::styled_line;
pub use wrap::{cut, cut_line, hard_wrap, wrap};
