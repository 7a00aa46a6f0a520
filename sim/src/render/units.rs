//! Numbers, times and lists as a person writes them.

use lockstep_model::Config;

/// A number of ticks as a time: `250 ms`, `30 s`, `1.5 s`.
pub fn time(config: &Config, ticks: u32) -> String {
    duration(u64::from(ticks) * u64::from(config.time.tick_ms))
}

/// Milliseconds as a time: `250 ms`, `30 s`, `1.5 s`.
pub fn duration(ms: u64) -> String {
    match ms {
        0 => "0 s".to_owned(),
        1..1000 => format!("{ms} ms"),
        _ if ms.is_multiple_of(1000) => format!("{} s", ms / 1000),
        _ => {
            let fraction = format!("{:03}", ms % 1000);
            format!("{}.{} s", ms / 1000, fraction.trim_end_matches('0'))
        }
    }
}

/// `A`, `A and B`, `A, B and C`.
pub fn list<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [only] => only.as_ref().to_owned(),
        [rest @ .., last] => {
            format!("{} and {}", rest.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "), last.as_ref())
        }
    }
}

/// A long number in groups of three digits: `12 345`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(" ")
}

/// `1 step`, `2 steps`.
pub fn count(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// How far a clock jumps: `ahead by 40 s`, `back by 40 s`.
pub fn jump(config: &Config) -> String {
    let by = time(config, config.time.jump.unsigned_abs().into());
    if config.time.jump < 0 { format!("back by {by}") } else { format!("ahead by {by}") }
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn long_numbers_are_grouped_from_the_right() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1 000", "1 234 567"]);
    }
}
