//! Finds the scripts in a generator's answer. The form is strict, so that no guess is needed
//! what was meant: a block opens with the line ```` ```bash ```` and closes with the line ```` ``` ````.

/// What an answer holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneratorReply {
    /// One per block, in order, each ending in a newline.
    pub scripts: Vec<String>,
    /// The last block has no end: the answer was cut off. It is not among the scripts.
    pub unclosed: bool,
}

pub fn scripts(answer: &str) -> GeneratorReply {
    let mut reply = GeneratorReply::default();
    let mut open: Option<String> = None;
    for line in answer.lines() {
        let fence = line.trim_end();
        match &mut open {
            None if fence == "```bash" => open = Some(String::new()),
            None => {}
            Some(_) if fence == "```" => reply.scripts.extend(open.take()),
            Some(script) => {
                script.push_str(line);
                script.push('\n');
            }
        }
    }
    reply.unclosed = open.is_some();
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_scripts_and_the_rest_is_not_read() {
        let reply = scripts("Sure!\n```bash\n# traces: A-1\nx\n```\n```sh\nno\n```\n```bash  \r\ny\n```\nDone.");
        assert_eq!(reply, GeneratorReply { scripts: vec!["# traces: A-1\nx\n".into(), "y\n".into()], unclosed: false });
    }

    #[test]
    fn a_block_that_was_cut_off_is_no_script() {
        assert_eq!(scripts("```bash\nrm -rf "), GeneratorReply { scripts: vec![], unclosed: true });
        assert_eq!(scripts("no tests today"), GeneratorReply::default());
    }
}
