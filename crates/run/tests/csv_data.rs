//! CSV files: what is read, and what each refusal says.

use std::fs;

use langevin_run::csv_data::{RowFilter, Selection, Table};

/// Reads a file of this content; an error is given as its message without the folder.
fn read(content: impl AsRef<[u8]>, selection: &Selection) -> Result<Table, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.csv");
    fs::write(&path, content).unwrap();
    let folder = format!("{}/", dir.path().display());
    Table::read(&path, selection).map_err(|e| e.to_string().replace(&folder, ""))
}

fn all(content: impl AsRef<[u8]>) -> Result<Table, String> {
    read(content, &Selection::default())
}

fn columns(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|n| n.to_string()).collect())
}

fn filter(column: &str, value: &str) -> Option<RowFilter> {
    Some(RowFilter {
        column: column.into(),
        value: value.into(),
    })
}

#[test]
fn a_table_is_read_row_by_row() {
    let table = all("x1,x2\n1,-2.5\n+3e2, .5 \n").unwrap();
    assert_eq!(table.columns(), ["x1", "x2"]);
    assert_eq!((table.n_rows(), table.n_columns()), (2, 2));
    assert_eq!(table.values(), [1.0, -2.5, 300.0, 0.5]);
}

#[test]
fn quotes_blank_lines_byte_order_mark_and_line_ends_do_not_matter() {
    let table = all("\u{feff}\"x, first\",x2\r\n\r\n\"1\",2\r\n3,4").unwrap();
    assert_eq!(table.columns(), ["x, first", "x2"]);
    assert_eq!(table.values(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn columns_come_in_the_order_asked_for_and_the_others_may_be_text() {
    let selection = Selection {
        columns: columns(&["c", "a"]),
        ..Selection::default()
    };
    let table = read("a,b,c\n1,red,3\n4,blue,6\n", &selection).unwrap();
    assert_eq!(table.columns(), ["c", "a"]);
    assert_eq!(table.values(), [3.0, 1.0, 6.0, 4.0]);
}

#[test]
fn rows_are_filtered_by_number_or_by_text() {
    let content = "a,g,t\n1,0,red\n2,1,blue\n3,1.0,red\n";
    let with = |filter| Selection {
        columns: columns(&["a"]),
        filter,
        ..Selection::default()
    };
    let table = read(content, &with(filter("g", "1"))).unwrap();
    assert_eq!((table.values(), table.n_rows()), ([2.0, 3.0].as_slice(), 2));
    let table = read(content, &with(filter("t", "red"))).unwrap();
    assert_eq!(table.values(), [1.0, 3.0]);
    assert_eq!(
        read(content, &with(filter("g", "7"))).unwrap_err(),
        "x.csv: no row has g == 7"
    );
}

/// Mean 2 and standard deviation 1 (divisor n − 1) by hand: all three rows count, although one
/// is kept. With the divisor n the first value would be −1.2247.
#[test]
fn columns_are_standardised_before_rows_are_filtered() {
    let selection = Selection {
        columns: columns(&["a", "g"]),
        z_score: vec!["a".into()],
        filter: filter("g", "5"),
    };
    let table = read("a,g\n1,5\n2,6\n3,6\n", &selection).unwrap();
    assert_eq!(table.values(), [-1.0, 5.0]);
}

#[test]
fn a_column_without_spread_is_refused() {
    let selection = Selection {
        z_score: vec!["a".into()],
        ..Selection::default()
    };
    assert_eq!(
        read("a,b\n0.1,1\n0.1,2\n0.1,3\n", &selection).unwrap_err(),
        "x.csv: column \"a\" cannot be standardised: its standard deviation over 3 rows is 0"
    );
    assert_eq!(
        read("a,b\n4,1\n", &selection).unwrap_err(),
        "x.csv: column \"a\" cannot be standardised: its standard deviation over 1 rows is NaN"
    );
}

#[test]
fn a_bad_cell_is_shown_with_its_place() {
    assert_eq!(
        all("x1,x2\n1,2\n\n3,abc\n").unwrap_err(),
        "x.csv, line 4, column \"x2\": expected a number, found \"abc\""
    );
    assert_eq!(
        all("x1,x2\n1,\n").unwrap_err(),
        "x.csv, line 2, column \"x2\": expected a number, found \"\""
    );
    assert_eq!(
        all("\r\nx1,x2\r\n\r\n\r\n\"1\r\n\",2\r\n\r\n3\r\n").unwrap_err(),
        "x.csv, line 8: 1 cells, but the header has 2",
        "blank lines and a line end inside quotes count"
    );
    for text in ["NaN", "inf", "-Infinity", "1e999"] {
        assert_eq!(
            all(format!("x1,x2\n{text},2\n")).unwrap_err(),
            format!("x.csv, line 2, column \"x1\": expected a finite number, found \"{text}\"")
        );
    }
}

#[test]
fn a_bad_cell_in_a_row_that_is_filtered_out_is_still_an_error() {
    let selection = Selection {
        filter: filter("g", "1"),
        ..Selection::default()
    };
    assert!(read("a,g\n1,1\nabc,0\n", &selection).is_err());
}

#[test]
fn ragged_rows_are_refused() {
    assert_eq!(
        all("a,b\n1,2\n3\n").unwrap_err(),
        "x.csv, line 3: 1 cells, but the header has 2"
    );
    assert_eq!(
        all("a,b\n1,2,3\n").unwrap_err(),
        "x.csv, line 2: 3 cells, but the header has 2"
    );
}

#[test]
fn the_header_is_checked() {
    assert_eq!(
        all("").unwrap_err(),
        "x.csv: the file is empty; a header row was expected"
    );
    assert_eq!(
        all("a,b\n").unwrap_err(),
        "x.csv: there is no row below the header"
    );
    assert_eq!(
        all("1,2.5\n3,4\n").unwrap_err(),
        "x.csv, line 1: every cell is a number; a header row was expected"
    );
    assert_eq!(
        all("a,,c\n1,2,3\n").unwrap_err(),
        "x.csv: column 2 of the header has no name"
    );
    assert_eq!(
        all("a,b,a\n1,2,3\n").unwrap_err(),
        "x.csv: the header names the column \"a\" twice"
    );
}

#[test]
fn an_unknown_column_is_refused_with_those_there_are() {
    for selection in [
        Selection {
            columns: columns(&["a", "z"]),
            ..Selection::default()
        },
        Selection {
            z_score: vec!["z".into()],
            ..Selection::default()
        },
        Selection {
            filter: filter("z", "1"),
            ..Selection::default()
        },
    ] {
        assert_eq!(
            read("a,b\n1,2\n", &selection).unwrap_err(),
            "x.csv: there is no column \"z\"; the columns are \"a\", \"b\""
        );
    }
}

#[test]
fn what_is_not_a_text_file_is_refused() {
    assert_eq!(
        all(b"a,b\n1,2\n\xff\xfe,3\n").unwrap_err(),
        "x.csv, line 3: not UTF-8 text: byte 0xff at offset 8"
    );
    let error = Table::read("no/such/x.csv", &Selection::default()).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("no/such/x.csv: cannot be read: "));
}
