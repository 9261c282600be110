//! Commands that only read (DEC-191): a fixed table of programs with the options that are known to be
//! harmless.
//!
//! A command is proven word by word. An option, a program or a form of an argument that is not in the
//! table proves nothing, and what is not proven is not covered. A program is in the table only if no
//! option in its row starts another program, writes a file, uses the network, reads a list of file names
//! from somewhere, or follows links below the folders it is given. Which files the operands are, and
//! whether they lie in the working directories, is for the caller; so is the configuration of git.

use super::ShellCommand;
use super::redirect::{Direction, is_free};
use super::words::ShellWord;

/// What has to hold besides, for a command that only reads.
#[derive(Debug, Default)]
pub(crate) struct ReadProof<'a> {
    /// Operands that are files.
    pub files: Vec<&'a ShellWord>,
    /// It is git, whose repository may name programs.
    pub git: bool,
}

/// Returns the proof that a command only reads, as far as its words tell.
pub(crate) fn proof(command: &ShellCommand) -> Option<ReadProof<'_>> {
    let [program, words @ ..] = command.words.as_slice() else { return None };
    // A path may name a program of the project; a variable in front may change what a program does.
    let plain = program.fixed && program.raw == program.text && !program.text.contains('/');
    let alone = command.env.is_empty() && command.extra.is_empty() && command.chdir.is_none();
    if !plain || !alone || !words.iter().all(|word| word.fixed) || !redirects_are_harmless(command) {
        return None;
    }
    match program.text.as_str() {
        "git" => git(words),
        "find" => find(words),
        "sed" => sed(words),
        // Prints its words, whatever they are.
        "echo" => Some(ReadProof::default()),
        name => {
            let row = TABLE.iter().find(|row| row.names.split(' ').any(|one| one == name))?;
            row.proof(words)
        }
    }
}

/// Nothing is written, and nothing is connected: bash opens `/dev/tcp/…` as a connection.
fn redirects_are_harmless(command: &ShellCommand) -> bool {
    command.redirects.iter().all(|redirect| {
        let target = &redirect.target.text;
        is_free(target) || (redirect.direction == Direction::Read && !target.starts_with("/dev/"))
    })
}

/// What the words of a program that are not options are.
#[derive(Clone, Copy)]
enum Operands {
    Files,
    /// At most so many files: a further one would be written.
    UpTo(usize),
    /// A pattern or program first, then files.
    AfterFirst,
    /// Only words.
    Words,
    /// None is allowed.
    Nothing,
    /// Words that begin with `+`.
    Formats,
}

struct Row {
    names: &'static str,
    /// Letters of options without a value.
    flags: &'static str,
    /// Letters of options with one, in the same word or the next.
    valued: &'static str,
    /// Long options; `=` behind a name: it takes a value, in the same word or the next.
    long: &'static str,
    operands: Operands,
}

const fn row(
    names: &'static str,
    flags: &'static str,
    valued: &'static str,
    long: &'static str,
    operands: Operands,
) -> Row {
    Row { names, flags, valued, long, operands }
}

const COLOR: &str = "color colour";

