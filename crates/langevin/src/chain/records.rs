//! The records of all chains, a group of chains in each.

use super::Chains;
use crate::oracle::Oracle;
use crate::real::{MAX_WIDTH, OCTET};
use crate::record::{Record, Shape};

/// What one group of chains recorded.
#[derive(Clone, Debug)]
pub struct Group<R> {
    /// Number of the first chain.
    pub first_chain: u64,
    /// Number of chains; lanes of the record beyond it are spare.
    pub n_chains: usize,
    /// What they recorded.
    pub record: R,
}

/// The records of chains that go on: one for each group of up to sixteen of them.
#[derive(Clone, Debug)]
pub struct Records<R> {
    pub(super) groups: Vec<Group<R>>,
}

/// The chains of a record share its lanes: one, or as many as a pack of eight or sixteen has.
fn lanes(n_chains: usize) -> usize {
    match n_chains {
        0 | 1 => 1,
        2..=OCTET => OCTET,
        _ => MAX_WIDTH,
    }
}

impl<R: Record> Records<R> {
    /// Records for these chains, to be filled by [`Chains::advance`].
    pub fn new(chains: &Chains, oracle: &dyn Oracle, record: impl Fn() -> R) -> Self {
        let n = chains.n_chains();
        // Each worker of an oracle gets its share.
        let share = oracle.workers().map_or(MAX_WIDTH, |w| n.div_ceil(w.max(1)));
        let size = share.clamp(1, MAX_WIDTH);
        let group = |first: usize| {
            let n_chains = size.min(n - first);
            // (Groups that are moved together are in packs of one width.)
            let together = oracle.workers().map_or(n_chains, |_| size);
            let mut record = record();
            record.begin(&Shape {
                first_chain: chains.first_chain() + first as u64,
                n_chains,
                lanes: lanes(together),
                dim: chains.dim(),
            });
            Group {
                first_chain: chains.first_chain() + first as u64,
                n_chains,
                record,
            }
        };
        Records {
            groups: (0..n).step_by(size).map(group).collect(),
        }
    }
}

impl<R> Records<R> {
    /// The groups in the order of their chains.
    pub fn groups(&self) -> &[Group<R>] {
        &self.groups
    }

    /// The groups, to be changed between two calls of [`Chains::advance`].
    pub fn groups_mut(&mut self) -> &mut [Group<R>] {
        &mut self.groups
    }

    /// The groups themselves.
    pub fn into_groups(self) -> Vec<Group<R>> {
        self.groups
    }

    /// The same chains with another record made of each.
    pub(crate) fn map<S>(self, f: impl Fn(R) -> S) -> Records<S> {
        let group = |group: Group<R>| Group {
            first_chain: group.first_chain,
            n_chains: group.n_chains,
            record: f(group.record),
        };
        Records {
            groups: self.groups.into_iter().map(group).collect(),
        }
    }

    /// (first chain, number of chains) of each group.
    pub(super) fn chains_of_groups(&self) -> Vec<(u64, usize)> {
        let groups = self.groups.iter();
        groups.map(|g| (g.first_chain, g.n_chains)).collect()
    }

    /// (chain, record, lane) of every chain, in order.
    pub fn chains(&self) -> impl Iterator<Item = (u64, &R, usize)> {
        chains_of(&self.groups)
    }
}

/// (chain, record, lane) of every chain of some groups, in order.
pub(super) fn chains_of<R>(groups: &[Group<R>]) -> impl Iterator<Item = (u64, &R, usize)> {
    groups.iter().flat_map(|group| {
        (0..group.n_chains).map(move |lane| (group.first_chain + lane as u64, &group.record, lane))
    })
}
