//! The program `langevin`.

fn main() -> std::process::ExitCode {
    langevin_cli::commands::main()
}