const TABLE: &[Row] = &[
    row(
        "ls dir vdir",
        "1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ",
        "ITw",
        "all almost-all escape ignore-backups directory classify file-type full-time group-directories-first no-group \
         human-readable si inode kibibytes numeric-uid-gid hide-control-chars quote-name reverse recursive size \
         color colour hide= ignore= format= indicator-style= quoting-style= sort= time= time-style= block-size= width=",
        Operands::Files,
    ),
    row(
        "cat tac nl rev",
        "AbeEnstTuv",
        "",
        "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
        Operands::Files,
    ),
    row("head", "qvz0123456789", "nc", "lines= bytes= quiet silent verbose zero-terminated", Operands::Files),
    row("tail", "qvz0123456789", "nc", "lines= bytes= quiet silent verbose zero-terminated", Operands::Files),
    row("wc", "clmwL", "", "bytes chars lines words max-line-length", Operands::Files),
    row(
        "grep egrep fgrep",
        "EFGPciILlnoqsvwxhHrzZabTUy",
        "eABCm",
        "extended-regexp fixed-strings basic-regexp perl-regexp count ignore-case no-ignore-case line-number only-matching \
         quiet silent no-messages invert-match word-regexp line-regexp no-filename with-filename recursive text \
         files-with-matches files-without-match null null-data byte-offset initial-tab line-buffered color colour \
         regexp= after-context= before-context= context= max-count= include= exclude= exclude-dir= label=",
        Operands::AfterFirst,
    ),
    row(
        "rg",
        "FivnlcowxNSsHIUPu.0aqp",
        "eABCmgtTM",
        "ignore-case smart-case case-sensitive fixed-strings invert-match line-number no-line-number files-with-matches \
         files-without-match count count-matches only-matching word-regexp line-regexp no-filename with-filename \
         multiline multiline-dotall pcre2 unrestricted hidden no-ignore no-ignore-vcs null text quiet pretty heading \
         no-heading column no-column trim stats json vimgrep files type-list no-messages no-config crlf \
         no-require-git one-file-system color= regexp= after-context= before-context= context= max-count= glob= iglob= type= \
         type-not= max-columns= max-depth= max-filesize= sort= sortr= threads= colors= context-separator=",
        Operands::AfterFirst,
    ),
    row(
        "sort",
        "bdfghiMnrRsuVzcC",
        "kt",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort month-sort \
         numeric-sort random-sort reverse stable unique version-sort zero-terminated check key= field-separator=",
        Operands::Files,
    ),
    row(
        "uniq",
        "cdDiuz",
        "fsw",
        "count repeated ignore-case unique zero-terminated skip-fields= skip-chars= check-chars=",
        Operands::UpTo(1),
    ),
    row(
        "cut",
        "sz",
        "bcdf",
        "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated",
        Operands::Files,
    ),
    row("tr", "cCdst", "", "complement delete squeeze-repeats truncate-set1", Operands::Words),
    row("paste", "sz", "d", "serial delimiters= zero-terminated", Operands::Files),
    row("comm", "123iz", "", "check-order nocheck-order output-delimiter= total zero-terminated", Operands::Files),
    row("fold", "bs", "w", "bytes spaces width=", Operands::Files),
    row(
        "diff",
        "abBcdeEinpqstuwyT",
        "UCWI",
        "brief report-identical-files unified context side-by-side text ignore-case ignore-space-change ignore-all-space \
         ignore-blank-lines ignore-tab-expansion ignore-trailing-space ignore-matching-lines= suppress-common-lines \
         width= minimal color colour label= strip-trailing-cr",
        Operands::Files,
    ),
    row("cmp", "bls", "n", "print-bytes verbose quiet silent bytes=", Operands::UpTo(2)),
    row("stat", "tLf", "c", "terse dereference file-system format= printf=", Operands::Files),
    row("file", "bhikL", "", "brief mime mime-type mime-encoding keep-going no-dereference", Operands::Files),
    row(
        "du",
        "abchkmsxS0",
        "d",
        "all apparent-size bytes total human-readable si summarize one-file-system separate-dirs max-depth= exclude= \
         threshold= time null block-size=",
        Operands::Files,
    ),
    row("df", "ahHikTl", "", "all human-readable si inodes print-type local", Operands::Nothing),
    row("tree", "adfhpsugDrtvJnCFi", "LIP", "noreport dirsfirst du si gitignore prune", Operands::Files),
    row("od", "abcdostvx", "AjNt", "address-radix= skip-bytes= read-bytes= format= output-duplicates", Operands::Files),
    row(
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum",
        "btz",
        "",
        "binary text tag zero",
        Operands::Files,
    ),
    row("cksum sum", "", "", "", Operands::Files),
    row("realpath", "emsqz", "", "canonicalize-existing canonicalize-missing no-symlinks quiet zero", Operands::Files),
    row(
        "readlink",
        "femnqsvz",
        "",
        "canonicalize canonicalize-existing canonicalize-missing no-newline zero",
        Operands::Files,
    ),
    row("basename", "az", "s", "multiple suffix= zero", Operands::Words),
    row("dirname", "z", "", "zero", Operands::Words),
    row("seq", "w", "fs", "equal-width format= separator=", Operands::Words),
    row("which", "a", "", "all", Operands::Words),
    // It moves the shell; the commands behind it are judged where it leads.
    row("cd", "LP", "", "", Operands::UpTo(1)),
    row("pwd", "LP", "", "", Operands::Nothing),
    row("whoami nproc arch tty", "", "", "", Operands::Nothing),
    row("uname", "asnrvmpio", "", COLOR, Operands::Nothing),
    row("id", "Ggnru", "", "group groups name real user", Operands::Nothing),
    row("date", "uR", "d", "utc universal date= iso-8601 rfc-email rfc-3339=", Operands::Formats),
    row("true false :", "", "", "", Operands::Words),
];

