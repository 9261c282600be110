use crate::fixture::Fixture;
use serde_json::{Value, json};

const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "calc",
   "metadata": {"odd": 1.50},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "4\n"
     ]
    },
    {
     "data": {
      "image/png": "aGk=",
      "text/plain": "<Figure>"
     },
     "output_type": "display_data"
    }
   ],
   "source": [
    "2 + 2"
   ]
  }
 ],
 "metadata": {
  "zebra": 1e3,
  "kernelspec": {
   "language": "julia"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5,
 "vendor": true
}
"##;

fn edit(fields: Value) -> Value {
    let mut input = json!({"notebook_path": "n.ipynb", "new_source": ""});
    input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    input
}

#[tokio::test]
async fn a_notebook_is_read_cell_by_cell() {
    let fixture = Fixture::new();
    fixture.file("n.ipynb", NOTEBOOK);
    assert_eq!(
        fixture.ok("Read", json!({"file_path": "n.ipynb"})).await,
        "/p/n.ipynb (2 cells, julia)\n\
         --- cell intro (markdown) ---\n# Title\ntext\n\
         --- cell calc (code, run 3) ---\n2 + 2\n\
         --- output ---\n4\n\
         --- output ---\n<Figure>\n[image/png]"
    );
    // Its raw lines are one parameter away, and what is not a notebook is text.
    assert_eq!(
        fixture.ok("Read", json!({"file_path": "n.ipynb", "limit": 2})).await,
        "/p/n.ipynb (47 lines)\n1\t{\n2\t \"cells\": ["
    );
    fixture.file("broken.ipynb", "{");
    assert_eq!(fixture.ok("Read", json!({"file_path": "broken.ipynb"})).await, "/p/broken.ipynb (1 line)\n1\t{");
}

#[tokio::test]
async fn replacing_a_cell_clears_its_results_and_touches_nothing_else() {
    let fixture = Fixture::new();
    fixture.file("n.ipynb", NOTEBOOK);
    let result = fixture.call("NotebookEdit", edit(json!({"cell_id": "calc", "new_source": "a = 1\na"}))).await;
    assert_eq!(fixture.short(&result.content), "Replaced cell calc in /p/n.ipynb");
    let (head, tail) = NOTEBOOK.split_once("   \"execution_count\": 3,").unwrap();
    let (_, tail) = tail.split_once(" ],\n \"metadata\"").unwrap();
    let expected = format!(
        "{head}   \"execution_count\": null,\n   \"id\": \"calc\",\n   \"metadata\": {{\n    \"odd\": 1.5\n   }},\n   \
         \"outputs\": [],\n   \"source\": [\n    \"a = 1\\n\",\n    \"a\"\n   ]\n  }}\n ],\n \"metadata\"{tail}"
    );
    assert_eq!(fixture.text("n.ipynb"), expected);
    let data = &result.data;
    assert_eq!(
        (&data["old_source"], &data["cell_type"], &data["language"], &data["edit_mode"]),
        (&json!("2 + 2"), &json!("code"), &json!("julia"), &json!("replace"))
    );
}

#[tokio::test]
async fn cells_are_inserted_after_another_or_at_the_start() {
    let fixture = Fixture::new();
    fixture.file("n.ipynb", NOTEBOOK);
    let insert = |fields| {
        let mut input = edit(fields);
        input["edit_mode"] = "insert".into();
        input
    };
    let first = fixture.call("NotebookEdit", insert(json!({"cell_type": "markdown", "new_source": "first"}))).await;
    fixture.ok("NotebookEdit", insert(json!({"cell_id": "intro", "cell_type": "code", "new_source": "x"}))).await;
    let notebook: Value = serde_json::from_str(&fixture.text("n.ipynb")).unwrap();
    let sources: Vec<_> = notebook["cells"].as_array().unwrap().iter().map(|cell| cell["source"].clone()).collect();
    assert_eq!(sources, [json!(["first"]), json!(["# Title\n", "text"]), json!(["x"]), json!(["2 + 2"])]);
    let ids: Vec<_> = notebook["cells"].as_array().unwrap().iter().map(|cell| cell["id"].as_str().unwrap()).collect();
    assert_eq!(first.data["cell_id"], ids[0]);
    assert!(ids[0].len() == 8 && ids[2].len() == 8 && ids[0] != ids[2]);
    let code = &notebook["cells"][2];
    let keys: Vec<_> = code.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["cell_type", "execution_count", "id", "metadata", "outputs", "source"]);
    assert_eq!(fixture.no("NotebookEdit", insert(json!({}))).await, "cell_type is required to insert a cell.");
}

