//! File access with the names and error codes of `node:fs`.

use super::SystemCalls;
use crate::host::{HostCall, HostCallError};
use ona_api::digest::{base64, from_base64};
use serde_json::{Value, json};
use std::fs;
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Largest file a module may read whole: it would not fit its heap.
const LARGEST: u64 = 48 << 20;

impl SystemCalls {
    pub(super) fn file(&self, call: &HostCall) -> Result<Value, HostCallError> {
        let what = call.name.strip_prefix("fs.").unwrap_or(&call.name);
        let path = self.path(call.text(0));
        let other = || self.path(call.text(1));
        let flag = |name: &str| call.arg(1)[name] == true;
        let done = match what {
            "readFile" => read(&path),
            "writeFile" => write(&path, call.arg(1), call.arg(2)),
            "mkdir" => mkdir(&path, flag("recursive")),
            "mkdtemp" => mkdtemp(call.text(0), &path),
            "readdir" => list(&path, flag("recursive")).map(Value::from),
            "stat" => optional(fs::metadata(&path), flag("optional")),
            "lstat" => optional(fs::symlink_metadata(&path), flag("optional")),
            "access" => access(&path, call.arg(1).as_u64().unwrap_or(0)),
            "unlink" => fs::remove_file(&path).map(|()| Value::Null),
            "rm" | "rmdir" => remove(&path, what == "rmdir", flag("recursive"), flag("force")),
            "rename" => fs::rename(&path, other()).map(|()| Value::Null),
            "copyFile" => copy(&path, &other(), call.arg(2) == 1),
            "cp" => copy_all(&path, &other()).map(|()| Value::Null),
            "realpath" => fs::canonicalize(&path).map(|found| found.to_string_lossy().into()),
            "readlink" => fs::read_link(&path).map(|found| found.to_string_lossy().into()),
            "symlink" => std::os::unix::fs::symlink(call.text(0), other()).map(|()| Value::Null),
            "chmod" => {
                let mode = call.arg(1).as_u64().and_then(|mode| u32::try_from(mode).ok()).unwrap_or(0o644);
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).map(|()| Value::Null)
            }
            "utimes" => utimes(&path, call.arg(1).as_f64(), call.arg(2).as_f64()),
            "truncate" => {
                let file = fs::OpenOptions::new().write(true).open(&path);
                file.and_then(|file| file.set_len(call.arg(1).as_u64().unwrap_or(0))).map(|()| Value::Null)
            }
            _ => return Err(HostCallError::unknown(&call.name)),
        };
        done.map_err(|error| failed(&error, what, call.text(0)))
    }
}

fn read(path: &Path) -> Result<Value, Error> {
    let meta = fs::metadata(path)?;
    if meta.is_dir() {
        return Err(Error::from_raw_os_error(rustix::io::Errno::ISDIR.raw_os_error()));
    }
    if meta.len() > LARGEST {
        return Err(Error::from_raw_os_error(rustix::io::Errno::FBIG.raw_os_error()));
    }
    Ok(match String::from_utf8(fs::read(path)?) {
        Ok(text) => json!({ "text": text }),
        Err(bytes) => json!({ "base64": base64(bytes.as_bytes()) }),
    })
}

