//! The one table of what keys can do: each action with its name for keybindings files, where it
//! is meant, its sentence for the help, and the keys ona comes with.

use std::fmt;
use std::str::FromStr;

/// Which part of the screen has the keys. The parts on top are asked first, `Global` last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    Global,
    /// The composer.
    Chat,
    /// A menu of completions is open above the composer.
    Autocomplete,
    /// Ctrl+R in the composer.
    HistorySearch,
    /// A question with yes and no: permissions, plans, trust.
    Confirmation,
    /// A list to choose from.
    Select,
    /// Questions or settings beside each other.
    Tabs,
    /// Text that is longer than the screen.
    Scroll,
    /// The transcript viewer.
    Transcript,
}

impl Context {
    pub const ALL: [Context; 9] = [
        Context::Chat,
        Context::Autocomplete,
        Context::HistorySearch,
        Context::Confirmation,
        Context::Select,
        Context::Tabs,
        Context::Scroll,
        Context::Transcript,
        Context::Global,
    ];

    /// Contexts of the reference product whose keys ona has elsewhere or not at all.
    pub(crate) const ELSEWHERE: [(&str, &str); 11] = [
        ("Settings", "Select"),
        ("Help", "Scroll"),
        ("Task", "Global"),
        ("ThemePicker", "Select"),
        ("Attachments", "Chat"),
        ("Footer", "Select"),
        ("MessageSelector", "Select"),
        ("DiffDialog", "Scroll"),
        ("DiffViewer", "Scroll"),
        ("ModelPicker", "Select"),
        ("Plugin", "Select"),
    ];

    pub fn name(self) -> &'static str {
        match self {
            Context::Global => "Global",
            Context::Chat => "Chat",
            Context::Autocomplete => "Autocomplete",
            Context::HistorySearch => "HistorySearch",
            Context::Confirmation => "Confirmation",
            Context::Select => "Select",
            Context::Tabs => "Tabs",
            Context::Scroll => "Scroll",
            Context::Transcript => "Transcript",
        }
    }

    /// Heading in the help.
    pub fn title(self) -> &'static str {
        match self {
            Context::Global => "Everywhere",
            Context::Chat => "Composer",
            Context::Autocomplete => "Completion menu",
            Context::HistorySearch => "History search",
            Context::Confirmation => "Questions",
            Context::Select => "Lists",
            Context::Tabs => "Tabs",
            Context::Scroll => "Long texts",
            Context::Transcript => "Transcript",
        }
    }
}

impl FromStr for Context {
    type Err = ();
    fn from_str(text: &str) -> Result<Context, ()> {
        Context::ALL.into_iter().find(|context| context.name() == text).ok_or(())
    }
}

macro_rules! actions {
    ($($variant:ident $name:literal $context:ident [$($key:literal),*] $help:literal;)*) => {
        /// Something a key can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Action { $($variant,)* }

        /// An action with everything that is known about it.
        pub(crate) struct ActionEntry {
            pub(crate) action: Action,
            pub(crate) name: &'static str,
            pub(crate) context: Context,
            pub(crate) keys: &'static [&'static str],
            pub(crate) help: &'static str,
        }

        pub(crate) const ACTIONS: &[ActionEntry] = &[
            $(ActionEntry {
                action: Action::$variant,
                name: $name,
                context: Context::$context,
                keys: &[$($key),*],
                help: $help,
            },)*
        ];
    };
}

