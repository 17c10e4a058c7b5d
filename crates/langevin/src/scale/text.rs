//! Scales and layouts as text, for run files and messages.

use std::fmt;
use std::str::FromStr;

use super::{Block, Layout, Scale};
use crate::{Error, Result};

/// The names of scales, as they are written.
const NAMES: &str = "real, positive, above(low), below(high), interval(low, high), ordered, simplex, \
                     unit_vector, correlation_cholesky";

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scale::Real => f.write_str("real"),
            Scale::Positive => f.write_str("positive"),
            Scale::Above(low) => write!(f, "above({low})"),
            Scale::Below(high) => write!(f, "below({high})"),
            Scale::Interval(low, high) => write!(f, "interval({low}, {high})"),
            Scale::Ordered => f.write_str("ordered"),
            Scale::Simplex => f.write_str("simplex"),
            Scale::UnitVector => f.write_str("unit_vector"),
            Scale::CorrelationCholesky => f.write_str("correlation_cholesky"),
        }
    }
}

impl FromStr for Scale {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let (name, bounds) = match text.strip_suffix(')').and_then(|t| t.split_once('(')) {
            Some((name, bounds)) => (name.trim(), bounds.split(',').collect()),
            None => (text, vec![]),
        };
        let number = |text: &str| match text.trim().parse() {
            Ok(number) => Ok(number),
            Err(_) => wrong(name, format!("{:?} is not a number", text.trim())),
        };
        let scale = match (name, bounds.as_slice()) {
            ("real", []) => Scale::Real,
            ("positive", []) => Scale::Positive,
            ("above", [low]) => Scale::Above(number(low)?),
            ("below", [high]) => Scale::Below(number(high)?),
            ("interval", [low, high]) => Scale::Interval(number(low)?, number(high)?),
            ("ordered", []) => Scale::Ordered,
            ("simplex", []) => Scale::Simplex,
            ("unit_vector", []) => Scale::UnitVector,
            ("correlation_cholesky", []) => Scale::CorrelationCholesky,
            _ => {
                return Err(Error::UnknownName {
                    kind: "scale",
                    name: text.into(),
                    expected: NAMES.into(),
                });
            }
        };
        match scale.fault() {
            Some(fault) => wrong(text, fault),
            None => Ok(scale),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Block { parameter, scale }) in self.blocks().iter().enumerate() {
            let between = if i > 0 { ", " } else { "" };
            write!(f, "{between}{}", parameter.name)?;
            if !parameter.shape.is_empty() {
                let shape: Vec<String> = parameter.shape.iter().map(usize::to_string).collect();
                write!(f, "[{}]", shape.join(","))?;
            }
            if *scale != Scale::Real {
                write!(f, ": {scale}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Layout::new(parts(text).into_iter().map(block).collect::<Result<_>>()?)
    }
}

/// The parts of a text between commas that are not within brackets.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let at_commas = text.split(|c| {
        depth += i32::from(matches!(c, '[' | '(')) - i32::from(matches!(c, ']' | ')'));
        c == ',' && depth == 0
    });
    at_commas.map(str::trim).collect()
}

/// One declaration.
fn block(text: &str) -> Result<Block> {
    let (name, scale) = match text.rsplit_once(": ") {
        Some((name, scale)) => (name.trim(), scale.parse()?),
        None => (text, Scale::Real),
    };
    let (name, shape) = match name.strip_suffix(']').and_then(|n| n.split_once('[')) {
        Some((name, shape)) => (name.trim(), shape.split(',').collect()),
        None => (name, vec![]),
    };
    let length = |length: &str| match length.trim().parse() {
        Ok(length) => Ok(length),
        Err(_) => wrong(name, format!("{:?} is not a length", length.trim())),
    };
    let shape: Vec<usize> = shape.into_iter().map(length).collect::<Result<_>>()?;
    Ok(Block::array(name, &shape, scale))
}

fn wrong<T>(parameter: &str, reason: String) -> Result<T> {
    let parameter = parameter.into();
    Err(Error::Declaration { parameter, reason })
}

impl From<Scale> for String {
    fn from(scale: Scale) -> String {
        scale.to_string()
    }
}

impl TryFrom<String> for Scale {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}
