//! System calls without libc, and what they take, for the libraries that are preloaded: the functions of libc that they replace would otherwise
//! call themselves.

use core::arch::asm;
use core::ffi::c_long;

/// `struct timespec` of 64-bit Linux.
#[repr(C)]
pub struct Timespec {
    pub seconds: i64,
    pub nanoseconds: c_long,
}

/// `struct timeval` of 64-bit Linux.
#[repr(C)]
pub struct Timeval {
    pub seconds: i64,
    pub microseconds: c_long,
}

#[cfg(target_arch = "x86_64")]
pub mod numbers {
    //! The numbers of the system calls.

    pub const SYS_READ: usize = 0;
    pub const SYS_WRITE: usize = 1;
    pub const SYS_CLOSE: usize = 3;
    pub const SYS_MMAP: usize = 9;
    pub const SYS_RT_SIGPROCMASK: usize = 14;
    pub const SYS_READV: usize = 19;
    pub const SYS_WRITEV: usize = 20;
    pub const SYS_NANOSLEEP: usize = 35;
    pub const SYS_PRCTL: usize = 157;
    pub const SYS_GETPID: usize = 39;
    pub const SYS_CONNECT: usize = 42;
    pub const SYS_GETSOCKNAME: usize = 51;
    pub const SYS_KILL: usize = 62;
    pub const SYS_GETPPID: usize = 110;
    pub const SYS_GETTID: usize = 186;
    pub const SYS_FUTEX: usize = 202;
    pub const SYS_CLOCK_GETTIME: usize = 228;
    pub const SYS_EXIT_GROUP: usize = 231;
    pub const SYS_TGKILL: usize = 234;
    pub const SYS_OPENAT: usize = 257;
    pub const SYS_PPOLL: usize = 271;
    pub const SYS_EPOLL_PWAIT: usize = 281;
}

#[cfg(target_arch = "aarch64")]
pub mod numbers {
    //! The numbers of the system calls.

    pub const SYS_EPOLL_PWAIT: usize = 22;
    pub const SYS_OPENAT: usize = 56;
    pub const SYS_CLOSE: usize = 57;
    pub const SYS_READ: usize = 63;
    pub const SYS_WRITE: usize = 64;
    pub const SYS_READV: usize = 65;
    pub const SYS_WRITEV: usize = 66;
    pub const SYS_PPOLL: usize = 73;
    pub const SYS_EXIT_GROUP: usize = 94;
    pub const SYS_FUTEX: usize = 98;
    pub const SYS_NANOSLEEP: usize = 101;
    pub const SYS_PRCTL: usize = 167;
    pub const SYS_CLOCK_GETTIME: usize = 113;
    pub const SYS_TGKILL: usize = 131;
    pub const SYS_RT_SIGPROCMASK: usize = 135;
    pub const SYS_KILL: usize = 129;
    pub const SYS_GETPID: usize = 172;
    pub const SYS_GETPPID: usize = 173;
    pub const SYS_GETTID: usize = 178;
    pub const SYS_CONNECT: usize = 203;
    pub const SYS_GETSOCKNAME: usize = 204;
    pub const SYS_MMAP: usize = 222;
}

/// One system call; a negative answer is an error number.
#[cfg(target_arch = "x86_64")]
pub unsafe fn ask_kernel(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let answer: isize;
    // SAFETY: the registers of the x86-64 system call convention; `rcx` and `r11` are overwritten by it.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => answer,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    answer
}

/// One system call; a negative answer is an error number.
#[cfg(target_arch = "aarch64")]
pub unsafe fn ask_kernel(number: usize, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let answer: isize;
    // SAFETY: the registers of the AArch64 system call convention.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a as isize => answer,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    answer
}
