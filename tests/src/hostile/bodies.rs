//! The bodies of hostile requests.

use std::fmt::Write;

use super::{Hostile, MAX_BYTES};
use crate::items::items;

/// Makes bodies from a stream of numbers: SplitMix64 (Steele, Lea and Flood, 2014).
pub(super) struct Maker {
    state: u64,
}

/// An entrance, and the parts of the JSON that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entrance {
    CheckResources,
    CheckSet,
    CheckBatch,
    Evaluation,
    Evaluations,
    SearchSubjects,
    SearchResources,
    SearchActions,
}

/// The content of a request, in pieces of JSON.
struct Parts {
    /// Attributes of principal and resource.
    attributes: [String; 2],
    roles: Vec<String>,
    actions: Vec<String>,
    kind: String,
    resources: usize,
    /// True if AuthZEN shall return the full decision.
    has_context: bool,
}

impl Maker {
    pub(super) const fn new(state: u64) -> Self {
        Self { state }
    }

    pub(super) fn request(&mut self, number: u64) -> Hostile {
        let entrances = u64::try_from(ENTRANCES.len()).unwrap_or(1);
        let entrance = pick(ENTRANCES, number % entrances);
        let (name, body) = match (number / entrances) % 16 {
            0 => ("long lists", self.of_lists(entrance, 1)),
            1 => ("long lists, many actions", self.of_lists(entrance, all_actions().len())),
            2 => ("wide objects", self.of_attributes(entrance, Self::wide)),
            3 => ("deep objects", self.of_attributes(entrance, Self::deep)),
            4 => ("long texts", self.of_attributes(entrance, Self::text)),
            5 => ("many actions", self.many_actions(entrance)),
            6 => ("many roles", self.many_roles(entrance)),
            7 => ("many resources", self.many_resources(entrance)),
            8 => ("many small questions", self.many_questions(entrance)),
            9 => ("doubled members", self.doubled(entrance)),
            10 => ("odd numbers and escapes", self.of_attributes(entrance, Self::unusual)),
            11 => ("no JSON", self.broken(entrance)),
            12 => ("numbers with long texts", self.of_attributes(entrance, Self::numbers)),
            13 => ("many outputs", self.outputs(entrance)),
            14 => ("long names", self.long_names(entrance)),
            _ => ("texts of other forms", self.of_attributes(entrance, Self::forms)),
        };
        Hostile { name, path: entrance.path(), body }
    }

    fn of_lists(&mut self, entrance: Entrance, actions: usize) -> Vec<u8> {
        let size = self.size() / 2;
        let length = self.below(14) + 2;
        let list = |maker: &mut Self, of: char| {
            let groups = maker.list(of, size, length);
            format!("{{\"groups\":{groups},\"text\":\"ab\"}}")
        };
        let attributes = [list(self, 'p'), list(self, 'r')];
        let first = usize::try_from(self.below(14)).unwrap_or(0);
        let actions = all_actions().into_iter().cycle().skip(first).take(actions);
        let parts = Parts { attributes, actions: actions.collect(), ..Parts::small() };
        entrance.body(&parts)
    }

    fn of_attributes(
        &mut self,
        entrance: Entrance,
        make: fn(&mut Self, usize) -> String,
    ) -> Vec<u8> {
        let size = self.size() / 2;
        let attributes = [make(self, size), make(self, size)];
        entrance.body(&Parts { attributes, actions: all_actions(), ..Parts::small() })
    }

    fn many_actions(&mut self, entrance: Entrance) -> Vec<u8> {
        let count = pick(&[50, 51, 10_000, 200_000], self.below(4));
        let actions = (0..count).map(|n| format!("meet:{n}")).collect();
        let size = self.size() / 8;
        let groups = [self.list('p', size, 6), self.list('r', size, 6)];
        let attributes = groups.map(|groups| format!("{{\"groups\":{groups}}}"));
        entrance.body(&Parts { attributes, actions, ..Parts::small() })
    }

    fn many_roles(&mut self, entrance: Entrance) -> Vec<u8> {
        let count = pick(&[64, 65, 5_000, 100_000], self.below(4));
        let roles = (0..count).map(|n| format!("r{n}")).collect();
        entrance.body(&Parts { roles, actions: all_actions(), ..Parts::small() })
    }

