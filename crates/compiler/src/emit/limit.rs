//! Rate limits: a block whose rules say which requests they are for, and a record for each.

use wardgate_engine::cel::Value;
use wardgate_engine::cel::pool::DEPENDS_ON_ROLES;
use wardgate_engine::decide::{Rounded, tokens};
use wardgate_engine::glob::{is_glob, validate};
use wardgate_engine::limits::MAX_LIMIT_TOKENS;
use wardgate_engine::names::sanitized;
use wardgate_engine::table::limit::{Algorithm as Word, LIMIT_WORDS, field};
use wardgate_ratelimit::{Algorithm, MAX_TOKENS, Rule, Window};

use super::Emitter;
use super::assemble::counted;
use super::blocks::{Block, Row};
use super::expressions::Names;
use crate::cel;
use crate::diagnostics::{Code, Diagnostic};
use crate::expression::ExprSource;
use crate::policy::model::{Condition, LimitBody};
use crate::resolve::model::Limit;
use crate::words::index;

impl Emitter<'_> {
    /// Writes the rate limits. A table without any has no words for them.
    pub(super) fn limits(&mut self, limits: &[Limit]) {
        if limits.is_empty() {
            return;
        }
        let mut block = Block::new("", "");
        let (mut records, mut keys) = (Vec::new(), Vec::new());
        let keys_at = index(1 + limits.len() * LIMIT_WORDS);
        for limit in limits {
            let body = &limit.body;
            let names = self.names(&limit.constants, &limit.variables);
            let row = Row {
                name: self.assembly.pool.string(&body.name),
                line: limit.location.position.line,
                condition: body.condition.as_ref().and_then(|at| self.limit_condition(at, &names)),
                ..Row::default()
            };
            let resource = kinds(&body.resource);
            block.row(row, Some(&body.actions), None, Some(&resource));
            let key = body.key.iter().filter_map(|part| self.limit_program(part, &names));
            let key = counted(key.collect::<Vec<_>>());
            let mut record = self.record(limit, &names);
            record[field::KEY] = keys_at + index(keys.len());
            records.extend(record);
            keys.extend(key);
            self.bounds(limit);
        }
        let at = block.put(&mut self.assembly);
        self.assembly.limits = [vec![at], records, keys].concat();
    }

    fn record(&mut self, limit: &Limit, names: &Names) -> [u32; LIMIT_WORDS] {
        let body = &limit.body;
        let mut record = [0; LIMIT_WORDS];
        let cost = body.cost.as_ref().and_then(|cost| self.limit_program(cost, names));
        record[field::COST] = cost.map_or(0, |cost| cost + 1);
        record[field::QUOTA] = self.limit_program(&body.quota, names).unwrap_or_default();
        let window = match body.window {
            Window::Micros(micros) => micros,
            Window::Month => 0,
        };
        let (algorithm, burst) = match body.algorithm {
            Algorithm::Gcra { burst } => (Word::Gcra, burst.unwrap_or_default()),
            Algorithm::Fixed => (Word::Fixed, 0),
            Algorithm::Sliding => (Word::Sliding, 0),
        };
        [record[field::WINDOW], record[field::WINDOW + 1]] = halves(window);
        [record[field::BURST], record[field::BURST + 1]] = halves(burst);
        record[field::ALGORITHM] = algorithm.code();
        record[field::CHARGED] = body.charged.code();
        record[field::CONSISTENCY] = body.consistency.code();
        record[field::FAILURE] = body.failure.code();
        record[field::MODE] = body.mode.code();
        record[field::FILE] = self.assembly.pool.explanation(&limit.location.file.path);
        record
    }

    /// Compiles a condition, whose expressions read no derived roles.
    fn limit_condition(&mut self, condition: &Condition, names: &Names) -> Option<u32> {
        let compiled = self.condition(condition, names)?;
        for expr in condition.expressions() {
            self.limit_program(expr, names);
        }
        Some(compiled)
    }

    /// Compiles an expression, which may not read derived roles: a limit belongs to no scope, so it
    /// would read an empty list, and the limit could fall away.
    fn limit_program(&mut self, expr: &ExprSource, names: &Names) -> Option<u32> {
        let program = self.program(expr, names)?;
        let flags = self.assembly.pool.view().program(program).map_or(0, |found| found.flags);
        if flags & DEPENDS_ON_ROLES != 0 {
            let message = "a limit cannot read `runtime`: derived roles belong to a scope";
            self.errors.push(Diagnostic::error(Code::InvalidExpression, &expr.at, message));
        }
        Some(program)
    }

    /// Checks what is known of cost and quota without a request.
    fn bounds(&mut self, limit: &Limit) {
        let LimitBody { cost, quota, algorithm, window, .. } = &limit.body;
        let cost = cost.as_ref().map(|cost| (cost, constant(cost, limit, Rounded::Up)));
        if let Some((cost, Some(Err(message)))) = cost {
            self.errors.push(Diagnostic::error(Code::Validation, &cost.at, message));
        }
        let message = match constant(quota, limit, Rounded::Down) {
            Some(Ok(tokens)) if tokens >= MAX_LIMIT_TOKENS => {
                format!("expected a quota of at most {MAX_TOKENS}")
            }
            Some(Ok(tokens)) => match Rule::new(*algorithm, tokens, *window) {
                Err(error) => error.to_string(),
                Ok(rule) => {
                    return self.never(cost, rule.capacity());
                }
            },
            Some(Err(message)) => message.to_owned(),
            None => return,
        };
        self.errors.push(Diagnostic::error(Code::Validation, &quota.at, message));
    }

    /// Refuses a cost that no key ever has the tokens for.
    fn never(&mut self, cost: Option<(&ExprSource, Option<Tokens>)>, capacity: u64) {
        if let Some((cost, Some(Ok(tokens)))) = cost
            && tokens > capacity
        {
            let message = format!("the limit never admits this cost: a full key has {capacity}");
            self.errors.push(Diagnostic::error(Code::Validation, &cost.at, message));
        }
    }
}

