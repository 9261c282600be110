//! A search service of the operator's own, which answers like SearXNG: `?q=...&format=json`.

use super::{SearchError, SearchHit, SearchReply, exchange, server_of};
use ona_auth::http;
use serde::Deserialize;
use url::Url;

#[derive(Deserialize)]
struct Body {
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    content: Option<String>,
}

pub(super) async fn search(address: &str, query: &str) -> Result<SearchReply, SearchError> {
    let mut url = Url::parse(address.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| SearchError::Refused("ONA_WEBSEARCH_URL is not a web address.".to_owned()))?;
    let kept: Vec<(String, String)> =
        url.query_pairs().filter(|(key, _)| key != "q" && key != "format").map(|(k, v)| (k.into(), v.into())).collect();
    url.query_pairs_mut().clear().extend_pairs(kept).append_pair("q", query).append_pair("format", "json");
    let server = server_of(&url);
    let client = http::search_client(url.as_str()).map_err(|error| SearchError::Transport(error.to_string()))?;
    let (status, body) = exchange(&server, client.get(url)).await?;
    if !status.is_success() {
        return Err(SearchError::Refused(format!("{server} answered {status} to the search.")));
    }
    read(&body).ok_or_else(|| {
        SearchError::Refused(format!(
            "{server} did not answer with JSON that has a list \"results\"; is its JSON format on?"
        ))
    })
}

fn read(body: &[u8]) -> Option<SearchReply> {
    let body: Body = serde_json::from_slice(body).ok()?;
    let hits = body.results.iter().filter_map(|entry| {
        let title = entry.title.as_deref().unwrap_or(&entry.url);
        SearchHit::new(title, &entry.url, entry.content.as_deref().unwrap_or_default())
    });
    Some(SearchReply { hits: hits.collect(), searches: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_without_an_address_of_the_web_are_left_out() {
        let body = br#"{"query": "q", "results": [
            {"url": "https://a.test/", "title": "A", "content": "words", "engine": "x"},
            {"url": "ftp://b.test/", "title": "B"},
            {"url": "https://c.test/", "title": null, "content": null}]}"#;
        let hits = read(body).unwrap().hits;
        let told: Vec<_> =
            hits.iter().map(|hit| (hit.title.as_str(), hit.url.as_str(), hit.excerpt.as_str())).collect();
        assert_eq!(told, [("A", "https://a.test/", "words"), ("https://c.test/", "https://c.test/", "")]);
        assert_eq!(read(b"<html>"), None);
        assert_eq!(read(br#"{"error": "x"}"#), None);
    }
}