    fn many_resources(&mut self, entrance: Entrance) -> Vec<u8> {
        let resources = pick(&[50, 51, 1000, 1001], self.below(4));
        let size = self.size() / resources.min(50) / 2;
        let [p, r] = [self.list('p', size, 6), self.list('r', size, 6)];
        let attributes = [p, r].map(|groups| format!("{{\"groups\":{groups}}}"));
        let actions = all_actions();
        entrance.body(&Parts { attributes, actions, resources, ..Parts::small() })
    }

    /// Makes large defaults, and the largest accepted number of small questions.
    fn many_questions(&mut self, entrance: Entrance) -> Vec<u8> {
        let size = self.size() / 2;
        let attributes = [self.list('p', size, 9), self.list('r', 64, 9)]
            .map(|groups| format!("{{\"groups\":{groups}}}"));
        let resources = if entrance == Entrance::Evaluations { 1000 } else { 50 };
        entrance.body(&Parts { attributes, resources, ..Parts::small() })
    }

    fn doubled(&mut self, entrance: Entrance) -> Vec<u8> {
        let count = self.size() / 12;
        let mut members = String::new();
        for n in 0..count {
            let _ = write!(members, "\"a{}\":{n},", n % (count - 1).max(1));
        }
        let attributes = [format!("{{{members}\"groups\":[]}}"), "{}".to_owned()];
        entrance.body(&Parts { attributes, ..Parts::small() })
    }

    fn broken(&mut self, entrance: Entrance) -> Vec<u8> {
        let mut body = self.of_lists(entrance, 3);
        let at = index(self.below(u64::try_from(body.len()).unwrap_or(1)));
        match self.below(5) {
            0 => body.truncate(at),
            1 => body.splice(at..at, [0xff]).for_each(drop),
            2 => body.splice(at..at, [b'"']).for_each(drop),
            3 => body = b"[".repeat(self.size()),
            _ => body = b"{\"a\":".repeat(self.size() / 5),
        }
        body
    }

    /// Makes a list of texts that all differ, of about `size` bytes.
    fn list(&mut self, of: char, size: usize, length: u64) -> String {
        let mut list = String::from("[");
        let width = index(length);
        for n in 0..size / (width + 4) {
            let comma = if n == 0 { "" } else { "," };
            let _ = write!(list, "{comma}\"{of}{n:0width$}\"");
        }
        list.push(']');
        list
    }

    fn wide(&mut self, size: usize) -> String {
        let mut object = String::from("{\"groups\":[\"a\"]");
        for n in 0..size / 16 {
            let _ = write!(object, ",\"member{n}\":{n}");
        }
        object.push('}');
        object
    }

    /// Makes nested objects and lists, as deep as is accepted or far deeper.
    fn deep(&mut self, size: usize) -> String {
        let depth = pick(&[60, 64, 65, 10_000], self.below(4)).min(size / 6);
        let nested = format!("{}1{}", "[{\"a\":".repeat(depth), "}]".repeat(depth));
        let times = (size / nested.len().max(1)).max(1);
        format!("{{\"groups\":[{}]}}", vec![nested; times.min(100_000)].join(","))
    }

    fn text(&mut self, size: usize) -> String {
        let unit = pick(&["ab", "a", "\\u0061", "é", "\\ud83d\\ude00"], self.below(5));
        let text = unit.repeat(size / unit.len());
        format!("{{\"text\":\"{text}\",\"groups\":[\"{unit}\"]}}")
    }

    fn unusual(&mut self, size: usize) -> String {
        let unit =
            pick(&["1e308", "-0.0", "1e-400", "123456789012345678901234567890"], self.below(4));
        let numbers = vec![unit; size / (unit.len() + 1)].join(",");
        let digits = "9".repeat(size / 4);
        format!("{{\"groups\":[{numbers}],\"n\":{digits}}}")
    }

    /// Makes numbers whose shortest text is long, and those that are written fast.
    fn numbers(&mut self, size: usize) -> String {
        let unit =
            pick(&["2.2250738585072014e-308", "1.7976931348623157e308", "0.1", "1"], self.below(4));
        let most = pick(&[100, 10_000, 99_000], self.below(3));
        let numbers = vec![unit; most.min(size / (unit.len() + 1))].join(",");
        format!("{{\"groups\":[{numbers}],\"text\":\"{unit}\"}}")
    }