/// Tokens, or the reason why they are none.
type Tokens = Result<u64, &'static str>;

/// Returns the tokens of an expression that reads nothing of the request.
fn constant(expr: &ExprSource, limit: &Limit, rounded: Rounded) -> Option<Tokens> {
    let parsed = cel::parse(&expr.text).ok()?;
    let tokens = cel::constant(&parsed, &limit.constants, |value| match value {
        Value::Error(_) => None,
        value => Some(tokens(&value, rounded)),
    });
    tokens.flatten().map(|tokens| tokens.ok_or("expected a number that is not negative"))
}

fn halves(number: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = number.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

/// Returns the pattern of the kinds that a limit is for. Kinds are looked up in another form than they
/// are written in, such as `mqtt_client`, and a limit must not fall away for it: `mqtt:*` is for both.
fn kinds(resource: &str) -> String {
    if !is_glob(resource) {
        return sanitized(resource).into_owned();
    }
    let looked_up = looked_up(resource);
    if looked_up == resource {
        return looked_up;
    }
    let both = format!("{{{resource},{looked_up}}}");
    // A limit for all kinds is nearer to what was meant than one for none.
    if validate(&both).is_err() { "**".to_owned() } else { both }
}

/// Returns a pattern for names in which other characters than letters, digits, `_` and `.` were
/// replaced by `_`.
fn looked_up(pattern: &str) -> String {
    let mut clean = String::with_capacity(pattern.len());
    let (mut is_class, mut replaced) = (false, false);
    for c in pattern.chars() {
        is_class = c == '[' || is_class && c != ']';
        let keeps = c.is_ascii_alphanumeric() || "_.*?[]{},!\\".contains(c) || is_class && c == '-';
        if keeps {
            clean.push(c);
        } else if is_class || !replaced {
            clean.push('_');
        }
        replaced = !keeps && !is_class;
    }
    clean
}

#[cfg(test)]
mod tests {
    use wardgate_engine::attr::Attr;
    use wardgate_engine::budget::Budget;
    use wardgate_engine::cel::Timestamp;
    use wardgate_engine::decision::Effect;
    use wardgate_engine::request::Request;
    use wardgate_engine::table::layout::{FLAG_LIMITS, HEADER_WORDS};
    use wardgate_engine::table::{Flaw, Parts, PolicyTable};

    use crate::{Options, compile_files};

    const VIEWS: &str = "apiVersion: api.cerbos.dev/v1
wardgateLimit: { name: views, resource: 'al*', actions: [view], key: [P.id, 1], cost: 2, quota: P.attr.quota, window: 1h, condition: { match: { expr: P.id != '' } } }
";
    const SHARES: &str = "apiVersion: api.cerbos.dev/v1
wardgateLimit: { name: shares, resource: album, actions: ['*'], key: [], quota: 7, window: month, algorithm: fixed, charge: always }
";
    const ALBUM: &str = "apiVersion: api.cerbos.dev/v1
resourcePolicy: { resource: album, version: default, rules: [{ actions: [view], roles: ['*'], effect: EFFECT_ALLOW }] }
";

    fn compiled(texts: &[&str]) -> Parts {
        let files = texts.iter().enumerate();
        let files = files.map(|(at, text)| (format!("{at}.yaml"), text.as_bytes().to_vec()));
        compile_files(&files.collect::<Vec<_>>(), &Options::default()).unwrap().parts
    }

    /// Returns the names, keys, costs and quotas that an action meets, or the error.
    fn charges(table: &PolicyTable, action: &str, effect: Effect) -> Vec<String> {
        let mut request = Request::default();
        request.principal.id = "ada".to_owned();
        request.principal.attr = [("quota".into(), Attr::Number(9.5))].into_iter().collect();
        request.resource.kind = "album".to_owned();
        let of = (action, effect);
        let met = table.charges(&request, of, Timestamp::default(), &Budget::default());
        let shown = |met: wardgate_engine::decide::Met<'_>| {
            let charge = met.charge.map(|charge| (charge.key_values(), charge.cost, charge.quota));
            format!("{} {charge:?}", met.limit.name())
        };
        met.unwrap().into_iter().map(shown).collect()
    }

    #[test]
    fn an_action_meets_the_limits_of_its_kind_in_the_order_of_their_names() {
        let table = PolicyTable::from_parts_with_limits(compiled(&[VIEWS, ALBUM, SHARES])).unwrap();
        let shares = "shares Ok(([], 1, 7))";
        let views = "views Ok(([String(\"ada\"), Number(1.0)], 2, 9))";
        assert_eq!(charges(&table, "view", Effect::Allow), [shares, views]);
        assert_eq!(charges(&table, "view", Effect::Deny), [shares]);
        assert_eq!(charges(&table, "edit", Effect::Allow), [shares]);
    }

    #[test]
    fn a_pattern_is_for_kinds_in_the_form_in_which_they_are_looked_up() {
        let check = |pattern: &str, kinds: &[&str], others: &[&str]| {
            let limit = VIEWS.replace("'al*'", &format!("'{pattern}'"));
            let table = PolicyTable::from_parts_with_limits(compiled(&[&limit, ALBUM])).unwrap();
            kinds.iter().for_each(|kind| assert!(table.may_limit(kind), "{pattern} {kind}"));
            others.iter().for_each(|kind| assert!(!table.may_limit(kind), "{pattern} {kind}"));
        };
        check("al*", &["album"], &["song"]);
        check("mqtt:*", &["mqtt:client", "mqtt_client", "mqtt:9"], &["mqtt", "http:client"]);
        check("shop/[a-c]*-item", &["shop/a-item", "shop/b1-item"], &["shop/d-item"]);
        check("shop-[a:]*", &["shop-a", "shop-a-b"], &["shop-b"]);
        check(&format!("a:{}*", "x".repeat(600)), &["album"], &[]);
    }

    #[test]
    fn a_table_without_limits_has_no_mark_of_them() {
        let [without, with] = [&[ALBUM][..], &[ALBUM, VIEWS]].map(compiled);
        let words = |parts: &Parts, at: usize| parts.words.get(at).copied().unwrap();
        assert_eq!(words(&without, 2) & FLAG_LIMITS, 0);
        assert_eq!(words(&without, 4), u32::try_from(HEADER_WORDS).unwrap());
        assert_ne!(words(&with, 2) & FLAG_LIMITS, 0);
        assert_eq!(PolicyTable::from_parts(with).unwrap_err(), Flaw::HasLimits);
        let table = PolicyTable::from_parts_with_limits(without).unwrap();
        assert!(!table.has_limits() && charges(&table, "view", Effect::Allow).is_empty());
    }

    #[test]
    fn a_changed_word_is_refused_or_does_no_harm() {
        let parts = compiled(&[VIEWS, ALBUM, SHARES]);
        let start = usize::try_from(*parts.words.get(HEADER_WORDS).unwrap()).unwrap();
        let (mut refused, mut accepted) = (0, 0);
        for at in (HEADER_WORDS..HEADER_WORDS + 2).chain(start..parts.words.len()) {
            let word = parts.words.get(at).copied().unwrap();
            for value in [0, 1, 3, word.wrapping_sub(1), word.wrapping_add(1), 1 << 20, u32::MAX] {
                let mut changed = parts.clone();
                *changed.words.get_mut(at).unwrap() = value;
                match PolicyTable::from_parts_with_limits(changed) {
                    Ok(table) => {
                        accepted += 1;
                        assert!(table.limits().all(|limit| limit.file().0.len() < 100));
                        charges(&table, "view", Effect::Allow);
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > 50 && accepted > 50, "{refused} {accepted}");
    }

    #[test]
    fn two_limits_of_one_name_are_refused_in_a_table_too() {
        let mut parts = compiled(&[VIEWS, ALBUM, SHARES]);
        let text = parts.text.replace("shares", "xhares");
        parts.text = text.into();
        let flaw = PolicyTable::from_parts_with_limits(parts).unwrap_err();
        assert_eq!(flaw, Flaw::Limits, "the names do not ascend");
    }
}
