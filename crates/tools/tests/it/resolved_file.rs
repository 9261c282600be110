//! Files are opened where they were when the call was judged (DEC-184).

use crate::fixture::Fixture;
use ona_api::{Access, ResultClass};
use ona_files::PathForms;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("Read", json!({"file_path": "d/f.txt"})),
        ("Write", json!({"file_path": "d/f.txt", "content": "changed"})),
        ("Write", json!({"file_path": "d/new/f.txt", "content": "changed"})),
        ("Edit", json!({"file_path": "d/f.txt", "old_string": "secret", "new_string": "changed"})),
        ("Edit", json!({"file_path": "d/new.txt", "old_string": "", "new_string": "changed"})),
        ("NotebookEdit", json!({"notebook_path": "d/n.ipynb", "cell_id": "a", "new_source": "changed"})),
        ("Grep", json!({"pattern": "secret", "path": "d"})),
        ("Grep", json!({"pattern": "secret", "path": "d/f.txt"})),
        ("Glob", json!({"pattern": "d/*"})),
    ]
}

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let notebook = json!({"cells": [{"id": "a", "cell_type": "markdown", "metadata": {}, "source": "secret"}],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5});
    for folder in ["d", "elsewhere"] {
        fixture.file(&format!("{folder}/f.txt"), "secret");
        fixture.file(&format!("{folder}/n.ipynb"), notebook.to_string());
    }
    fixture
}

/// The call as it is judged now, run after something has happened.
async fn judged_then(fixture: &Fixture, tool: &str, input: Value, happens: impl FnOnce()) -> (ResultClass, String) {
    let mut plan = fixture.plan(tool, input).unwrap();
    let path = |access: &Access| match access {
        Access::Read(path) | Access::Search(path) | Access::Edit(path) => PathForms::of(path),
        other => panic!("{other:?}"),
    };
    plan.judged = Some(plan.access.iter().map(path).collect());
    happens();
    let result = plan.run(&fixture.cx).await;
    (result.class, fixture.short(&result.content))
}

#[tokio::test]
async fn a_folder_that_has_become_a_link_is_not_entered() {
    for (tool, input) in calls() {
        let fixture = fixture();
        let swap = || {
            fs::rename(fixture.path("d"), fixture.path("moved")).unwrap();
            symlink("elsewhere", fixture.path("d")).unwrap();
        };
        let before = fs::read_dir(fixture.path("elsewhere")).unwrap().count();
        let (class, content) = judged_then(&fixture, tool, input.clone(), swap).await;
        assert_eq!(class, ResultClass::Rejected, "{tool} {input}: {content}");
        assert!(content.contains("changed while this call was being judged"), "{tool} {input}: {content}");
        assert_eq!(fixture.text("elsewhere/f.txt"), "secret", "{tool}");
        assert!(fixture.text("elsewhere/n.ipynb").contains("secret"), "{tool}");
        assert_eq!(fs::read_dir(fixture.path("elsewhere")).unwrap().count(), before, "{tool}");
    }
}

#[tokio::test]
async fn a_file_that_has_become_a_link_is_not_opened() {
    for (tool, input) in calls().into_iter().filter(|(_, input)| input.to_string().contains("f.txt")) {
        let fixture = fixture();
        let swap = || {
            for file in ["d/f.txt", "d/new"] {
                fs::remove_file(fixture.path(file)).ok();
                symlink("../elsewhere/f.txt", fixture.path(file)).unwrap();
            }
        };
        let (class, content) = judged_then(&fixture, tool, input.clone(), swap).await;
        assert_eq!(class, ResultClass::Rejected, "{tool} {input}: {content}");
        assert_eq!(fixture.text("elsewhere/f.txt"), "secret", "{tool}");
        assert!(fixture.path("d/f.txt").is_symlink(), "{tool}");
    }
}

#[tokio::test]
async fn links_that_were_there_lead_where_they_led() {
    let fixture = fixture();
    symlink("d", fixture.path("link")).unwrap();
    symlink("d/f.txt", fixture.path("file-link")).unwrap();
    assert!(fixture.ok("Read", json!({"file_path": "link/f.txt"})).await.contains("/p/link/f.txt"));
    assert_eq!(fixture.ok("Glob", json!({"pattern": "link/*.txt"})).await, "/p/link/f.txt");
    let lines =
        fixture.ok("Grep", json!({"pattern": "secret", "path": "link", "output_mode": "content", "glob": "*.txt"}));
    assert_eq!(lines.await, "/p/link/f.txt:1:secret");
    fixture.ok("Write", json!({"file_path": "file-link", "content": "new"})).await;
    assert_eq!(fixture.text("d/f.txt"), "new");
    assert!(fixture.path("file-link").is_symlink());

    // A link that is turned around between decision and act does not count any more.
    let turn = || {
        fs::remove_file(fixture.path("link")).unwrap();
        symlink("elsewhere", fixture.path("link")).unwrap();
    };
    let input = json!({"file_path": "link/g.txt", "content": "as judged"});
    assert_eq!(judged_then(&fixture, "Write", input, turn).await.0, ResultClass::Success);
    assert_eq!(fixture.text("d/g.txt"), "as judged");
    assert!(!fixture.path("elsewhere/g.txt").exists());
}

#[tokio::test]
async fn a_second_name_of_a_guarded_file_is_not_changed() {
    let mut fixture = fixture();
    let guarded = fixture.file("guarded", "kept");
    fs::hard_link(&guarded, fixture.path("alias")).unwrap();
    fs::hard_link(fixture.path("d/f.txt"), fixture.path("harmless")).unwrap();
    fixture.cx.guarded = Arc::new(move |file| {
        let known = ona_files::FileLocation::at(&guarded).unwrap().info().unwrap().unwrap();
        file.is_same_file(&known).then(|| "/guarded".to_owned())
    });
    for (tool, input) in [
        ("Write", json!({"file_path": "alias", "content": "x"})),
        ("Edit", json!({"file_path": "alias", "old_string": "kept", "new_string": "x"})),
    ] {
        let refused = fixture.no(tool, input).await;
        assert!(refused.contains("/p/alias is another name of /guarded"), "{refused}");
    }
    assert_eq!(fixture.text("guarded"), "kept");
    fixture.ok("Write", json!({"file_path": "harmless", "content": "x"})).await;
}
