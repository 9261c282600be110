//! Where a path leads: into the scratch directory, the project, the database, or elsewhere.

use super::value::{hole_number, is_hole};

/// What kind of directory or file a hole stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HoleRoot {
    Scratch,
    Project,
    Database,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocationKind {
    Scratch,
    Project,
    Database,
    /// `/dev/null` and the standard streams
    Device,
    /// Absolute, and none of the above.
    System,
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathLocation {
    pub kind: LocationKind,
    /// Normalised; the same file has the same key.
    pub key: String,
}

/// Resolves a path against the directory the shell is in.
pub(super) fn location(path: &str, cwd: &str, home: char, root: impl Fn(u32) -> HoleRoot) -> PathLocation {
    let absolute = if path.starts_with('/') || path.starts_with(is_hole) {
        path.to_owned()
    } else if path == "~" || path.starts_with("~/") {
        format!("{home}{}", &path[1..])
    } else {
        format!("{cwd}/{path}")
    };
    let start = absolute.chars().next();
    let kind = match start.and_then(hole_number) {
        Some(number) => match root(number) {
            HoleRoot::Scratch => LocationKind::Scratch,
            HoleRoot::Project => LocationKind::Project,
            HoleRoot::Database => LocationKind::Database,
            HoleRoot::Unknown => LocationKind::Unknown,
        },
        None => LocationKind::System,
    };
    let mut parts: Vec<&str> = Vec::new();
    let mut escaped = false;
    for part in absolute.split('/') {
        match part {
            "" | "." => {}
            ".." => escaped |= parts.pop().is_none() || (kind != LocationKind::System && parts.is_empty()),
            part => parts.push(part),
        }
    }
    let key = match kind {
        LocationKind::System => format!("/{}", parts.join("/")),
        _ => parts.join("/"),
    };
    // A hole in the middle could be anything, `..` included, but honest scripts number their files.
    let kind = match kind {
        _ if escaped || path.is_empty() => LocationKind::Unknown,
        LocationKind::System if is_device(&key) => LocationKind::Device,
        LocationKind::System if ["/tmp/", "/var/tmp/"].iter().any(|dir| key.starts_with(dir)) || key == "/tmp" => {
            LocationKind::Scratch
        }
        kind => kind,
    };
    PathLocation { kind, key }
}

fn is_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero")
        || path.starts_with("/dev/fd/")
        || ["/dev/urandom", "/dev/tcp/", "/dev/udp/"].iter().any(|device| path.starts_with(device))
}

#[cfg(test)]
mod tests {
    use super::super::value::hole;
    use super::*;

    #[test]
    fn a_path_leads_where_its_root_says() {
        let root = |number| [HoleRoot::Scratch, HoleRoot::Project, HoleRoot::Database][number as usize];
        let (scratch, project) = (hole(0), hole(1));
        let at = |path: &str| {
            let location = location(path, &project.to_string(), scratch, root);
            (location.kind, location.key)
        };
        assert_eq!(at("a/./b"), (LocationKind::Project, format!("{project}/a/b")));
        assert_eq!(at(&format!("{scratch}/x/../y")), (LocationKind::Scratch, format!("{scratch}/y")));
        assert_eq!(at(&format!("{scratch}/../y")).0, LocationKind::Unknown);
        assert_eq!(at("~/x"), (LocationKind::Scratch, format!("{scratch}/x")));
        assert_eq!(at("/tmp/x").0, LocationKind::Scratch);
        assert_eq!(at("/tmp/../etc/x"), (LocationKind::System, "/etc/x".into()));
        assert_eq!(at("/dev/null").0, LocationKind::Device);
        assert_eq!(at("").0, LocationKind::Unknown);
    }
}
