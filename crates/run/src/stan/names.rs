//! From the names that Stan gives to numbers to arrays.

use crate::store::{Dim, Param};

/// A parameter that Stan names number by number.
#[derive(Debug, PartialEq, Eq)]
pub struct Array {
    name: String,
    shape: Vec<usize>,
    /// Place of its first number.
    first: usize,
}

/// `beta.1, beta.2` as a parameter `beta` of shape (2). Parts of tuples and complex numbers
/// (`z.real`) keep their names.
pub fn arrays(names: &[String]) -> Vec<Array> {
    let mut arrays: Vec<Array> = vec![];
    for (place, full) in names.iter().enumerate() {
        let mut name = full.as_str();
        let mut index = vec![];
        while let Some((rest, last)) = name.rsplit_once('.')
            && let Ok(i) = last.parse::<usize>()
        {
            name = rest;
            index.insert(0, i);
        }
        match arrays.last_mut() {
            // Indices rise, so that the last one is the shape.
            Some(array) if array.name == name && !index.is_empty() => array.shape = index,
            _ => arrays.push(Array {
                name: name.into(),
                shape: index,
                first: place,
            }),
        }
    }
    arrays
}

impl Array {
    /// For a layout.
    pub fn param(&self) -> Param {
        let dims = self.shape.iter().enumerate();
        let dims = dims.map(|(k, n)| Dim::indexed(format!("{}_dim_{k}", self.name), *n));
        Param::array(self.name.clone(), dims.collect())
    }

    /// Places of its numbers, which lie column by column, in the order row by row.
    pub fn row_by_row(&self) -> Vec<usize> {
        let n: usize = self.shape.iter().product();
        let place = |mut flat: usize| {
            let mut index = vec![0; self.shape.len()];
            for (i, n) in index.iter_mut().zip(&self.shape).rev() {
                *i = flat % n;
                flat /= n;
            }
            let pairs = index.iter().zip(&self.shape).rev();
            self.first + pairs.fold(0, |place, (i, n)| place * n + i)
        };
        (0..n).map(place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_stan_are_turned() {
        let names = [
            "mu", "w.1.1", "w.2.1", "w.1.2", "w.2.2", "w.1.3", "w.2.3", "z.real",
        ];
        let found = arrays(&names.map(String::from));
        let shapes: Vec<&[usize]> = found.iter().map(|a| a.shape.as_slice()).collect();
        assert_eq!(shapes, [&[][..], &[2, 3], &[]]);
        assert_eq!(found[2].name, "z.real");
        let order: Vec<usize> = found.iter().flat_map(Array::row_by_row).collect();
        assert_eq!(order, [0, 1, 3, 5, 2, 4, 6, 7]);
    }
}
