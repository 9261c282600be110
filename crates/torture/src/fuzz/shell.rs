//! Shell text. Laws: a deny rule more never widens; a script that is denied stays denied behind
//! another command; what cannot be understood is not allowed by a narrow rule.

use super::mutate;
use super::world::WORLD;
use crate::random::Random;
use ona_api::Ruling;
use ona_permissions::bash_tree;
use serde_json::json;

const PIECES: [&str; 80] = [
    "ls",
    "rm",
    "rm -rf x",
    "echo",
    "cat .env",
    "git push",
    "git -C . reset --hard",
    "sh -c",
    "eval",
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "(",
    "{",
    "}",
    "[[",
    "]]",
    "((",
    "))",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "\n",
    " ",
    "  ",
    "\\",
    "\\\n",
    ">",
    ">>",
    ">|",
    "<",
    "<<EOF",
    "<<-'E'",
    "EOF",
    "\nEOF\n",
    "<<<",
    "2>&1",
    "<(",
    "$X",
    "${X",
    "${X:-rm}",
    "${!X}",
    "X=1",
    "X+=(a)",
    "*",
    "~",
    "#",
    "if",
    "then",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "while",
    "case",
    "esac",
    "function f",
    "!",
    "$'\\x72m'",
    "é",
    "\0",
    "-exec",
    "xargs",
    "timeout 5",
    "env",
    "sudo",
    "/proc/self/environ",
    ".claude/settings.json",
    "{a,b}",
    "..",
    "/",
    "find . -name x -delete",
    "awk 'BEGIN{system(\"rm x\")}'",
    "\u{fffc}",
];
const RULES: [&str; 16] = [
    "Bash",
    "Bash(ls:*)",
    "Bash(rm:*)",
    "Bash(rm *)",
    "Bash(echo *)",
    "Bash(git push)",
    "Bash(* x)",
    "Bash(cat:*)",
    "Bash(eval:*)",
    "Bash(sh:*)",
    "Bash(env:*)",
    "Bash(@read-only)",
    "Read(.env)",
    "Read(./**)",
    "Edit(src/**)",
    "Edit",
];

fn rules(random: &mut Random) -> Vec<String> {
    (0..random.below(5)).map(|_| (*random.pick(&RULES)).to_owned()).collect()
}

pub(super) fn decide(random: &mut Random, input: &mut String) -> Result<(), String> {
    let mut script = mutate::text(random, &PIECES, 16);
    if random.one_in(3) {
        script = mutate::words(random, &[&script], &PIECES);
    }
    if random.one_in(200) {
        script = script.repeat(60);
    }
    let (allow, mut deny) = (rules(random), rules(random));
    *input = format!("allow {allow:?} deny {deny:?} on {script:?}");
    // The tree is for other readers; here it must only not panic.
    bash_tree(&script, 10_000).map(|tree| tree.root_node().child_count());
    let engine = |deny: &[String]| WORLD.engine(&allow, &[], deny, "default").ok_or("lists that can be read");
    let before = WORLD.bash(&engine(&deny)?, &script);
    deny.push((*random.pick(&RULES)).to_owned());
    let stricter = engine(&deny)?;
    let after = WORLD.bash(&stricter, &script);
    if after < before {
        return Err(format!("a deny rule more widened {before:?} to {after:?}"));
    }
    if before == Ruling::Allow && allow.is_empty() {
        return Err("allowed without an allow rule".to_owned());
    }
    if random.one_in(16) {
        stricter.explain("Bash", &json!({}), &WORLD.shell(&script));
    }
    Ok(())
}
