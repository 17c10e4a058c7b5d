//! The named blocks of a state, each on its scale.

use std::ops::Range;

use super::{Map, Outside, Scale, with_map};
use crate::real::{Lanes, Real, Work};
use crate::target::{Parameter, Target};
use crate::{Error, Result, check};

/// A named block of constrained coordinates.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Block {
    /// Its name and its shape, as people see it.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub parameter: Parameter,
    /// Its scale.
    #[cfg_attr(feature = "serde", serde(default))]
    pub scale: Scale,
}

impl Block {
    /// A single number.
    pub fn scalar(name: &str, scale: Scale) -> Self {
        Self::array(name, &[], scale)
    }

    /// An array, elements row by row.
    pub fn array(name: &str, shape: &[usize], scale: Scale) -> Self {
        Block {
            parameter: Parameter::array(name, shape),
            scale,
        }
    }
}

/// The declaration of a state: named blocks, one after the other, each with its shape and scale.
///
/// As text it is a list of `name[shape]: scale`, where no shape is a single number and no scale is
/// `real`.
///
/// ```
/// use langevin::scale::Layout;
/// let layout: Layout = "mu, sigma: positive, p[2,3]: simplex".parse()?;
/// assert_eq!((layout.size(), layout.free_size()), (8, 6));
/// assert_eq!(layout.elements()[..3], ["mu", "sigma", "p[0,0]"]);
/// let x = layout.constrain_state(&[0.5, 0.0, 0.0, 0.0, 1.0, -1.0])?;
/// assert_eq!(x[..2], [0.5, 1.0]);
/// let u = layout.free_state(&x)?;
/// assert!((u[5] + 1.0).abs() < 1e-14);
/// let refused = layout.free_state(&[0.5, -2.0, 0.2, 0.3, 0.5, 0.2, 0.3, 0.5]);
/// assert_eq!(refused.unwrap_err().to_string(), "sigma is -2, but must be greater than 0");
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "Vec<Block>", try_from = "Vec<Block>"))]
pub struct Layout {
    blocks: Vec<Block>,
    pieces: Vec<Piece>,
    size: usize,
    free_size: usize,
}

/// A block as the maps see it: `n` vectors of `size` elements with `free` coordinates each.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    scale: Scale,
    n: usize,
    size: usize,
    free: usize,
    /// Rows of a matrix.
    side: usize,
}

impl Piece {
    fn of(block: &Block) -> Result<Self> {
        let Block { parameter, scale } = block;
        let wrong = |reason: String| Error::Declaration {
            parameter: parameter.name.clone(),
            reason,
        };
        let shape = &parameter.shape;
        if let Some(fault) = scale.fault() {
            return Err(wrong(fault));
        }
        let axes = scale.axes();
        if shape.contains(&0) || shape.len() < axes {
            let (axes, has) = (axes.max(1), shape.len());
            return Err(wrong(match shape.contains(&0) {
                true => format!("shape {shape:?} has no elements"),
                false => format!("{scale} needs {axes} axes or more, but there are {has}"),
            }));
        }
        if axes > 0 && parameter.column_major {
            return Err(wrong(format!("{scale} needs its elements row by row")));
        }
        let (others, own) = shape.split_at(shape.len() - axes);
        let side = own.last().copied().unwrap_or(1);
        let (size, free) = match scale {
            Scale::Simplex => (side, side - 1),
            Scale::Ordered | Scale::UnitVector => (side, side),
            Scale::CorrelationCholesky => (side * side, side * (side - 1) / 2),
            _ => (parameter.len(), parameter.len()),
        };
        let least = match scale {
            Scale::Simplex | Scale::UnitVector | Scale::CorrelationCholesky => 2,
            _ => 1,
        };
        if side < least {
            let reason = format!("{scale} needs {least} elements or more, but there are {side}");
            return Err(wrong(reason));
        }
        if own.iter().any(|length| *length != side) {
            let reason = format!("{scale} needs a square matrix, but the shape is {shape:?}");
            return Err(wrong(reason));
        }
        let n = if axes > 0 { others.iter().product() } else { 1 };
        Ok(Piece {
            scale: *scale,
            n,
            size,
            free,
            side,
        })
    }
}

impl Layout {
    /// The blocks in the order of their coordinates. Names must differ, and bounds leave room.
    pub fn new(blocks: Vec<Block>) -> Result<Self> {
        check::at_least("the number of parameters", blocks.len(), 1)?;
        for (i, block) in blocks.iter().enumerate() {
            let name = &block.parameter.name;
            let fault = match name {
                _ if name.trim().is_empty() => "it has no name",
                _ if name.contains(['[', ']', ',']) => "its name has one of [ ] ,",
                _ if blocks[..i].iter().any(|b| b.parameter.name == *name) => {
                    "there is another one of that name"
                }
                _ => continue,
            };
            return Err(Error::Declaration {
                parameter: name.clone(),
                reason: fault.into(),
            });
        }
        let pieces: Vec<Piece> = blocks.iter().map(Piece::of).collect::<Result<_>>()?;
        Ok(Layout {
            size: pieces.iter().map(|p| p.n * p.size).sum(),
            free_size: pieces.iter().map(|p| p.n * p.free).sum(),
            blocks,
            pieces,
        })
    }

