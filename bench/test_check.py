"""The check of the benchmark finds a wrong program, and only that one."""

from __future__ import annotations

import unittest

from check import wrong_discrepancies, wrong_programs


def answer(peer: str, phi1: float = 1.0, replacement: bool = False, **changes: object) -> dict:
    base = {
        "peer": peer,
        "workload": "normal-ld",
        "precision": "f64",
        "replacement": replacement,
        "steps": 10,
        "burn_in": 2,
        "chains": 4,
        "escaped": 0,
        "phi1": phi1,
        "phi1_se": 0.1,
        "phi2": 2.0,
        "phi2_se": 0.1,
    }
    return base | changes


class Check(unittest.TestCase):
    def test_programs_within_error_pass(self) -> None:
        answers = [answer("a", 1.0), answer("b", 1.3), answer("c", 0.8)]
        self.assertEqual(wrong_programs(answers), [])

    def test_the_odd_one_out_is_named(self) -> None:
        answers = [answer("a", 1.0), answer("b", 1.1), answer("c", 2.0)]
        (complaint,) = wrong_programs(answers)
        self.assertIn("c f64 is wrong in phi1", complaint)

    def test_of_two_both_are_named(self) -> None:
        self.assertEqual(len(wrong_programs([answer("a", 1.0), answer("b", 2.0)])), 2)

    def test_repetitions_are_pooled(self) -> None:
        # Four standard errors apart in one run, eight in four.
        one = [answer("a", 1.0), answer("b", 1.56)]
        self.assertEqual(wrong_programs(one), [])
        self.assertNotEqual(wrong_programs(one * 4), [])

    def test_chains_of_different_law_are_not_compared(self) -> None:
        answers = [answer("a", 1.0), answer("b", 3.0, replacement=True), answer("c", 5.0, steps=20)]
        self.assertEqual(wrong_programs(answers), [])

    def test_escape_and_missing_means_are_reported(self) -> None:
        answers = [answer("a"), answer("b", escaped=1), answer("c", phi1=None)]
        text = "\n".join(wrong_programs(answers))
        self.assertIn("1 of 4 chains of b f64 escaped", text)
        self.assertIn("c f64 has no means", text)

    def test_a_wrong_discrepancy_is_named(self) -> None:
        def ksd(peer: str, value: float) -> dict:
            return {"peer": peer, "precision": "f64", "workload": "k", "points": 3, "ksd": value}

        right = [ksd("a", 1.0), ksd("b", 1.0 + 1e-12)]
        self.assertEqual(wrong_discrepancies(right), [])
        (complaint,) = wrong_discrepancies([*right, ksd("c", 1.00001)])
        self.assertIn("c f64 is wrong", complaint)


if __name__ == "__main__":
    unittest.main()
