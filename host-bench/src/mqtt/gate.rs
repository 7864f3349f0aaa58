//! From the bytes of a packet to the bytes of its verdict: the gate, asked by nobody and with the
//! decisions of a PDP.
//!
//! The PDP is asked natively with all attributes that the server gives, which lie where they are.

mod judge;

use std::cell::RefCell;
use std::hint::black_box;
use std::num::NonZeroU16;
use std::path::Path;

use wardgate_bundle::Trust;
use wardgate_mqtt::gate::{Gate, Judge, Settings, Steps};
use wardgate_mqtt::packet::{
    Connack, Connect, Delivery, List, Packet, Properties, Publish, Qos, Reason, RetainHandling,
    Subscribe, Subscription, Version, encode,
};
use wardgate_mqtt::{Filter, Name};
use wardgate_native::Pdp;

use super::node;
use super::policies::{self, LINES, OPERATOR, SITES};
use crate::arguments::Arguments;
use crate::entry::{Entry, figures};
use crate::measure::{Figure, Side};
use crate::report::Section;
use judge::{CLIENT, Everything, PolicyJudge};

pub(super) fn section(root: &Path, arguments: &Arguments) -> Result<Section, String> {
    let sites = policies::sites()?;
    let section = Section::new("mqtt-gate", "MQTT: a gate, from bytes to verdict", NOTE);
    section
        .native(arguments, || native(&sites, arguments))?
        .node(arguments, || node::gate(root, arguments, &sites))
}

fn native(sites: &[u8], arguments: &Arguments) -> Result<Vec<Figure>, String> {
    let lines = policies::lines_of_one_role()?;
    let site =
        |topic: &'static str| move |number: usize| topic.replace("SITE", &number.to_string());
    let of_sites = |name, topic, expected, cached| {
        Case { name, bundle: sites, roles: policies::role, count: SITES, expected, cached }
            .publishes(site(topic))
    };
    let of_lines = Case {
        name: "Wardgate, 1,000 rules of one role, allowed",
        bundle: &lines,
        roles: |_| OPERATOR.to_owned(),
        count: LINES,
        expected: true,
        cached: 0,
    };
    let entries = vec![
        of_sites("Wardgate, 1,000 rules, allowed", "site/SITE/boiler/state", true, 0)?,
        of_sites("Wardgate, 1,000 rules, denied", "site/SITE/secret/state", false, 0)?,
        of_sites(CACHE, "site/SITE/boiler/state", true, 4 * SITES)?,
        of_lines.publishes(site("line/SITE/a/state"))?,
        alone(Version::V311)?,
        alone(Version::V5)?,
        subscribes(sites)?,
    ];
    figures(entries, arguments.bounds())
}

const CACHE: &str = "Wardgate, 1,000 rules, allowed, cache, 200 topics again and again";

/// Makes a row of a gate whose judge allows everything at once.
fn alone(version: Version) -> Result<Entry<'static>, String> {
    let packet = publish(version, "site/1/boiler/state")?;
    let mut gate = Opened::new(version, Everything)?;
    if gate.take(&packet) != Some(packet.len()) {
        return Err("the gate passes on other bytes".to_owned());
    }
    let gate = RefCell::new(gate);
    let name = format!("Wardgate, the gate alone, version {}", version.level());
    Ok(Entry::new(&name, Side::Ours, move |_| {
        gate.borrow_mut().take(black_box(&packet)) == Some(packet.len())
    }))
}

/// Messages to gates with one set of policies.
struct Case<'b> {
    name: &'static str,
    bundle: &'b [u8],
    roles: fn(usize) -> String,
    /// The number of different topics.
    count: usize,
    expected: bool,
    /// The entries of the cache of answers.
    cached: usize,
}

impl Case<'_> {
    /// Makes a row that publishes under each of `count` topics in turn, by a client that has the role
    /// for it.
    fn publishes(&self, topic: impl Fn(usize) -> String) -> Result<Entry<'static>, String> {
        let Self { name, bundle, roles, count, expected, cached } = *self;
        let pdp = Pdp::open_with_cache(bundle, Trust::Unsigned, cached);
        let pdp = pdp.map_err(|error| error.to_string())?;
        let mut turns = Vec::new();
        for number in 0..count {
            let judge = PolicyJudge::new(&pdp, &roles(number));
            let (topic, mut gate) = (topic(number), Opened::new(Version::V5, judge)?);
            let packet = publish(Version::V5, &topic)?;
            let (length, denied) = (packet.len(), Some(0));
            let answer = if expected { Some(length) } else { denied };
            let foreign = publish(Version::V5, "elsewhere/state")?;
            if gate.take(&packet) != answer || gate.take(&foreign) != denied {
                return Err(format!("{name}: {topic} is judged wrongly"));
            }
            turns.push((packet, answer, RefCell::new(gate)));
        }
        Ok(Entry::new(name, Side::Ours, move |at| {
            let turn = turns.get(at % turns.len());
            turn.is_some_and(|(packet, answer, gate)| {
                gate.borrow_mut().take(black_box(packet)) == *answer
            })
        }))
    }
}

