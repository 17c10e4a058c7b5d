//! What a run needs: memory, room on the disk, and steps.
//!
//! The sizes of a run file come together here before anything of such a size is made, so that what
//! cannot be held is refused with the field that asks for it. Bytes per number were measured and
//! are meant to be right within a factor of two. Everything is counted in floating point, which no
//! size overflows.

mod run;

pub use run::RunNeeds;

use super::kind::Kind;
use super::source::{At, Place, Result};
use crate::machine;

/// Bytes per number of the data: as typed or made, and the copies that models keep.
const DATUM: f64 = 64.0;
/// Bytes per entry of the matrices of a model.
const MODEL_ENTRY: f64 = 40.0;
/// Where the memory of the machine is not known, this is more than any has.
const ABSURD: u64 = 1 << 46;

/// A number of the run file that makes work large.
#[derive(Clone, Debug)]
pub struct Size {
    /// The field, or what is counted.
    pub field: &'static str,
    /// Its value.
    pub value: u64,
    /// Where it was typed.
    pub place: Place,
}

impl Size {
    /// A field.
    pub fn of(field: &'static str, typed: &At<u64>) -> Self {
        Self::counted(field, typed.value, &typed.place)
    }

    /// Something that is counted.
    pub fn counted(field: &'static str, value: u64, place: &Place) -> Self {
        let place = place.clone();
        Size {
            field,
            value,
            place,
        }
    }
}

/// What a part of the work needs, and the sizes that it grows with.
#[derive(Clone, Debug, Default)]
struct Need {
    memory: f64,
    disk: f64,
    chain_steps: f64,
    sizes: Vec<Size>,
}

impl Need {
    fn memory(memory: f64, sizes: Vec<Size>) -> Self {
        Need {
            memory,
            sizes,
            ..Need::default()
        }
    }

    fn steps(chain_steps: f64, sizes: Vec<Size>) -> Self {
        Need {
            chain_steps,
            sizes,
            ..Need::default()
        }
    }

    fn and_disk(self, disk: f64) -> Self {
        Need { disk, ..self }
    }

    /// The size to blame: the largest.
    fn cause(&self) -> Option<&Size> {
        self.sizes.iter().max_by_key(|size| size.value)
    }
}

/// What work needs, part by part.
#[derive(Clone, Debug, Default)]
pub struct Needs(Vec<Need>);

impl Needs {
    /// Bytes of memory.
    pub fn memory(&self) -> f64 {
        self.0.iter().map(|need| need.memory).sum()
    }

    /// Bytes on the disk.
    pub fn disk(&self) -> u64 {
        self.0.iter().map(|need| need.disk).sum::<f64>() as u64
    }

    /// Steps of one chain; discrepancies count a pair of points as a step.
    pub fn chain_steps(&self) -> f64 {
        self.0.iter().map(|need| need.chain_steps).sum()
    }

    /// The size that most of the steps come from.
    pub fn longest(&self) -> Option<&Size> {
        let by_steps = |a: &&Need, b: &&Need| a.chain_steps.total_cmp(&b.chain_steps);
        self.0.iter().max_by(by_steps)?.cause()
    }

    /// Refuses work that this machine cannot hold in memory.
    pub fn check_memory(&self) -> Result<()> {
        self.check_against(machine::memory())
    }

    fn check_against(&self, memory: Option<u64>) -> Result<()> {
        let needed = self.memory();
        if needed <= memory.unwrap_or(ABSURD) as f64 {
            return Ok(());
        }
        let by_memory = |a: &&Need, b: &&Need| a.memory.total_cmp(&b.memory);
        let Some(size) = self.0.iter().max_by(by_memory).and_then(Need::cause) else {
            return Ok(());
        };
        let there_is = match memory {
            Some(bytes) => format!("but this machine has {}", machine::bytes(bytes as f64)),
            None => "more than any machine has".into(),
        };
        size.place.refuse(format!(
            "{} = {} needs about {} of memory, {there_is}",
            size.field,
            size.value,
            machine::bytes(needed)
        ))
    }
}

/// What data and model need.
pub fn of_model(model: Kind, n_data: Size, width: Size) -> Needs {
    let (n, w) = (n_data.value as f64, width.value as f64);
    let dim = match model {
        Kind::Normal => 2.0,
        Kind::LinearGaussian | Kind::Logistic => w,
        Kind::Ica => w * w,
    };
    Needs(vec![
        Need::memory(DATUM * n * w, vec![n_data, width.clone()]),
        Need::memory(MODEL_ENTRY * dim * dim, vec![width]),
    ])
}
