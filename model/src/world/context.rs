//! What a rule works on that needs both sides: the scenario, the world, and what is noted.

use super::layout::Layout;
use super::state::World;
use crate::client::due::{ProcessView, Reach};
use crate::client::process::Process;
use crate::client::requests::InFlight as _;
use crate::config::sections::Config;
use crate::locks::contract::Lock as _;
use crate::notes::Notes;
use crate::redis::server::Server;

/// What a rule works on that needs both sides. Rules of one side get their part of it: a [`Server`] or a [`Process`].
pub(crate) struct Context<'a, Y: Layout> {
    pub(crate) config: &'a Config,
    pub(crate) world: &'a mut World<Y>,
    pub(crate) notes: &'a mut Notes,
    /// The group that stands in front.
    pub(crate) front: u8,
}

impl<Y: Layout> Context<'_, Y> {
    /// The server side.
    #[inline]
    pub(crate) fn server(&mut self) -> Server<'_, Y> {
        Server { config: self.config, group: self.world.group_mut(), notes: self.notes }
    }

    /// A rule of the client side, for one client, with the settings of that client. If its last waiter has left, it
    /// unsubscribes.
    #[inline]
    pub(crate) fn process<T>(&mut self, client: u8, rule: impl FnOnce(&mut Process<'_, Y::InFlight>) -> T) -> T {
        let index = usize::from(client);
        let config = self.config.of_client(client);
        let mut process = Process {
            config: &config,
            client: &mut self.world.clients.as_mut()[index],
            in_flight: &mut self.world.in_flight.as_mut()[index],
            notes: self.notes,
            unsubscribes: false,
        };
        let result = rule(&mut process);
        if process.unsubscribes {
            self.unsubscribe(client);
        }
        result
    }

    /// Its own function, since `process` is copied to wherever a rule is called.
    #[inline(never)]
    fn unsubscribe(&mut self, client: u8) {
        self.world.group_mut().connection_mut(client).set_subscription(None);
    }
}

impl<Y: Layout> World<Y> {
    /// One client, to look at. What is looked at is no setting of its own, so the scenario is not made its own here.
    #[inline]
    pub(super) fn view<'a>(&'a self, config: &'a Config, client: u8) -> ProcessView<'a, Y::InFlight> {
        let index = usize::from(client);
        ProcessView { config, client: &self.clients.as_ref()[index], in_flight: &self.in_flight.as_ref()[index] }
    }

    /// What a client reaches of the servers.
    #[inline]
    pub(super) fn reach(&self, client: u8) -> Reach {
        if Y::Lock::HAS_SEVERAL_MASTERS {
            // Whichever of them it reaches is seen when it asks them.
            return Reach { answers: true, is_up: true, is_master: true };
        }
        let known = self.node(self.client(client).master());
        Reach {
            // Where requests are steps of their own, what a node has for a client that waits is due with its request.
            answers: if Y::InFlight::IS_SPLIT { known.is_up() } else { known.answers() },
            is_up: self.reachable(client).is_some(),
            is_master: known.is_master() && known.answers(),
        }
    }

    /// Whether a client's subscription has ended although it still has waiters.
    pub fn has_lost_subscription(&self, config: &Config, client: u8) -> bool {
        config.lock.facts().publishes()
            && self.client(client).uses_wakeup_entry()
            && self.group().connection(client).subscription().is_none()
    }
}
