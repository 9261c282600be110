//! The stop button of a run: it ends what runs now, and the next turn can begin.
//!
//! A token can be cancelled once. A program that goes on after an interrupted turn needs a
//! new one for every turn, and hooks and tools started in between must see the one that
//! counts. Whatever ends the program ends the turn as well.
//!
//! Hooks that report an interrupted call must not be ended by the interrupt they report:
//! they have a token of their own, which runs out after [`AFTERMATH`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Time that all hooks together have to report what was interrupted (DEC-188).
pub const AFTERMATH: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct Halt {
    program: CancellationToken,
    turn: Arc<Mutex<Turn>>,
}

#[derive(Debug)]
struct Turn {
    token: CancellationToken,
    /// There once something asked for it after the turn was ended.
    aftermath: Option<CancellationToken>,
}

impl Halt {
    /// `program` ends everything.
    pub fn new(program: CancellationToken) -> Self {
        let turn = Arc::new(Mutex::new(Turn { token: program.child_token(), aftermath: None }));
        Self { program, turn }
    }

    /// The token of what runs now.
    pub fn token(&self) -> CancellationToken {
        self.turn().token.clone()
    }

    /// The token of hooks that report an interrupted call. All hooks of an interrupted turn
    /// share one; a call that was stopped by itself, in a background agent, gets its own.
    /// Must be called inside a runtime.
    pub fn aftermath(&self) -> CancellationToken {
        let mut turn = self.turn();
        if !turn.token.is_cancelled() {
            return runs_out();
        }
        turn.aftermath.get_or_insert_with(runs_out).clone()
    }

    /// Ends what runs now; the program goes on.
    pub fn press(&self) {
        self.token().cancel();
    }

    /// A fresh token, unless the program itself is ending.
    pub fn renew(&self) -> CancellationToken {
        let fresh = self.program.child_token();
        let mut turn = self.turn();
        turn.token = fresh.clone();
        // The program ends once, and what it leaves to report shares one allowance.
        if !self.program.is_cancelled() {
            turn.aftermath = None;
        }
        fresh
    }

    /// The token that ends the program.
    pub fn program(&self) -> &CancellationToken {
        &self.program
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<CancellationToken> for Halt {
    fn from(program: CancellationToken) -> Self {
        Self::new(program)
    }
}

/// A token that is cancelled after [`AFTERMATH`].
fn runs_out() -> CancellationToken {
    let token = CancellationToken::new();
    let timer = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(AFTERMATH).await;
        timer.cancel();
    });
    token
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

    #[tokio::test]
    async fn reports_of_one_interrupt_share_a_token() {
        let halt = Halt::new(CancellationToken::new());
        halt.aftermath().cancel();
        halt.press();
        let (first, second) = (halt.aftermath(), halt.aftermath());
        assert!(!first.is_cancelled(), "a task that was stopped by itself shares nothing");
        first.cancel();
        assert!(second.is_cancelled());
        halt.renew();
        halt.press();
        assert!(!halt.aftermath().is_cancelled(), "the next interrupt has its own");
        halt.program().cancel();
        let last = halt.aftermath();
        halt.renew();
        last.cancel();
        assert!(halt.aftermath().is_cancelled(), "the program ends once");
    }
}
