//! What the crate decides, over corpora.

mod lint;
mod robust;
