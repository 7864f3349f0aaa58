//! The rule for the time after the last recorded change: a `TZ` string of POSIX, as extended by
//! RFC 9636.
//!
//! The IANA data name every change as "the n-th weekday of a month"; a rule in another form is not
//! read, and the tests prove that there is none.

/// A change that happens every year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    month: u32,
    week: u32,
    weekday: u32,
    /// Seconds from midnight in the local time before the change; may lie in a neighbouring day.
    second: i32,
    /// Seconds east of UTC from then on.
    offset: i32,
}

impl Rule {
    /// Returns the words of the rule in a zone constant.
    pub(super) fn words(&self) -> [u32; 5] {
        let Self { month, week, weekday, second, offset } = *self;
        [month, week, weekday, second.cast_unsigned(), offset.cast_unsigned()]
    }
}

/// Reads `EST5EDT,M3.2.0,M11.1.0` and the like: the two yearly changes, or none.
pub(super) fn parse(text: &str) -> Option<Vec<Rule>> {
    let mut reader = Reader(text);
    reader.name()?;
    let standard = -reader.clock()?;
    if reader.0.is_empty() {
        return Some(Vec::new());
    }
    reader.name()?;
    let summer = if reader.0.starts_with(',') { standard + 3600 } else { -reader.clock()? };
    let start = reader.rule(summer)?;
    let end = reader.rule(standard)?;
    reader.0.is_empty().then(|| vec![start, end])
}

struct Reader<'a>(&'a str);

impl Reader<'_> {
    /// Skips `EST` or `<+03>`.
    fn name(&mut self) -> Option<()> {
        let end = match self.0.strip_prefix('<') {
            Some(quoted) => quoted.find('>')? + 2,
            None => self.0.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.0.len()),
        };
        self.0 = self.0.get(end..)?;
        (end > 0).then_some(())
    }

    /// Reads `[+-]hours[:minutes[:seconds]]` as seconds.
    fn clock(&mut self) -> Option<i32> {
        let sign = if self.skip('-') { -1 } else { 1 };
        let _ = self.skip('+');
        let mut seconds = self.number()?.checked_mul(3600)?;
        for unit in [60, 1] {
            if self.skip(':') {
                seconds = seconds.checked_add(self.number()?.checked_mul(unit)?)?;
            }
        }
        Some(sign * seconds)
    }

    /// Reads `,Mmonth.week.weekday[/time]`.
    fn rule(&mut self, offset: i32) -> Option<Rule> {
        self.0 = self.0.strip_prefix(",M")?;
        let month = self.number()?;
        let week = self.skip('.').then(|| self.number())??;
        let weekday = self.skip('.').then(|| self.number())??;
        let second = if self.skip('/') { self.clock()? } else { 2 * 3600 };
        let field = |number: i32| u32::try_from(number).ok();
        Some(Rule {
            month: field(month)?,
            week: field(week)?,
            weekday: field(weekday)?,
            second,
            offset,
        })
    }

    fn skip(&mut self, expected: char) -> bool {
        let rest = self.0.strip_prefix(expected);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn number(&mut self) -> Option<i32> {
        let end = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at_checked(end)?;
        self.0 = rest;
        digits.parse().ok()
    }
}