impl Row {
    fn proof<'a>(&self, words: &'a [ShellWord]) -> Option<ReadProof<'a>> {
        let Taken { operands, valued, .. } = self.taken(words)?;
        let proof = |files: &[&'a ShellWord]| Some(ReadProof { files: files.to_vec(), git: false });
        match self.operands {
            Operands::Files => proof(&operands),
            Operands::UpTo(most) => (operands.len() <= most).then(|| proof(&operands))?,
            Operands::Nothing => operands.is_empty().then(ReadProof::default),
            Operands::Words => Some(ReadProof::default()),
            Operands::Formats => operands.iter().all(|word| word.text.starts_with('+')).then(ReadProof::default),
            Operands::AfterFirst => {
                let given = valued.iter().any(|name| matches!(*name, "e" | "regexp"))
                    || words.iter().any(|word| matches!(word.text.as_str(), "--files" | "--type-list"));
                proof(&operands[usize::from(!given).min(operands.len())..])
            }
        }
    }

    /// Takes the words apart; `None` if one is not known.
    fn taken<'a>(&self, words: &'a [ShellWord]) -> Option<Taken<'a>> {
        let mut taken = Taken::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let text = word.text.as_str();
            if text == "--" {
                taken.operands.extend(rest.by_ref());
            } else if let Some(long) = text.strip_prefix("--") {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let known = self.long.split_whitespace().find(|known| known.trim_end_matches('=') == name)?;
                if known.ends_with('=') {
                    let value = match value {
                        Some(value) => value,
                        None => rest.next()?.text.as_str(),
                    };
                    taken.valued.push(known.trim_end_matches('='));
                    taken.values.push(value);
                } else if let Some(value) = value {
                    taken.values.push(value);
                }
            } else if word.is_option() {
                self.letters(&text[1..], &mut rest, &mut taken)?;
            } else {
                taken.operands.push(word);
            }
        }
        Some(taken)
    }

    fn letters<'a>(
        &self,
        letters: &'a str,
        rest: &mut impl Iterator<Item = &'a ShellWord>,
        taken: &mut Taken<'a>,
    ) -> Option<()> {
        for (at, letter) in letters.char_indices() {
            if self.flags.contains(letter) {
                continue;
            }
            let found = self.valued.find(letter)?;
            taken.valued.push(&self.valued[found..found + 1]);
            let here = &letters[at + letter.len_utf8()..];
            taken.values.push(if here.is_empty() { rest.next()?.text.as_str() } else { here });
            return Some(());
        }
        Some(())
    }
}

#[derive(Default)]
struct Taken<'a> {
    operands: Vec<&'a ShellWord>,
    /// Names of options that came with a value, and the values.
    valued: Vec<&'static str>,
    values: Vec<&'a str>,
}

/// Tests of find that look and do nothing; `=` behind a name: it takes a value.
const FIND: &str = "-name= -iname= -path= -ipath= -wholename= -regex= -iregex= -regextype= -type= -maxdepth= -mindepth= \
    -size= -mtime= -atime= -ctime= -mmin= -amin= -cmin= -perm= -user= -group= -links= -inum= -empty -readable -writable \
    -executable -print -print0 -ls -prune -quit -true -false -depth -xdev -mount -not -and -or -a -o ! ( )";

