//! A public page of search results, for providers without a search of their own.

use super::{SearchError, SearchHit, SearchReply, exchange, server_of};
use crate::html::{attribute, elements, parse, plain_text, tag};
use html5ever::local_name;
use ona_auth::http;
use reqwest::StatusCode;
use url::Url;

pub(super) const ENDPOINT: &str = "https://html.duckduckgo.com/html/";

pub(super) async fn search(endpoint: &str, query: &str) -> Result<SearchReply, SearchError> {
    let mut url = Url::parse(endpoint).map_err(|error| SearchError::Refused(error.to_string()))?;
    url.query_pairs_mut().append_pair("q", query);
    let server = server_of(&url);
    let client = http::search_client(url.as_str()).map_err(|error| SearchError::Transport(error.to_string()))?;
    let (status, body) = exchange(&server, client.get(url.clone())).await?;
    // Another success means a page that wants to know whether a person is asking.
    if status != StatusCode::OK {
        let hint = "set ONA_WEBSEARCH_URL to a search service of your own";
        return Err(SearchError::Refused(format!("{server} answered {status} to the search; {hint}.")));
    }
    let page = String::from_utf8_lossy(&body).into_owned();
    let made = tokio::task::spawn_blocking(move || hits(&page, &url)).await;
    let hits = made.map_err(|_| SearchError::Refused(format!("{server} answered with a page that cannot be read")))?;
    Ok(SearchReply { hits, searches: 1 })
}

/// Links of the class `result__a`, each followed by its excerpt. The target is a parameter of an address
/// that counts clicks.
fn hits(page: &str, at: &Url) -> Vec<SearchHit> {
    let document = parse(page).0.document;
    let mut hits: Vec<SearchHit> = Vec::new();
    for element in elements(&document) {
        let class = attribute(&element, &local_name!("class")).unwrap_or_default();
        let has = |wanted: &str| class.split_whitespace().any(|name| name == wanted);
        if has("result__a") && tag(&element) == Some(&local_name!("a")) {
            let link = attribute(&element, &local_name!("href")).and_then(|href| at.join(&href).ok());
            let Some(link) = link else { continue };
            let target = link.query_pairs().find(|(key, _)| key == "uddg").map(|(_, value)| value.into_owned());
            // Advertisements lead to the service itself.
            let is_own = target.is_none() && link.host_str() == at.host_str();
            let hit = SearchHit::new(&plain_text(&element), target.as_deref().unwrap_or(link.as_str()), "");
            hits.extend(hit.filter(|hit| !is_own && hit.url.domain() != Some("duckduckgo.com")));
        } else if has("result__snippet")
            && let Some(last) = hits.last_mut()
            && last.excerpt.is_empty()
        {
            last.excerpt = plain_text(&element).replace('\n', " ");
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_excerpts_are_read_from_the_page() {
        let page = r#"<html><body><div class="results">
            <div class="result"><h2><a rel="nofollow" class="result__a"
              href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.test%2Fx%3Fy%3D1&amp;rut=abc">The <b>first</b></a></h2>
              <a class="result__snippet" href="//duckduckgo.com/l/?uddg=z">some <b>words</b> of it</a></div>
            <div class="result"><a class="big result__a" href="https://b.test/">Second</a></div>
            <div class="result result--ad"><a class="result__a" href="https://duckduckgo.com/y.js?ad=1">Ad</a></div>
            <a class="other" href="https://c.test/">No result</a></div></body></html>"#;
        let at = Url::parse(ENDPOINT).unwrap();
        let hit = |title, url, words| SearchHit::new(title, url, words).unwrap();
        assert_eq!(
            hits(page, &at),
            [hit("The first", "https://a.test/x?y=1", "some words of it"), hit("Second", "https://b.test/", "")]
        );
    }
}
