//! Which addresses a request may connect to.
//!
//! A name is looked up once. Every address it stands for is judged, and the request is made to these
//! addresses only: a second answer of the name server, moments later, changes nothing. One address that is not
//! public refuses the request, because a name with both kinds is how such a check is got around.

use ona_api::{AddressClass, address_class, name_class};
use ona_auth::http::is_proxied;
use std::net::{IpAddr, SocketAddr};
use url::{Host, Url};

/// Whether addresses that are not public may be connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    PublicOnly,
    /// An allow rule names the host, or the operator wrote the call.
    Anywhere,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// `None`: the proxy looks the host up and connects.
    pub addresses: Option<Vec<SocketAddr>>,
    /// Of the first address that is not public.
    pub class: Option<AddressClass>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LookupError {
    #[error("{host} cannot be looked up: {why}")]
    Unknown { host: String, why: String },
    #[error(
        "{host} leads to {address}, {class}, which is fetched only if an allow rule names the host, such as WebFetch(domain:{host})"
    )]
    NotPublic { host: String, address: String, class: AddressClass },
}

pub(crate) async fn route(url: &Url, reach: Reach) -> Result<Route, LookupError> {
    let port = url.port_or_known_default().unwrap_or(443);
    let (host, found) = match url.host() {
        Some(Host::Ipv4(address)) => (address.to_string(), Ok(vec![SocketAddr::from((address, port))])),
        Some(Host::Ipv6(address)) => (format!("[{address}]"), Ok(vec![SocketAddr::from((address, port))])),
        Some(Host::Domain(name)) => (name.to_owned(), look_up(name, port).await),
        None => (String::new(), Err("it has no host".to_owned())),
    };
    let proxied = is_proxied(url);
    let addresses = match found {
        Ok(addresses) => addresses,
        // A machine behind a proxy often cannot look up names outside; the proxy can.
        Err(_) if proxied => Vec::new(),
        Err(why) => return Err(LookupError::Unknown { host, why }),
    };
    let hidden = addresses.iter().find_map(|at| address_class(at.ip()).map(|class| (at.ip(), class)));
    let class = hidden.map(|(_, class)| class).or_else(|| name_class(&host));
    if let (Reach::PublicOnly, Some(class)) = (reach, class) {
        let address = hidden.map_or_else(|| host.clone(), |(address, _)| address.to_string());
        return Err(LookupError::NotPublic { host, address, class });
    }
    // A proxy is not asked for what is on this machine.
    let direct = !proxied || class == Some(AddressClass::Loopback);
    Ok(Route { addresses: direct.then_some(addresses), class })
}

async fn look_up(name: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    // The standard says that these are this machine, whatever a name server says (RFC 6761).
    if name_class(name) == Some(AddressClass::Loopback) {
        let loopback = [IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])];
        return Ok(loopback.map(|address| SocketAddr::new(address, port)).to_vec());
    }
    match tokio::net::lookup_host((name, port)).await {
        Ok(found) => match found.collect::<Vec<_>>() {
            none if none.is_empty() => Err("it has no address".to_owned()),
            addresses => Ok(addresses),
        },
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn class(address: &str, reach: Reach) -> Result<Option<AddressClass>, Option<AddressClass>> {
        let url = Url::parse(address).unwrap();
        route(&url, reach).await.map(|route| route.class).map_err(|error| match error {
            LookupError::NotPublic { class, .. } => Some(class),
            LookupError::Unknown { .. } => None,
        })
    }

    #[tokio::test]
    async fn every_spelling_of_an_address_is_judged_as_that_address() {
        use AddressClass::{LinkLocal, Loopback, Private, UniqueLocal, Unspecified};
        for (address, expected) in [
            ("http://127.0.0.1/", Loopback),
            ("http://2130706433/", Loopback),
            ("http://0x7f.1/", Loopback),
            ("http://0177.0.0.1/", Loopback),
            ("http://127.1/", Loopback),
            ("http://１２７.０.０.１/", Loopback),
            ("http://localhost./", Loopback),
            ("http://LOCALHOST:8080/", Loopback),
            ("http://a.b.localhost/", Loopback),
            ("http://[::1]/", Loopback),
            ("http://[::ffff:127.0.0.1]/", Loopback),
            ("http://[::ffff:a9fe:a9fe]/", LinkLocal),
            ("http://169.254.169.254/latest/meta-data/", LinkLocal),
            ("http://0xa9fea9fe/", LinkLocal),
            ("http://10.0.0.1./", Private),
            ("http://[fd00:ec2::254]/", UniqueLocal),
            ("http://0/", Unspecified),
        ] {
            assert_eq!(class(address, Reach::PublicOnly).await, Err(Some(expected)), "{address}");
            assert_eq!(class(address, Reach::Anywhere).await, Ok(Some(expected)), "{address}");
        }
        assert_eq!(class("http://1.1.1.1/", Reach::PublicOnly).await, Ok(None));
    }
}