    /// The parameters of a target as it declares them: positive where it says so, real elsewhere.
    ///
    /// ```
    /// use langevin::models::NormalParameters;
    /// use langevin::scale::Layout;
    /// let model = NormalParameters::new(vec![1.0, 2.0, 4.0])?;
    /// assert_eq!(Layout::of(&model)?.to_string(), "mu, sigma: positive");
    /// # Ok::<(), langevin::Error>(())
    /// ```
    pub fn of<T: Target>(target: &T) -> Result<Self> {
        let positive = target.positive_coordinates();
        let mut first = 0;
        let mut blocks = vec![];
        for parameter in target.parameters() {
            let coordinates = first..first + parameter.len();
            first = coordinates.end;
            let n = positive.iter().filter(|c| coordinates.contains(c)).count();
            let scale = match n {
                0 => Scale::Real,
                n if n == parameter.len() => Scale::Positive,
                _ => {
                    let reason = format!("{n} of its {} elements are positive", parameter.len());
                    let parameter = parameter.name;
                    return Err(Error::Declaration { parameter, reason });
                }
            };
            blocks.push(Block { parameter, scale });
        }
        Self::new(blocks)
    }

    /// The blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Number of constrained coordinates x.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Number of free coordinates u.
    pub fn free_size(&self) -> usize {
        self.free_size
    }

    /// Whether all blocks are real, so that x = u.
    pub fn is_real(&self) -> bool {
        self.pieces.iter().all(|p| p.scale == Scale::Real)
    }

    /// The names of the constrained coordinates: `sigma`, `beta[0]`, `p[0,1]`.
    pub fn elements(&self) -> Vec<String> {
        let blocks = self.blocks.iter();
        blocks.flat_map(|b| b.parameter.elements()).collect()
    }

    /// The blocks of free coordinates; those that are not real are called `sigma (free)` and so on.
    pub fn free_parameters(&self) -> Vec<Parameter> {
        let free = |(block, piece): (&Block, &Piece)| {
            let mut parameter = block.parameter.clone();
            if block.scale != Scale::Real {
                parameter.name.push_str(" (free)");
            }
            let axes = block.scale.axes();
            if axes > 0 {
                parameter.shape.truncate(parameter.shape.len() - axes);
                parameter.shape.push(piece.free);
            }
            parameter
        };
        self.blocks.iter().zip(&self.pieces).map(free).collect()
    }

    /// Each block with the places of its constrained and of its free coordinates.
    pub fn places(&self) -> impl Iterator<Item = (&Block, Range<usize>, Range<usize>)> {
        let mut ends = (0, 0);
        self.blocks.iter().zip(&self.pieces).map(move |(b, p)| {
            let starts = ends;
            ends = (starts.0 + p.n * p.size, starts.1 + p.n * p.free);
            (b, starts.0..ends.0, starts.1..ends.1)
        })
    }

    /// Writes x = f(u) and returns log |J|. `slopes` has [`free_size`](Self::free_size) entries of any
    /// value, and is made for [`pull_back`](Self::pull_back).
    #[inline(always)]
    pub fn constrain<R: Real>(&self, u: &[R], slopes: &mut [R], x: &mut [R]) -> R {
        let mut log_jacobian = R::zero();
        let (mut first, mut first_free) = (0, 0);
        for piece in &self.pieces {
            for _ in 0..piece.n {
                let free = first_free..first_free + piece.free;
                let x = &mut x[first..first + piece.size];
                let (u, slopes) = (&u[free.clone()], &mut slopes[free]);
                (first, first_free) = (first + piece.size, first_free + piece.free);
                with_map!(piece.scale, piece.side,
                    map => log_jacobian += map.constrain(u, slopes, x),
                    x.copy_from_slice(u));
            }
        }
        log_jacobian
    }

