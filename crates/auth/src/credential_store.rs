//! Where a login is kept: the keychain of the system, else an encrypted file (DEC-086).
//!
//! The file is sealed with XChaCha20-Poly1305 under a key in a file of its own, both of this
//! user alone: a copy of one of them, in a backup or a bug report, gives nothing away. A program that
//! can read both can read the login; that is what a machine without a keychain offers.
//!
//! Writing is atomic. A lock beside the files lets one process at a time change them. What
//! cannot be read counts as no login, with a reason for the front to tell.

use crate::keychain;
use crate::stored_login::StoredLogin;
use chacha20poly1305::aead::{Aead, Generate, Key, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use ona_api::{Env, environment};
use ona_files::{ReadError, read_bytes};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const MAGIC: &[u8] = b"ona-credentials-1\n";
const NONCE_BYTES: usize = 24;
/// Longer than a refresh may take.
const LOCK_PATIENCE: Duration = Duration::from_secs(40);
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// How files begin that a write left behind.
const TEMPORARY: &str = ".credentials-";

/// Where a login lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialPlace {
    Keychain,
    File,
}

impl CredentialPlace {
    pub fn as_str(self) -> &'static str {
        match self {
            CredentialPlace::Keychain => "keychain",
            CredentialPlace::File => "file",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CredentialStoreError {
    #[error("{} {why}", .path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("the login cannot be saved: {}: {error}", .path.display())]
    NotWritten { path: PathBuf, error: io::Error },
    #[error("the login cannot be removed: {}: {error}", .path.display())]
    NotRemoved { path: PathBuf, error: io::Error },
    #[error("the keychain refused: {0}")]
    Keychain(String),
    #[error("another ona process has held the lock of the login for too long: {}", .0.display())]
    LockHeld(PathBuf),
    #[error("interrupted")]
    Cancelled,
}

#[derive(Clone, Debug)]
pub struct CredentialStore {
    folder: PathBuf,
    /// How its files begin.
    name: String,
    keychain: bool,
}

/// Held while the login is changed.
#[derive(Debug)]
pub struct CredentialLock {
    _file: File,
}

impl CredentialStore {
    pub fn from_env(env: &Env) -> Self {
        let data = env.non_empty(environment::XDG_DATA_HOME).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = data.unwrap_or_else(|| env.home().join(".local/share"));
        let only_file = env.non_empty(environment::ONA_CREDENTIAL_STORE) == Some("file");
        Self {
            folder: data.join("ona"),
            name: "credentials".to_owned(),
            keychain: cfg!(feature = "keychain") && !only_file,
        }
    }

    /// Returns the store of a login to an MCP server: files of its own, never a keychain, which
    /// has room for one login. `key` is the name of its files.
    #[must_use]
    pub fn for_server(&self, key: &str) -> Self {
        Self { folder: self.servers_folder(), name: key.to_owned(), keychain: false }
    }

    /// Returns the folder of the logins to MCP servers.
    pub fn servers_folder(&self) -> PathBuf {
        self.folder.join("mcp")
    }

    pub fn uses_keychain(&self) -> bool {
        self.keychain
    }

    /// Returns the file in which a login lies without a keychain.
    pub fn file(&self) -> PathBuf {
        self.sealed()
    }

    /// Returns the files that hold a login, its key and its lock, for guards.
    pub fn files(&self) -> [PathBuf; 3] {
        [self.sealed(), self.key(), self.lock_file()]
    }

    fn sealed(&self) -> PathBuf {
        self.folder.join(format!("{}.enc", self.name))
    }

    fn key(&self) -> PathBuf {
        self.folder.join(format!("{}.key", self.name))
    }

    fn lock_file(&self) -> PathBuf {
        self.folder.join(format!("{}.lock", self.name))
    }

    /// Reads the login. May wait for the keychain, so not on a thread of the runtime.
    pub fn load(&self) -> Result<Option<(StoredLogin, CredentialPlace)>, CredentialStoreError> {
        if self.keychain
            && let Some(login) = keychain::load()
        {
            return Ok(Some((login, CredentialPlace::Keychain)));
        }
        Ok(self.load_file()?.map(|login| (login, CredentialPlace::File)))
    }

    fn load_file(&self) -> Result<Option<StoredLogin>, CredentialStoreError> {
        let sealed = self.sealed();
        let Some(bytes) = own_file(&sealed)? else { return Ok(None) };
        let unreadable = |why: &str| CredentialStoreError::Unreadable { path: sealed.clone(), why: why.to_owned() };
        let key =
            own_file(&self.key())?.ok_or_else(|| unreadable(&format!("has no key: {}.key is missing", self.name)))?;
        let text = open(&key, &bytes).ok_or_else(|| unreadable("cannot be decrypted: it or its key was changed"))?;
        let login = StoredLogin::from_json(&text).ok_or_else(|| unreadable("was written by another version of ona"))?;
        Ok(Some(login))
    }

    /// Saves the login and returns where. The caller holds the lock.
    pub fn save(&self, login: &StoredLogin) -> Result<CredentialPlace, CredentialStoreError> {
        if self.keychain && keychain::save(login) {
            // An older login in the file would come back when the keychain is not reachable.
            self.remove_files()?;
            return Ok(CredentialPlace::Keychain);
        }
        self.save_file(login)?;
        Ok(CredentialPlace::File)
    }

    fn save_file(&self, login: &StoredLogin) -> Result<(), CredentialStoreError> {
        let failed = |path: PathBuf| move |error| CredentialStoreError::NotWritten { path, error };
        self.make_folder().map_err(failed(self.folder.clone()))?;
        let key = match own_file(&self.key()) {
            Ok(Some(key)) if key.len() == KEY_BYTES => key,
            // Without its key the old login is lost already.
            Ok(_) | Err(_) => {
                let key = Key::<XChaCha20Poly1305>::generate();
                self.write(&self.key(), &key).map_err(failed(self.key()))?;
                key.to_vec()
            }
        };
        let sealed = seal(&key, login.to_json().as_bytes());
        self.write(&self.sealed(), &sealed).map_err(failed(self.sealed()))
    }

    /// Removes the login from every place. Returns whether there was one.
    pub fn delete(&self) -> Result<bool, CredentialStoreError> {
        let in_keychain = self.keychain && keychain::delete()?;
        Ok(self.remove_files()? || in_keychain)
    }

    fn remove_files(&self) -> Result<bool, CredentialStoreError> {
        let mut any = false;
        let left_behind = ona_files::list_dir(&self.folder).paths.into_iter().filter(|path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(TEMPORARY))
        });
        for path in [self.sealed(), self.key()].into_iter().chain(left_behind) {
            match std::fs::remove_file(&path) {
                Ok(()) => any |= path == self.sealed(),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) => return Err(CredentialStoreError::NotRemoved { path, error }),
            }
        }
        Ok(any)
    }

    /// Waits until no other process changes the login.
    pub async fn lock(&self, cancel: &CancellationToken) -> Result<CredentialLock, CredentialStoreError> {
        let path = self.lock_file();
        let failed = |error| CredentialStoreError::NotWritten { path: path.clone(), error };
        self.make_folder().map_err(failed)?;
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path).map_err(failed)?;
        let deadline = Instant::now() + LOCK_PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(CredentialLock { _file: file }),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(CredentialStoreError::LockHeld(path));
                }
                Err(TryLockError::WouldBlock) => {}
            }
            tokio::select! {
                () = tokio::time::sleep(LOCK_PAUSE) => {}
                () = cancel.cancelled() => return Err(CredentialStoreError::Cancelled),
            }
        }
    }

    fn make_folder(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)
    }

    /// A reader sees the old bytes or the new ones; only this user ever sees any.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        File::open(&self.folder)?.sync_all()
    }
}

