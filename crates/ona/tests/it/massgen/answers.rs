//! What hooks may answer: matchers, denials, changed input, injections.

use super::*;

/// The rows of a session after its first call, and what is said in them.
fn entries(ona: &Ona) -> Vec<(String, Value)> {
    let rows = ona.rows(
        "SELECT entry_type, coalesce(json_extract(payload_json, '$.content[0].text'), json_extract(payload_json, '$.content'))
         FROM transcript_entries WHERE entry_type IN ('tool_result', 'user', 'content_replacement') ORDER BY sequence",
    );
    rows.into_iter().skip(1).map(|row| (row[0].as_str().unwrap().to_owned(), row[1].clone())).collect()
}

#[test]
fn mg_6_2_a_user_message_follows_the_result_on_both_wires() {
    for wire in [Wire::Messages, Wire::Chat] {
        let (ona, model) = injecting(&[("C", "user_message")], one_glob(), wire);
        let rows = entries(&ona);
        assert_eq!(rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["tool_result", "user"]);
        assert_eq!(rows[1].1, "C");
        let last = model.request(1).json()["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last["role"], "user", "{last}");
        match wire {
            Wire::Messages => {
                assert_eq!(last["content"][0]["type"], "tool_result", "{last}");
                assert_eq!(last["content"][1]["text"], "C", "{last}");
            }
            Wire::Chat => assert!(last["content"].to_string().contains('C'), "{last}"),
        }
    }
}
