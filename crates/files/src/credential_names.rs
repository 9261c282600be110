//! Names that say that a file holds credentials, whatever its content looks like.

use std::path::Path;

const FOLDERS: [&str; 6] = [".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store"];

const NAMES: [&str; 20] = [
    ".env",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    "_netrc",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
];

const ENDINGS: [&str; 9] = ["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "tfstate"];

/// Endings of `.env.*` that are made to be shown.
const EXAMPLES: [&str; 4] = ["example", "sample", "template", "dist"];

/// Returns whether a file of this name is taken for one with credentials. Names are compared without case.
pub fn is_credential_name(path: &Path) -> bool {
    let lower = |part: &std::ffi::OsStr| part.to_string_lossy().to_lowercase();
    let Some(name) = path.file_name().map(lower) else { return false };
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    NAMES.contains(&name.as_str())
        || ENDINGS.contains(&ending)
        || name.starts_with(".env.") && !EXAMPLES.contains(&ending)
        || path.parent().is_some_and(|parent| parent.iter().any(|part| FOLDERS.contains(&lower(part).as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credential_files_are_known() {
        for name in
            ["/p/.env", "/p/.env.local", "/p/.ENV", "/h/.ssh/config", "/p/tls/server.pem", "/p/id_rsa", "/p/x.key"]
        {
            assert!(is_credential_name(Path::new(name)), "{name}");
        }
        for name in ["/p/env", "/p/.env.example", "/p/key", "/p/keys.rs", "/p/ssh/config", "/p/id_rsa.pub", "/"] {
            assert!(!is_credential_name(Path::new(name)), "{name}");
        }
    }
}
