//! Cancels the current turn, so that the next one can begin.
//!
//! A token can be cancelled once. A program that goes on after an interrupted turn needs a
//! new one for every turn, and hooks and tools started in between must see the one that
//! counts. Whatever ends the program ends the turn as well.
//!
//! Hooks that report an interrupted call must not be ended by the interrupt they report:
//! they have a token of their own, which runs out after [`REPORT_TIME`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Time that all hooks together have to report what was interrupted (DEC-188).
pub const REPORT_TIME: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct TurnCancellation {
    program: CancellationToken,
    turn: Arc<Mutex<Turn>>,
}

#[derive(Debug)]
struct Turn {
    token: CancellationToken,
    /// There once something asked for it after the turn was ended.
    report: Option<CancellationToken>,
}

impl TurnCancellation {
    /// `program` ends everything.
    pub fn new(program: CancellationToken) -> Self {
        let turn = Arc::new(Mutex::new(Turn { token: program.child_token(), report: None }));
        Self { program, turn }
    }

    /// Returns the token of the current turn.
    pub fn token(&self) -> CancellationToken {
        self.turn().token.clone()
    }

    /// Returns the token of hooks that report an interrupted call. All hooks of an interrupted turn
    /// share one; a call that was stopped by itself, in a background agent, gets its own.
    /// Must be called inside a runtime.
    pub fn report_token(&self) -> CancellationToken {
        let mut turn = self.turn();
        if !turn.token.is_cancelled() {
            return expiring_token();
        }
        turn.report.get_or_insert_with(expiring_token).clone()
    }

    /// Ends what runs now; the program goes on.
    pub fn cancel_turn(&self) {
        self.token().cancel();
    }

    /// Returns a fresh token, unless the program itself is ending.
    pub fn begin_turn(&self) -> CancellationToken {
        let fresh = self.program.child_token();
        let mut turn = self.turn();
        turn.token = fresh.clone();
        // The program ends once, and what it leaves to report shares one allowance.
        if !self.program.is_cancelled() {
            turn.report = None;
        }
        fresh
    }

    /// Returns the token that ends the program.
    pub fn program(&self) -> &CancellationToken {
        &self.program
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<CancellationToken> for TurnCancellation {
    fn from(program: CancellationToken) -> Self {
        Self::new(program)
    }
}

/// Returns a token that is cancelled after [`REPORT_TIME`].
fn expiring_token() -> CancellationToken {
    let token = CancellationToken::new();
    let timer = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(REPORT_TIME).await;
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
        let cancellation = TurnCancellation::new(program.clone());
        let first = cancellation.token();
        cancellation.cancel_turn();
        assert!(first.is_cancelled() && !program.is_cancelled());
        let second = cancellation.begin_turn();
        assert!(!second.is_cancelled());
        program.cancel();
        assert!(second.is_cancelled() && cancellation.begin_turn().is_cancelled());
    }

    #[tokio::test]
    async fn reports_of_one_interrupt_share_a_token() {
        let cancellation = TurnCancellation::new(CancellationToken::new());
        cancellation.report_token().cancel();
        cancellation.cancel_turn();
        let (first, second) = (cancellation.report_token(), cancellation.report_token());
        assert!(!first.is_cancelled(), "a task that was stopped by itself shares nothing");
        first.cancel();
        assert!(second.is_cancelled());
        cancellation.begin_turn();
        cancellation.cancel_turn();
        assert!(!cancellation.report_token().is_cancelled(), "the next interrupt has its own");
        cancellation.program().cancel();
        let last = cancellation.report_token();
        cancellation.begin_turn();
        last.cancel();
        assert!(cancellation.report_token().is_cancelled(), "the program ends once");
    }
}
