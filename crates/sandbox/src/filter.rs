//! System calls a child is refused: those that lead around mounts and Landlock, reach into
//! other processes, or put keys into the operator's terminal.
//!
//! A call that programs fall back from answers that it does not exist; the others that they
//! are not permitted.

use crate::policy::{Network, WallPolicy};
use rustix::io::Errno;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use std::collections::BTreeMap;

#[cfg(target_arch = "x86_64")]
mod numbers {
    pub(super) const ARCHITECTURE: seccompiler::TargetArch = seccompiler::TargetArch::x86_64;
    pub(super) const IOCTL: i64 = 16;
    pub(super) const SOCKET: i64 = 41;
    pub(super) const CLONE: i64 = 56;
    pub(super) const KILL: i64 = 62;
    pub(super) const PTRACE: i64 = 101;
    pub(super) const UNSHARE: i64 = 272;
    pub(super) const RT_SIGQUEUEINFO: i64 = 129;
    pub(super) const TKILL: i64 = 200;
    pub(super) const TGKILL: i64 = 234;
    pub(super) const RT_TGSIGQUEUEINFO: i64 = 297;
    pub(super) const PRLIMIT64: i64 = 302;
    /// A second set of numbers for the same calls.
    pub(super) const OTHER_SET: Option<i64> = Some(0x4000_0000);
    pub(super) const REFUSED: [i64; 26] = [
        155, // pivot_root
        165, // mount
        166, // umount2
        167, // swapon
        168, // swapoff
        169, // reboot
        175, // init_module
        176, // delete_module
        246, // kexec_load
        248, // add_key
        249, // request_key
        250, // keyctl
        298, // perf_event_open
        304, // open_by_handle_at
        308, // setns
        310, // process_vm_readv
        311, // process_vm_writev
        313, // finit_module
        320, // kexec_file_load
        321, // bpf
        323, // userfaultfd
        161, // chroot
        428, // open_tree
        429, // move_mount
        432, // fsmount
        442, // mount_setattr
    ];
}

#[cfg(target_arch = "aarch64")]
mod numbers {
    pub(super) const ARCHITECTURE: seccompiler::TargetArch = seccompiler::TargetArch::aarch64;
    pub(super) const IOCTL: i64 = 29;
    pub(super) const SOCKET: i64 = 198;
    pub(super) const CLONE: i64 = 220;
    pub(super) const KILL: i64 = 129;
    pub(super) const PTRACE: i64 = 117;
    pub(super) const UNSHARE: i64 = 97;
    pub(super) const RT_SIGQUEUEINFO: i64 = 138;
    pub(super) const TKILL: i64 = 130;
    pub(super) const TGKILL: i64 = 131;
    pub(super) const RT_TGSIGQUEUEINFO: i64 = 240;
    pub(super) const PRLIMIT64: i64 = 261;
    pub(super) const OTHER_SET: Option<i64> = None;
    pub(super) const REFUSED: [i64; 26] = [
        41,  // pivot_root
        40,  // mount
        39,  // umount2
        224, // swapon
        225, // swapoff
        142, // reboot
        105, // init_module
        106, // delete_module
        104, // kexec_load
        217, // add_key
        218, // request_key
        219, // keyctl
        241, // perf_event_open
        265, // open_by_handle_at
        268, // setns
        270, // process_vm_readv
        271, // process_vm_writev
        273, // finit_module
        294, // kexec_file_load
        280, // bpf
        282, // userfaultfd
        51,  // chroot
        428, // open_tree
        429, // move_mount
        432, // fsmount
        442, // mount_setattr
    ];
}

/// The same number everywhere: io_uring_setup, io_uring_enter, io_uring_register, clone3, fsopen, fspick.
/// io_uring makes system calls that no filter sees; of clone3 a filter cannot see the flags.
const NOT_THERE: [i64; 6] = [425, 426, 427, 435, 430, 433];

const PUT_KEYS: [u64; 2] = [0x5412, 0x541c]; // TIOCSTI, TIOCLINUX
/// Flags of clone and unshare that make namespaces in which one has rights.
const NEW_NAMESPACES: [u64; 3] = [0x1000_0000, 0x0002_0000, 0x4000_0000]; // NEWUSER, NEWNS, NEWNET
const AF_UNIX: u64 = 1;
const AF_NETLINK: u64 = 16;
const AF_VSOCK: u64 = 40;

/// Returns the filters, of which each is loaded: one for each answer.
pub(crate) fn programs(policy: &WallPolicy) -> Result<Vec<BpfProgram>, BackendError> {
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for number in numbers::REFUSED {
        refused.insert(number, Vec::new());
    }
    for flag in NEW_NAMESPACES {
        for call in [numbers::CLONE, numbers::UNSHARE] {
            rule(&mut refused, call, [has_bit(0, flag)?])?;
        }
    }
    for request in PUT_KEYS {
        rule(&mut refused, numbers::IOCTL, [equal(1, request)?])?;
    }
    match policy.network {
        Network::Open => rule(&mut refused, numbers::SOCKET, [equal(0, AF_VSOCK)?])?,
        Network::Off => {
            rule(&mut refused, numbers::SOCKET, [differs(0, AF_UNIX)?, differs(0, AF_NETLINK)?])?;
        }
    }
    for process in &policy.protected_processes {
        let one = u64::from(process.cast_unsigned());
        let group = u64::from(process.wrapping_neg().cast_unsigned());
        rule(&mut refused, numbers::KILL, [equal(0, group)?])?;
        for call in [
            numbers::KILL,
            numbers::TKILL,
            numbers::TGKILL,
            numbers::RT_SIGQUEUEINFO,
            numbers::RT_TGSIGQUEUEINFO,
            numbers::PRLIMIT64,
        ] {
            rule(&mut refused, call, [equal(0, one)?])?;
        }
        rule(&mut refused, numbers::PTRACE, [equal(1, one)?])?;
    }
    // All of the user's processes at once.
    rule(&mut refused, numbers::KILL, [equal(0, u64::from(u32::MAX))?])?;
    let not_there = NOT_THERE.iter().map(|number| (*number, Vec::new())).collect();
    [(refused, Errno::PERM), (not_there, Errno::NOSYS)]
        .into_iter()
        .map(|(rules, answer)| program(rules, answer))
        .collect()
}

fn program(mut rules: BTreeMap<i64, Vec<SeccompRule>>, answer: Errno) -> Result<BpfProgram, BackendError> {
    if let Some(other) = numbers::OTHER_SET {
        let same: Vec<_> = rules.iter().map(|(number, rules)| (number | other, rules.clone())).collect();
        rules.extend(same);
    }
    let answer = SeccompAction::Errno(answer.raw_os_error().cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, answer, numbers::ARCHITECTURE)?.try_into()
}

fn rule<const N: usize>(
    rules: &mut BTreeMap<i64, Vec<SeccompRule>>,
    call: i64,
    conditions: [SeccompCondition; N],
) -> Result<(), BackendError> {
    rules.entry(call).or_default().push(SeccompRule::new(conditions.to_vec())?);
    Ok(())
}

fn equal(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn differs(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn has_bit(argument: u8, bit: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bit), bit)
}
