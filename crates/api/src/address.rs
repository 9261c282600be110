//! Which network addresses are not part of the public internet.
//!
//! A page of the web can name any address. Those listed here lead to this machine, to the network it is in
//! or to the service that hands out its credentials, so nothing fetches them unasked. IPv6 addresses that
//! stand for an IPv4 address are judged as that one.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not a public one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressClass {
    Loopback,
    Private,
    LinkLocal,
    UniqueLocal,
    /// Between a provider and its customers (RFC 6598).
    SharedNat,
    Multicast,
    /// Where a cloud hands out credentials, outside the other ranges.
    Metadata,
    Unspecified,
    /// Documentation, tests, future use, tunnels whose end cannot be told.
    Reserved,
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::LinkLocal => "a link-local address",
            Self::UniqueLocal => "a unique local address",
            Self::SharedNat => "a carrier-grade NAT address",
            Self::Multicast => "a multicast address",
            Self::Metadata => "a cloud metadata address",
            Self::Unspecified => "an unspecified address",
            Self::Reserved => "a reserved address",
        })
    }
}

/// Returns the class of an address, `None` if it is public.
pub fn address_class(address: IpAddr) -> Option<AddressClass> {
    match address {
        IpAddr::V4(address) => v4(address),
        IpAddr::V6(address) => v6(address),
    }
}

/// Returns the class of a host name that needs no look-up to be known.
pub fn name_class(host: &str) -> Option<AddressClass> {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let is_in = |domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if is_in("localhost") {
        Some(AddressClass::Loopback)
    } else if matches!(host.as_str(), "metadata" | "metadata.google.internal" | "instance-data") {
        Some(AddressClass::Metadata)
    } else {
        None
    }
}

fn v4(address: Ipv4Addr) -> Option<AddressClass> {
    use AddressClass::{LinkLocal, Loopback, Metadata, Multicast, Private, Reserved, SharedNat, Unspecified};
    match address.octets() {
        [0, ..] => Some(Unspecified),
        [10, ..] | [192, 168, ..] => Some(Private),
        [172, second, ..] if second & 0xf0 == 16 => Some(Private),
        [127, ..] => Some(Loopback),
        [169, 254, ..] => Some(LinkLocal),
        [100, second, ..] if second & 0xc0 == 64 => Some(SharedNat),
        // Azure's, which is in a public range.
        [168, 63, 129, 16] => Some(Metadata),
        [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] => {
            Some(Reserved)
        }
        [first, ..] if first & 0xf0 == 224 => Some(Multicast),
        [first, ..] if first >= 240 => Some(Reserved),
        _ => None,
    }
}

fn v6(address: Ipv6Addr) -> Option<AddressClass> {
    use AddressClass::{LinkLocal, Loopback, Multicast, Private, Reserved, UniqueLocal, Unspecified};
    let words = address.segments();
    let embedded = |high: u16, low: u16| v4(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match words {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some(Unspecified),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(Loopback),
        // Mapped, and the form before it.
        [0, 0, 0, 0, 0, 0xffff, high, low] => embedded(high, low),
        [0, 0, 0, 0, 0, 0, high, low] => embedded(high, low).or(Some(Reserved)),
        [0, 0, 0, 0, 0xffff, 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x64, 0xff9b, 1, ..] => Some(Private),
        // 6to4.
        [0x2002, high, low, ..] => embedded(high, low),
        // Teredo, documentation, discard.
        [0x2001, 0, ..] | [0x2001, 0xdb8, ..] | [0x100, 0, 0, 0, ..] | [0x3fff, ..] => Some(Reserved),
        [first, ..] if first & 0xfe00 == 0xfc00 => Some(UniqueLocal),
        [first, ..] if first & 0xffc0 == 0xfe80 => Some(LinkLocal),
        // Site-local, withdrawn by RFC 3879.
        [first, ..] if first & 0xffc0 == 0xfec0 => Some(Private),
        [first, ..] if first & 0xff00 == 0xff00 => Some(Multicast),
        // Only 2000::/3 is assigned to the internet.
        [first, ..] if first & 0xe000 != 0x2000 => Some(Reserved),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_public_are_known() {
        use AddressClass::*;
        for (address, expected) in [
            ("127.0.0.1", Loopback),
            ("127.255.255.254", Loopback),
            ("0.0.0.0", Unspecified),
            ("0.1.2.3", Unspecified),
            ("10.1.2.3", Private),
            ("172.16.0.1", Private),
            ("172.31.255.255", Private),
            ("192.168.1.1", Private),
            ("100.64.0.1", SharedNat),
            ("100.127.255.255", SharedNat),
            ("100.100.100.200", SharedNat),
            ("169.254.169.254", LinkLocal),
            ("169.254.170.2", LinkLocal),
            ("168.63.129.16", Metadata),
            ("192.0.0.192", Reserved),
            ("198.18.0.1", Reserved),
            ("224.0.0.1", Multicast),
            ("239.255.255.255", Multicast),
            ("255.255.255.255", Reserved),
            ("::", Unspecified),
            ("::1", Loopback),
            ("::ffff:127.0.0.1", Loopback),
            ("::ffff:169.254.169.254", LinkLocal),
            ("::127.0.0.1", Loopback),
            ("::ffff:0:10.0.0.1", Private),
            ("64:ff9b::10.0.0.1", Private),
            ("64:ff9b:1::1", Private),
            ("2002:7f00:1::", Loopback),
            ("2002:a9fe:a9fe::1", LinkLocal),
            ("2001:0:1::", Reserved),
            ("fd00:ec2::254", UniqueLocal),
            ("fc00::1", UniqueLocal),
            ("fe80::1", LinkLocal),
            ("fec0::1", Private),
            ("ff02::1", Multicast),
            ("2001:db8::1", Reserved),
            ("4000::1", Reserved),
        ] {
            assert_eq!(address_class(address.parse().unwrap()), Some(expected), "{address}");
        }
        for public in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "126.1.1.1",
            "128.0.0.1",
            "169.253.1.1",
            "172.15.1.1",
            "172.32.0.1",
            "192.167.1.1",
            "223.255.255.255",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
            "64:ff9b::1.1.1.1",
            "2002:101:101::",
        ] {
            assert_eq!(address_class(public.parse().unwrap()), None, "{public}");
        }
    }

    #[test]
    fn some_names_need_no_look_up() {
        for host in ["localhost", "LOCALHOST.", "a.localhost"] {
            assert_eq!(name_class(host), Some(AddressClass::Loopback), "{host}");
        }
        assert_eq!(name_class("Metadata.Google.Internal."), Some(AddressClass::Metadata));
        for host in ["notlocalhost", "localhost.test", "example.com", ""] {
            assert_eq!(name_class(host), None, "{host}");
        }
    }
}