actions! {
    Submit "chat:submit" Chat ["enter"] "Send";
    Newline "chat:newline" Chat ["ctrl+j", "shift+enter", "alt+enter"] "New line (also \\ before Enter)";
    Cancel "chat:cancel" Chat ["escape"] "Stop the work; twice: clear the text, or rewind";
    CycleMode "chat:cycleMode" Chat ["shift+tab"] "Next permission mode";
    ModelPicker "chat:modelPicker" Chat ["alt+p"] "Choose a model";
    ExternalEditor "chat:externalEditor" Chat ["ctrl+g", "ctrl+x ctrl+e"] "Write in your editor";
    Stash "chat:stash" Chat ["ctrl+s"] "Put the text aside, or take it back";
    ImagePaste "chat:imagePaste" Chat ["ctrl+v", "alt+v"] "Paste an image";
    Complete "chat:complete" Chat ["tab"] "Complete";
    ExpandPaste "chat:expandPaste" Chat ["alt+o"] "Show the folded paste at the cursor in full";
    SendNow "chat:sendNow" Chat ["ctrl+x ctrl+s"] "Stop the work and send the queue now";
    KillAgents "chat:killAgents" Chat ["ctrl+x ctrl+k"] "Stop all background agents";
    ClearInput "chat:clearInput" Chat [] "Clear the text";
    Help "app:help" Chat ["f1"] "Show the keys (also ? on an empty line)";

    HistoryPrevious "history:previous" Chat ["up", "ctrl+p"] "Line up, then older prompts";
    HistoryNext "history:next" Chat ["down", "ctrl+n"] "Line down, then newer prompts";
    HistorySearch "history:search" Chat ["ctrl+r"] "Search older prompts";

    Undo "chat:undo" Chat ["ctrl+_"] "Undo";
    Redo "edit:redo" Chat ["alt+_", "ctrl+shift+z"] "Redo";
    Left "edit:left" Chat ["left"] "Character left";
    Right "edit:right" Chat ["right", "ctrl+f"] "Character right";
    WordLeft "edit:wordLeft" Chat ["alt+b", "ctrl+left", "alt+left"] "Word left";
    WordRight "edit:wordRight" Chat ["alt+f", "ctrl+right", "alt+right"] "Word right";
    LineStart "edit:lineStart" Chat ["ctrl+a", "home"] "Start of the line";
    LineEnd "edit:lineEnd" Chat ["ctrl+e", "end"] "End of the line";
    TextStart "edit:textStart" Chat ["ctrl+home", "alt+<"] "Start of the text";
    TextEnd "edit:textEnd" Chat ["ctrl+end", "alt+>"] "End of the text";
    DeleteLeft "edit:deleteLeft" Chat ["backspace", "ctrl+h"] "Delete to the left";
    DeleteRight "edit:deleteRight" Chat ["delete"] "Delete to the right";
    DeleteWordLeft "edit:killWordLeft" Chat ["alt+backspace", "ctrl+backspace"] "Cut the word to the left";
    DeleteBigWordLeft "edit:killBigWordLeft" Chat ["ctrl+w"] "Cut back to white space";
    DeleteWordRight "edit:killWordRight" Chat ["alt+d", "alt+delete", "ctrl+delete"] "Cut the word to the right";
    KillLineStart "edit:killLineStart" Chat ["ctrl+u"] "Cut to the start of the line";
    KillLineEnd "edit:killLineEnd" Chat ["ctrl+k"] "Cut to the end of the line";
    Yank "edit:yank" Chat ["ctrl+y"] "Put back what was cut";
    YankPop "edit:yankPop" Chat ["alt+y"] "Put back what was cut before that";

    AcceptCompletion "autocomplete:accept" Autocomplete ["tab"] "Take the entry";
    DismissCompletion "autocomplete:dismiss" Autocomplete ["escape"] "Close the menu";
    PreviousCompletion "autocomplete:previous" Autocomplete ["up", "ctrl+p"] "Entry above";
    NextCompletion "autocomplete:next" Autocomplete ["down", "ctrl+n"] "Entry below";

    OlderMatch "historySearch:next" HistorySearch ["ctrl+r", "up"] "Older match";
    NewerMatch "historySearch:previous" HistorySearch ["ctrl+s", "down"] "Newer match";
    AcceptMatch "historySearch:accept" HistorySearch ["escape", "tab"] "Take it and edit it";
    RunMatch "historySearch:execute" HistorySearch ["enter"] "Send it";
    CancelSearch "historySearch:cancel" HistorySearch ["ctrl+g"] "Give up the search";

    Yes "confirm:yes" Confirmation ["y", "enter"] "Yes; Enter takes the choice under the cursor";
    No "confirm:no" Confirmation ["n", "escape"] "No";
    Amend "confirm:nextField" Confirmation ["tab"] "Add a comment to the answer";
    PreviousChoice "confirm:previous" Confirmation ["up", "k", "ctrl+p"] "Choice above";
    NextChoice "confirm:next" Confirmation ["down", "j", "ctrl+n"] "Choice below";
    Explain "confirm:toggleExplanation" Confirmation ["ctrl+e"] "Details of what would run";

    SelectPrevious "select:previous" Select ["up", "ctrl+p"] "Entry above";
    SelectNext "select:next" Select ["down", "ctrl+n"] "Entry below";
    SelectAccept "select:accept" Select ["enter"] "Choose";
    SelectCancel "select:cancel" Select ["escape"] "Close";
    SelectToggle "select:toggle" Select ["space"] "Mark or unmark";
    SelectFirst "select:first" Select ["home"] "First entry";
    SelectLast "select:last" Select ["end"] "Last entry";

    NextTab "tabs:next" Tabs ["right", "tab"] "Next tab";
    PreviousTab "tabs:previous" Tabs ["left", "shift+tab"] "Tab before";

    ScrollUp "scroll:lineUp" Scroll ["up", "k", "ctrl+p"] "Line up";
    ScrollDown "scroll:lineDown" Scroll ["down", "j", "ctrl+n"] "Line down";
    PageUp "scroll:pageUp" Scroll ["pageup", "b"] "Page up";
    PageDown "scroll:pageDown" Scroll ["pagedown", "space"] "Page down";
    ScrollTop "scroll:top" Scroll ["home", "g"] "Start";
    ScrollBottom "scroll:bottom" Scroll ["end", "G"] "End";

    ShowAll "transcript:toggleShowAll" Transcript ["ctrl+e"] "Everything, or the summary";
    PreviousPrompt "transcript:previousPrompt" Transcript ["{"] "Prompt before";
    NextPrompt "transcript:nextPrompt" Transcript ["}"] "Next prompt";
    DumpTranscript "transcript:dump" Transcript ["["] "Write it into the scrollback";
    EditTranscript "transcript:edit" Transcript ["v"] "Open it in your editor";
    LeaveTranscript "transcript:exit" Transcript ["q", "escape", "ctrl+o"] "Close";

    Interrupt "app:interrupt" Global ["ctrl+c"] "Clear the text, then stop the work, then (twice) leave";
    Exit "app:exit" Global ["ctrl+d"] "Leave, if nothing is typed";
    ToggleTranscript "app:toggleTranscript" Global ["ctrl+o"] "Everything of the last calls, and what their hooks did";
    ToggleTodos "app:toggleTodos" Global ["ctrl+t"] "Todo list";
    Background "task:background" Global ["ctrl+b"] "Move the running command to the background";
    Redraw "app:redraw" Global ["ctrl+l"] "Draw the screen again";
    Suspend "app:suspend" Global ["ctrl+z"] "Suspend ona";
}

impl Action {
    pub(crate) fn entry(self) -> &'static ActionEntry {
        ACTIONS.iter().find(|entry| entry.action == self).expect("the table has a row for every action")
    }

    pub fn name(self) -> &'static str {
        self.entry().name
    }

    pub fn help(self) -> &'static str {
        self.entry().help
    }

    pub fn context(self) -> Context {
        self.entry().context
    }
}

impl FromStr for Action {
    type Err = ();
    fn from_str(text: &str) -> Result<Action, ()> {
        ACTIONS.iter().find(|entry| entry.name == text).map(|entry| entry.action).ok_or(())
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
