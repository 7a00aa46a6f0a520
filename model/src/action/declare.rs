//! `actions!`: what one row of the table of actions declares.

/// The type of a field of an action.
macro_rules! field_type {
    (client) => {
        u8
    };
    (thread) => {
        u8
    };
    (node) => {
        u8
    };
    (name) => {
        u8
    };
    (slot) => {
        Slot
    };
}

/// The party of an action, from its fields.
macro_rules! party {
    (client = $client:ident, thread = $thread:ident) => {
        Party::Thread(Holder::new($client, $thread))
    };
    (client = $client:ident, slot = $slot:ident) => {
        match $slot.thread() {
            Some(thread) => Party::Thread(Holder::new($client, thread)),
            None => Party::Client($client),
        }
    };
    (client = $client:ident $(, node = $node:ident)?) => {
        Party::Client($client)
    };
    (node = $node:ident $(, name = $name:ident)?) => {
        Party::Node($node)
    };
}

/// A field of an action of a node that has another number.
macro_rules! numbered {
    (node, $value:ident, $number:ident) => {
        $number
    };
    ($field:ident, $value:ident, $number:ident) => {
        $value
    };
}

/// The slot of an action that is about one request, from its fields.
macro_rules! slot {
    (client = $client:ident, slot = $slot:ident) => {
        Some($slot)
    };
    ($($field:ident = $value:ident),+) => {
        None
    };
}

/// The node that an action names, from its fields.
macro_rules! named_node {
    ($(client = $client:ident,)? node = $node:ident $(, name = $name:ident)?) => {
        Some($node)
    };
    ($($field:ident = $value:ident),+) => {
        None
    };
}

/// Every action of one kind: for all threads, clients, requests or nodes of a scenario.
macro_rules! instances {
    ($config:ident, $action:ident, $which:expr, client, thread) => {
        threads($config).map(|(client, thread)| Action::$action { client, thread }).collect::<Vec<_>>()
    };
    ($config:ident, $action:ident, $which:expr, client, slot) => {
        slots($config, $which).map(|(client, slot)| Action::$action { client, slot }).collect::<Vec<_>>()
    };
    ($config:ident, $action:ident, $which:expr, client, node) => {{
        let nodes = |client| (0..$config.all_nodes()).map(move |node| Action::$action { client, node });
        (0..$config.clients.count).flat_map(nodes).collect::<Vec<_>>()
    }};
    ($config:ident, $action:ident, $which:expr, client) => {
        (0..$config.clients.count).map(|client| Action::$action { client }).collect::<Vec<_>>()
    };
    ($config:ident, $action:ident, $which:expr, node, name) => {{
        let names = |node| (0..$config.clients.names).map(move |name| Action::$action { node, name });
        (0..$config.all_nodes()).flat_map(names).collect::<Vec<_>>()
    }};
    ($config:ident, $action:ident, $which:expr, node) => {
        (0..$config.all_nodes()).map(|node| Action::$action { node }).collect::<Vec<_>>()
    };
}

/// Which requests of a client an action can be about.
macro_rules! which {
    () => {
        Which::Any
    };
    (awaited) => {
        Which::Awaited
    };
}

/// The fault that an action is, if any.
macro_rules! fault {
    () => {
        None
    };
    ($fault:ident) => {
        Some(Fault::$fault)
    };
}

/// Declares the actions. A row: what it is, its fields (which say whose action it is), its name in traces, whether it is a
/// fault, and when a scenario allows it.
macro_rules! actions {
    (
        $(
            $(#[doc = $doc:literal])+
            $action:ident { $($field:ident),+ } $(of $which:ident)? = $name:literal
            $(, fault $fault:ident)?
            , when |$config:ident| $allowed:expr;
        )+
        @time $(#[doc = $last_doc:literal])+ $last:ident = $last_name:literal;
    ) => {
        /// Something that happens. `client`, `thread`, `node` and `name` (of a lock) count from 0.
        #[expect(missing_docs, reason = "the fields are the parties, named alike everywhere")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
        pub enum Action {
            $($(#[doc = $doc])+ $action { $($field: field_type!($field)),+ },)+
            $(#[doc = $last_doc])+ $last,
        }

        /// An action without its parties: what coverage counts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum ActionKind {
            $($(#[doc = $doc])+ $action,)+
            $(#[doc = $last_doc])+ $last,
        }

        impl ActionKind {
            /// Every kind, in the order of [`Action`].
            pub const ALL: [Self; [$(Self::$action,)+ Self::$last].len()] = [$(Self::$action,)+ Self::$last];

            /// The word for it in traces and reports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$action => $name,)+
                    Self::$last => $last_name,
                }
            }

            /// What happens, in a sentence or two.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$action => concat!($($doc),+).trim_ascii(),)+
                    Self::$last => concat!($($last_doc),+).trim_ascii(),
                }
            }

            /// What it names: `client`, `thread`, `slot`, `node` or `name`.
            pub const fn fields(self) -> &'static [&'static str] {
                match self {
                    $(Self::$action => &[$(stringify!($field)),+],)+
                    Self::$last => &[],
                }
            }

            /// The fault that it is, whose budget it spends; `None`: it is none.
            pub const fn fault(self) -> Option<Fault> {
                match self {
                    $(Self::$action => fault!($($fault)?),)+
                    Self::$last => None,
                }
            }

            /// Whether the scenario allows it at all. An action that is allowed and never happens makes a verdict vacuous.
            pub fn is_allowed(self, config: &Config) -> bool {
                config.some_client(|own| self.is_allowed_to(own))
            }

            /// The same of one client, whose scenario this is.
            fn is_allowed_to(self, config: &Config) -> bool {
                let has_budget = self.fault().is_none_or(|fault| config.faults.left(fault) > 0);
                has_budget && match self {
                    $(Self::$action => { let $config = config; $allowed })+
                    Self::$last => true,
                }
            }

            /// Every action of this kind.
            fn instances(self, config: &Config) -> Vec<Action> {
                match self {
                    $(Self::$action => instances!(config, $action, which!($($which)?), $($field),+),)+
                    Self::$last => vec![Action::$last],
                }
            }
        }

        impl Action {
            /// Which kind it is.
            pub const fn kind(self) -> ActionKind {
                match self {
                    $(Self::$action { .. } => ActionKind::$action,)+
                    Self::$last => ActionKind::$last,
                }
            }

            /// Who acts, or to whom it happens.
            #[expect(unused_variables, reason = "neither the node that a client connects to nor a lock acts")]
            pub const fn party(self) -> Party {
                match self {
                    $(Self::$action { $($field),+ } => party!($($field = $field),+),)+
                    Self::$last => Party::World,
                }
            }

            /// The same of the node with that number.
            #[expect(unused_variables, reason = "most fields are no node")]
            pub(crate) const fn at_node(self, number: u8) -> Self {
                match self {
                    $(Self::$action { $($field),+ } => Self::$action { $($field: numbered!($field, $field, number)),+ },)+
                    Self::$last => self,
                }
            }

            /// The node that is named, whoever acts there; `None`: the action names none.
            #[expect(unused_variables, reason = "most fields are no node")]
            pub const fn node(self) -> Option<u8> {
                match self {
                    $(Self::$action { $($field),+ } => named_node!($($field = $field),+),)+
                    Self::$last => None,
                }
            }

            /// Of an action about one request: which of the client's.
            #[expect(unused_variables, reason = "most actions are about no request")]
            pub const fn slot(self) -> Option<Slot> {
                match self {
                    $(Self::$action { $($field),+ } => slot!($($field = $field),+),)+
                    Self::$last => None,
                }
            }
        }
    };
}
