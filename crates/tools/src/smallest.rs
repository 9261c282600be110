//! The first results in an order, out of many that are found in no order.
//!
//! Searches run on several threads. Each thread keeps the smallest items it has
//! met and counts the rest; merging gives the same answer however the work was
//! divided, in memory bounded by what will be shown.

use std::collections::BinaryHeap;

/// The smallest items whose weights together reach `limit`.
pub(crate) struct Smallest<T> {
    limit: usize,
    heap: BinaryHeap<(T, usize)>,
    weight: usize,
}

impl<T: Ord> Smallest<T> {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new(), weight: 0 }
    }

    pub(crate) fn push(&mut self, item: T, weight: usize) {
        self.weight += weight;
        self.heap.push((item, weight));
        // The largest item goes when the others suffice.
        while self.heap.peek().is_some_and(|(_, weight)| self.weight - weight >= self.limit) {
            self.weight -= self.heap.pop().map_or(0, |(_, weight)| weight);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (item, weight) in other.heap {
            self.push(item, weight);
        }
    }

    pub(crate) fn into_sorted(self) -> Vec<T> {
        self.heap.into_sorted_vec().into_iter().map(|(item, _)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_smallest_remain_however_they_arrive(
            items in prop::collection::btree_set(0u8..100, 0..40), limit in 0usize..20, split in 0usize..40,
        ) {
            let weight = |item: &u8| usize::from(item % 3) + 1;
            let mut expected = Vec::new();
            let mut sum = 0;
            for item in &items {
                if sum >= limit { break; }
                sum += weight(item);
                expected.push(*item);
            }
            let (mut a, mut b) = (Smallest::new(limit), Smallest::new(limit));
            for (i, item) in items.iter().rev().enumerate() {
                if i < split { &mut a } else { &mut b }.push(*item, weight(item));
            }
            a.merge(b);
            prop_assert_eq!(a.into_sorted(), expected);
        }
    }
}
