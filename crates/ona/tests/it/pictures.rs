//! Pictures and files a person shows to a model.

use crate::ona;
use ona_api::digest::{base64, from_base64};
use ona_testkit::model::{Wire, call, say, status};
use serde_json::{Value, json};

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![120; (width * height) as usize]).unwrap();
    drop(writer);
    bytes
}

/// The pictures of a request as bytes, on either wire.
fn pictures(body: &Value) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for block in
        body["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_array()).flatten()
    {
        if block["type"] == "image" {
            let source = &block["source"];
            assert_eq!(source["type"], "base64");
            let data = from_base64(source["data"].as_str().unwrap()).unwrap();
            found.push((source["media_type"].as_str().unwrap().to_owned(), data));
        }
        if let Some(url) = block["image_url"]["url"].as_str() {
            let (media_type, data) = url.strip_prefix("data:").unwrap().split_once(";base64,").unwrap();
            found.push((media_type.to_owned(), from_base64(data).unwrap()));
        }
    }
    found
}

#[test]
fn files_and_folders_named_in_a_prompt_are_shown_and_other_words_are_not() {
    let mut ona = ona();
    ona.file("src/one.txt", "first\nsecond\nthird\n");
    ona.file("src/inner/two.txt", "x\n");
    let server = ona.model(Wire::Messages, [say("ok"), say("ok")]);
    ona.run(["-p", "compare @src/one.txt, @src and me@src/one.txt @someone @@ -1,2 @../"]).expect_code(0);
    let told = server.request(0).last_message();
    assert!(told.contains("src/one.txt (3 lines)\n1\tfirst\n2\tsecond\n3\tthird"), "{told}");
    assert!(told.contains("src/ (2 entries)\ninner/\none.txt"), "{told}");
    assert_eq!(told.matches("(3 lines)").count(), 1, "{told}");
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE entry_type='attachment'"), 2);
    ona.run(["-p", "see @src/one.txt#L2-3."]).expect_code(0);
    let told = server.request(1).last_message();
    assert!(told.contains("2\tsecond\n3\tthird") && !told.contains("1\tfirst"), "{told}");
}

#[test]
fn a_file_that_was_shown_may_be_edited_without_reading_it_again() {
    let mut ona = ona();
    ona.file("a.txt", "old\n");
    let edit = call("Edit", json!({"file_path": "a.txt", "old_string": "old", "new_string": "new"}));
    let _server = ona.model(Wire::Messages, [edit, say("done")]);
    ona.run(["-p", "change @a.txt", "--allowedTools", "Edit"]).expect_code(0);
    assert_eq!(ona.read("a.txt"), "new\n");
}

#[test]
fn what_rules_deny_is_not_attached_and_the_operator_is_told() {
    let mut ona = ona();
    ona.file("secret.txt", "the secret words\n");
    ona.file("keys/a.pem", "the secret words\n");
    ona.file("keys/b.txt", "fine\n");
    let outside = ona.root().join("outside.txt");
    std::fs::write(&outside, "the outside words\n").unwrap();
    std::os::unix::fs::symlink(&outside, ona.project().join("link.txt")).unwrap();
    let server = ona.model(Wire::Messages, [say("ok"), say("ok")]);
    ona.settings(json!({
        "permissions": {"allow": ["Read"], "deny": ["Read(secret.txt)", "Read(keys/*.pem)"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
    }));
    let ran = ona.run(["-p", "see @secret.txt and @keys"]).expect_code(0);
    assert!(ran.stderr.contains("@secret.txt was not attached: Denied by permission rule Read(secret.txt)"), "{ran:?}");
    let body = String::from_utf8_lossy(&server.request(0).body).into_owned();
    assert!(!body.contains("the secret words") && !body.contains("a.pem") && body.contains("b.txt"), "{body}");
    assert!(
        ona.value("SELECT json_extract(payload_json,'$.message') FROM transcript_entries WHERE json_extract(payload_json,'$.subtype')='not_attached'")
            .as_str()
            .unwrap()
            .starts_with("@secret.txt")
    );

    // Inside the working directories a mention is consent; beyond them it is a question.
    ona.settings(json!({"permissions": {}, "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    let ran = ona.run(["-p", &format!("see @keys/b.txt @link.txt @{}", outside.display())]).expect_code(0);
    let body = String::from_utf8_lossy(&server.request(1).body).into_owned();
    assert!(body.contains("fine") && !body.contains("the outside words"), "{body}");
    assert_eq!(ran.stderr.matches("was not attached").count(), 2, "{ran:?}");
}

#[test]
fn pictures_can_be_streamed_in() {
    let mut ona = ona();
    let small = png(4, 3);
    let server = ona.model(Wire::Messages, [say("one"), say("two"), say("three")]);
    let picture =
        |data: String| json!({"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": data}});
    let line = |content: Value| json!({"type": "user", "message": {"role": "user", "content": content}}).to_string();
    let input = [
        line(json!([{"type": "text", "text": "look"}, picture(base64(&small))])),
        line(json!([picture(base64(&small))])),
        line(json!([{"type": "text", "text": "and this"}, picture("Zm9v".into()), picture("%".into())])),
    ]
    .join("\n");
    let args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    let ran = ona.run_with_stdin(args, input.as_bytes()).expect_code(0);
    // What it is, is told by its bytes.
    assert_eq!(pictures(server.request(0).json()), [("image/png".to_owned(), small.clone())]);
    assert_eq!(pictures(server.request(1).json()).len(), 2);
    assert_eq!(pictures(server.request(2).json()).len(), 2);
    assert!(ran.stdout.contains("Picture 1 was not attached: it is not a PNG, JPEG, GIF or WebP picture"), "{ran:?}");
    assert!(ran.stderr.contains("its data is not base64"), "{ran:?}");
}

#[test]
fn another_refusal_is_not_taken_for_one_of_pictures() {
    let mut ona = ona();
    ona.file("a.png", png(4, 3));
    let server = ona.model(Wire::Messages, [status(400).message("tools.0.name: bad")]);
    ona.run(["-p", "what is in @a.png?"]).expect_code(1);
    assert_eq!(server.request_count(), 1);
    let server = ona.model(Wire::Messages, [status(400).message("image input is not supported")]);
    ona.run(["-p", "nothing to see"]).expect_code(1);
    assert_eq!(server.request_count(), 1, "no picture had to be left out");
}

#[test]
fn a_mentioned_file_that_does_not_exist_is_reported_in_every_form() {
    let prompt = "Compare @notes.txt and @src/gone.rs#L3 with @here.md, for me@example.org and @alice, upgrade \
                  @types/node, keep @app.route and @pytest.mark.slow, see @@ -1 +1 @@";
    let expected =
        ["@notes.txt", "@src/gone.rs#L3"].map(|word| format!("{word} was not attached: no such file or folder"));
    for form in ["text", "json", "stream-json"] {
        let mut ona = ona();
        let _server = ona.model(Wire::Messages, [say("done")]);
        ona.file("here.md", "here");
        let ran = ona.run(["-p", prompt, "--output-format", form]).expect_code(0);
        let told = if form == "stream-json" { &ran.stdout } else { &ran.stderr };
        assert!(expected.iter().all(|line| told.matches(line.as_str()).count() == 1), "{form}: {ran:?}");
        assert_eq!(told.matches("was not attached").count(), 2, "{form}: {ran:?}");
        let rows = ona.column("SELECT json_extract(payload_json,'$.message') FROM transcript_entries WHERE payload_json LIKE '%not_attached%'");
        assert_eq!(rows, expected);
        assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE entry_type='attachment'"), 1);
    }
}
