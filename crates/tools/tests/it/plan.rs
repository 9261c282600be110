//! From raw input to a plan: what fits, what is touched, which names exist.

use crate::fixture::Fixture;
use ona_api::Access;
use ona_tools::ToolBox;
use serde_json::{Value, json};

#[test]
fn paths_are_made_absolute_before_anyone_judges_them() {
    let fixture = Fixture::new();
    let (project, home) = (&fixture.cx.project, &fixture.cx.home);
    let cases = [
        ("a.txt", project.join("a.txt")),
        ("./x/../a.txt", project.join("a.txt")),
        ("../../../../../../../../../../etc/passwd", "/etc/passwd".into()),
        ("~/a", home.join("a")),
        ("~", home.clone()),
        ("~other/a", project.join("~other/a")),
        ("/x//y/./z/", "/x/y/z".into()),
    ];
    for (given, path) in cases {
        let plan = fixture.plan("Read", json!({"file_path": given, "limit": 1})).unwrap();
        assert_eq!(plan.input, json!({"file_path": path, "limit": 1}));
        assert_eq!(plan.access, [Access::Read(path)]);
    }
}

#[test]
fn each_tool_says_what_it_would_touch() {
    let fixture = Fixture::new();
    let file = fixture.file("a.rs", "");
    let project = fixture.cx.project.clone();
    let cases = [
        ("Write", json!({"file_path": "a.rs", "content": ""}), Access::Edit(file.clone())),
        ("Edit", json!({"file_path": "a.rs", "old_string": "", "new_string": ""}), Access::Edit(file.clone())),
        ("NotebookEdit", json!({"notebook_path": "n.ipynb", "new_source": ""}), Access::Edit(project.join("n.ipynb"))),
        ("Glob", json!({"pattern": "**/*.rs"}), Access::Search(project.clone())),
        ("Glob", json!({"pattern": "*.rs", "path": "src"}), Access::Search(project.join("src"))),
        ("Glob", json!({"pattern": "../other/*.rs"}), Access::Search(project.parent().unwrap().join("other"))),
        ("Glob", json!({"pattern": "/etc/*.conf", "path": "src"}), Access::Search("/etc".into())),
        ("Glob", json!({"pattern": "~/.ssh/id_*"}), Access::Search(fixture.cx.home.join(".ssh"))),
        ("Grep", json!({"pattern": "x"}), Access::Search(project.clone())),
        ("Grep", json!({"pattern": "x", "path": "a.rs"}), Access::Read(file)),
        ("Bash", json!({"command": "ls"}), Access::Shell { script: "ls".into(), cwd: project }),
        ("TaskOutput", json!({"task_id": "b1"}), Access::Plain),
        ("TaskStop", json!({"task_id": "b1"}), Access::Plain),
    ];
    for (tool, input, access) in cases {
        assert_eq!(fixture.plan(tool, input).unwrap().access, [access], "{tool}");
    }
}

#[test]
fn input_that_does_not_fit_is_refused_with_the_key_named() {
    let fixture = Fixture::new();
    let words = |tool: &str, input: Value| fixture.plan(tool, input).err().unwrap().to_string();
    assert_eq!(words("Read", json!("a.txt")), "the input must be a JSON object, not a string");
    assert_eq!(words("Read", json!({})), "missing field `file_path`");
    assert_eq!(
        words("Read", json!({"file_path": "a", "line": 1})),
        "unknown field `line`, expected one of `file_path`, `offset`, `limit`, `pages`, `allow_large`"
    );
    assert_eq!(words("Edit", json!({"file_path": "a", "old_string": "x"})), "missing field `new_string`");
    assert!(words("Read", json!({"file_path": "a", "limit": 0})).starts_with("`limit`: "));
    assert!(words("Bash", json!({"command": ["ls"]})).starts_with("`command`: "));
    assert!(words("Grep", json!({"pattern": "x", "-A": -1})).starts_with("`-A`: "));
}

#[test]
fn older_names_of_tools_and_keys_are_understood() {
    let fixture = Fixture::new();
    let plan = |tool: &str, input| fixture.plan(tool, input).unwrap().input;
    assert_eq!(plan("KillShell", json!({"shell_id": "b1"})), json!({"task_id": "b1"}));
    assert_eq!(plan("BashOutput", json!({"bash_id": "b1"})), json!({"task_id": "b1"}));
}

#[test]
fn tools_are_listed_in_the_order_of_section_7_with_closed_schemas() {
    let specs = ToolBox::builtin().specs();
    let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Read",
            "Write",
            "Edit",
            "NotebookEdit",
            "Bash",
            "Glob",
            "Grep",
            "AskUserQuestion",
            "TaskOutput",
            "Brief",
            "TaskStop"
        ]
    );
    for spec in &specs {
        assert_eq!(spec.input_schema["type"], "object", "{}", spec.name);
        assert_eq!(spec.input_schema["additionalProperties"], false, "{}", spec.name);
        for (key, schema) in spec.input_schema["properties"].as_object().unwrap() {
            assert!(schema["type"].is_string() && schema["description"].is_string(), "{} {key}: {schema}", spec.name);
        }
    }
}

/// The keys of the published schemas (DEC-130).
#[test]
fn keys_are_those_of_the_published_schemas() {
    let expected = [
        ("Read", "file_path", "offset limit pages allow_large"),
        ("Write", "file_path content", ""),
        ("Edit", "file_path old_string new_string", "replace_all"),
        ("NotebookEdit", "notebook_path new_source", "cell_id cell_type edit_mode"),
        ("Bash", "command", "timeout description run_in_background dangerouslyDisableSandbox"),
        ("Glob", "pattern", "path"),
        ("Grep", "pattern", "path glob type output_mode -A -B -C context -i -n -o head_limit offset multiline"),
        ("AskUserQuestion", "questions", ""),
        ("TaskOutput", "task_id", "block timeout"),
        ("Brief", "text", "title"),
        ("TaskStop", "task_id", ""),
    ];
    for (spec, (name, required, optional)) in ToolBox::builtin().specs().iter().zip(expected) {
        let mut keys: Vec<_> =
            spec.input_schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut wanted: Vec<_> = required.split(' ').chain(optional.split(' ').filter(|key| !key.is_empty())).collect();
        keys.sort_unstable();
        wanted.sort_unstable();
        assert_eq!((spec.name.as_str(), keys), (name, wanted));
        assert_eq!(spec.input_schema["required"], json!(required.split(' ').collect::<Vec<_>>()), "{name}");
    }
}