    /// Writes ∇ᵤ = Jᵀ ∇ₓ log π + ∇ᵤ log |J|, from the score ∇ₓ log π at x = f(u).
    ///
    /// ```
    /// use langevin::scale::Layout;
    /// let layout: Layout = "sigma: positive".parse()?;
    /// let (u, mut slopes, mut x, mut score) = ([0.0_f64], [0.0], [0.0], [0.0]);
    /// let log_jacobian = layout.constrain(&u, &mut slopes, &mut x);
    /// layout.pull_back(&u, &slopes, &x, &[-3.0], &mut score);
    /// assert_eq!((x, log_jacobian, score), ([1.0], 0.0, [-2.0]));
    /// # Ok::<(), langevin::Error>(())
    /// ```
    #[inline(always)]
    pub fn pull_back<R: Real>(&self, u: &[R], slopes: &[R], x: &[R], score: &[R], out: &mut [R]) {
        let (mut first, mut first_free) = (0, 0);
        for piece in &self.pieces {
            for _ in 0..piece.n {
                let (own, free) = (
                    first..first + piece.size,
                    first_free..first_free + piece.free,
                );
                (first, first_free) = (own.end, free.end);
                let (x, g) = (&x[own.clone()], &score[own]);
                let (u, slopes, out) = (&u[free.clone()], &slopes[free.clone()], &mut out[free]);
                with_map!(piece.scale, piece.side,
                    map => map.pull_back(u, slopes, x, g, out),
                    out.copy_from_slice(g));
            }
        }
    }

    /// The constrained state of a free one.
    pub fn constrain_state(&self, free: &[f64]) -> Result<Vec<f64>> {
        check::size("the free state", free.len(), self.free_size)?;
        self.constrain_draws(free)
    }

    /// The constrained states of free ones, one after the other: those of any number of chains and
    /// draws. They are the states that the target saw, bit for bit.
    ///
    /// ```
    /// use langevin::scale::Layout;
    /// let layout: Layout = "mu, sigma: positive".parse()?;
    /// assert_eq!(layout.constrain_draws(&[1.0, 0.0, 2.0, 0.0])?, [1.0, 1.0, 2.0, 1.0]);
    /// # Ok::<(), langevin::Error>(())
    /// ```
    pub fn constrain_draws(&self, free: &[f64]) -> Result<Vec<f64>> {
        if !free.len().is_multiple_of(self.free_size) {
            let expected = free.len() / self.free_size * self.free_size;
            check::size("the free draws", free.len(), expected)?;
        }
        let mut out = vec![0.0; free.len() / self.free_size * self.size];
        // (With the instructions of this processor: fused multiply-adds are a call elsewhere.)
        f64::enter(EveryDraw {
            layout: self,
            free,
            out: &mut out,
        });
        Ok(out)
    }

    /// The free state of a constrained one, such as the start of a chain; refused if an element is
    /// not on its scale.
    pub fn free_state(&self, x: &[f64]) -> Result<Vec<f64>> {
        check::size("the constrained state", x.len(), self.size)?;
        let mut free = vec![0.0; self.free_size];
        for ((block, own, places), piece) in self.places().zip(&self.pieces) {
            let (x, free) = (&x[own], &mut free[places]);
            let outside = |first: usize, outside: Outside| Error::OutsideScale {
                what: named(&block.parameter, first, &outside, piece.size),
                value: outside.value,
                condition: outside.condition,
            };
            if let Some(i) = x.iter().position(|x| !x.is_finite()) {
                return Err(outside(0, Outside::element(i, x[i], "finite".into())));
            }
            for i in 0..piece.n {
                let at = i * piece.size;
                let x = &x[at..at + piece.size];
                let u = &mut free[i * piece.free..(i + 1) * piece.free];
                with_map!(piece.scale, piece.side,
                    map => map.free(x, u).map_err(|e| outside(at, e))?,
                    u.copy_from_slice(x));
            }
        }
        Ok(free)
    }

    /// Whether coordinate `i` of x is never below 0.
    pub(crate) fn keeps_positive(&self, i: usize) -> bool {
        let mut places = self.places();
        let block = places.find(|(_, own, _)| own.contains(&i));
        block
            .and_then(|(b, _, _)| b.scale.lower_bound())
            .is_some_and(|low| low >= 0.0)
    }
}

impl From<Layout> for Vec<Block> {
    fn from(layout: Layout) -> Vec<Block> {
        layout.blocks
    }
}

impl TryFrom<Vec<Block>> for Layout {
    type Error = Error;

    fn try_from(blocks: Vec<Block>) -> Result<Self> {
        Layout::new(blocks)
    }
}

/// What people call the element or the vector at fault, of the vectors from element `first` on.
fn named(parameter: &Parameter, first: usize, outside: &Outside, size: usize) -> String {
    let elements = parameter.elements();
    match &outside.what {
        Ok(i) => elements[first + i].clone(),
        Err(what) if elements.len() == size => format!("the {what} of {}", parameter.name),
        Err(what) => format!("the {what} of the vector at {}", elements[first]),
    }
}

struct EveryDraw<'a> {
    layout: &'a Layout,
    free: &'a [f64],
    out: &'a mut [f64],
}

impl Work for EveryDraw<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut slopes = vec![0.0; self.layout.free_size];
        let free = self.free.chunks_exact(self.layout.free_size);
        for (u, x) in free.zip(self.out.chunks_exact_mut(self.layout.size)) {
            self.layout.constrain(u, &mut slopes, x);
        }
    }
}
