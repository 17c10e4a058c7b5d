//! The machine that a report was made on, in words.

use std::path::{Path, PathBuf};

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
        memory().map(|bytes| format!("{:.0} GiB", bytes as f64 / f64::from(1 << 30))),
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

/// Bytes of memory that this process can have: all there is, or what its control group leaves it.
/// None where the system does not say.
pub fn memory() -> Option<u64> {
    let total = field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemTotal")?;
    let kib: u64 = total.trim_end_matches(" kB").parse().ok()?;
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = limit_files(&groups).into_iter().filter_map(|path| {
        let text = std::fs::read_to_string(path).ok()?;
        // A group without a limit says `max`.
        text.trim().parse().ok()
    });
    Some(limits.fold(kib.saturating_mul(1024), u64::min))
}

/// Files that can hold the limit of a control group or of one above it; inside of a container the
/// group is the root of all that can be seen.
fn limit_files(groups: &str) -> Vec<PathBuf> {
    let mut files = vec![];
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else {
            continue;
        };
        let (root, name) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|c| c == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let below = Path::new(group.trim_start_matches('/'));
        files.extend(
            below
                .ancestors()
                .map(|g| Path::new(root).join(g).join(name)),
        );
    }
    files
}

/// `480 GB`: two digits at least.
pub fn bytes(bytes: f64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes / 1e3;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1e3;
        unit += 1;
    }
    match value {
        v if v < 9.95 => format!("{v:.1} {}", units[unit]),
        v if v < 1e6 => format!("{v:.0} {}", units[unit]),
        v => format!("{v:.0e} {}", units[unit]),
    }
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

    #[test]
    fn limits_of_all_groups_count() {
        let found = |groups: &str| -> Vec<String> {
            let files = limit_files(groups).into_iter();
            files.map(|f| f.to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(found("0::/\n"), ["/sys/fs/cgroup/memory.max"]);
        assert_eq!(
            found("0::/a/b\n"),
            [
                "/sys/fs/cgroup/a/b/memory.max",
                "/sys/fs/cgroup/a/memory.max",
                "/sys/fs/cgroup/memory.max"
            ]
        );
        assert_eq!(
            found("5:cpu,cpuacct:/x\n4:memory:/x\n"),
            [
                "/sys/fs/cgroup/memory/x/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes"
            ]
        );
        if cfg!(target_os = "linux") {
            assert!(memory().unwrap() > 1 << 20);
        }
    }

    #[test]
    fn bytes_are_written_for_people() {
        assert_eq!(bytes(1e9), "1.0 GB");
        assert_eq!(bytes(4.45e9), "4.5 GB");
        assert_eq!(bytes(480e9), "480 GB");
        assert_eq!(bytes(9.99e11), "999 GB");
        assert_eq!(bytes(9.9999e11), "1.0 TB");
        assert_eq!(bytes(1e30), "1e12 EB");
        assert_eq!(bytes(10.0), "0.0 kB");
    }
}
