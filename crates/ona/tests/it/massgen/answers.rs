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

#[test]
fn mg_x12_mixed_injections_land_each_at_its_own_place() {
    let injections = [("A", "tool_result"), ("U", "user_message"), ("B", "tool_result"), ("V", "user_message")];
    let (ona, model) = injecting(&injections, one_glob(), Wire::Messages);
    assert!(results(&ona)[0].as_str().unwrap().ends_with("\nA\nB"), "{:?}", results(&ona));
    let body = model.request(1).json().clone();
    let last = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let texts: Vec<_> = last.as_array().unwrap()[1..].iter().map(|part| part["text"].clone()).collect();
    assert_eq!(texts, ["U", "V"], "{last}");
}
