//! Which key does what, in which part of the screen.

use super::action::{ACTIONS, Action, Context};
use super::key::{Key, KeySequence};
use std::collections::{BTreeMap, HashMap};

/// What a key is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    Action(Action),
    /// A slash command, without the slash.
    Command(String),
    /// A shortcut that a hook module registered.
    Shortcut(String),
    /// Deliberately nothing: the user took the key away.
    Nothing,
}

/// The keys of all contexts.
#[derive(Clone, Debug)]
pub struct Keymap {
    bindings: HashMap<Context, BTreeMap<String, (KeySequence, Bound)>>,
}

/// The keys of a chord that have been pressed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chord(Vec<Key>);

/// What a key means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    Bound(Bound),
    /// The first keys of a chord; the next key decides.
    Pending,
    /// A chord was begun and this key does not end it: both do nothing.
    Broken,
    /// No context has a use for this key.
    Unbound,
}

impl Default for Keymap {
    /// The keys ona comes with.
    fn default() -> Keymap {
        let mut keymap = Keymap { bindings: HashMap::new() };
        for entry in ACTIONS {
            for keys in entry.keys {
                let keys = keys.parse().expect("the table of actions has valid keys");
                keymap.bind(entry.context, keys, Bound::Action(entry.action));
            }
        }
        keymap
    }
}

impl Keymap {
    /// Binds keys, and takes away what could no longer be reached: a chord that begins with them, or a key
    /// that begins this chord.
    pub fn bind(&mut self, context: Context, keys: KeySequence, bound: Bound) {
        let bindings = self.bindings.entry(context).or_default();
        bindings.retain(|_, (other, _)| !(other.0.starts_with(&keys.0) || keys.0.starts_with(&other.0)));
        bindings.insert(keys.to_string(), (keys, bound));
    }

    /// Returns what these very keys do in a context.
    pub fn get(&self, context: Context, keys: &KeySequence) -> Option<&Bound> {
        self.bindings.get(&context)?.get(&keys.to_string()).map(|(_, bound)| bound)
    }

    /// Returns the action of a single key in one context, for components without chords.
    pub fn action(&self, context: Context, key: Key) -> Option<Action> {
        match self.lookup(context, &[key])? {
            Some(Bound::Action(action)) => Some(*action),
            _ => None,
        }
    }

    /// Takes the next key. The contexts are asked in order, so that the part on top comes first.
    pub fn resolve(&self, contexts: &[Context], chord: &mut Chord, key: Key) -> Resolved {
        chord.0.push(key);
        for context in contexts {
            match self.lookup(*context, &chord.0) {
                Some(Some(bound)) => {
                    chord.0.clear();
                    return Resolved::Bound(bound.clone());
                }
                Some(None) => return Resolved::Pending,
                None => {}
            }
        }
        let broken = chord.0.len() > 1;
        chord.0.clear();
        if broken { Resolved::Broken } else { Resolved::Unbound }
    }

    /// `None`: no binding begins with these keys. `Some(None)`: some do, and more keys are needed.
    fn lookup(&self, context: Context, keys: &[Key]) -> Option<Option<&Bound>> {
        let mut begun = false;
        for (sequence, bound) in self.bindings.get(&context)?.values() {
            if sequence.0 == keys {
                return Some(Some(bound));
            }
            begun |= sequence.0.starts_with(keys);
        }
        begun.then_some(None)
    }

    /// Returns the keys of an action, the shortest first.
    pub fn keys_of(&self, action: Action) -> Vec<&KeySequence> {
        let bound = self.bindings.get(&action.context()).into_iter().flat_map(BTreeMap::values);
        let mut keys: Vec<_> =
            bound.filter(|(_, bound)| *bound == Bound::Action(action)).map(|(keys, _)| keys).collect();
        let order = |keys: &KeySequence| action.entry().keys.iter().position(|name| name.parse().as_ref() == Ok(keys));
        keys.sort_by_key(|keys| (keys.0.len(), order(keys).unwrap_or(0)));
        keys
    }

    /// Returns every binding of a context that is not one of the table's own actions.
    pub(super) fn others(&self, context: Context) -> impl Iterator<Item = (&KeySequence, &Bound)> {
        let all = self.bindings.get(&context).into_iter().flat_map(BTreeMap::values);
        all.filter(move |(_, bound)| !matches!(bound, Bound::Action(action) if action.context() == context))
            .map(|(keys, bound)| (keys, bound))
    }
}

impl Chord {
    pub fn keys(&self) -> &[Key] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{Bound, Chord, Keymap, Resolved};
    use crate::keys::action::ACTIONS;
    use crate::keys::{Action, Context, KeySequence};

    fn press(keymap: &Keymap, contexts: &[Context], keys: &str) -> Vec<Resolved> {
        let mut chord = Chord::default();
        let keys: KeySequence = keys.parse().unwrap();
        keys.0.iter().map(|key| keymap.resolve(contexts, &mut chord, *key)).collect()
    }

    #[test]
    fn the_table_binds_every_key_it_names() {
        let keymap = Keymap::default();
        for entry in ACTIONS {
            for keys in entry.keys {
                let bound = keymap.get(entry.context, &keys.parse().unwrap());
                assert_eq!(bound, Some(&Bound::Action(entry.action)), "{} {keys}", entry.name);
            }
        }
    }

    #[test]
    fn every_action_has_one_name() {
        for (index, entry) in ACTIONS.iter().enumerate() {
            assert_eq!(entry.name.parse(), Ok(entry.action));
            assert!(ACTIONS[..index].iter().all(|other| other.name != entry.name), "{}", entry.name);
        }
    }

    #[test]
    fn the_part_on_top_is_asked_first() {
        let keymap = Keymap::default();
        let menu = [Context::Autocomplete, Context::Chat, Context::Global];
        let done = |action| vec![Resolved::Bound(Bound::Action(action))];
        assert_eq!(press(&keymap, &menu, "escape"), done(Action::DismissCompletion));
        assert_eq!(press(&keymap, &menu[1..], "escape"), done(Action::Cancel));
        assert_eq!(press(&keymap, &menu, "ctrl+c"), done(Action::Interrupt));
        assert_eq!(press(&keymap, &menu, "x"), vec![Resolved::Unbound]);
    }

    #[test]
    fn a_chord_waits_for_its_second_key() {
        let keymap = Keymap::default();
        let chat = [Context::Chat, Context::Global];
        let editor = Resolved::Bound(Bound::Action(Action::ExternalEditor));
        assert_eq!(press(&keymap, &chat, "ctrl+x ctrl+e"), vec![Resolved::Pending, editor.clone()]);
        // The key that breaks a chord is not typed.
        assert_eq!(press(&keymap, &chat, "ctrl+x q"), vec![Resolved::Pending, Resolved::Broken]);
        assert_eq!(press(&keymap, &chat, "ctrl+g"), vec![editor]);
    }

    #[test]
    fn a_new_binding_takes_the_place_of_what_it_would_hide() {
        let mut keymap = Keymap::default();
        keymap.bind(Context::Chat, "ctrl+x".parse().unwrap(), Bound::Command("compact".into()));
        let chat = [Context::Chat, Context::Global];
        assert_eq!(press(&keymap, &chat, "ctrl+x"), vec![Resolved::Bound(Bound::Command("compact".into()))]);
        keymap.bind(Context::Chat, "ctrl+x ctrl+e".parse().unwrap(), Bound::Nothing);
        assert_eq!(press(&keymap, &chat, "ctrl+x ctrl+e"), vec![Resolved::Pending, Resolved::Bound(Bound::Nothing)]);
    }
}