#[tokio::test]
async fn inserting_and_deleting_again_restores_every_byte() {
    let fixture = Fixture::new();
    let tabs = |line: &str| {
        let body = line.trim_start_matches(' ');
        "\t".repeat(line.len() - body.len()) + body
    };
    let tabbed: String = NOTEBOOK.split_inclusive('\n').map(tabs).collect();
    for text in [NOTEBOOK.to_owned(), NOTEBOOK.replace('\n', "\r\n"), tabbed] {
        fixture.file("n.ipynb", &text);
        fixture.ok("Read", json!({"file_path": "n.ipynb"})).await;
        let insert = edit(json!({"edit_mode": "insert", "cell_type": "code", "cell_id": "calc", "new_source": "x"}));
        let id = fixture.call("NotebookEdit", insert).await.data["cell_id"].clone();
        assert_ne!(fixture.text("n.ipynb"), text);
        fixture.ok("NotebookEdit", edit(json!({"edit_mode": "delete", "cell_id": id}))).await;
        assert_eq!(fixture.text("n.ipynb"), text);
    }
}

#[tokio::test]
async fn a_cell_can_change_its_type() {
    let fixture = Fixture::new();
    fixture.file("n.ipynb", NOTEBOOK);
    fixture.ok("NotebookEdit", edit(json!({"cell_id": "calc", "cell_type": "markdown", "new_source": "m"}))).await;
    fixture.ok("NotebookEdit", edit(json!({"cell_id": "intro", "cell_type": "code", "new_source": "c"}))).await;
    let notebook: Value = serde_json::from_str(&fixture.text("n.ipynb")).unwrap();
    assert_eq!(
        notebook["cells"],
        json!([
            {"cell_type": "code", "id": "intro", "metadata": {}, "source": ["c"], "execution_count": null, "outputs": []},
            {"cell_type": "markdown", "id": "calc", "metadata": {"odd": 1.5}, "source": ["m"]},
        ])
    );
}

#[tokio::test]
async fn older_and_compact_notebooks_work_by_position() {
    let fixture = Fixture::new();
    let compact = r#"{"nbformat":4,"nbformat_minor":2,"cells":[{"cell_type":"raw","source":"a"},{"cell_type":"raw","source":"b"}]}"#;
    fixture.file("n.ipynb", compact);
    assert_eq!(
        fixture.ok("NotebookEdit", edit(json!({"cell_id": "cell-1", "new_source": "c"}))).await,
        "Replaced cell cell-1 in /p/n.ipynb"
    );
    assert_eq!(fixture.text("n.ipynb"), compact.replace("},{", "}, {").replace("\"b\"", "\"c\""));
    fixture.ok("NotebookEdit", edit(json!({"cell_id": "cell-0", "edit_mode": "delete"}))).await;
    fixture.ok("NotebookEdit", edit(json!({"cell_id": "cell-0", "edit_mode": "delete"}))).await;
    assert_eq!(fixture.text("n.ipynb"), r#"{"nbformat":4,"nbformat_minor":2,"cells":[]}"#);
    let insert = edit(json!({"edit_mode": "insert", "cell_type": "markdown", "new_source": "m"}));
    assert_eq!(fixture.ok("NotebookEdit", insert).await, "Inserted cell cell-0 in /p/n.ipynb");
}

#[tokio::test]
async fn what_is_not_a_notebook_or_not_a_cell_is_refused() {
    let fixture = Fixture::new();
    fixture.file("n.ipynb", NOTEBOOK);
    let no = async |fields| fixture.no("NotebookEdit", edit(fields)).await;
    assert_eq!(no(json!({"cell_id": "x"})).await, "Unknown cell x. The cells are: intro, calc");
    assert_eq!(no(json!({})).await, "cell_id is required to replace or delete a cell.");
    assert_eq!(no(json!({"notebook_path": "none.ipynb"})).await, "/p/none.ipynb does not exist.");
    assert_eq!(no(json!({"notebook_path": "a.txt"})).await, "/p/a.txt is not a notebook (.ipynb); use Edit.");
    fixture.file("v3.ipynb", r#"{"nbformat": 3, "cells": []}"#);
    assert_eq!(
        no(json!({"notebook_path": "v3.ipynb"})).await,
        "/p/v3.ipynb: notebook format 3 is not supported, only 4."
    );
    fixture.file("broken.ipynb", "[]");
    assert!(no(json!({"notebook_path": "broken.ipynb"})).await.starts_with("/p/broken.ipynb: not a notebook: "));
    fixture.ok("Read", json!({"file_path": "n.ipynb"})).await;
    fixture.file("n.ipynb", NOTEBOOK.replace("Title", "Other"));
    assert!(no(json!({"cell_id": "calc"})).await.contains("has changed on disk"));
}