fn write(path: &Path, content: &Value, options: &Value) -> Result<Value, Error> {
    let bytes = match (content["text"].as_str(), content["base64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(text)) => from_base64(text).ok_or(ErrorKind::InvalidInput)?,
        (None, None) => return Err(ErrorKind::InvalidInput.into()),
    };
    let how = options["flag"].as_str().unwrap_or("w");
    let mut open = fs::OpenOptions::new();
    open.write(true);
    if how.contains('x') {
        open.create_new(true);
    } else {
        open.create(!how.starts_with('r'));
    }
    if how.starts_with('a') {
        open.append(true);
    } else {
        open.truncate(how.starts_with('w') && !how.contains('x'));
    }
    if let Some(mode) = options["mode"].as_u64().and_then(|mode| u32::try_from(mode).ok()) {
        open.mode(mode);
    }
    open.open(path)?.write_all(&bytes)?;
    Ok(Value::Null)
}

/// The first folder that was made, as Node tells.
fn mkdir(path: &Path, recursive: bool) -> Result<Value, Error> {
    if !recursive {
        return fs::create_dir(path).map(|()| Value::Null);
    }
    let first = path.ancestors().take_while(|one| !one.exists()).last().map(Path::to_owned);
    fs::create_dir_all(path)?;
    Ok(first.map_or(Value::Null, |first| first.to_string_lossy().into()))
}

fn mkdtemp(prefix: &str, path: &Path) -> Result<Value, Error> {
    for _ in 0..16 {
        let id = ona_api::CallId::random().0;
        let ending: String = id.chars().filter(char::is_ascii_alphanumeric).rev().take(6).collect();
        let dir = PathBuf::from(format!("{}{ending}", path.to_string_lossy()));
        // As mkdtemp of POSIX makes it.
        match fs::DirBuilder::new().mode(0o700).create(&dir) {
            Ok(()) => return Ok(format!("{prefix}{ending}").into()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Names and kinds, sorted.
fn list(path: &Path, recursive: bool) -> Result<Vec<Value>, Error> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(within) = open.pop() {
        for entry in fs::read_dir(path.join(&within))? {
            let entry = entry?;
            let name = within.join(entry.file_name());
            let kind = kind(entry.file_type()?);
            if recursive && kind == "dir" {
                open.push(name.clone());
            }
            found.push((name.to_string_lossy().into_owned(), kind));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(name, kind)| json!([name, kind])).collect())
}

fn kind(of: fs::FileType) -> &'static str {
    match of {
        _ if of.is_dir() => "dir",
        _ if of.is_symlink() => "link",
        _ if of.is_file() => "file",
        _ => "other",
    }
}

fn optional(meta: Result<fs::Metadata, Error>, optional: bool) -> Result<Value, Error> {
    let meta = match meta {
        Err(error) if optional && error.kind() == ErrorKind::NotFound => return Ok(Value::Null),
        other => other?,
    };
    let ms = |time: Result<std::time::SystemTime, Error>| {
        time.ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
            .map_or(0.0, |since| since.as_secs_f64() * 1000.0)
    };
    Ok(json!({
        "kind": kind(meta.file_type()), "size": meta.len(), "mode": meta.mode(), "uid": meta.uid(), "gid": meta.gid(),
        "ino": meta.ino(), "dev": meta.dev(), "nlink": meta.nlink(), "mtimeMs": ms(meta.modified()),
        "atimeMs": ms(meta.accessed()), "ctimeMs": meta.ctime() * 1000, "birthtimeMs": ms(meta.created()),
    }))
}

fn access(path: &Path, mode: u64) -> Result<Value, Error> {
    use rustix::fs::Access;
    let mut wanted = Access::EXISTS;
    for (bit, kind) in [(4, Access::READ_OK), (2, Access::WRITE_OK), (1, Access::EXEC_OK)] {
        if mode & bit != 0 {
            wanted |= kind;
        }
    }
    rustix::fs::access(path, wanted)?;
    Ok(Value::Null)
}

fn remove(path: &Path, dir_only: bool, recursive: bool, force: bool) -> Result<Value, Error> {
    let removed = fs::symlink_metadata(path).and_then(|meta| match (meta.is_dir(), recursive, dir_only) {
        (true, true, _) => fs::remove_dir_all(path),
        (true, false, true) => fs::remove_dir(path),
        (true, false, false) => Err(Error::from_raw_os_error(rustix::io::Errno::ISDIR.raw_os_error())),
        (false, _, true) => Err(Error::from_raw_os_error(rustix::io::Errno::NOTDIR.raw_os_error())),
        (false, _, false) => fs::remove_file(path),
    });
    match removed {
        Err(error) if force && error.kind() == ErrorKind::NotFound => Ok(Value::Null),
        other => other.map(|()| Value::Null),
    }
}

fn copy(from: &Path, to: &Path, exclusive: bool) -> Result<Value, Error> {
    if exclusive && to.exists() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    fs::copy(from, to).map(|_| Value::Null)
}

fn copy_all(from: &Path, to: &Path) -> Result<(), Error> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn utimes(path: &Path, accessed: Option<f64>, modified: Option<f64>) -> Result<Value, Error> {
    let time = |seconds: Option<f64>| UNIX_EPOCH + Duration::from_secs_f64(seconds.unwrap_or(0.0).max(0.0));
    let times = fs::FileTimes::new().set_accessed(time(accessed)).set_modified(time(modified));
    fs::OpenOptions::new().append(true).open(path)?.set_times(times).map(|()| Value::Null)
}

pub(super) fn code(error: &Error) -> &'static str {
    use rustix::io::Errno;
    let Some(errno) = error.raw_os_error().map(Errno::from_raw_os_error) else {
        return match error.kind() {
            ErrorKind::NotFound => "ENOENT",
            ErrorKind::AlreadyExists => "EEXIST",
            ErrorKind::PermissionDenied => "EACCES",
            _ => "EIO",
        };
    };
    match errno {
        Errno::NOENT => "ENOENT",
        Errno::EXIST => "EEXIST",
        Errno::ACCESS => "EACCES",
        Errno::PERM => "EPERM",
        Errno::NOTDIR => "ENOTDIR",
        Errno::ISDIR => "EISDIR",
        Errno::NOTEMPTY => "ENOTEMPTY",
        Errno::XDEV => "EXDEV",
        Errno::LOOP => "ELOOP",
        Errno::NAMETOOLONG => "ENAMETOOLONG",
        Errno::ROFS => "EROFS",
        Errno::NOSPC => "ENOSPC",
        Errno::FBIG => "EFBIG",
        Errno::INVAL => "EINVAL",
        _ => "EIO",
    }
}

/// `ENOENT: no such file or directory, open 'x'`, with the fields hooks look at.
fn failed(error: &Error, what: &str, path: &str) -> HostCallError {
    let code = code(error);
    let syscall = match what {
        "readFile" | "writeFile" => "open",
        "readdir" => "scandir",
        "rm" => "unlink",
        other => other,
    };
    let words = match code {
        "ENOENT" => "no such file or directory".to_owned(),
        "EEXIST" => "file already exists".to_owned(),
        "EACCES" => "permission denied".to_owned(),
        "EPERM" => "operation not permitted".to_owned(),
        "ENOTDIR" => "not a directory".to_owned(),
        "EISDIR" => "illegal operation on a directory".to_owned(),
        "ENOTEMPTY" => "directory not empty".to_owned(),
        "EFBIG" => "file too large".to_owned(),
        _ => error.to_string(),
    };
    let errno = error.raw_os_error().map_or(Value::Null, |number| (-number).into());
    HostCallError::new(format!("{code}: {words}, {syscall} '{path}'"))
        .with("code", code)
        .with("errno", errno)
        .with("syscall", syscall)
        .with("path", path)
}