    /// Makes the largest accepted number of actions, each of which outputs the attributes.
    fn outputs(&mut self, entrance: Entrance) -> Vec<u8> {
        let (unit, size) = (pick(OUTPUTS, self.below(6)), self.size() / 2);
        let most = pick(&[10, 1000, 90_000, 600_000], self.below(4));
        let times = most.min(size / (unit.len() + 1));
        let attribute = if unit.starts_with('\\') {
            format!("\"{}\"", unit.repeat(times))
        } else {
            format!("[{}]", vec![unit; times].join(","))
        };
        let (small, large) = ("{}".to_owned(), format!("{{\"groups\":{attribute}}}"));
        let actions = (0..50).map(|n| format!("told:{n}")).collect();
        let resources =
            if entrance == Entrance::Evaluations { 1000 } else { pick(&[1, 3, 50], self.below(3)) };
        // Attributes that many resources repeat would make the body too long.
        let attributes = if resources < 4 { [small, large] } else { [large, small] };
        let has_context = self.below(2) == 0;
        entrance.body(&Parts { attributes, actions, resources, has_context, ..Parts::small() })
    }

    /// Makes kinds, actions and roles that globs are compared with.
    fn long_names(&mut self, entrance: Entrance) -> Vec<u8> {
        let unit = pick(&["a", "ab", "a:", "ade", "{a"], self.below(5));
        let count = pick(&[1, 50], self.below(2));
        let long = |bytes: usize| unit.repeat(bytes / unit.len());
        let size = self.size() / 2;
        let kind = long(pick(&[size, 10_000, 3], self.below(3)));
        let roles =
            (0..pick(&[1, 64, 3000], self.below(3))).map(|n| format!("{}{n}", long(900))).collect();
        let actions = (0..count).map(|n| format!("{}{n}", long(size / count))).collect();
        entrance.body(&Parts { kind, roles, actions, ..Parts::small() })
    }

    /// Makes texts that conditions take apart: base64, paths, hierarchies, identities, patterns.
    fn forms(&mut self, size: usize) -> String {
        let (begin, unit) = pick(
            &[("", "YWFh"), ("", "a/"), ("", "a."), ("spiffe://x", "/a"), ("", "aB")],
            self.below(5),
        );
        let length = pick(&[100, 10_000, size / 2], self.below(3));
        let text = unit.repeat(length / unit.len());
        let text = begin.to_owned() + text.trim_end_matches(['/', '.']);
        let most = pick(&[600, 60_000, 600_000], self.below(3));
        let groups = self.list('g', size.min(most), 5);
        let pattern = pick(&["^(a|b|ab)*c$", "(a+)+$", "((a)(b)?)*c", "a{1,50}b"], self.below(4));
        format!("{{\"text\":\"{text}\",\"pattern\":\"{pattern}\",\"groups\":{groups}}}")
    }

    /// Returns mostly large sizes, sometimes one small enough to be looked at in full.
    fn size(&mut self) -> usize {
        const SIZES: [usize; 6] =
            [MAX_BYTES - 4096, MAX_BYTES / 2, MAX_BYTES / 4, MAX_BYTES / 8, 64 << 10, 4 << 10];
        pick(&SIZES, self.below(6))
    }

    fn below(&mut self, most: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % most.max(1)
    }
}

impl Parts {
    fn small() -> Self {
        Self {
            attributes: ["{\"groups\":[\"a\"]}".to_owned(), "{\"groups\":[\"b\"]}".to_owned()],
            roles: vec!["member".to_owned()],
            actions: vec!["meet:1".to_owned()],
            kind: "doc".to_owned(),
            resources: 1,
            has_context: false,
        }
    }
}