/// Makes a row of a SUBSCRIBE with eight filters, of which every other is denied.
fn subscribes(bundle: &[u8]) -> Result<Entry<'static>, String> {
    let pdp = Pdp::open(bundle, Trust::Unsigned).map_err(|error| error.to_string())?;
    let texts: Vec<String> = (0..FILTERS)
        .map(|at| if at % 2 == 0 { format!("site/1/orders/{at}/#") } else { format!("{at}/#") })
        .collect();
    let filters = texts.iter().map(|text| Filter::new(text)).collect::<Result<Vec<_>, _>>();
    let subscription = |filter| Subscription {
        filter,
        qos: Qos::AtMostOnce,
        no_local: false,
        retain_as_published: false,
        retain_handling: RetainHandling::Send,
    };
    let asked: Vec<_> =
        filters.map_err(|error| error.to_string())?.into_iter().map(subscription).collect();
    let allowed: Vec<_> = asked.iter().step_by(2).copied().collect();
    let (packet, expected) = (subscribe(&asked)?, subscribe(&allowed)?);
    let judge = PolicyJudge::new(&pdp, &policies::role(1));
    let mut gate = Opened::new(Version::V5, judge)?;
    if gate.take(&packet) != Some(expected.len()) || gate.steps.to_server != expected {
        return Err("SUBSCRIBE is judged wrongly".to_owned());
    }
    gate.answer_subscription()?;
    let gate = RefCell::new(gate);
    Ok(Entry::new("Wardgate, SUBSCRIBE of 8 filters and its SUBACK", Side::Ours, move |_| {
        let mut gate = gate.borrow_mut();
        let is_right = gate.take(black_box(&packet)) == Some(expected.len());
        is_right && gate.answer_subscription().is_ok()
    }))
}

fn subscribe(subscriptions: &[Subscription<'_>]) -> Result<Vec<u8>, String> {
    encoded(
        Version::V5,
        &Packet::Subscribe(Subscribe {
            id: NonZeroU16::MIN,
            properties: Properties::EMPTY,
            subscriptions: List::of(subscriptions),
        }),
    )
}

fn publish(version: Version, topic: &str) -> Result<Vec<u8>, String> {
    let topic = Name::new(topic).map_err(|error| error.to_string())?;
    encoded(
        version,
        &Packet::Publish(Publish {
            topic: Some(topic),
            delivery: Delivery::AtMostOnce,
            retain: false,
            properties: Properties::EMPTY,
            payload: &[7; 64],
        }),
    )
}

fn encoded(version: Version, packet: &Packet<'_>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    encode(packet, version, &mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// A gate that client and broker have opened.
struct Opened<J> {
    gate: Gate,
    judge: J,
    steps: Steps,
    suback: Vec<u8>,
}

impl<J: Judge> Opened<J> {
    fn new(version: Version, mut judge: J) -> Result<Self, String> {
        let connect = Connect {
            version,
            clean_start: true,
            keep_alive: 60,
            properties: Properties::EMPTY,
            client_id: CLIENT,
            will: None,
            user_name: None,
            password: None,
        };
        let (reason, properties) = (Reason::SUCCESS, Properties::EMPTY);
        let connack = Connack { session_present: false, reason, properties };
        let (mut gate, mut steps) = (Gate::new(Settings::default(), 0), Steps::default());
        let connect = encoded(version, &Packet::Connect(connect))?;
        gate.from_client(&connect, &mut judge, &mut steps);
        let connack = encoded(version, &Packet::Connack(connack))?;
        gate.from_server(&connack, &mut judge, &mut steps);
        // SUBACK with packet identifier 1, no properties and a code for each filter that goes on.
        let suback = vec![0x90, 7, 0, 1, 0, 0, 0, 0, 0];
        match gate.is_open() {
            true => Ok(Self { gate, judge, steps, suback }),
            false => Err("the gate does not open".to_owned()),
        }
    }

    /// Takes bytes of the client, and returns the number of those for the broker.
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        self.steps.to_server.clear();
        self.gate.from_client(bytes, &mut self.judge, &mut self.steps);
        self.steps.close.is_none().then_some(self.steps.to_server.len())
    }

    /// Takes the answer of the broker to a SUBSCRIBE; the client gets a code for each of its filters.
    fn answer_subscription(&mut self) -> Result<(), String> {
        self.steps.to_client.clear();
        self.gate.from_server(&self.suback, &mut self.judge, &mut self.steps);
        let codes = self.steps.to_client.get(5..).unwrap_or_default();
        let is_right = codes == [0, 0x87, 0, 0x87, 0, 0x87, 0, 0x87];
        if is_right { Ok(()) } else { Err(format!("SUBACK is {:02x?}", self.steps.to_client)) }
    }
}

const FILTERS: usize = 8;

const NOTE: &str = "PUBLISH of 64 bytes and QoS 0. The rules are five for each of 200 roles, or one thousand for one role; \
    one list of patterns in one rule takes less than many rules. Of the eight filters every other is denied.";
