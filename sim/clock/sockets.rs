//! Bytes on the JVM's connections, counted where they leave and where they arrive. The harness counts the same bytes at the
//! other end: while two numbers differ, some are on their way.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::kernel::ask_kernel;
use crate::kernel::numbers::{SYS_CLOSE, SYS_CONNECT, SYS_GETSOCKNAME, SYS_READ, SYS_READV, SYS_WRITE, SYS_WRITEV};
use crate::shared::CountedSocket;
use crate::{end, page, told};

/// A process with more open files than this is not ours.
const MOST_FILES: usize = 1 << 16;

/// For each descriptor: 0, or the number of its place in the page, from 1.
static PLACES: [AtomicUsize; MOST_FILES] = [const { AtomicUsize::new(0) }; MOST_FILES];

/// # Safety
///
/// As `connect(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn connect(file: c_int, address: *const u8, length: u32) -> c_int {
    const IN_PROGRESS: isize = -115;

    // SAFETY: the kernel checks the pointer.
    let status = unsafe { ask_kernel(SYS_CONNECT, [file as usize, address as usize, length as usize, 0, 0, 0]) };
    if (status == 0 || status == IN_PROGRESS)
        && let Some(port) = port_of(file)
    {
        count_from_now(file, port);
    }
    told(status) as c_int
}

/// # Safety
///
/// As `close(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(file: c_int) -> c_int {
    if let Some(place) = usize::try_from(file).ok().and_then(|file| PLACES.get(file)) {
        let number = place.swap(0, Ordering::SeqCst);
        if let (Some(page), Some(index)) = (page(), number.checked_sub(1)) {
            page.sockets[index].port.store(0, Ordering::SeqCst);
        }
    }
    // SAFETY: the kernel checks the descriptor.
    told(unsafe { ask_kernel(SYS_CLOSE, [file as usize, 0, 0, 0, 0, 0]) }) as c_int
}

/// # Safety
///
/// As `read(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(file: c_int, bytes: *mut u8, most: usize) -> isize {
    // SAFETY: the kernel checks the pointer.
    let count = unsafe { ask_kernel(SYS_READ, [file as usize, bytes as usize, most, 0, 0, 0]) };
    counted(file, count, |socket| &socket.read)
}

/// # Safety
///
/// As `readv(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readv(file: c_int, parts: *const u8, number: c_int) -> isize {
    // SAFETY: the kernel checks the pointer.
    let count = unsafe { ask_kernel(SYS_READV, [file as usize, parts as usize, number as usize, 0, 0, 0]) };
    counted(file, count, |socket| &socket.read)
}

/// # Safety
///
/// As `write(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(file: c_int, bytes: *const u8, most: usize) -> isize {
    // SAFETY: the kernel checks the pointer.
    let count = unsafe { ask_kernel(SYS_WRITE, [file as usize, bytes as usize, most, 0, 0, 0]) };
    counted(file, count, |socket| &socket.written)
}

/// # Safety
///
/// As `writev(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn writev(file: c_int, parts: *const u8, number: c_int) -> isize {
    // SAFETY: the kernel checks the pointer.
    let count = unsafe { ask_kernel(SYS_WRITEV, [file as usize, parts as usize, number as usize, 0, 0, 0]) };
    counted(file, count, |socket| &socket.written)
}

fn counted(file: c_int, count: isize, number: impl Fn(&CountedSocket) -> &AtomicU64) -> isize {
    if let Ok(bytes) = u64::try_from(count)
        && let Some(place) = usize::try_from(file).ok().and_then(|file| PLACES.get(file))
        && let Some(index) = place.load(Ordering::SeqCst).checked_sub(1)
        && let Some(page) = page()
    {
        number(&page.sockets[index]).fetch_add(bytes, Ordering::SeqCst);
    }
    told(count)
}

/// Gives a connection a place in the page.
fn count_from_now(file: c_int, port: u16) {
    /// A port that is none: the place is taken, and not counted yet.
    const TAKEN: u64 = u64::MAX;

    let (Some(page), Ok(file)) = (page(), usize::try_from(file)) else { return };
    if file >= MOST_FILES || PLACES[file].load(Ordering::SeqCst) != 0 {
        // A second call says how the first one ended.
        return;
    }
    for (index, socket) in page.sockets.iter().enumerate() {
        if socket.port.compare_exchange(0, TAKEN, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            socket.read.store(0, Ordering::SeqCst);
            socket.written.store(0, Ordering::SeqCst);
            PLACES[file].store(index + 1, Ordering::SeqCst);
            socket.port.store(port.into(), Ordering::SeqCst);
            return;
        }
    }
    end("lockstep: this JVM has more connections than can be counted\n")
}

/// The local port of a TCP socket over IPv4 or IPv6; `None` for any other.
fn port_of(file: c_int) -> Option<u16> {
    const AF_INET: u16 = 2;
    const AF_INET6: u16 = 10;

    // `struct sockaddr_in` and `sockaddr_in6` both begin with the family and the port.
    let mut address = [0_u8; 28];
    let mut length = address.len() as u32;
    // SAFETY: both are writable, and the kernel writes no more than `length`.
    let status = unsafe {
        ask_kernel(SYS_GETSOCKNAME, [file as usize, address.as_mut_ptr() as usize, (&raw mut length) as usize, 0, 0, 0])
    };
    let family = u16::from_ne_bytes([address[0], address[1]]);
    let port = u16::from_be_bytes([address[2], address[3]]);
    (status == 0 && matches!(family, AF_INET | AF_INET6) && port != 0).then_some(port)
}