impl Entrance {
    const fn path(self) -> &'static str {
        match self {
            Self::CheckResources => "/api/check/resources",
            Self::CheckSet => "/api/check",
            Self::CheckBatch => "/api/check_resource_batch",
            Self::Evaluation => "/access/v1/evaluation",
            Self::Evaluations => "/access/v1/evaluations",
            Self::SearchSubjects => "/access/v1/search/subject",
            Self::SearchResources => "/access/v1/search/resource",
            Self::SearchActions => "/access/v1/search/action",
        }
    }

    fn body(self, parts: &Parts) -> Vec<u8> {
        let Parts { attributes: [p, r], roles, actions, kind, resources, has_context } = parts;
        let context = if *has_context { CONTEXT } else { "" };
        let (name, count) = (actions.first().map_or("", String::as_str), actions.len());
        let own = |n: usize| actions.get(n).filter(|_| count > 1).cloned();
        let (roles, all) = (texts(roles), texts(actions));
        let action = format!("{{\"name\":\"{name}\"}}");
        let principal = format!("{{\"id\":\"sam\",\"roles\":{roles},\"attr\":{p}}}");
        let subject = format!(
            "{{\"type\":\"user\",\"id\":\"sam\",\"properties\":{}}}",
            with_roles(p, &roles)
        );
        let resource =
            |n: usize| format!("{{\"type\":\"{kind}\",\"id\":\"d{n}\",\"properties\":{r}}}");
        let body = match self {
            Self::CheckResources | Self::CheckBatch => {
                let entry = |n| {
                    format!(
                        "{{\"resource\":{{\"kind\":\"{kind}\",\"id\":\"d{n}\",\"attr\":{r}}},\"actions\":{all}}}"
                    )
                };
                let entries: Vec<_> = (0..*resources).map(entry).collect();
                format!("{{\"principal\":{principal},\"resources\":[{}]}}", entries.join(","))
            }
            Self::CheckSet => {
                let instances: Vec<_> =
                    (0..*resources).map(|n| format!("\"d{n}\":{{\"attr\":{r}}}")).collect();
                format!(
                    "{{\"principal\":{principal},\"actions\":{all},\"resource\":{{\"kind\":\"{kind}\",\"instances\":{{{}}}}}}}",
                    instances.join(",")
                )
            }
            Self::Evaluation => {
                format!(
                    "{{\"subject\":{subject},\"action\":{action},{context}\"resource\":{}}}",
                    resource(0)
                )
            }
            Self::Evaluations => {
                let item = |n: usize| match own(n) {
                    Some(action) => format!("{{\"action\":{{\"name\":\"{action}\"}}}}"),
                    None => format!("{{\"resource\":{}}}", resource(n)),
                };
                let items: Vec<_> = (0..*resources).map(item).collect();
                format!(
                    "{{\"subject\":{subject},\"action\":{action},{context}\"resource\":{},\"evaluations\":[{}]}}",
                    resource(0),
                    items.join(",")
                )
            }
            Self::SearchSubjects => format!(
                "{{\"subject\":{{\"type\":\"user\"}},\"action\":{action},\"resource\":{}}}",
                resource(0)
            ),
            Self::SearchResources => format!(
                "{{\"subject\":{subject},\"action\":{action},\"resource\":{{\"type\":\"{kind}\"}}}}"
            ),
            Self::SearchActions => {
                format!("{{\"subject\":{subject},\"resource\":{}}}", resource(0))
            }
        };
        body.into_bytes()
    }
}

/// Adds roles to the properties of a subject.
fn with_roles(properties: &str, roles: &str) -> String {
    match properties.strip_prefix('{') {
        Some("}") => format!("{{\"roles\":{roles}}}"),
        Some(rest) => format!("{{\"roles\":{roles},{rest}"),
        None => properties.to_owned(),
    }
}

fn texts(texts: &[String]) -> String {
    format!("[\"{}\"]", texts.join("\",\""))
}

fn all_actions() -> Vec<String> {
    items(ACTIONS).into_iter().map(str::to_owned).collect()
}

#[expect(
    clippy::indexing_slicing,
    reason = "the place is taken modulo the length of a list that is not empty"
)]
fn pick<T: Copy>(list: &[T], number: u64) -> T {
    list[index(number) % list.len()]
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

const ENTRANCES: &[Entrance] = &[
    Entrance::CheckResources,
    Entrance::Evaluations,
    Entrance::CheckSet,
    Entrance::SearchResources,
    Entrance::CheckResources,
    Entrance::Evaluation,
    Entrance::CheckBatch,
    Entrance::SearchSubjects,
    Entrance::SearchActions,
];

/// The actions that have conditions in the policies.
const ACTIONS: &str = "
    meet:1; both; other; within; once; order; pairs; in; text; words; map; same; team; roles;
    told; view; numbers; formats; written; pairings; longer; maybe; joined; decoded; lowered;
    paths; levels; identities; patterns; captures; members; times; encoded
";

/// The part of a question that requests the full decision.
const CONTEXT: &str = "\"context\":{\"cerbos.includeMeta\":true},";

/// The repeated parts of outputs: the first three escape their characters.
const OUTPUTS: &[&str] = &["\\u0001", "\\n", "\\\"", "1", "{\"a\":1}", "2.2250738585072014e-308"];
