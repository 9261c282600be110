//! Small notations used in more than one kind of file: `*` in addresses, lists of
//! permission rules. What a rule means is `permissions`' own.

/// Returns whether a URL matches a pattern in which `*` matches anything. The host's case and a
/// dot at its end make no difference.
pub fn url_matches(url: &str, pattern: &str) -> bool {
    let (url, pattern) = (plain(url), plain(pattern));
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| url.strip_prefix(first)) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn plain(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let host = host.to_ascii_lowercase();
    let (name, port) =
        host.split_once(':').map_or((host.as_str(), String::new()), |(name, port)| (name, format!(":{port}")));
    format!("{}://{}{port}{path}", scheme.to_ascii_lowercase(), name.trim_end_matches('.'))
}

/// Splits a list of permission rules: separated by commas or blanks outside parentheses.
pub fn split_rules(text: &str) -> Vec<String> {
    let mut rules = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match rules.last_mut() {
            Some(rule) if depth > 0 || !(c == ',' || c.is_whitespace()) => rule.push(c),
            _ => rules.push(String::new()),
        }
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_what_its_stars_leave_open() {
        let cases = [
            ("https://hooks.example/a", "https://hooks.example/*", true),
            ("https://HOOKS.example./a", "https://hooks.example/*", true),
            ("https://hooks.example.evil/a", "https://hooks.example/*", false),
            ("http://localhost:8080/x", "http://localhost:*", true),
            ("https://a.b/c", "https://a.b/c", true),
            ("https://a.b/cd", "https://a.b/c", false),
            ("https://x.b/c/end", "https://*.b/*/end", true),
        ];
        for (url, pattern, expected) in cases {
            assert_eq!(url_matches(url, pattern), expected, "{url} {pattern}");
        }
    }

    #[test]
    fn a_list_is_split_outside_parentheses() {
        assert_eq!(split_rules("Bash(touch *),Bash(mkdir *) Read"), ["Bash(touch *)", "Bash(mkdir *)", "Read"]);
        assert_eq!(split_rules(" , "), [""; 0]);
    }
}
