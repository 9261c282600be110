//! Phases, plans and the gate from the command line (sections 8.1 to 8.3).

use crate::ona;
use ona_testkit::Ona;
use serde_json::json;

fn conversation(ona: &Ona, phase: &str) {
    if !ona.db().exists() {
        ona.run(["db", "init"]).expect_code(0);
    }
    let project = ona.project();
    let sql = "INSERT OR REPLACE INTO conversations(id, project_dir, phase) VALUES ('c', ?1, ?2)";
    ona.execute(sql, [project.to_str().expect("a plain path"), phase]);
}

fn phase(ona: &Ona) -> String {
    ona.value("SELECT phase FROM conversations WHERE id='c'").as_str().unwrap().to_owned()
}

#[test]
fn bash_children_know_whose_database_is_live() {
    let ona = ona();
    let line = ona.eval("Bash", json!({"command": "echo $AGENT_SDLC_DB; echo $ONA_AGENT_DB"}));
    let db = ona.db();
    assert_eq!(line["content"], format!("{0}\n{0}\n", db.display()));
}

#[test]
fn dropping_the_mark_from_the_environment_does_not_make_an_operator() {
    let ona = ona();
    conversation(&ona, "implement");
    let program = env!("CARGO_BIN_EXE_ona");
    ona.settings(json!({"permissions": {"allow": ["Bash"]}}));
    for command in [
        format!("env -u ONA_AGENT_DB {program} --transition test --conversation c"),
        format!("(unset ONA_AGENT_DB; {program} --transition test --conversation c)"),
        format!("env -i AGENT_SDLC_DB={} HOME=/tmp {program} --transition test --conversation c", ona.db().display()),
    ] {
        let line = ona.eval("Bash", json!({"command": command}));
        assert_eq!(line["is_error"], true, "{command}: {line}");
        assert_eq!(phase(&ona), "implement", "{command}");
    }
}