const KEY_BYTES: usize = 32;

/// Reads a file that only this user can have written or read.
fn own_file(path: &Path) -> Result<Option<Vec<u8>>, CredentialStoreError> {
    let unreadable = |why: String| CredentialStoreError::Unreadable { path: path.to_owned(), why };
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(ReadError::Absent) => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
    };
    let about = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if about.uid() != rustix::process::geteuid().as_raw() {
        return Err(unreadable(format!("belongs to another user ({})", about.uid())));
    }
    if about.mode() & 0o077 != 0 {
        return Err(unreadable("can be read by other users; chmod 600 it, or log in again".to_owned()));
    }
    Ok(Some(bytes))
}

fn seal(key: &[u8], text: &[u8]) -> Vec<u8> {
    let nonce = XNonce::generate();
    let cipher = XChaCha20Poly1305::new_from_slice(key).expect("the key has been measured");
    let sealed = cipher.encrypt(&nonce, Payload { msg: text, aad: MAGIC }).expect("a login is far below the limit");
    [MAGIC, nonce.as_slice(), &sealed].concat()
}

/// `None` if it was not sealed with this key.
fn open(key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    let cipher = XChaCha20Poly1305::new_from_slice(key).ok()?;
    let (nonce, sealed) = bytes.strip_prefix(MAGIC)?.split_at_checked(NONCE_BYTES)?;
    let nonce = XNonce::try_from(nonce).ok()?;
    cipher.decrypt(&nonce, Payload { msg: sealed, aad: MAGIC }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_api::clock;
    use std::os::unix::fs::PermissionsExt;

    fn store() -> (tempfile::TempDir, CredentialStore) {
        let dir = tempfile::tempdir().unwrap();
        let store =
            CredentialStore { folder: dir.path().join("share/ona"), name: "credentials".into(), keychain: false };
        (dir, store)
    }

    fn login(text: &str) -> StoredLogin {
        StoredLogin::pasted(text, clock::now()).unwrap()
    }

    fn loaded(store: &CredentialStore) -> Option<String> {
        store.load().unwrap().map(|(login, _)| login.secrets().next().unwrap().1.to_owned())
    }

    #[test]
    fn a_login_is_sealed_replaced_and_removed() {
        let (_dir, store) = store();
        assert_eq!(loaded(&store), None);
        assert!(!store.delete().unwrap());
        store.save(&login("first-canary-value")).unwrap();
        let first = std::fs::read(store.sealed()).unwrap();
        store.save(&login("second-canary-value")).unwrap();
        assert_eq!(loaded(&store).as_deref(), Some("second-canary-value"));
        for path in [store.sealed(), store.key()] {
            assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600, "{}", path.display());
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(6).any(|part| part == b"canary"), "{}", path.display());
        }
        assert_eq!(std::fs::metadata(&store.folder).unwrap().mode() & 0o777, 0o700);
        assert_ne!(std::fs::read(store.sealed()).unwrap()[18..42], first[18..42], "each nonce is new");
        std::fs::write(store.folder.join(".credentials-left"), "x").unwrap();
        assert!(store.delete().unwrap());
        assert_eq!(std::fs::read_dir(&store.folder).unwrap().count(), 0);
    }

    #[test]
    fn what_is_not_ours_is_no_login_and_is_named() {
        type Damage = fn(&CredentialStore);
        let damages: [(&str, Damage); 7] = [
            ("cannot be decrypted", |store| std::fs::write(store.sealed(), "{}").unwrap()),
            ("cannot be decrypted", |store| std::fs::write(store.key(), [7; 32]).unwrap()),
            ("cannot be decrypted", |store| std::fs::write(store.key(), "").unwrap()),
            ("cannot be decrypted", |store| {
                let mut bytes = std::fs::read(store.sealed()).unwrap();
                *bytes.last_mut().unwrap() ^= 1;
                std::fs::write(store.sealed(), bytes).unwrap();
            }),
            ("credentials.key is missing", |store| std::fs::remove_file(store.key()).unwrap()),
            ("can be read by other users", |store| {
                std::fs::set_permissions(store.key(), std::fs::Permissions::from_mode(0o644)).unwrap();
            }),
            ("not a regular file", |store| {
                std::fs::remove_file(store.sealed()).unwrap();
                std::fs::create_dir(store.sealed()).unwrap();
            }),
        ];
        for (why, damage) in damages {
            let (_dir, store) = store();
            store.save(&login("value")).unwrap();
            damage(&store);
            let told = store.load().unwrap_err().to_string();
            assert!(told.contains(why) && !told.contains("value"), "{told}");
        }
    }

    #[test]
    fn a_damaged_file_does_not_stand_in_the_way_of_a_new_login() {
        let (_dir, store) = store();
        store.save(&login("old")).unwrap();
        std::fs::write(store.key(), "short").unwrap();
        store.save(&login("new")).unwrap();
        assert_eq!(loaded(&store).as_deref(), Some("new"));
    }

    #[tokio::test]
    async fn one_holder_at_a_time() {
        let (_dir, store) = store();
        let cancel = CancellationToken::new();
        let held = store.lock(&cancel).await.unwrap();
        let second = async { store.lock(&cancel).await.map(drop) };
        let (second, ()) = tokio::join!(second, async {
            tokio::time::sleep(LOCK_PAUSE * 2).await;
            drop(held);
        });
        second.unwrap();
        let _held = store.lock(&cancel).await.unwrap();
        cancel.cancel();
        assert!(matches!(store.lock(&cancel).await, Err(CredentialStoreError::Cancelled)));
    }
}
