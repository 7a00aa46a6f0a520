//! Ports of this machine that are kept for one purpose.

use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::OwnedFd;

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};

/// A port that stays ours while nobody listens at it: a server may be down, and another program must not get its port meanwhile.
#[derive(Debug)]
pub struct ReservedPort {
    number: u16,
    /// Bound to it, and never listening.
    _bound: OwnedFd,
}

impl ReservedPort {
    /// One that is free.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn any() -> std::io::Result<Self> {
        Self::at(0)
    }

    /// This one, if it is free; 0: any.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn at(number: u16) -> std::io::Result<Self> {
        let bound = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        // So that a listener may be bound beside it: `TcpListener::bind` and servers set the same.
        set_socket_reuseaddr(&bound, true)?;
        bind(&bound, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, number))?;
        let number = SocketAddrV4::try_from(getsockname(&bound)?)?.port();
        Ok(Self { number, _bound: bound })
    }

    /// Its number.
    pub const fn number(&self) -> u16 {
        self.number
    }

    /// Listens at it, without blocking.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn listen(&self) -> std::io::Result<TcpListener> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.number))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }
}