fn find(words: &[ShellWord]) -> Option<ReadProof<'_>> {
    let is_start = |word: &&ShellWord| !word.is_option() && !matches!(word.text.as_str(), "(" | "!" | ")");
    let starts: Vec<_> = words.iter().take_while(is_start).collect();
    let mut rest = words[starts.len()..].iter();
    while let Some(word) = rest.next() {
        let known = FIND.split_whitespace().find(|known| known.trim_end_matches('=') == word.text)?;
        if known.ends_with('=') {
            rest.next()?;
        }
    }
    Some(ReadProof { files: starts, git: false })
}

/// `sed -n 'M,Np'` and nothing else: other scripts of sed write files and run programs.
fn sed(words: &[ShellWord]) -> Option<ReadProof<'_>> {
    let [quiet, script, files @ ..] = words else { return None };
    let lines = script.text.strip_suffix('p')?;
    let is_line = |line: &str| line == "$" || (!line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()));
    let ranges = lines.split(';').map(|range| range.trim().trim_end_matches('p'));
    let prints = ranges.clone().all(|range| range.split(',').count() <= 2 && range.split(',').all(is_line));
    let no_option = files.iter().all(|word| !word.is_option());
    (quiet.text == "-n" && prints && no_option).then(|| ReadProof { files: files.iter().collect(), git: false })
}

/// Subcommands of git that look, with their options. Values of these options are formats and patterns.
const GIT: &[Row] = &[
    row(
        "status",
        "sbzvunoal",
        "",
        "short branch show-stash long null ahead-behind no-ahead-behind porcelain untracked-files ignored no-renames \
         renames column no-column",
        Operands::Files,
    ),
    row(
        "log show diff",
        "pusczwbiEFPgmMCDRU0123456789",
        "nSGL",
        "patch no-patch unified raw stat shortstat numstat dirstat summary name-only name-status patch-with-stat oneline \
         graph all branches tags remotes decorate no-decorate decorate-refs= abbrev-commit no-abbrev-commit abbrev \
         follow first-parent merges no-merges reverse topo-order date-order author-date-order cached staged merge-base \
         color no-color color-words word-diff ignore-all-space ignore-space-change ignore-blank-lines \
         ignore-space-at-eol ignore-cr-at-eol minimal patience histogram find-renames find-copies no-renames check full-index \
         binary no-ext-diff no-textconv no-prefix exit-code quiet text function-context left-right cherry-pick \
         max-count= skip= since= until= after= before= author= committer= grep= date= pretty format= diff-filter= \
         diff-algorithm= inter-hunk-context= walk-reflogs source no-notes relative stat-width= relative-date",
        Operands::Files,
    ),
    row("branch", "arvl", "", "all remotes verbose list show-current no-color column no-column", Operands::Nothing),
    row("tag", "ln", "", "list no-column", Operands::Nothing),
    row("remote", "v", "", "verbose", Operands::Nothing),
    row(
        "blame annotate",
        "wlstfnepbMC",
        "L",
        "porcelain line-porcelain show-name show-number show-email root",
        Operands::Files,
    ),
    row(
        "rev-parse",
        "q",
        "",
        "verify quiet short abbrev-ref show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir is-inside-work-tree \
         is-inside-git-dir is-bare-repository symbolic symbolic-full-name all branches tags remotes show-object-format",
        Operands::Files,
    ),
    row(
        "ls-files",
        "cdmosuktvz",
        "x",
        "cached deleted modified others stage unmerged killed exclude-standard full-name error-unmatch exclude= abbrev",
        Operands::Files,
    ),
    row("ls-tree", "drtlz", "", "long name-only name-status full-name full-tree object-only abbrev", Operands::Files),
    row("cat-file", "tsep", "", "", Operands::Files),
    row(
        "describe",
        "",
        "",
        "all tags contains always long dirty first-parent abbrev match= exclude= candidates=",
        Operands::Files,
    ),
    row(
        "rev-list",
        "0123456789",
        "n",
        "all branches tags count max-count= skip= since= until= no-merges merges first-parent reverse oneline parents abbrev-commit left-right",
        Operands::Files,
    ),
    row("merge-base", "a", "", "all is-ancestor fork-point octopus independent", Operands::Files),
    row("show-ref", "ds", "", "heads tags head dereference hash abbrev verify quiet", Operands::Files),
    row("shortlog", "nse", "", "numbered summary email no-merges all", Operands::Files),
    row("count-objects", "vH", "", "verbose human-readable", Operands::Nothing),
    row(
        "grep",
        "ivnwclLEFPhHoqp",
        "eABC",
        "ignore-case invert-match line-number word-regexp count files-with-matches \
        name-only extended-regexp fixed-strings perl-regexp cached untracked heading break show-function max-depth= \
        after-context= before-context= context= no-color color no-textconv",
        Operands::AfterFirst,
    ),
];

