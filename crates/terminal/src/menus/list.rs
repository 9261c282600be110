//! The cursor in a list that may be longer than its place on the screen.

/// Which entry is chosen and which is the first that shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListCursor {
    selected: Option<usize>,
    len: usize,
}

impl ListCursor {
    /// A list with its first entry chosen.
    pub fn new(len: usize) -> ListCursor {
        ListCursor { selected: (len > 0).then_some(0), len }
    }

    /// A list in which nothing is chosen yet.
    pub fn unselected(len: usize) -> ListCursor {
        ListCursor { selected: None, len }
    }

    pub fn selected(&self) -> Option<usize> {
        self.selected
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn select(&mut self, index: usize) {
        if index < self.len {
            self.selected = Some(index);
        }
    }

    /// Goes on to the next entry; after the last comes the first.
    pub fn next(&mut self) {
        if self.len > 0 {
            self.selected = Some(self.selected.map_or(0, |selected| (selected + 1) % self.len));
        }
    }

    pub fn previous(&mut self) {
        if self.len > 0 {
            self.selected = Some(self.selected.map_or(self.len - 1, |selected| (selected + self.len - 1) % self.len));
        }
    }

    /// Moves by a page, and stays at the ends.
    pub fn page(&mut self, by: isize) {
        if self.len > 0 {
            let target = self.selected.unwrap_or(0).saturating_add_signed(by);
            self.selected = Some(target.min(self.len - 1));
        }
    }

    /// Returns which entries show in so many rows: the chosen one among them, with neighbours on both sides.
    pub fn window(&self, rows: usize) -> std::ops::Range<usize> {
        let start = self.selected.unwrap_or(0).saturating_sub(rows / 2).min(self.len.saturating_sub(rows));
        start..self.len.min(start + rows)
    }
}

#[cfg(test)]
mod tests {
    use super::ListCursor;

    #[test]
    fn the_chosen_entry_always_shows() {
        let mut list = ListCursor::new(10);
        assert_eq!(list.window(4), 0..4);
        list.previous();
        assert_eq!((list.selected(), list.window(4)), (Some(9), 6..10));
        list.next();
        list.page(5);
        assert_eq!((list.selected(), list.window(4)), (Some(5), 3..7));
        list.page(-50);
        assert_eq!(list.selected(), Some(0));
        assert_eq!(ListCursor::new(2).window(4), 0..2);
        let mut empty = ListCursor::new(0);
        empty.next();
        assert_eq!((empty.selected(), empty.window(4)), (None, 0..0));
    }
}
