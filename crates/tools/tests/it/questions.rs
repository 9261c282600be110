//! AskUserQuestion, answered by what comes with the call.

use crate::fixture::Fixture;
use serde_json::{Value, json};

fn question(text: &str) -> Value {
    json!({"question": text, "header": "H", "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}]})
}

#[tokio::test]
async fn answers_come_from_the_map_or_from_the_question_itself() {
    let fixture = Fixture::new();
    let input =
        json!({"questions": [question("One?"), question("Two?")], "answers": {"One?": "A", "Two?": "words of my own"}});
    assert_eq!(fixture.ok("AskUserQuestion", input).await, "\"One?\" = \"A\"\n\"Two?\" = \"words of my own\"");
    let several = json!({"questions": [question("One?")], "answers": {"One?": ["A", "B"]}});
    assert_eq!(fixture.ok("AskUserQuestion", several).await, "\"One?\" = \"A, B\"", "labels of one question");
    for key in ["answer", "user_answer", "selected"] {
        let mut asked = question("One?");
        asked[key] = "B".into();
        let result = fixture.call("AskUserQuestion", json!({"questions": [asked.clone()]})).await;
        assert_eq!(result.content, "\"One?\" = \"B\"", "{key}");
        assert_eq!(result.data["answers"], json!({"One?": "B"}), "{key}");
        let both = json!({"questions": [asked], "answers": {"One?": "A"}});
        assert_eq!(fixture.ok("AskUserQuestion", both).await, "\"One?\" = \"A\"", "the map counts first");
    }
}

#[tokio::test]
async fn a_question_without_an_answer_is_refused_whole() {
    let fixture = Fixture::new();
    let half = json!({"questions": [question("One?"), question("Two?")], "answers": {"One?": "A"}});
    assert!(fixture.no("AskUserQuestion", half).await.starts_with("Not answered: \"Two?\""));
    let none = json!({"questions": [question("One?")]});
    assert!(fixture.no("AskUserQuestion", none).await.starts_with("Nobody is there to answer"));
}

#[tokio::test]
async fn the_number_of_questions_and_options_is_bounded() {
    let fixture = Fixture::new();
    let none = json!({"questions": []});
    assert_eq!(fixture.no("AskUserQuestion", none).await, "Ask one to four questions at a time, not 0.");
    let single =
        json!({"questions": [{"question": "Q?", "header": "H", "options": [{"label": "A"}]}], "answers": {"Q?": "A"}});
    assert_eq!(fixture.no("AskUserQuestion", single).await, "The question \"Q?\" has 1 options; give two to four.");
}