/// Formats of git that run a program to check signatures.
fn checks_signatures(value: &str) -> bool {
    value.contains("%G") || value.contains("signature")
}

fn git(words: &[ShellWord]) -> Option<ReadProof<'_>> {
    let globals = words.iter().take_while(|word| matches!(word.text.as_str(), "--no-pager" | "--no-optional-locks"));
    let words = &words[globals.count()..];
    let (subcommand, words) = words.split_first()?;
    let (subcommand, words) = match (subcommand.text.as_str(), words) {
        ("stash" | "worktree", [list]) if list.text == "list" => {
            return Some(ReadProof { git: true, ..ReadProof::default() });
        }
        (name, words) => (name, words),
    };
    let row = GIT.iter().find(|row| row.names.split(' ').any(|one| one == subcommand))?;
    if row.taken(words)?.values.iter().any(|value| checks_signatures(value)) {
        return None;
    }
    let proof = row.proof(words)?;
    // A revision is not a file, and still may be read as one: `git diff /etc/passwd x` compares files.
    Some(ReadProof { git: true, ..proof })
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    fn is_proven(text: &str) -> bool {
        let script = parse(text);
        script.unclear.is_none() && script.commands.iter().all(|command| super::proof(command).is_some())
    }

    #[test]
    fn looking_around_is_proven() {
        for text in [
            "ls",
            "ls -la src",
            "ls -1 --sort=time",
            "cat a.txt",
            "head -n 20 a",
            "head -20 a",
            "tail -c 5 a",
            "wc -l a b",
            "grep -rn 'fn main' src",
            "grep -e a -e b f",
            "rg -n --glob '*.rs' x src",
            "rg --files",
            "find . -name '*.rs'",
            "find src -type f -not -path '*/target/*'",
            "sort -u a | uniq -c | sort -rn",
            "sed -n '1,20p' a",
            "sed -n '5p;9,$p' a",
            "git status",
            "git status --short --branch",
            "git log --oneline -5",
            "git --no-pager diff --stat HEAD~1",
            "git show HEAD:src/a.rs",
            "git branch -a",
            "git rev-parse --show-toplevel",
            "git blame -L 1,5 a",
            "git stash list",
            "cat a && ls",
            "cat < a",
            "ls 2>/dev/null",
            "date +%s",
            "pwd",
            "echo ---",
            "git status -uno",
            "git diff -U5",
            "diff -u a b",
            "cut -d: -f1 a",
            "for f in a b; do ls; done",
        ] {
            assert!(is_proven(text), "{text}");
        }
    }

    #[test]
    fn whatever_could_do_more_is_not_proven() {
        for text in [
            // Other programs.
            "find . -exec rm {} \\;",
            "find . -execdir sh -c x \\;",
            "find . -ok rm {} \\;",
            "rg --pre ./x a",
            "rg --pre=./x a",
            "rg -z a",
            "rg --search-zip a",
            "rg --hostname-bin x a",
            "sort --compress-program=./x a",
            "diff -l a b",
            "diff --paginate a b",
            "less a",
            "more a",
            "man ls",
            "env ls",
            "env X=1 ls",
            "xargs ls",
            "ls | xargs cat",
            "awk '{print}' a",
            "awk 'BEGIN{system(\"id\")}'",
            "perl -e 1",
            "sh -c ls",
            "bash a",
            "command ls",
            "timeout 5 ls",
            "nice ls",
            "time ls",
            "watch ls",
            "tar -tf a",
            "tar --to-command=x -xf a",
            "vim -R a",
            "view a",
            "python3 -c 1",
            "make -n",
            "npm ls",
            // git: configuration, pagers, drivers, hooks, servers.
            "git -c core.pager=./x log",
            "git -c diff.external=./x diff",
            "git -c core.fsmonitor=./x status",
            "git -C /x status",
            "git --exec-path=. status",
            "git -p log",
            "git --paginate log",
            "git --git-dir=x status",
            "git --config-env=a=b log",
            "git diff --ext-diff",
            "git log --textconv",
            "git show --textconv HEAD",
            "git grep -O x",
            "git grep --open-files-in-pager=x y",
            "git log --show-signature",
            "git log --format=%G?",
            "git log --pretty=format:%GK",
            "git diff --output=x",
            "git diff -o x",
            "git config core.pager",
            "git config --get x",
            "git fetch",
            "git pull",
            "git push",
            "git ls-remote",
            "git remote show origin",
            "git remote update",
            "git branch new",
            "git branch -d x",
            "git tag v1",
            "git stash",
            "git stash pop",
            "git checkout a",
            "git worktree add x",
            "git bisect run x",
            "git submodule status",
            "git difftool",
            "git cat-file --textconv HEAD:a",
            "git cat-file --filters HEAD:a",
            "git rev-parse --parseopt",
            "git archive HEAD",
            "git alias",
            "git diff --no-index a b",
            // Files that are written.
            "sort -o b a",
            "sort --output=b a",
            "uniq a b",
            "tee a",
            "sed -i s/a/b/ a",
            "sed -n 'w x' a",
            "sed -n '1e id' a",
            "sed -n '1,5w x' a",
            "sed 's/a/b/e' a",
            "sed -n -i 1p a",
            "sed --in-place 1p a",
            "find . -delete",
            "find . -fprint x",
            "find . -fls x",
            "tree -o x",
            "xxd a b",
            "cp a b",
            "touch a",
            "ls > a",
            "ls >> a",
            "ls &> a",
            "cat a >| b",
            "ls <> a",
            "file -C -m x",
            "split a",
            "truncate -s 0 a",
            "mkdir a",
            // Lists of files, links that are followed, connections.
            "wc --files0-from=x",
            "sort --files0-from=x",
            "du --files0-from=x",
            "find -files0-from x",
            "grep -f x a",
            "file -f x",
            "md5sum -c x",
            "rg -f x a",
            "rg --ignore-file x a",
            "grep -R x .",
            "grep --dereference-recursive x .",
            "find -L .",
            "find . -follow",
            "rg -L x",
            "rg --follow x",
            "tree -l",
            "du -L",
            "diff -r a b",
            "cat < /dev/tcp/h/80",
            "tail -f a",
            "date -s x",
            "date 0101",
            "date --set=x",
            "hostname x",
            "id root x",
            // Text that is not what it says.
            "cat $(ls)",
            "cat `ls`",
            "cat <(ls)",
            "cat $F",
            "cat a & rm b",
            "ls() { rm a; }; ls",
            "X=1 ls",
            "PATH=. ls",
            "./ls",
            "/bin/ls",
            "\\ls",
            "l\\s",
            "'ls'",
            "cat {a,b}",
            "ls; rm a",
            "ls | sh",
            "ls && ./x",
            "test -v 'a[$(id)]'",
            "[ -v x ]",
            "printenv",
            "env",
            "set",
            "ps e",
            "date -I 0101",
            "ls --zap",
            "ls -!",
            "cat -Z a",
            "eval ls",
            "exec ls",
            "source a",
            ". a",
            "alias ls=rm",
            "export PATH=.",
            "enable -f x ls",
        ] {
            assert!(!is_proven(text), "{text}");
        }
    }
}
