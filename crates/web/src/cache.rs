//! Pages that were fetched a short while ago.
//!
//! The number of pages and their size are bounded: the oldest go first. What is kept is the text that was
//! made of a page and the way to it, so that the way can be judged again before the page is shown again.

use crate::fetch::Page;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use url::Url;

const MAX_PAGES: usize = 100;
const MAX_BYTES: usize = 32 * 1024 * 1024;

pub(crate) struct PageCache {
    ttl: Duration,
    pages: Mutex<VecDeque<KeptPage>>,
}

struct KeptPage {
    asked: Url,
    at: Instant,
    page: Arc<Page>,
}

impl PageCache {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self { ttl, pages: Mutex::default() }
    }

    pub(crate) fn get(&self, asked: &Url) -> Option<Arc<Page>> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = pages.iter().rev().find(|kept| kept.asked == *asked && kept.at.elapsed() < self.ttl)?;
        Some(Arc::clone(&kept.page))
    }

    pub(crate) fn put(&self, asked: Url, page: Arc<Page>) {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|kept| kept.asked != asked && kept.at.elapsed() < self.ttl);
        pages.push_back(KeptPage { asked, at: Instant::now(), page });
        let size = |pages: &VecDeque<KeptPage>| pages.iter().map(|kept| kept.page.text.len()).sum::<usize>();
        while pages.len() > MAX_PAGES || size(&pages) > MAX_BYTES {
            pages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(length: usize) -> Arc<Page> {
        Arc::new(Page::of_text("x".repeat(length)))
    }

    fn url(n: usize) -> Url {
        Url::parse(&format!("https://a.test/{n}")).unwrap()
    }

    #[test]
    fn the_oldest_pages_make_room() {
        let cache = PageCache::new(Duration::from_secs(60));
        for n in 0..=MAX_PAGES {
            cache.put(url(n), page(1));
        }
        assert!(cache.get(&url(0)).is_none() && cache.get(&url(1)).is_some());
        cache.put(url(500), page(MAX_BYTES));
        assert!(cache.get(&url(MAX_PAGES)).is_none() && cache.get(&url(500)).is_some());
        cache.put(url(500), page(1));
        assert_eq!(cache.get(&url(500)).unwrap().text, "x");
    }

    #[test]
    fn a_page_is_kept_no_longer_than_said() {
        let cache = PageCache::new(Duration::ZERO);
        cache.put(url(1), page(1));
        assert!(cache.get(&url(1)).is_none());
    }
}
