//! The machine that a report was made on, in words.

use langevin::real::Isa;

/// `Intel(R) Xeon(R) Processor, 2 threads, 24 GiB, Linux, AVX-512`: as much of it as is known.
pub fn words() -> String {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let lanes = match Isa::detect() {
        Isa::Avx512 => "AVX-512",
        Isa::Avx2 => "AVX2",
        _ => "no wide registers in use",
    };
    let known = [
        Some(processor().unwrap_or_else(|| std::env::consts::ARCH.into())),
        Some(format!("{threads} hardware threads")),
        memory(),
        Some(std::env::consts::OS.into()),
        Some(lanes.into()),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    known.join(", ")
}

fn processor() -> Option<String> {
    field(
        &std::fs::read_to_string("/proc/cpuinfo").ok()?,
        "model name",
    )
}

fn memory() -> Option<String> {
    let total = field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemTotal")?;
    let kib: f64 = total.trim_end_matches(" kB").parse().ok()?;
    Some(format!("{:.0} GiB", kib / 1024.0 / 1024.0))
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let text = "processor\t: 0\nmodel name\t: A fast one\nmodel name\t: another\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A fast one"));
        assert_eq!(field(text, "flags"), None);
        assert!(words().contains("hardware threads"));
    }
}
