//! The stop button of a run: it ends what runs now, and the next turn can begin.
//!
//! A token can be cancelled once. A program that goes on after an interrupted turn needs a
//! new one for every turn, and hooks and tools started in between must see the one that
//! counts. Whatever ends the program ends the turn as well.

use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

#[derive(Clone, Debug)]
pub struct Halt {
    program: CancellationToken,
    turn: Arc<Mutex<CancellationToken>>,
}

impl Halt {
    /// `program` ends everything.
    pub fn new(program: CancellationToken) -> Self {
        let turn = Arc::new(Mutex::new(program.child_token()));
        Self { program, turn }
    }

    /// The token of what runs now.
    pub fn token(&self) -> CancellationToken {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends what runs now; the program goes on.
    pub fn press(&self) {
        self.token().cancel();
    }

    /// A fresh token, unless the program itself is ending.
    pub fn renew(&self) -> CancellationToken {
        let fresh = self.program.child_token();
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&fresh);
        fresh
    }

    /// The token that ends the program.
    pub fn program(&self) -> &CancellationToken {
        &self.program
    }
}

impl From<CancellationToken> for Halt {
    fn from(program: CancellationToken) -> Self {
        Self::new(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pressed_button_ends_one_turn_and_the_program_ends_all() {
        let program = CancellationToken::new();
        let halt = Halt::new(program.clone());
        let first = halt.token();
        halt.press();
        assert!(first.is_cancelled() && !program.is_cancelled());
        let second = halt.renew();
        assert!(!second.is_cancelled());
        program.cancel();
        assert!(second.is_cancelled() && halt.renew().is_cancelled());
    }
}
